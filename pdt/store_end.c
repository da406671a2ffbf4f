/* What can be told only when all groups are known; units, and files. */
#define XXH_INLINE_ALL
#include "store_internal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

enum { HASHED_BYTES = 1 << 28 };

bool pdt_file_state(const char *path, bool with_hash, int64_t *ret_size, int64_t *ret_mtime_ns,
                    int64_t *ret_hash)
{
    struct stat st;
    char *data;
    size_t len;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return false;
    *ret_size = st.st_size;
    *ret_mtime_ns = st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
    *ret_hash = 0;
    if (!with_hash)
        return true;
    if (pm_file_read(path, HASHED_BYTES, NULL, &data, &len) != PM_OK)
        return false;
    *ret_hash = (int64_t)(XXH3_64bits(data, len) >> 1);
    free(data);
    return true;
}

static int64_t bit(const struct stored_routine *routine, unsigned flag)
{
    return (routine->flags & flag) != 0;
}

static enum pm_status write_types(struct pdt_store *store)
{
    for (uint32_t i = 0; i < store->n_types; i++) {
        const struct stored_type *type = &store->types[i];
        enum pm_status status =
            store_insert(store, INSERT_TYPE, "itttmm", (int64_t)i + 1, type->name, type->kind,
                         type->canonical, (int64_t)type->size, (int64_t)type->n_elements);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

static enum pm_status write_classes(struct pdt_store *store)
{
    for (uint32_t i = 0; i < store->n_classes; i++) {
        const struct stored_class *class = &store->classes[i];
        if (!class->name.p) /* only named: of the system */
            continue;
        enum pm_status status = store_insert(
            store, INSERT_CLASS, "ittiinmnnnn", (int64_t)i + 1, class->name, class->kind,
            (int64_t)((class->flags & PDT_IS_TEMPLATE) != 0),
            (int64_t)((class->flags & PDT_IS_DEFINED) != 0), (int64_t) class->parent,
            (int64_t) class->size, (int64_t) class->place.file, (int64_t) class->place.line,
            (int64_t) class->place.column, (int64_t) class->end_line);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

static enum pm_status write_routine(struct pdt_store *store, int64_t id,
                                    const struct stored_routine *r)
{
    return store_insert(store, INSERT_ROUTINE, "ittttznzzzniiiiiiiiiiiiiinnnnnnn", id, r->usr,
                        r->name, r->full_name, r->linkage_name, pdt_routine_kinds[r->kind],
                        (int64_t)r->type, pdt_linkages[r->linkage], pdt_storages[r->storage],
                        pdt_accesses[r->access], (int64_t)r->class, bit(r, PDT_IS_DEFINED),
                        bit(r, PDT_IS_SYSTEM), bit(r, PDT_IS_INLINE), bit(r, PDT_IS_VIRTUAL),
                        bit(r, PDT_IS_PURE), bit(r, PDT_IS_STATIC), bit(r, PDT_IS_CONST),
                        bit(r, PDT_IS_VARIADIC), bit(r, PDT_IS_TEMPLATE), (int64_t)r->is_taken,
                        (int64_t)r->n_parameters, (int64_t)r->n_statements, (int64_t)r->n_returns,
                        (int64_t)r->n_variants, (int64_t)r->place.file, (int64_t)r->place.line,
                        (int64_t)r->place.column, (int64_t)r->body[0], (int64_t)r->body[1],
                        (int64_t)r->body[2], (int64_t)r->body[3]);
}

static enum pm_status write_routines(struct pdt_store *store)
{
    enum pm_status status = PM_OK;
    for (uint32_t i = 0; i < store->n_routines; i++) {
        status = write_routine(store, (int64_t)i + 1, &store->routines[i]);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

static enum pm_status write_variables(struct pdt_store *store)
{
    for (uint32_t i = 0; i < store->n_variables; i++) {
        const struct stored_variable *v = &store->variables[i];
        bool is_field = v->kind == PDT_FIELD;
        int64_t routine = v->routine;
        if (!routine && !is_field)
            routine = pm_map_get(&store->routine_ids, v->owner);
        int64_t class = pm_map_get(&store->class_ids, v->owner);
        enum pm_status status = store_insert(
            store, INSERT_VARIABLE, "itziiiinnzmnnn", (int64_t)i + 1, v->name,
            pdt_variable_kinds[v->kind], (int64_t)v->type,
            (int64_t)((v->flags & PDT_IS_ARRAY) != 0), (int64_t)((v->flags & PDT_IS_POINTER) != 0),
            (int64_t)((v->flags & PDT_IS_STATIC) != 0), routine, class, pdt_accesses[v->access],
            (int64_t)(is_field ? v->offset : 0), (int64_t)v->place.file, (int64_t)v->place.line,
            (int64_t)v->place.column);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

static enum pm_status write_call(struct pdt_store *store, int64_t id,
                                 const struct stored_call *call)
{
    uint32_t named = call->callee ? pm_map_get(&store->routine_ids, call->callee) : 0;
    bool is_ambiguous = !call->here && named && store->routines[named - 1].n_definitions > 1;
    struct pm_cursor cursor;
    struct pm_str text;
    enum pm_status status =
        store_insert(store, INSERT_CALL, "innznntiiii", id, (int64_t)call->routine, call->loop,
                     pdt_call_kinds[call->kind], (int64_t)(call->here ? call->here : named),
                     (int64_t)call->type, call->text, (int64_t)is_ambiguous, (int64_t)call->file,
                     (int64_t)call->line, (int64_t)call->column);
    if (status != PM_OK)
        return status;
    pm_cursor_init(&cursor, call->arguments.p, call->arguments.len);
    for (unsigned i = 0; i < call->n_arguments && pdt_get_text(&cursor, &text); i++) {
        status = store_insert(store, INSERT_ARGUMENT, "iit", id, (int64_t)i + 1, text);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

static enum pm_status write_calls(struct pdt_store *store)
{
    enum pm_status status = PM_OK;
    for (uint32_t i = 0; i < store->n_calls; i++) {
        status = write_call(store, (int64_t)i + 1, &store->calls[i]);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

/* --- what calls through pointers may reach --- */

enum { FUNCTION_SEED = 2, METHOD_SEED = 3 };

/* A function that throws nothing may be called by a pointer that does not say so. */
static uint64_t sum_of_text(struct pm_str text, uint64_t seed)
{
    static const char end[] = " noexcept";
    size_t len = sizeof end - 1;
    if (text.len > len && memcmp(text.p + text.len - len, end, len) == 0)
        text.len -= len;
    return pdt_key(text.p ? text.p : "", text.len, seed);
}

/* "int (List::*)(int)", of a pointer to a member: "int (int)" of a method. Its class counts for
 * nothing: methods of bases are members, too. */
static uint64_t sum_of_member(struct pm_str text, const char *star)
{
    struct pm_buf buf = PM_BUF_INIT(1 << 24);
    const char *begin = star;
    for (int depth = 1; begin > text.p && depth; begin--)
        depth += (begin[-1] == ')') - (begin[-1] == '(');
    pm_buf_add(&buf, text.p, (size_t)(begin - text.p));
    pm_buf_add(&buf, star + 4, (size_t)(text.p + text.len - star - 4));
    uint64_t sum = sum_of_text((struct pm_str){buf.data, buf.len}, METHOD_SEED);
    pm_buf_release(&buf);
    return sum;
}

static uint64_t type_sum(const struct pdt_store *store, uint32_t type)
{
    struct pm_str text = store->types[type - 1].canonical;
    const char *star = text.len ? memmem(text.p, text.len, "::*)", 4) : NULL;
    if (star && pm_str_is(store->types[type - 1].kind, "MemberPointer"))
        return sum_of_member(text, star);
    return sum_of_text(text, FUNCTION_SEED);
}

/* A pointer to a function never leads to a method that needs an object, whose type looks alike. */
static bool is_of_object(const struct stored_routine *routine)
{
    return routine->class && !(routine->flags & PDT_IS_STATIC);
}

static uint64_t sum_of_routine(const struct pdt_store *store, const struct stored_routine *routine)
{
    if (!routine->is_taken || !routine->type)
        return 0;
    return is_of_object(routine)
               ? sum_of_text(store->types[routine->type - 1].canonical, METHOD_SEED)
               : type_sum(store, routine->type);
}

static enum pm_status write_targets_of(struct pdt_store *store, const uint64_t *sums, uint32_t type)
{
    uint64_t sum = type_sum(store, type);
    int64_t n = 0;
    for (uint32_t i = 0; i < store->n_routines; i++)
        n += sums[i] == sum;
    for (uint32_t i = 0; n && i < store->n_routines; i++) {
        if (sums[i] != sum)
            continue;
        enum pm_status status =
            store_insert(store, INSERT_TARGET, "iii", (int64_t)type, (int64_t)i + 1, n);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

static enum pm_status write_targets(struct pdt_store *store)
{
    struct pm_map done = {0};
    uint64_t *sums = pm_alloc_array(store->n_routines + 1u, sizeof *sums);
    enum pm_status status = sums ? PM_OK : store_no_memory(store);
    for (uint32_t i = 0; sums && i < store->n_routines; i++)
        sums[i] = sum_of_routine(store, &store->routines[i]);
    for (uint32_t i = 0; status == PM_OK && i < store->n_calls; i++) {
        const struct stored_call *call = &store->calls[i];
        if (call->kind != PDT_POINTER || !call->type || pm_map_get(&done, call->type))
            continue;
        status = pm_map_put(&done, call->type, 1) ? write_targets_of(store, sums, call->type)
                                                  : store_no_memory(store);
    }
    pm_map_release(&done);
    free(sums);
    return status;
}

/* All that override a method, at any distance. A pure method is no target itself. A pointer to a
 * virtual method leads to them, too. */
static enum pm_status write_virtual_targets(struct pdt_store *store)
{
    static const char sql[] =
        "CREATE INDEX overrides_method ON overrides(method);"
        "INSERT INTO virtual_targets WITH RECURSIVE t(method, routine) AS (SELECT method, routine "
        "FROM overrides UNION SELECT t.method, o.routine FROM t JOIN overrides o ON o.method = "
        "t.routine) SELECT t.method, t.routine, count(*) OVER (PARTITION BY t.method) + "
        "(SELECT NOT r.is_pure FROM routines r WHERE r.id = t.method) FROM t WHERE t.method <> "
        "t.routine ORDER BY t.method, t.routine;"
        "CREATE TEMP TABLE taken AS SELECT DISTINCT p.type, v.routine FROM pointer_targets p JOIN "
        "virtual_targets v ON v.method = p.routine;"
        "INSERT INTO pointer_targets SELECT t.type, t.routine, 0 FROM taken t WHERE NOT EXISTS "
        "(SELECT 1 FROM pointer_targets p WHERE p.type = t.type AND p.routine = t.routine);"
        "UPDATE pointer_targets SET n_targets = (SELECT count(*) FROM pointer_targets p WHERE "
        "p.type = pointer_targets.type) WHERE type IN (SELECT type FROM taken);"
        "DROP TABLE taken";
    return pm_database_exec(store->pdb, sql, store->err);
}

/* --- files and units --- */

static enum pm_status write_files(struct pdt_store *store, int64_t began_ns)
{
    for (uint32_t i = 0; i < store->n_files; i++) {
        const struct stored_file *file = &store->files[i];
        int64_t size = 0, mtime = 0, hash = 0;
        bool is_there =
            file->is_of_unit && pdt_file_state(file->name, !file->is_system, &size, &mtime, &hash);
        if (!is_there || mtime >= began_ns)
            mtime = 0;
        enum pm_status status =
            store_insert(store, INSERT_FILE, "izinnn", (int64_t)i + 1, file->name,
                         (int64_t)file->is_system, size, mtime, mtime ? hash : 0);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

static const char *command_text(struct pdt_store *store, const struct pdt_command *command,
                                struct pm_buf *buf)
{
    for (uint32_t i = 0; i < command->n_arguments; i++)
        pm_buf_printf(buf, "%s%s", i ? " " : "", command->arguments[i]);
    if (buf->failed)
        store_no_memory(store);
    return buf->data && !buf->failed ? buf->data : "";
}

enum pm_status pdt_store_unit(struct pdt_store *store, const struct pdt_unit *unit,
                              const int64_t *groups, uint32_t n_groups, struct pm_error *err)
{
    struct pm_buf text = PM_BUF_INIT(1 << 24);
    int64_t id = ++store->n_units;
    store->err = err;
    uint32_t file = store_file(store, pm_str_of(unit->command->file));
    const char *state = unit->n_errors ? "errors" : "read";
    if (!unit->is_read)
        state = "failed";
    const char *command = command_text(store, unit->command, &text);
    enum pm_status status =
        file ? store_insert(store, INSERT_UNIT, "iizzizit", id, (int64_t)file,
                            unit->command->directory, command, (int64_t)(unit->key >> 1), state,
                            (int64_t)unit->n_errors, pm_str_of(unit->problem))
             : PM_ERR_MEMORY;
    for (uint32_t i = 0; status == PM_OK && i < unit->n_files; i++) {
        uint32_t of = store_file(store, pm_str_of(unit->files[i].path));
        if (!of) {
            status = PM_ERR_MEMORY;
            break;
        }
        store->files[of - 1].is_of_unit = true;
        store->files[of - 1].is_system |= unit->files[i].is_system;
        status = store_insert(store, INSERT_UNIT_FILE, "ii", id, (int64_t)of);
    }
    for (uint32_t i = 0; status == PM_OK && i < n_groups; i++)
        status = store_insert(store, INSERT_UNIT_GROUP, "ii", id, groups[i]);
    pm_buf_release(&text);
    return status;
}

static enum pm_status write_indices(struct pdt_store *store)
{
    static const char sql[] = "CREATE INDEX calls_routine ON calls(routine);"
                              "CREATE INDEX calls_callee ON calls(callee);"
                              "CREATE INDEX routines_name ON routines(name);"
                              "CREATE INDEX loops_routine ON loops(routine);"
                              "CREATE INDEX accesses_variable ON accesses(variable);"
                              "CREATE INDEX accesses_routine ON accesses(routine);"
                              "CREATE INDEX calls_loop ON calls(loop);"
                              "CREATE INDEX accesses_loop ON accesses(loop);"
                              "CREATE INDEX loops_parent ON loops(parent);"
                              "CREATE INDEX routines_file ON routines(file);"
                              "CREATE INDEX includes_file ON includes(file);"
                              "CREATE INDEX variables_class ON variables(class);"
                              "CREATE INDEX bases_class ON bases(class);"
                              "CREATE INDEX arguments_call ON call_arguments(call);"
                              "CREATE INDEX enumerators_enum ON enumerators(enum);"
                              "CREATE INDEX calls_type ON calls(type);"
                              "CREATE INDEX virtual_method ON virtual_targets(method);"
                              "CREATE INDEX virtual_routine ON virtual_targets(routine);"
                              "CREATE INDEX targets_type ON pointer_targets(type);"
                              "CREATE INDEX targets_routine ON pointer_targets(routine);";
    return pm_database_exec(store->pdb, sql, store->err);
}

enum pm_status pdt_store_end(struct pdt_store *store, int64_t began_ns, const char *libclang,
                             struct pm_error *err)
{
    static enum pm_status (*const parts[])(struct pdt_store *) = {
        write_types, write_classes, write_routines,       write_variables,
        write_calls, write_targets, write_virtual_targets};
    store->err = err;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        enum pm_status status = parts[i](store);
        if (status != PM_OK)
            return status;
    }
    enum pm_status status = write_files(store, began_ns);
    if (status != PM_OK)
        return status;
    status = store_insert(store, INSERT_FACT, "zz", "perfmap", PERFMAP_VERSION);
    if (status != PM_OK)
        return status;
    status = store_insert(store, INSERT_FACT, "zz", "libclang", libclang);
    if (status != PM_OK)
        return status;
    return write_indices(store);
}

uint64_t pdt_store_n(const struct pdt_store *store, char what)
{
    uint64_t n = 0;
    switch (what) {
    case 'l':
        return store->n_loops;
    case 'c':
        return store->n_calls;
    case 'a':
        return store->n_accesses;
    default:
        for (uint32_t i = 0; i < store->n_routines; i++)
            n += bit(&store->routines[i], PDT_IS_DEFINED) != 0;
        return n;
    }
}
