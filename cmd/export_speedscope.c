/* speedscope's JSON: of costs a sampled profile of all, for each metric, then one of each thread;
 * of a trace an evented profile of each thread.
 * https://github.com/jlfwong/speedscope/wiki/Importing-from-custom-sources */
#include "export_events.h"

#include "mapping/base/json.h"

#include <inttypes.h>
#include <stdlib.h>

static void begin_file(struct pm_json *json, FILE *out)
{
    pm_json_init(json, out);
    json->is_compact = true;
    pm_json_object(json, NULL);
    pm_json_string(json, "$schema", "https://www.speedscope.app/file-format-schema.json");
    pm_json_string(json, "exporter", "perfmap " PERFMAP_VERSION);
}

static const char *unit_word(const char *unit)
{
    if (!strcmp(unit, "ns"))
        return "nanoseconds";
    return strcmp(unit, "bytes") == 0 ? "bytes" : "none";
}

static void write_frame(struct pm_json *json, const char *name, const char *place,
                        const char *level, const char *file, int64_t line_no)
{
    struct pm_buf text = PM_BUF_INIT(1 << 24);
    pm_buf_add_str(&text, name);
    if (*place)
        pm_buf_printf(&text, " %s", place);
    if (*level && strcmp(level, "Source") != 0)
        pm_buf_printf(&text, " [%s]", level);
    pm_json_object(json, NULL);
    pm_json_string(json, "name", text.data ? text.data : "");
    if (*file)
        pm_json_string(json, "file", file);
    if (line_no)
        pm_json_i64(json, "line", line_no);
    pm_json_end(json);
    json->failed |= text.failed;
    pm_buf_release(&text);
}

/* --- costs --- */

/* thread: PM_NONE for all. */
static void write_samples(const struct pm_profile *profile, uint32_t value, uint32_t thread,
                          uint32_t *path, struct pm_json *json)
{
    pm_json_array(json, "samples");
    for (uint32_t i = 0; i < profile->n_cells; i++) {
        const struct pm_profile_cell *cell = &profile->cells[i];
        uint32_t n = 0;
        if (!cell->values[value] || (thread != PM_NONE && cell->thread != thread))
            continue;
        for (uint32_t node = cell->node; node != PM_NONE; node = profile->nodes[node].parent)
            path[n++] = profile->nodes[node].frame;
        pm_json_array(json, NULL);
        while (n-- > 0)
            pm_json_u64(json, NULL, path[n]);
        pm_json_end(json);
    }
    pm_json_end(json);
    pm_json_array(json, "weights");
    for (uint32_t i = 0; i < profile->n_cells; i++) {
        const struct pm_profile_cell *cell = &profile->cells[i];
        if (cell->values[value] && (thread == PM_NONE || cell->thread == thread))
            pm_json_i64(json, NULL, cell->values[value]);
    }
    pm_json_end(json);
}

static int64_t total_of(const struct pm_profile *profile, uint32_t value, uint32_t thread)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < profile->n_cells; i++)
        if (thread == PM_NONE || profile->cells[i].thread == thread)
            sum += profile->cells[i].values[value];
    return sum;
}

static void write_profile(const struct pm_profile *profile, uint32_t value, uint32_t thread,
                          const char *name, uint32_t *path, struct pm_json *json)
{
    pm_json_object(json, NULL);
    pm_json_string(json, "type", "sampled");
    pm_json_string(json, "name", name);
    pm_json_string(json, "unit", unit_word(profile->values[value].unit));
    pm_json_i64(json, "startValue", 0);
    pm_json_i64(json, "endValue", total_of(profile, value, thread));
    write_samples(profile, value, thread, path, json);
    pm_json_end(json);
}

static void write_threads(const struct pm_profile *profile, uint32_t *path, struct pm_json *json)
{
    const struct pm_archive_data *data = profile->tree.data;
    for (uint32_t t = 0; t < data->n_threads; t++) {
        const struct pm_thread *thread = &data->threads[t];
        const struct pm_process *process = &data->processes[thread->process];
        struct pm_buf name = PM_BUF_INIT(1 << 20);
        if (!total_of(profile, 0, t))
            continue;
        if (process->rank != PM_UNKNOWN)
            pm_buf_printf(&name, "rank %" PRId64 ", ", process->rank);
        pm_buf_add_printable(&name, thread->name, strlen(thread->name));
        pm_buf_printf(&name, " (process %" PRId64, process->pid);
        if (thread->tid != PM_UNKNOWN)
            pm_buf_printf(&name, ", thread %" PRId64, thread->tid);
        pm_buf_printf(&name, "): %s", profile->values[0].name);
        write_profile(profile, 0, t, name.data ? name.data : "", path, json);
        json->failed |= name.failed;
        pm_buf_release(&name);
    }
}

static enum pm_status write_costs(struct pm_profile *profile, const struct export_notes *notes,
                                  FILE *out, struct pm_error *err)
{
    struct pm_json json;
    uint32_t *path = pm_alloc_array((size_t)profile->n_nodes + 1, sizeof *path);
    if (!path)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    begin_file(&json, out);
    pm_json_array(&json, "notes");
    for (uint32_t i = 0; i < notes->n; i++)
        pm_json_string(&json, NULL, notes->items[i]);
    pm_json_end(&json);
    pm_json_object(&json, "shared");
    pm_json_array(&json, "frames");
    for (uint32_t f = 0; f < profile->n_frames; f++) {
        const struct pm_profile_frame *frame = &profile->frames[f];
        bool is_named = !strcmp(frame->kind, "function") || !strcmp(frame->kind, "symbol");
        write_frame(&json, frame->name, is_named ? "" : frame->place, frame->level, frame->file,
                    frame->line_no);
    }
    pm_json_end(&json);
    pm_json_end(&json);
    pm_json_array(&json, "profiles");
    for (uint32_t v = 0; v < profile->n_values; v++) {
        struct pm_buf name = PM_BUF_INIT(4096);
        pm_buf_printf(&name, "all: %s", profile->values[v].name);
        write_profile(profile, v, PM_NONE, name.data ? name.data : "", path, &json);
        json.failed |= name.failed;
        pm_buf_release(&name);
    }
    write_threads(profile, path, &json);
    pm_json_end(&json);
    pm_json_u64(&json, "activeProfileIndex", 0);
    pm_json_end(&json);
    free(path);
    return pm_json_done(&json) || ferror(out) ? PM_OK
                                              : pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}

/* --- traces --- */

struct frame {
    const char *name, *level, *file;
    int64_t line_no;
};

/* Two walks: of calls on the threads' own stacks, then of those on others, which need not nest in
 * them. Frames are known at the end, and JSON's keys have no order. */
struct evented {
    FILE *out;
    struct pm_json json;
    struct frame *frames;
    uint32_t n_frames, cap_frames, base; /* base: frames of the walk before */
    uint64_t from_ns, last_ns;
    bool is_foreign; /* which walk it is */
    bool any;        /* of it in this thread */
    bool has_foreign, failed;
    struct pm_arena arena;
};

static const char *keep(struct evented *e, const char *text)
{
    const char *kept = pm_arena_strndup(&e->arena, text, strlen(text));
    e->failed |= !kept;
    return kept ? kept : "";
}

/* Names come in the order of their ids. */
static void take_frame(struct evented *e, const struct export_name *name)
{
    if (e->base + name->id <= e->n_frames)
        return;
    struct frame *frames =
        pm_grow_array(e->frames, e->n_frames, &e->cap_frames, 64, sizeof *frames);
    if (!frames) {
        e->failed = true;
        return;
    }
    e->frames = frames;
    e->frames[e->n_frames++] = (struct frame){keep(e, name->name), keep(e, name->level),
                                              keep(e, name->file), name->line_no};
}

static void begin_profile(struct evented *e, const struct pm_trace_thread *thread)
{
    struct pm_buf name = PM_BUF_INIT(1 << 20);
    pm_buf_add_printable(&name, thread->name, strlen(thread->name));
    pm_buf_printf(&name, " (process %" PRId64 ", thread %" PRId64 ")%s", thread->pid, thread->tid,
                  e->is_foreign ? ", other stacks" : "");
    pm_json_object(&e->json, NULL);
    pm_json_string(&e->json, "type", "evented");
    pm_json_string(&e->json, "name", name.data ? name.data : "");
    pm_json_string(&e->json, "unit", "nanoseconds");
    pm_json_array(&e->json, "events");
    e->failed |= name.failed;
    pm_buf_release(&name);
    e->any = true;
}

static void write_event(void *context, size_t index, const struct pm_trace_thread *thread,
                        const struct export_event *event)
{
    struct evented *e = context;
    (void)index;
    take_frame(e, event->name);
    e->has_foreign |= event->is_foreign;
    if (event->is_foreign != e->is_foreign)
        return;
    if (!e->any) {
        begin_profile(e, thread);
        e->from_ns = event->time_ns;
    }
    pm_json_object(&e->json, NULL);
    pm_json_string(&e->json, "type", event->is_leave ? "C" : "O");
    pm_json_u64(&e->json, "frame", e->base + event->name->id - 1u);
    pm_json_u64(&e->json, "at", event->time_ns);
    pm_json_end(&e->json);
    e->last_ns = event->time_ns;
}

static void end_thread(void *context, size_t index, const struct pm_trace_thread *thread)
{
    struct evented *e = context;
    (void)index;
    (void)thread;
    if (!e->any)
        return;
    pm_json_end(&e->json);
    pm_json_u64(&e->json, "startValue", e->from_ns);
    pm_json_u64(&e->json, "endValue", e->last_ns);
    pm_json_end(&e->json);
    e->any = false;
}

static bool goes_on(void *context)
{
    struct evented *e = context;
    return !e->failed && !ferror_unlocked(e->out);
}

static void add_note(void *context, const char *text)
{
    struct evented *e = context;
    pm_json_string(&e->json, NULL, text);
}

static void write_end(struct evented *e, struct pm_trace *trace)
{
    pm_json_end(&e->json);
    pm_json_object(&e->json, "shared");
    pm_json_array(&e->json, "frames");
    for (uint32_t f = 0; f < e->n_frames; f++)
        write_frame(&e->json, e->frames[f].name, "", e->frames[f].level, e->frames[f].file,
                    e->frames[f].line_no);
    pm_json_end(&e->json);
    pm_json_end(&e->json);
    pm_json_array(&e->json, "notes");
    export_each_dropped(trace, add_note, e);
    pm_json_end(&e->json);
    pm_json_end(&e->json);
    (void)pm_json_done(&e->json); /* a failed write shows on the stream */
}

static enum pm_status walk_stack(struct evented *e, struct pm_trace *trace,
                                 const struct export_request *request, struct pm_error *err)
{
    struct export_walk walk = {
        .event = write_event, .end = end_thread, .goes_on = goes_on, .context = e};
    e->base = e->n_frames;
    return export_walk_trace(trace, request, &walk, err);
}

static enum pm_status walk_both(struct evented *e, struct pm_trace *trace,
                                const struct export_request *request, struct pm_error *err)
{
    enum pm_status status = walk_stack(e, trace, request, err);
    if (status != PM_OK || !e->has_foreign)
        return status;
    e->is_foreign = true;
    return walk_stack(e, trace, request, err);
}

static enum pm_status write_evented(struct pm_trace *trace, const struct export_request *request,
                                    FILE *out, struct pm_error *err)
{
    struct evented e = {.out = out};
    begin_file(&e.json, out);
    pm_json_array(&e.json, "profiles");
    enum pm_status status = walk_both(&e, trace, request, err);
    write_end(&e, trace);
    free(e.frames);
    pm_arena_release(&e.arena);
    return e.failed ? pm_error_set(err, PM_ERR_MEMORY, "out of memory") : status;
}

const struct export_format export_format_speedscope = {
    .word = "speedscope",
    .parts = PM_PROFILE_THREADS,
    .has_notes = true,
    .profile = write_costs,
    .trace = write_evented,
};
