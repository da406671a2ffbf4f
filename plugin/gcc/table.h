/* Hash tables for what the passes look up again and again: open addressing, at most half full,
 * in one block of memory. (std::map and std::set, with an allocation for each entry, took a
 * third of the plugin's time.)
 *
 *     static struct pm_table<unsigned, pm_id> known;
 *     bool is_new;
 *     pm_id *id = known.add(DECL_UID(decl), 0, &is_new);   // as long as nothing else is added
 *     if (is_new)
 *         *id = make_noun(decl);
 *
 * Keys are numbers, pointers, and what has a function pm_hash() and an operator ==. There is no
 * order, so nobody walks them: what is written must not depend on addresses.
 */
#ifndef PM_GCC_TABLE_H
#define PM_GCC_TABLE_H

#include <stddef.h>
#include <stdint.h>
#include <vector>

/* The upper bits are the good ones (Knuth, TAOCP 3, 6.4). */
static inline uint64_t pm_hash(uint64_t number)
{
    return number * 0x9e3779b97f4a7c15u;
}

static inline uint64_t pm_hash(const void *pointer)
{
    return pm_hash((uint64_t)(uintptr_t)pointer);
}

static inline uint64_t pm_hash_join(uint64_t hash, uint64_t number)
{
    return pm_hash((hash >> 29 ^ hash) + number);
}

template <class key, class value> struct pm_table {
    struct slot {
        bool used;
        key k;
        value v;
    };
    std::vector<struct slot> slots; /* none, or a power of two */
    size_t n;
    unsigned shift;

    pm_table() : n(0), shift(0) {}

    value *find(const key &k)
    {
        if (n == 0)
            return NULL;
        struct slot *slot = slot_of(k);
        return slot->used ? &slot->v : NULL;
    }

    /* The value of the key, which becomes v when there is none yet. Lent until the next add. */
    value *add(const key &k, const value &v, bool *ret_is_new = NULL)
    {
        if (n * 2 >= slots.size())
            grow();
        struct slot *slot = slot_of(k);
        if (ret_is_new != NULL)
            *ret_is_new = !slot->used;
        if (!slot->used) {
            *slot = {true, k, v};
            n++;
        }
        return &slot->v;
    }

    void clear()
    {
        slots.clear();
        n = 0;
    }

  private:
    struct slot *slot_of(const key &k)
    {
        size_t at = (size_t)(pm_hash(k) >> shift);
        while (slots[at].used && !(slots[at].k == k))
            at = (at + 1) & (slots.size() - 1);
        return &slots[at];
    }

    void grow()
    {
        std::vector<struct slot> old;
        old.swap(slots);
        slots.resize(old.empty() ? 16 : old.size() * 2);
        shift = 64 - (unsigned)__builtin_ctzll(slots.size());
        for (const struct slot &slot : old)
            if (slot.used)
                *slot_of(slot.k) = slot;
    }
};

#endif
