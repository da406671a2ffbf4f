/* The archive file (schema.sql, docs/formats/archive.md): opening one to read, making one to write.
 *
 *     struct pm_archive *archive;
 *     sqlite3_stmt *query;
 *     if (pm_archive_open("heat.perfmap", &err, &archive) == PM_OK &&
 *         pm_archive_prepare(archive, "SELECT id, name FROM nouns", &err, &query) == PM_OK) {
 *         bool has_row;
 *         enum pm_status status;
 *         while ((status = pm_archive_step(archive, query, &err, &has_row)) == PM_OK && has_row)
 *             use(sqlite3_column_int64(query, 0), pm_archive_text(query, 1));
 *         sqlite3_finalize(query);
 *     }
 *     pm_archive_close(archive);
 *
 * Damage that shows only while reading comes back from pm_archive_step as PM_ERR_FORMAT. One thread
 * at a time per archive.
 */
#ifndef PM_ARCHIVE_H
#define PM_ARCHIVE_H

#include "database.h"

/* How the description of a metric begins that is known of whole processes only. */
#define PM_OF_PROCESSES "of whole processes"
/* Or with this: each thread has what all of them counted since one of them last looked. */
#define PM_OF_ALL_THREADS "of all threads"
/* Or ends with this: PAPI took samples, which are estimates. */
#define PM_BY_OVERFLOW ", by overflow"
/* The problem of a counter that the kernel stopped, for it had too many samples. */
#define PM_THROTTLED "throttled"
/* Or ends with this: it was counted in turns with others. */
#define PM_IN_TURNS ", in turns"

#define PM_ARCHIVE_APPLICATION_ID 0x50464d50 /* "PFMP" */
#define PM_ARCHIVE_VERSION 8
/* Those before are read, too: 7 had no steps of traces, 6 no times of costs, 5 packed traces with
 * zlib, and 4 had each noun's file and name in full. */
#define PM_ARCHIVE_OLDEST_VERSION 4

struct pm_archive;

/* Opens for reading. Nouns are to be read from temp.nouns_in_full, which has the columns of table
 * nouns, with names and files in full. PM_ERR_NOT_FOUND: no such file; PM_ERR_FORMAT: not SQLite,
 * not an archive of PerfMap, cut, damaged (database.h), or tables are missing; PM_ERR_VERSION:
 * written by a later perfmap, or long ago. */
PM_MUST_CHECK enum pm_status pm_archive_open(const char *path, struct pm_error *err,
                                             struct pm_archive **ret_archive);
void pm_archive_close(struct pm_archive *archive);

sqlite3 *pm_archive_db(struct pm_archive *archive);
const char *pm_archive_path(const struct pm_archive *archive);

PM_MUST_CHECK enum pm_status pm_archive_prepare(struct pm_archive *archive, const char *sql,
                                                struct pm_error *err, sqlite3_stmt **ret_statement);
PM_MUST_CHECK enum pm_status pm_archive_step(struct pm_archive *archive, sqlite3_stmt *statement,
                                             struct pm_error *err, bool *ret_has_row);
/* A text column; "" for NULL. Lent until the next step. Bytes are as they were, in any encoding. */
const char *pm_archive_text(sqlite3_stmt *statement, int column);

/* For the writer. A new archive, empty, in a temporary file beside path, tuned for one bulk load;
 * within one transaction. pm_archive_finish ends the transaction, syncs and renames; the archive is
 * closed either way. pm_archive_discard removes the temporary. */
PM_MUST_CHECK enum pm_status pm_archive_create(const char *path, struct pm_error *err,
                                               struct pm_archive **ret_archive);
void pm_archive_is_repeatable(struct pm_archive *archive); /* database.h; NULL is none */
PM_MUST_CHECK enum pm_status pm_archive_finish(struct pm_archive *archive, struct pm_error *err);
void pm_archive_discard(struct pm_archive *archive);

/* Adds what SQLite has to say to err; returns PM_ERR_FORMAT, PM_ERR_MEMORY or PM_ERR_SYSTEM. */
enum pm_status pm_archive_error(struct pm_archive *archive, struct pm_error *err);

/* The text of schema.sql. */
const char *pm_archive_schema(void);

#endif
