/* A sink that writes down what readers give it, one line for each sample, and a reader's test with
 * it:
 *
 *     assert_import("folded", "main;f 3\n", "main;f n_samples 3\n");
 *     assert_refused("folded", "main;f\n", "profile 'test' line 1: ...");
 */
#ifndef PM_TEST_IMPORT_RECORD_H
#define PM_TEST_IMPORT_RECORD_H

#include "mapping/import/import.h"

#include <setjmp.h>
#include <stdlib.h>

#include <cmocka.h>

#ifndef RECORD_EXE
#define RECORD_EXE NULL
#endif
#ifndef RECORD_KNOWN
#define RECORD_KNOWN "none" /* of objects: else all have facts */
#endif

/* Who reads, for what no format of files has. */
#ifndef RECORD_READ
#define RECORD_READ pm_import_bytes
#endif

enum { RECORD_MAX = 1 << 16 };

struct record {
    struct pm_import_sink calls; /* first */
    char *objects[64], *metrics[64], *frames[1024], *paths[1024], *threads[64];
    uint32_t n_objects, n_metrics, n_frames, n_paths, n_threads, n_processes;
    struct pm_buf out, notes;
};

static char *record_text(struct pm_str text)
{
    return pm_strndup(text.p ? text.p : "", text.len);
}

static enum pm_status record_object(struct pm_import_sink *sink,
                                    const struct pm_import_object *object, uint32_t *ret,
                                    bool *ret_is_known)
{
    *ret_is_known = strstr(RECORD_KNOWN, "none") == NULL;
    struct record *r = (struct record *)sink;
    assert_true(r->n_objects < 64);
    r->objects[r->n_objects] = record_text(object->path);
    *ret = ++r->n_objects;
    return PM_OK;
}

static enum pm_status record_process(struct pm_import_sink *sink,
                                     const struct pm_import_process *process, uint32_t *ret)
{
    struct record *r = (struct record *)sink;
    *ret = ++r->n_processes;
    if (process->pid)
        pm_buf_printf(&r->out, "process %u %.*s\n", process->pid, (int)process->name.len,
                      process->name.p);
    if (process->rank >= 0)
        pm_buf_printf(&r->out, "rank %d\n", (int)process->rank);
    return PM_OK;
}

static enum pm_status record_thread(struct pm_import_sink *sink,
                                    const struct pm_import_thread *thread, uint32_t *ret)
{
    struct record *r = (struct record *)sink;
    assert_true(r->n_threads < 64 && thread->process && thread->process <= r->n_processes);
    r->threads[r->n_threads] = record_text(thread->name);
    *ret = ++r->n_threads;
    if (thread->tid)
        pm_buf_printf(&r->out, "thread %u %.*s\n", thread->tid, (int)thread->name.len,
                      thread->name.p);
    return PM_OK;
}

static enum pm_status record_metric(struct pm_import_sink *sink,
                                    const struct pm_import_metric *metric, uint32_t *ret)
{
    struct record *r = (struct record *)sink;
    for (uint32_t i = 0; i < r->n_metrics; i++)
        if (!strcmp(r->metrics[i], metric->name)) {
            *ret = i + 1;
            return PM_OK;
        }
    assert_true(r->n_metrics < 64);
    r->metrics[r->n_metrics] = pm_strndup(metric->name, strlen(metric->name));
    *ret = ++r->n_metrics;
    return PM_OK;
}

/* "f", "f@elf:12 (a.out)", with ! when it is a caller, ~ when it is inlined. */
static enum pm_status record_frame(struct pm_import_sink *sink, const struct pm_import_frame *frame,
                                   uint32_t *ret)
{
    struct record *r = (struct record *)sink;
    struct pm_buf text = PM_BUF_INIT(RECORD_MAX);
    assert_true(r->n_frames < 1024 && frame->object <= r->n_objects);
    pm_buf_printf(&text, "%.*s", (int)frame->function.len, frame->function.p);
    if (frame->kind != PM_IMPORT_NO_ADDRESS)
        pm_buf_printf(&text, "@%s%llx%s", frame->kind == PM_IMPORT_ELF ? "elf:" : "",
                      (unsigned long long)frame->address, frame->is_checked ? "?" : "");
    if (frame->line_no)
        pm_buf_printf(&text, ":%u", frame->line_no);
    if (frame->object)
        pm_buf_printf(&text, "(%s)", r->objects[frame->object - 1]);
    pm_buf_printf(&text, "%s%s", frame->is_caller ? "!" : "", frame->is_inlined ? "~" : "");
    r->frames[r->n_frames] = pm_buf_take(&text);
    *ret = ++r->n_frames;
    return PM_OK;
}

static enum pm_status record_new_path(struct record *r, struct pm_buf *text, uint32_t *ret)
{
    char *taken = text->len ? pm_buf_take(text) : pm_strndup("", 0);
    pm_buf_release(text);
    for (uint32_t i = 0; i < r->n_paths; i++)
        if (!strcmp(r->paths[i], taken)) {
            free(taken);
            *ret = i + 1;
            return PM_OK;
        }
    assert_true(r->n_paths < 1024);
    r->paths[r->n_paths] = taken;
    *ret = ++r->n_paths;
    return PM_OK;
}

static enum pm_status record_path(struct pm_import_sink *sink, uint32_t process, uint32_t parent,
                                  uint32_t frame, uint32_t *ret)
{
    struct record *r = (struct record *)sink;
    struct pm_buf text = PM_BUF_INIT(RECORD_MAX);
    assert_true(process && process <= r->n_processes && parent <= r->n_paths &&
                frame <= r->n_frames);
    if (parent)
        pm_buf_add_str(&text, r->paths[parent - 1]);
    if (frame)
        pm_buf_printf(&text, "%s%s", text.len ? ";" : "", r->frames[frame - 1]);
    return record_new_path(r, &text, ret);
}

static enum pm_status record_label(struct pm_import_sink *sink, uint32_t process, uint32_t above,
                                   struct pm_str key, struct pm_str value, uint32_t *ret)
{
    struct record *r = (struct record *)sink;
    struct pm_buf text = PM_BUF_INIT(RECORD_MAX);
    assert_true(process && process <= r->n_processes && above <= r->n_paths);
    if (above)
        pm_buf_printf(&text, "%s;", r->paths[above - 1]);
    pm_buf_printf(&text, "%.*s=%.*s", (int)key.len, key.p, (int)value.len, value.p);
    return record_new_path(r, &text, ret);
}

static enum pm_status record_place(struct pm_import_sink *sink, uint32_t process, uint32_t above,
                                   const uint32_t *frames, size_t n, uint32_t *ret)
{
    struct record *r = (struct record *)sink;
    struct pm_buf text = PM_BUF_INIT(RECORD_MAX);
    assert_true(process && process <= r->n_processes && above <= r->n_paths);
    if (above)
        pm_buf_add_str(&text, r->paths[above - 1]);
    for (size_t i = 0; i < n; i++) {
        assert_true(frames[i] && frames[i] <= r->n_frames);
        pm_buf_printf(&text, "%s%s", text.len ? ";" : "", r->frames[frames[i] - 1]);
    }
    return record_new_path(r, &text, ret);
}

static enum pm_status record_cost(struct pm_import_sink *sink, uint32_t thread, uint32_t place,
                                  uint32_t metric, uint64_t value)
{
    struct record *r = (struct record *)sink;
    assert_true(thread && thread <= r->n_threads && place && place <= r->n_paths && metric &&
                metric <= r->n_metrics);
    if (!value)
        return PM_OK;
    if (r->n_threads > 1)
        pm_buf_printf(&r->out, "%u: ", thread);
    pm_buf_printf(&r->out, "%s %s %llu\n", r->paths[place - 1], r->metrics[metric - 1],
                  (unsigned long long)value);
    return PM_OK;
}

static enum pm_status record_arc(struct pm_import_sink *sink, const struct pm_import_arc *arc,
                                 uint32_t metric, uint64_t value)
{
    struct record *r = (struct record *)sink;
    assert_true(arc->caller <= r->n_frames && arc->callee && arc->callee <= r->n_frames);
    pm_buf_printf(&r->out, "%s -> %s %llu", arc->caller ? r->frames[arc->caller - 1] : "",
                  r->frames[arc->callee - 1], (unsigned long long)arc->n_calls);
    if (metric)
        pm_buf_printf(&r->out, " %s %llu", r->metrics[metric - 1], (unsigned long long)value);
    pm_buf_add_str(&r->out, "\n");
    return PM_OK;
}

static enum pm_status record_event(struct pm_import_sink *sink, uint32_t thread, uint64_t time_ns,
                                   uint32_t path)
{
    struct record *r = (struct record *)sink;
    assert_true(thread && thread <= r->n_threads && path <= r->n_paths);
    pm_buf_printf(&r->out, "%llu %s %s\n", (unsigned long long)time_ns, path ? "in" : "out",
                  path ? r->paths[path - 1] : "");
    return PM_OK;
}

static void record_now(struct pm_import_sink *sink, uint64_t time_ns)
{
    (void)sink, (void)time_ns;
}

static void record_span(struct pm_import_sink *sink, uint64_t start_ns, uint64_t end_ns)
{
    (void)sink;
    assert_true(start_ns <= end_ns);
}

static void record_attribute(struct pm_import_sink *sink, const char *key, struct pm_str value)
{
    pm_buf_printf(&((struct record *)sink)->notes, "%s=%.*s\n", key, (int)value.len, value.p);
}

static void record_note(struct pm_import_sink *sink, const char *text)
{
    pm_buf_printf(&((struct record *)sink)->notes, "%s\n", text);
}

static void record_free(struct record *r)
{
    char **lists[] = {r->objects, r->metrics, r->frames, r->paths, r->threads};
    uint32_t n[] = {r->n_objects, r->n_metrics, r->n_frames, r->n_paths, r->n_threads};
    for (size_t i = 0; i < 5; i++)
        for (uint32_t k = 0; k < n[i]; k++)
            free(lists[i][k]);
    pm_buf_release(&r->out);
    pm_buf_release(&r->notes);
    free(r);
}

static struct record *record_new(void)
{
    struct record *r = pm_alloc(sizeof *r);
    assert_non_null(r);
    r->calls = (struct pm_import_sink){.object = record_object,
                                       .process = record_process,
                                       .thread = record_thread,
                                       .metric = record_metric,
                                       .frame = record_frame,
                                       .path = record_path,
                                       .label = record_label,
                                       .place = record_place,
                                       .cost = record_cost,
                                       .arc = record_arc,
                                       .event = record_event,
                                       .now = record_now,
                                       .span = record_span,
                                       .attribute = record_attribute,
                                       .note = record_note};
    r->out = r->notes = (struct pm_buf)PM_BUF_INIT(1 << 24);
    pm_buf_add_str(&r->out, "");
    pm_buf_add_str(&r->notes, "");
    return r;
}

static inline struct record *record_read(const char *format, const char *unit, struct pm_str bytes,
                                         struct pm_error *err, enum pm_status *ret_status)
{
    struct record *r = record_new();
    struct pm_import_options options = {
        .size = sizeof options, .format = format, .unit = unit, .exe = RECORD_EXE};
    *ret_status = RECORD_READ("test", bytes.p, bytes.len, &options, &r->calls, err);
    return r;
}

/* What it is made of, and a part of what is told. note: NULL: nothing is. */
static inline void assert_import_bytes(const char *format, const char *unit, struct pm_str bytes,
                                       const char *expected, const char *note)
{
    struct pm_error err = PM_ERROR_INIT;
    enum pm_status status;
    struct record *r = record_read(format, unit, bytes, &err, &status);
    if (status != PM_OK)
        fail_msg("%s", pm_error_text(&err));
    assert_string_equal(r->out.data ? r->out.data : "", expected);
    const char *notes = r->notes.data ? r->notes.data : "";
    if (note ? !strstr(notes, note) : *notes != 0)
        fail_msg("'%s' is told, not '%s'", notes, note ? note : "");
    record_free(r);
}

static inline void assert_import(const char *format, const char *text, const char *expected,
                                 const char *note)
{
    assert_import_bytes(format, NULL, pm_str_of(text), expected, note);
}

static inline void assert_refused_bytes(const char *format, struct pm_str bytes, const char *why)
{
    struct pm_error err = PM_ERROR_INIT;
    enum pm_status status;
    struct record *r = record_read(format, NULL, bytes, &err, &status);
    assert_int_not_equal(status, PM_OK);
    if (!strstr(pm_error_text(&err), why))
        fail_msg("'%s' is told, not '%s'", pm_error_text(&err), why);
    pm_error_release(&err);
    record_free(r);
}

static inline void assert_refused(const char *format, const char *text, const char *why)
{
    assert_refused_bytes(format, pm_str_of(text), why);
}

#endif
