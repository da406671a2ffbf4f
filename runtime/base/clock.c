/* The clocks of a run: the time-stamp counter of x86-64, CLOCK_MONOTONIC_RAW in nanoseconds
 * elsewhere. */
#include "runtime/base/clock.h"
#include "runtime/base/atomic.h"
#include "runtime/base/sys.h"

#include <time.h>

PM_EXPORT uint64_t pm_stopped_tsc;

#if defined(__x86_64__)
uint64_t pm_tsc(void)
{
    if (pm_unlikely(pm_stopped_tsc != 0))
        return pm_stopped_tsc;
    uint32_t low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return (uint64_t)high << 32 | low;
}

uintptr_t pm_thread_pointer(void)
{
    uintptr_t pointer;
    __asm__("mov %%fs:0, %0" : "=r"(pointer));
    return pointer;
}

#else
uint64_t pm_tsc(void)
{
    if (pm_unlikely(pm_stopped_tsc != 0))
        return pm_stopped_tsc;
    return pm_monotonic_ns();
}

uintptr_t pm_thread_pointer(void)
{
    return (uintptr_t)__builtin_thread_pointer();
}

#endif

uint64_t pm_monotonic_ns(void)
{
    struct timespec now = {0, 0};
    pm_sys(SYS_clock_gettime, CLOCK_MONOTONIC_RAW, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The tightest of five: a pair taken around an interrupt would spoil the run's time scale. */
void pm_clock_pair(uint64_t *ret_tsc, uint64_t *ret_monotonic_ns)
{
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < 5; i++) {
        uint64_t before = pm_tsc(), now = pm_monotonic_ns(), after = pm_tsc();
        if (after - before < best) {
            best = after - before;
            *ret_tsc = before + (after - before) / 2;
            *ret_monotonic_ns = now;
        }
    }
}
