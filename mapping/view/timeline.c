#include "timeline.h"

#include "../base/map.h"

#include <stdlib.h>

/* Rows of steps of one level, or blocks of events, that may be read. */
struct part {
    uint64_t first, start_ns, end_ns;
};
struct parts {
    struct part *items;
    uint32_t n, cap;
};

/* What is known of a thread; found when it is first asked for. */
struct line_thread {
    bool is_known;
    struct parts blocks; /* without steps: blocks of events; else rows with the steps of blocks */
    bool has_steps;
    unsigned most_level; /* of steps of several blocks; 0: there are none */
};

struct pm_timeline {
    struct pm_archive *archive;
    struct pm_trace *trace;
    struct pm_trace_messages *messages;
    bool has_table; /* of steps */
    struct line_thread *threads;
    sqlite3_stmt *block, *row; /* data of one */
    struct pm_trace_block *reader;
    struct pm_trace_steps_row of_blocks, of_level;
    int64_t read_thread, read_first; /* what of_blocks has */
    struct pm_trace_shares decoded;
    /* a step that is being added up, by sentence */
    struct pm_map by_sentence; /* 1 + position */
    struct pm_trace_share *sum;
    uint32_t n_sum, sum_cap;
};

static enum pm_status no_memory(struct pm_error *err)
{
    return pm_error_set(err, PM_ERR_MEMORY, "out of memory for a time line");
}

/* --- begin and end --- */

static enum pm_status find_table(struct pm_timeline *line, struct pm_error *err)
{
    sqlite3_stmt *query;
    bool has_row = false;
    enum pm_status status = pm_archive_prepare(
        line->archive,
        "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'trace_steps'", err,
        &query);
    if (status != PM_OK)
        return status;
    status = pm_archive_step(line->archive, query, err, &has_row);
    line->has_table = has_row && sqlite3_column_int(query, 0) == 1;
    sqlite3_finalize(query);
    return status;
}

static enum pm_status open_all(struct pm_timeline *line, const char *path, struct pm_error *err)
{
    enum pm_status status = pm_archive_open(path, err, &line->archive);
    if (status != PM_OK)
        return status;
    status = pm_trace_open(line->archive, err, &line->trace);
    if (status != PM_OK)
        return status;
    status = pm_trace_messages_open(line->trace, line->archive, err, &line->messages);
    if (status != PM_OK)
        return status;
    status = find_table(line, err);
    if (status != PM_OK)
        return status;
    line->threads = pm_alloc_array(pm_trace_n_threads(line->trace) + 1, sizeof *line->threads);
    line->reader = pm_trace_block_new();
    return line->threads && line->reader ? PM_OK : no_memory(err);
}

enum pm_status pm_timeline_open(const char *path, struct pm_error *err,
                                struct pm_timeline **ret_line)
{
    struct pm_timeline *line = pm_alloc(sizeof *line);
    if (!line)
        return no_memory(err);
    line->read_thread = -1;
    enum pm_status status = open_all(line, path, err);
    if (status != PM_OK) {
        pm_timeline_close(line);
        return status;
    }
    *ret_line = line;
    return PM_OK;
}

void pm_timeline_close(struct pm_timeline *line)
{
    if (!line)
        return;
    for (size_t i = 0; line->threads && i < pm_trace_n_threads(line->trace); i++)
        free(line->threads[i].blocks.items);
    free(line->threads);
    sqlite3_finalize(line->block);
    sqlite3_finalize(line->row);
    pm_trace_block_free(line->reader);
    pm_trace_steps_row_release(&line->of_blocks);
    pm_trace_steps_row_release(&line->of_level);
    pm_trace_shares_release(&line->decoded);
    pm_map_release(&line->by_sentence);
    free(line->sum);
    pm_trace_messages_free(line->messages);
    pm_trace_free(line->trace);
    pm_archive_close(line->archive);
    free(line);
}

struct pm_trace *pm_timeline_trace(struct pm_timeline *line)
{
    return line->trace;
}

struct pm_trace_messages *pm_timeline_messages(struct pm_timeline *line)
{
    return line->messages;
}

bool pm_timeline_range(const struct pm_timeline *line, uint64_t *ret_from_ns, uint64_t *ret_to_ns)
{
    uint64_t from = UINT64_MAX, to = 0;
    for (size_t i = 0; i < pm_trace_n_threads(line->trace); i++) {
        const struct pm_trace_thread *thread = pm_trace_thread(line->trace, i);
        if (thread->n_events == 0)
            continue;
        from = thread->start_ns < from ? thread->start_ns : from;
        to = thread->end_ns > to ? thread->end_ns : to;
    }
    *ret_from_ns = from;
    *ret_to_ns = to;
    return from <= to;
}

struct pm_timeline_steps pm_timeline_steps_of(uint64_t from_ns, uint64_t to_ns, uint32_t n_steps)
{
    struct pm_timeline_steps steps = {0};
    PM_ASSERT(n_steps >= 2);
    from_ns = from_ns < INT64_MAX ? from_ns : INT64_MAX;
    to_ns = to_ns < INT64_MAX ? to_ns : INT64_MAX;
    to_ns = to_ns > from_ns ? to_ns : from_ns;
    while ((to_ns >> steps.level) - (from_ns >> steps.level) >= n_steps)
        steps.level++;
    steps.first = from_ns >> steps.level;
    steps.end = (to_ns >> steps.level) + 1;
    return steps;
}

/* --- what there is of a thread --- */

static bool add_part(struct parts *parts, sqlite3_stmt *query)
{
    struct part *items = pm_grow_array(parts->items, parts->n, &parts->cap, 16, sizeof *items);
    if (!items)
        return false;
    parts->items = items;
    uint64_t numbers[3];
    for (int i = 0; i < 3; i++) {
        sqlite3_int64 value = sqlite3_column_int64(query, i);
        numbers[i] = value > 0 ? (uint64_t)value : 0;
    }
    items[parts->n++] = (struct part){numbers[0], numbers[1], numbers[2]};
    return true;
}

static enum pm_status list_parts(struct pm_timeline *line, const char *sql, int64_t thread_row,
                                 const int64_t *numbers, int n_numbers, struct pm_error *err,
                                 struct parts *parts)
{
    sqlite3_stmt *query;
    bool has_row;
    parts->n = 0;
    enum pm_status status = pm_archive_prepare(line->archive, sql, err, &query);
    if (status != PM_OK)
        return status;
    sqlite3_bind_int64(query, 1, thread_row);
    for (int i = 0; i < n_numbers; i++)
        sqlite3_bind_int64(query, i + 2, numbers[i]);
    while ((status = pm_archive_step(line->archive, query, err, &has_row)) == PM_OK && has_row)
        if (!add_part(parts, query)) {
            status = no_memory(err);
            break;
        }
    sqlite3_finalize(query);
    return status;
}

static enum pm_status find_most_level(struct pm_timeline *line, int64_t thread_row,
                                      struct pm_error *err, unsigned *ret_level)
{
    sqlite3_stmt *query;
    bool has_row = false;
    enum pm_status status = pm_archive_prepare(
        line->archive, "SELECT coalesce(max(level), 0) FROM trace_steps WHERE thread = ?1", err,
        &query);
    if (status != PM_OK)
        return status;
    sqlite3_bind_int64(query, 1, thread_row);
    status = pm_archive_step(line->archive, query, err, &has_row);
    int64_t level = has_row ? sqlite3_column_int64(query, 0) : 0;
    *ret_level = level > 0 && level <= PM_TRACE_MAX_LEVEL ? (unsigned)level : 0;
    sqlite3_finalize(query);
    return status;
}

static enum pm_status find_steps(struct pm_timeline *line, struct line_thread *thread, int64_t row,
                                 struct pm_error *err)
{
    if (!line->has_table)
        return PM_OK;
    enum pm_status status = list_parts(
        line,
        "SELECT first, start_ns, end_ns FROM trace_steps WHERE thread = ?1 AND level = 0 "
        "ORDER BY first",
        row, NULL, 0, err, &thread->blocks);
    if (status != PM_OK)
        return status;
    thread->has_steps = thread->blocks.n > 0;
    return find_most_level(line, row, err, &thread->most_level);
}

static enum pm_status know_thread(struct pm_timeline *line, size_t index, struct pm_error *err)
{
    struct line_thread *thread = &line->threads[index];
    int64_t row = pm_trace_thread(line->trace, index)->row;
    if (thread->is_known)
        return PM_OK;
    enum pm_status status = find_steps(line, thread, row, err);
    if (status != PM_OK)
        return status;
    if (!thread->has_steps)
        status = list_parts(line,
                            "SELECT number, start_ns, end_ns FROM trace_blocks WHERE thread = ?1 "
                            "ORDER BY number",
                            row, NULL, 0, err, &thread->blocks);
    if (status != PM_OK)
        return status;
    thread->is_known = true;
    return PM_OK;
}

/* --- adding up --- */

/* Steps of a level, which become wider ones of an answer. */
struct answer {
    struct pm_timeline *line;
    size_t thread;
    struct pm_trace_clock clock;
    const struct pm_timeline_steps *wanted;
    unsigned level;      /* of what is read: that of the answer or a finer one */
    uint64_t first, end; /* in steps of that level */
    uint64_t number;     /* the step that is being added up */
    struct pm_trace_shares *shares;
    struct pm_error *err;
};

static int compare_shares(const void *a_pointer, const void *b_pointer)
{
    const struct pm_trace_share *a = a_pointer, *b = b_pointer;
    return (a->sentence > b->sentence) - (a->sentence < b->sentence);
}

/* The step is complete. */
static bool put_sum(struct answer *a)
{
    struct pm_timeline *line = a->line;
    bool good = true;
    uint32_t n = 0;
    if (line->n_sum == 0)
        return true;
    for (uint32_t i = 0; i < line->n_sum; i++) {
        *pm_map_at(&line->by_sentence, line->sum[i].sentence) = UINT32_MAX;
        line->sum[n++] = line->sum[i];
    }
    qsort(line->sum, n, sizeof *line->sum, compare_shares);
    good = pm_trace_shares_add_step(a->shares, a->number);
    for (uint32_t i = 0; i < n && good; i++)
        good = pm_trace_shares_add(a->shares, line->sum[i].sentence, line->sum[i].ticks);
    line->n_sum = 0;
    return good;
}

static bool add_share(struct pm_timeline *line, const struct pm_trace_share *share)
{
    uint32_t *at = pm_map_at(&line->by_sentence, share->sentence);
    if (!at)
        return false;
    if (*at != 0 && *at != UINT32_MAX) {
        line->sum[*at - 1].ticks += share->ticks;
        return true;
    }
    struct pm_trace_share *sum =
        pm_grow_array(line->sum, line->n_sum, &line->sum_cap, 256, sizeof *sum);
    if (!sum)
        return false;
    line->sum = sum;
    sum[line->n_sum++] = *share;
    *at = line->n_sum;
    return true;
}

/* A step that was read; level: its own. */
static enum pm_status take_step(struct answer *a, unsigned level, const struct pm_trace_shares *of,
                                const struct pm_trace_step *step)
{
    uint64_t number = step->number >> (a->wanted->level - level);
    if (a->line->n_sum && number != a->number && !put_sum(a))
        return no_memory(a->err);
    a->number = number;
    for (uint32_t i = 0; i < step->n; i++)
        if (!add_share(a->line, &of->shares[step->first + i]))
            return no_memory(a->err);
    return PM_OK;
}

static enum pm_status take_steps(struct answer *a, unsigned level, const struct pm_trace_shares *of,
                                 uint32_t first, uint32_t n)
{
    for (uint32_t i = first; i < first + n; i++) {
        enum pm_status status = take_step(a, level, of, &of->steps[i]);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

/* --- blocks --- */

static enum pm_status read_data(struct pm_timeline *line, sqlite3_stmt **query, const char *sql,
                                int64_t thread_row, int64_t level, uint64_t number,
                                struct pm_error *err)
{
    bool has_row = false;
    enum pm_status status = PM_OK;
    if (!*query)
        status = pm_archive_prepare(line->archive, sql, err, query);
    if (status != PM_OK)
        return status;
    sqlite3_reset(*query);
    sqlite3_bind_int64(*query, 1, thread_row);
    sqlite3_bind_int64(*query, 2, (sqlite3_int64)number);
    if (sqlite3_bind_parameter_count(*query) == 3)
        sqlite3_bind_int64(*query, 3, level);
    status = pm_archive_step(line->archive, *query, err, &has_row);
    if (status != PM_OK || has_row)
        return status;
    return pm_error_set(err, PM_ERR_FORMAT, "archive '%s' is damaged: a part of a trace is missing",
                        pm_archive_path(line->archive));
}

static enum pm_status read_row(struct pm_timeline *line, int64_t thread_row, unsigned level,
                               uint64_t first, struct pm_error *err, struct pm_trace_steps_row *row)
{
    static const char sql[] =
        "SELECT data FROM trace_steps WHERE thread = ?1 AND first = ?2 AND level = ?3";
    enum pm_status status = read_data(line, &line->row, sql, thread_row, level, first, err);
    if (status != PM_OK)
        return status;
    status = pm_trace_steps_read(row, sqlite3_column_blob(line->row, 0),
                                 (size_t)sqlite3_column_bytes(line->row, 0), err);
    sqlite3_reset(line->row);
    if (status == PM_ERR_FORMAT)
        pm_error_add(err, "archive '%s' is damaged: steps of the trace of thread %lld",
                     pm_archive_path(line->archive), (long long)thread_row);
    return status;
}

/* Steps of a block from its events, [first, end) of the level that is read. *ticks: the latest time
 * before it; then that of it. */
static enum pm_status take_events(struct answer *a, uint64_t number, uint64_t *ticks,
                                  uint64_t first, uint64_t end)
{
    static const char sql[] = "SELECT data FROM trace_blocks WHERE thread = ?1 AND number = ?2";
    struct pm_timeline *line = a->line;
    const struct pm_trace_stretch stretch = {a->clock, a->level, first, end, *ticks};
    int64_t row = pm_trace_thread(line->trace, a->thread)->row;
    const void *bytes;
    size_t len;
    enum pm_status status = read_data(line, &line->block, sql, row, 0, number, a->err);
    if (status != PM_OK)
        return status;
    status = pm_trace_block_read(line->reader, sqlite3_column_blob(line->block, 0),
                                 (size_t)sqlite3_column_bytes(line->block, 0), a->err);
    sqlite3_reset(line->block);
    if (status != PM_OK)
        return status;
    pm_trace_block_bytes(line->reader, &bytes, &len);
    pm_trace_shares_clear(&line->decoded);
    status = pm_trace_block_shares(bytes, len, &stretch, a->err, &line->decoded, ticks);
    if (status != PM_OK)
        return status;
    return take_steps(a, a->level, &line->decoded, 0, line->decoded.n_steps);
}

static enum pm_status take_piece(struct answer *a, const struct pm_trace_steps_row *row,
                                 uint32_t index, uint64_t first_block, uint64_t first, uint64_t end)
{
    const struct pm_trace_piece *piece = &row->pieces[index];
    uint64_t begins = pm_trace_time_of(&a->clock, piece->begin_ticks) >> a->level;
    uint64_t ends = pm_trace_time_of(&a->clock, piece->end_ticks) >> a->level;
    if (ends < first || begins >= end)
        return PM_OK;
    uint64_t number = first_block + index, ticks = number ? piece->begin_ticks : 0;
    if (piece->level > a->level)
        return take_events(a, number, &ticks, first, end);
    uint32_t i = piece->first_step, n = piece->first_step + piece->n_steps;
    unsigned down = a->level - piece->level;
    while (i < n && row->shares.steps[i].number >> down < first)
        i++;
    while (n > i && row->shares.steps[n - 1].number >> down >= end)
        n--;
    return take_steps(a, piece->level, &row->shares, i, n - i);
}

static bool is_before(const void *item, const void *key)
{
    return ((const struct part *)item)->end_ns < *(const uint64_t *)key;
}

/* When a step begins, from the execution's start. */
static uint64_t begin_of(unsigned level, uint64_t number)
{
    return number > (uint64_t)INT64_MAX >> level ? INT64_MAX : number << level;
}

static enum pm_status take_row_of_blocks(struct answer *a, const struct part *part, uint64_t first,
                                         uint64_t end)
{
    struct pm_timeline *line = a->line;
    enum pm_status status = PM_OK;
    if (line->read_thread != (int64_t)a->thread || line->read_first != (int64_t)part->first) {
        line->read_thread = -1;
        status = read_row(line, pm_trace_thread(line->trace, a->thread)->row, PM_TRACE_OF_BLOCKS,
                          part->first, a->err, &line->of_blocks);
        if (status != PM_OK)
            return status;
        line->read_thread = (int64_t)a->thread;
        line->read_first = (int64_t)part->first;
    }
    for (uint32_t i = 0; i < line->of_blocks.n_pieces; i++) {
        status = take_piece(a, &line->of_blocks, i, part->first, first, end);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

static enum pm_status take_rows_of_blocks(struct answer *a, const struct parts *parts, size_t i,
                                          uint64_t first, uint64_t end)
{
    uint64_t to_ns = begin_of(a->level, end);
    for (; i < parts->n && parts->items[i].start_ns < to_ns; i++) {
        enum pm_status status = take_row_of_blocks(a, &parts->items[i], first, end);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

/* Without steps. The time before the first event of a block is its own, from the latest of the
 * block before, which that one tells. */
static enum pm_status take_all_events(struct answer *a, const struct parts *parts, size_t i,
                                      uint64_t first, uint64_t end)
{
    uint64_t to_ns = begin_of(a->level, end), ticks = 0;
    i -= i > 0;
    if (i > 0)
        ticks = pm_trace_tick_at(&a->clock, parts->items[i - 1].end_ns);
    for (; i < parts->n && pm_trace_time_of(&a->clock, ticks) < to_ns; i++) {
        enum pm_status status = take_events(a, parts->items[i].first, &ticks, first, end);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

/* What blocks have of steps [first, end). */
static enum pm_status take_blocks(struct answer *a, uint64_t first, uint64_t end)
{
    const struct line_thread *thread = &a->line->threads[a->thread];
    const struct parts *parts = &thread->blocks;
    uint64_t from_ns = begin_of(a->level, first);
    size_t i = pm_lower_bound(parts->items, parts->n, sizeof *parts->items, &from_ns, is_before);
    if (first >= end)
        return PM_OK;
    return thread->has_steps ? take_rows_of_blocks(a, parts, i, first, end)
                             : take_all_events(a, parts, i, first, end);
}

/* --- steps of several blocks --- */

/* Those of a row, and what is between them. *at: up to there all is done. */
static enum pm_status take_row(struct answer *a, const struct pm_trace_steps_row *row, uint64_t *at)
{
    for (uint32_t i = 0; i < row->shares.n_steps; i++) {
        const struct pm_trace_step *step = &row->shares.steps[i];
        if (step->number < *at || step->number >= a->end)
            continue;
        enum pm_status status = take_blocks(a, *at, step->number);
        if (status != PM_OK)
            return status;
        status = take_step(a, a->level, &row->shares, step);
        if (status != PM_OK)
            return status;
        *at = step->number + 1;
    }
    return PM_OK;
}

static enum pm_status take_rows(struct answer *a, const struct parts *rows, uint64_t *at)
{
    struct pm_timeline *line = a->line;
    int64_t thread_row = pm_trace_thread(line->trace, a->thread)->row;
    for (uint32_t i = 0; i < rows->n; i++) {
        enum pm_status status =
            read_row(line, thread_row, a->level, rows->items[i].first, a->err, &line->of_level);
        if (status != PM_OK)
            return status;
        status = take_row(a, &line->of_level, at);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

static enum pm_status take_level(struct answer *a)
{
    struct pm_timeline *line = a->line;
    int64_t row = pm_trace_thread(line->trace, a->thread)->row;
    const int64_t numbers[] = {a->level, (int64_t)begin_of(a->level, a->first),
                               (int64_t)begin_of(a->level, a->end)};
    struct parts rows = {0};
    uint64_t at = a->first;
    enum pm_status status =
        list_parts(line,
                   "SELECT first, start_ns, end_ns FROM trace_steps WHERE thread = ?1 AND level = "
                   "?2 AND end_ns > ?3 AND start_ns < ?4 ORDER BY first",
                   row, numbers, 3, a->err, &rows);
    if (status != PM_OK)
        goto out;
    status = take_rows(a, &rows, &at);
    if (status != PM_OK)
        goto out;
    status = take_blocks(a, at, a->end);
out:
    free(rows.items);
    return status;
}

/* The level to read, and which steps of it. */
static void choose_level(struct answer *a)
{
    const struct line_thread *thread = &a->line->threads[a->thread];
    unsigned down = 0;
    a->level = a->wanted->level;
    if (thread->has_steps && thread->most_level && thread->most_level < a->level) {
        down = a->level - thread->most_level;
        a->level = thread->most_level;
    }
    uint64_t most = UINT64_MAX >> down;
    a->first = a->wanted->first > most ? UINT64_MAX : a->wanted->first << down;
    a->end = a->wanted->end > most ? UINT64_MAX : a->wanted->end << down;
}

enum pm_status pm_timeline_shares(struct pm_timeline *line, size_t thread,
                                  const struct pm_timeline_steps *steps, struct pm_error *err,
                                  struct pm_trace_shares *ret_shares)
{
    const struct pm_trace_thread *about = pm_trace_thread(line->trace, thread);
    struct answer a = {.line = line,
                       .thread = thread,
                       .clock = {about->process_start_ns, about->tick_hz},
                       .wanted = steps,
                       .shares = ret_shares,
                       .err = err};
    PM_ASSERT(steps->level <= PM_TRACE_MAX_LEVEL);
    pm_trace_shares_clear(ret_shares);
    line->n_sum = 0;
    pm_map_release(&line->by_sentence);
    enum pm_status status = know_thread(line, thread, err);
    if (status != PM_OK)
        return status;
    choose_level(&a);
    status = line->threads[thread].has_steps ? take_level(&a) : take_blocks(&a, a.first, a.end);
    if (status != PM_OK)
        return status;
    return put_sum(&a) ? PM_OK : no_memory(err);
}

/* --- events --- */

enum pm_status pm_timeline_events(struct pm_timeline *line, size_t thread, uint64_t from_ns,
                                  uint64_t to_ns, uint32_t most, struct pm_error *err,
                                  struct pm_timeline_events *ret_events, bool *ret_fits)
{
    struct pm_trace_cursor *cursor;
    struct pm_trace_event event;
    bool has_event = false, fits = true;
    ret_events->n = 0;
    enum pm_status status = pm_trace_seek(line->trace, thread, from_ns, err, &cursor);
    if (status != PM_OK)
        return status;
    while ((status = pm_trace_next(cursor, err, &event, &has_event)) == PM_OK && has_event &&
           event.time_ns <= to_ns && fits) {
        struct pm_trace_event *items =
            pm_grow_array(ret_events->items, ret_events->n, &ret_events->cap, 256, sizeof *items);
        if (!items) {
            status = no_memory(err);
            break;
        }
        ret_events->items = items;
        fits = ret_events->n < most;
        items[ret_events->n++] = event;
    }
    pm_trace_cursor_free(cursor);
    if (!fits)
        ret_events->n = 0;
    *ret_fits = fits;
    return status;
}
