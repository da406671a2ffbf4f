/* The budget: what costs too much is counted, then left to samples, and comes back. */
#ifndef PM_RUNTIME_ADAPT_H
#define PM_RUNTIME_ADAPT_H

#include "runtime/tree/thread.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Called after a drain, so at most at the rate of samples, by any thread, below probes too: does
 * what control.c is asked for, and looks from time to time which nouns have most events, and
 * lowers their modes until what remains costs less than pm_process.budget_ppm. */
void pm_adapt_tick(uint64_t tsc);
/* A sample stands for so much CPU time. n_calls: of the contexts that were open, since one met
 * them before. */
void pm_adapt_sampled(uint64_t n_calls, uint64_t cpu_ns);
/* So much CPU time took the runtime's own work on some samples. */
void pm_adapt_drained(uint64_t cpu_ns);
void pm_adapt_process_begin(uint64_t before_cpu_ns);
void pm_adapt_process_end(void);
/* The time-stamp counter is about to be forbidden. At an ordinary call. */
void pm_adapt_without_clock(void);
void pm_adapt_fork_child(void);

#endif
