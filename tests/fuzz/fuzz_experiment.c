/* Experiments that are sound for SQLite and hold anything: the first line is a selection, the rest
 * SQL that fills one, with blobs. It is opened, selected from, and what it keeps is read: no crash,
 * and no cell has a row that is not there. */
#include "mapping/experiment/kept.h"

#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[64], path[128];

/* Of who adds archives, which nobody does here. */
void experiment_known_free(struct experiment_known *known)
{
    PM_ASSERT(!known);
}

static void remove_folder(void)
{
    unlink(path);
    rmdir(folder);
}

static bool begin(void)
{
    snprintf(folder, sizeof folder, "%s/perfmap-fuzz-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(folder))
        return false;
    snprintf(path, sizeof path, "%s/a.perfexp", folder);
    return atexit(remove_folder) == 0;
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
static bool fill(const char *sql)
{
    sqlite3 *db = NULL;
    unlink(path);
    if (pm_experiment_create(path, NULL) != PM_OK || sqlite3_open(path, &db) != SQLITE_OK)
        return false;
    sqlite3_exec(db,
                 "PRAGMA foreign_keys = OFF; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF",
                 NULL, NULL, NULL);
    sqlite3_set_authorizer(db, allow, NULL);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 1 << 20);
    sqlite3_progress_handler(db, 100000, stop, NULL);
    while (*sql) {
        size_t len = strcspn(sql, ";");
        char *statement = pm_strndup(sql, len);
        if (statement)
            sqlite3_exec(db, statement, NULL, NULL, NULL);
        free(statement);
        sql += len + (sql[len] == ';');
    }
    sqlite3_close(db);
    return true;
}

static void read_rows(const struct pm_experiment *experiment, struct experiment_kept *kept)
{
    const char **names = pm_alloc_array(2 * (size_t)kept->n_rows + 1, sizeof *names);
    bool *has = pm_alloc_array((size_t)kept->n_rows + 1, sizeof *has);
    uint32_t build = experiment->members[kept->members[0]].build;
    for (uint32_t i = 0; i < kept->n; i++)
        for (uint32_t e = 0; e < kept->readings[i].n; e++)
            PM_ASSERT(kept->readings[i].cells[e].row < kept->n_rows);
    if (names && has &&
        experiment_read_names(experiment, kept, build, NULL, names, names + kept->n_rows) == PM_OK)
        (void)!experiment_read_has(experiment, kept, build, NULL, has);
    free(names);
    free(has);
}

static void look(const struct pm_experiment *experiment, const char *selection)
{
    struct pm_experiment_selection chosen;
    struct experiment_kept kept;
    if (pm_experiment_select(experiment, selection, NULL, &chosen) != PM_OK)
        return;
    if (chosen.n && experiment_read_kept(experiment, "loop", NULL, chosen.items, chosen.n, NULL,
                                         &kept) == PM_OK) {
        if (kept.n_rows)
            read_rows(experiment, &kept);
        experiment_kept_release(&kept);
    }
    free(chosen.items);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool begun;
    struct pm_experiment *experiment;
    if (!begun && !(begun = begin()))
        abort();
    char *text = pm_strndup((const char *)data, size);
    if (!text)
        return 0;
    char *sql = strchr(text, '\n');
    if (sql)
        *sql++ = 0;
    if (fill(sql ? sql : "") && pm_experiment_open(path, NULL, &experiment) == PM_OK) {
        look(experiment, text);
        look(experiment, "");
        pm_experiment_close(experiment);
    }
    free(text);
    return 0;
}
