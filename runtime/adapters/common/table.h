/* Tables of what has been named, by address: of fixed size, without a lock, for callers may be
 * anywhere; nothing is taken out. Entries are structs that begin with their key, 0: free. */
#ifndef PM_ADAPTER_TABLE_H
#define PM_ADAPTER_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* The entry of the key, which is put there if none has it; NULL: max keys are there already. table:
 * of n_entries of entry_bytes, more than max. n_keys: of it, at first 0. key: not 0. */
static inline __attribute__((always_inline)) void *pm_adapter_entry_of(void *table,
                                                                       size_t n_entries,
                                                                       size_t entry_bytes,
                                                                       uint32_t *n_keys,
                                                                       uint32_t max, uintptr_t key)
{
    size_t first = (key * 0x9e3779b97f4a7c15u) >> 40;
    for (size_t i = first; i < first + n_entries; i++) {
        void *entry = (char *)table + i % n_entries * entry_bytes;
        uintptr_t *place = entry, found = __atomic_load_n(place, __ATOMIC_RELAXED);
        if (found == key)
            return entry;
        if (found != 0)
            continue;
        if (__atomic_load_n(n_keys, __ATOMIC_RELAXED) >= max)
            return NULL;
        if (__atomic_compare_exchange_n(place, &found, key, 0, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
            __atomic_fetch_add(n_keys, 1, __ATOMIC_RELAXED);
            return entry;
        }
        if (found == key)
            return entry;
    }
    return NULL;
}

#endif
