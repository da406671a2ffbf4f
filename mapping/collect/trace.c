/* Traces: the events of each thread, in compressed blocks. One block of events is in memory at a
 * time. */
#include "trace.h"

#include "binaries.h"
#include "collector.h"
#include "model.h"
#include "process.h"
#include "run_names.h"
#include "writer.h"

#include "mapping/archive/archive.h"
#include "mapping/archive/trace_block.h"
#include "mapping/run/run_file.h"
#include "mapping/run/run_trace.h"

enum { EVENTS_PER_BLOCK = 65536 };

struct writer {
    struct collector *c;
    const struct pm_run_file *file;
    const struct collect_names *names;
    sqlite3_stmt *insert_block, *insert_trace;
    struct pm_trace_block *block;
    uint32_t thread_row, number;
    uint64_t start_ns; /* of the process, from the execution's start */
    uint64_t start_tsc;
    uint64_t n_events, n_enters, n_cut, n_bytes;
    uint64_t first_ticks, last_ticks;             /* of the thread */
    uint64_t block_first_ticks, block_last_ticks; /* the latest so far */
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

static enum pm_status write_block(struct writer *w)
{
    const void *data;
    size_t len;
    uint32_t n = pm_trace_block_n_events(w->block), n_open = pm_trace_block_n_open(w->block);
    if (n == 0)
        return PM_OK;
    enum pm_status status = pm_trace_block_end(w->block, w->c->err, &data, &len);
    if (status != PM_OK)
        return status;
    sqlite3_stmt *insert = w->insert_block;
    bind_number(insert, 1, w->thread_row);
    bind_number(insert, 2, w->number++);
    bind_number(insert, 3, to_ns(w, w->block_first_ticks));
    bind_number(insert, 4, to_ns(w, w->block_last_ticks));
    bind_number(insert, 5, n);
    bind_number(insert, 6, n_open);
    sqlite3_bind_blob64(insert, 7, data, len, SQLITE_STATIC);
    w->n_bytes += len;
    status = step(w, insert);
    sqlite3_clear_bindings(insert);
    return status;
}

static enum pm_status unknown_sentence(struct collector *c, uint32_t *ret_row)
{
    uint32_t noun;
    struct pm_run_file_noun unknown = {.object = PM_RUN_FILE_NO_OBJECT};
    enum pm_status status = collect_code_noun(c, NULL, &unknown, &noun);
    return status == PM_OK ? collect_short_sentence(c, c->model->executes, noun, ret_row) : status;
}

/* Traces show what is entered and left. That something was begun or ended meanwhile changes
 * nothing there. */
static bool is_of_sets(const struct writer *w, const struct pm_run_trace_event *event)
{
    return event->flags & PM_RUN_TRACE_MOVED ||
           (event->noun != PM_RUN_TRACE_NONE &&
            pm_run_file_noun(w->file, event->noun)->kind == PM_RUN_AMBIENT_SET);
}

static enum pm_status add_event(struct writer *w, const struct pm_run_trace_event *event)
{
    if (is_of_sets(w, event))
        return PM_OK;
    struct pm_trace_tick tick = {
        .is_leave = event->is_leave,
        .flags = (event->flags & PM_RUN_TRACE_CUT ? PM_TRACE_CUT : 0u) |
                 (event->flags & PM_RUN_TRACE_ON_FOREIGN ? (unsigned)PM_TRACE_FOREIGN : 0u) |
                 (event->flags & PM_RUN_TRACE_SWITCHED ? (unsigned)PM_TRACE_SWITCHED : 0u),
        .ticks = event->tsc > w->start_tsc ? event->tsc - w->start_tsc : 0,
    };
    if (!event->is_leave && event->noun != PM_RUN_TRACE_NONE) {
        tick.sentence = w->names->sentences[event->noun];
    } else if (!event->is_leave) {
        enum pm_status status = unknown_sentence(w->c, &tick.sentence);
        if (status != PM_OK)
            return status;
    }
    if (w->n_events == 0)
        w->first_ticks = w->last_ticks = tick.ticks;
    if (pm_trace_block_n_events(w->block) == 0)
        w->block_first_ticks = w->block_last_ticks =
            tick.ticks > w->last_ticks ? tick.ticks : w->last_ticks;
    w->n_events++;
    w->n_cut += event->flags & PM_RUN_TRACE_CUT ? 1 : 0;
    w->n_enters += !event->is_leave && !(event->flags & (PM_RUN_TRACE_CUT | PM_RUN_TRACE_SWITCHED));
    if (tick.ticks > w->last_ticks)
        w->last_ticks = tick.ticks;
    w->block_last_ticks = w->last_ticks;
    if (!pm_trace_block_add(w->block, &tick))
        return collect_no_memory(w->c);
    return pm_trace_block_n_events(w->block) < EVENTS_PER_BLOCK ? PM_OK : write_block(w);
}

/* What is adopted is no call, and traces have calls only. */
static bool is_cause(const struct writer *w, const struct pm_run_trace_event *event)
{
    return event->noun != PM_RUN_TRACE_NONE && w->names->causes[event->noun] != 0;
}

static enum pm_status write_events(struct writer *w, const char *path, size_t thread)
{
    struct pm_run_trace_cursor *cursor;
    struct pm_run_trace_event event;
    bool has_event = false;
    enum pm_status status = pm_run_trace_open(path, w->file, thread, w->c->err, &cursor);
    if (status != PM_OK)
        return status;
    while ((status = pm_run_trace_next(cursor, w->c->err, &event, &has_event)) == PM_OK &&
           has_event)
        if (!is_cause(w, &event) && (status = add_event(w, &event)) != PM_OK)
            break;
    pm_run_trace_close(cursor);
    return status == PM_OK ? write_block(w) : status;
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

static enum pm_status write_trace(struct writer *w, const char *path, size_t thread,
                                  uint64_t *n_dropped)
{
    struct pm_run_trace_size size = pm_run_trace_size(w->file, thread);
    uint64_t n_calls = n_calls_of(pm_run_file_thread(w->file, thread), w->names);
    bool none = size.n_parts == 0;
    if (none && (n_calls == 0 || pm_run_file_process(w->file)->mode != PM_RUN_MODE_TRACE))
        return PM_OK;
    w->number = 0;
    w->n_events = w->n_enters = w->n_cut = w->n_bytes = 0;
    enum pm_status status = none ? PM_OK : write_events(w, path, thread);
    if (status != PM_OK)
        return status;
    bool is_whole = size.has_begin && size.has_end;
    uint64_t dropped = is_whole || n_calls < w->n_enters ? 0 : n_calls - w->n_enters;
    *n_dropped += dropped;
    sqlite3_stmt *insert = w->insert_trace;
    bind_number(insert, 1, w->thread_row);
    bind_number(insert, 2, w->start_ns);
    bind_number(insert, 3, pm_run_file_process(w->file)->tsc_hz);
    sqlite3_bind_null(insert, 4);
    sqlite3_bind_null(insert, 5);
    if (w->n_events) {
        bind_number(insert, 4, to_ns(w, w->first_ticks));
        bind_number(insert, 5, to_ns(w, w->last_ticks));
    }
    bind_number(insert, 6, w->n_events);
    bind_number(insert, 7, w->n_cut);
    bind_number(insert, 8, dropped);
    bind_number(insert, 9, size.has_begin);
    bind_number(insert, 10, size.has_end);
    bind_number(insert, 11, w->n_bytes);
    return step(w, insert);
}

static enum pm_status prepare(struct writer *w)
{
    struct collector *c = w->c;
    enum pm_status status =
        pm_archive_prepare(c->writer->archive, "INSERT INTO trace_blocks VALUES(?,?,?,?,?,?,?)",
                           c->err, &w->insert_block);
    if (status == PM_OK)
        status = pm_archive_prepare(c->writer->archive,
                                    "INSERT INTO traces VALUES(?,?,?,?,?,?,?,?,?,?,?)", c->err,
                                    &w->insert_trace);
    w->block = pm_trace_block_new();
    return status == PM_OK && !w->block ? collect_no_memory(c) : status;
}

enum pm_status collect_trace(struct collector *c, uint64_t start_tsc, const char *path,
                             const struct pm_run_file *file, uint32_t first_thread,
                             const struct collect_names *names)
{
    struct writer w = {.c = c,
                       .file = file,
                       .names = names,
                       .start_ns = collect_start_ns(start_tsc, file),
                       .start_tsc = pm_run_file_process(file)->start_tsc};
    uint64_t n_dropped = 0, n_calls = 0;
    size_t n_threads = pm_run_file_n_threads(file), i = 0;
    bool has_trace = pm_run_file_process(file)->mode == PM_RUN_MODE_TRACE;
    for (; i < n_threads && !has_trace; i++)
        has_trace = pm_run_trace_size(file, i).n_parts != 0;
    if (!has_trace)
        return PM_OK;
    enum pm_status status = prepare(&w);
    for (i = 0; i < n_threads && status == PM_OK; i++) {
        w.thread_row = first_thread + (uint32_t)i;
        n_calls += n_calls_of(pm_run_file_thread(file, i), names);
        status = write_trace(&w, path, i, &n_dropped);
    }
    if (status == PM_OK && n_dropped)
        collect_warn(c,
                     "the trace of process %u lacks %.1f %% of its calls (%llu of %llu), which are "
                     "in all other results; try --trace-limit, or --trace-keep",
                     pm_run_file_process(file)->pid, 100.0 * (double)n_dropped / (double)n_calls,
                     (unsigned long long)n_dropped, (unsigned long long)n_calls);
    sqlite3_finalize(w.insert_block);
    sqlite3_finalize(w.insert_trace);
    pm_trace_block_free(w.block);
    return status;
}
