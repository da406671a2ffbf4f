/* How long does SQLite take for a small piece of work? The same piece many times in one process;
 * prints the shortest in nanoseconds, for that is what repeats (others measure what else the
 * machine did meanwhile). Linked with SQLite compiled in different ways.
 *
 *     sqlite_unit [SECONDS [REPETITIONS]]
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int sqlite3_open(const char *, void **);
int sqlite3_exec(void *, const char *, void *, void *, char **);

static const char setup[] =
    "CREATE TABLE a(id INTEGER PRIMARY KEY, k INT, t TEXT); CREATE INDEX ak ON a(k);"
    "CREATE TABLE b(id INTEGER PRIMARY KEY, a INT, n INT);";
static const char unit[] =
    "BEGIN;"
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)"
    " INSERT INTO a SELECT i, i * 7919 % 401, printf('name %d', i) FROM n;"
    "INSERT INTO b SELECT id, id * 31 % 400 + 1, k FROM a;"
    "SELECT count(*), sum(n) FROM a JOIN b ON b.a = a.id WHERE a.k BETWEEN 50 AND 300;"
    "SELECT k % 10, count(*), max(t) FROM a GROUP BY 1 ORDER BY 2 DESC;"
    "SELECT sum(n) OVER (ORDER BY id ROWS 5 PRECEDING) FROM b LIMIT 100;"
    "UPDATE a SET t = upper(t) WHERE k % 3 = 0;"
    "DELETE FROM b; DELETE FROM a; COMMIT;";

static long long now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int main(int argc, char **argv)
{
    long long end = now_ns() + (long long)((argc > 1 ? atof(argv[1]) : 1) * 1e9);
    long n_left = argc > 2 ? atol(argv[2]) : LONG_MAX;
    void *db;
    if (sqlite3_open(":memory:", &db) != 0 || sqlite3_exec(db, setup, NULL, NULL, NULL) != 0)
        return 1;
    long long best = -1;
    for (long long start; n_left-- > 0 && (start = now_ns()) < end;) {
        if (sqlite3_exec(db, unit, NULL, NULL, NULL) != 0)
            return 1;
        long long ns = now_ns() - start;
        if (best < 0 || ns < best)
            best = ns;
    }
    printf("%lld\n", best);
    return 0;
}
