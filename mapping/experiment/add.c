/* What an experiment knows of an archive: read once, when it becomes a member. */
#include "cells.h"

#include <math.h>
#include <sys/stat.h>
#include <time.h>

struct adding {
    struct pm_experiment *experiment;
    struct pm_error *err;
    const char *path;
    struct stat before;
    int64_t sum, build, member;
    struct pm_archive_data *data;
    const struct pm_view *view;
};

/* --- attributes --- */

/* What the user has set stays. */
static enum pm_status add_attribute(const struct adding *a, const char *key, const char *value,
                                    const char *origin)
{
    if (!*value)
        return PM_OK;
    return experiment_do(a->experiment, a->err,
                         "INSERT INTO attributes VALUES(?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
                         "value = excluded.value, origin = excluded.origin WHERE origin <> 'user'",
                         "isss", a->member, key, value, origin);
}

static enum pm_status add_number(const struct adding *a, const char *key, int64_t number)
{
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)number);
    return add_attribute(a, key, text, "run");
}

static enum pm_status add_date(const struct adding *a, int64_t realtime_ns)
{
    char text[32];
    struct tm parts;
    time_t seconds = realtime_ns / 1000000000;
    if (realtime_ns == PM_UNKNOWN || !gmtime_r(&seconds, &parts) ||
        !strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts))
        return PM_OK;
    return add_attribute(a, "date", text, "run");
}

static enum pm_status add_end(const struct adding *a, const struct pm_execution *x)
{
    char text[32];
    if (x->exit_signal != PM_UNKNOWN) {
        snprintf(text, sizeof text, "signal %lld", (long long)x->exit_signal);
        return add_attribute(a, "exit", text, "run");
    }
    return x->exit_status == PM_UNKNOWN ? PM_OK : add_number(a, "exit", x->exit_status);
}

static enum pm_status add_sizes(const struct adding *a)
{
    const struct pm_archive_data *data = a->view->data;
    int64_t n_ranks = 0, n_threads = 0, n_processes = 0;
    for (uint32_t i = 0; i < data->n_processes; i++) {
        n_ranks += data->processes[i].rank != PM_UNKNOWN;
        n_processes += data->processes[i].pid != 0; /* 0: what no sample stands for */
    }
    for (uint32_t i = 0; i < data->n_threads; i++)
        if (data->processes[data->threads[i].process].pid)
            n_threads += data->threads[i].n_threads;
    enum pm_status status = n_ranks ? add_number(a, "ranks", n_ranks) : PM_OK;
    if (status != PM_OK)
        return status;
    status = add_number(a, "processes", n_processes);
    if (status != PM_OK)
        return status;
    status = add_number(a, "threads", n_threads);
    return status != PM_OK || data->n_nodes < 2 ? status : add_number(a, "nodes", data->n_nodes);
}

/* As `perfmap run` and `collect` noted them. */
static enum pm_status add_noted(const struct adding *a)
{
    const struct pm_archive_data *data = a->view->data;
    for (uint32_t i = 0; i < data->n_attributes; i++) {
        const struct pm_attribute *x = &data->attributes[i];
        bool is_of_binary = !strcmp(x->key, "compiler") || !strcmp(x->key, "opt");
        if (x->execution) /* of another run in one archive */
            continue;
        enum pm_status status = add_attribute(a, x->key, x->value, is_of_binary ? "binary" : "run");
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

static enum pm_status add_run(const struct adding *a)
{
    const struct pm_archive_data *data = a->view->data;
    const struct pm_execution *x = &data->executions[0];
    const char *exe = data->n_processes ? data->processes[0].exe : "";
    const char *slash = strrchr(exe, '/');
    const char *const texts[][2] = {{"program", slash ? slash + 1 : exe},
                                    {"command", x->command},
                                    {"host", x->host},
                                    {"mode", x->mode}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        enum pm_status status = add_attribute(a, texts[i][0], texts[i][1], "run");
        if (status != PM_OK)
            return status;
    }
    enum pm_status status = add_date(a, x->start_realtime_ns);
    if (!status && x->user_cpu_ns != PM_UNKNOWN && x->system_cpu_ns != PM_UNKNOWN)
        status = add_number(a, "cpu_ns", x->user_cpu_ns + x->system_cpu_ns);
    return status != PM_OK ? status : add_end(a, x);
}

static enum pm_status add_attributes(const struct adding *a)
{
    static enum pm_status (*const parts[])(const struct adding *) = {add_noted, add_run, add_sizes};
    enum pm_status status = experiment_do(
        a->experiment, a->err, "DELETE FROM attributes WHERE member = ? AND origin <> 'user'", "i",
        a->member);
    for (size_t i = 0; i < sizeof parts / sizeof *parts && !status; i++)
        status = parts[i](a);
    return status;
}

/* --- the member --- */

static enum pm_status find_number(struct adding *a, const char *sql, int64_t key,
                                  int64_t *ret_number)
{
    sqlite3_stmt *row;
    bool has_row;
    struct pm_database *database = a->experiment->own->database;
    enum pm_status status = pm_database_prepare(database, sql, a->err, &row);
    if (status != PM_OK)
        return status;
    sqlite3_bind_int64(row, 1, key);
    status = pm_database_step(database, row, a->err, &has_row);
    *ret_number = !status && has_row ? sqlite3_column_int64(row, 0) : 0;
    sqlite3_finalize(row);
    return status;
}

static enum pm_status find_build(struct adding *a)
{
    int64_t hash = (int64_t)pm_build_hash(a->view->data);
    enum pm_status status = experiment_do(
        a->experiment, a->err, "INSERT OR IGNORE INTO builds(hash) VALUES(?)", "i", hash);
    if (status != PM_OK)
        return status;
    return find_number(a, "SELECT id FROM builds WHERE hash = ?", hash, &a->build);
}

static enum pm_status write_member(struct adding *a, const char *name, const char *poor)
{
    int64_t mtime_ns = a->before.st_mtim.tv_sec * 1000000000 + a->before.st_mtim.tv_nsec;
    enum pm_status status = experiment_do(
        a->experiment, a->err,
        "INSERT INTO members(path, size_bytes, mtime_ns, sum, build, poor) VALUES(?, ?, ?, ?, ?, "
        "?) ON CONFLICT DO UPDATE SET size_bytes = excluded.size_bytes, mtime_ns = "
        "excluded.mtime_ns, sum = excluded.sum, build = excluded.build, poor = excluded.poor",
        "siiiin", name, (int64_t)a->before.st_size, mtime_ns, a->sum, a->build, poor);
    if (status != PM_OK)
        return status;
    return find_number(a, "SELECT id FROM members WHERE sum = ?", a->sum, &a->member);
}

/* What a report of it shows first; "" nothing. */
static const char *metric_of(const struct pm_view *view)
{
    pm_index metric =
        view->primary == view->n_metrics ? view->calls_metric : view->metrics[view->primary];
    return metric == PM_NONE ? "" : view->data->graph->metrics[metric].name;
}

static enum pm_status write_run(const struct adding *a)
{
    struct pm_view_facts facts = pm_view_facts(a->view);
    char pct[32] = "";
    if (!isnan(facts.slow_down_pct))
        snprintf(pct, sizeof pct, "%.17g", facts.slow_down_pct);
    return experiment_do(
        a->experiment, a->err, "INSERT OR REPLACE INTO runs VALUES(?, CAST(? AS REAL), ?, ?)",
        "inis", a->member, *pct ? pct : NULL, pm_compare_period(a->view->data), metric_of(a->view));
}

static enum pm_status write_cells(struct adding *a)
{
    const struct experiment_archive archive = {a->path, a->data, a->member, a->build,
                                               metric_of(a->view)};
    enum pm_status status =
        experiment_do(a->experiment, a->err, "DELETE FROM cells WHERE member = ?", "i", a->member);
    if (status != PM_OK)
        return status;
    status = write_run(a);
    return status != PM_OK ? status : experiment_add_cells(a->experiment, &archive, a->err);
}

static enum pm_status write_all(struct adding *a, const char *name, const char *poor,
                                const struct pm_experiment_set *sets, uint32_t n)
{
    enum pm_status status = find_build(a);
    if (status != PM_OK)
        return status;
    status = write_member(a, name, poor);
    if (status != PM_OK)
        return status;
    status = add_attributes(a);
    for (uint32_t i = 0; i < n && !status; i++)
        status = experiment_set(a->experiment, a->member, &sets[i], a->err);
    return status != PM_OK ? status : write_cells(a);
}

/* All of it, or nothing. */
static enum pm_status write(struct adding *a, const char *name,
                            const struct pm_experiment_set *sets, uint32_t n)
{
    struct pm_database *database = a->experiment->own->database;
    struct pm_arena arena = {0};
    const char *poor = pm_compare_why_poor(a->view, &arena);
    if (!poor)
        return pm_error_set(a->err, PM_ERR_MEMORY, "out of memory");
    enum pm_status status = pm_database_exec(database, "BEGIN IMMEDIATE", a->err);
    if (!status)
        status = write_all(a, name, *poor ? poor : NULL, sets, n);
    if (!status)
        status = pm_database_exec(database, "COMMIT", a->err);
    if (status)
        sqlite3_exec(pm_database_db(database), "ROLLBACK", NULL, NULL, NULL);
    pm_arena_release(&arena);
    return status;
}

static enum pm_status read_archive(struct adding *a, const char *name,
                                   const struct pm_experiment_set *sets, uint32_t n)
{
    struct pm_view view = {.options = experiment_view_options(PM_VIEW_BY_LOOP)};
    view.options.archive_path = a->path;
    enum pm_status status =
        pm_archive_load(a->path, pm_view_load_flags(&view.options), a->err, &a->data);
    if (status != PM_OK)
        return status;
    view.archive = a->data;
    a->view = &view;
    status = pm_view_make(&view, a->err);
    if (!status)
        status = write(a, name, sets, n);
    pm_view_release(&view);
    pm_archive_data_free(a->data);
    return status;
}

/* Copies, links, other names of a folder: one run would count twice. */
static enum pm_status check_new(const struct adding *a, const char *name)
{
    sqlite3_stmt *row;
    bool has_row;
    struct pm_database *database = a->experiment->own->database;
    enum pm_status status = pm_database_prepare(
        database, "SELECT path FROM members WHERE sum = ? AND path <> ?", a->err, &row);
    if (status != PM_OK)
        return status;
    sqlite3_bind_int64(row, 1, a->sum);
    sqlite3_bind_text(row, 2, name, -1, SQLITE_STATIC);
    status = pm_database_step(database, row, a->err, &has_row);
    if (!status && has_row)
        status = pm_error_set(a->err, PM_ERR_USAGE,
                              "'%s' is the same archive as '%s', which is a member", a->path,
                              pm_database_text(row, 0));
    sqlite3_finalize(row);
    return status;
}

static enum pm_added how_added(const struct pm_experiment *experiment, const char *name)
{
    for (uint32_t i = 0; i < experiment->n_members; i++)
        if (!strcmp(experiment->members[i].name, name))
            return PM_ADDED_AGAIN;
    return PM_ADDED;
}

static enum pm_status set_all(struct pm_experiment *experiment, const char *name,
                              const struct pm_experiment_set *sets, uint32_t n,
                              struct pm_error *err)
{
    for (uint32_t i = 0; i < experiment->n_members; i++)
        if (!strcmp(experiment->members[i].name, name))
            return pm_experiment_set(experiment, &(struct pm_experiment_selection){&i, 1}, sets, n,
                                     err);
    return PM_OK;
}

static enum pm_status add(struct adding *a, const char *name, const struct pm_experiment_set *sets,
                          uint32_t n)
{
    enum pm_status status = PM_OK;
    if (stat(a->path, &a->before) != 0)
        return pm_error_set(a->err, PM_ERR_NOT_FOUND, "there is no archive '%s'", a->path);
    status = experiment_sum(a->path, a->err, &a->sum);
    if (status != PM_OK)
        return status;
    status = check_new(a, name);
    return status != PM_OK ? status : read_archive(a, name, sets, n);
}

enum pm_status pm_experiment_add(struct pm_experiment *experiment, const char *path,
                                 const struct pm_experiment_set *sets, uint32_t n,
                                 struct pm_error *err, enum pm_added *ret_added)
{
    struct adding a = {.experiment = experiment, .err = err, .path = path};
    char *name = experiment_name_of(experiment, path);
    if (!name)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    bool has = pm_experiment_has(experiment, path);
    *ret_added = has ? PM_NOT_ADDED : how_added(experiment, name);
    enum pm_status status = has ? set_all(experiment, name, sets, n, err) : add(&a, name, sets, n);
    free(name);
    return status;
}
