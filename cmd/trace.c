/* perfmap trace: the events of a run as a time line */
#include "cmd/core/cmd.h"

#include "mapping/archive/trace.h"
#include "mapping/base/json.h"

#include <inttypes.h>

enum { OPT_THREAD = CMD_KEY_FIRST, OPT_FROM, OPT_TO, OPT_DEPTH, OPT_LIMIT };

enum { DEFAULT_LIMIT = 10000, DEEPEST_INDENT = 100 };

struct request {
    const char *archive;
    bool json;
    uint64_t tid; /* 0: all */
    uint64_t from_ns, to_ns, depth, limit;
};

struct output {
    const struct request *request;
    struct pm_trace *trace;
    struct pm_error *err;
    struct pm_json json;
    uint64_t n_lines, n_threads;
    bool is_cut;
};

/* --- text: a call without others in it is one line --- */

struct held { /* an enter whose leave may be next */
    bool has;
    struct pm_trace_event event;
    const struct pm_trace_name *name;
};

static void print_line(struct output *out, uint64_t time_ns, const uint64_t *lasted_ns,
                       const struct pm_trace_event *event, const char *before,
                       const struct pm_trace_name *name, const char *behind)
{
    unsigned depth = event->depth < DEEPEST_INDENT ? event->depth : DEEPEST_INDENT;
    printf("%14" PRIu64 ".%03u", time_ns / 1000, (unsigned)(time_ns % 1000));
    if (lasted_ns)
        printf(" %11" PRIu64 ".%03u", *lasted_ns / 1000, (unsigned)(*lasted_ns % 1000));
    else
        printf(" %15s", "");
    printf("  %*s%s%s", (int)depth * 2, "", before, strcmp(name->kind, "loop") == 0 ? "loop " : "");
    struct pm_buf text = PM_BUF_INIT(1 << 24);
    pm_buf_add_printable(&text, name->name, strlen(name->name));
    fputs(text.data ? text.data : "", stdout);
    pm_buf_release(&text);
    if (name->n_others)
        printf(" (or %" PRIu32 " more)", name->n_others);
    printf("%s%s\n", behind, event->flags & PM_TRACE_FOREIGN ? "  [other stack]" : "");
    out->n_lines++;
}

static void flush_held(struct output *out, struct held *held)
{
    if (held->has)
        print_line(out, held->event.time_ns, NULL, &held->event, "", held->name,
                   held->event.flags & PM_TRACE_BEFORE     ? " {  (began before)"
                   : held->event.flags & PM_TRACE_CUT      ? " {  (its begin is not known)"
                   : held->event.flags & PM_TRACE_SWITCHED ? " {  (goes on)"
                                                           : " {");
    held->has = false;
}

static void print_event(struct output *out, const struct pm_trace_event *event,
                        const struct pm_trace_name *name, struct held *held)
{
    if (!event->is_leave) {
        flush_held(out, held);
        *held = (struct held){true, *event, name};
        return;
    }
    bool is_cut = event->flags & PM_TRACE_CUT;
    const uint64_t *lasted = is_cut ? NULL : &event->spent_ns;
    const char *behind = is_cut                             ? "  (its end is not known)"
                         : event->flags & PM_TRACE_SWITCHED ? "  (waits)"
                                                            : "";
    if (held->has && !((held->event.flags ^ event->flags) & PM_TRACE_FOREIGN)) {
        bool has_waited = held->event.flags & PM_TRACE_SWITCHED;
        print_line(out, held->event.time_ns, lasted, event, "", name,
                   !has_waited    ? behind
                   : *behind == 0 ? "  (goes on)"
                                  : "  (goes on, waits)");
        held->has = false;
        return;
    }
    flush_held(out, held);
    print_line(out, event->time_ns, lasted, event, "} ", name, behind);
}

static void print_head(const struct pm_trace_thread *thread)
{
    printf("thread %" PRId64 " %s of process %" PRId64 " (%s): %" PRIu64 " events", thread->tid,
           thread->name, thread->pid, thread->exe, thread->n_events);
    if (thread->n_dropped_calls)
        printf(", %" PRIu64 " calls are missing%s%s", thread->n_dropped_calls,
               thread->has_begin ? "" : " before", thread->has_end ? "" : " behind");
    printf("\n%18s %15s\n", "at us", "lasted us");
}

/* --- JSON --- */

static void json_head(struct pm_json *json, const struct pm_trace_thread *thread)
{
    pm_json_object(json, NULL);
    pm_json_i64(json, "tid", thread->tid);
    pm_json_string(json, "name", thread->name);
    pm_json_i64(json, "pid", thread->pid);
    pm_json_string(json, "exe", thread->exe);
    pm_json_u64(json, "start_ns", thread->start_ns);
    pm_json_u64(json, "end_ns", thread->end_ns);
    pm_json_u64(json, "n_events", thread->n_events);
    pm_json_u64(json, "n_dropped_calls", thread->n_dropped_calls);
    pm_json_bool(json, "has_begin", thread->has_begin);
    pm_json_bool(json, "has_end", thread->has_end);
    pm_json_array(json, "events");
}

static void json_event(struct pm_json *json, const struct pm_trace_event *event,
                       const struct pm_trace_name *name)
{
    pm_json_object(json, NULL);
    pm_json_string(json, "event", event->is_leave ? "leave" : "enter");
    pm_json_u64(json, "time_ns", event->time_ns);
    pm_json_u64(json, "depth", event->depth);
    pm_json_string(json, "name", name->name);
    pm_json_string(json, "kind", name->kind);
    if (!event->is_leave && *name->file) {
        pm_json_string(json, "file", name->file);
        pm_json_i64(json, "line_no", name->line_no);
    }
    if (event->is_leave)
        pm_json_u64(json, "inclusive_ns", event->spent_ns);
    if (event->flags & PM_TRACE_FOREIGN)
        pm_json_bool(json, "is_on_foreign_stack", true);
    if (event->flags & PM_TRACE_CUT)
        pm_json_bool(json, "is_cut", true);
    if (event->flags & PM_TRACE_SWITCHED)
        pm_json_bool(json, "is_switched", true);
    if (event->flags & PM_TRACE_BEFORE)
        pm_json_bool(json, "began_before", true);
    pm_json_end(json);
}

/* --- all of them --- */

static void show_event(struct output *out, const struct pm_trace_event *event,
                       const struct pm_trace_name *name, struct held *held)
{
    if (out->request->json) {
        json_event(&out->json, event, name);
        out->n_lines++;
    } else {
        print_event(out, event, name, held);
    }
}

static void end_thread(struct output *out, struct held *held)
{
    if (out->request->json) {
        pm_json_end(&out->json);
        pm_json_end(&out->json);
    } else {
        flush_held(out, held);
    }
}

static enum pm_status show_events(struct output *out, struct pm_trace_cursor *cursor)
{
    const struct request *request = out->request;
    struct held held = {0};
    struct pm_trace_event event;
    bool has_event = false;
    enum pm_status status;
    while ((status = pm_trace_next(cursor, out->err, &event, &has_event)) == PM_OK && has_event &&
           event.time_ns <= request->to_ns) {
        out->is_cut = request->limit && out->n_lines >= request->limit;
        const struct pm_trace_name *name =
            out->is_cut ? NULL : pm_trace_name(out->trace, event.sentence, out->err);
        if (!name) {
            status = out->is_cut ? PM_OK : PM_ERR_FORMAT;
            break;
        }
        show_event(out, &event, name, &held);
        if (ferror(stdout))
            break;
    }
    end_thread(out, &held);
    return status;
}

static enum pm_status show_thread(struct output *out, size_t index)
{
    const struct pm_trace_thread *thread = pm_trace_thread(out->trace, index);
    struct pm_trace_cursor *cursor;
    if ((out->request->tid && (uint64_t)thread->tid != out->request->tid) || out->is_cut)
        return PM_OK;
    enum pm_status status =
        pm_trace_seek(out->trace, index, out->request->from_ns, out->err, &cursor);
    if (status != PM_OK)
        return status;
    if (out->request->depth < UINT32_MAX)
        pm_trace_leave_out(cursor, (uint32_t)out->request->depth, out->request->to_ns);
    out->n_threads++;
    if (out->request->json)
        json_head(&out->json, thread);
    else
        print_head(thread);
    status = show_events(out, cursor);
    pm_trace_cursor_free(cursor);
    return status;
}

static enum pm_status show_all(struct output *out)
{
    const struct request *request = out->request;
    enum pm_status status = PM_OK;
    if (pm_trace_n_threads(out->trace) == 0)
        return pm_error_set(out->err, PM_ERR_NOT_FOUND,
                            "archive '%s' has no trace: record one with 'perfmap run --mode trace'",
                            request->archive);
    if (request->json) {
        pm_json_init(&out->json, stdout);
        pm_json_object(&out->json, NULL);
        pm_json_array(&out->json, "threads");
    }
    for (size_t i = 0; i < pm_trace_n_threads(out->trace) && status == PM_OK; i++)
        status = show_thread(out, i);
    if (request->json && status == PM_OK) {
        pm_json_end(&out->json);
        pm_json_end(&out->json);
        (void)pm_json_done(&out->json);
    }
    if (status == PM_OK && request->tid && out->n_threads == 0)
        status = pm_error_set(out->err, PM_ERR_NOT_FOUND,
                              "archive '%s' has no trace of a thread %" PRIu64, request->archive,
                              request->tid);
    return status;
}

/* --- the command --- */

enum { MAX_HOURS = 1000000 }; /* of a run */

static void read_options(struct cmd_parse *parse, struct request *request)
{
    bool limit_given = false;
    for (int key; (key = cmd_next(parse)) != CMD_END;)
        switch (key) {
        case OPT_THREAD:
            cmd_number(parse, UINT32_MAX, &request->tid);
            break;
        case OPT_FROM:
            cmd_time(parse, MAX_HOURS * 3600000000000u, &request->from_ns);
            break;
        case OPT_TO:
            cmd_time(parse, MAX_HOURS * 3600000000000u, &request->to_ns);
            break;
        case OPT_DEPTH:
            cmd_number(parse, UINT32_MAX, &request->depth);
            break;
        case OPT_LIMIT:
            limit_given = cmd_number(parse, INT64_MAX, &request->limit);
            break;
        }
    request->json = parse->json;
    if (!limit_given)
        request->limit = parse->json ? 0 : DEFAULT_LIMIT;
}

static int trace_main(struct cmd_parse *parse)
{
    struct request request = {.to_ns = UINT64_MAX, .depth = UINT32_MAX};
    read_options(parse, &request);
    if (parse->failed)
        return CMD_USAGE;
    if (parse->n_operands != 1)
        return cmd_usage_error(parse, "expected one archive, not %d arguments", parse->n_operands);
    request.archive = parse->operands[0];
    struct pm_error err = PM_ERROR_INIT;
    struct pm_archive *archive = NULL;
    struct output out = {.request = &request, .err = &err};
    enum pm_status status = pm_archive_open(request.archive, &err, &archive);
    if (status == PM_OK)
        status = pm_trace_open(archive, &err, &out.trace);
    if (status == PM_OK)
        status = show_all(&out);
    pm_trace_free(out.trace);
    pm_archive_close(archive);
    if (status != PM_OK)
        return cmd_fail(parse, &err);
    if (out.is_cut)
        cmd_talk("note: stopped after %" PRIu64
                 " lines; see --limit, --from, --to, --thread, --depth",
                 request.limit);
    return cmd_stdout_done(parse, CMD_DONE);
}

static const struct cmd_option trace_options[] = {
    {OPT_FROM, "from", "TIME",
     "begin at this time since the run's start: 1.5s, 20ms, 300us, 1000ns. Calls that are open "
     "then come first, with the "
     "times when they began"},
    {OPT_TO, "to", "TIME", "end at this time"},
    {OPT_THREAD, "thread", "TID", "only this thread (default: all, one after the other)"},
    {OPT_DEPTH, "depth", "NUMBER", "leave out calls that are inside this many others or more"},
    {OPT_LIMIT, "limit", "NUMBER",
     "stop after this many lines, or events with --json; 0 for all (default: 10000; with --json "
     "all)"},
    {CMD_KEY_JSON, "json", NULL, "as JSON"},
    {0}};

static const struct cmd_example trace_examples[] = {
    {"perfmap run --mode trace -- ./heat && perfmap trace heat.perfmap",
     "what was called, in order"},
    {"perfmap trace --from 1.2s --to 1.21s --depth 3 heat.perfmap", "ten milliseconds of it"},
    {NULL, NULL}};

const struct cmd cmd_trace = {
    .name = "trace",
    .summary = "print what was called when",
    .usage = (const char *const[]){"trace [OPTION]... NAME.perfmap", NULL},
    .description = "Prints the events of a run that was made with `perfmap run --mode trace`: each "
                   "call of a function and each "
                   "entry of a loop, with the time since the run's start and how long it lasted, "
                   "both in microseconds, indented by what is around it. A "
                   "call with nothing in it is one line.\n\n"
                   "A trace that reached its limit (perfmap run --trace-limit) lacks events: calls "
                   "whose begin or end is "
                   "among those say so. What is reported elsewhere (`perfmap report`) is complete "
                   "all the same. docs/trace.md "
                   "says more. 'perfmap export' writes traces for Perfetto and other viewers.",
    .options = trace_options,
    .examples = trace_examples,
    .main = trace_main};
