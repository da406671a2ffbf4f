/* Traces in an archive: the events of each thread, from any time on. For time lines.
 *
 *     struct pm_trace *trace;
 *     struct pm_trace_cursor *cursor;
 *     struct pm_trace_event event;
 *     bool has_event;
 *     if (pm_trace_open(archive, &err, &trace) != PM_OK ||
 *         pm_trace_seek(trace, 0, from_ns, &err, &cursor) != PM_OK) ...
 *     while ((status = pm_trace_next(cursor, &err, &event, &has_event)) == PM_OK && has_event &&
 *            event.time_ns <= to_ns)
 *         use(event.is_leave, event.depth, event.sentence);
 *     pm_trace_cursor_free(cursor);
 *     pm_trace_free(trace);
 *
 * Events nest: every enter has its leave, innermost first, on each of the two stacks of a thread
 * (PM_TRACE_FOREIGN: all stacks that are not its own). Those with PM_TRACE_CUT were made up:
 * calls that were open before the first event that was kept, or behind the last one.
 * PM_TRACE_SWITCHED: leaves of calls that wait on a stack which the thread leaves (coroutines),
 * and enters where they go on. A cursor begins with enters of all calls that are open at
 * from_ns, flag PM_TRACE_BEFORE, with the times when they began. Times are nanoseconds from the
 * execution's start; they never go back. Memory: a block of 65536 events, and the frames.
 * Reading starts at the block that has from_ns, so it costs the same anywhere. One thread at a
 * time for a trace and its cursors.
 */
#ifndef PM_TRACE_H
#define PM_TRACE_H

#include "archive.h"
#include "trace_block.h"

enum { PM_TRACE_BEFORE = 4 /* beside those of trace_block.h */ };

struct pm_trace;
struct pm_trace_cursor;

struct pm_trace_thread {
    int64_t row, process_row; /* in tables threads, processes */
    int64_t pid, tid;
    const char *name, *exe;
    const char *node;          /* the machine; "" not known */
    int64_t rank;              /* of MPI; -1: none */
    uint64_t start_ns, end_ns; /* first and last event; 0: there is none */
    uint64_t process_start_ns, tick_hz;
    uint64_t n_events, n_cut, n_dropped_calls;
    bool has_begin, has_end; /* nothing was dropped there */
};

struct pm_trace_event {
    bool is_leave;
    unsigned flags;
    uint32_t sentence; /* row */
    uint32_t depth;    /* calls below it, on its stack */
    uint64_t time_ns;
    uint64_t enter_ns; /* of leaves: when it began */
    /* of leaves: between, without what the thread did on foreign stacks meanwhile */
    uint64_t spent_ns;
};

struct pm_trace_noun {
    const char *kind, *name; /* "peer", "rank 1"; kind "" not stated */
};

/* What the code of a sentence implements: the function or loop of the source that it maps to,
 * else the code itself. */
struct pm_trace_name {
    const char *name;  /* "step", "heat.c:18"; of words "MPI_COMM_WORLD, rank 1, tag 7 Send" */
    const char *kind;  /* "function", "loop", "symbol", ... */
    const char *file;  /* "" not known */
    int64_t line_no;   /* 0 not known */
    uint32_t n_others; /* more functions or loops that it implements as well */
    const char *level; /* "Source", "MPI" */
    const char *verb;  /* "Executes", "Send" */
    /* of what the program or an adapter says; code has none */
    const struct pm_trace_noun *nouns;
    uint32_t n_nouns;
};

/* The archive must outlive the trace. Without any trace n_threads is 0. */
PM_MUST_CHECK enum pm_status pm_trace_open(struct pm_archive *archive, struct pm_error *err,
                                           struct pm_trace **ret_trace);
void pm_trace_free(struct pm_trace *trace);
size_t pm_trace_n_threads(const struct pm_trace *trace);
int64_t pm_trace_run_ns(const struct pm_trace *trace); /* how long the run was */
const struct pm_trace_thread *pm_trace_thread(const struct pm_trace *trace, size_t index);
/* Lent until the trace is freed. NULL: err says why. */
const struct pm_trace_name *pm_trace_name(struct pm_trace *trace, uint32_t sentence,
                                          struct pm_error *err);

PM_MUST_CHECK enum pm_status pm_trace_seek(struct pm_trace *trace, size_t thread, uint64_t from_ns,
                                           struct pm_error *err,
                                           struct pm_trace_cursor **ret_cursor);
PM_MUST_CHECK enum pm_status pm_trace_next(struct pm_trace_cursor *cursor, struct pm_error *err,
                                           struct pm_trace_event *ret_event, bool *ret_has_event);
/* Events up to until_ns of calls that are inside this many others or more do not come out, from
 * now on. That takes half as long as to leave them out afterwards. */
void pm_trace_leave_out(struct pm_trace_cursor *cursor, uint32_t depth, uint64_t until_ns);
void pm_trace_cursor_free(struct pm_trace_cursor *cursor);

#endif
