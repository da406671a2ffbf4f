/* From an archive to cells (cells.h). */
#include "cells.h"

#include "format/pm_id.h"
#include "mapping/compare/rows.h"
#include "mapping/view/groupings.h"

#include <stdlib.h>

const enum pm_view_by experiment_groupings[EXPERIMENT_N_GROUPINGS] = {
    PM_VIEW_BY_FUNCTION, PM_VIEW_BY_LOOP, PM_VIEW_BY_STATEMENT, PM_VIEW_BY_ARRAY};

/* What is known of builds and rows while archives are added. */
struct experiment_known {
    struct pm_build reference, other; /* other: the last one that was met */
    int64_t reference_id, other_id;   /* 0: not known yet */
    struct pm_map rows;               /* hash of grouping and key -> id */
    struct pm_map names;              /* hash of row and build -> 1 */
    uint32_t n_rows;
    bool is_loaded, has_reference;
};

/* One archive that is being added. */
struct lifting {
    struct pm_experiment *experiment;
    struct experiment_known *known;
    struct pm_error *err;
    const struct experiment_archive *archive;
    struct pm_view *view;
    const char *grouping;
    struct pm_view_key_names names;
    const struct pm_view_key_names *names_or_none;
    uint32_t *ids;   /* of the view's rows */
    uint32_t *order; /* of these rows, by id */
};

static enum pm_status no_memory(const struct lifting *l)
{
    return pm_error_set(l->err, PM_ERR_MEMORY, "out of memory");
}

struct pm_view_options experiment_view_options(enum pm_view_by by)
{
    return (struct pm_view_options){.level = "source", .by = by, .folds = true};
}

/* --- builds --- */

static int compare_keys(const void *a_pointer, const void *b_pointer)
{
    uint64_t a = *(const uint64_t *)a_pointer, b = *(const uint64_t *)b_pointer;
    return (a > b) - (a < b);
}

/* Keys of all that a build has, as the reference names it; sorted, each once. false: memory. */
static bool find_constructs(const struct pm_build *build, const struct pm_build *reference,
                            uint64_t **ret_keys, size_t *ret_n)
{
    size_t n = 0, most = build->constructs.n + build->n_fines + reference->n_fines + 1;
    uint64_t *keys = pm_alloc_array(most, sizeof *keys);
    if (!keys)
        return false;
    for (size_t i = 0; i < build->constructs.size; i++)
        if (build->constructs.slots[i].row)
            keys[n++] = build->constructs.slots[i].key;
    for (uint32_t i = 0; i < reference->n_fines; i++)
        if (build == reference || build->is_matched[i])
            keys[n++] = reference->fines[i].key;
    for (uint32_t i = 0; i < build->n_fines && build != reference; i++)
        if (build->is_apart[i])
            keys[n++] = build->fines[i].key;
    qsort(keys, n, sizeof *keys, compare_keys);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (!kept || keys[kept - 1] != keys[i])
            keys[kept++] = keys[i];
    *ret_keys = keys;
    *ret_n = kept;
    return true;
}

/* What of a is not in b; both sorted. */
static void add_missing(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b,
                        struct pm_buf *out)
{
    for (size_t i = 0, k = 0; i < n_a; i++) {
        while (k < n_b && b[k] < a[i])
            k++;
        if (k == n_b || b[k] != a[i])
            pm_buf_add(out, &a[i], sizeof a[i]);
    }
}

static enum pm_status write_constructs(struct lifting *l, int64_t id, const struct pm_build *build,
                                       const struct pm_buf *added, const struct pm_buf *removed)
{
    sqlite3_stmt *row;
    bool has_row;
    struct pm_database *database = l->experiment->own->database;
    enum pm_status status = pm_database_prepare(
        database, "INSERT OR REPLACE INTO constructs VALUES(?, ?, ?, ?, ?, ?, ?)", l->err, &row);
    if (status != PM_OK)
        return status;
    sqlite3_bind_int64(row, 1, id);
    sqlite3_bind_int64(row, 2, build->n_matchable);
    sqlite3_bind_int64(row, 3, build->n_matched);
    sqlite3_bind_int64(row, 4, build->n_functions_left_out);
    sqlite3_bind_int64(row, 5, build->n_renamed_functions);
    sqlite3_bind_blob(row, 6, added->len ? added->data : "", (int)added->len, SQLITE_STATIC);
    sqlite3_bind_blob(row, 7, removed->len ? removed->data : "", (int)removed->len, SQLITE_STATIC);
    status = pm_database_step(database, row, l->err, &has_row);
    sqlite3_finalize(row);
    return status;
}

static enum pm_status keep_constructs(struct lifting *l, int64_t id, const struct pm_build *build)
{
    const struct pm_build *reference = &l->known->reference;
    uint64_t *own = NULL, *theirs = NULL;
    size_t n_own = 0, n_theirs = 0;
    struct pm_buf added = PM_BUF_INIT(1 << 30), removed = PM_BUF_INIT(1 << 30);
    bool is_other = build != reference;
    bool good = find_constructs(build, reference, &own, &n_own) &&
                (!is_other || find_constructs(reference, reference, &theirs, &n_theirs));
    if (good) {
        add_missing(own, n_own, theirs, n_theirs, &added);
        add_missing(theirs, n_theirs, own, n_own, &removed);
    }
    enum pm_status status = good && !added.failed && !removed.failed
                                ? write_constructs(l, id, build, &added, &removed)
                                : no_memory(l);
    free(own);
    free(theirs);
    pm_buf_release(&added);
    pm_buf_release(&removed);
    return status;
}

static enum pm_status read_build(struct lifting *l, const char *path,
                                 const struct pm_build *reference, struct pm_build *ret)
{
    const struct pm_build_request request = {.in_functions = true};
    struct pm_view view = {.options = experiment_view_options(PM_VIEW_BY_LOOP)};
    enum pm_status status = pm_archive_load(path, PM_ARCHIVE_LOAD_FACTS, l->err, &view.loaded);
    if (status != PM_OK)
        return status;
    view.data = view.loaded;
    status = pm_view_choose_level(&view, l->err);
    if (!status)
        status = pm_build_make(&view, reference, &request, l->err, ret);
    pm_archive_data_free(view.loaded);
    return status;
}

static enum pm_status find_number(struct lifting *l, const char *sql, int64_t bound,
                                  int64_t *ret_number)
{
    sqlite3_stmt *row;
    bool has_row;
    struct pm_database *database = l->experiment->own->database;
    enum pm_status status = pm_database_prepare(database, sql, l->err, &row);
    if (status != PM_OK)
        return status;
    sqlite3_bind_int64(row, 1, bound);
    status = pm_database_step(database, row, l->err, &has_row);
    *ret_number = !status && has_row ? sqlite3_column_int64(row, 0) : 0;
    sqlite3_finalize(row);
    return status;
}

/* An archive of the build that can be read: this one, else a member. NULL: none. */
static const char *archive_of(const struct lifting *l, int64_t build)
{
    if (build == l->archive->build)
        return l->archive->path;
    for (uint32_t i = 0; i < l->experiment->n_members; i++) {
        const struct pm_experiment_member *member = &l->experiment->members[i];
        if (member->build == build && member->state == PM_MEMBER_OK)
            return member->path;
    }
    return NULL;
}

/* The build of the first member that has cells; of the very first this one. */
static enum pm_status find_reference(struct lifting *l)
{
    struct experiment_known *known = l->known;
    if (known->reference_id)
        return PM_OK;
    enum pm_status status = find_number(l, "SELECT build FROM constructs WHERE build >= ? LIMIT 1",
                                        0, &known->reference_id);
    if (status != PM_OK || known->reference_id)
        return status;
    known->reference_id = l->archive->build;
    known->has_reference = true;
    status = read_build(l, l->archive->path, NULL, &known->reference);
    return status != PM_OK ? status : keep_constructs(l, known->reference_id, &known->reference);
}

static enum pm_status open_reference(struct lifting *l)
{
    struct experiment_known *known = l->known;
    if (known->has_reference)
        return PM_OK;
    const char *path = archive_of(l, known->reference_id);
    if (!path)
        return pm_error_set(l->err, PM_ERR_NOT_FOUND,
                            "no archive of the experiment's first build is left: what is found "
                            "again in other builds cannot be told");
    enum pm_status status = read_build(l, path, NULL, &known->reference);
    known->has_reference = !status;
    return status;
}

static enum pm_status open_other(struct lifting *l)
{
    struct experiment_known *known = l->known;
    int64_t id = l->archive->build, has = 0;
    if (known->other_id == id)
        return PM_OK;
    pm_build_release(&known->other);
    known->other_id = 0;
    enum pm_status status = open_reference(l);
    if (status != PM_OK)
        return status;
    status = read_build(l, l->archive->path, &known->reference, &known->other);
    if (status != PM_OK)
        return status;
    known->other_id = id;
    status = find_number(l, "SELECT 1 FROM constructs WHERE build = ?", id, &has);
    return status != PM_OK || has ? status : keep_constructs(l, id, &known->other);
}

static enum pm_status open_builds(struct lifting *l)
{
    enum pm_status status = find_reference(l);
    if (status != PM_OK || l->archive->build == l->known->reference_id)
        return status;
    return open_other(l);
}

/* What constructs are called in the reference. */
static enum pm_status find_names(struct lifting *l)
{
    struct experiment_known *known = l->known;
    l->names_or_none = NULL;
    if (l->archive->build == known->reference_id)
        return PM_OK;
    enum pm_status status =
        pm_build_names(&known->other, &known->reference, l->view, l->err, &l->names);
    l->names_or_none = status != PM_OK ? NULL : &l->names;
    return status;
}

/* --- rows --- */

static uint64_t hash_of(const char *grouping, uint64_t key)
{
    struct pm_id_hash hash;
    pm_id_hash_init(&hash, grouping);
    pm_id_hash_id(&hash, key);
    return pm_id_hash_done(&hash);
}

static enum pm_status note_row(void *context, sqlite3_stmt *row)
{
    struct lifting *l = context;
    uint64_t key = hash_of(pm_database_text(row, 0), (uint64_t)sqlite3_column_int64(row, 1));
    int64_t id = sqlite3_column_int64(row, 2);
    if (id < 1 || id > INT32_MAX)
        return pm_error_set(l->err, PM_ERR_FORMAT, "experiment '%s': row %lld is damaged",
                            l->experiment->path, (long long)id);
    l->known->n_rows = id > l->known->n_rows ? (uint32_t)id : l->known->n_rows;
    return pm_map_put(&l->known->rows, key, (uint32_t)id) ? PM_OK : no_memory(l);
}

static enum pm_status note_name(void *context, sqlite3_stmt *row)
{
    struct lifting *l = context;
    uint64_t key =
        (uint64_t)sqlite3_column_int64(row, 0) << 32 | (uint32_t)sqlite3_column_int64(row, 1);
    return pm_map_put(&l->known->names, key, 1) ? PM_OK : no_memory(l);
}

static enum pm_status load_known(struct lifting *l)
{
    struct pm_database *database = l->experiment->own->database;
    if (l->known->is_loaded)
        return PM_OK;
    enum pm_status status =
        pm_database_each(database, "SELECT grouping, key, id FROM rows", 0, note_row, l, l->err);
    if (!status)
        status =
            pm_database_each(database, "SELECT row, build FROM names", 0, note_name, l, l->err);
    l->known->is_loaded = !status;
    return status;
}

static enum pm_status write_row(struct lifting *l, const struct pm_view_row *row, uint32_t id,
                                uint64_t key)
{
    struct pm_buf parts = PM_BUF_INIT(1 << 24);
    struct pm_database *database = l->experiment->own->database;
    sqlite3_stmt *insert;
    bool has_row;
    pm_compare_add_parts(l->view, l->names_or_none, row, &parts);
    enum pm_status status =
        parts.failed
            ? no_memory(l)
            : pm_database_prepare(database, "INSERT INTO rows VALUES(?, ?, ?, ?)", l->err, &insert);
    if (status != PM_OK)
        goto out;
    sqlite3_bind_int64(insert, 1, id);
    sqlite3_bind_text(insert, 2, l->grouping, -1, SQLITE_STATIC);
    sqlite3_bind_int64(insert, 3, (int64_t)key);
    sqlite3_bind_blob(insert, 4, parts.len ? parts.data : "", (int)parts.len, SQLITE_STATIC);
    status = pm_database_step(database, insert, l->err, &has_row);
    sqlite3_finalize(insert);
out:
    pm_buf_release(&parts);
    return status;
}

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

static enum pm_status name_row(struct lifting *l, struct pm_view_row *row, uint32_t id)
{
    uint64_t key = (uint64_t)id << 32 | (uint32_t)l->archive->build;
    uint32_t *at = pm_map_at(&l->known->names, key);
    if (!at)
        return no_memory(l);
    if (*at)
        return PM_OK;
    *at = 1;
    pm_view_name_row(l->view, row);
    return experiment_do(l->experiment, l->err, "INSERT OR REPLACE INTO names VALUES(?, ?, ?, ?)",
                         "iiss", (int64_t)id, l->archive->build, or_empty(row->what),
                         or_empty(row->place));
}

static enum pm_status find_row(struct lifting *l, uint32_t r, uint64_t key)
{
    struct pm_view_row *row = &l->view->rows[r];
    uint32_t *at = pm_map_at(&l->known->rows, hash_of(l->grouping, key));
    if (!at)
        return no_memory(l);
    if (!*at) {
        *at = ++l->known->n_rows;
        enum pm_status status = write_row(l, row, *at, key);
        if (status != PM_OK)
            return status;
    }
    l->ids[r] = *at;
    l->order[r] = r;
    return name_row(l, row, l->ids[r]);
}

static int compare_ids(const void *a, const void *b, void *context)
{
    const uint32_t *ids = context;
    uint32_t x = ids[*(const uint32_t *)a], y = ids[*(const uint32_t *)b];
    return (x > y) - (x < y);
}

static enum pm_status find_rows(struct lifting *l)
{
    struct pm_view_keys keys = {0};
    enum pm_status status = pm_view_keys_make(l->view, l->names_or_none, l->err, &keys);
    if (status != PM_OK)
        return status;
    for (uint32_t r = 0; r < l->view->n_rows && !status; r++)
        status = find_row(l, r, keys.items[r].hash);
    pm_view_keys_release(&keys);
    if (!status && l->view->n_rows)
        qsort_r(l->order, l->view->n_rows, sizeof *l->order, compare_ids, l->ids);
    return status != PM_OK ? status : pm_view_naming_status(l->view, l->err);
}

/* --- cells --- */

static enum pm_status write_cells(struct lifting *l, const char *metric, double total,
                                  bool is_sampled, const struct pm_buf *data)
{
    struct pm_database *database = l->experiment->own->database;
    sqlite3_stmt *insert;
    bool has_row;
    if (data->failed)
        return no_memory(l);
    enum pm_status status = pm_database_prepare(
        database, "INSERT OR REPLACE INTO cells VALUES(?, ?, ?, ?, ?, ?)", l->err, &insert);
    if (status != PM_OK)
        return status;
    sqlite3_bind_text(insert, 1, l->grouping, -1, SQLITE_STATIC);
    sqlite3_bind_text(insert, 2, metric, -1, SQLITE_STATIC);
    sqlite3_bind_int64(insert, 3, l->archive->member);
    sqlite3_bind_double(insert, 4, total);
    sqlite3_bind_int(insert, 5, is_sampled);
    sqlite3_bind_blob(insert, 6, data->len ? data->data : "", (int)data->len, SQLITE_STATIC);
    status = pm_database_step(database, insert, l->err, &has_row);
    sqlite3_finalize(insert);
    return status;
}

static enum pm_status keep_metric(struct lifting *l, const struct pm_graph_metric *metric)
{
    static const char *const words[] = {"sum", "average", "minimum", "maximum"};
    return experiment_do(
        l->experiment, l->err, "INSERT OR IGNORE INTO metrics VALUES(?, ?, ?, ?, ?)", "sssss",
        metric->name, metric->unit, metric->kind, metric->description, words[metric->aggregation]);
}

/* As a comparison of archives takes them. */
/* Of the one metric that the view was asked for. */
static enum pm_status keep_cells(struct lifting *l)
{
    struct pm_view *view = l->view;
    bool is_of_calls = view->primary == view->n_metrics;
    pm_index metric = is_of_calls ? view->calls_metric : view->metrics[view->primary];
    struct pm_view_column column = pm_compare_column(view, false);
    struct pm_buf data = PM_BUF_INIT(1 << 28);
    uint32_t last = 0;
    for (uint32_t i = 0; i < view->n_rows; i++) {
        uint32_t r = l->order[i];
        struct pm_compare_cell cell = pm_compare_cell_of(view, &view->rows[r], false);
        experiment_put_cell(&data, &last, l->ids[r], &cell);
    }
    double total = pm_view_number_of(view, &column, &view->total, PM_VIEW_PART_TOTAL).real;
    const struct pm_graph_metric *of = &view->data->graph->metrics[metric];
    bool is_sampled = metric == view->cpu_metric && view->samples_metric != PM_NONE;
    enum pm_status status = keep_metric(l, of);
    if (!status)
        status = write_cells(l, of->name, total, is_sampled, &data);
    pm_buf_release(&data);
    return status;
}

static enum pm_status lift_view(struct lifting *l)
{
    l->ids = pm_alloc_array((size_t)l->view->n_rows + 1, sizeof *l->ids);
    l->order = pm_alloc_array((size_t)l->view->n_rows + 1, sizeof *l->order);
    enum pm_status status = l->ids && l->order ? find_names(l) : no_memory(l);
    if (!status)
        status = find_rows(l);
    if (!status)
        status = keep_cells(l);
    if (l->names_or_none)
        pm_build_names_release(&l->names);
    l->names_or_none = NULL;
    free(l->ids);
    free(l->order);
    return status;
}

static enum pm_status lift_by(struct lifting *l, enum pm_view_by by, const char *metric)
{
    struct pm_view view = {.options = experiment_view_options(by), .archive = l->archive->data};
    view.options.archive_path = l->archive->path;
    view.options.metrics = metric;
    l->view = &view;
    l->grouping = pm_view_by_word(by);
    enum pm_status status = pm_view_make(&view, l->err);
    if (!status && view.level != PM_NONE)
        status = lift_view(l);
    pm_view_release(&view);
    return status;
}

/* What a report shows first, and calls where they were counted. */
static enum pm_status lift_all(struct lifting *l)
{
    const struct pm_graph *graph = l->archive->data->graph;
    const char *const metrics[] = {l->archive->metric, "n_calls"};
    for (int i = 0; i < EXPERIMENT_N_GROUPINGS; i++)
        for (int m = 0; m < 2; m++) {
            if (pm_graph_find_metric(graph, metrics[m]) == PM_NONE ||
                (m && !strcmp(metrics[0], metrics[1])))
                continue;
            enum pm_status status = lift_by(l, experiment_groupings[i], metrics[m]);
            if (status != PM_OK)
                return status;
        }
    return PM_OK;
}

void experiment_known_free(struct experiment_known *known)
{
    if (!known)
        return;
    pm_build_release(&known->reference);
    pm_build_release(&known->other);
    pm_map_release(&known->rows);
    pm_map_release(&known->names);
    free(known);
}

enum pm_status experiment_add_cells(struct pm_experiment *experiment,
                                    const struct experiment_archive *archive, struct pm_error *err)
{
    struct pm_experiment_private *own = experiment->own;
    struct lifting l = {.experiment = experiment, .err = err, .archive = archive};
    if (!own->known)
        own->known = pm_alloc(sizeof *own->known);
    if (!own->known)
        return no_memory(&l);
    l.known = own->known;
    enum pm_status status = load_known(&l);
    if (!status)
        status = open_builds(&l);
    if (!status)
        status = lift_all(&l);
    if (status != PM_OK) { /* the transaction takes back what they say is in the file */
        experiment_known_free(own->known);
        own->known = NULL;
    }
    return status;
}
