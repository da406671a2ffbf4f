#include "archive.h"

struct pm_archive {
    struct pm_database *database;
};

static const struct pm_database_kind archive_kind = {
    .noun = "archive",
    .indefinite = "an archive",
    .remedy = "collect again from the run folder, or run again",
    .views = "'disarmed', 'costs', 'named_nouns'",
    .schema = pm_archive_schema,
    .usual_suffix = ".perfmap",
    .application_id = PM_ARCHIVE_APPLICATION_ID,
    .oldest_version = PM_ARCHIVE_OLDEST_VERSION,
    .version = PM_ARCHIVE_VERSION,
};

static struct pm_archive *archive_of(struct pm_database *database, struct pm_error *err)
{
    struct pm_archive *archive = pm_alloc(sizeof *archive);
    if (archive)
        archive->database = database;
    else
        pm_error_set(err, PM_ERR_MEMORY, "no memory for archive '%s'", pm_database_path(database));
    return archive;
}

/* --- reading --- */

/* All tables with all their columns; no rows are read. */
static enum pm_status check_tables(struct pm_archive *archive, bool has_files, struct pm_error *err)
{
    static const char *const tables[] = {
        "executions(id, name, command, cwd, host, mode, start_realtime_ns, wall_ns, user_cpu_ns, "
        "system_cpu_ns, max_rss_bytes, "
        "exit_status, exit_signal)",
        "execution_attributes(execution, key, value)",
        "processes(id, execution, pid, parent_pid, image, exe, argv, start_ns, end_ns, end_kind, "
        "user_cpu_ns, system_cpu_ns, "
        "max_rss_bytes, n_sleds, n_events, added_ns, n_lost_contexts, n_unmatched, n_healed)",
        "overheads(process, budget_ppm, events_ns, samples_ns, active_pair_ps, count_pair_ps)",
        "probe_costs(process, pair_ps, inner_ps)",
        "sampling(process, source, clock, period_ns, has_kernel, has_switches, n_samples, n_lost, "
        "problem)",
        "noun_modes(process, noun, mode, reason, from_ns, until_ns, n_events)",
        "threads(id, process, tid, n_threads, name, start_ns, end_ns, cpu_ns)",
        "binaries(id, path, build_id, n_sleds, n_bad_sleds, pif_state, map_state, debug_file, "
        "debug_problem)",
        "levels(id, name, above)",
        "nouns(id, pif_id, binary, level, name, kind, description, type, linkage, file, line, "
        "\"column\", end_line, parent)",
        "noun_attributes(noun, key, value)",
        "verbs(id, level, name, description)",
        "sentences(id, verb, noun)",
        "sentence_nouns(sentence, position, noun)",
        "mappings(source, destination, weight, origin, reason)",
        "contexts(id, parent, sentence, flags)",
        "metrics(id, name, unit, kind, aggregation, description)",
        "cost_rows(thread, metric, context, value)",
        "cost_lists(thread, metric, context, list)",
        "messages(process, code, text)",
        "traces(thread, process_start_ns, tick_hz, start_ns, end_ns, n_events, n_cut, "
        "n_dropped_calls, has_begin, has_end, data_bytes)",
        "trace_blocks(thread, number, start_ns, end_ns, n_events, n_open, data)",
        "files(id, name)",
    };
    size_t n = sizeof tables / sizeof *tables - !has_files;
    for (size_t i = 0; i < n; i++) {
        const char *open = strchr(tables[i], '(');
        char sql[400];
        snprintf(sql, sizeof sql, "SELECT %.*s FROM %.*s", (int)strcspn(open + 1, ")"), open + 1,
                 (int)(open - tables[i]), tables[i]);
        sqlite3_stmt *statement;
        enum pm_status status = pm_archive_prepare(archive, sql, err, &statement);
        if (status != PM_OK)
            return status;
        sqlite3_finalize(statement);
    }
    return PM_OK;
}

/* Views of the file itself are not used (database.h). */
static enum pm_status name_nouns(struct pm_archive *archive, bool has_files, struct pm_error *err)
{
    static const char in_full[] =
        "CREATE TEMP VIEW nouns_in_full AS SELECT n.id, n.pif_id, n.binary, n.level, "
        "coalesce(n.name, coalesce(f.name, n.file) || ':' || n.line || ':' || n.\"column\") AS "
        "name, n.kind, n.description, n.type, n.linkage, coalesce(f.name, n.file) AS file, n.line, "
        "n.\"column\", n.end_line, n.parent FROM main.nouns n LEFT JOIN main.files f ON f.id = "
        "n.file";
    static const char as_they_are[] = "CREATE TEMP VIEW nouns_in_full AS SELECT * FROM main.nouns";
    return pm_database_exec(archive->database, has_files ? in_full : as_they_are, err);
}

enum pm_status pm_archive_open(const char *path, struct pm_error *err,
                               struct pm_archive **ret_archive)
{
    struct pm_database *database;
    enum pm_status status = pm_database_open(&archive_kind, path, err, &database);
    if (status != PM_OK)
        return status;
    struct pm_archive *archive = archive_of(database, err);
    if (!archive) {
        pm_database_close(database);
        return PM_ERR_MEMORY;
    }
    bool has_files = pm_database_version(database) > PM_ARCHIVE_OLDEST_VERSION; /* from 5 on */
    status = check_tables(archive, has_files, err);
    if (status != PM_OK)
        goto out;
    status = name_nouns(archive, has_files, err);
    if (status != PM_OK)
        goto out;
    *ret_archive = archive;
    return PM_OK;
out:
    pm_archive_close(archive);
    return status;
}

void pm_archive_close(struct pm_archive *archive)
{
    if (archive)
        pm_database_close(archive->database);
    free(archive);
}

sqlite3 *pm_archive_db(struct pm_archive *archive)
{
    return pm_database_db(archive->database);
}

const char *pm_archive_path(const struct pm_archive *archive)
{
    return pm_database_path(archive->database);
}

enum pm_status pm_archive_prepare(struct pm_archive *archive, const char *sql, struct pm_error *err,
                                  sqlite3_stmt **ret_statement)
{
    return pm_database_prepare(archive->database, sql, err, ret_statement);
}

enum pm_status pm_archive_step(struct pm_archive *archive, sqlite3_stmt *statement,
                               struct pm_error *err, bool *ret_has_row)
{
    return pm_database_step(archive->database, statement, err, ret_has_row);
}

const char *pm_archive_text(sqlite3_stmt *statement, int column)
{
    return pm_database_text(statement, column);
}

enum pm_status pm_archive_error(struct pm_archive *archive, struct pm_error *err)
{
    return pm_database_error(archive->database, err);
}

/* --- writing --- */

enum pm_status pm_archive_create(const char *path, struct pm_error *err,
                                 struct pm_archive **ret_archive)
{
    struct pm_database *database;
    enum pm_status status = pm_database_create(&archive_kind, path, err, &database);
    if (status != PM_OK)
        return status;
    struct pm_archive *archive = archive_of(database, err);
    if (archive)
        *ret_archive = archive;
    else
        pm_database_discard(database);
    return archive ? PM_OK : PM_ERR_MEMORY;
}

void pm_archive_is_repeatable(struct pm_archive *archive)
{
    if (archive)
        pm_database_is_repeatable(archive->database);
}

enum pm_status pm_archive_finish(struct pm_archive *archive, struct pm_error *err)
{
    enum pm_status status = pm_database_finish(archive->database, err);
    free(archive);
    return status;
}

void pm_archive_discard(struct pm_archive *archive)
{
    if (archive)
        pm_database_discard(archive->database);
    free(archive);
}
