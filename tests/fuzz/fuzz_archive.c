/* Archives that are sound for SQLite and hold anything: the input is SQL that fills one. It is
 * loaded, lifted and asked; no crash, and no cost is lost at any level. What the SQL may do is
 * to change rows. */
#include "mapping/archive/archive.h"
#include "mapping/archive/load.h"
#include "mapping/question/question.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[64], path[128];

static char *empty;
static size_t empty_len;

static void remove_folder(void)
{
    unlink(path);
    rmdir(folder);
    free(empty);
}

/* An archive without rows and without checksums, which would take longer than all the rest. */
static bool begin(void)
{
    struct pm_archive *archive;
    snprintf(folder, sizeof folder, "%s/perfmap-fuzz-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(folder))
        return false;
    snprintf(path, sizeof path, "%s/a.perfmap", folder);
    if (pm_archive_create(path, NULL, &archive) != PM_OK ||
        pm_archive_finish(archive, NULL) != PM_OK ||
        pm_file_read(path, 1 << 24, NULL, &empty, &empty_len) != PM_OK)
        return false;
    empty_len = empty_len / 16384 * 16384;
    return atexit(remove_folder) == 0;
}

static sqlite3 *open_empty(void)
{
    sqlite3 *db = NULL;
    int fd = open(path, O_WRONLY | O_TRUNC | O_CREAT, 0600);
    bool good = fd >= 0 && write(fd, empty, empty_len) == (ssize_t)empty_len;
    if (fd >= 0)
        close(fd);
    if (good && sqlite3_open(path, &db) == SQLITE_OK)
        return db;
    sqlite3_close(db);
    return NULL;
}

static int allow(void *unused, int action, const char *a, const char *b, const char *c,
                 const char *d)
{
    (void)unused, (void)a, (void)b, (void)c, (void)d;
    return action == SQLITE_INSERT || action == SQLITE_UPDATE || action == SQLITE_DELETE ||
                   action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_FUNCTION
               ? SQLITE_OK
               : SQLITE_DENY;
}

static int stop(void *unused)
{
    (void)unused;
    return 1;
}

/* Statement by statement: one that is no good is passed over. */
static void fill(sqlite3 *db, const char *sql)
{
    sqlite3_exec(db,
                 "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON; PRAGMA "
                 "journal_mode = OFF;"
                 "PRAGMA synchronous = OFF; BEGIN",
                 NULL, NULL, NULL);
    sqlite3_set_authorizer(db, allow, NULL);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 1 << 20);
    sqlite3_progress_handler(db, 100000, stop, NULL);
    while (*sql) {
        const char *end = strchr(sql, ';');
        size_t len = end ? (size_t)(end - sql) + 1 : strlen(sql);
        char *statement = pm_strndup(sql, len);
        if (statement)
            sqlite3_exec(db, statement, NULL, NULL, NULL);
        free(statement);
        sql += len;
    }
    sqlite3_set_authorizer(db, NULL, NULL);
    sqlite3_progress_handler(db, 0, NULL, NULL);
    sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
}

static void ask(const struct pm_graph *graph)
{
    static const char *const texts[] = {"{? ?}", "{A Sum}, not {? Executes}",
                                        "{? Executes} then {? ?}"};
    struct pm_question *question;
    struct pm_answer *answer;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (pm_question_parse(texts[i], NULL, &question) != PM_OK)
            continue;
        if (pm_question_ask(question,
                            &(struct pm_question_run){.graph = graph, .calls_metric = PM_NONE},
                            NULL, &answer) == PM_OK)
            pm_answer_free(answer);
        pm_question_free(question);
    }
}

static bool add_up(void *sum, const struct pm_cost *cost)
{
    PM_ASSERT(cost->value >= 0);
    *(uint64_t *)sum += (uint64_t)cost->value;
    return true;
}

/* One by one they are what they are together. */
static void read_again(const struct pm_archive_data *loaded, bool is_merged)
{
    uint64_t sum = 0, again = 0;
    enum pm_status status = pm_archive_each_cost(loaded, NULL, add_up, &again, NULL);
    for (uint32_t i = 0; i < loaded->graph->n_costs; i++)
        sum += (uint64_t)loaded->graph->costs[i].value;
    PM_ASSERT(status == PM_OK && (is_merged || sum == again)); /* merged maxima do not add up */
}

static void load_alone(unsigned flags)
{
    struct pm_archive_data *loaded;
    struct pm_error err = PM_ERROR_INIT;
    if (pm_archive_load(path, flags, &err, &loaded) == PM_OK)
        pm_archive_data_free(loaded);
    pm_error_release(&err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool begun;
    struct pm_archive_data *loaded;
    struct pm_error err = PM_ERROR_INIT;
    if (!begun && !(begun = begin()))
        abort();
    char *sql = pm_strndup((const char *)data, size);
    sqlite3 *db = sql ? open_empty() : NULL;
    if (db) {
        fill(db, sql);
        sqlite3_close(db);
        unsigned flags = (size % 2 ? PM_ARCHIVE_LOAD_ALL : 0) |
                         (size % 3 ? 0 : PM_ARCHIVE_LOAD_MERGED) |
                         (size % 5 ? 0 : PM_ARCHIVE_LOAD_KEPT);
        if (pm_archive_load(path, flags, &err, &loaded) == PM_OK) {
            ask(loaded->graph);
            if (flags & PM_ARCHIVE_LOAD_KEPT)
                read_again(loaded, flags & PM_ARCHIVE_LOAD_MERGED);
            pm_archive_data_free(loaded);
        }
        load_alone(PM_ARCHIVE_LOAD_FACTS);
        load_alone(PM_ARCHIVE_LOAD_TABLES);
    }
    free(sql);
    pm_error_release(&err);
    return 0;
}
