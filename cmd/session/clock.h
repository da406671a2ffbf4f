/* The clock that the runtime's probes read, and how fast it ticks. */
#ifndef PM_SESSION_CLOCK_H
#define PM_SESSION_CLOCK_H

#include <stdint.h>

struct session_instant {
    uint64_t tsc, monotonic_ns; /* CLOCK_MONOTONIC_RAW */
};
struct session_instant session_instant_now(void);
uint64_t session_realtime_ns(void);
/* Ticks a second between two instants; 0: cannot be told. */
uint64_t session_ticks_hz(struct session_instant from, struct session_instant to);
/* Ticks a second, measured from then on for 0.5 ms or more; 10^9 where the clock is in ns. */
uint64_t session_calibrate(struct session_instant from);

#endif
