#include "store_internal.h"

#include <stdarg.h>

static const char *const sql[N_INSERTS] = {
    [INSERT_FILE] = "files VALUES (?,?,?,?,?,?)",
    [INSERT_INCLUDE] = "includes VALUES (?,?,?)",
    [INSERT_UNIT] = "units VALUES (?,?,?,?,?,?,?,?)",
    [INSERT_UNIT_FILE] = "unit_files VALUES (?,?)",
    [INSERT_GROUP] = "groups VALUES (?,?,?)",
    [INSERT_UNIT_GROUP] = "unit_groups VALUES (?,?)",
    [INSERT_MACRO] = "macros(name, is_function, text, file, line, column) VALUES (?,?,?,?,?,?)",
    [INSERT_PRAGMA] = "pragmas(text, file, line) VALUES (?,?,?)",
    [INSERT_NAMESPACE] = "namespaces(name, file, line, column) VALUES (?,?,?,?)",
    [INSERT_TYPE] = "types VALUES (?,?,?,?,?,?)",
    [INSERT_TYPEDEF] = "typedefs(name, type, file, line, column) VALUES (?,?,?,?,?)",
    [INSERT_ENUM] = "enums VALUES (?,?,?,?,?,?)",
    [INSERT_ENUMERATOR] = "enumerators VALUES (?,?,?)",
    [INSERT_CLASS] = "classes VALUES (?,?,?,?,?,?,?,?,?,?,?)",
    [INSERT_BASE] = "bases VALUES (?,?,?,?,?)",
    [INSERT_ROUTINE] =
        "routines VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,"
        "?,?)",
    [INSERT_LOOP] = "loops VALUES (?,?,?,?,?,?,?,?,?,?)",
    [INSERT_CALL] = "calls VALUES (?,?,?,?,?,?,?,?,?,?,?)",
    [INSERT_ARGUMENT] = "call_arguments VALUES (?,?,?)",
    [INSERT_TARGET] = "pointer_targets VALUES (?,?,?)",
    [INSERT_OVERRIDE] = "overrides VALUES (?,?)",
    [INSERT_VARIABLE] = "variables VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [INSERT_ACCESS] = "accesses VALUES (?,?,?,?,?,?,?,?,?,?)",
    [INSERT_DIRECTIVE] =
        "directives(name, text, routine, loop, file, line, column, end_line) VALUES "
        "(?,?,?,?,?,?,?,?)",
    [INSERT_FACT] = "facts VALUES (?,?)",
};

enum pm_status store_no_memory(struct pdt_store *store)
{
    store->failed = true;
    return pm_error_set(store->err, PM_ERR_MEMORY, "out of memory for the program database");
}

enum pm_status store_prepare(struct pdt_store *store)
{
    for (int i = 0; i < N_INSERTS; i++) {
        char text[200];
        snprintf(text, sizeof text, "INSERT INTO %s", sql[i]);
        enum pm_status status =
            pm_database_prepare(store->pdb, text, store->err, &store->inserts[i]);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

void store_finish(struct pdt_store *store)
{
    for (int i = 0; i < N_INSERTS; i++)
        sqlite3_finalize(store->inserts[i]);
}

static void bind_field(sqlite3_stmt *row, int column, char field, va_list *args)
{
    struct pm_str text;
    int64_t number;
    switch (field) {
    case 't':
        text = va_arg(*args, struct pm_str);
        sqlite3_bind_text64(row, column, text.p ? text.p : "", text.len, SQLITE_STATIC,
                            SQLITE_UTF8);
        break;
    case 'b':
        text = va_arg(*args, struct pm_str);
        sqlite3_bind_blob64(row, column, text.p, text.len, SQLITE_STATIC);
        break;
    case 'z':
        sqlite3_bind_text(row, column, va_arg(*args, const char *), -1, SQLITE_STATIC);
        break;
    case 'm': /* one more than the number; 0: not known */
        number = va_arg(*args, int64_t);
        if (number)
            sqlite3_bind_int64(row, column, number - 1);
        else
            sqlite3_bind_null(row, column);
        break;
    default:
        number = va_arg(*args, int64_t);
        if (field == 'n' && !number)
            sqlite3_bind_null(row, column);
        else
            sqlite3_bind_int64(row, column, number);
    }
}

enum pm_status store_insert(struct pdt_store *store, enum pdt_insert which, const char *fields, ...)
{
    sqlite3_stmt *row = store->inserts[which];
    bool has_row;
    if (store->failed)
        return PM_ERR_MEMORY;
    va_list args;
    va_start(args, fields);
    for (int i = 0; fields[i]; i++)
        bind_field(row, i + 1, fields[i], &args);
    va_end(args);
    enum pm_status status = pm_database_step(store->pdb, row, store->err, &has_row);
    sqlite3_reset(row);
    return status;
}

uint32_t store_id(struct pdt_store *store, struct pm_map *map, uint64_t key, void **items,
                  uint32_t *n, uint32_t *cap, size_t item_bytes, bool *ret_is_new)
{
    uint32_t *slot = pm_map_at(map, key);
    *ret_is_new = false;
    if (slot && *slot)
        return *slot;
    void *grown = slot ? pm_grow_array(*items, *n, cap, 256, item_bytes) : NULL;
    if (!grown) {
        store_no_memory(store);
        return 0;
    }
    *items = grown;
    memset((char *)grown + *n * item_bytes, 0, item_bytes);
    *slot = ++*n;
    *ret_is_new = true;
    return *slot;
}

uint32_t store_file(struct pdt_store *store, struct pm_str path)
{
    bool is_new;
    void *items = store->files;
    uint32_t id = store_id(store, &store->file_ids, pdt_key(path.p, path.len, 0), &items,
                           &store->n_files, &store->cap_files, sizeof *store->files, &is_new);
    store->files = items;
    if (is_new && !(store->files[id - 1].name = pm_strndup(path.p, path.len))) {
        store_no_memory(store);
        return 0;
    }
    return id;
}
