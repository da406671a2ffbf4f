/* The clock that the runtime's probes read, and how fast it ticks. */
#include "clock.h"

#include <time.h>
#if defined __x86_64__
#include <x86intrin.h>
#endif

static uint64_t raw_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#if defined __x86_64__
static uint64_t ticks(void)
{
    return __rdtsc();
}
#else
static uint64_t ticks(void)
{
    return raw_ns();
}
#endif

uint64_t session_realtime_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Both clocks at one instant: the closest of several tries, for we may lose the processor between
 * two reads. */
struct session_instant session_instant_now(void)
{
    struct session_instant best = {0};
    uint64_t best_gap = UINT64_MAX;
    for (int i = 0; i < 16; i++) {
        uint64_t before = ticks();
        uint64_t now = raw_ns();
        uint64_t after = ticks();
        if (after - before < best_gap) {
            best_gap = after - before;
            best = (struct session_instant){before + (after - before) / 2, now};
        }
    }
    return best;
}

uint64_t session_ticks_hz(struct session_instant from, struct session_instant to)
{
    if (to.monotonic_ns <= from.monotonic_ns || to.tsc <= from.tsc)
        return 0;
    return (uint64_t)((long double)(to.tsc - from.tsc) * 1e9L /
                          (long double)(to.monotonic_ns - from.monotonic_ns) +
                      0.5L);
}

uint64_t session_calibrate(struct session_instant from)
{
#if defined __x86_64__
    /* The program waits for this. 0.5 ms: the two pairs are known to about 50 ns, so 100 in a
     * million; the end of the run makes it better. */
    enum { LEAST_NS = 500000 };
    uint64_t since_ns = raw_ns() - from.monotonic_ns;
    struct timespec pause = {0, since_ns < LEAST_NS ? (long)(LEAST_NS - since_ns) : 0};
    if (pause.tv_nsec > 0)
        nanosleep(&pause, NULL);
    return session_ticks_hz(from, session_instant_now());
#else
    (void)from;
    return 1000000000u;
#endif
}
