/* make_large_archive ARCHIVE [CONTEXTS [MAPPINGS]]: an archive as large as that of a long run of
 * a large program (100 000 contexts, 1 000 000 mappings unless said otherwise), to measure what
 * reports take. Numbers are from a fixed sequence, so it is always the same.
 *
 *     make_large_archive large.perfmap && /usr/bin/time -v perfmap report --by statement
 *     large.perfmap
 */
#include "mapping/archive/archive.h"

#include <stdlib.h>

enum { N_FILES = 100, N_FUNCTIONS = 4000, N_LOOPS = 10000, N_STATEMENTS = 60000, N_ARRAYS = 8000 };
enum { FIRST_SYMBOL = 2, FIRST_CODE = 100000, FIRST_SOURCE = 1000000 };

static uint64_t random_state = 1;

static uint32_t random_below(uint32_t n)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((random_state >> 33) % n);
}

static sqlite3 *db;

/* One row of numbers. */
static bool insert(sqlite3_stmt *statement, const int64_t *values, int n)
{
    for (int i = 0; i < n; i++)
        sqlite3_bind_int64(statement, i + 1, values[i]);
    bool ok = sqlite3_step(statement) == SQLITE_DONE;
    sqlite3_reset(statement);
    return ok;
}
#define INSERT(statement, ...)                        \
    insert(statement, (const int64_t[]){__VA_ARGS__}, \
           (int)(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)))

static sqlite3_stmt *prepare(const char *sql)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
        fprintf(stderr, "%s: %s\n", sql, sqlite3_errmsg(db));
    return statement;
}

static bool add_head(void)
{
    static const char sql[] =
        "INSERT INTO executions VALUES (1, 'large', './large', '/tmp', 'node', 'active', "
        "1700000000000000000, 100000000000, 1, 1, 1, 0, NULL);"
        "INSERT INTO processes VALUES (1, 1, 1, 1, 0, '/tmp/large', './large', 0, 100000000000, "
        "'exit', 1, 1, 1, 1, 1, 1, 0, 0, 0);"
        "INSERT INTO threads VALUES (1, 1, 1, 1, 'large', 0, 100000000000, 1);"
        "INSERT INTO sampling VALUES (1, 'perf', 'cpu', 2004008, 1, 1, 50000, 0, NULL);"
        "INSERT INTO binaries(id, path, build_id, n_sleds, n_bad_sleds, pif_state, map_state) "
        "VALUES (1, '/tmp/large', 'ab', 1, 0, 'read', 'read');"
        "INSERT INTO levels VALUES (1, 'Base', NULL), (2, 'Source', 1);"
        "INSERT INTO verbs VALUES (1, 1, 'Executes', NULL), (2, 2, 'Executes', NULL), (3, 2, "
        "'Reads', NULL);"
        "INSERT INTO metrics VALUES (1, 'n_calls', '', 'count', 'sum', 'calls'), (2, 'cpu_ns', "
        "'ns', 'time', 'sum', 'sampled CPU time'),"
        " (3, 'n_samples', '', 'count', 'sum', 'samples');"
        "INSERT INTO nouns(id, pif_id, level, name, kind) VALUES (1, 1, 1, 'large', 'process');"
        "INSERT INTO sentences VALUES (1, 1, 1); INSERT INTO contexts VALUES (1, NULL, 1, 0);";
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;
}

/* Nouns of the source and their sentences, which have the same ids: files, functions, loops,
 * statements, arrays. */
static bool add_source(void)
{
    static const struct {
        const char *kind;
        int n, first, n_parents, first_parent;
    } kinds[] = {
        {"file", N_FILES, 0, 0, 0},
        {"function", N_FUNCTIONS, 10000, N_FILES, 0},
        {"loop", N_LOOPS, 20000, N_FUNCTIONS, 10000},
        {"statement", N_STATEMENTS, 40000, N_LOOPS, 20000},
        {"array", N_ARRAYS, 120000, N_FUNCTIONS, 10000},
    };
    sqlite3_stmt *noun = prepare("INSERT INTO nouns(id, pif_id, binary, level, name, kind, file, "
                                 "line, \"column\", parent) VALUES "
                                 "(?1, ?1, 1, 2, ?5 || ?1, ?5, 'file' || ?4 || '.c', ?2, 5, ?3)"),
                 *sentence = prepare("INSERT INTO sentences VALUES (?1, ?2, ?1)");
    bool ok = noun && sentence;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int i = 0; ok && i < kinds[k].n; i++) {
            int64_t id = FIRST_SOURCE + kinds[k].first + i;
            sqlite3_bind_text(noun, 5, kinds[k].kind, -1, SQLITE_STATIC);
            if (kinds[k].n_parents)
                sqlite3_bind_int64(noun, 3,
                                   FIRST_SOURCE + kinds[k].first_parent + i % kinds[k].n_parents);
            sqlite3_bind_int64(noun, 1, id);
            sqlite3_bind_int64(noun, 2, 1 + i % 5000);
            sqlite3_bind_int64(noun, 4, i % N_FILES);
            ok = sqlite3_step(noun) == SQLITE_DONE && INSERT(sentence, id, k == 4 ? 3 : 2);
            sqlite3_reset(noun);
        }
    sqlite3_finalize(noun);
    sqlite3_finalize(sentence);
    return ok;
}

/* Symbols, code and what they are mapped to: code mostly to its statement and a few others, its
 * loop, and arrays. */
static bool add_code(int n_codes, int n_mappings)
{
    sqlite3_stmt *noun = prepare("INSERT INTO nouns(id, pif_id, binary, level, name, kind, parent) "
                                 "VALUES (?1, ?1, 1, 1, 'f' || ?1, "
                                 "CASE ?3 WHEN 0 THEN 'symbol' ELSE 'code' END, ?2)"),
                 *sentence = prepare("INSERT INTO sentences VALUES (?1, 1, ?1)"),
                 *mapping = prepare("INSERT OR IGNORE INTO mappings VALUES (?, ?, NULL, "
                                    "'compiler', CASE ? WHEN 1 THEN 'vectorised together' END)");
    bool ok = noun && sentence && mapping;
    for (int i = 0; ok && i < N_FUNCTIONS; i++)
        ok = INSERT(noun, FIRST_SYMBOL + i, FIRST_SYMBOL + i, 0) &&
             INSERT(sentence, FIRST_SYMBOL + i) &&
             INSERT(mapping, FIRST_SYMBOL + i, FIRST_SOURCE + 10000 + i, 0);
    sqlite3_exec(db, "UPDATE nouns SET parent = NULL WHERE kind = 'symbol'", NULL, NULL, NULL);
    int each = n_mappings / n_codes;
    for (int i = 0; ok && i < n_codes; i++) {
        int64_t id = FIRST_CODE + i;
        ok = INSERT(noun, id, FIRST_SYMBOL + i % N_FUNCTIONS, 1) && INSERT(sentence, id) &&
             INSERT(mapping, id, FIRST_SOURCE + 20000 + i % N_LOOPS, 0);
        for (int k = 0; ok && k < each - 1; k++)
            ok = k < each / 2
                     ? INSERT(mapping, id, FIRST_SOURCE + 40000 + (i + k * 3) % N_STATEMENTS, k > 0)
                     : INSERT(mapping, id, FIRST_SOURCE + 120000 + (i / 7 + k) % N_ARRAYS, 0);
    }
    sqlite3_finalize(noun);
    sqlite3_finalize(sentence);
    sqlite3_finalize(mapping);
    return ok;
}

/* Half of the contexts are calls, below earlier ones; the others code in them. */
static bool add_contexts(int n_contexts, int n_codes)
{
    sqlite3_stmt *context = prepare("INSERT INTO contexts VALUES (?, ?, ?, 0)"),
                 *cost = prepare("INSERT INTO cost_rows VALUES (?, 1, ?, ?)");
    bool ok = context && cost;
    for (int i = 2; ok && i <= n_contexts / 2; i++)
        ok = INSERT(context, i, 1 + random_below((uint32_t)i - 1),
                    FIRST_SYMBOL + random_below(N_FUNCTIONS)) &&
             INSERT(cost, i, 1, 1 + random_below(1000));
    for (int i = n_contexts / 2 + 1; ok && i <= n_contexts; i++) {
        int64_t n_samples = 1 + random_below(random_below(50) ? 3 : 300);
        ok = INSERT(context, i, 1 + random_below((uint32_t)n_contexts / 2),
                    FIRST_CODE + i % n_codes) &&
             INSERT(cost, i, 2, n_samples * 2004008) && INSERT(cost, i, 3, n_samples);
    }
    sqlite3_finalize(context);
    sqlite3_finalize(cost);
    return ok;
}

static int number_of(const char *text)
{
    uint64_t number;
    return pm_str_to_u64(pm_str_of(text), 100000000, &number) ? (int)number : 0;
}

int main(int argc, char **argv)
{
    struct pm_error err = PM_ERROR_INIT;
    struct pm_archive *archive = NULL;
    int n_contexts = argc > 2 ? number_of(argv[2]) : 100000,
        n_mappings = argc > 3 ? number_of(argv[3]) : 1000000;
    int n_codes = n_contexts / 2;
    if (argc < 2 || n_contexts < 100 || n_mappings < n_codes ||
        n_codes > FIRST_SOURCE - FIRST_CODE) {
        fputs("usage: make_large_archive ARCHIVE [CONTEXTS [MAPPINGS]]\n", stderr);
        return 2;
    }
    enum pm_status status = pm_archive_create(argv[1], &err, &archive);
    if (status == PM_OK) {
        db = pm_archive_db(archive);
        sqlite3_exec(db, "PRAGMA foreign_keys = OFF", NULL, NULL, NULL);
        if (add_head() && add_source() && add_code(n_codes, n_mappings) &&
            add_contexts(n_contexts, n_codes)) {
            status = pm_archive_finish(archive, &err);
        } else {
            status = pm_archive_error(archive, &err);
            pm_archive_discard(archive);
        }
    }
    if (status != PM_OK)
        pm_error_print(&err, stderr);
    pm_error_release(&err);
    return status != PM_OK;
}
