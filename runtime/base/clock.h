/* The clocks of a run. Signal safe. */
#ifndef PM_RUNTIME_CLOCK_H
#define PM_RUNTIME_CLOCK_H

#include <stdint.h>

uint64_t pm_tsc(void); /* the run's clock: time-stamp counter, or nanoseconds where there is none */
/* Not 0: the program has forbidden the counter, so this is the time for ever. */
extern uint64_t pm_stopped_tsc;
uint64_t pm_monotonic_ns(void); /* CLOCK_MONOTONIC_RAW */
/* Both at the same instant: the tightest of some pairs. */
void pm_clock_pair(uint64_t *ret_tsc, uint64_t *ret_monotonic_ns);
/* Tells threads apart. */
uintptr_t pm_thread_pointer(void);

#endif
