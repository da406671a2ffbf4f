/* CLOCK_MONOTONIC, which all ranks of a machine have in common, by way of the time-stamp counter: 9
 * ns in place of 20. Each thread compares both clocks now and then. */
#include "mpi_words.h"

#if defined(__x86_64__)
#include <cpuid.h>

/* Ticks between two looks at the other clock, some 10 ms. */
enum { FEW_TICKS = 1 << 22, TICKS = 1 << 25, FRACTION = 24 };

static __thread struct {
    uint64_t tsc, ns, ns_per_tick; /* the last with FRACTION bits behind the point; 0: not known */
} seen;

/* One rate on all processors, also while they sleep. */
static bool is_steady(void)
{
    static int state; /* 1: yes, 2: no */
    unsigned a, b, c, d;
    if (!state)
        state = __get_cpuid(0x80000007, &a, &b, &c, &d) && (d >> 8 & 1) ? 1 : 2;
    return state == 1;
}

static uint64_t look(uint64_t tsc)
{
    uint64_t ns = pm_adapter_now_ns(), ticks = tsc - seen.tsc;
    if (ns == 0)
        return 0; /* the program forbids clocks */
    if (seen.tsc != 0 && ticks < FEW_TICKS)
        return ns; /* too short to compare */
    seen.ns_per_tick = seen.tsc != 0 && ns > seen.ns && ns - seen.ns < (uint64_t)1 << 38
                           ? ((ns - seen.ns) << FRACTION) / ticks
                           : 0;
    seen.tsc = tsc;
    seen.ns = ns;
    return ns;
}

uint64_t mpi_now_ns(void)
{
    if (!is_steady() || (&pm_stopped_tsc != NULL && pm_stopped_tsc != 0))
        return pm_adapter_now_ns();
    uint64_t tsc = __builtin_ia32_rdtsc(), ticks = tsc - seen.tsc;
    if (__builtin_expect(seen.ns_per_tick == 0 || ticks > TICKS, 0))
        return look(tsc);
    return seen.ns + (ticks * seen.ns_per_tick >> FRACTION);
}
#else
uint64_t mpi_now_ns(void)
{
    return pm_adapter_now_ns();
}
#endif
