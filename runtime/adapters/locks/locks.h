/* Locks, conditions, semaphores and barriers at level Base: who acquires them, and who waits how
 * long.
 *
 *     {queue_lock Acquire}    one for each call that takes it, or tries to; {queue_lock Wait}
 *                             within, where it has to wait: wait_ns
 *
 *   calls.c    the functions of libc
 *   names.c    what a lock is called: the variable that it is, else the function that made it, or
 *              used it first
 *
 * libperfmap-locks.so, for `perfmap run --adapter locks`.
 */
#ifndef PM_ADAPTER_LOCKS_H
#define PM_ADAPTER_LOCKS_H

#include "runtime/adapters/adapter.h"

#include <stdint.h>

enum lock_kind {
    LOCK_MUTEX,
    LOCK_RWLOCK,
    LOCK_SPIN,
    LOCK_CONDITION,
    LOCK_SEMAPHORE,
    LOCK_BARRIER,
    LOCK_ONCE
};
#define LOCK_VERB(NAME, word) LOCK_##NAME,
enum lock_verb { PM_LOCKS_VERBS(LOCK_VERB) N_LOCK_VERBS };
#undef LOCK_VERB

struct lock {
    uintptr_t address;
    uintptr_t site; /* code that made it; 0: not seen */
    uint32_t noun;  /* 0: not yet asked for */
    uint32_t sentences[N_LOCK_VERBS];
};

/* Is anybody measuring? Then the words are there. */
bool locks_are_measured(void);
extern struct pm_metric lock_wait_ns;

/* The lock at that address, never NULL; site: the code that asks. */
struct lock *lock_at(const void *address, enum lock_kind kind, const void *site);
/* It was made, or unmade: what stood there before is not it. */
void lock_made(const void *address, const void *site);
struct pm_sentence lock_sentence(struct lock *lock, enum lock_verb verb);
/* The same, as the call says it that returns to `caller`. */
static inline struct pm_sentence lock_called(struct lock *lock, enum lock_verb verb,
                                             const void *caller)
{
    return pm_called_from(lock_sentence(lock, verb), caller);
}

#endif
