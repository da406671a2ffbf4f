/* Which rows of a measured run are of which routine: by the symbol, and by the file where several
 * routines have it; those without one by their name and place: templates, whose instances share
 * it, and constructors, of which the compiler says no symbol. */
#include "select_internal.h"

#include "mapping/base/map.h"
#include "mapping/base/names.h"

#include <math.h>
#include <stdlib.h>

struct finding {
    struct pm_database *pdb;
    struct pm_error *err;
    const struct pdt_run *run;
    struct pm_map by_symbol, by_line;      /* 1 + the last row */
    uint32_t *before_symbol, *before_line; /* 1 + the row before with the same key; 0: none */
    sqlite3_stmt *insert;
};

static const char *symbol_of(const struct pdt_run_row *row)
{
    return row->linkage ? row->linkage : row->name;
}

static bool add_to(struct pm_map *map, uint64_t key, uint32_t *before, uint32_t row)
{
    uint32_t *at = pm_map_at(map, key);
    if (!at)
        return false;
    before[row] = *at;
    *at = row + 1;
    return true;
}

static bool find_rows(struct finding *finding)
{
    const struct pdt_run *run = finding->run;
    finding->before_symbol = pm_alloc_array(run->n_rows + 1, sizeof *finding->before_symbol);
    finding->before_line = pm_alloc_array(run->n_rows + 1, sizeof *finding->before_line);
    if (!finding->before_symbol || !finding->before_line)
        return false;
    for (uint32_t i = 0; i < run->n_rows; i++) {
        const struct pdt_run_row *row = &run->rows[i];
        if (!add_to(&finding->by_symbol, pm_selection_symbol_key(symbol_of(row)),
                    finding->before_symbol, i) ||
            !add_to(&finding->by_line, row->line, finding->before_line, i))
            return false;
    }
    return true;
}

/* One more row of the same routine: an instance of a template. */
static void add_row(struct pdt_run_row *sum, const struct pdt_run_row *row)
{
    sum->n_calls += row->n_calls; /* NAN stays */
    sum->own_ns += row->own_ns;
    sum->inclusive_ns += row->inclusive_ns;
    sum->calls_are_at_least |= row->calls_are_at_least;
    sum->times_are_at_least |= row->times_are_at_least;
    sum->is_rough |= row->is_rough;
}

static bool is_there(const char *file, const struct pdt_run_row *row)
{
    return *file && *row->file && pm_selection_same_file(file, row->file);
}

/* False: the run has no row of it. */
static bool find_by_symbol(const struct finding *finding, const char *symbol, const char *file,
                           bool is_local, struct pdt_run_row *ret_row)
{
    const struct pdt_run_row *only = NULL;
    uint32_t n = 0, at = pm_map_get(&finding->by_symbol, pm_selection_symbol_key(symbol));
    for (; at; at = finding->before_symbol[at - 1]) {
        const struct pdt_run_row *row = &finding->run->rows[at - 1];
        if (!pm_selection_same_symbol(symbol, symbol_of(row)))
            continue;
        *ret_row = *row;
        if (is_there(file, row))
            return true;
        only = row;
        n++;
    }
    return only && n == 1 && (!is_local || !*file);
}

/* All that are there, of that name. */
static bool find_by_place(const struct finding *finding, const char *name, const char *file,
                          uint32_t line, struct pdt_run_row *ret_row)
{
    const struct pm_name_pattern pattern = {.text = name, .is_plain_too = true};
    bool found = false;
    for (uint32_t at = pm_map_get(&finding->by_line, line); at; at = finding->before_line[at - 1]) {
        const struct pdt_run_row *row = &finding->run->rows[at - 1];
        if (!is_there(file, row) || !pm_name_fits_code(&pattern, row->name))
            continue;
        if (found)
            add_row(ret_row, row);
        else
            *ret_row = *row;
        found = true;
    }
    return found;
}

static void bind(sqlite3_stmt *insert, int at, double value)
{
    if (isnan(value))
        sqlite3_bind_null(insert, at);
    else
        sqlite3_bind_double(insert, at, value);
}

/* 0 id, 1 symbol, 2 file, 3 line, 4 is local, 5 name */
static enum pm_status find_routine(void *context, sqlite3_stmt *routine)
{
    struct finding *finding = context;
    struct pdt_run_row row = {0};
    const char *symbol = pm_database_text(routine, 1), *file = pm_database_text(routine, 2);
    uint32_t line = (uint32_t)sqlite3_column_int64(routine, 3);
    bool has_row = false, is_local = sqlite3_column_int(routine, 4) != 0,
         is_cxx = !*symbol || !strncmp(symbol, "_Z", 2);
    if (!(*symbol && find_by_symbol(finding, symbol, file, is_local, &row)) &&
        !(is_cxx && find_by_place(finding, pm_database_text(routine, 5), file, line, &row)))
        return PM_OK;
    sqlite3_bind_int64(finding->insert, 1, sqlite3_column_int64(routine, 0));
    bind(finding->insert, 2, row.n_calls);
    bind(finding->insert, 3, row.own_ns);
    bind(finding->insert, 4, row.inclusive_ns);
    sqlite3_bind_int(finding->insert, 5, row.calls_are_at_least);
    sqlite3_bind_int(finding->insert, 6, row.times_are_at_least);
    sqlite3_bind_int(finding->insert, 7, row.is_rough);
    enum pm_status status = pm_database_step(finding->pdb, finding->insert, finding->err, &has_row);
    sqlite3_reset(finding->insert);
    return status;
}

static enum pm_status fill(struct finding *finding)
{
    if (!find_rows(finding))
        return pm_error_set(finding->err, PM_ERR_MEMORY, "out of memory for the rows of a run");
    enum pm_status status = pm_database_prepare(
        finding->pdb, "INSERT INTO temp.measured VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)", finding->err,
        &finding->insert);
    if (status != PM_OK)
        return status;
    return pm_database_each(finding->pdb,
                            "SELECT r.id, r.linkage_name, (SELECT f.name FROM main.files f WHERE "
                            "f.id = r.file), r.line, r.linkage = 'internal', r.full_name FROM "
                            "main.routines r "
                            "WHERE " SELECT_IS_OWN,
                            0, find_routine, finding, finding->err);
}

enum pm_status select_add_run(struct pm_database *pdb, const struct pdt_run *run,
                              struct pm_error *err)
{
    enum pm_status status = pm_database_exec(
        pdb,
        "CREATE TEMP TABLE measured (routine INTEGER PRIMARY KEY, "
        "n_calls REAL, own_ns REAL, inclusive_ns REAL, calls_are_at_least INTEGER NOT NULL, "
        "times_are_at_least INTEGER NOT NULL, is_rough INTEGER NOT NULL)",
        err);
    if (status != PM_OK || !run)
        return status;
    struct finding finding = {.pdb = pdb, .err = err, .run = run};
    status = fill(&finding);
    sqlite3_finalize(finding.insert);
    pm_map_release(&finding.by_symbol);
    pm_map_release(&finding.by_line);
    free(finding.before_symbol);
    free(finding.before_line);
    return status;
}

/* --- the run as a database --- */

static enum pm_status add_routine(struct pm_database *pdb, sqlite3_stmt *file,
                                  sqlite3_stmt *routine, const struct pdt_run_row *row,
                                  struct pm_error *err)
{
    bool has_row = false;
    sqlite3_bind_text(file, 1, row->file, -1, SQLITE_STATIC);
    enum pm_status status = pm_database_step(pdb, file, err, &has_row);
    sqlite3_reset(file);
    if (status != PM_OK)
        return status;
    sqlite3_bind_text(routine, 1, row->name, -1, SQLITE_STATIC);
    bool has_symbol = row->linkage || !strpbrk(row->name, "(:<");
    sqlite3_bind_text(routine, 2, has_symbol ? symbol_of(row) : "", -1, SQLITE_STATIC);
    sqlite3_bind_text(routine, 3, row->file, -1, SQLITE_STATIC);
    sqlite3_bind_int64(routine, 4, row->line);
    status = pm_database_step(pdb, routine, err, &has_row);
    sqlite3_reset(routine);
    return status;
}

static enum pm_status add_rows(struct pm_database *pdb, const struct pdt_run *run,
                               struct pm_error *err)
{
    sqlite3_stmt *file = NULL, *routine = NULL;
    enum pm_status status = pm_database_prepare(
        pdb, "INSERT OR IGNORE INTO main.files (name, is_system) VALUES (?1, 0)", err, &file);
    if (status != PM_OK)
        goto out;
    /* symbols of what only its own file knows look as others do: all are taken with their file */
    status = pm_database_prepare(
        pdb,
        "INSERT INTO main.routines SELECT NULL, '', ?1, ?1, ?2, 'function', NULL, 'internal', "
        "'none', '', NULL, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, (SELECT f.id FROM main.files "
        "f WHERE f.name = ?3), ?4, 1, NULL, NULL, NULL, NULL",
        err, &routine);
    if (status != PM_OK)
        goto out;
    for (uint32_t i = 0; i < run->n_rows; i++) {
        status = add_routine(pdb, file, routine, &run->rows[i], err);
        if (status != PM_OK)
            goto out;
    }
out:
    sqlite3_finalize(file);
    sqlite3_finalize(routine);
    return status;
}

enum pm_status pdt_select_database(const struct pdt_run *run, struct pm_error *err,
                                   struct pm_database **ret_pdb)
{
    struct pm_database *pdb;
    enum pm_status status = pm_database_in_memory(&pdt_kind, run->name, err, &pdb);
    if (status != PM_OK)
        return status;
    status = pm_database_exec(pdb,
                              "CREATE UNIQUE INDEX main.known ON files(name);"
                              "CREATE TEMP VIEW edges AS SELECT * FROM main.call_edges;"
                              "CREATE TEMP VIEW named_edges AS SELECT * FROM edges; BEGIN",
                              err);
    if (status != PM_OK)
        goto out;
    status = add_rows(pdb, run, err);
    if (status != PM_OK)
        goto out;
    status = pm_database_exec(pdb, "COMMIT", err);
    if (status != PM_OK)
        goto out;
    *ret_pdb = pdb;
    return PM_OK;
out:
    pm_database_close(pdb);
    return status;
}
