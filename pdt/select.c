/* What is selected, and its list. */
#include "select_internal.h"

#include "mapping/base/text.h"

#include <stdlib.h>

void pdt_selected_free(struct pdt_selected *selected)
{
    if (!selected)
        return;
    free(selected->routines);
    pm_arena_release(&selected->arena);
    free(selected);
}

static enum pm_status no_memory(struct pm_error *err)
{
    return pm_error_set(err, PM_ERR_MEMORY, "out of memory for a selection");
}

static const char *keep(struct pdt_selected *selected, const char *text)
{
    return pm_arena_strndup(&selected->arena, text, strlen(text));
}

/* Columns as select_to_sql has them. */
static enum pm_status take_row(struct pdt_selected *selected, const struct pm_selection *filter,
                               sqlite3_stmt *row, struct pm_error *err)
{
    struct pdt_selected_routine routine = {.name = pm_database_text(row, 1),
                                           .linkage = pm_database_text(row, 2),
                                           .file = pm_database_text(row, 3),
                                           .line = (uint32_t)sqlite3_column_int64(row, 4),
                                           .is_local = sqlite3_column_int(row, 5) != 0,
                                           .is_template = sqlite3_column_int(row, 6) != 0};
    const struct pm_selection_subject subject = {.file = routine.file,
                                                 .path = routine.file,
                                                 .name = routine.name,
                                                 .linkage = routine.linkage};
    if (filter && !pm_selection_fits(filter, &subject))
        return PM_OK;
    if (sqlite3_column_type(row, 10) == SQLITE_NULL) {
        bool is_bound = sqlite3_column_int(row, 9) != 0;
        if (is_bound && !selected->n_open++)
            selected->open_name = keep(selected, routine.name);
        return PM_OK;
    }
    void *grown = pm_grow_array(selected->routines, selected->n_selected, &selected->cap_selected,
                                64, sizeof *selected->routines);
    if (!grown)
        return no_memory(err);
    selected->routines = grown;
    routine.name = keep(selected, routine.name);
    routine.linkage = keep(selected, routine.linkage);
    routine.file = *routine.file ? keep(selected, routine.file) : NULL;
    if (!routine.name || !routine.linkage)
        return no_memory(err);
    selected->routines[selected->n_selected++] = routine;
    selected->n_templates += routine.is_template;
    selected->n_rough += sqlite3_column_int(row, 8) != 0;
    return PM_OK;
}

static enum pm_status read_rows(struct pm_database *pdb, const struct query_sql *sql,
                                const struct pm_selection *filter, struct pm_error *err,
                                struct pdt_selected *selected)
{
    sqlite3_stmt *row;
    bool has_row = false;
    enum pm_status status = pm_database_prepare(pdb, sql->text.data, err, &row);
    if (status != PM_OK)
        return status;
    for (int i = 0; i < sql->n_patterns; i++)
        sqlite3_bind_text64(row, i + 1, sql->patterns[i].data ? sql->patterns[i].data : "",
                            sql->patterns[i].len, SQLITE_STATIC, SQLITE_UTF8);
    for (;;) {
        status = pm_database_step(pdb, row, err, &has_row);
        if (status != PM_OK || !has_row)
            break;
        status = take_row(selected, filter, row, err);
        if (status != PM_OK)
            break;
    }
    sqlite3_finalize(row);
    return status;
}

/* --- short names of files: lists hold elsewhere, too --- */

struct files {
    struct pdt_selected *selected;
    struct pm_error *err;
    const char **names;
    uint32_t n, cap;
};

static enum pm_status add_file(void *context, sqlite3_stmt *row)
{
    struct files *files = context;
    void *grown = pm_grow_array(files->names, files->n, &files->cap, 64, sizeof *files->names);
    if (!grown)
        return no_memory(files->err);
    files->names = grown;
    const char *name = keep(files->selected, pm_database_text(row, 0));
    if (!name)
        return no_memory(files->err);
    files->names[files->n++] = name;
    return PM_OK;
}

static bool is_end_of_another(const struct files *files, const char *end, const char *file)
{
    for (uint32_t i = 0; i < files->n; i++) {
        const char *name = files->names[i];
        size_t len = strlen(name), end_len = strlen(end);
        if (len > end_len && name[len - end_len - 1] == '/' && !strcmp(name + len - end_len, end) &&
            strcmp(name, file) != 0)
            return true;
    }
    return false;
}

/* The last parts of the path, as few as tell it from others. */
static const char *short_file(const struct files *files, const char *file)
{
    const char *end = strrchr(file, '/');
    while (end && end > file && is_end_of_another(files, end + 1, file)) {
        do
            end--;
        while (end > file && *end != '/');
    }
    return end && end > file ? end + 1 : file;
}

static enum pm_status shorten_files(struct pm_database *pdb, struct pdt_selected *selected,
                                    struct pm_error *err)
{
    struct files files = {.selected = selected, .err = err};
    const char *before = NULL, *now = NULL;
    enum pm_status status =
        pm_database_each(pdb, "SELECT name FROM main.files", 0, add_file, &files, err);
    for (uint32_t i = 0; i < selected->n_selected; i++) {
        struct pdt_selected_routine *routine = &selected->routines[i];
        if (routine->file && (!before || strcmp(before, routine->file) != 0)) {
            before = routine->file; /* they come by file */
            now = short_file(&files, before);
        }
        routine->short_file = routine->file ? now : NULL;
    }
    free(files.names);
    return status;
}

static enum pm_status count(void *context, sqlite3_stmt *row)
{
    struct pdt_selected *selected = context;
    selected->n_routines = (uint32_t)sqlite3_column_int64(row, 0);
    selected->n_unknown = (uint32_t)sqlite3_column_int64(row, 1);
    return PM_OK;
}

static enum pm_status run(struct pm_database *pdb, const struct pdt_selection_request *request,
                          struct query_sql *sql, struct pm_error *err,
                          struct pdt_selected *selected)
{
    enum pm_status status =
        select_to_sql(request, err, &selected->uses_run, &selected->uses_times, sql);
    if (status != PM_OK)
        return status;
    status = select_add_functions(pdb, err);
    if (status != PM_OK)
        return status;
    status = select_add_run(pdb, request->run, err);
    if (status != PM_OK)
        return status;
    status =
        pm_database_each(pdb,
                         "SELECT count(*), sum(NOT EXISTS (SELECT 1 FROM temp.measured m WHERE "
                         "m.routine = r.id)) FROM main.routines r WHERE " SELECT_IS_OWN,
                         0, count, selected, err);
    if (status != PM_OK)
        return status;
    status = read_rows(pdb, sql, request->filter, err, selected);
    if (status != PM_OK)
        return status;
    return shorten_files(pdb, selected, err);
}

enum pm_status pdt_select(struct pm_database *pdb, const struct pdt_selection_request *request,
                          struct pm_error *err, struct pdt_selected **ret_selected)
{
    struct query_sql sql = {.text = PM_BUF_INIT(1)};
    struct pdt_selected *selected = pm_alloc(sizeof *selected);
    enum pm_status status = selected ? run(pdb, request, &sql, err, selected) : no_memory(err);
    query_sql_release(&sql);
    if (status != PM_OK)
        pdt_selected_free(selected);
    else
        *ret_selected = selected;
    return status;
}

/* --- the list --- */

/* Without the parameters of a source: each compiler writes types in a way of its own. */
static void add_name(struct pm_buf *out, const char *name, bool has_parameters)
{
    const char *end = strchr(name, '(');
    if (strstr(name, "operator") || !end || has_parameters)
        end = name + strlen(name);
    for (const char *p = name; p < end; p++) {
        if (strchr("*?[\\", *p))
            pm_buf_add_byte(out, '\\');
        pm_buf_add_byte(out, (unsigned char)*p);
    }
}

void pdt_selected_write(const struct pdt_selected *selected, bool include, struct pm_buf *out)
{
    if (include && !selected->n_selected)
        pm_buf_add_str(out, "-*\n"); /* a list without a + line includes everything */
    for (uint32_t i = 0; i < selected->n_selected; i++) {
        const struct pdt_selected_routine *routine = &selected->routines[i];
        if (routine->is_template || !strncmp(routine->linkage, "_Z", 2)) {
            pm_buf_add_str(out, "# ");
            pm_buf_add_printable(out, routine->name, strlen(routine->name));
            pm_buf_add_str(out, routine->is_template ? ": all instances\n" : "\n");
        }
        pm_buf_add_byte(out, include ? '+' : '-');
        bool is_written =
            !routine->is_template &&
            pm_selection_add_symbol_text(out, routine->linkage,
                                         routine->is_local ? routine->short_file : NULL);
        if (!is_written) {
            pm_buf_add_str(out, "func:");
            add_name(out, routine->name, !routine->is_template);
        }
        pm_buf_add_byte(out, '\n');
    }
}
