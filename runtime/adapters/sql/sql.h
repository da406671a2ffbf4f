/* SQL: any program that uses libsqlite3. Level SQL has statements (kind `query`: their text,
 * with literals as ?), the tables and indexes that they use and the databases, verbs Prepares,
 * Executes, Ends, Reads, Writes, Commits.
 *
 *     {SELECT * FROM t WHERE id = ? Executes}    while sqlite3_step runs it; mapped to {t Reads},
 *                                                {t_by_id Reads}
 *
 *   calls.c    functions of SQLite, and what statements touch
 *   text.c     a statement's text as a name
 */
#ifndef PM_ADAPTER_SQL_H
#define PM_ADAPTER_SQL_H

#include "runtime/adapters/adapter.h"

#include <stddef.h>

enum { TEXT_BYTES = 400 };

/* One blank for many blanks and comments, ? for numbers and strings that are no names, so that
 * statements that differ by values are one. */
void sql_normalise(const char *sql, char text[TEXT_BYTES]);
/* Bytes of the first of several statements, up to its semicolon: what a preparation takes,
 * triggers with their body. */
size_t sql_first_statement(const char *sql);
/* SELECT, INSERT and the like: it does not change the schema. */
bool sql_is_about_rows(const char *sql);
/* As UTF-8 with an end, as much as there is room for; bytes < 0: up to its end. */
void sql_from_utf16(const void *sql, int bytes, char *text, size_t room);

#endif
