#include "events.h"

#include "../base/map.h"

#include <errno.h>
#include <stdlib.h>

enum {
    RUN_EVENTS = 1 << 21, /* that are sorted in memory: 64 MiB */
    READ_EVENTS = 4096,   /* of each run that are in memory while they are merged */
    MAX_DEPTH = 1 << 16,
};

/* 32 bytes. */
struct record {
    int64_t time_ns, duration_ns;
    uint32_t thread, frame;
    uint64_t order; /* kind << 62 | number in the file */
};

struct run {
    uint64_t next, end; /* records in the file that are not read yet */
    struct record *read;
    uint32_t at, n;
};

struct frame {
    uint32_t path, frame;
    int64_t end_ns; /* of a whole event; INT64_MAX: a leave will come */
};

struct import_events {
    struct import *im;
    struct record *list; /* of the run that is gathered; sorted, when there is one only */
    uint64_t n, n_all, most;
    uint32_t cap;
    FILE *file;
    struct run *runs;
    uint32_t n_runs, runs_cap;
    struct record next; /* the first that was not walked */
    bool has_next;
    uint64_t at;            /* in list */
    struct pm_map paths;    /* parent, frame -> path */
    const uint32_t *frames; /* by the events' numbers less 1; NULL: these are frames */
    uint32_t wall_metric, calls_metric;
    int64_t first_ns, last_ns;
    /* of the thread that is walked */
    uint32_t process, thread;
    struct frame *stack;
    uint32_t depth, stack_cap;
    int64_t now_ns;
    uint64_t n_unopened, n_unclosed, n_cut;
};

static enum import_event_kind kind_of(const struct record *record)
{
    return (enum import_event_kind)(record->order >> 62);
}

/* At one time: leaves and enters as they come in the file, then whole ones, the longest first, for
 * a call stands in files behind those that it made. */
static int by_time(const void *a, const void *b)
{
    const struct record *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    bool is_whole_x = kind_of(x) == IMPORT_WHOLE, is_whole_y = kind_of(y) == IMPORT_WHOLE;
    if (is_whole_x != is_whole_y)
        return is_whole_x ? 1 : -1;
    if (is_whole_x && x->duration_ns != y->duration_ns)
        return x->duration_ns > y->duration_ns ? -1 : 1;
    uint64_t order_x = x->order << 2, order_y = y->order << 2;
    return order_x < order_y ? -1 : order_x > order_y;
}

struct import_events *import_events_new(struct import *im, uint32_t most_in_memory)
{
    struct import_events *events = pm_alloc(sizeof *events);
    if (events)
        *events = (struct import_events){.im = im,
                                         .most = most_in_memory ? most_in_memory : RUN_EVENTS,
                                         .first_ns = INT64_MAX,
                                         .last_ns = INT64_MIN};
    return events;
}

void import_events_free(struct import_events *events)
{
    if (!events)
        return;
    for (uint32_t i = 0; i < events->n_runs; i++)
        free(events->runs[i].read);
    if (events->file)
        fclose(events->file);
    pm_map_release(&events->paths);
    free(events->runs);
    free(events->list);
    free(events->stack);
    free(events);
}

/* --- gathering --- */

static enum pm_status temporary_failed(const struct import_events *events)
{
    return pm_error_system(events->im->err, errno, "cannot use a temporary file");
}

static enum pm_status write_run(struct import_events *events)
{
    struct run *runs =
        pm_grow_array(events->runs, events->n_runs, &events->runs_cap, 16, sizeof *runs);
    if (!runs)
        return import_no_memory(events->im);
    events->runs = runs;
    qsort(events->list, events->n, sizeof *events->list, by_time);
    if (!events->file)
        events->file = tmpfile();
    if (!events->file ||
        fwrite(events->list, sizeof *events->list, events->n, events->file) != events->n)
        return temporary_failed(events);
    runs[events->n_runs++] = (struct run){.next = events->n_all - events->n, .end = events->n_all};
    events->n = 0;
    return PM_OK;
}

enum pm_status import_events_add(struct import_events *events, const struct import_event *event)
{
    struct record *list =
        pm_grow_array(events->list, (uint32_t)events->n, &events->cap, 1024, sizeof *list);
    if (!list)
        return import_no_memory(events->im);
    events->list = list;
    list[events->n++] = (struct record){event->time_ns, event->duration_ns, event->thread,
                                        event->frame, (uint64_t)event->kind << 62 | events->n_all};
    events->n_all++;
    int64_t end_ns;
    if (__builtin_add_overflow(event->time_ns, event->duration_ns, &end_ns) ||
        event->duration_ns < 0)
        return import_refuse_byte(events->im->in, events->im->err, PM_ERR_FORMAT,
                                  "a duration is negative or too large");
    if (event->time_ns < events->first_ns)
        events->first_ns = event->time_ns;
    if (end_ns > events->last_ns)
        events->last_ns = end_ns;
    return events->n == events->most ? write_run(events) : PM_OK;
}

/* --- in order --- */

static enum pm_status read_run(struct import_events *events, struct run *run)
{
    uint64_t n = run->end - run->next;
    n = n < READ_EVENTS ? n : READ_EVENTS;
    run->at = 0;
    run->n = 0;
    if (!n)
        return PM_OK;
    if (!run->read)
        run->read = pm_alloc_array(READ_EVENTS, sizeof *run->read);
    if (!run->read)
        return import_no_memory(events->im);
    if (fseeko(events->file, (off_t)(run->next * sizeof *run->read), SEEK_SET) != 0 ||
        fread(run->read, sizeof *run->read, n, events->file) != n)
        return temporary_failed(events);
    run->next += n;
    run->n = (uint32_t)n;
    return PM_OK;
}

/* Some hundred runs are 20 GB of events: the first of all is looked for one by one. */
static enum pm_status next_of_runs(struct import_events *events)
{
    struct run *first = NULL;
    for (uint32_t i = 0; i < events->n_runs; i++) {
        struct run *run = &events->runs[i];
        if (run->at == run->n) {
            enum pm_status status = read_run(events, run);
            if (status != PM_OK)
                return status;
        }
        if (run->n && (!first || by_time(&run->read[run->at], &first->read[first->at]) < 0))
            first = run;
    }
    events->has_next = first != NULL;
    if (first)
        events->next = first->read[first->at++];
    return PM_OK;
}

static enum pm_status take_next(struct import_events *events)
{
    if (events->n_runs)
        return next_of_runs(events);
    events->has_next = events->at < events->n;
    if (events->has_next)
        events->next = events->list[events->at++];
    return PM_OK;
}

void import_events_frames(struct import_events *events, const uint32_t *frames)
{
    events->frames = frames;
}

enum pm_status import_events_begin(struct import_events *events)
{
    struct pm_import_metric wall = {"wall_ns", "ns", "time", ""};
    struct pm_import_metric calls = {"n_calls", "calls", "count", ""};
    enum pm_status status = pm_sink_metric(events->im->sink, &wall, &events->wall_metric);
    if (status != PM_OK)
        return status;
    status = pm_sink_metric(events->im->sink, &calls, &events->calls_metric);
    if (status != PM_OK)
        return status;
    if (events->n_runs && events->n)
        status = write_run(events);
    else if (events->n)
        qsort(events->list, events->n, sizeof *events->list, by_time);
    if (status != PM_OK)
        return status;
    if (events->n_runs) {
        free(events->list);
        events->list = NULL;
    }
    return take_next(events);
}

bool import_events_thread(const struct import_events *events, uint32_t *ret_thread)
{
    *ret_thread = events->next.thread;
    return events->has_next;
}

/* --- a thread's stack --- */

static enum pm_status path_of(struct import_events *events, uint32_t parent, uint32_t frame,
                              uint32_t *ret_path)
{
    uint64_t key = (uint64_t)parent << 32 | frame;
    if (!parent) /* of this process alone */
        key = import_hash(&(uint32_t[]){events->process, frame}, 8, 1) | (uint64_t)1 << 63;
    uint32_t *at = pm_map_at(&events->paths, key);
    if (!at)
        return import_no_memory(events->im);
    if (!*at) {
        enum pm_status status = pm_sink_path(events->im->sink, events->process, parent, frame, at);
        if (status != PM_OK)
            return status;
    }
    *ret_path = *at;
    return PM_OK;
}

/* The time since the last event is that of the innermost call. */
static enum pm_status go_to(struct import_events *events, int64_t time_ns)
{
    uint64_t spent_ns = (uint64_t)time_ns - (uint64_t)events->now_ns;
    bool is_later = time_ns > events->now_ns;
    if (is_later)
        events->now_ns = time_ns;
    if (!is_later || !events->depth)
        return PM_OK;
    return pm_sink_cost(events->im->sink, events->thread, events->stack[events->depth - 1].path,
                        events->wall_metric, spent_ns);
}

static uint64_t trace_ns(const struct import_events *events, int64_t time_ns)
{
    return (uint64_t)time_ns - (uint64_t)events->first_ns;
}

static enum pm_status leave(struct import_events *events, int64_t time_ns)
{
    enum pm_status status = go_to(events, time_ns);
    if (status != PM_OK)
        return status;
    events->depth--;
    return pm_sink_event(events->im->sink, events->thread, trace_ns(events, events->now_ns), 0);
}

/* Whole events that end by then. */
static enum pm_status leave_until(struct import_events *events, int64_t time_ns)
{
    while (events->depth && events->stack[events->depth - 1].end_ns <= time_ns) {
        enum pm_status status = leave(events, events->stack[events->depth - 1].end_ns);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

/* When the innermost whole event ends around what is entered now. */
static int64_t end_around(const struct import_events *events)
{
    for (uint32_t i = events->depth; i-- > 0;)
        if (events->stack[i].end_ns != INT64_MAX)
            return events->stack[i].end_ns;
    return INT64_MAX;
}

static enum pm_status enter(struct import_events *events, const struct record *record)
{
    struct import *im = events->im;
    struct frame frame = {.frame = record->frame, .end_ns = INT64_MAX};
    int64_t most_ns = end_around(events);
    uint32_t parent = events->depth ? events->stack[events->depth - 1].path : 0;
    struct frame *stack =
        pm_grow_array(events->stack, events->depth, &events->stack_cap, 64, sizeof *stack);
    if (!stack)
        return import_no_memory(im);
    events->stack = stack;
    if (events->depth == MAX_DEPTH)
        return pm_error_set(im->err, PM_ERR_LIMIT, "profile '%s': a stack has more than %d frames",
                            im->path, MAX_DEPTH);
    if (kind_of(record) == IMPORT_WHOLE)
        frame.end_ns = record->time_ns + record->duration_ns;
    if (kind_of(record) == IMPORT_WHOLE && frame.end_ns > most_ns) {
        frame.end_ns = most_ns;
        events->n_cut++;
    }
    uint32_t named = record->frame;
    if (events->frames)
        named = events->frames[named - 1];
    enum pm_status status = path_of(events, parent, named, &frame.path);
    if (status != PM_OK)
        return status;
    stack[events->depth++] = frame;
    status = pm_sink_cost(im->sink, events->thread, frame.path, events->calls_metric, 1);
    if (status != PM_OK)
        return status;
    return pm_sink_event(im->sink, events->thread, trace_ns(events, events->now_ns), frame.path);
}

/* How many frames a leave ends: up to the innermost one of its name that was entered. 0: none. */
static uint32_t n_to_leave(const struct import_events *events, uint32_t frame)
{
    for (uint32_t i = events->depth; i-- > 0;)
        if (events->stack[i].end_ns == INT64_MAX && (!frame || events->stack[i].frame == frame))
            return events->depth - i;
    return 0;
}

static enum pm_status end_open(struct import_events *events, uint32_t n, int64_t time_ns)
{
    for (; n > 0; n--) {
        enum pm_status status = leave(events, time_ns);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

static enum pm_status walk_event(struct import_events *events, const struct record *record)
{
    enum pm_status status = leave_until(events, record->time_ns);
    if (status != PM_OK)
        return status;
    status = go_to(events, record->time_ns);
    if (status != PM_OK)
        return status;
    if (kind_of(record) != IMPORT_LEAVE)
        return enter(events, record);
    uint32_t n = n_to_leave(events, record->frame);
    events->n_unopened += n == 0;
    events->n_unclosed += n > 1 ? n - 1 : 0;
    return end_open(events, n, record->time_ns);
}

enum pm_status import_events_walk(struct import_events *events, uint32_t process, uint32_t thread)
{
    uint32_t number = events->next.thread;
    events->process = process;
    events->thread = thread;
    events->depth = 0;
    events->now_ns = events->next.time_ns;
    while (events->has_next && events->next.thread == number) {
        enum pm_status status = walk_event(events, &events->next);
        if (status != PM_OK)
            return status;
        status = take_next(events);
        if (status != PM_OK)
            return status;
    }
    while (events->depth) { /* what is open still ends with the last that is known */
        const struct frame *top = &events->stack[events->depth - 1];
        bool is_known = top->end_ns != INT64_MAX;
        events->n_unclosed += !is_known;
        enum pm_status status = leave(events, is_known ? top->end_ns : events->now_ns);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

void import_events_tell(struct import_events *events)
{
    struct pm_import_sink *sink = events->im->sink;
    if (events->n_all)
        pm_sink_span(sink, 0, (uint64_t)events->last_ns - (uint64_t)events->first_ns);
    if (events->n_unopened)
        pm_sink_note(sink, "%llu ends of calls have no beginning, and are left out",
                     (unsigned long long)events->n_unopened);
    if (events->n_unclosed)
        pm_sink_note(sink,
                     "%llu calls have no end of their own: they end with the call around them, or "
                     "with the thread's last event",
                     (unsigned long long)events->n_unclosed);
    if (events->n_cut)
        pm_sink_note(sink,
                     "%llu calls end later than the call that they begin in, and are cut off there",
                     (unsigned long long)events->n_cut);
}
