/* CLOCK_MONOTONIC, which all ranks of a machine have in common, by way of the time-stamp counter: 9
 * ns in place of 20. Each thread compares both clocks now and then. */
#include "mpi_words.h"

#if defined(__x86_64__)
#include <cpuid.h>

/* Ticks between two looks at the other clock, some 10 ms; and the most that a look may take: it may
 * be preempted between the two clocks. */
enum { FEW_TICKS = 1 << 22, TICKS = 1 << 25, CLOSE_TICKS = 1 << 12, TRIES = 3, FRACTION = 24 };

static __thread struct {
    uint64_t tsc, ns, ns_per_tick; /* the last with FRACTION bits behind the point; 0: not known */
    uint64_t told;                 /* the latest: time does not go back where a look corrects it */
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

/* Both clocks at one time. False: it was always preempted between them. */
static bool read_both(uint64_t *ret_tsc, uint64_t *ret_ns)
{
    for (int i = 0; i < TRIES; i++) {
        uint64_t before = __builtin_ia32_rdtsc();
        *ret_ns = pm_adapter_now_ns();
        uint64_t took = __builtin_ia32_rdtsc() - before;
        *ret_tsc = before + took / 2;
        if (took < CLOSE_TICKS)
            return true;
    }
    return false;
}

static uint64_t look(void)
{
    uint64_t tsc, ns;
    bool is_good = read_both(&tsc, &ns);
    if (ns == 0 || !is_good)
        return ns; /* 0: the program forbids clocks */
    uint64_t ticks = tsc - seen.tsc;
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
    uint64_t ticks = __builtin_ia32_rdtsc() - seen.tsc, ns;
    if (__builtin_expect(seen.ns_per_tick == 0 || ticks > TICKS, 0))
        ns = look();
    else
        ns = seen.ns + (ticks * seen.ns_per_tick >> FRACTION);
    if (__builtin_expect(ns < seen.told && ns != 0, 0))
        return seen.told;
    seen.told = ns;
    return ns;
}
#else
uint64_t mpi_now_ns(void)
{
    return pm_adapter_now_ns();
}
#endif
