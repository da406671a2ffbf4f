/* The walk through a trace that all formats of traces share: threads one after the other, events in
 * order, and each that began ends. Memory is that of the names and of what is open.
 *
 *     struct export_walk walk = {.begin = begin, .event = event, .end = end, .context = me};
 *     status = export_walk_trace(trace, request, &walk, &err);
 *
 * Events nest on each of the two stacks of a thread: its own, and all others (signal stacks).
 * What is cut off by --from and --to begins and ends there.
 */
#ifndef PM_EXPORT_EVENTS_H
#define PM_EXPORT_EVENTS_H

#include "export.h"

#include "mapping/base/map.h"

struct export_noun {
    const char *kind, *name; /* printable */
};

/* What an event is of; texts are printable. */
struct export_name {
    uint32_t id;      /* from 1, in the order they come */
    const char *name; /* "step", "loop heat.c:12"; of words "MPI_COMM_WORLD, rank 1 Send" */
    const char *kind, *level, *verb, *file;
    const struct export_noun *nouns;
    uint32_t n_nouns, n_others;
    int64_t line_no;
    const struct pm_trace_name *source;
};

struct export_event {
    bool is_leave;
    bool is_foreign;   /* on a stack that is not the thread's own */
    unsigned flags;    /* PM_TRACE_... */
    uint32_t sentence; /* row in the archive */
    uint64_t time_ns;
    const struct export_name *name;
};

struct export_walk {
    /* Of each thread that has events; index: of pm_trace_thread. Any may be NULL. */
    void (*begin)(void *context, size_t index, const struct pm_trace_thread *thread);
    void (*event)(void *context, size_t index, const struct pm_trace_thread *thread,
                  const struct export_event *event);
    void (*end)(void *context, size_t index, const struct pm_trace_thread *thread);
    bool (*goes_on)(void *context); /* false: no more is wanted (the disk is full) */
    void *context;
    uint64_t n_events; /* that came */
    uint32_t n_names;
    /* private */
    struct pm_map by_sentence;
    struct export_name **names;
    uint32_t cap_names;
    struct pm_arena arena;
};

PM_MUST_CHECK enum pm_status export_walk_trace(struct pm_trace *trace,
                                               const struct export_request *request,
                                               struct export_walk *walk, struct pm_error *err);

/* What the trace lacks: calls add with each sentence. */
void export_each_dropped(struct pm_trace *trace, void (*add)(void *context, const char *text),
                         void *context);

#endif
