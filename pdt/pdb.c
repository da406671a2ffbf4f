#include "pdb.h"

const struct pm_database_kind pdt_kind = {
    .noun = "program database",
    .indefinite = "a program database",
    .remedy = "build it again",
    .views = "'call_edges'",
    .schema = pdt_schema,
    .usual_suffix = ".pdb",
    .application_id = PDT_APPLICATION_ID,
    .oldest_version = PDT_VERSION,
    .version = PDT_VERSION,
};

/* All tables with the columns that readers use; no rows are read. */
static enum pm_status check_tables(struct pm_database *pdb, struct pm_error *err)
{
    static const char *const selects[] = {
        "SELECT key, value FROM main.facts",
        "SELECT id, name, is_system, size_bytes, mtime_ns, hash FROM main.files",
        "SELECT file, line, included FROM main.includes",
        "SELECT id, file, directory, command, key, state, n_errors, problem FROM main.units",
        "SELECT unit, file FROM main.unit_files",
        "SELECT id, hash, data FROM main.groups",
        "SELECT unit, \"group\" FROM main.unit_groups",
        "SELECT name, is_function, text, file, line, column FROM main.macros",
        "SELECT text, file, line FROM main.pragmas",
        "SELECT name, file, line, column FROM main.namespaces",
        "SELECT id, name, kind, canonical, size_bytes, n_elements FROM main.types",
        "SELECT name, type, file, line, column FROM main.typedefs",
        "SELECT id, name, file, line, column, end_line FROM main.enums",
        "SELECT enum, name, value FROM main.enumerators",
        "SELECT id, name, kind, is_template, is_defined, parent, size_bytes, file, line, column, "
        "end_line FROM main.classes",
        "SELECT class, base, name, access, is_virtual FROM main.bases",
        "SELECT id, usr, name, full_name, linkage_name, kind, type, linkage, storage, access, "
        "class, is_defined, "
        "is_system, is_inline, is_virtual, is_pure, is_static, is_const, is_variadic, is_template, "
        "is_address_taken, n_parameters, n_statements, n_returns, n_variants, file, line, column, "
        "body_line, body_column, end_line, end_column FROM main.routines",
        "SELECT id, routine, parent, depth, kind, file, line, column, end_line, end_column FROM "
        "main.loops",
        "SELECT id, routine, loop, kind, callee, type, text, is_ambiguous, file, line, column FROM "
        "main.calls",
        "SELECT call, position, text FROM main.call_arguments",
        "SELECT type, routine, n_targets FROM main.pointer_targets",
        "SELECT routine, method FROM main.overrides",
        "SELECT method, routine, n_targets FROM main.virtual_targets",
        "SELECT id, name, kind, type, is_array, is_pointer, is_static, routine, class, access, "
        "offset_bits, file, line, column FROM main.variables",
        "SELECT variable, base, routine, loop, kind, mode, subscripts, file, line, column FROM "
        "main.accesses",
        "SELECT id, name, text, routine, loop, file, line, column, end_line FROM main.directives",
    };
    for (size_t i = 0; i < sizeof selects / sizeof *selects; i++) {
        sqlite3_stmt *statement;
        enum pm_status status = pm_database_prepare(pdb, selects[i], err, &statement);
        if (status != PM_OK)
            return status;
        sqlite3_finalize(statement);
    }
    return PM_OK;
}

/* Edges as the view call_edges has them; views of the file itself are not used. */
static enum pm_status make_edges(struct pm_database *pdb, struct pm_error *err)
{
    return pm_database_exec(
        pdb,
        "CREATE TEMP VIEW named_edges AS SELECT c.id AS call, c.routine AS caller, c.callee AS "
        "callee, c.kind AS kind, 1 AS n_targets FROM main.calls c WHERE c.callee IS NOT NULL UNION "
        "ALL SELECT c.id, c.routine, v.routine, c.kind, v.n_targets FROM main.calls c JOIN "
        "main.virtual_targets v ON v.method = c.callee WHERE c.kind = 'virtual';"
        "CREATE TEMP VIEW edges AS SELECT * FROM named_edges UNION ALL "
        "SELECT c.id, c.routine, t.routine, c.kind, t.n_targets FROM main.calls c JOIN "
        "main.pointer_targets t ON t.type = c.type WHERE c.kind = 'pointer'",
        err);
}

enum pm_status pdt_open(const char *path, struct pm_error *err, struct pm_database **ret_pdb)
{
    struct pm_database *pdb;
    enum pm_status status = pm_database_open(&pdt_kind, path, err, &pdb);
    if (status != PM_OK)
        return status;
    status = check_tables(pdb, err);
    if (status != PM_OK)
        goto out;
    status = make_edges(pdb, err);
    if (status != PM_OK)
        goto out;
    *ret_pdb = pdb;
    return PM_OK;
out:
    pm_database_close(pdb);
    return status;
}
