/* Rows of the large tables, many in one step: SQLite takes a step for each statement, and that of
 * 32 rows costs per row 0.4 of the time of a statement for one row (128 000 mappings: 0.27 s and
 * 0.10 s). */
#include "internal.h"

static const struct {
    const char *name;
    int n_columns;
} tables[N_COLLECT_TABLES] = {
    [TABLE_SENTENCES] = {"sentences", 3}, [TABLE_MAPPINGS] = {"mappings", 5},
    [TABLE_CONTEXTS] = {"contexts", 4},   [TABLE_COST_ROWS] = {"cost_rows", 4},
    [TABLE_CAUSES] = {"causes", 2},
};

static enum pm_status prepare(struct collector *c, enum collect_table table, int n_rows,
                              sqlite3_stmt **ret_insert)
{
    struct pm_buf sql = PM_BUF_INIT(1 << 16);
    pm_buf_printf(&sql, "INSERT INTO %s VALUES", tables[table].name);
    for (int row = 0; row < n_rows; row++)
        for (int i = 0; i < tables[table].n_columns; i++)
            pm_buf_add_str(&sql, i ? ",?" : row ? "),(?" : "(?");
    pm_buf_add_byte(&sql, ')');
    enum pm_status status = sql.failed
                                ? collect_no_memory(c)
                                : pm_archive_prepare(c->archive, sql.data, c->err, ret_insert);
    pm_buf_release(&sql);
    return status;
}

static void bind(sqlite3_stmt *insert, int at, const struct collect_value *value)
{
    switch (value->kind) {
    case COLLECT_NULL:
        sqlite3_bind_null(insert, at);
        break;
    case COLLECT_INTEGER:
        sqlite3_bind_int64(insert, at, value->integer);
        break;
    case COLLECT_REAL:
        sqlite3_bind_double(insert, at, value->real);
        break;
    case COLLECT_TEXT:
        sqlite3_bind_text(insert, at, value->text, -1, SQLITE_STATIC);
        break;
    }
}

static enum pm_status write_rows(struct collector *c, enum collect_table table,
                                 sqlite3_stmt *insert)
{
    struct collect_rows *rows = &c->rows[table];
    for (int i = 0; i < rows->n * tables[table].n_columns; i++)
        bind(insert, i + 1, &rows->values[i]);
    rows->n = 0;
    int code = sqlite3_step(insert);
    sqlite3_reset(insert);
    return code == SQLITE_DONE ? PM_OK : pm_archive_error(c->archive, c->err);
}

enum pm_status collect_add_row(struct collector *c, enum collect_table table,
                               const struct collect_value *values)
{
    struct collect_rows *rows = &c->rows[table];
    int n_columns = tables[table].n_columns;
    memcpy(&rows->values[rows->n++ * n_columns], values, (size_t)n_columns * sizeof *values);
    if (rows->n < COLLECT_ROWS)
        return PM_OK;
    enum pm_status status = rows->insert ? PM_OK : prepare(c, table, COLLECT_ROWS, &rows->insert);
    return status == PM_OK ? write_rows(c, table, rows->insert) : status;
}

enum pm_status collect_rows_end(struct collector *c)
{
    enum pm_status status = PM_OK;
    for (int table = 0; table < N_COLLECT_TABLES && status == PM_OK; table++) {
        sqlite3_stmt *insert = NULL;
        if (c->rows[table].n == 0)
            continue;
        status = prepare(c, (enum collect_table)table, c->rows[table].n, &insert);
        if (status == PM_OK)
            status = write_rows(c, (enum collect_table)table, insert);
        sqlite3_finalize(insert);
    }
    return status;
}

void collect_rows_release(struct collector *c)
{
    for (int table = 0; table < N_COLLECT_TABLES; table++) {
        sqlite3_finalize(c->rows[table].insert);
        c->rows[table].insert = NULL;
    }
}
