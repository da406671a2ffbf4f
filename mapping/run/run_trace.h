/* Events of mode trace in a run file, one thread at a time, in the order in which they happened.
 *
 *     struct pm_run_trace_cursor *cursor;
 *     struct pm_run_trace_event event;
 *     bool has_event;
 *     if (pm_run_trace_open("heat.run/123.0.pmr", file, thread, &err, &cursor) != PM_OK) ...
 *     while ((status = pm_run_trace_next(cursor, &err, &event, &has_event)) == PM_OK && has_event)
 *         use(event.is_leave, pm_run_file_noun(file, event.noun),
 *             pm_run_trace_ns(file, event.tsc));
 *     pm_run_trace_close(cursor);
 *
 * What comes out nests: every enter has its leave, innermost first, on each of the two stacks
 * (the thread's own, and all others together, PM_RUN_TRACE_ON_FOREIGN). Where the file lacks one
 * it is made, with the flag PM_RUN_TRACE_CUT: enters of what was open before the first event
 * that is kept; leaves of what was still open when the thread, the process or the trace ended,
 * or of what a signal handler jumped out of within a trampoline. For all others tsc is the very
 * clock value that the contexts' times are made of: the sum of leave.spent_tsc over a context's
 * events is its inclusive time to the tick, when the trace is whole. A handler's events may come
 * before that of the trampoline that it interrupted, which has an earlier time: who needs times
 * that never go back takes the largest so far.
 *
 * Memory: one part of the trace (256 KiB), the stacks, and a table of the thread's contexts. One
 * thread at a time per cursor; several cursors may be open on a file, which must outlive them.
 *
 * A trace may also be read by several threads at once. Nearly all parts have nothing but calls
 * that begin and end, in order. These say what they do to what is open, whatever that is: which
 * frames they leave, and which new ones they leave open. So such a part is read on its own,
 * before those in front of it, and joined when the cursor stands there:
 *
 *     pm_run_trace_read_part(reader, thread, i, part, take, context, &is_plain);   // any thread
 *     ...
 *     if (is_plain)                                                  // one thread, i after i - 1
 *         pm_run_trace_join(cursor, part, &is_plain);
 *     if (!is_plain)
 *         pm_run_trace_stop_before(cursor, i + 1);    // then pm_run_trace_next, as above
 */
#ifndef PM_RUN_TRACE_H
#define PM_RUN_TRACE_H

#include "run_file.h"

struct pm_run_trace_cursor;

/* MOVED: not left and not entered: something was begun or ended (pm_begin), and what is open
 * goes on as another context, below another set. Leaves of all frames, the set's (a noun of kind
 * PM_RUN_AMBIENT_SET, in whose place nothing is entered) the last, then enters. SWITCHED: not
 * left and not entered either: the thread goes on on another stack (makecontext). Leaves of all
 * that waits from now on, then enters of what has waited there. */
enum {
    PM_RUN_TRACE_CUT = 1,
    PM_RUN_TRACE_ON_FOREIGN = 2,
    PM_RUN_TRACE_MOVED = 4,
    PM_RUN_TRACE_SWITCHED = 8
};
#define PM_RUN_TRACE_NONE 0xffffffffu

struct pm_run_trace_event {
    bool is_leave;
    unsigned flags;
    uint32_t noun;      /* position among the file's nouns; PM_RUN_TRACE_NONE: not known */
    uint32_t node;      /* position in the thread's nodes; PM_RUN_TRACE_NONE: not known */
    uint32_t depth;     /* frames that are open below it, on its stack */
    uint64_t tsc;       /* clock */
    uint64_t enter_tsc; /* of leaves: of their enter */
    /* of leaves: between, without what the thread spent on foreign stacks meanwhile */
    uint64_t spent_tsc;
};

struct pm_run_trace_size {
    size_t n_parts; /* heads included */
    uint64_t n_places,
        n_bytes;             /* room for events, of which heads may have some left; of all parts */
    bool has_begin, has_end; /* nothing was dropped before, behind */
};

/* What the file has of a thread's trace. All 0: it has none. */
struct pm_run_trace_size pm_run_trace_size(const struct pm_run_file *file, size_t thread);
size_t pm_run_trace_n_parts(const struct pm_run_file *file, size_t thread);

/* path: of the same file. PM_ERR_SYSTEM, PM_ERR_MEMORY. */
PM_MUST_CHECK enum pm_status pm_run_trace_open(const char *path, const struct pm_run_file *file,
                                               size_t thread, struct pm_error *err,
                                               struct pm_run_trace_cursor **ret_cursor);
/* From memory, which must stay. */
PM_MUST_CHECK enum pm_status pm_run_trace_parse(const void *bytes, size_t len,
                                                const struct pm_run_file *file, size_t thread,
                                                struct pm_error *err,
                                                struct pm_run_trace_cursor **ret_cursor);
/* PM_ERR_MEMORY, PM_ERR_FORMAT: the file was changed since it was read. */
PM_MUST_CHECK enum pm_status pm_run_trace_next(struct pm_run_trace_cursor *cursor,
                                               struct pm_error *err,
                                               struct pm_run_trace_event *ret_event,
                                               bool *ret_has_event);
void pm_run_trace_close(struct pm_run_trace_cursor *cursor);

/* Events have no contexts (node) from now on, for to look them up takes time. */
void pm_run_trace_leave_out_nodes(struct pm_run_trace_cursor *cursor);
/* No event of part n or of later ones comes out, nor what ends with the trace: then
 * pm_run_trace_next has none. SIZE_MAX: all do, as at first. */
void pm_run_trace_stop_before(struct pm_run_trace_cursor *cursor, size_t n);

/* --- parts on their own --- */

/* What one thread needs to read parts: a buffer, and the file opened for itself. */
struct pm_run_trace_reader;
PM_MUST_CHECK enum pm_status pm_run_trace_reader_open(const char *path,
                                                      const struct pm_run_file *file,
                                                      struct pm_error *err,
                                                      struct pm_run_trace_reader **ret_reader);
/* From memory, which must stay. NULL: memory. */
struct pm_run_trace_reader *pm_run_trace_reader_parse(const void *bytes, size_t len,
                                                      const struct pm_run_file *file);
void pm_run_trace_reader_close(struct pm_run_trace_reader *reader);

/* What a part does to what is open. To be used again for other parts. */
struct pm_run_trace_part;
struct pm_run_trace_part *pm_run_trace_part_new(void); /* NULL: memory */
void pm_run_trace_part_free(struct pm_run_trace_part *part);

/* An event of such a part, on the thread's own stack, without flags. */
struct pm_run_trace_call {
    uint64_t tsc;
    uint32_t noun; /* position among the file's nouns */
    uint32_t is_leave;
};
/* False: no more of them. */
typedef bool (*pm_run_trace_taker)(void *context, const struct pm_run_trace_call *calls, size_t n);

/* Reads part i (below n_parts) of a thread, from any thread with a reader of its own; take has
 * its calls in order, some hundred at a time. False: memory, or take said so. *ret_is_plain false:
 * the part has other events, cannot be read, or is known not to go with what is before it; what
 * take has had is to be forgotten. */
PM_MUST_CHECK bool pm_run_trace_read_part(struct pm_run_trace_reader *reader, size_t thread,
                                          size_t i, struct pm_run_trace_part *part,
                                          pm_run_trace_taker take, void *context,
                                          bool *ret_is_plain);
/* The cursor goes over the part, with which its next events would begin: as if pm_run_trace_next
 * had given those that take has had. *ret_fits false: it stays where it is, for something else is
 * open there than the part leaves. False: memory. */
PM_MUST_CHECK bool pm_run_trace_join(struct pm_run_trace_cursor *cursor,
                                     const struct pm_run_trace_part *part, bool *ret_fits);

/* A clock value as nanoseconds since the process's start. */
uint64_t pm_run_trace_ns(const struct pm_run_file *file, uint64_t tsc);

#endif
