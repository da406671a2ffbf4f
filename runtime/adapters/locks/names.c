/* What a lock is called. Nothing here takes a lock, for the caller may hold any. Locks that are no
 * variables are called after the function that made them, or that used them first; these are so
 * many that only the first have nouns of their own, below one for all of that function. */
#include "locks.h"
#include "runtime/adapters/common/symbols.h"
#include "runtime/adapters/common/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_LOCKS = 4096, /* that are told apart */
    TABLE_ENTRIES = 4 * MAX_LOCKS,
};

static struct lock table[TABLE_ENTRIES], others;
static uint32_t n_locks;
static struct pm_level base;
static struct pm_verb verbs[N_LOCK_VERBS];
struct pm_metric lock_wait_ns;

bool locks_are_measured(void)
{
    static const char *const names[N_LOCK_VERBS] = {PM_LOCKS_VERBS(PM_ADAPTER_WORD)};
    static uint32_t ready;
    if (__atomic_load_n(&ready, __ATOMIC_ACQUIRE))
        return true;
    if (!pm_words_of_runtime())
        return false;
    base = pm_define_level(PM_BASE_LEVEL, NULL);
    for (int i = 0; i < N_LOCK_VERBS; i++)
        verbs[i] = pm_define_verb(base, names[i]);
    lock_wait_ns = pm_define_metric("wait_ns", "ns", "time");
    __atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
    return true;
}

/* --- locks --- */

static const char *const kinds[] = {"mutex",     "rwlock",  "spinlock", "condition",
                                    "semaphore", "barrier", "once"};

static uint32_t define(const struct lock *lock, enum lock_kind kind)
{
    char name[PM_ADAPTER_NAME_BYTES], whole[PM_ADAPTER_NAME_BYTES + 32];
    struct pm_noun_facts facts = {.name = name, .kind = kinds[kind], .address = lock->address};
    if (pm_adapter_name_of(lock->address, false, name))
        return pm_define_noun_at(base, &facts).id;
    if (!pm_adapter_name_of(lock->site, true, name))
        snprintf(name, sizeof name, "unknown code");
    snprintf(whole, sizeof whole, "%s of %s", kinds[kind], name);
    const struct pm_noun_facts site = {.name = whole, .kind = kinds[kind], .address = lock->site};
    facts.name = whole;
    facts.parent = pm_define_noun_at(base, &site).id;
    return pm_define_noun_at(base, &facts).id;
}

/* NULL: there is no room. */
static struct lock *entry_of(uintptr_t address)
{
    return pm_adapter_entry_of(table, TABLE_ENTRIES, sizeof *table, &n_locks, MAX_LOCKS, address);
}

/* Of several threads that name it at once the first decides. */
struct lock *lock_at(const void *address, enum lock_kind kind, const void *site)
{
    struct lock *lock = entry_of((uintptr_t)address);
    if (!lock)
        lock = &others;
    if (__builtin_expect(__atomic_load_n(&lock->noun, __ATOMIC_ACQUIRE) != 0, 1))
        return lock;
    uintptr_t none = 0; /* the code of the call, not what follows it */
    __atomic_compare_exchange_n(&lock->site, &none, (uintptr_t)site - 1, false, __ATOMIC_RELAXED,
                                __ATOMIC_RELAXED);
    uint32_t unnamed = 0, noun = lock == &others ? pm_define_noun(base, "(other locks)", "lock").id
                                                 : define(lock, kind);
    __atomic_compare_exchange_n(&lock->noun, &unnamed, noun, false, __ATOMIC_RELEASE,
                                __ATOMIC_RELAXED);
    return lock;
}

void lock_made(const void *address, const void *site)
{
    struct lock *lock = entry_of((uintptr_t)address);
    if (!lock)
        return;
    for (int i = 0; i < N_LOCK_VERBS; i++)
        __atomic_store_n(&lock->sentences[i], 0, __ATOMIC_RELAXED);
    lock->site = site ? (uintptr_t)site - 1 : 0;
    __atomic_store_n(&lock->noun, 0, __ATOMIC_RELEASE);
}

struct pm_sentence lock_sentence(struct lock *lock, enum lock_verb verb)
{
    uint32_t sentence = __atomic_load_n(&lock->sentences[verb], __ATOMIC_RELAXED);
    if (__builtin_expect(sentence == 0, 0)) {
        struct pm_noun noun = {lock->noun};
        sentence = pm_define_sentence(verbs[verb], &noun, 1).id;
        __atomic_store_n(&lock->sentences[verb], sentence, __ATOMIC_RELAXED);
    }
    return (struct pm_sentence){sentence};
}
