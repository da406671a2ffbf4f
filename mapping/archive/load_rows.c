/* What all of the loader reads rows with: errors, columns, room. */
#include "load_internal.h"

/* --- errors --- */

enum pm_status load_damaged(struct loader *load, const char *format, ...)
{
    struct pm_buf text = PM_BUF_INIT(4096);
    va_list args;
    va_start(args, format);
    pm_buf_vprintf(&text, format, args);
    va_end(args);
    enum pm_status status = pm_error_set(load->err, PM_ERR_FORMAT, "archive '%s' is damaged: %s",
                                         load->path, text.data ? text.data : "");
    pm_buf_release(&text);
    return status;
}

enum pm_status load_no_memory(struct loader *load)
{
    return pm_error_set(load->err, PM_ERR_MEMORY, "archive '%s': out of memory", load->path);
}

enum pm_status load_database_error(struct loader *load)
{
    return pm_archive_error(load->archive, load->err);
}

enum pm_status load_in_steps(struct loader *load, const load_step *steps, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        enum pm_status status = steps[i](load);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

/* --- columns --- */

int64_t load_number(sqlite3_stmt *row, int column)
{
    return sqlite3_column_type(row, column) == SQLITE_NULL ? PM_UNKNOWN
                                                           : sqlite3_column_int64(row, column);
}

uint32_t load_small_number(sqlite3_stmt *row, int column)
{
    sqlite3_int64 value = sqlite3_column_int64(row, column);
    return value > 0 && value < UINT32_MAX ? (uint32_t)value : 0;
}

const char *load_keep(struct loader *load, sqlite3_stmt *row, int column)
{
    const char *p = pm_archive_text(row, column);
    return pm_intern_add(load->data->own->strings, p, strlen(p));
}

const char *load_keep_printable(struct loader *load, sqlite3_stmt *row, int column)
{
    const char *p = pm_archive_text(row, column);
    struct pm_buf text = PM_BUF_INIT(1 << 24);
    pm_buf_add_printable(&text, p, strlen(p));
    const char *kept =
        text.failed ? NULL
                    : pm_intern_add(load->data->own->strings, text.data ? text.data : "", text.len);
    pm_buf_release(&text);
    return kept;
}

enum pm_status load_each_row(struct loader *load, const char *sql, row_reader reader)
{
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(load->db, sql, -1, &statement, NULL) != SQLITE_OK)
        return load_database_error(load);
    enum pm_status status = PM_OK;
    int step;
    while ((step = sqlite3_step(statement)) == SQLITE_ROW && status == PM_OK)
        status = reader(load, statement);
    if (status == PM_OK && step != SQLITE_DONE)
        status = load_database_error(load);
    sqlite3_finalize(statement);
    return status;
}

enum pm_status load_enter(struct loader *load, struct pm_index_map *map, sqlite3_stmt *row,
                          pm_index position, const char *what)
{
    int64_t id = sqlite3_column_int64(row, 0);
    if (pm_index_map_add(map, id, position))
        return PM_OK;
    return map->out_of_memory ? load_no_memory(load)
                              : load_damaged(load, "%s %lld is there twice", what, (long long)id);
}

bool load_room(void *array_pointer, uint32_t n, size_t item_bytes)
{
    void **array = array_pointer;
    if (n & (n - 1) || (n && n < 8))
        return true;
    void *grown =
        n < UINT32_MAX / 4 ? pm_realloc_array(*array, n ? (size_t)n * 2 : 8, item_bytes) : NULL;
    if (grown)
        *array = grown;
    return grown;
}
