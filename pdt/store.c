/* The records of groups (group.h), one after the other. */
#include "store_internal.h"

#include <stdlib.h>

#define ITEM(store, map, key, what, is_new)                                          \
    store_id(store, &(store)->map, key, (void **)&(store)->what, &(store)->n_##what, \
             &(store)->cap_##what, sizeof *(store)->what, is_new)

/* Was this seen before? By whatever says what it is. Also when memory ends: it is told, and the
 * group fails. */
static bool is_seen(struct pdt_store *store, const void *bytes, size_t len, uint64_t seed)
{
    uint32_t *slot = pm_map_at(&store->seen, pdt_key(bytes, len, seed));
    if (slot && !*slot) {
        *slot = 1;
        return false;
    }
    if (!slot)
        store_no_memory(store);
    return true;
}

static bool is_seen_at(struct pdt_store *store, enum pdt_tag tag, struct pm_str name, uint32_t line,
                       uint32_t column)
{
    uint32_t place[] = {store->file_now, line, column, (uint32_t)tag};
    return is_seen(store, name.p, name.len, pdt_key(place, sizeof place, 0));
}

static struct pm_cursor *at(struct pdt_store *store)
{
    return &store->cursor;
}

static bool get_place(struct pdt_store *store, struct stored_place *ret_place)
{
    struct pm_str path;
    if (!pdt_get_text(at(store), &path) || !pdt_get_line(at(store), &ret_place->line) ||
        !pdt_get_line(at(store), &ret_place->column))
        return false;
    ret_place->file = path.len ? store_file(store, path) : 0;
    return true;
}

static uint32_t type_id(struct pdt_store *store, uint64_t key)
{
    bool is_new;
    return key ? ITEM(store, type_ids, key, types, &is_new) : 0;
}

static uint32_t class_id(struct pdt_store *store, uint64_t key)
{
    bool is_new;
    return key ? ITEM(store, class_ids, key, classes, &is_new) : 0;
}

/* --- what lies in files --- */

static enum pm_status read_file(struct pdt_store *store)
{
    struct pm_str path;
    unsigned is_system;
    if (!pdt_get_text(at(store), &path) || !pdt_get_below(at(store), 2, &is_system))
        return PM_OK;
    store->file = store->file_now = store_file(store, path);
    return store->file ? PM_OK : PM_ERR_MEMORY;
}

static enum pm_status read_macro(struct pdt_store *store)
{
    struct pm_str name, text;
    unsigned is_function;
    uint32_t line, column;
    if (!pdt_get_text(at(store), &name) || !pdt_get_below(at(store), 2, &is_function) ||
        !pdt_get_text(at(store), &text) || !pdt_get_line(at(store), &line) ||
        !pdt_get_line(at(store), &column) || is_seen_at(store, PDT_MACRO, name, line, column))
        return PM_OK;
    return store_insert(store, INSERT_MACRO, "titiii", name, (int64_t)is_function, text,
                        (int64_t)store->file, (int64_t)line, (int64_t)column);
}

static enum pm_status read_pragma(struct pdt_store *store)
{
    struct pm_str text;
    uint32_t line;
    if (!pdt_get_text(at(store), &text) || !pdt_get_line(at(store), &line) ||
        is_seen_at(store, PDT_PRAGMA, text, line, 0))
        return PM_OK;
    return store_insert(store, INSERT_PRAGMA, "tii", text, (int64_t)store->file, (int64_t)line);
}

static enum pm_status read_include(struct pdt_store *store)
{
    struct pm_str path;
    unsigned is_system;
    uint32_t line;
    if (!pdt_get_text(at(store), &path) || !pdt_get_below(at(store), 2, &is_system) ||
        !pdt_get_line(at(store), &line) || is_seen_at(store, PDT_INCLUDE, path, line, 0))
        return PM_OK;
    uint32_t id = store_file(store, path);
    return id ? store_insert(store, INSERT_INCLUDE, "iii", (int64_t)store->file, (int64_t)line,
                             (int64_t)id)
              : PM_ERR_MEMORY;
}

static enum pm_status read_type(struct pdt_store *store)
{
    struct stored_type type = {.is_known = true};
    uint64_t key;
    if (!pdt_get_key(at(store), &key) || !pdt_get_text(at(store), &type.name) ||
        !pdt_get_text(at(store), &type.kind) || !pdt_get_text(at(store), &type.canonical) ||
        !pm_cursor_uleb(at(store), &type.size) || !pm_cursor_uleb(at(store), &type.n_elements))
        return PM_OK;
    uint32_t id = type_id(store, key);
    if (id && !store->types[id - 1].is_known)
        store->types[id - 1] = type;
    return id || !key ? PM_OK : PM_ERR_MEMORY;
}

static enum pm_status read_named(struct pdt_store *store, enum pdt_tag tag)
{
    struct pm_str name;
    uint64_t key, type = 0;
    uint32_t line, column, end_line = 0;
    if (!pdt_get_key(at(store), &key) || !pdt_get_text(at(store), &name) ||
        (tag == PDT_TYPEDEF && !pdt_get_key(at(store), &type)) || !pdt_get_line(at(store), &line) ||
        !pdt_get_line(at(store), &column) ||
        (tag == PDT_ENUM && !pdt_get_line(at(store), &end_line)) ||
        is_seen(store, &key, sizeof key, (uint64_t)tag))
        return PM_OK;
    int64_t file = store->file, l = line, c = column;
    if (tag == PDT_NAMESPACE)
        return store_insert(store, INSERT_NAMESPACE, "tiii", name, file, l, c);
    if (tag == PDT_TYPEDEF)
        return store_insert(store, INSERT_TYPEDEF, "tiiii", name, (int64_t)type_id(store, type),
                            file, l, c);
    return store_insert(store, INSERT_ENUM, "itiiii", (int64_t)(key >> 1), name, file, l, c,
                        (int64_t)end_line);
}

static enum pm_status read_enumerator(struct pdt_store *store)
{
    struct pm_str name;
    uint64_t key;
    int64_t value;
    if (!pdt_get_key(at(store), &key) || !pdt_get_text(at(store), &name) ||
        !pm_cursor_sleb(at(store), &value) || is_seen(store, name.p, name.len, key))
        return PM_OK;
    return store_insert(store, INSERT_ENUMERATOR, "iti", (int64_t)(key >> 1), name, value);
}

static enum pm_status read_class(struct pdt_store *store)
{
    struct stored_class class = {0};
    uint64_t key, parent;
    if (!pdt_get_key(at(store), &key) || !pdt_get_text(at(store), &class.name) ||
        !pdt_get_text(at(store), &class.kind) || !pdt_get_below(at(store), 4096, &class.flags) ||
        !pdt_get_key(at(store), &parent) || !pm_cursor_uleb(at(store), &class.size) ||
        !get_place(store, &class.place) || !pdt_get_line(at(store), &class.end_line) || !key)
        return PM_OK;
    class.parent = parent != key ? class_id(store, parent) : 0;
    uint32_t id = class_id(store, key);
    if (!id)
        return PM_ERR_MEMORY;
    struct stored_class *there = &store->classes[id - 1];
    if (!there->name.p || (class.flags & PDT_IS_DEFINED && !(there->flags & PDT_IS_DEFINED)))
        *there = class;
    return PM_OK;
}

static enum pm_status read_base(struct pdt_store *store)
{
    struct pm_str name;
    uint64_t key[2];
    unsigned access, is_virtual;
    if (!pdt_get_key(at(store), &key[0]) || !pdt_get_key(at(store), &key[1]) ||
        !pdt_get_text(at(store), &name) || !pdt_get_below(at(store), PDT_N_ACCESSES, &access) ||
        !pdt_get_below(at(store), 2, &is_virtual) || is_seen(store, name.p, name.len, key[0]))
        return PM_OK;
    return store_insert(store, INSERT_BASE, "intzi", (int64_t)class_id(store, key[0]),
                        (int64_t)class_id(store, key[1]), name, pdt_accesses[access],
                        (int64_t)is_virtual);
}

static enum pm_status read_variable(struct pdt_store *store)
{
    struct stored_variable v = {0};
    uint64_t key, type;
    bool is_new;
    if (!pdt_get_key(at(store), &key) || !pdt_get_text(at(store), &v.name) ||
        !pdt_get_below(at(store), PDT_N_VARIABLE_KINDS, &v.kind) ||
        !pdt_get_key(at(store), &type) || !pdt_get_below(at(store), 4096, &v.flags) ||
        !pdt_get_key(at(store), &v.owner) || !pdt_get_below(at(store), PDT_N_ACCESSES, &v.access) ||
        !pm_cursor_uleb(at(store), &v.offset) || !get_place(store, &v.place) || !key)
        return PM_OK;
    v.type = type_id(store, type);
    v.routine = pm_map_get(&store->here, v.owner);
    uint32_t id = ITEM(store, variable_ids, key, variables, &is_new);
    if (id &&
        (is_new || (v.flags & PDT_IS_ARRAY && !(store->variables[id - 1].flags & PDT_IS_ARRAY))))
        store->variables[id - 1] = v;
    return id ? PM_OK : PM_ERR_MEMORY;
}

/* --- routines --- */

static bool same_place(const struct stored_place *a, const struct stored_place *b)
{
    return a->file == b->file && a->line == b->line && a->column == b->column;
}

/* Definitions of one name in several places (each program's main) are several routines. */
static enum pm_status define_routine(struct pdt_store *store, uint64_t key, uint32_t id,
                                     const struct stored_routine *routine)
{
    struct stored_routine *there = &store->routines[id - 1];
    bool is_new, is_first = !(there->flags & PDT_IS_DEFINED), is_taken = there->is_taken;
    if (!is_first && !same_place(&there->place, &routine->place)) {
        there->n_definitions++;
        id = ITEM(store, routine_ids, pdt_key(&routine->place, sizeof routine->place, key),
                  routines, &is_new);
        if (!id)
            return PM_ERR_MEMORY;
        there = &store->routines[id - 1];
        is_first = is_new;
    }
    if (is_first) {
        *there = *routine;
        there->n_definitions = 1;
        there->is_taken = is_taken;
    }
    there->n_variants++;
    if (!pm_map_put(&store->here, key, id) || (!is_first && !pm_map_put(&store->skipped, key, id)))
        return store_no_memory(store);
    return PM_OK;
}

static enum pm_status read_routine(struct pdt_store *store)
{
    struct stored_routine r = {0};
    uint64_t key, type, class;
    bool is_new;
    if (!pdt_get_key(at(store), &key) || !pdt_get_text(at(store), &r.usr) ||
        !pdt_get_text(at(store), &r.name) || !pdt_get_text(at(store), &r.full_name) ||
        !pdt_get_text(at(store), &r.linkage_name) ||
        !pdt_get_below(at(store), PDT_N_ROUTINE_KINDS, &r.kind) || !pdt_get_key(at(store), &type) ||
        !pdt_get_below(at(store), PDT_N_LINKAGES, &r.linkage) ||
        !pdt_get_below(at(store), PDT_N_STORAGES, &r.storage) ||
        !pdt_get_below(at(store), PDT_N_ACCESSES, &r.access) || !pdt_get_key(at(store), &class) ||
        !pdt_get_below(at(store), 4096, &r.flags) ||
        !pdt_get_below(at(store), 65536, &r.n_parameters) || !get_place(store, &r.place) || !key)
        return PM_OK;
    r.type = type_id(store, type);
    r.class = class_id(store, class);
    uint32_t id = ITEM(store, routine_ids, key, routines, &is_new);
    if (!id)
        return PM_ERR_MEMORY;
    if (r.flags & PDT_IS_DEFINED)
        return define_routine(store, key, id, &r);
    if (is_new)
        store->routines[id - 1] = r;
    return PM_OK;
}

static enum pm_status read_body(struct pdt_store *store)
{
    uint64_t key;
    uint32_t n[6];
    if (!pdt_get_key(at(store), &key))
        return PM_OK;
    for (int i = 0; i < 6; i++)
        if (!pdt_get_line(at(store), &n[i]))
            return PM_OK;
    store->routine = pm_map_get(&store->here, key);
    store->is_skipping = !store->routine || pm_map_get(&store->skipped, key);
    store->n_loops_here = 0;
    store->file_now = store->file;
    if (store->is_skipping)
        return PM_OK;
    struct stored_routine *routine = &store->routines[store->routine - 1];
    routine->n_statements = n[0];
    routine->n_returns = n[1];
    routine->has_body = true;
    memcpy(routine->body, n + 2, sizeof routine->body);
    return PM_OK;
}

static enum pm_status read_at(struct pdt_store *store)
{
    struct pm_str path;
    if (!pdt_get_text(at(store), &path))
        return PM_OK;
    store->file_now = path.len ? store_file(store, path) : store->file;
    return store->file_now ? PM_OK : PM_ERR_MEMORY;
}

/* --- bodies --- */

static int64_t loop_id(struct pdt_store *store, uint32_t number)
{
    return number && number <= store->n_loops_here ? store->loops[number - 1] : 0;
}

static enum pm_status add_loop(struct pdt_store *store, uint32_t number, uint32_t parent,
                               uint32_t *ret_depth)
{
    void *loops = pm_grow_array(store->loops, store->n_loops_here, &store->cap_loops, 64,
                                sizeof *store->loops);
    if (loops)
        store->loops = loops;
    void *depths = pm_grow_array(store->depths, store->n_loops_here, &store->cap_depths, 64,
                                 sizeof *store->depths);
    if (depths)
        store->depths = depths;
    if (!loops || !depths)
        return store_no_memory(store);
    if (number != store->n_loops_here + 1 || parent >= number) {
        store->cursor.failed = true;
        return PM_OK;
    }
    *ret_depth = parent ? store->depths[parent - 1] + 1 : 1;
    store->depths[store->n_loops_here] = *ret_depth;
    store->loops[store->n_loops_here++] = (int64_t)++store->n_loops;
    return PM_OK;
}

static enum pm_status read_loop(struct pdt_store *store)
{
    uint32_t number, parent, n[4], depth = 0;
    unsigned kind;
    if (!pdt_get_line(at(store), &number) || !pdt_get_line(at(store), &parent) ||
        !pdt_get_below(at(store), PDT_N_LOOP_KINDS, &kind))
        return PM_OK;
    for (int i = 0; i < 4; i++)
        if (!pdt_get_line(at(store), &n[i]))
            return PM_OK;
    if (store->is_skipping || !store->routine)
        return PM_OK;
    enum pm_status status = add_loop(store, number, parent, &depth);
    if (status != PM_OK || store->cursor.failed)
        return status;
    return store_insert(store, INSERT_LOOP, "iiniziiiii", loop_id(store, number),
                        (int64_t)store->routine, loop_id(store, parent), (int64_t)depth,
                        pdt_loop_kinds[kind], (int64_t)store->file_now, (int64_t)n[0],
                        (int64_t)n[1], (int64_t)n[2], (int64_t)n[3]);
}

static enum pm_status read_call(struct pdt_store *store)
{
    struct stored_call call = {.file = store->file_now, .routine = store->routine};
    uint64_t type;
    uint32_t loop;
    struct pm_str argument;
    if (!pdt_get_below(at(store), PDT_N_CALL_KINDS, &call.kind) ||
        !pdt_get_line(at(store), &loop) || !pdt_get_key(at(store), &call.callee) ||
        !pdt_get_key(at(store), &type) || !pdt_get_text(at(store), &call.text) ||
        !pdt_get_line(at(store), &call.line) || !pdt_get_line(at(store), &call.column) ||
        !pdt_get_below(at(store), 65536, &call.n_arguments))
        return PM_OK;
    call.arguments.p = (const char *)store->cursor.p;
    for (unsigned i = 0; i < call.n_arguments; i++)
        if (!pdt_get_text(at(store), &argument))
            return PM_OK;
    call.arguments.len = (size_t)((const char *)store->cursor.p - call.arguments.p);
    uint32_t place[] = {store->file_now, call.line, call.column};
    bool is_repeated = !store->routine && is_seen(store, place, sizeof place, PDT_CALL);
    if (store->is_skipping || is_repeated)
        return PM_OK;
    call.type = type_id(store, type);
    call.loop = loop_id(store, loop);
    void *grown =
        pm_grow_array(store->calls, store->n_calls, &store->cap_calls, 1024, sizeof *store->calls);
    if (!grown)
        return store_no_memory(store);
    store->calls = grown;
    store->calls[store->n_calls++] = call;
    return PM_OK;
}

static enum pm_status read_access(struct pdt_store *store)
{
    uint64_t variable, base;
    uint32_t loop, line, column;
    unsigned reach, mode;
    struct pm_str subscripts;
    bool is_new;
    if (!pdt_get_key(at(store), &variable) || !pdt_get_key(at(store), &base) ||
        !pdt_get_line(at(store), &loop) || !pdt_get_below(at(store), PDT_N_REACHES, &reach) ||
        !pdt_get_below(at(store), PDT_N_MODES, &mode) || !pdt_get_text(at(store), &subscripts) ||
        !pdt_get_line(at(store), &line) || !pdt_get_line(at(store), &column) || !variable)
        return PM_OK;
    uint64_t what[] = {store->file_now, line, column, variable, mode};
    if (store->is_skipping || (!store->routine && is_seen(store, what, sizeof what, PDT_ACCESS)))
        return PM_OK;
    uint32_t id = ITEM(store, variable_ids, variable, variables, &is_new);
    uint32_t of = base ? ITEM(store, variable_ids, base, variables, &is_new) : 0;
    if (!id || (base && !of))
        return PM_ERR_MEMORY;
    store->n_accesses++;
    return store_insert(store, INSERT_ACCESS, "innnzztiii", (int64_t)id, (int64_t)of,
                        (int64_t)store->routine, loop_id(store, loop), pdt_reaches[reach],
                        pdt_modes[mode], subscripts, (int64_t)store->file_now, (int64_t)line,
                        (int64_t)column);
}

static enum pm_status read_taken(struct pdt_store *store)
{
    uint64_t key;
    if (!pdt_get_key(at(store), &key))
        return PM_OK;
    uint32_t id = pm_map_get(&store->here, key);
    if (!id)
        id = pm_map_get(&store->routine_ids, key);
    if (id)
        store->routines[id - 1].is_taken = true;
    return PM_OK;
}

static enum pm_status read_overrides(struct pdt_store *store)
{
    uint64_t key[2];
    if (!pdt_get_key(at(store), &key[0]) || !pdt_get_key(at(store), &key[1]) ||
        is_seen(store, key, sizeof key, PDT_OVERRIDES))
        return PM_OK;
    int64_t routine = pm_map_get(&store->routine_ids, key[0]);
    int64_t method = pm_map_get(&store->routine_ids, key[1]);
    return routine && method ? store_insert(store, INSERT_OVERRIDE, "ii", routine, method) : PM_OK;
}

static enum pm_status read_directive(struct pdt_store *store)
{
    struct pm_str name, text;
    uint32_t loop, line, column, end_line;
    if (!pdt_get_text(at(store), &name) || !pdt_get_text(at(store), &text) ||
        !pdt_get_line(at(store), &loop) || !pdt_get_line(at(store), &line) ||
        !pdt_get_line(at(store), &column) || !pdt_get_line(at(store), &end_line) ||
        store->is_skipping ||
        (!store->routine && is_seen_at(store, PDT_DIRECTIVE, text, line, column)))
        return PM_OK;
    return store_insert(store, INSERT_DIRECTIVE, "ttnniiii", name, text, (int64_t)store->routine,
                        loop_id(store, loop), (int64_t)store->file_now, (int64_t)line,
                        (int64_t)column, (int64_t)end_line);
}

/* --- groups --- */

static enum pm_status read_outside(struct pdt_store *store)
{
    store->routine = 0;
    store->n_loops_here = 0;
    store->is_skipping = false;
    store->file_now = store->file;
    return PM_OK;
}

/* A flat switch: a line for each tag. */
static enum pm_status read_record(struct pdt_store *store, unsigned tag)
{
    switch (tag) {
    case PDT_FILE:
        return read_file(store);
    case PDT_MACRO:
        return read_macro(store);
    case PDT_PRAGMA:
        return read_pragma(store);
    case PDT_INCLUDE:
        return read_include(store);
    case PDT_TYPE:
        return read_type(store);
    case PDT_NAMESPACE:
    case PDT_TYPEDEF:
    case PDT_ENUM:
        return read_named(store, tag);
    case PDT_ENUMERATOR:
        return read_enumerator(store);
    case PDT_CLASS:
        return read_class(store);
    case PDT_BASE:
        return read_base(store);
    case PDT_VARIABLE:
        return read_variable(store);
    case PDT_ROUTINE:
        return read_routine(store);
    case PDT_BODY:
        return read_body(store);
    case PDT_LOOP:
        return read_loop(store);
    case PDT_CALL:
        return read_call(store);
    case PDT_ACCESS:
        return read_access(store);
    case PDT_TAKEN:
        return read_taken(store);
    case PDT_DIRECTIVE:
        return read_directive(store);
    case PDT_OUTSIDE:
        return read_outside(store);
    case PDT_AT:
        return read_at(store);
    case PDT_OVERRIDES:
        return read_overrides(store);
    default:
        store->cursor.failed = true;
        return PM_OK;
    }
}

static void begin_group(struct pdt_store *store, struct pm_str data)
{
    pm_map_release(&store->here);
    pm_map_release(&store->skipped);
    pm_cursor_init(&store->cursor, data.p, data.len);
    store->first_call = store->n_calls;
    store->file = store->file_now = 0;
    (void)read_outside(store);
}

enum pm_status pdt_store_group(struct pdt_store *store, struct pm_str data, const uint8_t hash[16],
                               struct pm_error *err, int64_t *ret_id)
{
    store->err = err;
    begin_group(store, data);
    while (store->cursor.p < store->cursor.end && !store->cursor.failed) {
        unsigned tag = *store->cursor.p++;
        if ((tag == PDT_FILE) != (store->file == 0))
            break;
        enum pm_status status = read_record(store, tag);
        if (status != PM_OK || store->failed)
            return status != PM_OK ? status : PM_ERR_MEMORY;
    }
    if (store->cursor.failed || store->cursor.p < store->cursor.end)
        return pm_error_set(err, PM_ERR_FORMAT, "a group of records is damaged at byte %zu of %zu",
                            (size_t)(store->cursor.p - store->cursor.start), data.len);
    for (uint32_t i = store->first_call; i < store->n_calls; i++)
        store->calls[i].here = pm_map_get(&store->here, store->calls[i].callee);
    *ret_id = ++store->n_groups;
    return store_insert(store, INSERT_GROUP, "ibb", *ret_id,
                        (struct pm_str){(const char *)hash, 16}, data);
}

enum pm_status pdt_store_new(struct pm_database *pdb, struct pm_error *err,
                             struct pdt_store **ret_store)
{
    struct pdt_store *store = pm_alloc(sizeof *store);
    if (!store)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory for the program database");
    store->pdb = pdb;
    store->err = err;
    enum pm_status status = store_prepare(store);
    if (status != PM_OK)
        pdt_store_free(store);
    else
        *ret_store = store;
    return status;
}

void pdt_store_free(struct pdt_store *store)
{
    if (!store)
        return;
    store_finish(store);
    for (uint32_t i = 0; i < store->n_files; i++)
        free(store->files[i].name);
    struct pm_map *maps[] = {&store->file_ids,     &store->type_ids,  &store->routine_ids,
                             &store->variable_ids, &store->class_ids, &store->seen,
                             &store->here,         &store->skipped};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        pm_map_release(maps[i]);
    void *blocks[] = {store->files,   store->types, store->routines, store->variables,
                      store->classes, store->calls, store->loops,    store->depths};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        free(blocks[i]);
    free(store);
}
