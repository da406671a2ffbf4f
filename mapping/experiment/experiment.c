/* The file: made, opened, changed. */
#include "experiment_internal.h"

#include <libgen.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>

const struct pm_database_kind pm_experiment_kind = {
    .noun = "experiment",
    .indefinite = "an experiment",
    .remedy = "make it again with 'perfmap experiment create' and 'add'",
    .views = "",
    .schema = pm_experiment_schema,
    .usual_suffix = ".perfexp",
    .application_id = PM_EXPERIMENT_APPLICATION_ID,
    .oldest_version = PM_EXPERIMENT_VERSION,
    .version = PM_EXPERIMENT_VERSION,
};

static enum pm_status no_memory(struct pm_error *err)
{
    return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}

enum pm_status pm_experiment_create(const char *path, struct pm_error *err)
{
    struct pm_database *database;
    struct stat st;
    if (lstat(path, &st) == 0)
        return pm_error_set(err, PM_ERR_USAGE, "there is something called '%s' already", path);
    enum pm_status status = pm_database_create(&pm_experiment_kind, path, err, &database);
    return status != PM_OK ? status : pm_database_finish(database, err);
}

/* All tables with all their columns; no rows are read. */
static enum pm_status check_tables(struct pm_database *database, struct pm_error *err)
{
    static const char *const wanted[] = {
        "SELECT id, hash FROM builds LIMIT 0",
        "SELECT id, path, size_bytes, mtime_ns, sum, build, poor FROM members LIMIT 0",
        "SELECT member, key, value, origin FROM attributes LIMIT 0",
        "SELECT member, slow_down_pct, period_ns, metric FROM runs LIMIT 0",
        "SELECT name, unit, kind, description, aggregation FROM metrics LIMIT 0",
        "SELECT build, n_matchable, n_matched, n_functions_left_out, n_renamed, added, removed "
        "FROM "
        "constructs LIMIT 0",
        "SELECT id, grouping, key, parts FROM rows LIMIT 0",
        "SELECT row, build, what, place FROM names LIMIT 0",
        "SELECT grouping, metric, member, total, is_sampled, data FROM cells LIMIT 0"};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        sqlite3_stmt *row;
        enum pm_status status = pm_database_prepare(database, wanted[i], err, &row);
        sqlite3_finalize(row);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

static char *folder_of(const char *path)
{
    char *whole = realpath(path, NULL);
    const char *folder = whole ? dirname(whole) : NULL;
    char *copy = folder ? pm_strndup(folder, strlen(folder)) : NULL;
    free(whole);
    return copy;
}

static enum pm_status open_file(struct pm_experiment *experiment, struct pm_error *err)
{
    struct pm_experiment_private *own = experiment->own;
    enum pm_status status =
        pm_database_open_to_change(&pm_experiment_kind, experiment->path, err, &own->database);
    if (status != PM_OK)
        return status;
    const char *slash = strrchr(experiment->path, '/');
    own->prefix = pm_strndup(experiment->path, slash ? (size_t)(slash - experiment->path) + 1 : 0);
    own->folder = folder_of(experiment->path);
    if (!own->folder || !own->prefix)
        return no_memory(err);
    status = check_tables(own->database, err);
    return status != PM_OK ? status : experiment_load(experiment, err);
}

enum pm_status pm_experiment_open(const char *path, struct pm_error *err,
                                  struct pm_experiment **ret)
{
    struct pm_experiment *experiment = pm_alloc(sizeof *experiment);
    if (!experiment)
        return no_memory(err);
    experiment->own = pm_alloc(sizeof *experiment->own);
    experiment->path = pm_strndup(path, strlen(path));
    enum pm_status status =
        experiment->own && experiment->path ? open_file(experiment, err) : no_memory(err);
    if (status != PM_OK)
        pm_experiment_close(experiment);
    *ret = status != PM_OK ? NULL : experiment;
    return status;
}

void pm_experiment_close(struct pm_experiment *experiment)
{
    if (!experiment)
        return;
    if (experiment->own) {
        pm_database_close(experiment->own->database);
        pm_arena_release(&experiment->own->arena);
        free(experiment->own->folder);
        free(experiment->own->prefix);
        experiment_known_free(experiment->own->known);
    }
    free(experiment->own);
    free(experiment->members);
    free((char *)experiment->path);
    free(experiment);
}

enum pm_status pm_experiment_reload(struct pm_experiment *experiment, struct pm_error *err)
{
    pm_arena_release(&experiment->own->arena);
    free(experiment->members);
    experiment->members = NULL;
    experiment->n_members = 0;
    return experiment_load(experiment, err);
}

static void bind(sqlite3_stmt *statement, const char *kinds, va_list values)
{
    for (int i = 1; *kinds; i++, kinds++)
        if (*kinds == 'i')
            sqlite3_bind_int64(statement, i, va_arg(values, int64_t));
        else
            sqlite3_bind_text(statement, i, va_arg(values, const char *), -1, SQLITE_TRANSIENT);
}

enum pm_status experiment_do(struct pm_experiment *experiment, struct pm_error *err,
                             const char *sql, const char *kinds, ...)
{
    struct pm_database *database = experiment->own->database;
    sqlite3_stmt *statement;
    bool has_row;
    va_list values;
    enum pm_status status = pm_database_prepare(database, sql, err, &statement);
    if (status != PM_OK)
        return status;
    va_start(values, kinds);
    bind(statement, kinds, values);
    va_end(values);
    status = pm_database_step(database, statement, err, &has_row);
    sqlite3_finalize(statement);
    return status;
}

/* --- what users set --- */

/* What commands and the language of selections can tell apart. */
static bool is_key(struct pm_str key)
{
    if (!key.len || key.len > 100)
        return false;
    for (size_t i = 0; i < key.len; i++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.", key.p[i]))
            return false;
    return true;
}

enum pm_status pm_experiment_set_of(const char *text, struct pm_error *err,
                                    struct pm_experiment_set *ret)
{
    const char *equals = strchr(text, '=');
    if (!equals || !is_key((struct pm_str){text, (size_t)(equals - text)}))
        return pm_error_set(err, PM_ERR_USAGE,
                            "'%.200s' is no attribute: expected KEY=VALUE, with letters, digits, "
                            "'_', '-' and '.' in KEY",
                            text);
    if (strlen(equals) > 4096)
        return pm_error_set(err, PM_ERR_USAGE, "the value of '%.*s' is longer than 4095 bytes",
                            (int)(equals - text), text);
    char *copy = pm_strndup(text, strlen(text));
    if (!copy)
        return no_memory(err);
    copy[equals - text] = 0;
    *ret = (struct pm_experiment_set){copy, copy + (equals - text) + 1};
    return PM_OK;
}

enum pm_status experiment_set(struct pm_experiment *experiment, int64_t member,
                              const struct pm_experiment_set *set, struct pm_error *err)
{
    if (!*set->value)
        return experiment_do(experiment, err, "DELETE FROM attributes WHERE member = ? AND key = ?",
                             "is", member, set->key);
    return experiment_do(experiment, err,
                         "INSERT OR REPLACE INTO attributes VALUES(?, ?, ?, 'user')", "iss", member,
                         set->key, set->value);
}

/* Ends a transaction: as it was before when something failed. */
static enum pm_status end(struct pm_experiment *experiment, enum pm_status status,
                          struct pm_error *err)
{
    struct pm_database *database = experiment->own->database;
    if (!status)
        status = pm_database_exec(database, "COMMIT", err);
    if (status != PM_OK)
        sqlite3_exec(pm_database_db(database), "ROLLBACK", NULL, NULL, NULL);
    return status;
}

enum pm_status pm_experiment_set(struct pm_experiment *experiment,
                                 const struct pm_experiment_selection *chosen,
                                 const struct pm_experiment_set *sets, uint32_t n,
                                 struct pm_error *err)
{
    enum pm_status status = pm_database_exec(experiment->own->database, "BEGIN IMMEDIATE", err);
    if (status != PM_OK)
        return status;
    for (uint32_t i = 0; i < chosen->n; i++)
        for (uint32_t s = 0; s < n && !status; s++)
            status =
                experiment_set(experiment, experiment->members[chosen->items[i]].id, &sets[s], err);
    return end(experiment, status, err);
}

static enum pm_status remove_member(struct pm_experiment *experiment, int64_t member,
                                    struct pm_error *err)
{
    static const char *const sql[] = {
        "DELETE FROM attributes WHERE member = ?", "DELETE FROM cells WHERE member = ?",
        "DELETE FROM runs WHERE member = ?", "DELETE FROM members WHERE id = ?"};
    enum pm_status status = PM_OK;
    for (size_t i = 0; i < sizeof sql / sizeof *sql && !status; i++)
        status = experiment_do(experiment, err, sql[i], "i", member);
    return status;
}

enum pm_status pm_experiment_remove(struct pm_experiment *experiment,
                                    const struct pm_experiment_selection *chosen,
                                    struct pm_error *err)
{
    enum pm_status status = pm_database_exec(experiment->own->database, "BEGIN IMMEDIATE", err);
    if (status != PM_OK)
        return status;
    for (uint32_t i = 0; i < chosen->n && !status; i++)
        status = remove_member(experiment, experiment->members[chosen->items[i]].id, err);
    return end(experiment, status, err);
}
