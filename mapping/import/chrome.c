/* Chrome's Trace Event Format: JSON of chrome://tracing, of which many tools write a part (uftrace,
 * clang -ftime-trace, perfmap itself). "Trace Event Format", Google, 2016.
 *
 *     {"traceEvents": [{"name": "f", "ph": "X", "ts": 12.5, "dur": 3, "pid": 1, "tid": 2}, ...]}
 *
 * or the list alone, whose end may be missing. Events come in any order. B and E, and X, are calls
 * of the function `name`; M names processes and threads. Others are counted, and told. */
#include "events.h"
#include "json.h"
#include "reader.h"

#include "../base/map.h"

#include <stdlib.h>

enum { LEAST_BYTES = 1 << 16, MAX_THREADS = 1 << 22 };

struct thread {
    uint64_t process; /* hash of the pid */
    uint32_t pid, tid;
    char *name; /* owned; NULL: none */
};

struct process {
    uint32_t row; /* 0: not made yet */
    uint32_t pid;
    char *name; /* owned; NULL: none */
};

/* One event, as it stands in the text. */
struct event {
    struct pm_str name, ph, ts, dur, pid, tid, arg_name;
    bool has_name;
};

struct chrome {
    struct import *im;
    struct import_events *events;
    struct pm_map frames;    /* hash of the name -> frame */
    struct pm_map by_thread; /* hash of pid and tid -> 1 + position */
    struct pm_map by_process;
    struct thread *threads;
    struct process *processes;
    uint32_t n_threads, threads_cap, n_processes, processes_cap;
    struct pm_buf text;
    uint64_t last_key; /* of by_thread, and what it led to */
    uint32_t last_thread;
    uint64_t n_calls, n_counters, n_async, n_flows, n_other, n_without_time, n_nameless;
    bool is_cut;
};

/* --- who --- */

static uint32_t number_of(struct pm_str text)
{
    uint64_t number;
    return pm_str_to_u64(text, UINT32_MAX, &number) ? (uint32_t)number : 0;
}

static uint64_t key_of(struct pm_str text)
{
    return import_hash(text.p, text.len, 0);
}

/* Its position plus 1, made when it is new. */
static enum pm_status process_at(struct chrome *c, uint64_t key, uint32_t pid, uint32_t *ret_at)
{
    uint32_t *at = pm_map_at(&c->by_process, key);
    if (!at)
        return import_no_memory(c->im);
    *ret_at = *at;
    if (*at)
        return PM_OK;
    struct process *list =
        pm_grow_array(c->processes, c->n_processes, &c->processes_cap, 16, sizeof *list);
    if (!list)
        return import_no_memory(c->im);
    c->processes = list;
    list[c->n_processes] = (struct process){.pid = pid};
    *ret_at = *at = ++c->n_processes;
    return PM_OK;
}

/* A main thread may have no tid: it has its process's number. */
static enum pm_status thread_of(struct chrome *c, const struct event *event, uint32_t *ret_thread)
{
    struct pm_str tid = event->tid.len ? event->tid : event->pid;
    uint64_t process = key_of(event->pid);
    uint64_t key = import_hash(tid.p, tid.len, process);
    if (key == c->last_key && c->last_thread) {
        *ret_thread = c->last_thread - 1;
        return PM_OK;
    }
    uint32_t *at = pm_map_at(&c->by_thread, key);
    if (!at)
        return import_no_memory(c->im);
    if (!*at) {
        struct thread *list =
            pm_grow_array(c->threads, c->n_threads, &c->threads_cap, 64, sizeof *list);
        if (!list)
            return import_no_memory(c->im);
        c->threads = list;
        if (c->n_threads == MAX_THREADS)
            return import_refuse_byte(c->im->in, c->im->err, PM_ERR_LIMIT, "more than %d threads",
                                      MAX_THREADS);
        list[c->n_threads] = (struct thread){
            .process = process, .pid = number_of(event->pid), .tid = number_of(tid)};
        *at = ++c->n_threads;
    }
    c->last_key = key;
    c->last_thread = *at;
    *ret_thread = *at - 1;
    return PM_OK;
}

static enum pm_status set_name(struct chrome *c, char **name, struct pm_str raw)
{
    struct pm_str text = import_json_text(raw, &c->text);
    if (!text.len)
        return PM_OK;
    free(*name);
    *name = pm_strndup(text.p, text.len);
    return *name ? PM_OK : import_no_memory(c->im);
}

static enum pm_status read_metadata(struct chrome *c, const struct event *event)
{
    uint32_t thread, process = 0;
    enum pm_status status = PM_OK;
    if (pm_str_is(event->name, "thread_name")) {
        status = thread_of(c, event, &thread);
        if (status != PM_OK)
            return status;
        return set_name(c, &c->threads[thread].name, event->arg_name);
    }
    if (!pm_str_is(event->name, "process_name"))
        return PM_OK;
    status = process_at(c, key_of(event->pid), number_of(event->pid), &process);
    if (status != PM_OK)
        return status;
    return set_name(c, &c->processes[process - 1].name, event->arg_name);
}

/* --- calls --- */

static enum pm_status frame_of(struct chrome *c, struct pm_str raw, uint32_t *ret_frame)
{
    uint32_t *at = pm_map_at(&c->frames, key_of(raw));
    if (!at)
        return import_no_memory(c->im);
    if (!*at) {
        struct pm_import_frame frame = {.function = import_json_text(raw, &c->text),
                                        .is_entered = true};
        enum pm_status status = pm_sink_frame(c->im->sink, &frame, at);
        if (status != PM_OK)
            return status;
    }
    *ret_frame = *at;
    return PM_OK;
}

static enum pm_status add_call(struct chrome *c, const struct event *event, char ph)
{
    struct import_event made = {.kind = ph == 'B' ? IMPORT_ENTER : IMPORT_LEAVE};
    if (ph == 'X')
        made.kind = IMPORT_WHOLE;
    bool has_time =
        import_json_scaled(event->ts, 3, &made.time_ns) &&
        (ph != 'X' || !event->dur.len || import_json_scaled(event->dur, 3, &made.duration_ns));
    if (!has_time || made.duration_ns < 0 || made.time_ns > INT64_MAX / 4 ||
        made.time_ns < -(INT64_MAX / 4) || made.duration_ns > INT64_MAX / 4) {
        c->n_without_time++;
        return PM_OK;
    }
    enum pm_status status = thread_of(c, event, &made.thread);
    if (status != PM_OK)
        return status;
    if (!event->has_name && ph != 'E') {
        c->n_nameless++;
        return PM_OK;
    }
    if (event->has_name)
        status = frame_of(c, event->name, &made.frame);
    if (status != PM_OK)
        return status;
    c->n_calls++;
    return import_events_add(c->events, &made);
}

static enum pm_status take_event(struct chrome *c, const struct event *event)
{
    char ph = event->ph.len == 1 ? event->ph.p[0] : '?';
    switch (ph) {
    case 'B':
    case 'E':
    case 'X':
        return add_call(c, event, ph);
    case 'M':
        return read_metadata(c, event);
    case 'C':
        c->n_counters++;
        break;
    case 'b':
    case 'e':
    case 'n':
    case 'S':
    case 'T':
    case 'p':
    case 'F':
        c->n_async++;
        break;
    case 's':
    case 't':
    case 'f':
        c->n_flows++;
        break;
    default:
        c->n_other++;
    }
    return PM_OK;
}

/* --- the text --- */

static void read_args(struct import_json *json, struct event *event)
{
    struct pm_str key;
    if (import_json_peek(json) != '{') {
        import_json_skip(json);
        return;
    }
    import_json_enter(json, '{');
    while (import_json_key(json, &key))
        if (!pm_str_is(key, "name") || import_json_peek(json) != '"' ||
            !import_json_string(json, &event->arg_name))
            import_json_skip(json);
}

static struct pm_str *place_of(struct event *event, struct pm_str key)
{
    if (key.len == 2 && key.p[0] == 't' && key.p[1] == 's')
        return &event->ts;
    if (key.len == 2 && key.p[0] == 'p' && key.p[1] == 'h')
        return &event->ph;
    if (key.len == 4 && !memcmp(key.p, "name", 4)) {
        event->has_name = true;
        return &event->name;
    }
    if (key.len != 3)
        return NULL;
    if (!memcmp(key.p, "dur", 3))
        return &event->dur;
    if (!memcmp(key.p, "pid", 3))
        return &event->pid;
    return !memcmp(key.p, "tid", 3) ? &event->tid : NULL;
}

static void read_event(struct import_json *json, struct event *event)
{
    struct pm_str key;
    if (!import_json_enter(json, '{'))
        return;
    while (import_json_key(json, &key)) {
        struct pm_str *place = place_of(event, key);
        char c = place ? import_json_peek(json) : 0;
        if (place && c != '{' && c != '[')
            import_json_scalar(json, place);
        else if (pm_str_is(key, "args"))
            read_args(json, event);
        else
            import_json_skip(json);
    }
}

static enum pm_status bad_json(struct chrome *c, const struct import_json *json)
{
    struct pm_str shown = {json->p, (size_t)(json->end - json->p)};
    return import_refuse_byte(c->im->in, c->im->err, PM_ERR_FORMAT,
                              "'%.*s' is no JSON of a trace event", IMPORT_SHOWN(shown));
}

/* The bytes that come next, and whether all of the file's are among them. */
static struct import_json window_of(struct chrome *c, size_t n, bool *ret_is_all)
{
    struct pm_str window = import_peek(c->im->in, n);
    *ret_is_all = window.len < n;
    return (struct import_json){.p = window.p, .end = window.p + window.len};
}

/* What was read is not needed any more. */
static enum pm_status pass(struct chrome *c, const char *start, const struct import_json *json)
{
    struct pm_str unused;
    bool is_there = import_take(c->im->in, (size_t)(json->p - start), &unused);
    PM_ASSERT(is_there || json->p == start);
    return PM_OK;
}

/* Is anything but the end of the list in this text? */
static bool holds_event(const char *p, const char *end)
{
    while (p < end && strchr(", \n\t\r", *p))
        p++;
    return p < end;
}

/* The next event of the list; *ret_is_end: there is none. An event that is cut off by the window is
 * read again with a larger one; one that is cut off by the end of the file is left out. */
static enum pm_status next_event(struct chrome *c, bool *ret_is_end)
{
    bool is_all;
    for (size_t n = LEAST_BYTES;; n *= 4) {
        struct import_json json = window_of(c, n, &is_all);
        struct event event = {.has_name = false};
        const char *start = json.p;
        *ret_is_end = !import_json_item(&json);
        if (!*ret_is_end)
            read_event(&json, &event);
        if (json.is_bad)
            return bad_json(c, &json);
        if (json.is_cut && !is_all && n < IMPORT_MAX_TAKE)
            continue;
        if (json.is_cut && !is_all)
            return import_refuse_byte(c->im->in, c->im->err, PM_ERR_LIMIT,
                                      "an event is longer than 64 MiB");
        if (json.is_cut) {
            c->is_cut = holds_event(start, json.end);
            *ret_is_end = true;
            return PM_OK;
        }
        enum pm_status status = *ret_is_end ? PM_OK : take_event(c, &event);
        if (status != PM_OK)
            return status;
        return pass(c, start, &json);
    }
}

static enum pm_status read_list(struct chrome *c)
{
    bool is_end = false, is_all;
    struct import_json json = window_of(c, LEAST_BYTES, &is_all);
    const char *start = json.p;
    if (!import_json_enter(&json, '['))
        return bad_json(c, &json);
    enum pm_status status = pass(c, start, &json);
    while (!is_end && !status)
        status = next_event(c, &is_end);
    return status;
}

/* A key of the object around the list, and its value but for that of traceEvents. */
static enum pm_status next_member(struct chrome *c, bool *ret_is_list, bool *ret_is_end)
{
    bool is_all;
    for (size_t n = LEAST_BYTES;; n *= 4) {
        struct import_json json = window_of(c, n, &is_all);
        const char *start = json.p;
        struct pm_str key;
        *ret_is_end = !import_json_key(&json, &key);
        *ret_is_list = !*ret_is_end && pm_str_is(key, "traceEvents");
        if (!*ret_is_end && !*ret_is_list)
            import_json_skip(&json);
        if (json.is_bad)
            return bad_json(c, &json);
        if (json.is_cut && !is_all && n < IMPORT_MAX_TAKE)
            continue;
        if (json.is_cut && !is_all)
            return import_refuse_byte(c->im->in, c->im->err, PM_ERR_LIMIT,
                                      "a value is longer than 64 MiB");
        c->is_cut |= json.is_cut;
        *ret_is_end |= json.is_cut;
        return pass(c, start, &json);
    }
}

static enum pm_status read_object(struct chrome *c)
{
    bool is_list = false, is_end = false, is_all;
    struct import_json json = window_of(c, LEAST_BYTES, &is_all);
    const char *start = json.p;
    import_json_enter(&json, '{');
    enum pm_status status = pass(c, start, &json);
    while (!is_end && !status) {
        status = next_member(c, &is_list, &is_end);
        if (!status && is_list)
            status = read_list(c);
        is_end |= c->is_cut;
    }
    return status;
}

/* --- the whole --- */

static enum pm_status make_process(struct chrome *c, const struct thread *thread,
                                   uint32_t *ret_process)
{
    uint32_t at = 0;
    enum pm_status status = process_at(c, thread->process, thread->pid, &at);
    if (status != PM_OK)
        return status;
    struct process *process = &c->processes[at - 1];
    const char *name = process->name ? process->name : import_base_name(c->im->path);
    struct pm_import_process made = {.pid = process->pid, .name = pm_str_of(name), .rank = -1};
    if (!process->row)
        status = pm_sink_process(c->im->sink, &made, &process->row);
    *ret_process = process->row;
    return status;
}

static enum pm_status walk_thread(struct chrome *c, uint32_t number)
{
    const struct thread *thread = &c->threads[number];
    struct pm_import_thread made = {.tid = thread->tid, .name = pm_str_of(thread->name)};
    uint32_t row;
    enum pm_status status = make_process(c, thread, &made.process);
    if (status != PM_OK)
        return status;
    status = pm_sink_thread(c->im->sink, &made, &row);
    if (status != PM_OK)
        return status;
    return import_events_walk(c->events, made.process, row);
}

static void tell(struct chrome *c)
{
    struct pm_import_sink *sink = c->im->sink;
    const struct {
        uint64_t n;
        const char *what;
    } left_out[] = {
        {c->n_counters, "values of counters (C)"},
        {c->n_async, "asynchronous events (b, e, n)"},
        {c->n_flows, "arrows (s, t, f)"},
        {c->n_other, "events of other kinds"},
        {c->n_without_time, "calls without a sound time"},
        {c->n_nameless, "calls without a name"},
    };
    for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++)
        if (left_out[i].n)
            pm_sink_note(sink, "%llu %s are left out", (unsigned long long)left_out[i].n,
                         left_out[i].what);
    if (c->is_cut)
        pm_sink_note(sink, "the file ends in the middle of an event: what came before is here");
    import_events_tell(c->events);
}

static enum pm_status read_all(struct chrome *c)
{
    struct import *im = c->im;
    struct import_json json = {0};
    struct pm_str head = import_peek(im->in, LEAST_BYTES);
    json.p = head.p;
    json.end = head.p + head.len;
    enum pm_status status = import_json_peek(&json) == '{' ? read_object(c) : read_list(c);
    if (status != PM_OK)
        return status;
    if (!c->n_calls)
        return pm_error_set(im->err, PM_ERR_FORMAT, "profile '%s' has no calls (B, E, X)",
                            im->path);
    status = import_events_begin(c->events);
    for (uint32_t thread; !status && import_events_thread(c->events, &thread);)
        status = walk_thread(c, thread);
    tell(c);
    return status;
}

static enum pm_status read_chrome(struct import *im)
{
    struct chrome c = {.im = im, .events = import_events_new(im, 0), .text = PM_BUF_INIT(1 << 20)};
    enum pm_status status = c.events ? read_all(&c) : import_no_memory(im);
    for (uint32_t i = 0; i < c.n_threads; i++)
        free(c.threads[i].name);
    for (uint32_t i = 0; i < c.n_processes; i++)
        free(c.processes[i].name);
    free(c.threads);
    free(c.processes);
    pm_map_release(&c.frames);
    pm_map_release(&c.by_thread);
    pm_map_release(&c.by_process);
    pm_buf_release(&c.text);
    import_events_free(c.events);
    return status;
}

static bool is_chrome(struct pm_str head, const char *path)
{
    struct import_json json = {.p = head.p, .end = head.p + head.len};
    (void)path;
    if (import_json_peek(&json) == '[') {
        import_json_enter(&json, '[');
        return import_json_peek(&json) == '{' && memmem(head.p, head.len, "\"ph\"", 4);
    }
    return import_json_peek(&json) == '{' && memmem(head.p, head.len, "\"traceEvents\"", 13);
}

const struct import_format import_format_chrome = {.is = is_chrome, .read = read_chrome};
