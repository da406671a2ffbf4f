/* The Trace Event Format as JSON, for chrome://tracing, Perfetto and speedscope. A call is a B and
 * an E event; its category is its level, and nouns, file and line are its arguments.
 * https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU */
#include "export_events.h"

#include "mapping/base/json.h"

#include <inttypes.h>

/* Calls on stacks that are not the thread's own need not nest in those on its own: a line of
 * their own. */
enum { FOREIGN_TID = 1000000000 };
/* Viewers of this format take little more. */
enum { MANY_EVENTS = 2000000 };

struct chrome {
    FILE *out;
    struct pm_json json;
    bool has_foreign, failed;
};

static void write_metadata(struct chrome *c, const char *what, const struct pm_trace_thread *thread,
                           int64_t tid, const char *name)
{
    pm_json_object(&c->json, NULL);
    pm_json_string(&c->json, "ph", "M");
    pm_json_string(&c->json, "name", what);
    pm_json_i64(&c->json, "pid", thread->pid);
    pm_json_i64(&c->json, "tid", tid);
    pm_json_object(&c->json, "args");
    pm_json_string(&c->json, "name", name);
    pm_json_end(&c->json);
    pm_json_end(&c->json);
}

static void write_name(struct chrome *c, const char *what, const struct pm_trace_thread *thread,
                       const char *name)
{
    struct pm_buf text = PM_BUF_INIT(1 << 20);
    pm_buf_add_printable(&text, name, strlen(name));
    write_metadata(c, what, thread, thread->tid, text.data ? text.data : "");
    c->failed |= text.failed;
    pm_buf_release(&text);
}

static void begin_thread(void *context, size_t index, const struct pm_trace_thread *thread)
{
    struct chrome *c = context;
    (void)index;
    c->has_foreign = false;
    write_name(c, "process_name", thread, pm_view_base_name(thread->exe));
    write_name(c, "thread_name", thread, thread->name);
}

static void write_arguments(struct chrome *c, const struct export_event *event)
{
    const struct export_name *name = event->name;
    bool is_cut = event->flags & PM_TRACE_CUT;
    if (!*name->file && !name->n_nouns && !name->n_others && !is_cut)
        return;
    pm_json_object(&c->json, "args");
    if (*name->file) {
        pm_json_string(&c->json, "file", name->file);
        pm_json_i64(&c->json, "line", name->line_no);
    }
    if (name->n_nouns)
        pm_json_string(&c->json, "verb", name->verb);
    for (uint32_t i = 0; i < name->n_nouns; i++)
        pm_json_string(&c->json, name->nouns[i].kind, name->nouns[i].name);
    if (name->n_others)
        pm_json_u64(&c->json, "or_more", name->n_others);
    if (is_cut)
        pm_json_string(&c->json, "note", "its begin is not known");
    pm_json_end(&c->json);
}

static void write_event(void *context, size_t index, const struct pm_trace_thread *thread,
                        const struct export_event *event)
{
    struct chrome *c = context;
    int64_t tid = event->is_foreign ? thread->tid + FOREIGN_TID : thread->tid;
    (void)index;
    if (event->is_foreign && !c->has_foreign)
        write_metadata(c, "thread_name", thread, tid, "on other stacks");
    c->has_foreign |= event->is_foreign;
    pm_json_object(&c->json, NULL);
    pm_json_string(&c->json, "ph", event->is_leave ? "E" : "B");
    pm_json_thousandths(&c->json, "ts", event->time_ns);
    pm_json_i64(&c->json, "pid", thread->pid);
    pm_json_i64(&c->json, "tid", tid);
    if (!event->is_leave) {
        pm_json_string(&c->json, "name", event->name->name);
        pm_json_string(&c->json, "cat", event->name->level);
        write_arguments(c, event);
    }
    pm_json_end(&c->json);
    fputc('\n', c->out); /* a line for each event, for whoever looks */
}

static bool goes_on(void *context)
{
    struct chrome *c = context;
    return !c->failed && !ferror_unlocked(c->out);
}

static void add_note(void *context, const char *text)
{
    struct chrome *c = context;
    pm_json_string(&c->json, NULL, text);
}

static enum pm_status write_chrome(struct pm_trace *trace, const struct export_request *request,
                                   FILE *out, struct pm_error *err)
{
    struct chrome c = {.out = out};
    struct export_walk walk = {
        .begin = begin_thread, .event = write_event, .goes_on = goes_on, .context = &c};
    pm_json_init(&c.json, out);
    c.json.is_compact = true;
    pm_json_object(&c.json, NULL);
    pm_json_array(&c.json, "traceEvents");
    enum pm_status status = export_walk_trace(trace, request, &walk, err);
    pm_json_end(&c.json);
    pm_json_string(&c.json, "displayTimeUnit", "ns");
    pm_json_object(&c.json, "otherData");
    pm_json_string(&c.json, "producer", "perfmap " PERFMAP_VERSION);
    pm_json_array(&c.json, "notes");
    export_each_dropped(trace, add_note, &c);
    pm_json_end(&c.json);
    pm_json_end(&c.json);
    pm_json_end(&c.json);
    (void)pm_json_done(&c.json); /* a failed write shows on the stream */
    if (walk.n_events > MANY_EVENTS)
        cmd_talk("note: these are %" PRIu64 " events, and viewers of this format take about a "
                 "million: --from, --to, --depth and --thread make it less, --format perfetto is "
                 "smaller",
                 walk.n_events);
    return c.failed ? pm_error_set(err, PM_ERR_MEMORY, "out of memory") : status;
}

const struct export_format export_format_chrome = {
    .word = "chrome", .has_notes = true, .trace = write_chrome};
