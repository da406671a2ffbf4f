/* What `perf script` prints (linux-perf 3.10 and later), and perf.data through it (perf.c).
 *
 *     heat 4117/4118 12.345678:     250000 cpu-clock:u:
 *             113c leaf+0x13 (/tmp/heat)
 *             11c8 main+0xe (/tmp/heat)
 *
 * Addresses of user code are offsets in the file since perf 6.0, and those of the process before
 * that: where the records of mappings are in the text they decide, else the symbol's name and
 * offset do (is_checked). Periods are costs: of cpu-clock and task-clock in ns. A stack is looked
 * up by its lines: each different line is read once. */
#include "perf_script.h"

#include "perf_text.h"
#include "reader.h"

#include "../base/map.h"

#include <stdlib.h>

enum { MAX_FRAMES = 1 << 14, MAX_MAPPINGS = 1 << 22, MAX_STACKS = 1 << 22 };

struct mapping {
    uint32_t pid, object;
    uint32_t next; /* 1 + position of the one before, of the same object; 0: none */
    uint64_t start, end, offset;
};

struct process {
    uint32_t pid, parent, row; /* row 0: not made yet */
    char *exe;                 /* owned; NULL: not known */
    bool awaits_exe;           /* it has called exec */
};

struct thread {
    uint32_t process, row; /* as the sink gave them */
};

struct event {
    char *name; /* owned */
    uint32_t metric;
};

struct perf {
    struct import *im;
    const struct perf_build_id *build_ids;
    size_t n_build_ids;
    struct pm_map objects; /* hash of the path -> object */
    struct pm_map frames;  /* hash of the line -> frame */
    struct pm_map stacks;  /* hash of process and frames -> place */
    struct pm_map by_pid, by_tid;
    struct pm_map by_object; /* object -> 1 + position of its last mapping */
    struct mapping *mappings;
    struct process *processes;
    struct thread *threads;
    struct event *events;
    uint32_t n_mappings, mappings_cap, n_processes, processes_cap, n_threads, threads_cap, n_events,
        events_cap;
    uint32_t samples_metric;
    /* the sample that is read */
    bool is_open;
    struct perf_head head;
    uint32_t thread, event; /* positions */
    uint32_t *stack;        /* innermost first, then turned round */
    uint32_t n, cap;
    uint64_t stack_hash;
    /* what is told at the end */
    uint64_t n_samples, n_lost, n_odd_lines, n_without_period;
    uint64_t odd_line_no;
    uint64_t first_ns, last_ns; /* of samples; last 0: they have no times */
    bool has_pids;
};

/* --- objects and mappings --- */

static enum pm_status object_of(struct perf *p, struct pm_str path, struct pm_str build_id,
                                uint32_t *ret_object)
{
    static const char deleted[] = " (deleted)";
    struct pm_import_object object = {.path = path, .build_id = build_id};
    for (size_t i = 0; i < p->n_build_ids && !build_id.len; i++)
        if (pm_str_is(path, p->build_ids[i].path))
            object.build_id = (struct pm_str){p->build_ids[i].bytes, p->build_ids[i].len};
    size_t n = sizeof deleted - 1;
    if (path.len > n && !memcmp(path.p + path.len - n, deleted, n))
        object.path.len -= n;
    uint32_t *at = pm_map_at(&p->objects, import_hash(path.p, path.len, 0));
    if (!at)
        return import_no_memory(p->im);
    bool is_known;
    enum pm_status status = *at ? PM_OK : pm_sink_object(p->im->sink, &object, at, &is_known);
    *ret_object = *at;
    return status;
}

static size_t hex_bytes(struct pm_str hex, char *out, size_t max)
{
    size_t n = 0;
    uint64_t byte;
    for (size_t i = 0; i + 1 < hex.len && n < max; i += 2) {
        if (!import_hex((struct pm_str){hex.p + i, 2}, &byte))
            return 0;
        out[n++] = (char)byte;
    }
    return n;
}

static enum pm_status process_of(struct perf *p, uint32_t pid, struct process **ret_process);

static bool is_loader(struct pm_str path)
{
    const char *slash = memrchr(path.p, '/', path.len);
    struct pm_str name =
        slash ? (struct pm_str){slash + 1, path.len - (size_t)(slash + 1 - path.p)} : path;
    return import_begins(name, "ld-") || import_begins(name, "ld.so");
}

static enum pm_status add_mapping(struct perf *p, struct pm_str record)
{
    struct perf_mapping m;
    char id[64];
    uint32_t object;
    struct process *process;
    if (!perf_read_mapping(record, &m) || !m.is_code || m.path.len == 0 || m.path.p[0] != '/' ||
        import_begins(m.path, "//anon"))
        return PM_OK;
    struct pm_str build_id = {id, hex_bytes(m.build_id, id, sizeof id)};
    enum pm_status status = object_of(p, m.path, build_id, &object);
    if (status != PM_OK)
        return status;
    status = process_of(p, m.pid, &process);
    if (status != PM_OK)
        return status;
    if (process->awaits_exe && !is_loader(m.path)) {
        process->awaits_exe = false;
        free(process->exe);
        process->exe = pm_strndup(m.path.p, m.path.len);
    }
    if (p->n_mappings == MAX_MAPPINGS || m.len > UINT64_MAX - m.start)
        return PM_OK;
    struct mapping *list =
        pm_grow_array(p->mappings, p->n_mappings, &p->mappings_cap, 256, sizeof *list);
    uint32_t *last = pm_map_at(&p->by_object, object);
    if (!list || !last)
        return import_no_memory(p->im);
    p->mappings = list;
    list[p->n_mappings++] =
        (struct mapping){m.pid, object, *last, m.start, m.start + m.len, m.offset};
    *last = p->n_mappings;
    return PM_OK;
}

/* The mapping of the object at that address of the process: of its own, else of any. Of several
 * the last one. */
static const struct mapping *find_mapping(const struct perf *p, uint32_t pid, uint32_t object,
                                          uint64_t address)
{
    const struct mapping *any = NULL;
    for (uint32_t i = pm_map_get(&p->by_object, object); i; i = p->mappings[i - 1].next) {
        const struct mapping *m = &p->mappings[i - 1];
        if (address < m->start || address >= m->end)
            continue;
        if (m->pid == pid)
            return m;
        any = any ? any : m;
    }
    return any;
}

/* --- processes and threads --- */

static enum pm_status process_of(struct perf *p, uint32_t pid, struct process **ret_process)
{
    uint32_t *at = pm_map_at(&p->by_pid, pid);
    if (!at)
        return import_no_memory(p->im);
    if (!*at) {
        struct process *list =
            pm_grow_array(p->processes, p->n_processes, &p->processes_cap, 16, sizeof *list);
        if (!list)
            return import_no_memory(p->im);
        p->processes = list;
        list[p->n_processes++] = (struct process){.pid = pid};
        *at = p->n_processes;
    }
    *ret_process = &p->processes[*at - 1];
    return PM_OK;
}

/* Its own program, or that of the process that made it. */
static const char *exe_of(const struct perf *p, const struct process *process)
{
    for (int i = 0; i < 64 && process; i++) {
        if (process->exe)
            return process->exe;
        uint32_t parent = process->parent ? pm_map_get(&p->by_pid, process->parent) : 0;
        process = parent && p->processes[parent - 1].pid != process->pid ? &p->processes[parent - 1]
                                                                         : NULL;
    }
    return NULL;
}

static enum pm_status make_process(struct perf *p, struct process *process, struct pm_str comm)
{
    const char *exe = exe_of(p, process);
    struct pm_import_process made = {.pid = process->pid,
                                     .parent_pid = process->parent,
                                     .name = exe ? pm_str_of(exe) : comm,
                                     .rank = -1};
    return pm_sink_process(p->im->sink, &made, &process->row);
}

static enum pm_status make_thread(struct perf *p, const struct process *process, uint32_t *at)
{
    const struct perf_head *head = &p->head;
    struct thread *list =
        pm_grow_array(p->threads, p->n_threads, &p->threads_cap, 64, sizeof *list);
    if (!list)
        return import_no_memory(p->im);
    p->threads = list;
    list[p->n_threads] = (struct thread){.process = process->row};
    struct pm_import_thread made = {.process = process->row, .tid = head->tid, .name = head->comm};
    enum pm_status status = pm_sink_thread(p->im->sink, &made, &list[p->n_threads].row);
    *at = ++p->n_threads;
    return status;
}

static enum pm_status thread_of(struct perf *p, uint32_t *ret_thread)
{
    const struct perf_head *head = &p->head;
    struct process *process;
    p->has_pids |= head->has_pid;
    enum pm_status status = process_of(p, head->has_pid ? head->pid : 0, &process);
    if (status != PM_OK)
        return status;
    if (!process->row)
        status = make_process(p, process, head->comm);
    if (status != PM_OK)
        return status;
    uint32_t *at = pm_map_at(&p->by_tid, (uint64_t)process->row << 32 | head->tid);
    if (!at)
        return import_no_memory(p->im);
    status = *at ? PM_OK : make_thread(p, process, at);
    *ret_thread = *at - 1;
    return status;
}

/* "PERF_RECORD_FORK(PID:TID):(PARENT PID:TID)" */
static enum pm_status note_fork(struct perf *p, struct pm_str record)
{
    struct process *child;
    uint64_t pid, parent;
    const char *open = memchr(record.p, '(', record.len);
    const char *second =
        open ? memchr(open + 1, '(', record.len - (size_t)(open + 1 - record.p)) : NULL;
    if (!second)
        return PM_OK;
    const char *end = record.p + record.len;
    const char *a = memchr(open, ':', (size_t)(end - open));
    const char *b = memchr(second, ':', (size_t)(end - second));
    if (!a || !b || a > second ||
        !pm_str_to_u64((struct pm_str){open + 1, (size_t)(a - open) - 1}, UINT32_MAX, &pid) ||
        !pm_str_to_u64((struct pm_str){second + 1, (size_t)(b - second) - 1}, UINT32_MAX, &parent))
        return PM_OK;
    if (pid == parent) /* a thread */
        return PM_OK;
    enum pm_status status = process_of(p, (uint32_t)pid, &child);
    if (status != PM_OK)
        return status;
    child->parent = (uint32_t)parent;
    return PM_OK;
}

/* After an exec it is another program: its threads and contexts begin anew. */
static enum pm_status note_exec(struct perf *p, uint32_t pid)
{
    struct process *process;
    enum pm_status status = process_of(p, pid, &process);
    if (status != PM_OK)
        return status;
    process->awaits_exe = true;
    process->row = 0;
    return PM_OK;
}

/* --- events --- */

static bool is_clock(struct pm_str name)
{
    const char *colon = memchr(name.p, ':', name.len);
    struct pm_str base = {name.p, colon ? (size_t)(colon - name.p) : name.len};
    return pm_str_is(base, "cpu-clock") || pm_str_is(base, "task-clock");
}

/* Without modifiers: "cycles:ppp" is cycles, and "sched:sched_switch" is itself. */
static void metric_name(struct pm_str event, char *out, size_t max)
{
    for (size_t at = event.len; at-- > 0;)
        if (event.p[at] == ':' && strspn(event.p + at + 1, "ukhpPHGSDeIW") >= event.len - at - 1)
            event.len = at;
    import_metric_name(event, out, max);
}

static enum pm_status make_event(struct perf *p, struct event *event)
{
    char name[200], description[300];
    struct pm_str shown = pm_str_of(event->name);
    struct pm_import_metric metric = {
        .name = name, .unit = "events", .kind = "count", .description = description};
    metric_name(shown, name, sizeof name);
    if (is_clock(shown))
        metric = (struct pm_import_metric){"cpu_ns", "ns", "time", ""};
    else if (strchr(event->name, ':') && !strchr("ukhpPHGSDeIW", strchr(event->name, ':')[1]))
        metric.unit = "times"; /* a tracepoint */
    else if (!strcmp(name, "cycles") || !strcmp(name, "instructions"))
        metric.unit = name;
    snprintf(description, sizeof description, "event '%s' of perf: sum of the samples' periods",
             event->name);
    return pm_sink_metric(p->im->sink, &metric, &event->metric);
}

static enum pm_status event_of(struct perf *p, uint32_t *ret_event)
{
    for (uint32_t i = 0; i < p->n_events; i++)
        if (pm_str_is(p->head.event, p->events[i].name)) {
            *ret_event = i;
            return PM_OK;
        }
    struct event *list = pm_grow_array(p->events, p->n_events, &p->events_cap, 16, sizeof *list);
    if (!list)
        return import_no_memory(p->im);
    p->events = list;
    list[p->n_events] = (struct event){.name = pm_strndup(p->head.event.p, p->head.event.len)};
    if (!list[p->n_events].name)
        return import_no_memory(p->im);
    *ret_event = p->n_events++;
    return make_event(p, &list[*ret_event]);
}

/* --- frames --- */

static void set_address(const struct perf *p, const struct perf_frame *text,
                        struct pm_import_frame *frame)
{
    const struct mapping *m = find_mapping(p, p->head.pid, frame->object, text->ip);
    frame->kind = PM_IMPORT_OFFSET;
    frame->address = m ? text->ip - m->start + m->offset : text->ip;
    frame->is_checked = !m && text->has_offset;
    frame->function_offset = text->offset;
}

static enum pm_status make_frame(struct perf *p, const struct perf_frame *text, bool is_caller,
                                 bool is_flat, uint32_t *ret_frame)
{
    struct pm_import_frame frame = {.function = text->symbol,
                                    .is_caller = is_caller,
                                    .is_inlined = text->is_inlined,
                                    .is_flat = is_flat};
    if (text->dso.len) {
        enum pm_status status = object_of(p, text->dso, PM_STR(""), &frame.object);
        if (status != PM_OK)
            return status;
        if (text->dso.p[0] == '/' && !text->is_inlined)
            set_address(p, text, &frame);
    }
    return pm_sink_frame(p->im->sink, &frame, ret_frame);
}

/* *ret_frame 0: the line is no frame. Without a name the address alone tells which function it is,
 * and that is another one in each process. */
static enum pm_status frame_of(struct perf *p, struct pm_str line, bool is_flat,
                               uint32_t *ret_frame)
{
    struct perf_frame text;
    bool is_caller = p->n != 0;
    uint64_t hash = import_hash(line.p, line.len, is_caller);
    *ret_frame = pm_map_get(&p->frames, hash);
    if (*ret_frame || !perf_read_frame(line, &text))
        return PM_OK;
    if (!text.symbol.len) {
        hash ^= ((uint64_t)p->head.pid + 1) << 32;
        *ret_frame = pm_map_get(&p->frames, hash);
    }
    if (*ret_frame)
        return PM_OK;
    enum pm_status status = make_frame(p, &text, is_caller, is_flat, ret_frame);
    if (status != PM_OK)
        return status;
    return pm_map_put(&p->frames, hash, *ret_frame) ? PM_OK : import_no_memory(p->im);
}

static enum pm_status add_frame(struct perf *p, struct pm_str line, bool is_flat,
                                bool *ret_is_frame)
{
    uint32_t frame;
    uint32_t *stack = pm_grow_array(p->stack, p->n, &p->cap, 256, sizeof *stack);
    if (!stack)
        return import_no_memory(p->im);
    p->stack = stack;
    enum pm_status status = frame_of(p, line, is_flat, &frame);
    if (status != PM_OK)
        return status;
    *ret_is_frame = frame != 0;
    if (frame && p->n < MAX_FRAMES)
        stack[p->n++] = frame;
    return PM_OK;
}

/* --- samples --- */

static void turn_round(uint32_t *list, uint32_t n)
{
    for (uint32_t i = 0; i < n / 2; i++) {
        uint32_t kept = list[i];
        list[i] = list[n - 1 - i];
        list[n - 1 - i] = kept;
    }
}

static enum pm_status place_of(struct perf *p, uint32_t process, uint32_t *ret_place)
{
    uint64_t hash = import_hash(p->stack, p->n * sizeof *p->stack, process);
    *ret_place = pm_map_get(&p->stacks, hash);
    if (*ret_place)
        return PM_OK;
    turn_round(p->stack, p->n);
    enum pm_status status = pm_sink_place(p->im->sink, process, p->stack, p->n, ret_place);
    if (status != PM_OK || p->stacks.n == MAX_STACKS)
        return status;
    return pm_map_put(&p->stacks, hash, *ret_place) ? PM_OK : import_no_memory(p->im);
}

static enum pm_status end_sample(struct perf *p)
{
    uint32_t place = 0;
    if (!p->is_open)
        return PM_OK;
    p->is_open = false;
    p->n_samples++;
    const struct thread *thread = &p->threads[p->thread];
    enum pm_status status = place_of(p, thread->process, &place);
    if (status != PM_OK)
        return status;
    pm_sink_now(p->im->sink, p->head.time_ns);
    status = pm_sink_cost(p->im->sink, thread->row, place, p->samples_metric, 1);
    if (status != PM_OK || !p->head.has_period)
        return status;
    if (p->head.period > INT64_MAX)
        return import_refuse_line(p->im->in, p->im->err, PM_ERR_LIMIT, "the period is too large");
    return pm_sink_cost(p->im->sink, thread->row, place, p->events[p->event].metric,
                        p->head.period);
}

/* Of samples without call chain the frame stands behind the event. */
static enum pm_status begin_sample(struct perf *p)
{
    bool is_frame;
    enum pm_status status = thread_of(p, &p->thread);
    p->n = 0;
    p->n_without_period += !p->head.has_period;
    if (p->head.time_ns && (!p->last_ns || p->head.time_ns < p->first_ns))
        p->first_ns = p->head.time_ns;
    if (p->head.time_ns > p->last_ns)
        p->last_ns = p->head.time_ns;
    if (status != PM_OK)
        return status;
    status = event_of(p, &p->event);
    if (status != PM_OK)
        return status;
    p->is_open = true;
    struct pm_str rest = p->head.rest;
    bool has_frame = rest.len && rest.p[rest.len - 1] == ')';
    return has_frame ? add_frame(p, rest, true, &is_frame) : PM_OK;
}

static enum pm_status read_record(struct perf *p)
{
    struct pm_str what = p->head.event, rest = p->head.rest, word;
    uint64_t n;
    if (import_begins(what, "PERF_RECORD_MMAP"))
        return add_mapping(p, rest);
    if (import_begins(what, "PERF_RECORD_FORK"))
        return note_fork(p, what);
    if (import_begins(what, "PERF_RECORD_COMM") && import_begins(rest, "exec:"))
        return note_exec(p, p->head.pid);
    if (import_begins(what, "PERF_RECORD_LOST")) {
        word = import_word(&rest);
        word = import_word(&rest);
        p->n_lost += import_number(word, &n) ? n : 1;
    }
    return PM_OK;
}

static enum pm_status read_head(struct perf *p, struct pm_str line)
{
    enum pm_status status = end_sample(p);
    if (status != PM_OK)
        return status;
    if (!perf_read_head(line, &p->head)) {
        if (p->n_samples == 0 && p->n_odd_lines == 0 && !p->n_mappings)
            return import_refuse_line(p->im->in, p->im->err, PM_ERR_FORMAT,
                                      "'%.*s' is not how a sample of perf script begins: process, "
                                      "time, event",
                                      IMPORT_SHOWN(line));
        if (p->n_odd_lines++ == 0)
            p->odd_line_no = import_line_no(p->im->in);
        return PM_OK;
    }
    if (import_begins(p->head.event, "PERF_RECORD_"))
        return read_record(p);
    return begin_sample(p);
}

/* Heads have no more than the command's padding before them; frames always begin with a tab or
 * several blanks, and only within a sample. */
static enum pm_status read_line(struct perf *p, struct pm_str line)
{
    bool is_frame = false;
    enum pm_status status = PM_OK;
    if (line.len == 0)
        return end_sample(p);
    if (line.p[0] == '#')
        return PM_OK;
    if (p->is_open && (line.p[0] == '\t' || line.p[0] == ' ')) {
        status = add_frame(p, line, false, &is_frame);
        if (status != PM_OK || is_frame)
            return status;
    }
    if (line.p[0] == '\t') /* other fields: lines of the source, registers */
        return PM_OK;
    return read_head(p, line);
}

/* --- the whole --- */

static void tell(const struct perf *p)
{
    struct pm_import_sink *sink = p->im->sink;
    if (p->last_ns)
        pm_sink_span(sink, p->first_ns, p->last_ns);
    if (p->n_lost)
        pm_sink_note(sink, "perf lost %llu records: costs are of the %llu samples that are there",
                     (unsigned long long)p->n_lost, (unsigned long long)p->n_samples);
    if (p->n_odd_lines)
        pm_sink_note(sink,
                     "%llu lines of perf script are not understood, and left out: the first is "
                     "line %llu",
                     (unsigned long long)p->n_odd_lines, (unsigned long long)p->odd_line_no);
    if (!p->has_pids)
        pm_sink_note(sink, "perf script tells threads and not processes here, so all threads are "
                           "one process's: -F +pid tells both");
    if (p->n_without_period)
        pm_sink_note(sink,
                     "%llu samples have no period, and count as samples only: -F +period tells it",
                     (unsigned long long)p->n_without_period);
}

static void release(struct perf *p)
{
    for (uint32_t i = 0; i < p->n_processes; i++)
        free(p->processes[i].exe);
    for (uint32_t i = 0; i < p->n_events; i++)
        free(p->events[i].name);
    free(p->processes);
    free(p->events);
    free(p->threads);
    free(p->mappings);
    free(p->stack);
    pm_map_release(&p->objects);
    pm_map_release(&p->frames);
    pm_map_release(&p->stacks);
    pm_map_release(&p->by_pid);
    pm_map_release(&p->by_tid);
    pm_map_release(&p->by_object);
}

static enum pm_status read_lines(struct perf *p)
{
    struct import *im = p->im;
    struct pm_import_metric samples = {"n_samples", "samples", "count", ""};
    struct pm_str line;
    enum pm_status status = pm_sink_metric(im->sink, &samples, &p->samples_metric);
    if (status != PM_OK)
        return status;
    while (import_line(im->in, &line))
        if ((status = read_line(p, line)) != PM_OK)
            return status;
    status = end_sample(p);
    if (status != PM_OK)
        return status;
    status = import_input_status(im->in, im->err);
    if (status != PM_OK)
        return status;
    if (p->n_samples == 0)
        return pm_error_set(im->err, PM_ERR_FORMAT, "profile '%s' has no samples", im->path);
    tell(p);
    return PM_OK;
}

enum pm_status perf_read_text(struct import *im, const struct perf_build_id *build_ids, size_t n)
{
    struct perf p = {.im = im, .build_ids = build_ids, .n_build_ids = n};
    enum pm_status status = read_lines(&p);
    release(&p);
    return status;
}

static bool is_perf_script(struct pm_str head, const char *path)
{
    struct perf_head found;
    (void)path;
    while (head.len) {
        const char *end = memchr(head.p, '\n', head.len);
        struct pm_str line = {head.p, end ? (size_t)(end - head.p) : head.len};
        if (line.len && line.p[0] != '#')
            return !memchr(line.p, 0, line.len) && perf_read_head(line, &found);
        size_t taken = line.len + (end != NULL);
        head = (struct pm_str){head.p + taken, head.len - taken};
    }
    return false;
}

static enum pm_status read_perf_script(struct import *im)
{
    return perf_read_text(im, NULL, 0);
}

const struct import_format import_format_perf_script = {.is = is_perf_script,
                                                        .read = read_perf_script};
