/* Functions of SQLite. What a statement touches is learnt once for each text: tables from an
 * authorizer (the program's own is asked as well), indexes from EXPLAIN QUERY PLAN. Commits: a
 * COMMIT or END does that, on the database.
 */
#include "sql.h"

#include <ctype.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SQLITE PM_SQL_LIBRARY
enum { MAX_TEXTS = 4096, CACHE = 1 << 14, MAX_TOUCHED = 32, MAX_DATABASES = 256 };

#define REAL(type, name, ...) static type (*real_##name)(__VA_ARGS__);
REAL(int, sqlite3_step, sqlite3_stmt *)
REAL(int, sqlite3_reset, sqlite3_stmt *)
REAL(int, sqlite3_finalize, sqlite3_stmt *)
REAL(int, sqlite3_stmt_busy, sqlite3_stmt *)
REAL(int, sqlite3_prepare, sqlite3 *, const char *, int, sqlite3_stmt **, const char **)
REAL(int, sqlite3_prepare_v2, sqlite3 *, const char *, int, sqlite3_stmt **, const char **)
REAL(int, sqlite3_prepare_v3, sqlite3 *, const char *, int, unsigned, sqlite3_stmt **,
     const char **)
REAL(int, sqlite3_prepare16, sqlite3 *, const void *, int, sqlite3_stmt **, const void **)
REAL(int, sqlite3_prepare16_v2, sqlite3 *, const void *, int, sqlite3_stmt **, const void **)
REAL(int, sqlite3_prepare16_v3, sqlite3 *, const void *, int, unsigned, sqlite3_stmt **,
     const void **)
REAL(int, sqlite3_set_authorizer, sqlite3 *,
     int (*)(void *, int, const char *, const char *, const char *, const char *), void *)
REAL(int, sqlite3_open, const char *, sqlite3 **)
REAL(int, sqlite3_open_v2, const char *, sqlite3 **, int, const char *)
REAL(int, sqlite3_close, sqlite3 *)
REAL(int, sqlite3_close_v2, sqlite3 *)
REAL(const char *, sqlite3_sql, sqlite3_stmt *)
REAL(sqlite3 *, sqlite3_db_handle, sqlite3_stmt *)
REAL(const char *, sqlite3_db_filename, sqlite3 *, const char *)
REAL(const unsigned char *, sqlite3_column_text, sqlite3_stmt *, int)
#define FOUND(name) pm_adapter_real(&real_##name, #name, SQLITE)

static struct pm_level level;
#define VERB(name, word) static struct pm_verb name;
PM_SQL_VERBS(VERB)
#undef VERB
static struct pm_metric rows;
static struct pm_point tables, indexes, commit_points;

static void define_words(void)
{
    level = pm_define_level(PM_SQL_LEVEL, "Source");
#define VERB(name, word) name = pm_define_verb(level, word);
    PM_SQL_VERBS(VERB)
#undef VERB
    rows = pm_define_metric("rows", "rows", "count");
    tables = pm_define_point("sql-tables");
    indexes = pm_define_point("sql-indexes");
    commit_points = pm_define_point("sql-commits");
}

static bool is_measured(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (!pm_words_of_runtime() || !FOUND(sqlite3_sql) || !FOUND(sqlite3_db_handle))
        return false;
    pthread_once(&once, define_words);
    return true;
}

/* --- what statements touch --- */

struct touched {
    struct pm_sentence sentences[MAX_TOUCHED];
    struct pm_point points[MAX_TOUCHED];
    size_t n;
    bool about_rows, declares;
};
static __thread struct touched *learning; /* by the preparation that runs */

static void touch(struct pm_point point, const char *name, struct pm_verb verb)
{
    if (!learning || !pm_point_is_on(point) || !name || !*name || learning->n == MAX_TOUCHED)
        return;
    struct pm_noun noun = pm_define_noun(level, name, point.id == indexes.id ? "index" : "table");
    struct pm_sentence sentence = pm_define_sentence(verb, &noun, 1);
    for (size_t i = 0; i < learning->n; i++)
        if (learning->sentences[i].id == sentence.id)
            return;
    learning->points[learning->n] = point;
    learning->sentences[learning->n++] = sentence;
}

/* The program's own authorizer, by its database. */
static struct authorizer {
    sqlite3 *db;
    int (*function)(void *, int, const char *, const char *, const char *, const char *);
    void *context;
} authorizers[MAX_DATABASES];
static pthread_mutex_t authorizers_lock = PTHREAD_MUTEX_INITIALIZER;

/* A function that is used as a table (json_each) is declared where it is first used: SQLite asks
 * for that as if a table's row in the schema were changed - each column is updated, then its
 * ROWID is read - though it writes nothing. */
static bool is_declaration(int action, const char *table, const char *column)
{
    if (!learning || !learning->about_rows || !table || !column ||
        (strcmp(table, "sqlite_master") != 0 && strcmp(table, "sqlite_temp_master") != 0))
        return false;
    bool ends = action == SQLITE_READ && learning->declares && strcmp(column, "ROWID") == 0;
    learning->declares = action == SQLITE_UPDATE;
    return learning->declares || ends;
}

static int authorize(void *slot, int action, const char *a, const char *b, const char *database,
                     const char *trigger)
{
    const struct authorizer *own = slot;
    bool is_real = !is_declaration(action, a, b);
    if (is_real && action == SQLITE_READ)
        touch(tables, a, reads);
    else if (is_real &&
             (action == SQLITE_INSERT || action == SQLITE_UPDATE || action == SQLITE_DELETE))
        touch(tables, a, writes);
    return own->function ? own->function(own->context, action, a, b, database, trigger) : SQLITE_OK;
}

/* The slot of a database, a free one for a new one; NULL: too many. */
static struct authorizer *slot_of(sqlite3 *db)
{
    for (size_t i = 0; i < MAX_DATABASES; i++)
        if (authorizers[i].db == db)
            return &authorizers[i];
    return db ? slot_of(NULL) : NULL;
}

/* sets: the program gives one of its own. */
static int watch(sqlite3 *db, bool sets,
                 int (*function)(void *, int, const char *, const char *, const char *,
                                 const char *),
                 void *context)
{
    pthread_mutex_lock(&authorizers_lock);
    struct authorizer *slot = db ? slot_of(db) : NULL;
    if (slot) {
        *slot = (struct authorizer){db, function, context};
        function = authorize;
        context = slot;
    }
    pthread_mutex_unlock(&authorizers_lock);
    return slot || sets ? real_sqlite3_set_authorizer(db, function, context) : SQLITE_OK;
}

static void forget(sqlite3 *db)
{
    pthread_mutex_lock(&authorizers_lock);
    struct authorizer *slot = db ? slot_of(db) : NULL;
    if (slot)
        *slot = (struct authorizer){NULL, NULL, NULL};
    pthread_mutex_unlock(&authorizers_lock);
}

/* "SEARCH t USING INDEX i (x=?)". None has a name in "SCAN json_each VIRTUAL TABLE INDEX 1:" and
 * "USING AUTOMATIC COVERING INDEX (x=?)". */
static void touch_indexes(sqlite3 *db, const char *sql)
{
    char plan[2 * TEXT_BYTES], name[TEXT_BYTES];
    sqlite3_stmt *explain = NULL;
    struct touched *mine = learning;
    int n = snprintf(plan, sizeof plan, "EXPLAIN QUERY PLAN %s", sql);
    if (n < 0 || (size_t)n >= sizeof plan || !FOUND(sqlite3_column_text))
        return;
    learning = NULL; /* not what is prepared here */
    int status = real_sqlite3_prepare_v2(db, plan, -1, &explain, NULL);
    learning = mine;
    while (status == SQLITE_OK && explain && real_sqlite3_step(explain) == SQLITE_ROW) {
        const char *text = (const char *)real_sqlite3_column_text(explain, 3);
        const char *index =
            text && !strstr(text, " VIRTUAL TABLE INDEX ") ? strstr(text, " INDEX ") : NULL;
        bool has_name = index && sscanf(index, " INDEX %399s", name) == 1 && *name != '(';
        touch(indexes, has_name ? name : NULL, reads);
    }
    if (explain)
        real_sqlite3_finalize(explain);
}

static struct cached {
    sqlite3_stmt *statement;
    uint32_t sentence;
} cache[CACHE];
static unsigned n_texts;

static struct cached *cached(const sqlite3_stmt *statement)
{
    return &cache[((uintptr_t)statement * 0x9e3779b97f4a7c15u) >> 50];
}

static bool is_commit(const char *text)
{
    return strncasecmp(text, "COMMIT", 6) == 0 ||
           (strncasecmp(text, "END", 3) == 0 && !isalnum((unsigned char)text[3]));
}

static struct pm_sentence sentence_of(sqlite3 *db, const char *sql, struct pm_verb verb)
{
    char text[TEXT_BYTES] = "(a statement of SQLite's own)";
    if (sql)
        sql_normalise(sql, text);
    if (__atomic_load_n(&n_texts, __ATOMIC_RELAXED) >= MAX_TEXTS)
        memcpy(text, "(other statements)", sizeof "(other statements)");
    struct pm_noun noun = pm_define_noun(level, *text ? text : "(nothing)", "query");
    struct pm_sentence sentence = pm_define_sentence(verb, &noun, 1);
    if (verb.id == executes.id && is_commit(text) && pm_point_is_on(commit_points) &&
        FOUND(sqlite3_db_filename)) {
        const char *file = real_sqlite3_db_filename(db, "main");
        struct pm_noun database =
            pm_define_noun(level, file && *file ? file : ":memory:", "database");
        pm_map_at(commit_points, sentence, pm_define_sentence(commits, &database, 1), 0);
    }
    return sentence;
}

static void keep(sqlite3_stmt *statement, struct pm_sentence sentence)
{
    struct cached *c = cached(statement);
    __atomic_store_n(&c->statement, NULL, __ATOMIC_RELEASE);
    __atomic_store_n(&c->sentence, sentence.id, __ATOMIC_RELEASE);
    __atomic_store_n(&c->statement, statement, __ATOMIC_RELEASE);
}

static struct pm_sentence executed(sqlite3_stmt *statement)
{
    const struct cached *c = cached(statement);
    struct pm_sentence sentence = {__atomic_load_n(&c->sentence, __ATOMIC_ACQUIRE)};
    if (__atomic_load_n(&c->statement, __ATOMIC_ACQUIRE) == statement)
        return sentence;
    sentence =
        sentence_of(real_sqlite3_db_handle(statement), real_sqlite3_sql(statement), executes);
    keep(statement, sentence);
    return sentence;
}

/* Preparations and steps that this thread is in: what they run within is not the program's, nor
 * are its rows. */
static __thread unsigned n_within;

PM_ADAPTER_EXPORT int sqlite3_step(sqlite3_stmt *statement)
{
    if (!FOUND(sqlite3_step))
        return SQLITE_MISUSE;
    if (!statement || !is_measured())
        return real_sqlite3_step(statement);
    struct pm_sentence sentence = executed(statement);
    n_within++;
    pm_enter(sentence);
    int result = real_sqlite3_step(statement);
    if (--n_within == 0 && result == SQLITE_ROW)
        pm_cost(rows, 1);
    pm_leave(sentence);
    return result;
}

/* A statement that still runs: a transaction of its own is committed, journals go. */
static int end_of(sqlite3_stmt *statement, int (*real)(sqlite3_stmt *))
{
    if (!statement || !is_measured() || !FOUND(sqlite3_stmt_busy) ||
        !real_sqlite3_stmt_busy(statement))
        return real(statement);
    struct pm_sentence sentence =
        sentence_of(real_sqlite3_db_handle(statement), real_sqlite3_sql(statement), ends);
    pm_enter(sentence);
    int result = real(statement);
    pm_leave(sentence);
    return result;
}

PM_ADAPTER_EXPORT int sqlite3_reset(sqlite3_stmt *statement)
{
    return FOUND(sqlite3_reset) ? end_of(statement, real_sqlite3_reset) : SQLITE_MISUSE;
}

PM_ADAPTER_EXPORT int sqlite3_finalize(sqlite3_stmt *statement)
{
    if (!FOUND(sqlite3_finalize))
        return SQLITE_MISUSE;
    struct cached *c = cached(statement);
    if (statement && __atomic_load_n(&c->statement, __ATOMIC_RELAXED) == statement)
        __atomic_store_n(&c->statement, NULL, __ATOMIC_RELAXED);
    return end_of(statement, real_sqlite3_finalize);
}

/* What a preparation does, around the real one. */
struct preparation {
    struct touched touched, *outer;
    struct pm_sentence sentence;
    bool on;
};

static void begin(struct preparation *p, sqlite3 *db, const void *sql, int bytes, bool is_utf16)
{
    p->on = is_measured() && sql && FOUND(sqlite3_step) && FOUND(sqlite3_finalize) &&
            FOUND(sqlite3_prepare_v2);
    if (!p->on)
        return;
    p->touched.n = 0;
    p->touched.declares = false;
    p->outer = learning;
    learning = &p->touched;
    char first[2 * TEXT_BYTES];
    if (is_utf16)
        sql_from_utf16(sql, bytes, first, sizeof first);
    else
        snprintf(first, sizeof first, "%.*s", bytes >= 0 ? bytes : (int)sizeof first,
                 (const char *)sql);
    first[sql_first_statement(first)] = 0;
    p->touched.about_rows = sql_is_about_rows(first);
    p->sentence = sentence_of(db, first, prepares);
    n_within++;
    pm_enter(p->sentence);
}

static void end(struct preparation *p, sqlite3 *db, int result, sqlite3_stmt **statement)
{
    if (!p->on)
        return;
    pm_leave(p->sentence);
    n_within--;
    if (result == SQLITE_OK && statement && *statement) {
        static _Atomic uint32_t known[MAX_TEXTS * 4]; /* sentences whose mappings are there */
        const char *sql = real_sqlite3_sql(*statement);
        struct pm_sentence sentence = sentence_of(db, sql, executes);
        keep(*statement, sentence);
        if (known[sentence.id % (MAX_TEXTS * 4)] != sentence.id) {
            known[sentence.id % (MAX_TEXTS * 4)] = sentence.id;
            __atomic_fetch_add(&n_texts, 1, __ATOMIC_RELAXED);
            if (sql && pm_point_is_on(indexes))
                touch_indexes(db, sql);
            for (size_t i = 0; i < p->touched.n; i++)
                pm_map_at(p->touched.points[i], sentence, p->touched.sentences[i], 0);
        }
    }
    learning = p->outer;
}

#define PREPARE(name, is_utf16, parameters, arguments) \
    PM_ADAPTER_EXPORT int name parameters              \
    {                                                  \
        struct preparation p;                          \
        if (!FOUND(name))                              \
            return SQLITE_MISUSE;                      \
        begin(&p, db, sql, bytes, is_utf16);           \
        int result = real_##name arguments;            \
        end(&p, db, result, statement);                \
        return result;                                 \
    }
PREPARE(sqlite3_prepare, false,
        (sqlite3 * db, const char *sql, int bytes, sqlite3_stmt **statement, const char **tail),
        (db, sql, bytes, statement, tail))
PREPARE(sqlite3_prepare_v2, false,
        (sqlite3 * db, const char *sql, int bytes, sqlite3_stmt **statement, const char **tail),
        (db, sql, bytes, statement, tail))
PREPARE(sqlite3_prepare_v3, false,
        (sqlite3 * db, const char *sql, int bytes, unsigned flags, sqlite3_stmt **statement,
         const char **tail),
        (db, sql, bytes, flags, statement, tail))

PREPARE(sqlite3_prepare16, true,
        (sqlite3 * db, const void *sql, int bytes, sqlite3_stmt **statement, const void **tail),
        (db, sql, bytes, statement, tail))
PREPARE(sqlite3_prepare16_v2, true,
        (sqlite3 * db, const void *sql, int bytes, sqlite3_stmt **statement, const void **tail),
        (db, sql, bytes, statement, tail))
PREPARE(sqlite3_prepare16_v3, true,
        (sqlite3 * db, const void *sql, int bytes, unsigned flags, sqlite3_stmt **statement,
         const void **tail),
        (db, sql, bytes, flags, statement, tail))

PM_ADAPTER_EXPORT int sqlite3_set_authorizer(sqlite3 *db,
                                             int (*function)(void *, int, const char *,
                                                             const char *, const char *,
                                                             const char *),
                                             void *context)
{
    if (!FOUND(sqlite3_set_authorizer))
        return SQLITE_MISUSE;
    return is_measured() ? watch(db, true, function, context)
                         : real_sqlite3_set_authorizer(db, function, context);
}

static int opened(int result, sqlite3 **db)
{
    if (result == SQLITE_OK && is_measured() && FOUND(sqlite3_set_authorizer))
        watch(*db, false, NULL, NULL);
    return result;
}

PM_ADAPTER_EXPORT int sqlite3_open(const char *file, sqlite3 **db)
{
    return FOUND(sqlite3_open) ? opened(real_sqlite3_open(file, db), db) : SQLITE_MISUSE;
}

PM_ADAPTER_EXPORT int sqlite3_open_v2(const char *file, sqlite3 **db, int flags, const char *vfs)
{
    return FOUND(sqlite3_open_v2) ? opened(real_sqlite3_open_v2(file, db, flags, vfs), db)
                                  : SQLITE_MISUSE;
}

PM_ADAPTER_EXPORT int sqlite3_close(sqlite3 *db)
{
    int result = FOUND(sqlite3_close) ? real_sqlite3_close(db) : SQLITE_MISUSE;
    if (result == SQLITE_OK)
        forget(db);
    return result;
}

PM_ADAPTER_EXPORT int sqlite3_close_v2(sqlite3 *db)
{
    forget(db);
    return FOUND(sqlite3_close_v2) ? real_sqlite3_close_v2(db) : SQLITE_MISUSE;
}
