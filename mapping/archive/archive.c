#include "archive.h"

#include "archive_sum.h"
#include "temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct pm_archive {
    sqlite3 *db;
    char *path;
    struct pm_temporary temporary; /* writing: where it goes to and what it is until then */
    uint64_t n_steps, most_steps;  /* reading: of SQLite's machine, in thousands */
};

static void archive_free(struct pm_archive *archive)
{
    if (archive->db)
        sqlite3_close_v2(archive->db);
    free(archive->path);
    pm_temporary_release(&archive->temporary);
    free(archive);
}

static struct pm_archive *archive_new(const char *path, struct pm_error *err)
{
    struct pm_archive *archive = pm_alloc(sizeof *archive);
    if (archive)
        archive->path = pm_strndup(path, strlen(path));
    if (archive)
        archive->temporary.fd = -1;
    if (archive && archive->path)
        return archive;
    free(archive);
    pm_error_set(err, PM_ERR_MEMORY, "no memory for archive '%s'", path);
    return NULL;
}

enum pm_status pm_archive_error(struct pm_archive *archive, struct pm_error *err)
{
    int code = archive->db ? sqlite3_errcode(archive->db) : SQLITE_NOMEM;
    const char *text = archive->db ? sqlite3_errmsg(archive->db) : "out of memory";
    enum pm_status status = PM_ERR_SYSTEM;
    if (code == SQLITE_NOMEM)
        status = PM_ERR_MEMORY;
    else if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_ERROR ||
             code == SQLITE_MISMATCH)
        status = PM_ERR_FORMAT;
    if (code == SQLITE_INTERRUPT)
        return pm_error_set(
            err, PM_ERR_LIMIT,
            "archive '%s' takes more steps to read than its size explains: it is damaged, "
            "or made to do so",
            archive->path);
    int errnum = archive->db ? sqlite3_system_errno(archive->db) : 0;
    if (status == PM_ERR_SYSTEM && errnum)
        return pm_error_system(err, errnum, "archive '%s': %s", archive->path, text);
    return pm_error_set(err, status, "archive '%s': %s", archive->path, text);
}

static enum pm_status exec(struct pm_archive *archive, const char *sql, struct pm_error *err)
{
    return sqlite3_exec(archive->db, sql, NULL, NULL, NULL) == SQLITE_OK
               ? PM_OK
               : pm_archive_error(archive, err);
}

/* --- reading --- */

/* Offsets in an SQLite file's first 100 bytes (sqlite.org, "Database File Format", 1.3):
 *
 *     offset size meaning
 *          0   16 "SQLite format 3" and a zero byte
 *         16    2 page size, big-endian; 1 means 65536
 *         28    4 size in pages, big-endian; valid when the counters at 24 and 92 are equal
 *         68    4 application id
 */
static uint32_t big_endian(const unsigned char *p, int n)
{
    uint32_t value = 0;
    for (int i = 0; i < n; i++)
        value = value << 8 | p[i];
    return value;
}

static enum pm_status check_head(int fd, const char *path, struct pm_error *err)
{
    unsigned char head[100];
    struct stat st;
    ssize_t n = -1;
    bool is_file = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    if (is_file)
        n = pread(fd, head, sizeof head, 0);
    int errnum = errno;
    if (!is_file)
        return pm_error_set(err, PM_ERR_FORMAT, "'%s' is not an archive: not a regular file", path);
    if (n < 0)
        return pm_error_system(err, errnum, "cannot read archive '%s'", path);
    if (n == 0)
        return pm_error_set(err, PM_ERR_FORMAT, "'%s' is not an archive: it is empty", path);
    if (n < (ssize_t)sizeof head || memcmp(head, "SQLite format 3", 16) != 0)
        return pm_error_set(err, PM_ERR_FORMAT, "'%s' is not an archive: not an SQLite file", path);
    if (big_endian(head + 68, 4) != PM_ARCHIVE_APPLICATION_ID)
        return pm_error_set(
            err, PM_ERR_FORMAT,
            "'%s' is not an archive: an SQLite file of application 0x%08x, not 0x%08x", path,
            big_endian(head + 68, 4), PM_ARCHIVE_APPLICATION_ID);
    uint32_t page_bytes = big_endian(head + 16, 2);
    uint64_t size_bytes =
        (uint64_t)(page_bytes == 1 ? 65536 : page_bytes) * big_endian(head + 28, 4);
    if (memcmp(head + 24, head + 92, 4) == 0 && (uint64_t)st.st_size < size_bytes)
        return pm_error_set(err, PM_ERR_FORMAT, "archive '%s' is cut: %lld of %llu bytes", path,
                            (long long)st.st_size, (unsigned long long)size_bytes);
    return PM_OK;
}

/* What can be seen without SQLite, which is told the path. */
static enum pm_status check_file(const char *path, struct pm_error *err)
{
    int fd;
    uint64_t size_bytes;
    if (access(path, F_OK) != 0 && errno == ENOENT)
        return pm_error_set(err, PM_ERR_NOT_FOUND, "there is no archive '%s'", path);
    enum pm_status status = pm_file_open(path, INT64_MAX, err, &fd, &size_bytes);
    if (status != PM_OK)
        return pm_error_add(err, "cannot open archive '%s'", path);
    status = check_head(fd, path, err);
    if (status == PM_OK)
        status = pm_archive_sum_check(fd, path, err);
    close(fd);
    return status;
}

static enum pm_status read_number(struct pm_archive *archive, const char *sql, struct pm_error *err,
                                  int64_t *ret_number)
{
    sqlite3_stmt *statement;
    bool has_row = false;
    enum pm_status status = pm_archive_prepare(archive, sql, err, &statement);
    if (status != PM_OK)
        return status;
    status = pm_archive_step(archive, statement, err, &has_row);
    if (status == PM_OK)
        *ret_number = has_row ? sqlite3_column_int64(statement, 0) : 0;
    sqlite3_finalize(statement);
    return status;
}

/* --- what an archive may make SQLite do ---
 *
 * A file can hold views that never end, virtual tables, computed columns and triggers, and trees
 * of pages that lead to one page again and again. An archive has tables, indices and three views
 * that no reader uses; nothing else is accepted, and reading may take as many steps as its size
 * explains. */

enum { STEPS_AT_ONCE = 100000, MOST_TEXT_BYTES = 1 << 28 };

static int count_steps(void *context)
{
    struct pm_archive *archive = context;
    archive->n_steps += STEPS_AT_ONCE / 1000;
    return archive->n_steps > archive->most_steps;
}

/* A row takes 10 bytes at least, and some hundred steps at most for all that is asked of it. */
static void confine(struct pm_archive *archive, uint64_t size_bytes)
{
    sqlite3 *db = archive->db;
    static const int off[] = {SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_ENABLE_TRIGGER};
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    for (size_t i = 0; i < sizeof off / sizeof *off; i++)
        sqlite3_db_config(db, off[i], 0, NULL);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, MOST_TEXT_BYTES);
    sqlite3_limit(db, SQLITE_LIMIT_EXPR_DEPTH, 100);
    sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
    archive->most_steps = 30000 + size_bytes / 2;
    sqlite3_progress_handler(db, STEPS_AT_ONCE, count_steps, archive);
}

static enum pm_status check_schema(struct pm_archive *archive, struct pm_error *err)
{
    sqlite3_stmt *row;
    enum pm_status status = pm_archive_prepare(
        archive,
        "SELECT s.type, s.name FROM main.sqlite_schema s WHERE NOT (s.type = 'index' OR (s.type = "
        "'view' AND s.name IN ('disarmed', 'costs', 'named_nouns')) OR (s.type = 'table' AND "
        "s.rootpage > 0 AND "
        "NOT EXISTS "
        "(SELECT 1 FROM pragma_table_xinfo(s.name) x WHERE x.hidden <> 0)))",
        err, &row);
    bool has_row = false;
    if (status == PM_OK)
        status = pm_archive_step(archive, row, err, &has_row);
    if (status == PM_OK && has_row)
        status = pm_error_set(
            err, PM_ERR_FORMAT,
            "archive '%s' has a %.20s '%.100s' that is not a plain table: no perfmap wrote it",
            archive->path, pm_archive_text(row, 0), pm_archive_text(row, 1));
    sqlite3_finalize(row);
    return status;
}

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

/* Views of the file itself are not used (see above). */
static enum pm_status name_nouns(struct pm_archive *archive, bool has_files, struct pm_error *err)
{
    static const char in_full[] =
        "CREATE TEMP VIEW nouns_in_full AS SELECT n.id, n.pif_id, n.binary, n.level, "
        "coalesce(n.name, coalesce(f.name, n.file) || ':' || n.line || ':' || n.\"column\") AS "
        "name, n.kind, n.description, n.type, n.linkage, coalesce(f.name, n.file) AS file, n.line, "
        "n.\"column\", n.end_line, n.parent FROM main.nouns n LEFT JOIN main.files f ON f.id = "
        "n.file";
    static const char as_they_are[] = "CREATE TEMP VIEW nouns_in_full AS SELECT * FROM main.nouns";
    return exec(archive, has_files ? in_full : as_they_are, err);
}

static enum pm_status open_checked(struct pm_archive *archive, struct pm_error *err)
{
    if (sqlite3_open_v2(archive->path, &archive->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX,
                        NULL) != SQLITE_OK)
        return pm_archive_error(archive, err);
    struct stat st;
    confine(archive, stat(archive->path, &st) == 0 ? (uint64_t)st.st_size : 0);
    int64_t version;
    enum pm_status status = read_number(archive, "PRAGMA user_version", err, &version);
    if (status != PM_OK)
        return status;
    if (version > 0 && version < PM_ARCHIVE_OLDEST_VERSION)
        return pm_error_set(err, PM_ERR_VERSION,
                            "archive '%s' has version %lld, this perfmap reads version %d: collect "
                            "again from the run folder, or run again",
                            archive->path, (long long)version, PM_ARCHIVE_VERSION);
    if (version < PM_ARCHIVE_OLDEST_VERSION || version > PM_ARCHIVE_VERSION)
        return pm_error_set(err, PM_ERR_VERSION,
                            "archive '%s' has version %lld, this perfmap reads version %d",
                            archive->path, (long long)version, PM_ARCHIVE_VERSION);
    bool has_files = version > PM_ARCHIVE_OLDEST_VERSION;
    if ((status = check_schema(archive, err)) != PM_OK ||
        (status = check_tables(archive, has_files, err)) != PM_OK)
        return status;
    return name_nouns(archive, has_files, err);
}

enum pm_status pm_archive_open(const char *path, struct pm_error *err,
                               struct pm_archive **ret_archive)
{
    enum pm_status status = check_file(path, err);
    if (status != PM_OK)
        return status;
    struct pm_archive *archive = archive_new(path, err);
    if (!archive)
        return PM_ERR_MEMORY;
    status = open_checked(archive, err);
    if (status == PM_OK)
        *ret_archive = archive;
    else
        archive_free(archive);
    return status;
}

void pm_archive_close(struct pm_archive *archive)
{
    if (archive)
        archive_free(archive);
}

sqlite3 *pm_archive_db(struct pm_archive *archive)
{
    return archive->db;
}

const char *pm_archive_path(const struct pm_archive *archive)
{
    return archive->path;
}

enum pm_status pm_archive_prepare(struct pm_archive *archive, const char *sql, struct pm_error *err,
                                  sqlite3_stmt **ret_statement)
{
    archive->n_steps = 0;
    *ret_statement = NULL;
    if (sqlite3_prepare_v2(archive->db, sql, -1, ret_statement, NULL) != SQLITE_OK)
        return pm_archive_error(archive, err);
    return PM_OK;
}

enum pm_status pm_archive_step(struct pm_archive *archive, sqlite3_stmt *statement,
                               struct pm_error *err, bool *ret_has_row)
{
    int code = sqlite3_step(statement);
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        return pm_archive_error(archive, err);
    *ret_has_row = code == SQLITE_ROW;
    return PM_OK;
}

const char *pm_archive_text(sqlite3_stmt *statement, int column)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);
    return text ? text : "";
}

/* --- writing --- */

enum pm_status pm_archive_create(const char *path, struct pm_error *err,
                                 struct pm_archive **ret_archive)
{
    struct stat st;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return pm_error_set(err, PM_ERR_USAGE,
                            "cannot write archive '%s': it is not a regular file", path);
    struct pm_archive *archive = archive_new(path, err);
    if (!archive)
        return PM_ERR_MEMORY;
    enum pm_status status = pm_temporary_make(path, err, &archive->temporary);
    if (status == PM_OK &&
        sqlite3_open_v2(archive->temporary.path, &archive->db,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
        status = pm_archive_error(archive, err);
    /* Nobody else sees the file before it is complete, so a journal would protect nothing. */
    if (status == PM_OK)
        status =
            exec(archive,
                 "PRAGMA page_size = 16384; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; "
                 "PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -65536; PRAGMA temp_store "
                 "= MEMORY; "
                 "PRAGMA application_id = 0x50464d50; PRAGMA user_version = 5; BEGIN",
                 err);
    if (status == PM_OK)
        status = exec(archive, pm_archive_schema(), err);
    if (status == PM_OK)
        *ret_archive = archive;
    else
        pm_archive_discard(archive);
    return status;
}

/* With checksums, and on disk. */
static enum pm_status complete_file(const char *path, const char *shown, struct pm_error *err)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    enum pm_status status = fd < 0 ? pm_error_system(err, errno, "cannot write archive '%s'", shown)
                                   : pm_archive_sum_append(fd, shown, err);
    if (status == PM_OK && fsync(fd) != 0)
        status = pm_error_system(err, errno, "cannot write archive '%s'", shown);
    if (fd >= 0)
        close(fd);
    return status;
}

enum pm_status pm_archive_finish(struct pm_archive *archive, struct pm_error *err)
{
    enum pm_status status = exec(archive, "COMMIT", err);
    if (status == PM_OK && sqlite3_close(archive->db) != SQLITE_OK)
        status = pm_archive_error(archive, err);
    else if (status == PM_OK)
        archive->db = NULL;
    if (status == PM_OK)
        status = complete_file(archive->temporary.path, archive->path, err);
    if (status == PM_OK && rename(archive->temporary.path, archive->temporary.target) != 0)
        status = pm_error_system(err, errno, "cannot write archive '%s'", archive->path);
    if (status != PM_OK) {
        pm_archive_discard(archive);
        return status;
    }
    archive_free(archive);
    return PM_OK;
}

void pm_archive_discard(struct pm_archive *archive)
{
    if (!archive)
        return;
    if (archive->db)
        sqlite3_close_v2(archive->db);
    archive->db = NULL;
    if (archive->temporary.path)
        unlink(archive->temporary.path);
    archive_free(archive);
}
