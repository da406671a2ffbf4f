#include "database.h"

#include "archive_sum.h"
#include "temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct pm_database {
    const struct pm_database_kind *kind;
    sqlite3 *db;
    char *path;
    struct pm_temporary temporary; /* writing: where it goes to and what it is until then */
    int64_t version;
    uint64_t n_steps, most_steps; /* reading: of SQLite's machine, in thousands */
    bool is_repeatable;           /* writing: pm_database_is_repeatable */
};

static void database_free(struct pm_database *database)
{
    if (database->db)
        sqlite3_close_v2(database->db);
    free(database->path);
    pm_temporary_release(&database->temporary);
    free(database);
}

static struct pm_database *database_new(const struct pm_database_kind *kind, const char *path,
                                        struct pm_error *err)
{
    struct pm_database *database = pm_alloc(sizeof *database);
    if (database)
        database->path = pm_strndup(path, strlen(path));
    if (database) {
        database->kind = kind;
        database->temporary.fd = -1;
    }
    if (database && database->path)
        return database;
    free(database);
    pm_error_set(err, PM_ERR_MEMORY, "no memory for %s '%s'", kind->noun, path);
    return NULL;
}

enum pm_status pm_database_error(struct pm_database *database, struct pm_error *err)
{
    int code = database->db ? sqlite3_errcode(database->db) : SQLITE_NOMEM;
    const char *text = database->db ? sqlite3_errmsg(database->db) : "out of memory";
    enum pm_status status = PM_ERR_SYSTEM;
    if (code == SQLITE_NOMEM)
        status = PM_ERR_MEMORY;
    else if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_ERROR ||
             code == SQLITE_MISMATCH)
        status = PM_ERR_FORMAT;
    if (code == SQLITE_INTERRUPT)
        return pm_error_set(
            err, PM_ERR_LIMIT,
            "%s '%s' takes more steps to read than its size explains: it is damaged, "
            "or made to do so",
            database->kind->noun, database->path);
    int errnum = database->db ? sqlite3_system_errno(database->db) : 0;
    if (status == PM_ERR_SYSTEM && errnum)
        return pm_error_system(err, errnum, "%s '%s': %s", database->kind->noun, database->path,
                               text);
    return pm_error_set(err, status, "%s '%s': %s", database->kind->noun, database->path, text);
}

enum pm_status pm_database_exec(struct pm_database *database, const char *sql, struct pm_error *err)
{
    return sqlite3_exec(database->db, sql, NULL, NULL, NULL) == SQLITE_OK
               ? PM_OK
               : pm_database_error(database, err);
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

static enum pm_status check_head(const struct pm_database_kind *kind, int fd, const char *path,
                                 struct pm_error *err)
{
    unsigned char head[100];
    struct stat st;
    ssize_t n = -1;
    bool is_file = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    if (is_file)
        n = pread(fd, head, sizeof head, 0);
    int errnum = errno;
    if (!is_file)
        return pm_error_set(err, PM_ERR_FORMAT, "'%s' is not %s: not a regular file", path,
                            kind->indefinite);
    if (n < 0)
        return pm_error_system(err, errnum, "cannot read %s '%s'", kind->noun, path);
    if (n == 0)
        return pm_error_set(err, PM_ERR_FORMAT, "'%s' is not %s: it is empty", path,
                            kind->indefinite);
    if (n < (ssize_t)sizeof head || memcmp(head, "SQLite format 3", 16) != 0)
        return pm_error_set(err, PM_ERR_FORMAT, "'%s' is not %s: not an SQLite file", path,
                            kind->indefinite);
    if (big_endian(head + 68, 4) != kind->application_id)
        return pm_error_set(err, PM_ERR_FORMAT,
                            "'%s' is not %s: an SQLite file of application 0x%08x, not 0x%08x",
                            path, kind->indefinite, big_endian(head + 68, 4), kind->application_id);
    uint32_t page_bytes = big_endian(head + 16, 2);
    uint64_t size_bytes =
        (uint64_t)(page_bytes == 1 ? 65536 : page_bytes) * big_endian(head + 28, 4);
    if (memcmp(head + 24, head + 92, 4) == 0 && (uint64_t)st.st_size < size_bytes)
        return pm_error_set(err, PM_ERR_FORMAT, "%s '%s' is cut: %lld of %llu bytes", kind->noun,
                            path, (long long)st.st_size, (unsigned long long)size_bytes);
    return PM_OK;
}

/* What can be seen without SQLite, which is told the path. */
static enum pm_status check_file(const struct pm_database_kind *kind, const char *path,
                                 struct pm_error *err)
{
    int fd;
    uint64_t size_bytes;
    if (access(path, F_OK) != 0 && errno == ENOENT)
        return pm_error_set(err, PM_ERR_NOT_FOUND, "there is no %s '%s'", kind->noun, path);
    enum pm_status status = pm_file_open(path, INT64_MAX, err, &fd, &size_bytes);
    if (status != PM_OK)
        return pm_error_add(err, "cannot open %s '%s'", kind->noun, path);
    status = check_head(kind, fd, path, err);
    if (status == PM_OK)
        status = pm_archive_sum_check(fd, kind->noun, kind->remedy, path, err);
    close(fd);
    return status;
}

static enum pm_status read_number(struct pm_database *database, const char *sql,
                                  struct pm_error *err, int64_t *ret_number)
{
    sqlite3_stmt *statement;
    bool has_row = false;
    enum pm_status status = pm_database_prepare(database, sql, err, &statement);
    if (status != PM_OK)
        return status;
    status = pm_database_step(database, statement, err, &has_row);
    *ret_number = has_row ? sqlite3_column_int64(statement, 0) : 0;
    sqlite3_finalize(statement);
    return status;
}

/* --- what a file may make SQLite do ---
 *
 * A file can hold views that never end, virtual tables, computed columns and triggers, and trees
 * of pages that lead to one page again and again. A file has tables, indices and the views of its
 * kind, that no reader uses; nothing else is accepted, and reading may take as many steps as its
 * size explains. */

enum { STEPS_AT_ONCE = 100000, MOST_TEXT_BYTES = 1 << 28, LONGEST_WAIT_MS = 10000 };

static int count_steps(void *context)
{
    struct pm_database *database = context;
    database->n_steps += STEPS_AT_ONCE / 1000;
    return database->n_steps > database->most_steps;
}

/* A row takes 10 bytes at least, and some hundred steps at most for all that is asked of it. */
static void confine(struct pm_database *database, uint64_t size_bytes)
{
    sqlite3 *db = database->db;
    static const int off[] = {SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_ENABLE_TRIGGER};
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    for (size_t i = 0; i < sizeof off / sizeof *off; i++)
        sqlite3_db_config(db, off[i], 0, NULL);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, MOST_TEXT_BYTES);
    sqlite3_limit(db, SQLITE_LIMIT_EXPR_DEPTH, 100);
    sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
    database->most_steps = 30000 + size_bytes / 2;
    sqlite3_progress_handler(db, STEPS_AT_ONCE, count_steps, database);
}

static enum pm_status check_schema(struct pm_database *database, struct pm_error *err)
{
    sqlite3_stmt *row;
    enum pm_status status = pm_database_prepare(
        database,
        "SELECT s.type, s.name FROM main.sqlite_schema s WHERE NOT (s.type = 'index' OR (s.type = "
        "'view' AND instr(?1, char(39) || s.name || char(39))) OR (s.type = 'table' AND "
        "s.rootpage > 0 AND "
        "NOT EXISTS "
        "(SELECT 1 FROM pragma_table_xinfo(s.name) x WHERE x.hidden <> 0)))",
        err, &row);
    bool has_row = false;
    if (status == PM_OK) {
        sqlite3_bind_text(row, 1, database->kind->views, -1, SQLITE_STATIC);
        status = pm_database_step(database, row, err, &has_row);
    }
    if (status == PM_OK && has_row)
        status = pm_error_set(
            err, PM_ERR_FORMAT,
            "%s '%s' has a %.20s '%.100s' that is not a plain table: no perfmap wrote it",
            database->kind->noun, database->path, pm_database_text(row, 0),
            pm_database_text(row, 1));
    sqlite3_finalize(row);
    return status;
}

static enum pm_status check_version(struct pm_database *database, struct pm_error *err)
{
    const struct pm_database_kind *kind = database->kind;
    bool is_old = database->version > 0 && database->version < kind->oldest_version;
    if (database->version >= kind->oldest_version && database->version <= kind->version)
        return PM_OK;
    static const char text[] = "%s '%s' has version %lld, this perfmap reads version %d%s%s";
    const char *remedy = is_old ? kind->remedy : "";
    return pm_error_set(err, PM_ERR_VERSION, text, kind->noun, database->path,
                        (long long)database->version, kind->version, *remedy ? ": " : "", remedy);
}

static enum pm_status open_checked(struct pm_database *database, int how, struct pm_error *err)
{
    if (sqlite3_open_v2(database->path, &database->db, how | SQLITE_OPEN_NOMUTEX, NULL) !=
        SQLITE_OK)
        return pm_database_error(database, err);
    if (how == SQLITE_OPEN_READWRITE)
        sqlite3_busy_timeout(database->db, LONGEST_WAIT_MS);
    struct stat st;
    confine(database, stat(database->path, &st) == 0 ? (uint64_t)st.st_size : 0);
    enum pm_status status = read_number(database, "PRAGMA user_version", err, &database->version);
    if (status != PM_OK)
        return status;
    status = check_version(database, err);
    if (status != PM_OK)
        return status;
    return check_schema(database, err);
}

static enum pm_status open_how(const struct pm_database_kind *kind, const char *path, int how,
                               struct pm_error *err, struct pm_database **ret_database)
{
    enum pm_status status = check_file(kind, path, err);
    if (status != PM_OK)
        return status;
    struct pm_database *database = database_new(kind, path, err);
    if (!database)
        return PM_ERR_MEMORY;
    status = open_checked(database, how, err);
    if (status == PM_OK)
        *ret_database = database;
    else
        database_free(database);
    return status;
}

enum pm_status pm_database_open(const struct pm_database_kind *kind, const char *path,
                                struct pm_error *err, struct pm_database **ret_database)
{
    return open_how(kind, path, SQLITE_OPEN_READONLY, err, ret_database);
}

enum pm_status pm_database_open_to_change(const struct pm_database_kind *kind, const char *path,
                                          struct pm_error *err, struct pm_database **ret_database)
{
    return open_how(kind, path, SQLITE_OPEN_READWRITE, err, ret_database);
}

void pm_database_close(struct pm_database *database)
{
    if (database)
        database_free(database);
}

sqlite3 *pm_database_db(struct pm_database *database)
{
    return database->db;
}

int64_t pm_database_version(const struct pm_database *database)
{
    return database->version;
}

const char *pm_database_path(const struct pm_database *database)
{
    return database->path;
}

enum pm_status pm_database_prepare(struct pm_database *database, const char *sql,
                                   struct pm_error *err, sqlite3_stmt **ret_statement)
{
    database->n_steps = 0;
    *ret_statement = NULL;
    if (sqlite3_prepare_v2(database->db, sql, -1, ret_statement, NULL) != SQLITE_OK)
        return pm_database_error(database, err);
    return PM_OK;
}

enum pm_status pm_database_step(struct pm_database *database, sqlite3_stmt *statement,
                                struct pm_error *err, bool *ret_has_row)
{
    int code = sqlite3_step(statement);
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        return pm_database_error(database, err);
    *ret_has_row = code == SQLITE_ROW;
    return PM_OK;
}

static enum pm_status each_row(struct pm_database *database, sqlite3_stmt *row,
                               pm_database_visit *visit, void *context, struct pm_error *err)
{
    for (bool has_row;;) {
        enum pm_status status = pm_database_step(database, row, err, &has_row);
        if (status != PM_OK || !has_row)
            return status;
        status = visit(context, row);
        if (status != PM_OK)
            return status;
    }
}

enum pm_status pm_database_each(struct pm_database *database, const char *sql, int64_t id,
                                pm_database_visit *visit, void *context, struct pm_error *err)
{
    sqlite3_stmt *row;
    enum pm_status status = pm_database_prepare(database, sql, err, &row);
    if (status != PM_OK)
        return status;
    if (id)
        sqlite3_bind_int64(row, 1, id);
    status = each_row(database, row, visit, context, err);
    sqlite3_finalize(row);
    return status;
}

const char *pm_database_text(sqlite3_stmt *statement, int column)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);
    return text ? text : "";
}

enum pm_status pm_database_in_memory(const struct pm_database_kind *kind, const char *name,
                                     struct pm_error *err, struct pm_database **ret_database)
{
    struct pm_database *database = database_new(kind, name, err);
    if (!database)
        return PM_ERR_MEMORY;
    enum pm_status status = PM_OK;
    if (sqlite3_open_v2(":memory:", &database->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
                        NULL) != SQLITE_OK)
        status = pm_database_error(database, err);
    else
        status = pm_database_exec(database, kind->schema(), err);
    if (status != PM_OK) {
        database_free(database);
        return status;
    }
    *ret_database = database;
    return PM_OK;
}

/* --- writing --- */

static enum pm_status mark(struct pm_database *database, struct pm_error *err)
{
    char sql[120];
    snprintf(sql, sizeof sql, "PRAGMA application_id = %u; PRAGMA user_version = %d; BEGIN",
             database->kind->application_id, database->kind->version);
    return pm_database_exec(database, sql, err);
}

/* Nobody else sees the file before it is complete, so a journal would protect nothing. */
static enum pm_status begin_file(struct pm_database *database, struct pm_error *err)
{
    static const char tuned[] =
        "PRAGMA page_size = 16384; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; "
        "PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY";
    const struct pm_database_kind *kind = database->kind;
    enum pm_status status = pm_temporary_make(database->path, kind->noun, kind->usual_suffix, err,
                                              &database->temporary);
    if (status != PM_OK)
        return status;
    if (sqlite3_open_v2(database->temporary.path, &database->db,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
        return pm_database_error(database, err);
    status = pm_database_exec(database, tuned, err);
    if (status != PM_OK)
        return status;
    status = mark(database, err);
    if (status != PM_OK)
        return status;
    return pm_database_exec(database, kind->schema(), err);
}

enum pm_status pm_database_create(const struct pm_database_kind *kind, const char *path,
                                  struct pm_error *err, struct pm_database **ret_database)
{
    struct stat st;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return pm_error_set(err, PM_ERR_USAGE, "cannot write %s '%s': it is not a regular file",
                            kind->noun, path);
    struct pm_database *database = database_new(kind, path, err);
    if (!database)
        return PM_ERR_MEMORY;
    enum pm_status status = begin_file(database, err);
    if (status != PM_OK) {
        pm_database_discard(database);
        return status;
    }
    *ret_database = database;
    return PM_OK;
}

/* With checksums, and on disk. */
static enum pm_status complete_file(const struct pm_database *database, struct pm_error *err)
{
    const char *noun = database->kind->noun, *shown = database->path;
    int fd = open(database->temporary.path, O_RDWR | O_CLOEXEC);
    enum pm_status status = fd < 0
                                ? pm_error_system(err, errno, "cannot write %s '%s'", noun, shown)
                                : pm_archive_sum_append(fd, noun, shown, err);
    if (status == PM_OK && !database->is_repeatable && fsync(fd) != 0)
        status = pm_error_system(err, errno, "cannot write %s '%s'", noun, shown);
    if (fd >= 0)
        close(fd);
    return status;
}

void pm_database_is_repeatable(struct pm_database *database)
{
    database->is_repeatable = true;
}

enum pm_status pm_database_finish(struct pm_database *database, struct pm_error *err)
{
    enum pm_status status = pm_database_exec(database, "COMMIT", err);
    if (status == PM_OK && sqlite3_close(database->db) != SQLITE_OK)
        status = pm_database_error(database, err);
    else if (status == PM_OK)
        database->db = NULL;
    if (status == PM_OK)
        status = complete_file(database, err);
    if (status == PM_OK && rename(database->temporary.path, database->temporary.target) != 0)
        status = pm_error_system(err, errno, "cannot write %s '%s'", database->kind->noun,
                                 database->path);
    if (status != PM_OK) {
        pm_database_discard(database);
        return status;
    }
    database_free(database);
    return PM_OK;
}

void pm_database_discard(struct pm_database *database)
{
    if (!database)
        return;
    if (database->db)
        sqlite3_close_v2(database->db);
    database->db = NULL;
    if (database->temporary.path)
        unlink(database->temporary.path);
    database_free(database);
}
