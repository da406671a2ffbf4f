/* Cells of members, from the file (kept.h). */
#include "kept.h"

#include <math.h>
#include <stdlib.h>

struct reading_all {
    const struct pm_experiment *experiment;
    struct experiment_kept *kept;
    struct pm_error *err;
    struct pm_map position_of; /* member's id -> 1 + position in readings */
    const char **what, **place;
};

static enum pm_status no_memory(const struct reading_all *all)
{
    return pm_error_set(all->err, PM_ERR_MEMORY, "out of memory");
}

static enum pm_status damaged(const struct reading_all *all, const char *what)
{
    return pm_error_set(all->err, PM_ERR_FORMAT, "experiment '%s': %s is damaged",
                        all->experiment->path, what);
}

/* All rows of a statement whose texts are bound. */
static enum pm_status each(const struct reading_all *all, const char *sql, const char *const *texts,
                           int n_texts, int64_t number, pm_database_visit *visit)
{
    struct pm_database *database = all->experiment->own->database;
    sqlite3_stmt *row;
    bool has_row = true;
    enum pm_status status = pm_database_prepare(database, sql, all->err, &row);
    if (status != PM_OK)
        return status;
    for (int i = 0; i < n_texts; i++)
        sqlite3_bind_text(row, i + 1, texts[i], -1, SQLITE_STATIC);
    sqlite3_bind_int64(row, n_texts + 1, number);
    while (!status && has_row) {
        status = pm_database_step(database, row, all->err, &has_row);
        if (!status && has_row)
            status = visit((void *)all, row);
    }
    sqlite3_finalize(row);
    return status;
}

static const char *keep(const struct reading_all *all, sqlite3_stmt *row, int column)
{
    const char *text = pm_database_text(row, column);
    const char *kept = pm_arena_strndup(&all->kept->arena, text, strlen(text));
    return kept ? pm_text_printable(&all->kept->arena, kept) : NULL;
}

/* --- cells --- */

static enum pm_status find_row(struct reading_all *all, int64_t id, uint32_t *ret_row)
{
    struct experiment_kept *kept = all->kept;
    uint32_t *at = pm_map_at(&kept->row_of, (uint64_t)id);
    if (!at)
        return no_memory(all);
    if (!*at) {
        struct experiment_row *rows =
            pm_grow_array(kept->rows, kept->n_rows, &kept->cap_rows, 256, sizeof *rows);
        if (!rows)
            return no_memory(all);
        kept->rows = rows;
        rows[kept->n_rows++] = (struct experiment_row){.id = id};
        *at = kept->n_rows;
    }
    *ret_row = *at - 1;
    return PM_OK;
}

static enum pm_status read_blob(struct reading_all *all, const void *bytes, size_t len,
                                struct experiment_reading *reading)
{
    struct pm_cursor cursor;
    uint32_t last = 0;
    reading->cells = pm_alloc_array(len + 1, sizeof *reading->cells); /* a byte each at least */
    if (!reading->cells)
        return no_memory(all);
    pm_cursor_init(&cursor, bytes, len);
    for (struct experiment_cell cell; experiment_next_cell(&cursor, &last, &cell);) {
        enum pm_status status = find_row(all, cell.row, &cell.row);
        if (status != PM_OK)
            return status;
        reading->cells[reading->n++] = cell;
    }
    return cursor.failed ? damaged(all, "a list of cells") : PM_OK;
}

static enum pm_status read_cells(void *context, sqlite3_stmt *row)
{
    struct reading_all *all = context;
    uint32_t at = pm_map_get(&all->position_of, (uint64_t)sqlite3_column_int64(row, 0));
    if (!at || all->kept->readings[at - 1].is_there)
        return PM_OK;
    struct experiment_reading *reading = &all->kept->readings[at - 1];
    reading->is_there = true;
    reading->total = sqlite3_column_double(row, 1);
    all->kept->is_sampled |= at == 1 && sqlite3_column_int(row, 2);
    const void *bytes = sqlite3_column_blob(row, 3);
    return read_blob(all, bytes ? bytes : "", (size_t)sqlite3_column_bytes(row, 3), reading);
}

static enum pm_status read_run(void *context, sqlite3_stmt *row)
{
    struct reading_all *all = context;
    uint32_t at = pm_map_get(&all->position_of, (uint64_t)sqlite3_column_int64(row, 0));
    if (!at)
        return PM_OK;
    struct experiment_reading *reading = &all->kept->readings[at - 1];
    bool is_known = sqlite3_column_type(row, 1) != SQLITE_NULL;
    reading->slow_down_pct = is_known ? sqlite3_column_double(row, 1) : NAN;
    reading->period_ns = sqlite3_column_int64(row, 2);
    return PM_OK;
}

static enum pm_status read_metric(void *context, sqlite3_stmt *row)
{
    static const char *const words[] = {"sum", "average", "minimum", "maximum"};
    struct reading_all *all = context;
    struct pm_graph_metric *metric = &all->kept->metric;
    *metric = (struct pm_graph_metric){keep(all, row, 0), keep(all, row, 1), keep(all, row, 2),
                                       keep(all, row, 3), PM_SUM};
    for (int i = 0; i < 4; i++)
        if (!strcmp(pm_database_text(row, 4), words[i]))
            metric->aggregation = (enum pm_aggregation)i;
    return metric->name && metric->unit && metric->kind && metric->description ? PM_OK
                                                                               : no_memory(all);
}

/* --- rows --- */

static enum pm_status read_row(void *context, sqlite3_stmt *row)
{
    struct reading_all *all = context;
    uint32_t at = pm_map_get(&all->kept->row_of, (uint64_t)sqlite3_column_int64(row, 0));
    size_t len = (size_t)sqlite3_column_bytes(row, 1);
    if (!at)
        return PM_OK;
    struct experiment_row *to = &all->kept->rows[at - 1];
    if (len % sizeof *to->parts)
        return damaged(all, "a row");
    uint64_t *parts = pm_arena_alloc(&all->kept->arena, len + 1);
    if (!parts)
        return no_memory(all);
    if (len)
        memcpy(parts, sqlite3_column_blob(row, 1), len);
    to->key = (uint64_t)sqlite3_column_int64(row, 2);
    to->parts = parts;
    to->n_parts = (uint32_t)(len / sizeof *to->parts);
    return PM_OK;
}

static enum pm_status read_name(void *context, sqlite3_stmt *row)
{
    struct reading_all *all = context;
    uint32_t at = pm_map_get(&all->kept->row_of, (uint64_t)sqlite3_column_int64(row, 0));
    if (!at)
        return PM_OK;
    all->what[at - 1] = keep(all, row, 1);
    all->place[at - 1] = keep(all, row, 2);
    return all->what[at - 1] && all->place[at - 1] ? PM_OK : no_memory(all);
}

enum pm_status experiment_read_names(const struct pm_experiment *experiment,
                                     struct experiment_kept *kept, int64_t build,
                                     struct pm_error *err, const char **what, const char **place)
{
    struct reading_all all = {
        .experiment = experiment, .kept = kept, .err = err, .what = what, .place = place};
    return each(&all, "SELECT row, what, place FROM names WHERE build = ?", NULL, 0, build,
                read_name);
}

/* --- builds --- */

struct keys {
    const uint64_t *items;
    size_t n;
};

static bool has_key(struct keys keys, uint64_t key)
{
    size_t low = 0, high = keys.n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (keys.items[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < keys.n && keys.items[low] == key;
}

struct constructs {
    struct reading_all all;
    struct keys added, removed;
    bool is_there;
};

static enum pm_status read_keys(const struct reading_all *all, sqlite3_stmt *row, int column,
                                struct keys *ret)
{
    size_t len = (size_t)sqlite3_column_bytes(row, column);
    if (len % sizeof *ret->items)
        return damaged(all, "a list of constructs");
    uint64_t *items = pm_alloc(len + 1);
    if (!items)
        return no_memory(all);
    if (len)
        memcpy(items, sqlite3_column_blob(row, column), len);
    *ret = (struct keys){items, len / sizeof *items};
    return PM_OK;
}

static enum pm_status read_constructs(void *context, sqlite3_stmt *row)
{
    struct constructs *of = context;
    if (of->is_there)
        return PM_OK;
    of->is_there = true;
    enum pm_status status = read_keys(&of->all, row, 0, &of->added);
    return status != PM_OK ? status : read_keys(&of->all, row, 1, &of->removed);
}

static bool has_all(const struct experiment_row *row, const struct constructs *reference,
                    const struct constructs *own)
{
    for (uint32_t i = 0; i < row->n_parts; i++) {
        uint64_t key = row->parts[i];
        bool has = has_key(own->added, key) ||
                   (has_key(reference->added, key) && !has_key(own->removed, key));
        if (!has)
            return false;
    }
    return true;
}

enum pm_status experiment_read_has(const struct pm_experiment *experiment,
                                   const struct experiment_kept *kept, int64_t build,
                                   struct pm_error *err, bool *has)
{
    struct reading_all all = {
        .experiment = experiment, .kept = (struct experiment_kept *)kept, .err = err};
    struct constructs reference = {.all = all}, own = {.all = all};
    enum pm_status status =
        each(&reference.all, "SELECT added, removed FROM constructs ORDER BY build LIMIT ?", NULL,
             0, 1, read_constructs);
    if (!status)
        status = each(&own.all, "SELECT added, removed FROM constructs WHERE build = ?", NULL, 0,
                      build, read_constructs);
    for (uint32_t r = 0; r < kept->n_rows && !status; r++)
        has[r] = has_all(&kept->rows[r], &reference, &own);
    free((void *)reference.added.items);
    free((void *)reference.removed.items);
    free((void *)own.added.items);
    free((void *)own.removed.items);
    return status;
}

/* --- all of it --- */

static enum pm_status read_metric_name(void *context, sqlite3_stmt *row)
{
    struct reading_all *all = context;
    all->kept->metric.name = keep(all, row, 0);
    return all->kept->metric.name ? PM_OK : no_memory(all);
}

static enum pm_status choose_metric(struct reading_all *all, const char *metric)
{
    const struct pm_experiment *experiment = all->experiment;
    struct experiment_kept *kept = all->kept;
    if (metric) {
        kept->metric.name = metric;
        return PM_OK;
    }
    return each(all, "SELECT metric FROM runs WHERE member = ?", NULL, 0,
                experiment->members[kept->members[0]].id, read_metric_name);
}

static enum pm_status read_all(struct reading_all *all, const char *grouping)
{
    struct experiment_kept *kept = all->kept;
    const char *const texts[] = {grouping, kept->metric.name};
    enum pm_status status =
        each(all,
             "SELECT member, total, is_sampled, data FROM cells WHERE grouping = ? AND metric = ? "
             "AND member > ? ORDER BY member",
             texts, 2, 0, read_cells);
    if (!status)
        status = each(all,
                      "SELECT name, unit, kind, description, aggregation FROM metrics WHERE name = "
                      "? LIMIT ?",
                      texts + 1, 1, 1, read_metric);
    if (!status)
        status = each(all, "SELECT member, slow_down_pct, period_ns FROM runs WHERE member > ?",
                      NULL, 0, 0, read_run);
    if (!status)
        status = each(all, "SELECT id, parts, key FROM rows WHERE grouping = ? AND id > ?", texts,
                      1, 0, read_row);
    return status;
}

enum pm_status experiment_read_kept(const struct pm_experiment *experiment, const char *grouping,
                                    const char *metric, const uint32_t *members, uint32_t n,
                                    struct pm_error *err, struct experiment_kept *ret)
{
    struct reading_all all = {.experiment = experiment, .kept = ret, .err = err};
    *ret = (struct experiment_kept){.members = members, .n = n};
    ret->readings = pm_alloc_array((size_t)n + 1, sizeof *ret->readings);
    bool good = ret->readings != NULL;
    for (uint32_t i = 0; i < n && good; i++) {
        ret->readings[i].slow_down_pct = NAN;
        good = pm_map_put(&all.position_of, (uint64_t)experiment->members[members[i]].id, i + 1);
    }
    enum pm_status status = good ? choose_metric(&all, metric) : no_memory(&all);
    if (!status && ret->metric.name)
        status = read_all(&all, grouping);
    ret->is_whole = !status && ret->metric.unit;
    for (uint32_t i = 0; i < n; i++)
        ret->is_whole &= good && ret->readings[i].is_there;
    pm_map_release(&all.position_of);
    if (status != PM_OK)
        experiment_kept_release(ret);
    return status;
}

void experiment_kept_release(struct experiment_kept *kept)
{
    for (uint32_t i = 0; kept->readings && i < kept->n; i++)
        free(kept->readings[i].cells);
    free(kept->readings);
    free(kept->rows);
    pm_map_release(&kept->row_of);
    pm_arena_release(&kept->arena);
    *kept = (struct experiment_kept){0};
}
