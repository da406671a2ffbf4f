#include "previous.h"

#include "pdb.h"
#include "store.h"

#include "mapping/base/map.h"

#include <stdlib.h>
#include <unistd.h>

enum { IS_DAMAGED = -1 };

struct old_file {
    const char *name;
    int64_t size, mtime_ns, hash;
    bool is_system, is_checked, is_same;
};

struct old_unit {
    uint32_t first_file, n_files, first_group, n_groups, n_errors;
    const char *state, *problem;
};

struct pdt_previous {
    struct pm_database *pdb;
    struct pm_error *err;
    struct pm_arena arena;
    struct pm_map unit_ids; /* keys >> 1: position + 1 */
    struct pm_map file_rows, group_rows, unit_rows;
    struct old_file *files;
    struct old_unit *units;
    struct pdt_pooled *groups;
    uint32_t *unit_files, *unit_groups;
    uint32_t n_files, n_units, n_groups, n_unit_files, n_unit_groups;
    uint32_t cap_files, cap_units, cap_groups, cap_unit_files, cap_unit_groups;
};

static enum pm_status no_memory(struct pdt_previous *previous)
{
    return pm_error_set(previous->err, PM_ERR_MEMORY, "out of memory for the last build");
}

static const char *text_of(struct pdt_previous *previous, sqlite3_stmt *row, int column)
{
    const char *text = pm_database_text(row, column);
    return pm_arena_strndup(&previous->arena, text, strlen(text));
}

#define ADD(previous, what, first)                                                           \
    ((grown = pm_grow_array((previous)->what, (previous)->n_##what, &(previous)->cap_##what, \
                            first, sizeof *(previous)->what))                                \
         ? ((previous)->what = grown, &(previous)->what[(previous)->n_##what++])             \
         : NULL)

static enum pm_status add_file(void *context, sqlite3_stmt *row)
{
    struct pdt_previous *previous = context;
    void *grown;
    struct old_file *file = ADD(previous, files, 256);
    if (!file)
        return no_memory(previous);
    *file = (struct old_file){.name = text_of(previous, row, 1),
                              .is_system = sqlite3_column_int(row, 2) != 0,
                              .size = sqlite3_column_int64(row, 3),
                              .mtime_ns = sqlite3_column_int64(row, 4),
                              .hash = sqlite3_column_int64(row, 5)};
    bool good = file->name && pm_map_put(&previous->file_rows,
                                         (uint64_t)sqlite3_column_int64(row, 0), previous->n_files);
    return good ? PM_OK : no_memory(previous);
}

static enum pm_status add_group(void *context, sqlite3_stmt *row)
{
    struct pdt_previous *previous = context;
    void *grown;
    size_t len = (size_t)sqlite3_column_bytes(row, 2);
    struct pdt_pooled *group = ADD(previous, groups, 256);
    if (!group)
        return no_memory(previous);
    char *copy = pm_arena_alloc(&previous->arena, len + 1);
    *group = (struct pdt_pooled){.data = {copy, len}};
    if (copy && len)
        memcpy(copy, sqlite3_column_blob(row, 2), len);
    if (sqlite3_column_bytes(row, 1) == sizeof group->hash)
        memcpy(group->hash, sqlite3_column_blob(row, 1), sizeof group->hash);
    /* A changed group makes its units be read again. */
    uint8_t sum[16];
    if (copy)
        pdt_sum((struct pm_str){copy, len}, sum);
    group->id = copy && memcmp(sum, group->hash, sizeof sum) != 0 ? IS_DAMAGED : 0;
    bool good = copy && pm_map_put(&previous->group_rows, (uint64_t)sqlite3_column_int64(row, 0),
                                   previous->n_groups);
    return good ? PM_OK : no_memory(previous);
}

static enum pm_status add_unit(void *context, sqlite3_stmt *row)
{
    struct pdt_previous *previous = context;
    void *grown;
    struct old_unit *unit = ADD(previous, units, 256);
    if (!unit)
        return no_memory(previous);
    *unit = (struct old_unit){.state = text_of(previous, row, 2),
                              .n_errors = (uint32_t)sqlite3_column_int64(row, 3),
                              .problem = text_of(previous, row, 4)};
    bool good =
        unit->state && unit->problem &&
        pm_map_put(&previous->unit_rows, (uint64_t)sqlite3_column_int64(row, 0),
                   previous->n_units) &&
        pm_map_put(&previous->unit_ids, (uint64_t)sqlite3_column_int64(row, 1), previous->n_units);
    return good ? PM_OK : no_memory(previous);
}

/* Rows of one unit follow each other. */
static enum pm_status add_unit_part(struct pdt_previous *previous, sqlite3_stmt *row, bool is_file)
{
    void *grown;
    uint32_t unit = pm_map_get(&previous->unit_rows, (uint64_t)sqlite3_column_int64(row, 0));
    uint32_t part = pm_map_get(is_file ? &previous->file_rows : &previous->group_rows,
                               (uint64_t)sqlite3_column_int64(row, 1));
    if (!unit || !part)
        return PM_OK;
    struct old_unit *of = &previous->units[unit - 1];
    uint32_t *to = is_file ? ADD(previous, unit_files, 1024) : ADD(previous, unit_groups, 1024);
    if (!to)
        return no_memory(previous);
    *to = part - 1;
    uint32_t *n = is_file ? &of->n_files : &of->n_groups;
    uint32_t *first = is_file ? &of->first_file : &of->first_group;
    if ((*n)++ == 0)
        *first = (is_file ? previous->n_unit_files : previous->n_unit_groups) - 1;
    return PM_OK;
}

static enum pm_status add_unit_file(void *context, sqlite3_stmt *row)
{
    struct pdt_previous *previous = context;
    return add_unit_part(previous, row, true);
}

static enum pm_status add_unit_group(void *context, sqlite3_stmt *row)
{
    struct pdt_previous *previous = context;
    return add_unit_part(previous, row, false);
}

static enum pm_status load(struct pdt_previous *previous)
{
    static const struct {
        const char *sql;
        pm_database_visit *add;
    } parts[] = {
        {"SELECT id, name, is_system, size_bytes, mtime_ns, hash FROM files", add_file},
        {"SELECT id, hash, data FROM groups", add_group},
        {"SELECT id, key, state, n_errors, problem FROM units", add_unit},
        {"SELECT unit, file FROM unit_files ORDER BY unit, rowid", add_unit_file},
        {"SELECT unit, \"group\" FROM unit_groups ORDER BY unit, rowid", add_unit_group},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        enum pm_status status =
            pm_database_each(previous->pdb, parts[i].sql, 0, parts[i].add, previous, previous->err);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

enum pm_status pdt_previous_load(const char *path, struct pm_error *err,
                                 struct pdt_previous **ret_previous)
{
    *ret_previous = NULL;
    if (access(path, F_OK) != 0)
        return PM_OK;
    struct pm_database *pdb;
    enum pm_status status = pdt_open(path, err, &pdb);
    if (status != PM_OK)
        return status;
    struct pdt_previous *previous = pm_alloc(sizeof *previous);
    if (!previous) {
        pm_database_close(pdb);
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory for the last build");
    }
    previous->pdb = pdb;
    previous->err = err;
    status = load(previous);
    pm_database_close(pdb);
    if (status != PM_OK)
        pdt_previous_free(previous);
    else
        *ret_previous = previous;
    return status;
}

void pdt_previous_free(struct pdt_previous *previous)
{
    if (!previous)
        return;
    struct pm_map *maps[] = {&previous->unit_ids, &previous->file_rows, &previous->group_rows,
                             &previous->unit_rows};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        pm_map_release(maps[i]);
    free(previous->files);
    free(previous->units);
    free(previous->groups);
    free(previous->unit_files);
    free(previous->unit_groups);
    pm_arena_release(&previous->arena);
    free(previous);
}

/* Touched is not changed: then the contents count. */
static bool is_same(struct old_file *file)
{
    int64_t size, mtime, hash;
    if (file->is_checked)
        return file->is_same;
    file->is_checked = true;
    file->is_same = file->mtime_ns && pdt_file_state(file->name, false, &size, &mtime, &hash) &&
                    size == file->size &&
                    (mtime == file->mtime_ns ||
                     (file->hash && pdt_file_state(file->name, true, &size, &mtime, &hash) &&
                      hash == file->hash));
    return file->is_same;
}

static bool add_unit_path(struct pdt_unit *unit, const struct old_file *file)
{
    void *grown =
        pm_grow_array(unit->files, unit->n_files, &unit->cap_files, 64, sizeof *unit->files);
    char *copy = grown ? pm_strndup(file->name, strlen(file->name)) : NULL;
    if (grown)
        unit->files = grown;
    if (copy)
        unit->files[unit->n_files++] = (struct pdt_unit_file){copy, file->is_system};
    return copy != NULL;
}

bool pdt_previous_keep(struct pdt_previous *previous, struct pdt_unit *unit)
{
    uint32_t id = previous ? pm_map_get(&previous->unit_ids, unit->key >> 1) : 0;
    struct old_unit *old = id ? &previous->units[id - 1] : NULL;
    /* what was missing then may be there now, in a file that no list names */
    if (!old || !old->n_files || !old->n_groups || old->n_errors || !strcmp(old->state, "failed"))
        return false;
    for (uint32_t i = 0; i < old->n_groups; i++)
        if (previous->groups[previous->unit_groups[old->first_group + i]].id == IS_DAMAGED)
            return false;
    for (uint32_t i = 0; i < old->n_files; i++)
        if (!is_same(&previous->files[previous->unit_files[old->first_file + i]]))
            return false;
    for (uint32_t i = 0; i < old->n_files; i++)
        if (!add_unit_path(unit, &previous->files[previous->unit_files[old->first_file + i]]))
            return false;
    unit->n_errors = old->n_errors;
    unit->problem = *old->problem ? pm_strndup(old->problem, strlen(old->problem)) : NULL;
    unit->is_read = unit->is_kept = true;
    return true;
}

const struct pdt_pooled *pdt_previous_group(const struct pdt_previous *previous, uint64_t unit_key,
                                            uint32_t n)
{
    uint32_t id = pm_map_get(&previous->unit_ids, unit_key >> 1);
    const struct old_unit *old = id ? &previous->units[id - 1] : NULL;
    return old && n < old->n_groups ? &previous->groups[previous->unit_groups[old->first_group + n]]
                                    : NULL;
}
