/* SQLite files of PerfMap's own kinds: opening one that is not trusted, making one that appears
 * whole or not at all. archive.h is built on this, and so is the program database (pdt/).
 *
 *     static const struct pm_database_kind kind = {.noun = "archive", .version = 5};
 *     struct pm_database *database;
 *     sqlite3_stmt *query;
 *     if (pm_database_open(&kind, "heat.perfmap", &err, &database) == PM_OK &&
 *         pm_database_prepare(database, "SELECT id FROM nouns", &err, &query) == PM_OK) {
 *         bool has_row;
 *         enum pm_status status;
 *         while ((status = pm_database_step(database, query, &err, &has_row)) == PM_OK && has_row)
 *             use(sqlite3_column_int64(query, 0));
 *         sqlite3_finalize(query);
 *     }
 *     pm_database_close(database);
 *
 * Damage that shows only while reading comes back from pm_database_step as PM_ERR_FORMAT. One
 * thread at a time per database.
 */
#ifndef PM_DATABASE_H
#define PM_DATABASE_H

#include "../base/str.h"

#include <sqlite3.h>

struct pm_database;

/* What a kind of file is. Constant; must outlive its databases. */
struct pm_database_kind {
    const char *noun;            /* for messages: "archive" */
    const char *indefinite;      /* "an archive" */
    const char *remedy;          /* what to do with an older version, or a damaged one */
    const char *views;           /* those that the schema has: "'a', 'b'" */
    const char *(*schema)(void); /* SQL, for writers */
    const char *usual_suffix;    /* of names: what a killed writer left is found by it */
    uint32_t application_id;
    int oldest_version, version; /* that are read; version is written */
};

/* Opens for reading. PM_ERR_NOT_FOUND: no such file; PM_ERR_FORMAT: not SQLite, of another kind,
 * cut, damaged (archive_sum.h), or it has more than plain tables and the kind's views;
 * PM_ERR_VERSION: of a version that is not read. */
PM_MUST_CHECK enum pm_status pm_database_open(const struct pm_database_kind *kind, const char *path,
                                              struct pm_error *err,
                                              struct pm_database **ret_database);
/* The same of a kind that is changed in place, in transactions. Where the file may only be read,
 * changes fail. Who finds it locked waits up to ten seconds. */
PM_MUST_CHECK enum pm_status pm_database_open_to_change(const struct pm_database_kind *kind,
                                                        const char *path, struct pm_error *err,
                                                        struct pm_database **ret_database);
void pm_database_close(struct pm_database *database);

sqlite3 *pm_database_db(struct pm_database *database);
const char *pm_database_path(const struct pm_database *database);
int64_t pm_database_version(const struct pm_database *database);

PM_MUST_CHECK enum pm_status pm_database_prepare(struct pm_database *database, const char *sql,
                                                 struct pm_error *err,
                                                 sqlite3_stmt **ret_statement);
PM_MUST_CHECK enum pm_status pm_database_step(struct pm_database *database, sqlite3_stmt *statement,
                                              struct pm_error *err, bool *ret_has_row);
/* All rows of a statement, one after the other, until visit returns other than PM_OK. id: bound to
 * ?1; 0: nothing is. */
typedef enum pm_status pm_database_visit(void *context, sqlite3_stmt *row);
PM_MUST_CHECK enum pm_status pm_database_each(struct pm_database *database, const char *sql,
                                              int64_t id, pm_database_visit *visit, void *context,
                                              struct pm_error *err);
/* Statements without rows. */
PM_MUST_CHECK enum pm_status pm_database_exec(struct pm_database *database, const char *sql,
                                              struct pm_error *err);
/* A text column; "" for NULL. Lent until the next step. Bytes are as they were, in any encoding. */
const char *pm_database_text(sqlite3_stmt *statement, int column);

/* An empty one in memory, with the kind's schema; name stands for its path in messages. */
PM_MUST_CHECK enum pm_status pm_database_in_memory(const struct pm_database_kind *kind,
                                                   const char *name, struct pm_error *err,
                                                   struct pm_database **ret_database);

/* For the writer. A new database with the kind's schema, in a temporary file beside path, tuned
 * for one bulk load; within one transaction. _finish ends the transaction, syncs and renames; the
 * database is closed either way. _discard removes the temporary. */
PM_MUST_CHECK enum pm_status pm_database_create(const struct pm_database_kind *kind,
                                                const char *path, struct pm_error *err,
                                                struct pm_database **ret_database);
/* _finish does not wait until the disk has it: when power fails then, it can be made again. */
void pm_database_is_repeatable(struct pm_database *database);
PM_MUST_CHECK enum pm_status pm_database_finish(struct pm_database *database, struct pm_error *err);
void pm_database_discard(struct pm_database *database);

/* Adds what SQLite has to say to err; returns PM_ERR_FORMAT, PM_ERR_MEMORY or PM_ERR_SYSTEM. */
enum pm_status pm_database_error(struct pm_database *database, struct pm_error *err);

#endif
