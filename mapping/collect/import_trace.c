#include "import_trace.h"

#include "collector.h"
#include "writer.h"

#include "mapping/archive/archive.h"
#include "mapping/archive/trace_block.h"
#include "mapping/archive/trace_steps.h"

#include <stdlib.h>

enum { EVENTS_PER_BLOCK = 65536 };

/* Ticks are nanoseconds since the execution's start. */
static const struct pm_trace_clock clock_of_imports = {.start_ns = 0, .tick_hz = 1000000000};

struct import_trace {
    struct collector *c;
    sqlite3_stmt *insert_block, *insert_trace, *insert_steps;
    struct pm_trace_block *block, *done;
    struct pm_trace_packer *packer;
    struct pm_trace_steps_writer *steps; /* of the thread */
    struct pm_trace_shares shares;
    uint32_t thread; /* 0: none yet */
    uint32_t number; /* of the next block */
    uint64_t n_events, n_bytes, first_ns, last_ns;
};

struct import_trace *import_trace_new(struct collector *c)
{
    struct import_trace *trace = pm_alloc(sizeof *trace);
    if (!trace)
        return NULL;
    *trace = (struct import_trace){.c = c,
                                   .block = pm_trace_block_new(),
                                   .done = pm_trace_block_new(),
                                   .packer = pm_trace_packer_new()};
    if (trace->block && trace->done && trace->packer)
        return trace;
    import_trace_free(trace);
    return NULL;
}

void import_trace_free(struct import_trace *trace)
{
    if (!trace)
        return;
    sqlite3_finalize(trace->insert_block);
    sqlite3_finalize(trace->insert_trace);
    sqlite3_finalize(trace->insert_steps);
    pm_trace_block_free(trace->block);
    pm_trace_block_free(trace->done);
    pm_trace_packer_free(trace->packer);
    pm_trace_steps_writer_free(trace->steps);
    pm_trace_shares_release(&trace->shares);
    free(trace);
}

static enum pm_status step(struct import_trace *trace, sqlite3_stmt *insert)
{
    int code = sqlite3_step(insert);
    sqlite3_reset(insert);
    if (code != SQLITE_DONE)
        return pm_archive_error(trace->c->writer->archive, trace->c->err);
    sqlite3_clear_bindings(insert);
    return PM_OK;
}

static enum pm_status put_steps(void *context, unsigned level, uint64_t first, uint64_t start_ns,
                                uint64_t end_ns, const void *data, size_t len, struct pm_error *err)
{
    struct import_trace *trace = context;
    sqlite3_stmt *insert = trace->insert_steps;
    (void)err;
    bind_number(insert, 1, trace->thread);
    bind_number(insert, 2, level);
    bind_number(insert, 3, first);
    bind_number(insert, 4, start_ns);
    bind_number(insert, 5, end_ns);
    sqlite3_bind_blob64(insert, 6, data, len, SQLITE_STATIC);
    return step(trace, insert);
}

/* Whose time the block was that was packed last. */
static enum pm_status add_steps(struct import_trace *trace,
                                const struct pm_trace_block_about *about)
{
    struct pm_trace_piece piece = {.n_events = about->n_events};
    const void *bytes;
    size_t len;
    piece.begin_ticks = about->before_ticks ? about->before_ticks : about->first_ticks;
    piece.level = pm_trace_level_of(&clock_of_imports, about->latest_ticks > piece.begin_ticks
                                                           ? about->latest_ticks - piece.begin_ticks
                                                           : 0);
    const struct pm_trace_stretch stretch = {.clock = clock_of_imports,
                                             .level = piece.level,
                                             .end_step = UINT64_MAX,
                                             .before_ticks = about->before_ticks};
    pm_trace_packer_bytes(trace->packer, &bytes, &len);
    pm_trace_shares_clear(&trace->shares);
    enum pm_status status = pm_trace_block_shares(bytes, len, &stretch, trace->c->err,
                                                  &trace->shares, &piece.end_ticks);
    if (status != PM_OK)
        return status;
    piece.n_steps = trace->shares.n_steps;
    return pm_trace_steps_add(trace->steps, &piece, &trace->shares, trace->c->err);
}

static enum pm_status write_block(struct import_trace *trace)
{
    const struct pm_trace_block_about about = pm_trace_block_about(trace->block);
    sqlite3_stmt *insert = trace->insert_block;
    const void *data;
    size_t len;
    if (!about.n_events)
        return PM_OK;
    if (!pm_trace_block_hand_over(trace->block, trace->done))
        return collect_no_memory(trace->c);
    enum pm_status status =
        pm_trace_block_pack(trace->done, trace->packer, trace->c->err, &data, &len);
    if (status != PM_OK)
        return status;
    uint64_t first_ns = trace->n_events ? trace->last_ns : about.first_ticks;
    trace->first_ns = trace->n_events ? trace->first_ns : first_ns;
    trace->last_ns = about.latest_ticks;
    trace->n_events += about.n_events;
    trace->n_bytes += len;
    bind_number(insert, 1, trace->thread);
    bind_number(insert, 2, trace->number++);
    bind_number(insert, 3, about.first_ticks > first_ns ? about.first_ticks : first_ns);
    bind_number(insert, 4, about.latest_ticks);
    bind_number(insert, 5, about.n_events);
    bind_number(insert, 6, about.n_open);
    sqlite3_bind_blob64(insert, 7, data, len, SQLITE_STATIC);
    status = step(trace, insert);
    return status != PM_OK ? status : add_steps(trace, &about);
}

enum pm_status import_trace_end(struct import_trace *trace)
{
    sqlite3_stmt *insert = trace->insert_trace;
    if (!trace->thread)
        return PM_OK;
    enum pm_status status = write_block(trace);
    if (status != PM_OK)
        return status;
    status = pm_trace_steps_end(trace->steps, trace->c->err);
    if (status != PM_OK)
        return status;
    bind_number(insert, 1, trace->thread);
    bind_number(insert, 2, clock_of_imports.start_ns);
    bind_number(insert, 3, clock_of_imports.tick_hz);
    bind_number(insert, 4, trace->first_ns);
    bind_number(insert, 5, trace->last_ns);
    bind_number(insert, 6, trace->n_events);
    bind_number(insert, 7, 0);
    bind_number(insert, 8, 0);
    bind_number(insert, 9, 1);
    bind_number(insert, 10, 1);
    bind_number(insert, 11, trace->n_bytes);
    trace->thread = 0;
    return step(trace, insert);
}

static enum pm_status prepare(struct import_trace *trace)
{
    static const char *const texts[] = {"INSERT INTO trace_blocks VALUES(?,?,?,?,?,?,?)",
                                        "INSERT INTO traces VALUES(?,?,?,?,?,?,?,?,?,?,?)",
                                        "INSERT INTO trace_steps VALUES(?,?,?,?,?,?)"};
    sqlite3_stmt **const places[] = {&trace->insert_block, &trace->insert_trace,
                                     &trace->insert_steps};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        enum pm_status status =
            pm_archive_prepare(trace->c->writer->archive, texts[i], trace->c->err, places[i]);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

static enum pm_status begin_thread(struct import_trace *trace, uint32_t thread)
{
    enum pm_status status = trace->insert_block ? PM_OK : prepare(trace);
    if (status != PM_OK)
        return status;
    status = import_trace_end(trace);
    if (status != PM_OK)
        return status;
    pm_trace_block_free(trace->block);
    pm_trace_steps_writer_free(trace->steps);
    trace->block = pm_trace_block_new();
    trace->steps = pm_trace_steps_writer_new(&clock_of_imports, put_steps, trace);
    trace->thread = thread;
    trace->number = 0;
    trace->n_events = trace->n_bytes = 0;
    return trace->block && trace->steps ? PM_OK : collect_no_memory(trace->c);
}

enum pm_status import_trace_add(struct import_trace *trace, uint32_t thread, uint64_t time_ns,
                                uint32_t sentence)
{
    const struct pm_trace_tick tick = {
        .is_leave = sentence == 0, .sentence = sentence, .ticks = time_ns};
    if (thread != trace->thread) {
        enum pm_status status = begin_thread(trace, thread);
        if (status != PM_OK)
            return status;
    }
    if (!pm_trace_block_add(trace->block, &tick))
        return collect_no_memory(trace->c);
    bool is_full = pm_trace_block_about(trace->block).n_events >= EVENTS_PER_BLOCK;
    return is_full ? write_block(trace) : PM_OK;
}
