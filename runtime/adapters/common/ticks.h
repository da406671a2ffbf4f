/* How long something took that is mostly over at once: a look costs 9 ns with the time-stamp
 * counter, 25 with clock_gettime.
 *
 *     static struct pm_adapter_ticks ticks;
 *     struct pm_adapter_look start = pm_adapter_look(&ticks);
 *     wait();
 *     uint64_t spent_ns = pm_adapter_since(&ticks, &start);      // 0: not known
 *
 * Until the counter is known (10 ms after the first look), where there is none, and where the
 * program forbids it, the clock is asked.
 */
#ifndef PM_ADAPTER_TICKS_H
#define PM_ADAPTER_TICKS_H

#include "runtime/adapters/adapter.h"

struct pm_adapter_ticks {
    uint64_t first_ticks, first_ns; /* 0: no look yet */
    uint64_t ns_by_2_32;            /* nanoseconds a tick; 0: not known */
};
struct pm_adapter_look {
    uint64_t at;
    bool is_ticks;
};

static inline __attribute__((always_inline)) uint64_t pm_adapter_counter(void)
{
#ifdef __x86_64__
    return __builtin_ia32_rdtsc();
#else
    return 0;
#endif
}

PM_WORDS_INLINE struct pm_adapter_look pm_adapter_look(const struct pm_adapter_ticks *ticks)
{
    bool is_ticks = __atomic_load_n(&ticks->ns_by_2_32, __ATOMIC_RELAXED) != 0 &&
                    (&pm_stopped_tsc == NULL || pm_stopped_tsc == 0);
    return (struct pm_adapter_look){is_ticks ? pm_adapter_counter() : pm_adapter_now_ns(),
                                    is_ticks};
}

/* Several threads may learn it at once: any of them is right. */
static inline void pm_adapter_learn(struct pm_adapter_ticks *ticks, uint64_t now_ns)
{
    enum { LEAST_NS = 10000000 };
    uint64_t now = pm_adapter_counter();
    uint64_t first_ns = __atomic_load_n(&ticks->first_ns, __ATOMIC_ACQUIRE);
    if (first_ns == 0) {
        uint64_t none = 0;
        if (__atomic_compare_exchange_n(&ticks->first_ticks, &none, now, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
            __atomic_store_n(&ticks->first_ns, now_ns, __ATOMIC_RELEASE);
        return;
    }
    uint64_t first = __atomic_load_n(&ticks->first_ticks, __ATOMIC_RELAXED);
    if (now > first && now_ns - first_ns > LEAST_NS)
        __atomic_store_n(&ticks->ns_by_2_32,
                         (uint64_t)(((unsigned __int128)(now_ns - first_ns) << 32) / (now - first)),
                         __ATOMIC_RELAXED);
}

PM_WORDS_INLINE uint64_t pm_adapter_since(struct pm_adapter_ticks *ticks,
                                          const struct pm_adapter_look *start)
{
    if (__builtin_expect(start->is_ticks, 1)) {
        uint64_t now = pm_adapter_counter(), scale = ticks->ns_by_2_32;
        return now > start->at ? (uint64_t)((unsigned __int128)(now - start->at) * scale >> 32) : 0;
    }
    uint64_t now_ns = pm_adapter_now_ns();
    if (start->at == 0 || now_ns <= start->at)
        return 0;
    pm_adapter_learn(ticks, now_ns);
    return now_ns - start->at;
}

#endif
