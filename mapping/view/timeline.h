/* A trace as a picture of any stretch of time: calls where there are few, and elsewhere whose time
 * it was, in equal steps. Nothing is sampled: the steps have the time of every call in them.
 *
 *     struct pm_timeline *line;
 *     struct pm_trace_shares shares = {0};
 *     struct pm_timeline_steps steps = pm_timeline_steps_of(0, 1000000000, 1000);
 *     if (pm_timeline_open("heat.perfmap", &err, &line) == PM_OK &&
 *         pm_timeline_shares(line, 0, &steps, &err, &shares) == PM_OK)
 *         use(shares.steps, shares.n_steps);        // of trace_shares.h
 *     pm_trace_shares_release(&shares);
 *     pm_timeline_close(line);
 *
 * Coarse steps come from the archive (mapping/archive/trace_steps.h), finer ones from the events
 * themselves; archives without steps (before version 8, and threads with one block of events) have
 * all of them counted from events. One thread at a time. */
#ifndef PM_TIMELINE_H
#define PM_TIMELINE_H

#include "../archive/trace.h"
#include "../archive/trace_messages.h"
#include "../archive/trace_steps.h"

struct pm_timeline;

/* Without any trace it has no threads (pm_trace_n_threads). */
PM_MUST_CHECK enum pm_status pm_timeline_open(const char *path, struct pm_error *err,
                                              struct pm_timeline **ret_line);
void pm_timeline_close(struct pm_timeline *line);
struct pm_trace *pm_timeline_trace(struct pm_timeline *line);
struct pm_trace_messages *pm_timeline_messages(struct pm_timeline *line);

/* Of all threads: the first and the last event. False: there is none. */
bool pm_timeline_range(const struct pm_timeline *line, uint64_t *ret_from_ns, uint64_t *ret_to_ns);
/* The finest level in which a stretch of time has at most n_steps steps, and these. */
struct pm_timeline_steps {
    unsigned level;
    uint64_t first, end;
};
struct pm_timeline_steps pm_timeline_steps_of(uint64_t from_ns, uint64_t to_ns, uint32_t n_steps);

/* Whose time the steps were on a thread (position): those in which something ran, with all their
 * shares, in ticks of the thread. What was in ret_shares goes. */
PM_MUST_CHECK enum pm_status pm_timeline_shares(struct pm_timeline *line, size_t thread,
                                                const struct pm_timeline_steps *steps,
                                                struct pm_error *err,
                                                struct pm_trace_shares *ret_shares);

/* The events of a thread from from_ns to to_ns, with enters of what is open at from_ns before: as
 * of pm_trace_next. False in ret_fits: they are more than `most`, and the list has none. */
struct pm_timeline_events {
    struct pm_trace_event *items;
    uint32_t n, cap;
};
PM_MUST_CHECK enum pm_status pm_timeline_events(struct pm_timeline *line, size_t thread,
                                                uint64_t from_ns, uint64_t to_ns, uint32_t most,
                                                struct pm_error *err,
                                                struct pm_timeline_events *ret_events,
                                                bool *ret_fits);

#endif
