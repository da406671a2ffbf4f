/* Mode trace: every event into a head of each thread. Below probes. */
#ifndef PM_RUNTIME_TRACE_H
#define PM_RUNTIME_TRACE_H

#include "runtime/tree/thread.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* There is room for an event of this time. To be called before the tree changes, for heads begin
 * with what is open. */
void pm_trace_room(struct pm_tls *t, uint64_t tsc);
/* A place for an event, which is none until it is filled. One instruction: a handler may come
 * before and behind it. */
static inline uint64_t *pm_trace_reserve_some(struct pm_tls *t, size_t n)
{
    uint64_t *place = (uint64_t *)(n * sizeof *place);
#if defined(__x86_64__)
    __asm__ volatile("xaddq %0, %1" : "+r"(place), "+m"(t->trace_at)::"memory", "cc");
#else
    place = __atomic_fetch_add(&t->trace_at, n * sizeof *place, __ATOMIC_RELAXED);
#endif
    return place;
}
static inline uint64_t *pm_trace_reserve(struct pm_tls *t)
{
    return pm_trace_reserve_some(t, 1);
}
/* head: PM_RUN_TRACE_ENTER or _LEAVE with a noun or a mark. */
static inline void pm_trace_fill(uint64_t *place, uint32_t head, uint64_t tsc)
{
    pm_store(*place, (uint64_t)head << 40 | (tsc & (((uint64_t)1 << 40) - 1)));
}
void pm_trace_full(struct pm_tls *t, uint64_t tsc); /* makes room for the next event */
void pm_trace_thread_end(struct pm_tls *t, uint64_t tsc);
/* In the child, before its thread is renewed (or dropped). */
void pm_trace_fork_child(void);
static inline uint32_t pm_trace_noun(uint32_t noun)
{
    return noun < PM_RUN_TRACE_MARK_FIRST ? noun : PM_RUN_TRACE_MANY;
}

#endif
