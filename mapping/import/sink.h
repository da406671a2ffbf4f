/* What readers of profiles and traces of other tools give what they read to. One reader for each
 * format (formats.def), and one sink for all: collect's, which makes an archive of it
 * (../collect/import_sink.c).
 *
 *     status = pm_sink_process(sink, &process, &program);
 *     status = pm_sink_thread(sink, &thread, &row);
 *     status = pm_sink_frame(sink, &frame, &main);                // once for each
 *     status = pm_sink_place(sink, program, frames, n, &place);   // a stack, outermost first
 *     status = pm_sink_cost(sink, row, place, metric, 1000);
 *
 * or step by step, for what is entered and left: pm_sink_path, then pm_sink_cost and, with a trace,
 * pm_sink_event. Names and numbers are the producer's; what of them was changed or left out is told
 * by pm_sink_note. What could not be written of notes is an error of the whole. Strings are copied.
 * Nothing is to be freed. One thread at a time.
 */
#ifndef PM_IMPORT_SINK_H
#define PM_IMPORT_SINK_H

#include "../base/str.h"

struct pm_import_object {
    struct pm_str path;     /* of the ELF file; "[NAME]" is none */
    struct pm_str build_id; /* raw bytes; empty: not known */
};

struct pm_import_process {
    uint32_t pid, parent_pid; /* 0: not known */
    struct pm_str name;       /* of its program, or what the producer has */
    struct pm_str host;       /* empty: that of all */
    int64_t rank;             /* -1: none */
};

struct pm_import_thread {
    uint32_t process, tid; /* process: as pm_sink_process gave it */
    struct pm_str name;
    bool has_times;
    uint64_t start_ns, end_ns; /* with has_times */
};

struct pm_import_metric {
    const char *name, *unit; /* name: a known one of ours (cpu_ns, n_calls) is that */
    const char *kind;        /* count, time, bytes */
    const char *description;
};

enum pm_import_address {
    PM_IMPORT_NO_ADDRESS,
    PM_IMPORT_ELF,    /* as the object's symbols have it */
    PM_IMPORT_OFFSET, /* in the object's file */
};

struct pm_import_frame {
    struct pm_str function; /* linkage or shown name, as the producer has it; empty: not known */
    struct pm_str file;     /* of the line; empty: not known */
    uint32_t line_no;       /* 0: not known */
    uint32_t object;        /* 0: none */
    enum pm_import_address kind;
    uint64_t address;
    /* a guess of the producer's text: only if the function begins so many bytes before it */
    bool is_checked;
    uint64_t function_offset;
    bool is_whole;   /* of the function at the address: the place in it is not known */
    bool is_exact;   /* the address is that of the instruction, not where a sample found it */
    bool is_caller;  /* the address is where a call returns to */
    bool is_inlined; /* into the frame outside of it */
    bool is_flat;    /* what it calls is not below it: the profile has no stacks */
    bool is_entered; /* seen when it was entered, not found by samples */
};

struct pm_import_arc {
    uint32_t process, thread;
    uint32_t caller, callee; /* frames */
    uint64_t n_calls;        /* 0: not known */
};

struct pm_import_sink {
    enum pm_status (*object)(struct pm_import_sink *, const struct pm_import_object *, uint32_t *,
                             bool *ret_is_known);
    enum pm_status (*process)(struct pm_import_sink *, const struct pm_import_process *,
                              uint32_t *);
    enum pm_status (*thread)(struct pm_import_sink *, const struct pm_import_thread *, uint32_t *);
    enum pm_status (*metric)(struct pm_import_sink *, const struct pm_import_metric *, uint32_t *);
    enum pm_status (*frame)(struct pm_import_sink *, const struct pm_import_frame *, uint32_t *);
    enum pm_status (*path)(struct pm_import_sink *, uint32_t process, uint32_t parent,
                           uint32_t frame, uint32_t *);
    enum pm_status (*label)(struct pm_import_sink *, uint32_t process, uint32_t above,
                            struct pm_str key, struct pm_str value, uint32_t *);
    enum pm_status (*place)(struct pm_import_sink *, uint32_t process, uint32_t above,
                            const uint32_t *frames, size_t n, uint32_t *);
    enum pm_status (*cost)(struct pm_import_sink *, uint32_t thread, uint32_t place,
                           uint32_t metric, uint64_t value);
    enum pm_status (*arc)(struct pm_import_sink *, const struct pm_import_arc *, uint32_t metric,
                          uint64_t value);
    enum pm_status (*event)(struct pm_import_sink *, uint32_t thread, uint64_t time_ns,
                            uint32_t path);
    void (*now)(struct pm_import_sink *, uint64_t time_ns);
    void (*span)(struct pm_import_sink *, uint64_t start_ns, uint64_t end_ns);
    void (*attribute)(struct pm_import_sink *, const char *key, struct pm_str value);
    void (*note)(struct pm_import_sink *, const char *text);
};

/* The row of an object, for frames. *ret_is_known: it is here, and facts or debug information say
 * what was inlined at an address. */
static inline PM_MUST_CHECK enum pm_status pm_sink_object(struct pm_import_sink *sink,
                                                          const struct pm_import_object *object,
                                                          uint32_t *ret_object, bool *ret_is_known)
{
    return sink->object(sink, object, ret_object, ret_is_known);
}

/* A new process. */
static inline PM_MUST_CHECK enum pm_status pm_sink_process(struct pm_import_sink *sink,
                                                           const struct pm_import_process *process,
                                                           uint32_t *ret_process)
{
    return sink->process(sink, process, ret_process);
}

static inline PM_MUST_CHECK enum pm_status pm_sink_thread(struct pm_import_sink *sink,
                                                          const struct pm_import_thread *thread,
                                                          uint32_t *ret_thread)
{
    return sink->thread(sink, thread, ret_thread);
}

static inline PM_MUST_CHECK enum pm_status pm_sink_metric(struct pm_import_sink *sink,
                                                          const struct pm_import_metric *metric,
                                                          uint32_t *ret_metric)
{
    return sink->metric(sink, metric, ret_metric);
}

/* A number for a frame, from 1. */
static inline PM_MUST_CHECK enum pm_status pm_sink_frame(struct pm_import_sink *sink,
                                                         const struct pm_import_frame *frame,
                                                         uint32_t *ret_frame)
{
    return sink->frame(sink, frame, ret_frame);
}

/* The context of a frame below another one's. parent 0: below that of the process; frame 0: that
 * one itself. */
static inline PM_MUST_CHECK enum pm_status pm_sink_path(struct pm_import_sink *sink,
                                                        uint32_t process, uint32_t parent,
                                                        uint32_t frame, uint32_t *ret_path)
{
    return sink->path(sink, process, parent, frame, ret_path);
}

/* A word that holds for all below it, in no order: {value Executes} at level `key`. above: another
 * one; 0: none. */
static inline PM_MUST_CHECK enum pm_status pm_sink_label(struct pm_import_sink *sink,
                                                         uint32_t process, uint32_t above,
                                                         struct pm_str key, struct pm_str value,
                                                         uint32_t *ret_context)
{
    return sink->label(sink, process, above, key, value, ret_context);
}

/* Where the exclusive costs of a stack go; frames: outermost first. None: the process's. above: a
 * label's context; 0: none. */
static inline PM_MUST_CHECK enum pm_status pm_sink_place_below(struct pm_import_sink *sink,
                                                               uint32_t process, uint32_t above,
                                                               const uint32_t *frames, size_t n,
                                                               uint32_t *ret_place)
{
    return sink->place(sink, process, above, frames, n, ret_place);
}

static inline PM_MUST_CHECK enum pm_status pm_sink_place(struct pm_import_sink *sink,
                                                         uint32_t process, const uint32_t *frames,
                                                         size_t n, uint32_t *ret_place)
{
    return sink->place(sink, process, 0, frames, n, ret_place);
}

/* Exclusive; more of it adds up. */
static inline PM_MUST_CHECK enum pm_status pm_sink_cost(struct pm_import_sink *sink,
                                                        uint32_t thread, uint32_t place,
                                                        uint32_t metric, uint64_t value)
{
    return sink->cost(sink, thread, place, metric, value);
}

/* {caller callee Calls}: the inclusive cost of calls whose path is not known. It is in no total. */
static inline PM_MUST_CHECK enum pm_status pm_sink_arc(struct pm_import_sink *sink,
                                                       const struct pm_import_arc *arc,
                                                       uint32_t metric, uint64_t value)
{
    return sink->arc(sink, arc, metric, value);
}

/* For traces: in order of time within a thread. path 0: the innermost one is left. */
static inline PM_MUST_CHECK enum pm_status pm_sink_event(struct pm_import_sink *sink,
                                                         uint32_t thread, uint64_t time_ns,
                                                         uint32_t path)
{
    return sink->event(sink, thread, time_ns, path);
}

/* When the costs were that follow, on the clock of pm_sink_span; 0: not known. */
static inline void pm_sink_now(struct pm_import_sink *sink, uint64_t time_ns)
{
    sink->now(sink, time_ns);
}

/* How long all of it took, as far as the file tells. */
static inline void pm_sink_span(struct pm_import_sink *sink, uint64_t start_ns, uint64_t end_ns)
{
    sink->span(sink, start_ns, end_ns);
}

/* Of the whole: the producer's name, the command. */
static inline void pm_sink_attribute(struct pm_import_sink *sink, const char *key,
                                     struct pm_str value)
{
    sink->attribute(sink, key, value);
}

/* What was changed, left out or is not known: each report says it. */
void pm_sink_note(struct pm_import_sink *sink, const char *format, ...) PM_PRINTF(2, 3);

#endif
