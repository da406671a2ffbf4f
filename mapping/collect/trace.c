/* Traces: the events of each thread, in compressed blocks (trace_parts.h). */
#include "trace.h"

#include "binaries.h"
#include "collector.h"
#include "model.h"
#include "process.h"
#include "run_names.h"
#include "trace_parts.h"
#include "writer.h"

#include "mapping/archive/archive.h"
#include "mapping/run/run_file.h"
#include "mapping/run/run_trace.h"

#include <stdlib.h>

struct writer {
    struct collector *c;
    const struct pm_run_file *file;
    const struct collect_names *names;
    sqlite3_stmt *insert_block, *insert_trace, *insert_steps;
    struct trace_parts *parts;
    struct pm_trace_steps_writer *steps; /* of the thread */
    uint32_t *shown;                     /* sentences, by noun; 0: not in traces */
    uint32_t thread_row, number;
    uint64_t start_ns; /* of the process, from the execution's start */
    uint64_t n_events, n_calls, n_cut, n_bytes;
    uint64_t first_ticks, latest_ticks; /* of the thread */
};

static uint64_t to_ns(const struct writer *w, uint64_t ticks)
{
    return w->start_ns + pm_run_file_to_ns(w->file, ticks);
}

static enum pm_status step(struct writer *w, sqlite3_stmt *insert)
{
    int code = sqlite3_step(insert);
    sqlite3_reset(insert);
    return code == SQLITE_DONE ? PM_OK : pm_archive_error(w->c->writer->archive, w->c->err);
}

static enum pm_status write_block(struct writer *w, const struct trace_packed *block)
{
    const struct pm_trace_block_about *about = &block->about;
    if (w->n_events == 0)
        w->first_ticks = w->latest_ticks = about->first_ticks;
    uint64_t first_ticks =
        about->first_ticks > w->latest_ticks ? about->first_ticks : w->latest_ticks;
    if (about->latest_ticks > w->latest_ticks)
        w->latest_ticks = about->latest_ticks;
    w->n_events += about->n_events;
    w->n_calls += about->n_calls;
    w->n_cut += about->n_cut;
    w->n_bytes += block->len;
    sqlite3_stmt *insert = w->insert_block;
    bind_number(insert, 1, w->thread_row);
    bind_number(insert, 2, w->number++);
    bind_number(insert, 3, to_ns(w, first_ticks));
    bind_number(insert, 4, to_ns(w, w->latest_ticks));
    bind_number(insert, 5, about->n_events);
    bind_number(insert, 6, about->n_open);
    sqlite3_bind_blob64(insert, 7, block->data, block->len, SQLITE_STATIC);
    enum pm_status status = step(w, insert);
    sqlite3_clear_bindings(insert);
    return status;
}

static enum pm_status unknown_sentence(void *context, struct pm_error *err, uint32_t *ret_row)
{
    struct collector *c = context;
    uint32_t noun;
    struct pm_run_file_noun unknown = {.object = PM_RUN_FILE_NO_OBJECT};
    struct pm_error *before = c->err;
    c->err = err;
    enum pm_status status = collect_code_noun(c, NULL, &unknown, &noun);
    if (status == PM_OK)
        status = collect_short_sentence(c, c->model->executes, noun, ret_row);
    c->err = before;
    return status;
}

/* What is adopted is no call, and traces have calls only. Nor is a set of what was begun. */
static bool list_shown(struct writer *w)
{
    size_t n = pm_run_file_n_nouns(w->file);
    w->shown = pm_alloc_array(n, sizeof *w->shown);
    for (size_t i = 0; w->shown && i < n; i++)
        if (!w->names->causes[i] && pm_run_file_noun(w->file, i)->kind != PM_RUN_AMBIENT_SET)
            w->shown[i] = w->names->sentences[i];
    return w->shown != NULL;
}

/* A row of coarser steps (trace_steps.h). */
static enum pm_status write_steps(void *context, unsigned level, uint64_t first, uint64_t start_ns,
                                  uint64_t end_ns, const void *data, size_t len,
                                  struct pm_error *err)
{
    struct writer *w = context;
    sqlite3_stmt *insert = w->insert_steps;
    (void)err; /* w->c->err is the same */
    bind_number(insert, 1, w->thread_row);
    bind_number(insert, 2, level);
    bind_number(insert, 3, first);
    bind_number(insert, 4, start_ns);
    bind_number(insert, 5, end_ns);
    sqlite3_bind_blob64(insert, 6, data, len, SQLITE_STATIC);
    enum pm_status status = step(w, insert);
    sqlite3_clear_bindings(insert);
    return status;
}

static enum pm_status take_block(struct writer *w, const struct trace_packed *block)
{
    enum pm_status status = write_block(w, block);
    if (status != PM_OK)
        return status;
    return pm_trace_steps_add(w->steps, &block->piece, &block->shares, w->c->err);
}

static struct pm_trace_clock clock_of(const struct writer *w)
{
    return (struct pm_trace_clock){w->start_ns, pm_run_file_process(w->file)->tsc_hz};
}

static enum pm_status write_blocks(struct writer *w, size_t thread)
{
    const struct pm_trace_clock clock = clock_of(w);
    w->steps = pm_trace_steps_writer_new(&clock, write_steps, w);
    if (!w->steps)
        return collect_no_memory(w->c);
    const struct trace_packed *block = NULL;
    enum pm_status status;
    while ((status = trace_parts_next(w->parts, thread, w->c->err, &block)) == PM_OK && block)
        if ((status = take_block(w, block)) != PM_OK)
            break;
    if (status != PM_OK)
        goto out;
    status = pm_trace_steps_end(w->steps, w->c->err);
out:
    pm_trace_steps_writer_free(w->steps);
    return status;
}

/* Calls of all contexts, those without one of their own left out: they are not in traces. Nor
 * need be what was begun in the process while a thread did nothing. */
static uint64_t n_calls_of(const struct pm_run_file_thread *thread,
                           const struct collect_names *names)
{
    uint64_t n = 0;
    for (size_t i = 0; i < thread->n_nodes; i++)
        if (thread->nodes[i].parent != PM_RUN_FILE_NO_PARENT &&
            !(thread->nodes[i].flags & PM_RUN_NODE_FOLDED) && !thread->nodes[i].is_set &&
            !names->causes[thread->nodes[i].noun])
            n += thread->nodes[i].n_calls;
    return n;
}

static enum pm_status write_trace(struct writer *w, size_t thread, uint64_t *n_dropped)
{
    struct pm_run_trace_size size = pm_run_trace_size(w->file, thread);
    uint64_t n_calls = n_calls_of(pm_run_file_thread(w->file, thread), w->names);
    bool none = size.n_parts == 0;
    if (none && (n_calls == 0 || pm_run_file_process(w->file)->mode != PM_RUN_MODE_TRACE))
        return PM_OK;
    w->number = 0;
    w->n_events = w->n_calls = w->n_cut = w->n_bytes = 0;
    enum pm_status status = none ? PM_OK : write_blocks(w, thread);
    if (status != PM_OK)
        return status;
    bool is_whole = size.has_begin && size.has_end;
    uint64_t dropped = is_whole || n_calls < w->n_calls ? 0 : n_calls - w->n_calls;
    *n_dropped += dropped;
    sqlite3_stmt *insert = w->insert_trace;
    bind_number(insert, 1, w->thread_row);
    bind_number(insert, 2, w->start_ns);
    bind_number(insert, 3, pm_run_file_process(w->file)->tsc_hz);
    sqlite3_bind_null(insert, 4);
    sqlite3_bind_null(insert, 5);
    if (w->n_events) {
        bind_number(insert, 4, to_ns(w, w->first_ticks));
        bind_number(insert, 5, to_ns(w, w->latest_ticks));
    }
    bind_number(insert, 6, w->n_events);
    bind_number(insert, 7, w->n_cut);
    bind_number(insert, 8, dropped);
    bind_number(insert, 9, size.has_begin);
    bind_number(insert, 10, size.has_end);
    bind_number(insert, 11, w->n_bytes);
    return step(w, insert);
}

static enum pm_status prepare(struct writer *w, const char *path, unsigned n_threads)
{
    struct collector *c = w->c;
    if (!list_shown(w))
        return collect_no_memory(c);
    enum pm_status status =
        pm_archive_prepare(c->writer->archive, "INSERT INTO trace_blocks VALUES(?,?,?,?,?,?,?)",
                           c->err, &w->insert_block);
    if (status != PM_OK)
        return status;
    status =
        pm_archive_prepare(c->writer->archive, "INSERT INTO traces VALUES(?,?,?,?,?,?,?,?,?,?,?)",
                           c->err, &w->insert_trace);
    if (status != PM_OK)
        return status;
    status = pm_archive_prepare(c->writer->archive, "INSERT INTO trace_steps VALUES(?,?,?,?,?,?)",
                                c->err, &w->insert_steps);
    if (status != PM_OK)
        return status;
    struct trace_parts_setting setting = {
        .path = path,
        .file = w->file,
        .sentences = w->shown,
        .start_tsc = pm_run_file_process(w->file)->start_tsc,
        .clock = clock_of(w),
        .n_threads = n_threads,
        .unknown = unknown_sentence,
        .context = c,
    };
    return trace_parts_open(&setting, c->err, &w->parts);
}

enum pm_status collect_trace(struct collector *c, uint64_t start_tsc, const char *path,
                             const struct pm_run_file *file, uint32_t first_thread,
                             const struct collect_names *names)
{
    struct writer w = {
        .c = c, .file = file, .names = names, .start_ns = collect_start_ns(start_tsc, file)};
    uint64_t n_dropped = 0, n_calls = 0;
    size_t n_threads = pm_run_file_n_threads(file), i = 0;
    bool has_trace = pm_run_file_process(file)->mode == PM_RUN_MODE_TRACE;
    for (; i < n_threads && !has_trace; i++)
        has_trace = pm_run_trace_n_parts(file, i) != 0;
    if (!has_trace)
        return PM_OK;
    enum pm_status status = prepare(&w, path, c->n_threads);
    for (i = 0; i < n_threads && status == PM_OK; i++) {
        w.thread_row = first_thread + (uint32_t)i;
        n_calls += n_calls_of(pm_run_file_thread(file, i), names);
        status = write_trace(&w, i, &n_dropped);
    }
    trace_parts_close(w.parts);
    if (status == PM_OK && n_dropped)
        collect_warn(c,
                     "the trace of process %u lacks %.1f %% of its calls (%llu of %llu), which are "
                     "in all other results; try --trace-limit, or --trace-keep",
                     pm_run_file_process(file)->pid, 100.0 * (double)n_dropped / (double)n_calls,
                     (unsigned long long)n_dropped, (unsigned long long)n_calls);
    sqlite3_finalize(w.insert_block);
    sqlite3_finalize(w.insert_trace);
    sqlite3_finalize(w.insert_steps);
    free(w.shown);
    return status;
}
