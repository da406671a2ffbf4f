/* statements FILE [16]: runs each line, a statement; `.open NAME` opens a database. Around what it does it asks for files that are not there, for strace:
 * "mark/LINE/Prepares", "mark/LINE/Executes", "mark/LINE/Ends", "mark/LINE/none". What SQLite itself counted is printed, one line for each statement:
 * line number, runs, rows, steps that the program made, pages that were missing in the cache and pages that were written, by preparing and by the rest.
 * Those with RETURNING are stepped once and given up.
 * 16: the statements are given in UTF-16. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <uchar.h>
#include <unistd.h>

static int line_no, is_utf16;

static void mark(const char *what)
{
    char name[64];
    snprintf(name, sizeof name, "mark/%d/%s", line_no, what);
    if (access(name, F_OK) == 0)
        exit(4);
}

static void check(int status, sqlite3 *db)
{
    if (status == SQLITE_OK || status == SQLITE_ROW || status == SQLITE_DONE)
        return;
    fprintf(stderr, "line %d: %s\n", line_no, sqlite3_errmsg(db));
    exit(1);
}

/* Since it was asked last. */
static int counted(sqlite3 *db, int what)
{
    int now = 0, high = 0;
    check(sqlite3_db_status(db, what, &now, &high, 1), db);
    return now;
}

static int prepare(sqlite3 *db, const char *sql, sqlite3_stmt **statement)
{
    char16_t wide[1000];
    size_t n = 0;
    if (!is_utf16)
        return sqlite3_prepare_v2(db, sql, -1, statement, NULL);
    do
        wide[n] = (unsigned char)sql[n];
    while (sql[n++]);
    return sqlite3_prepare16_v2(db, wide, -1, statement, NULL);
}

static void run(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement;
    int n_rows = 0, n_steps = 0, n_runs = 0, given_up = strstr(sql, "RETURNING") != NULL, twice = !strncasecmp(sql, "SELECT", 6);
    counted(db, SQLITE_DBSTATUS_CACHE_WRITE);
    counted(db, SQLITE_DBSTATUS_CACHE_MISS);
    mark("Prepares");
    check(prepare(db, sql, &statement), db);
    mark("none");
    int written = counted(db, SQLITE_DBSTATUS_CACHE_WRITE), missing = counted(db, SQLITE_DBSTATUS_CACHE_MISS);
    for (int i = 0; i <= twice; i++) {
        int status;
        mark("Executes");
        do {
            check(status = sqlite3_step(statement), db);
            n_steps++;
            n_rows += status == SQLITE_ROW;
        } while (status == SQLITE_ROW && !given_up);
        mark("Ends");
        check(sqlite3_reset(statement), db);
        mark("none");
    }
    n_runs = sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_RUN, 0);
    sqlite3_finalize(statement);
    printf("%d %d %d %d %d %d %d %d\n", line_no, n_runs, n_rows, n_steps, missing, written, counted(db, SQLITE_DBSTATUS_CACHE_MISS),
           counted(db, SQLITE_DBSTATUS_CACHE_WRITE));
}

int main(int n, char **arguments)
{
    char sql[1000];
    sqlite3 *db = NULL;
    FILE *file = n >= 2 ? fopen(arguments[1], "r") : NULL;
    if (!file)
        return 2;
    is_utf16 = n == 3;
    while (fgets(sql, sizeof sql, file)) {
        line_no++;
        sql[strcspn(sql, "\n")] = 0;
        if (strncmp(sql, ".open ", 6) == 0) {
            mark("opens");
            check(sqlite3_close(db), db);
            check(sqlite3_open(sql + 6, &db), db);
        } else {
            run(db, sql);
        }
    }
    fclose(file);
    check(sqlite3_close(db), db);
    return 0;
}
