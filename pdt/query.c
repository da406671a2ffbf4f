#include "query_internal.h"

#include <stdlib.h>

bool pdt_column_is_number(const char *name)
{
    return !strncmp(name, "n_", 2) || !strncmp(name, "is_", 3) || !strcmp(name, "line") ||
           !strcmp(name, "depth");
}

const char *pdt_cell(const struct pdt_rows *rows, uint64_t row, int column)
{
    return rows->cells[row * (uint64_t)rows->n_columns + (uint64_t)column];
}

void pdt_rows_free(struct pdt_rows *rows)
{
    if (!rows)
        return;
    free(rows->cells);
    pm_arena_release(&rows->arena);
    free(rows);
}

static enum pm_status no_memory(struct pm_error *err)
{
    return pm_error_set(err, PM_ERR_MEMORY, "out of memory for the rows of a query");
}

static bool name_columns(struct pdt_rows *rows, sqlite3_stmt *statement)
{
    rows->n_columns = sqlite3_column_count(statement);
    PM_ASSERT(rows->n_columns <= PDT_MAX_COLUMNS);
    for (int i = 0; i < rows->n_columns; i++) {
        const char *name = sqlite3_column_name(statement, i);
        rows->columns[i] = name ? pm_arena_strndup(&rows->arena, name, strlen(name)) : NULL;
        if (!rows->columns[i])
            return false;
    }
    return true;
}

static bool add_row(struct pdt_rows *rows, uint32_t *cap, sqlite3_stmt *statement)
{
    size_t row_bytes = (size_t)rows->n_columns * sizeof *rows->cells;
    if (rows->n_rows >= UINT32_MAX)
        return false;
    void *grown = pm_grow_array(rows->cells, (uint32_t)rows->n_rows, cap, 256, row_bytes);
    if (!grown)
        return false;
    rows->cells = grown;
    for (int i = 0; i < rows->n_columns; i++) {
        const char *text = (const char *)sqlite3_column_text(statement, i);
        const char **cell = &rows->cells[rows->n_rows * (uint64_t)rows->n_columns + (uint64_t)i];
        *cell = text ? pm_arena_strndup(&rows->arena, text, strlen(text)) : NULL;
        if (text && !*cell)
            return false;
    }
    rows->n_rows++;
    return true;
}

static enum pm_status read_rows(struct pm_database *pdb, sqlite3_stmt *statement, uint64_t most,
                                struct pm_error *err, struct pdt_rows *rows)
{
    uint32_t cap = 0;
    bool has_row = false;
    if (!name_columns(rows, statement))
        return no_memory(err);
    for (;;) {
        enum pm_status status = pm_database_step(pdb, statement, err, &has_row);
        if (status != PM_OK || !has_row)
            return status;
        if (most && rows->n_rows == most)
            rows->n_hidden++;
        else if (!add_row(rows, &cap, statement))
            return no_memory(err);
    }
}

static enum pm_status run(struct pm_database *pdb, const struct query_sql *sql, uint64_t most,
                          struct pm_error *err, struct pdt_rows **ret_rows)
{
    sqlite3_stmt *statement;
    enum pm_status status = pm_database_prepare(pdb, sql->text.data, err, &statement);
    if (status != PM_OK)
        return status;
    for (int i = 0; i < sql->n_patterns; i++)
        sqlite3_bind_text64(statement, i + 1, sql->patterns[i].data ? sql->patterns[i].data : "",
                            sql->patterns[i].len, SQLITE_STATIC, SQLITE_UTF8);
    struct pdt_rows *rows = pm_alloc(sizeof *rows);
    status = rows ? read_rows(pdb, statement, most, err, rows) : no_memory(err);
    sqlite3_finalize(statement);
    if (status != PM_OK)
        pdt_rows_free(rows);
    else
        *ret_rows = rows;
    return status;
}

enum pm_status pdt_query(struct pm_database *pdb, const char *text, uint64_t most,
                         struct pm_error *err, struct pdt_rows **ret_rows)
{
    const struct query_noun *noun;
    struct query_sql sql;
    enum pm_status status = query_to_sql(text, err, &noun, &sql);
    if (status != PM_OK)
        goto out;
    status = run(pdb, &sql, most, err, ret_rows);
out:
    query_sql_release(&sql);
    return status;
}
