/* A program that uses SQLite from two threads, with an authorizer of its own, and counts its steps by statement: "COUNT TEXT" lines. */
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static _Atomic long n_inserts, n_selects, n_begins, n_commits, n_asked;

static void check(int status, sqlite3 *db)
{
    if (status == SQLITE_OK || status == SQLITE_ROW || status == SQLITE_DONE)
        return;
    fprintf(stderr, "%s\n", sqlite3_errmsg(db));
    exit(1);
}

/* Counts, and forbids one table. */
static int authorize(void *context, int action, const char *a, const char *b, const char *c, const char *d)
{
    (void)context, (void)b, (void)c, (void)d;
    n_asked++;
    return action == SQLITE_READ && a && !sqlite3_stricmp(a, "secret") ? SQLITE_DENY : SQLITE_OK;
}

static void run(sqlite3 *db, const char *sql, _Atomic long *n)
{
    sqlite3_stmt *statement;
    check(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), db);
    int status;
    do {
        check(status = sqlite3_step(statement), db);
        (*n)++;
    } while (status == SQLITE_ROW);
    sqlite3_finalize(statement);
}

static void *work(void *unused)
{
    (void)unused;
    sqlite3 *db;
    sqlite3_stmt *denied = NULL;
    char sql[200];
    _Atomic long other = 0;
    check(sqlite3_open(":memory:", &db), db);
    run(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, n INT)", &other);
    run(db, "CREATE TABLE secret(x)", &other);
    run(db, "CREATE INDEX t_by_n ON t(n)", &other);
    check(sqlite3_set_authorizer(db, authorize, NULL), db);
    for (int round = 0; round < 20; round++) {
        run(db, "BEGIN", &n_begins);
        for (int i = 0; i < 50; i++) { /* one statement but for its values */
            snprintf(sql, sizeof sql, "INSERT INTO t(n)\n VALUES (%d)", i);
            run(db, sql, &n_inserts);
        }
        run(db, "COMMIT", &n_commits);
        run(db, "SELECT id FROM t WHERE n = 7", &n_selects);
    }
    if (sqlite3_prepare_v2(db, "SELECT x FROM secret", -1, &denied, NULL) != SQLITE_AUTH)
        exit(2);
    sqlite3_close(db);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    work(NULL);
    pthread_join(thread, NULL);
    printf("%ld INSERT INTO t(n) VALUES (?)\n%ld SELECT id FROM t WHERE n = ?\n%ld BEGIN\n%ld COMMIT\n", n_inserts, n_selects, n_begins, n_commits);
    fprintf(stderr, "%ld questions\n", n_asked);
    return n_asked > 0 ? 0 : 3;
}
