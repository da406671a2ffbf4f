/* Words that threads and signal handlers share, and marks for the compiler. */
#ifndef PM_RUNTIME_ATOMIC_H
#define PM_RUNTIME_ATOMIC_H

#include <stdbool.h>
#include <stdint.h>

#define PM_EXPORT __attribute__((visibility("default")))
#define pm_likely(x) __builtin_expect(!!(x), 1)
#define pm_unlikely(x) __builtin_expect(!!(x), 0)
#define pm_barrier() __asm__ volatile("" ::: "memory")
#define pm_store(where, value) (*(volatile __typeof__(where) *)&(where) = (value))
#define pm_load(where) (*(volatile __typeof__(where) *)&(where))
#define pm_add_shared(where, n) __atomic_fetch_add(&(where), (n), __ATOMIC_RELAXED)

/* What was written before is seen by others before what is read behind is read. */
static inline void pm_fence(void)
{
#ifdef __SANITIZE_THREAD__ /* knows no fences */
    uint32_t word = 0;
    (void)__atomic_exchange_n(&word, 1, __ATOMIC_SEQ_CST);
#else
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

/* Adds to a word that only this thread writes, and its signal handlers: what a handler adds at any
 * point must not be lost, which load, add, store would do. One instruction, without the lock of an
 * atomic one. */
static inline void pm_add_own(uint64_t *where, uint64_t n)
{
#if defined(__x86_64__)
    __asm__ volatile("addq %1, %0" : "+m"(*where) : "r"(n) : "memory", "cc");
#else
    __atomic_fetch_add(where, n, __ATOMIC_RELAXED);
#endif
}

#endif
