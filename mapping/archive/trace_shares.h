/* Whose time a stretch of a trace was: what ran, by sentence, in equal steps of time.
 *
 *     struct pm_trace_shares shares = {0};
 *     struct pm_trace_stretch stretch = {.clock = {start_ns, tick_hz}, .level = 20,
 *                                        .end_step = UINT64_MAX, .before_ticks = latest};
 *     if (pm_trace_block_shares(bytes, len, &stretch, &err, &shares, &latest) == PM_OK)
 *         for (uint32_t i = 0; i < shares.n_steps; i++)      // those in which something ran
 *             use(&shares.steps[i], &shares.shares[shares.steps[i].first]);
 *     pm_trace_shares_release(&shares);
 *
 * Step n of level k is from n * 2^k ns to (n + 1) * 2^k ns since the execution's start: the first
 * tick of it is the first whose time (trace.h) is not earlier. Time is that of the innermost call,
 * on the stack that the thread is on, and of nobody where no call is open. It is exact: what a
 * block's steps have of a sentence adds up to what the block's calls have of it without the calls
 * within them, to the tick, where times do not go back. Events whose time goes back (trace_block.h)
 * are at the latest time before, as in trace.h. One thread at a time for each object. */
#ifndef PM_TRACE_SHARES_H
#define PM_TRACE_SHARES_H

#include "../base/str.h"

enum { PM_TRACE_MAX_LEVEL = 62 };

struct pm_trace_clock {
    uint64_t start_ns; /* of the process, from the execution's start */
    uint64_t tick_hz;  /* not 0 */
};

/* The first tick that is at ns or later. */
uint64_t pm_trace_tick_at(const struct pm_trace_clock *clock, uint64_t ns);
/* When a tick is, from the execution's start: at most INT64_MAX. */
uint64_t pm_trace_time_of(const struct pm_trace_clock *clock, uint64_t ticks);

struct pm_trace_share {
    uint32_t sentence; /* row */
    uint64_t ticks;    /* above 0 */
};

struct pm_trace_step {
    uint64_t number;
    uint32_t first, n; /* its shares, by rising sentence; n above 0 */
};

/* Steps of one level, by rising number. Zeroed, it is empty. */
struct pm_trace_shares {
    struct pm_trace_step *steps;
    struct pm_trace_share *shares;
    uint32_t n_steps, steps_cap, n_shares, shares_cap;
    /* memory of the walk */
    uint64_t *ticks_of; /* by the block's number of a sentence */
    uint32_t *touched, *open[2], open_cap[2];
    uint32_t *sentences, sentences_cap;
};

void pm_trace_shares_clear(struct pm_trace_shares *shares);
void pm_trace_shares_release(struct pm_trace_shares *shares);
/* False: memory. The shares of a step are added behind it: they rise. */
PM_MUST_CHECK bool pm_trace_shares_add_step(struct pm_trace_shares *shares, uint64_t number);
PM_MUST_CHECK bool pm_trace_shares_add(struct pm_trace_shares *shares, uint32_t sentence,
                                       uint64_t ticks);

struct pm_trace_stretch {
    struct pm_trace_clock clock;
    unsigned level;
    uint64_t first_step, end_step; /* only these; end_step is the first that is not wanted */
    uint64_t before_ticks;         /* the latest time of the blocks before; 0: there is none */
};

/* The bytes of a block as they are unpacked. Adds to shares, which is lent memory of the walk.
 * ret_latest_ticks: of the block, or of those before. PM_ERR_FORMAT, PM_ERR_MEMORY. */
PM_MUST_CHECK enum pm_status pm_trace_block_shares(const void *bytes, size_t len,
                                                   const struct pm_trace_stretch *stretch,
                                                   struct pm_error *err,
                                                   struct pm_trace_shares *shares,
                                                   uint64_t *ret_latest_ticks);

#endif
