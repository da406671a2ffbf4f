/* Rows of the large tables, many in one step: SQLite takes a step for each statement, and that of
 * 32 rows costs per row 0.4 of the time of a statement for one row (128 000 mappings: 0.27 s and
 * 0.10 s). */
#include "writer.h"

#include "collector.h"

#include "mapping/archive/archive.h"

static const char *const statement_texts[N_COLLECT_STATEMENTS] = {
    [INSERT_EXECUTION] = "INSERT INTO executions VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [INSERT_ATTRIBUTE] = "INSERT OR REPLACE INTO execution_attributes VALUES(?,?,?)",
    [ADD_ATTRIBUTE] = "INSERT INTO execution_attributes VALUES(?,?,?) ON CONFLICT DO UPDATE SET "
                      "value = CAST(value + excluded.value AS TEXT)",
    [INSERT_OVERHEAD] = "INSERT INTO overheads VALUES(?,?,?,?,?,?)",
    [UPDATE_ADDED] = "UPDATE processes SET added_ns = ?2 WHERE id = ?1",
    [INSERT_PROBE_COSTS] = "INSERT INTO probe_costs VALUES(?,?,?)",
    [INSERT_PROCESS] = "INSERT INTO processes VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [INSERT_SAMPLING] = "INSERT INTO sampling VALUES(?,?,?,?,?,?,?,?,?)",
    [INSERT_COUNTER] = "INSERT INTO counters VALUES(?,?,?,?,?,?,?,?,?,?,?)",
    [INSERT_NOUN_MODE] = "INSERT INTO noun_modes VALUES(?,?,?,?,?,?,?)",
    [INSERT_THREAD] = "INSERT INTO threads VALUES(?,?,?,?,?,?,?,?)",
    [INSERT_BINARY] = "INSERT INTO binaries VALUES(?,?,?,?,?,?,?,?,?)",
    [INSERT_LEVEL] = "INSERT INTO levels VALUES(?,?,?)",
    [INSERT_FILE] = "INSERT INTO files VALUES(?,?)",
    [INSERT_NOUN] = "INSERT INTO nouns VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [INSERT_NOUN_ATTRIBUTE] = "INSERT OR REPLACE INTO noun_attributes VALUES(?,?,?)",
    [INSERT_VERB] = "INSERT INTO verbs VALUES(?,?,?,?)",
    [INSERT_SENTENCE_NOUN] = "INSERT INTO sentence_nouns VALUES(?,?,?)",
    [INSERT_METRIC] = "INSERT INTO metrics VALUES(?,?,?,?,?,?)",
    [INSERT_MESSAGE] = "INSERT INTO messages VALUES(?,?,?)",
    [INSERT_RANK] = "INSERT INTO ranks VALUES(?,?)",
    [INSERT_MEMBER] = "INSERT OR IGNORE INTO members VALUES(?,?,?,?)",
    [INSERT_NODE] = "INSERT INTO nodes VALUES(?,?)",
    [INSERT_POINT] = "INSERT INTO mapping_points VALUES(?,?,?) ON CONFLICT(name) DO UPDATE SET "
                     "is_on = max(is_on, excluded.is_on), "
                     "n_mappings = n_mappings + excluded.n_mappings",
    [INSERT_COST_LIST] = "INSERT INTO cost_lists VALUES(?,?,?,?)",
    [INSERT_COST_TIMES] = "INSERT INTO cost_times VALUES(?,?,?,?,?)",
};

static const struct {
    const char *name;
    int n_columns;
} tables[N_COLLECT_TABLES] = {
    [TABLE_SENTENCES] = {"sentences", 3}, [TABLE_MAPPINGS] = {"mappings", 5},
    [TABLE_CONTEXTS] = {"contexts", 4},   [TABLE_COST_ROWS] = {"cost_rows", 4},
    [TABLE_CAUSES] = {"causes", 2},
};

enum pm_status collect_writer_open(struct collector *c, const char *archive_path)
{
    enum pm_status status = pm_archive_create(archive_path, c->err, &c->writer->archive);
    for (int i = 0; i < N_COLLECT_STATEMENTS && status == PM_OK; i++)
        status = pm_archive_prepare(c->writer->archive, statement_texts[i], c->err,
                                    &c->writer->statements[i]);
    return status;
}

/* --- one row --- */

enum pm_status collect_insert(struct collector *c, enum collect_statement which)
{
    int code = sqlite3_step(c->writer->statements[which]);
    sqlite3_reset(c->writer->statements[which]);
    return code == SQLITE_DONE ? PM_OK : pm_archive_error(c->writer->archive, c->err);
}

void bind_text(sqlite3_stmt *statement, int at, const char *text)
{
    sqlite3_bind_text(statement, at, text, -1, SQLITE_STATIC);
}

void bind_str(sqlite3_stmt *statement, int at, struct pm_str text)
{
    sqlite3_bind_text64(statement, at, text.p ? text.p : "", text.len, SQLITE_STATIC, SQLITE_UTF8);
}

void bind_number(sqlite3_stmt *statement, int at, uint64_t number)
{
    sqlite3_bind_int64(statement, at, number > INT64_MAX ? INT64_MAX : (int64_t)number);
}

void bind_number_or_null(sqlite3_stmt *statement, int at, uint64_t number)
{
    if (number)
        bind_number(statement, at, number);
    else
        sqlite3_bind_null(statement, at);
}

/* --- many rows --- */

static enum pm_status prepare(struct collector *c, enum collect_table table, int n_rows,
                              sqlite3_stmt **ret_insert)
{
    struct pm_buf sql = PM_BUF_INIT(1 << 16);
    pm_buf_printf(&sql, "INSERT INTO %s VALUES", tables[table].name);
    for (int row = 0; row < n_rows; row++)
        for (int i = 0; i < tables[table].n_columns; i++)
            pm_buf_add_str(&sql, i ? ",?" : row ? "),(?" : "(?");
    pm_buf_add_byte(&sql, ')');
    enum pm_status status =
        sql.failed ? collect_no_memory(c)
                   : pm_archive_prepare(c->writer->archive, sql.data, c->err, ret_insert);
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
    struct collect_rows *rows = &c->writer->rows[table];
    for (int i = 0; i < rows->n * tables[table].n_columns; i++)
        bind(insert, i + 1, &rows->values[i]);
    rows->n = 0;
    int code = sqlite3_step(insert);
    sqlite3_reset(insert);
    return code == SQLITE_DONE ? PM_OK : pm_archive_error(c->writer->archive, c->err);
}

enum pm_status collect_add_row(struct collector *c, enum collect_table table,
                               const struct collect_value *values)
{
    struct collect_rows *rows = &c->writer->rows[table];
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
        if (c->writer->rows[table].n == 0)
            continue;
        status = prepare(c, (enum collect_table)table, c->writer->rows[table].n, &insert);
        if (status == PM_OK)
            status = write_rows(c, (enum collect_table)table, insert);
        sqlite3_finalize(insert);
    }
    return status;
}

void collect_writer_release(struct collector *c)
{
    struct collect_writer *writer = c->writer;
    for (int i = 0; i < N_COLLECT_STATEMENTS; i++)
        sqlite3_finalize(writer->statements[i]);
    for (int table = 0; table < N_COLLECT_TABLES; table++)
        sqlite3_finalize(writer->rows[table].insert);
    memset(writer->statements, 0, sizeof writer->statements);
    memset(writer->rows, 0, sizeof writer->rows);
}
