#include "trace.h"

#include "../base/arena.h"
#include "../base/map.h"
#include "trace_shares.h"

#include <stdlib.h>

struct pm_trace {
    struct pm_archive *archive;
    struct pm_arena arena;
    struct pm_trace_thread *threads;
    size_t n_threads, threads_cap;
    sqlite3_stmt *source_name, *code_name, *nouns;
    struct pm_map by_sentence; /* row -> position + 1 */
    struct pm_trace_name **names;
    size_t n_names, names_cap;
    int64_t run_ns;
};

struct pm_trace_cursor {
    struct pm_trace *trace;
    const struct pm_trace_thread *thread;
    sqlite3_stmt *blocks;
    struct pm_trace_block *block;
    uint64_t from_ns;
    uint64_t latest_ticks; /* of all events so far */
    uint32_t depth;        /* events at this depth or deeper do not come out ... */
    uint64_t until_ticks;  /* ... until then */
    size_t open_at;        /* the next frame to tell of */
    bool has_begun;        /* all frames that are open at from_ns were told */
    bool has_block;
};

static enum pm_status no_memory(struct pm_error *err)
{
    return pm_error_set(err, PM_ERR_MEMORY, "out of memory for traces");
}

static const char *keep(struct pm_trace *trace, sqlite3_stmt *row, int column)
{
    const char *text = pm_archive_text(row, column);
    return pm_arena_strndup(&trace->arena, text, strlen(text));
}

static uint64_t count(sqlite3_stmt *row, int column)
{
    sqlite3_int64 value = sqlite3_column_int64(row, column);
    return value > 0 ? (uint64_t)value : 0;
}

static enum pm_status read_thread(struct pm_trace *trace, sqlite3_stmt *row, struct pm_error *err)
{
    if (trace->n_threads == trace->threads_cap) {
        size_t cap = trace->threads_cap ? trace->threads_cap * 2 : 16;
        struct pm_trace_thread *threads = pm_realloc_array(trace->threads, cap, sizeof *threads);
        if (!threads)
            return no_memory(err);
        trace->threads = threads;
        trace->threads_cap = cap;
    }
    struct pm_trace_thread *thread = &trace->threads[trace->n_threads];
    *thread = (struct pm_trace_thread){
        .row = sqlite3_column_int64(row, 0),
        .process_row = sqlite3_column_int64(row, 1),
        .pid = sqlite3_column_int64(row, 2),
        .tid = sqlite3_column_int64(row, 3),
        .name = keep(trace, row, 4),
        .exe = keep(trace, row, 5),
        .process_start_ns = count(row, 6),
        .tick_hz = count(row, 7),
        .start_ns = count(row, 8),
        .end_ns = count(row, 9),
        .n_events = count(row, 10),
        .n_cut = count(row, 11),
        .n_dropped_calls = count(row, 12),
        .has_begin = sqlite3_column_int(row, 13),
        .has_end = sqlite3_column_int(row, 14),
        .rank = sqlite3_column_int64(row, 15),
        .node = keep(trace, row, 16),
    };
    if (!thread->name || !thread->exe || !thread->node)
        return no_memory(err);
    if (thread->tick_hz == 0)
        return pm_error_set(err, PM_ERR_FORMAT,
                            "archive '%s' is damaged: the trace of thread %lld has no clock rate",
                            pm_archive_path(trace->archive), (long long)thread->row);
    trace->n_threads++;
    return PM_OK;
}

static enum pm_status read_threads(struct pm_trace *trace, struct pm_error *err)
{
    sqlite3_stmt *rows;
    bool has_row = true;
    enum pm_status status = pm_archive_prepare(
        trace->archive,
        "SELECT t.id, p.id, p.pid, t.tid, t.name, p.exe, r.process_start_ns, r.tick_hz, "
        "r.start_ns, "
        "r.end_ns, r.n_events, r.n_cut, r.n_dropped_calls, r.has_begin, r.has_end, "
        "coalesce((SELECT rank FROM ranks WHERE process = p.id), -1), coalesce((SELECT node FROM "
        "nodes WHERE process = p.id), (SELECT host FROM executions WHERE id = p.execution)) FROM "
        "traces r JOIN threads t ON t.id = r.thread JOIN processes p ON p.id = t.process ORDER BY "
        "t.id",
        err, &rows);
    if (status != PM_OK)
        return status;
    while ((status = pm_archive_step(trace->archive, rows, err, &has_row)) == PM_OK && has_row)
        if ((status = read_thread(trace, rows, err)) != PM_OK)
            break;
    sqlite3_finalize(rows);
    return status;
}

static enum pm_status read_run(struct pm_trace *trace, struct pm_error *err)
{
    sqlite3_stmt *row;
    bool has_row = false;
    enum pm_status status = pm_archive_prepare(
        trace->archive, "SELECT coalesce(max(wall_ns), 0) FROM executions", err, &row);
    if (status != PM_OK)
        return status;
    status = pm_archive_step(trace->archive, row, err, &has_row);
    trace->run_ns = has_row ? sqlite3_column_int64(row, 0) : 0;
    sqlite3_finalize(row);
    return status;
}

static const char source_name_sql[] =
    "SELECT n.name, n.kind, n.file, n.line, l.name, v.name FROM mappings m JOIN sentences s ON "
    "s.id "
    "= m.destination JOIN verbs v ON v.id = s.verb JOIN levels l ON l.id = v.level JOIN "
    "temp.nouns_in_full n ON n.id = s.noun WHERE m.source = ? AND n.kind IN ('function', 'loop') "
    "ORDER BY s.id";
static const char code_name_sql[] =
    "SELECT n.name || (SELECT coalesce(group_concat(name, ''), '') FROM (SELECT ', ' || o.name AS "
    "name FROM sentence_nouns k JOIN temp.nouns_in_full o ON o.id = k.noun WHERE k.sentence = s.id "
    "ORDER BY k.position)) || CASE v.name WHEN 'Executes' THEN '' ELSE ' ' || v.name END, n.kind, "
    "n.file, n.line, l.name, v.name FROM sentences s JOIN verbs v ON v.id = s.verb JOIN levels l "
    "ON "
    "l.id = v.level JOIN temp.nouns_in_full n ON n.id = s.noun WHERE s.id = ?";
static const char nouns_sql[] =
    "SELECT n.kind, n.name FROM (SELECT noun, -1 AS position FROM sentences WHERE id = ?1 UNION "
    "ALL "
    "SELECT noun, position FROM sentence_nouns WHERE sentence = ?1) k JOIN temp.nouns_in_full n ON "
    "n.id = k.noun ORDER BY k.position";

static enum pm_status prepare_names(struct pm_trace *trace, struct pm_error *err)
{
    const struct {
        const char *sql;
        sqlite3_stmt **ret_query;
    } queries[] = {{source_name_sql, &trace->source_name},
                   {code_name_sql, &trace->code_name},
                   {nouns_sql, &trace->nouns}};
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        enum pm_status status =
            pm_archive_prepare(trace->archive, queries[i].sql, err, queries[i].ret_query);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

enum pm_status pm_trace_open(struct pm_archive *archive, struct pm_error *err,
                             struct pm_trace **ret_trace)
{
    struct pm_trace *trace = pm_alloc(sizeof *trace);
    if (!trace)
        return no_memory(err);
    trace->archive = archive;
    enum pm_status status = read_threads(trace, err);
    if (status != PM_OK)
        goto out;
    status = read_run(trace, err);
    if (status != PM_OK)
        goto out;
    status = prepare_names(trace, err);
    if (status != PM_OK)
        goto out;
    *ret_trace = trace;
    return PM_OK;
out:
    pm_trace_free(trace);
    return status;
}

void pm_trace_free(struct pm_trace *trace)
{
    if (!trace)
        return;
    sqlite3_finalize(trace->source_name);
    sqlite3_finalize(trace->code_name);
    sqlite3_finalize(trace->nouns);
    pm_map_release(&trace->by_sentence);
    free(trace->names);
    free(trace->threads);
    pm_arena_release(&trace->arena);
    free(trace);
}

size_t pm_trace_n_threads(const struct pm_trace *trace)
{
    return trace->n_threads;
}

int64_t pm_trace_run_ns(const struct pm_trace *trace)
{
    return trace->run_ns;
}

const struct pm_trace_thread *pm_trace_thread(const struct pm_trace *trace, size_t index)
{
    PM_ASSERT(index < trace->n_threads);
    return &trace->threads[index];
}

/* --- names --- */

/* Names of loops are places: the folder is left out, file has it. */
static const char *without_folder(const char *name, const char *file)
{
    size_t len = strlen(file);
    const char *slash = strrchr(file, '/');
    return slash && strncmp(name, file, len) == 0 ? name + (slash + 1 - file) : name;
}

/* Steps the query; *name stays as it is when it has no row. */
static enum pm_status take_name(struct pm_trace *trace, sqlite3_stmt *query, uint32_t sentence,
                                struct pm_error *err, struct pm_trace_name *name)
{
    bool has_row = false;
    sqlite3_bind_int64(query, 1, sentence);
    enum pm_status status = pm_archive_step(trace->archive, query, err, &has_row);
    if (status == PM_OK && has_row) {
        name->name = keep(trace, query, 0);
        name->kind = keep(trace, query, 1);
        name->file = keep(trace, query, 2);
        name->line_no = sqlite3_column_int64(query, 3);
        name->level = keep(trace, query, 4);
        name->verb = keep(trace, query, 5);
        if (!name->name || !name->kind || !name->file || !name->level || !name->verb)
            status = no_memory(err);
        else
            name->name = without_folder(name->name, name->file);
    }
    while (status == PM_OK && has_row &&
           (status = pm_archive_step(trace->archive, query, err, &has_row)) == PM_OK && has_row)
        name->n_others++;
    sqlite3_reset(query);
    return status;
}

/* Code is level Base, and executes. */
static bool is_code(const struct pm_trace_name *name)
{
    return !strcmp(name->verb, "Executes") &&
           (!strcmp(name->level, "Base") || !strcmp(name->level, "Source"));
}

static enum pm_status take_nouns(struct pm_trace *trace, uint32_t sentence, struct pm_error *err,
                                 struct pm_trace_name *name)
{
    enum { MAX_NOUNS = 64 };
    bool has_row = true;
    enum pm_status status = PM_OK;
    if (is_code(name))
        return PM_OK;
    struct pm_trace_noun *nouns = pm_arena_alloc(&trace->arena, MAX_NOUNS * sizeof *nouns);
    if (!nouns)
        return no_memory(err);
    name->nouns = nouns;
    sqlite3_bind_int64(trace->nouns, 1, sentence);
    while (name->n_nouns < MAX_NOUNS) {
        status = pm_archive_step(trace->archive, trace->nouns, err, &has_row);
        if (status != PM_OK || !has_row)
            break;
        struct pm_trace_noun noun = {keep(trace, trace->nouns, 0), keep(trace, trace->nouns, 1)};
        if (!noun.kind || !noun.name) {
            status = no_memory(err);
            break;
        }
        nouns[name->n_nouns++] = noun;
    }
    sqlite3_reset(trace->nouns);
    return status;
}

static enum pm_status find_name(struct pm_trace *trace, uint32_t sentence, struct pm_error *err,
                                struct pm_trace_name **ret_name)
{
    if (trace->n_names == trace->names_cap) {
        size_t cap = trace->names_cap ? trace->names_cap * 2 : 64;
        struct pm_trace_name **names = pm_realloc_array(trace->names, cap, sizeof *names);
        if (!names)
            return no_memory(err);
        trace->names = names;
        trace->names_cap = cap;
    }
    struct pm_trace_name *name = pm_arena_alloc(&trace->arena, sizeof *name);
    if (!name || !pm_map_put(&trace->by_sentence, sentence, (uint32_t)trace->n_names + 1))
        return no_memory(err);
    *name = (struct pm_trace_name){0};
    enum pm_status status = take_name(trace, trace->source_name, sentence, err, name);
    if (status == PM_OK && !name->name)
        status = take_name(trace, trace->code_name, sentence, err, name);
    if (status == PM_OK && !name->name)
        status =
            pm_error_set(err, PM_ERR_FORMAT,
                         "archive '%s' is damaged: an event has sentence %u, which is not there",
                         pm_archive_path(trace->archive), sentence);
    if (status == PM_OK)
        status = take_nouns(trace, sentence, err, name);
    trace->names[trace->n_names++] = name;
    *ret_name = name;
    return status;
}

const struct pm_trace_name *pm_trace_name(struct pm_trace *trace, uint32_t sentence,
                                          struct pm_error *err)
{
    uint32_t position = pm_map_get(&trace->by_sentence, sentence);
    struct pm_trace_name *name = NULL;
    if (position)
        return trace->names[position - 1];
    return find_name(trace, sentence, err, &name) == PM_OK ? name : NULL;
}

/* --- events --- */

static struct pm_trace_clock clock_of(const struct pm_trace_thread *thread)
{
    return (struct pm_trace_clock){thread->process_start_ns, thread->tick_hz};
}

static uint64_t to_ns(const struct pm_trace_thread *thread, uint64_t ticks)
{
    const struct pm_trace_clock since_zero = {.tick_hz = thread->tick_hz};
    return pm_trace_time_of(&since_zero, ticks);
}

static uint64_t time_of(const struct pm_trace_thread *thread, uint64_t ticks)
{
    const struct pm_trace_clock clock = clock_of(thread);
    return pm_trace_time_of(&clock, ticks);
}

enum pm_status pm_trace_seek(struct pm_trace *trace, size_t thread, uint64_t from_ns,
                             struct pm_error *err, struct pm_trace_cursor **ret_cursor)
{
    struct pm_trace_cursor *cursor = pm_alloc(sizeof *cursor);
    PM_ASSERT(thread < trace->n_threads);
    if (!cursor)
        return no_memory(err);
    *cursor = (struct pm_trace_cursor){.trace = trace,
                                       .thread = &trace->threads[thread],
                                       .from_ns = from_ns,
                                       .depth = UINT32_MAX,
                                       .block = pm_trace_block_new()};
    enum pm_status status = cursor->block ? PM_OK : no_memory(err);
    if (status == PM_OK)
        status =
            pm_archive_prepare(trace->archive,
                               "SELECT data, number FROM trace_blocks WHERE thread = ?1 AND "
                               "number >= coalesce((SELECT min(number) FROM trace_blocks "
                               "WHERE thread = ?1 AND end_ns >= ?2), 0x7fffffff) ORDER BY number",
                               err, &cursor->blocks);
    if (status == PM_OK) {
        sqlite3_bind_int64(cursor->blocks, 1, cursor->thread->row);
        sqlite3_bind_int64(cursor->blocks, 2,
                           from_ns > INT64_MAX ? INT64_MAX : (sqlite3_int64)from_ns);
        *ret_cursor = cursor;
    } else {
        pm_trace_cursor_free(cursor);
    }
    return status;
}

void pm_trace_cursor_free(struct pm_trace_cursor *cursor)
{
    if (!cursor)
        return;
    sqlite3_finalize(cursor->blocks);
    pm_trace_block_free(cursor->block);
    free(cursor);
}

static enum pm_status next_block(struct pm_trace_cursor *cursor, struct pm_error *err)
{
    enum pm_status status =
        pm_archive_step(cursor->trace->archive, cursor->blocks, err, &cursor->has_block);
    if (status != PM_OK || !cursor->has_block)
        return status;
    const void *data = sqlite3_column_blob(cursor->blocks, 0);
    int len = sqlite3_column_bytes(cursor->blocks, 0);
    status = pm_trace_block_read(cursor->block, data ? data : "", data ? (size_t)len : 0, err);
    if (status == PM_ERR_FORMAT)
        pm_error_add(err, "archive '%s' is damaged: block %lld of the trace of thread %lld",
                     pm_archive_path(cursor->trace->archive),
                     (long long)sqlite3_column_int64(cursor->blocks, 1),
                     (long long)cursor->thread->row);
    return status;
}

static void make_event(const struct pm_trace_cursor *cursor, const struct pm_trace_tick *tick,
                       unsigned flags, struct pm_trace_event *event)
{
    const struct pm_trace_thread *thread = cursor->thread;
    uint64_t ticks = flags & PM_TRACE_BEFORE ? tick->ticks : cursor->latest_ticks;
    *event = (struct pm_trace_event){.is_leave = tick->is_leave,
                                     .flags = tick->flags | flags,
                                     .sentence = tick->sentence,
                                     .depth = tick->depth,
                                     .time_ns = time_of(thread, ticks)};
    if (!tick->is_leave)
        return;
    event->enter_ns = time_of(thread, tick->enter_ticks);
    event->spent_ns = to_ns(thread, tick->spent_ticks);
}

/* Up to the first event at from_ns or later. */
static enum pm_status skip(struct pm_trace_cursor *cursor, struct pm_error *err)
{
    struct pm_trace_tick tick;
    bool has_event;
    uint64_t ticks;
    for (;;) {
        enum pm_status status = PM_OK;
        if (!cursor->has_block && (status = next_block(cursor, err)) != PM_OK)
            return status;
        if (!cursor->has_block)
            return PM_OK;
        while (pm_trace_block_peek(cursor->block, &ticks)) {
            if (time_of(cursor->thread, ticks) >= cursor->from_ns)
                return PM_OK;
            if ((status = pm_trace_block_next(cursor->block, err, &tick, &has_event)) != PM_OK)
                return status;
        }
        if ((status = pm_trace_block_next(cursor->block, err, &tick, &has_event)) != PM_OK)
            return status;
        cursor->has_block = false;
    }
}

/* Calls that are open at from_ns. */
static bool next_open(struct pm_trace_cursor *cursor, struct pm_trace_event *ret_event)
{
    struct pm_trace_tick tick;
    while (cursor->has_block && pm_trace_block_open_frame(cursor->block, cursor->open_at, &tick)) {
        cursor->open_at++;
        if (tick.depth >= cursor->depth)
            continue;
        make_event(cursor, &tick, PM_TRACE_BEFORE, ret_event);
        return true;
    }
    return false;
}

enum pm_status pm_trace_next(struct pm_trace_cursor *cursor, struct pm_error *err,
                             struct pm_trace_event *ret_event, bool *ret_has_event)
{
    struct pm_trace_tick tick;
    enum pm_status status = PM_OK;
    if (!cursor->has_begun && cursor->open_at == 0)
        status = skip(cursor, err);
    if (status != PM_OK)
        return status;
    *ret_has_event = !cursor->has_begun && next_open(cursor, ret_event);
    if (*ret_has_event)
        return PM_OK;
    cursor->has_begun = true;
    for (;;) {
        while (cursor->has_block) {
            status = pm_trace_block_next(cursor->block, err, &tick, ret_has_event);
            if (status != PM_OK)
                return status;
            if (!*ret_has_event)
                break;
            if (tick.ticks > cursor->latest_ticks)
                cursor->latest_ticks = tick.ticks;
            if (tick.depth >= cursor->depth && cursor->latest_ticks <= cursor->until_ticks)
                continue;
            make_event(cursor, &tick, 0, ret_event);
            return PM_OK;
        }
        if ((status = next_block(cursor, err)) != PM_OK || !cursor->has_block) {
            *ret_has_event = false;
            return status;
        }
    }
}

/* The last tick whose time is not later. */
static uint64_t last_tick_at(const struct pm_trace_thread *thread, uint64_t ns)
{
    if (ns < thread->process_start_ns)
        return 0;
    unsigned __int128 ticks = (unsigned __int128)(ns - thread->process_start_ns) + 1;
    ticks = (ticks * thread->tick_hz - 1) / 1000000000u;
    return ticks > UINT64_MAX ? UINT64_MAX : (uint64_t)ticks;
}

void pm_trace_leave_out(struct pm_trace_cursor *cursor, uint32_t depth, uint64_t until_ns)
{
    cursor->depth = depth;
    cursor->until_ticks = last_tick_at(cursor->thread, until_ns);
}
