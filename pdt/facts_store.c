/* Facts to tables: files, routines, loops, variables, and what statements do. */
#include "facts.h"
#include "facts_names.h"
#include "store_internal.h"

#include <stdlib.h>

enum { MAX_NESTING = 1000 }; /* of hand-written facts: what lies deeper lies nowhere */
enum seeds { SEED_TYPE = 0x7066, SEED_MODULE, SEED_LINKAGE, SEED_FIELD };

struct importing {
    struct pdt_store *store;
    struct pdt_facts *facts;
    const struct pm_pif *pif;
    /* All files: */
    struct pm_map linkages;  /* name, and file of what is local to one, to routine */
    struct pm_map variables; /* of libclang: name and file, or class and name, to variable */
    struct pm_map loops;     /* id to row */
    /* One file: */
    struct pm_map names;   /* of files, as shown, to store's files */
    struct pm_map bodies;  /* ids of functions whose bodies are taken, to routines */
    struct pm_map symbols; /* ids of functions to texts */
    const char **texts;
    uint32_t n_texts, cap_texts;
};

#define ITEM(importing, map, key, what, is_new)                                 \
    store_id((importing)->store, &(importing)->store->map, key,                 \
             (void **)&(importing)->store->what, &(importing)->store->n_##what, \
             &(importing)->store->cap_##what, sizeof *(importing)->store->what, is_new)

static bool is_kind(const struct pm_pif_noun *noun, const char *kind)
{
    return noun->kind && strcmp(noun->kind, kind) == 0;
}

static enum pm_status put(struct importing *importing, struct pm_map *map, uint64_t key,
                          uint32_t value)
{
    return pm_map_put(map, key, value) ? PM_OK : store_no_memory(importing->store);
}

typedef enum pm_status noun_visit(struct importing *importing, const struct pm_pif_noun *noun);

static enum pm_status each_noun(struct importing *importing, noun_visit *visit)
{
    struct pm_pif_noun noun;
    for (size_t i = 0; i < pm_pif_n_nouns(importing->pif); i++) {
        pm_pif_get_noun(importing->pif, i, &noun);
        if (strcmp(noun.level, "Source") != 0 || !noun.kind)
            continue;
        enum pm_status status = visit(importing, &noun);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

/* --- files --- */

static enum pm_status add_file(struct importing *importing, const struct pm_pif_noun *noun)
{
    if (!is_kind(noun, "file"))
        return PM_OK;
    const char *path = pm_pif_get_attribute(importing->pif, noun->id, "path");
    uint32_t file = store_file(importing->store, pm_str_of(path ? path : noun->name));
    if (!file)
        return PM_ERR_MEMORY;
    importing->store->files[file - 1].is_system |= pdt_is_system_path(path ? path : noun->name);
    return put(importing, &importing->names, pdt_key(noun->name, strlen(noun->name), 0), file);
}

/* 0: not known. */
static uint32_t file_of(struct importing *importing, const struct pm_pif_noun *noun)
{
    if (!noun->file)
        return 0;
    uint32_t file = pm_map_get(&importing->names, pdt_key(noun->file, strlen(noun->file), 0));
    return file ? file : store_file(importing->store, pm_str_of(noun->file));
}

static bool is_of_libclang(const struct importing *importing, uint32_t file)
{
    return file && importing->store->files[file - 1].is_of_unit;
}

/* --- routines --- */

static uint64_t linkage_key(struct pm_str name, uint32_t local_file)
{
    return pdt_key(name.p, name.len, SEED_LINKAGE + ((uint64_t)local_file << 16));
}

/* Constructors and destructors have several symbols, and no linkage: their code's is taken, as that
 * of the complete object (C1, D1). */
static struct pm_str linkage_of(const struct importing *importing, const struct pm_pif_noun *noun)
{
    uint32_t text = noun->linkage ? 0 : pm_map_get(&importing->symbols, noun->id);
    if (text)
        return pm_str_of(importing->texts[text - 1]);
    return pm_str_of(noun->linkage ? noun->linkage : noun->name);
}

static enum pm_status add_symbol(struct importing *importing, const struct pm_pif_mapping *mapping)
{
    const struct pm_pif_sentence *from = &mapping->source, *to = &mapping->destination;
    struct pm_pif_noun symbol, function;
    if (from->n_nouns != 1 || to->n_nouns != 1 ||
        from->verb != pm_pif_verb_id("Base", "Executes") ||
        to->verb != pm_pif_verb_id("Source", "Executes") ||
        !pm_pif_find_noun(importing->pif, from->nouns[0], &symbol) ||
        !pm_pif_find_noun(importing->pif, to->nouns[0], &function) || function.linkage ||
        !is_kind(&symbol, "symbol") || !is_kind(&function, "function"))
        return PM_OK;
    const char *text = pdt_complete_symbol(&importing->facts->arena, symbol.name);
    void *grown = pm_grow_array(importing->texts, importing->n_texts, &importing->cap_texts, 64,
                                sizeof *importing->texts);
    if (!grown || !text)
        return store_no_memory(importing->store);
    importing->texts = grown;
    importing->texts[importing->n_texts++] = text;
    return put(importing, &importing->symbols, function.id, importing->n_texts);
}

static enum pm_status add_symbols(struct importing *importing)
{
    struct pm_pif_mapping mapping;
    for (size_t i = 0; i < pm_pif_n_mappings(importing->pif); i++) {
        pm_pif_get_mapping(importing->pif, i, &mapping);
        enum pm_status status = add_symbol(importing, &mapping);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

static bool is_local(const struct importing *importing, const struct pm_pif_noun *noun)
{
    const char *local = pm_pif_get_attribute(importing->pif, noun->id, "local");
    return local && strcmp(local, "yes") == 0;
}

static enum pm_status collect_signature(struct importing *importing, uint32_t i)
{
    const struct pdt_store *store = importing->store;
    const struct stored_routine *r = &store->routines[i];
    if ((r->kind != PDT_CONSTRUCTOR && r->kind != PDT_DESTRUCTOR) || !r->type)
        return PM_OK;
    uint64_t key = pdt_signature_key(r->full_name, store->types[r->type - 1].canonical);
    return put(importing, &importing->linkages, key, i + 1);
}

/* Routines that libclang knows, by their symbols; constructors and destructors by their names and
 * parameters, for compilers tell no symbol of these. A definition goes before a declaration. */
static enum pm_status collect_linkages(struct importing *importing)
{
    const struct pdt_store *store = importing->store;
    for (uint32_t i = 0; i < store->n_routines; i++) {
        const struct stored_routine *r = &store->routines[i];
        uint32_t file = r->linkage == PDT_INTERNAL ? r->place.file : 0;
        uint64_t key = linkage_key(r->linkage_name, file);
        uint32_t there = pm_map_get(&importing->linkages, key);
        if (collect_signature(importing, i) != PM_OK)
            return PM_ERR_MEMORY;
        if (!r->linkage_name.len || (there && store->routines[there - 1].flags & PDT_IS_DEFINED))
            continue;
        enum pm_status status = put(importing, &importing->linkages, key, i + 1);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

/* The row for a function, which is new if nobody has named it yet. */
static enum pm_status find_routine(struct importing *importing, const struct pm_pif_noun *noun,
                                   uint32_t file, uint32_t *ret_id)
{
    struct pdt_store *store = importing->store;
    bool is_new;
    uint64_t key = linkage_key(linkage_of(importing, noun), is_local(importing, noun) ? file : 0);
    if (!pm_map_get(&importing->linkages, key) && !noun->linkage && strchr(noun->name, '('))
        key = pdt_signature_key(pm_str_of(noun->name), (struct pm_str){0});
    uint32_t known = pm_map_get(&importing->linkages, key);
    if (known && !pm_map_get(&store->routine_ids, noun->id) &&
        !pm_map_put(&store->routine_ids, noun->id, known))
        return store_no_memory(store);
    *ret_id = ITEM(importing, routine_ids, noun->id, routines, &is_new);
    if (!*ret_id)
        return PM_ERR_MEMORY;
    return known ? PM_OK : put(importing, &importing->linkages, key, *ret_id);
}

static enum pm_status describe(struct importing *importing, const struct pm_pif_noun *noun,
                               uint32_t file, struct stored_routine *ret)
{
    struct pm_buf usr = PM_BUF_INIT(1 << 20);
    struct pm_str linkage = linkage_of(importing, noun);
    const char *path = file ? importing->store->files[file - 1].name : "";
    bool local = is_local(importing, noun);
    pm_buf_printf(&usr, "%s:%s", pdt_is_fortran_path(path) ? "fortran" : "facts", linkage.p);
    const char *kept =
        usr.failed ? NULL : pm_arena_strndup(&importing->facts->arena, usr.data, usr.len);
    pm_buf_release(&usr);
    if (!kept)
        return store_no_memory(importing->store);
    *ret = (struct stored_routine){.usr = pm_str_of(kept),
                                   .full_name = pdt_name_without_arguments(noun->name),
                                   .name = pdt_last_name(noun->name),
                                   .linkage_name = linkage,
                                   .linkage = local ? PDT_INTERNAL : PDT_EXTERNAL,
                                   .place = {file, noun->line, noun->column}};
    return PM_OK;
}

/* A second definition elsewhere (each program's main) is a routine of its own. */
static enum pm_status other_definition(struct importing *importing, const struct pm_pif_noun *noun,
                                       const struct stored_place *place, uint32_t *id)
{
    struct pdt_store *store = importing->store;
    bool is_new;
    store->routines[*id - 1].n_definitions++;
    *id = ITEM(importing, routine_ids, pdt_key(place, sizeof *place, noun->id), routines, &is_new);
    return *id ? PM_OK : PM_ERR_MEMORY;
}

static bool is_at(const struct stored_routine *routine, const struct stored_place *place)
{
    return routine->place.file == place->file && routine->place.line == place->line;
}

static bool is_of_reader(const struct stored_routine *routine)
{
    return routine->usr.len > 2 && !memcmp(routine->usr.p, "c:", 2);
}

/* What libclang says of a declaration holds for the definition, too. */
static struct stored_routine as_declared(const struct stored_routine *there,
                                         const struct stored_place *place)
{
    struct stored_routine routine = *there;
    routine.place = *place;
    return routine;
}

static enum pm_status define(struct importing *importing, const struct pm_pif_noun *noun,
                             uint32_t id, struct stored_routine *routine)
{
    struct pdt_store *store = importing->store;
    const struct stored_routine *there = &store->routines[id - 1];
    if (there->flags & PDT_IS_DEFINED && !is_at(there, &routine->place)) {
        enum pm_status status = other_definition(importing, noun, &routine->place, &id);
        if (status != PM_OK)
            return status;
        there = &store->routines[id - 1];
    }
    if (there->flags & PDT_IS_DEFINED) /* another unit told of it */
        return PM_OK;
    if (is_of_reader(there) && !pdt_is_fortran_path(store->files[routine->place.file - 1].name))
        *routine = as_declared(there, &routine->place);
    routine->flags |= PDT_IS_DEFINED;
    if (store->files[routine->place.file - 1].is_system)
        routine->flags |= PDT_IS_SYSTEM;
    routine->type = there->type;
    routine->class = there->class;
    routine->is_taken = there->is_taken;
    routine->n_definitions = routine->n_variants = 1;
    routine->body[0] = noun->line;
    routine->body[1] = noun->column;
    routine->body[2] = noun->end_line;
    store->routines[id - 1] = *routine;
    return put(importing, &importing->bodies, noun->id, id);
}

/* A module has no noun of its own: the names of its symbols tell of it. */
static enum pm_status add_module(struct importing *importing, const struct pm_pif_noun *noun,
                                 uint32_t file)
{
    struct pm_str name = pdt_module_of(linkage_of(importing, noun).p);
    uint32_t *slot;
    if (!name.len || !file || !noun->line)
        return PM_OK;
    slot = pm_map_at(&importing->store->seen, pdt_key(name.p, name.len, SEED_MODULE));
    if (!slot)
        return store_no_memory(importing->store);
    if (*slot)
        return PM_OK;
    *slot = 1;
    return store_insert(importing->store, INSERT_NAMESPACE, "tiii", name, (int64_t)file, (int64_t)0,
                        (int64_t)0);
}

static enum pm_status add_routine(struct importing *importing, const struct pm_pif_noun *noun)
{
    struct stored_routine routine;
    uint32_t id = 0;
    if (!is_kind(noun, "function") && !is_kind(noun, "external"))
        return PM_OK;
    uint32_t file = file_of(importing, noun);
    enum pm_status status = find_routine(importing, noun, file, &id);
    if (status != PM_OK || is_of_libclang(importing, file))
        return status;
    status = describe(importing, noun, file, &routine);
    if (status != PM_OK)
        return status;
    if (!importing->store->routines[id - 1].name.p)
        importing->store->routines[id - 1] = routine;
    if (!file || !noun->line)
        return PM_OK;
    status = add_module(importing, noun, file);
    if (status != PM_OK)
        return status;
    return define(importing, noun, id, &routine);
}

/* --- what lies in bodies --- */

struct around {
    uint32_t routine, depth; /* routine 0: its body is not taken */
    int64_t loop;
};

static struct around around(const struct importing *importing, const struct pm_pif_noun *noun)
{
    struct around found = {0};
    struct pm_pif_noun at = *noun;
    for (int i = 0; i < MAX_NESTING && at.parent; i++) {
        pm_id id = at.parent;
        if (!pm_pif_find_noun(importing->pif, id, &at))
            return (struct around){0};
        if (is_kind(&at, "function")) {
            found.routine = pm_map_get(&importing->bodies, id);
            return found;
        }
        if (!is_kind(&at, "loop"))
            continue;
        found.depth++;
        if (!found.loop)
            found.loop = pm_map_get(&importing->loops, id);
    }
    return (struct around){0};
}

/* Loops are numbered first: an outer one may come behind an inner one. */
static enum pm_status number_loop(struct importing *importing, const struct pm_pif_noun *noun)
{
    if (!is_kind(noun, "loop") || pm_map_get(&importing->loops, noun->id) ||
        !around(importing, noun).routine)
        return PM_OK;
    return put(importing, &importing->loops, noun->id, (uint32_t)++importing->store->n_loops);
}

static enum pm_status add_loop(struct importing *importing, const struct pm_pif_noun *noun)
{
    struct around a;
    if (!is_kind(noun, "loop") || !(a = around(importing, noun)).routine)
        return PM_OK;
    uint32_t end = noun->end_line > noun->line ? noun->end_line : noun->line;
    return store_insert(importing->store, INSERT_LOOP, "iiniziiiii",
                        (int64_t)pm_map_get(&importing->loops, noun->id), (int64_t)a.routine,
                        a.loop, (int64_t)a.depth + 1, "loop", (int64_t)file_of(importing, noun),
                        (int64_t)noun->line, (int64_t)noun->column, (int64_t)end, (int64_t)0);
}

static enum pm_status add_directive(struct importing *importing, const struct pm_pif_noun *noun)
{
    struct around a;
    const char *text = strstr(noun->name, " omp ");
    if (!is_kind(noun, "region") || !text || !(a = around(importing, noun)).routine)
        return PM_OK;
    struct pm_str name = pm_str_of(text + 5);
    uint32_t end = noun->end_line > noun->line ? noun->end_line : noun->line;
    return store_insert(importing->store, INSERT_DIRECTIVE, "ttnniiii", name, name,
                        (int64_t)a.routine, a.loop, (int64_t)file_of(importing, noun),
                        (int64_t)noun->line, (int64_t)noun->column, (int64_t)end);
}

static enum pm_status count_statement(struct importing *importing, const struct pm_pif_noun *noun)
{
    if (!is_kind(noun, "statement"))
        return PM_OK;
    uint32_t routine = around(importing, noun).routine;
    if (routine)
        importing->store->routines[routine - 1].n_statements++;
    return PM_OK;
}

/* --- data --- */

static uint64_t field_key(struct pm_str class, struct pm_str name)
{
    return pdt_key(class.p, class.len, pdt_key(name.p, name.len, SEED_FIELD));
}

static uint64_t variable_key(const struct pdt_store *store, const struct stored_variable *v)
{
    if (v->kind == PDT_GLOBAL)
        return pdt_key(v->name.p, v->name.len, v->place.file);
    uint32_t class = v->kind == PDT_FIELD ? pm_map_get(&store->class_ids, v->owner) : 0;
    return class && store->classes[class - 1].name.p
               ? field_key(store->classes[class - 1].name, v->name)
               : 0;
}

static enum pm_status collect_variables(struct importing *importing)
{
    const struct pdt_store *store = importing->store;
    for (uint32_t i = 0; i < store->n_variables; i++) {
        const struct stored_variable *v = &store->variables[i];
        uint64_t key = v->name.p ? variable_key(store, v) : 0;
        enum pm_status status = key ? put(importing, &importing->variables, key, i + 1) : PM_OK;
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

static uint32_t type_of(struct importing *importing, const struct pm_pif_noun *noun)
{
    bool is_new;
    struct pm_str text = pm_str_of(noun->type ? noun->type : "unknown");
    uint32_t id = ITEM(importing, type_ids, pdt_key(text.p, text.len, SEED_TYPE), types, &is_new);
    if (id && is_new)
        importing->store->types[id - 1] =
            (struct stored_type){.name = text,
                                 .canonical = text,
                                 .kind = pm_str_of(pdt_type_kind(text.p)),
                                 .is_known = true};
    return id;
}

static enum pm_status add_type(struct importing *importing, const struct pm_pif_noun *noun)
{
    bool is_new;
    uint32_t file = file_of(importing, noun);
    if (!is_kind(noun, "type") || is_of_libclang(importing, file))
        return PM_OK;
    uint32_t id = ITEM(importing, class_ids, noun->id, classes, &is_new);
    if (!id)
        return PM_ERR_MEMORY;
    if (is_new)
        importing->store->classes[id - 1] =
            (struct stored_class){.name = pm_str_of(noun->name),
                                  .kind = pm_str_of("struct"),
                                  .flags = PDT_IS_DEFINED,
                                  .place = {file, noun->line, noun->column}};
    return PM_OK;
}

/* A variable that libclang knows: its row. 0: it does not. */
static uint32_t known_variable(const struct importing *importing, const struct pm_pif_noun *noun,
                               const struct pm_pif_noun *parent, uint32_t file)
{
    struct pm_str name = pdt_last_name(noun->name);
    if (is_kind(noun, "field") && parent)
        return pm_map_get(&importing->variables, field_key(pdt_last_name(parent->name), name));
    return is_of_libclang(importing, file)
               ? pm_map_get(&importing->variables, pdt_key(name.p, name.len, file))
               : 0;
}

static unsigned variable_flags(const struct pm_pif_noun *noun)
{
    const char *type = noun->type ? noun->type : "";
    bool is_array = is_kind(noun, "array") || strchr(type, '[');
    unsigned flags = is_array ? PDT_IS_ARRAY : 0;
    if (pm_str_ends_with(type, "*"))
        flags |= PDT_IS_POINTER;
    return flags;
}

static unsigned variable_kind(const struct pm_pif_noun *noun, const struct pm_pif_noun *parent)
{
    if (is_kind(noun, "field"))
        return PDT_FIELD;
    return parent && is_kind(parent, "function") ? PDT_LOCAL : PDT_GLOBAL;
}

static enum pm_status make_variable(struct importing *importing, const struct pm_pif_noun *noun,
                                    const struct pm_pif_noun *parent, uint32_t file)
{
    bool is_new;
    struct stored_variable v = {.name = pdt_last_name(noun->name),
                                .kind = variable_kind(noun, parent),
                                .flags = variable_flags(noun),
                                .type = type_of(importing, noun),
                                .owner = parent ? parent->id : 0,
                                .place = {file, noun->line, noun->column}};
    if (parent && v.kind == PDT_LOCAL)
        v.routine = pm_map_get(&importing->bodies, parent->id);
    if (v.kind == PDT_LOCAL && !v.routine)
        return PM_OK;
    uint32_t id = ITEM(importing, variable_ids, noun->id, variables, &is_new);
    if (!id || !v.type)
        return PM_ERR_MEMORY;
    if (is_new)
        importing->store->variables[id - 1] = v;
    return v.kind == PDT_GLOBAL ? add_module(importing, noun, file) : PM_OK;
}

static enum pm_status add_variable(struct importing *importing, const struct pm_pif_noun *noun)
{
    struct pm_pif_noun parent;
    if (!is_kind(noun, "variable") && !is_kind(noun, "array") && !is_kind(noun, "field"))
        return PM_OK;
    bool has_parent = noun->parent && pm_pif_find_noun(importing->pif, noun->parent, &parent);
    uint32_t file = file_of(importing, noun);
    uint32_t known = known_variable(importing, noun, has_parent ? &parent : NULL, file);
    if (known)
        return put(importing, &importing->store->variable_ids, noun->id, known);
    return make_variable(importing, noun, has_parent ? &parent : NULL, file);
}

/* --- what statements do --- */

static enum pm_status add_call(struct importing *importing, const struct pm_pif_noun *statement,
                               const struct around *a, pm_id callee)
{
    struct pdt_store *store = importing->store;
    struct pm_pif_noun noun;
    if (!pm_map_get(&store->routine_ids, callee) ||
        !pm_pif_find_noun(importing->pif, callee, &noun))
        return PM_OK;
    void *grown =
        pm_grow_array(store->calls, store->n_calls, &store->cap_calls, 1024, sizeof *store->calls);
    if (!grown)
        return store_no_memory(store);
    store->calls = grown;
    store->calls[store->n_calls++] =
        (struct stored_call){.text = pdt_last_name(noun.name),
                             .kind = PDT_DIRECT,
                             .routine = a->routine,
                             .loop = a->loop,
                             .callee = callee,
                             .here = pm_map_get(&importing->bodies, callee),
                             .file = file_of(importing, statement),
                             .line = statement->line,
                             .column = statement->column};
    return PM_OK;
}

static enum pdt_reach reach_of(const struct stored_variable *v)
{
    if (v->kind == PDT_FIELD)
        return PDT_MEMBER;
    if (v->flags & PDT_IS_ARRAY)
        return PDT_SUBSCRIPT;
    return v->flags & PDT_IS_POINTER ? PDT_DEREFERENCE : PDT_WHOLE;
}

static enum pm_status add_access(struct importing *importing, const struct pm_pif_noun *statement,
                                 const struct around *a, pm_id variable, enum pdt_mode mode)
{
    struct pdt_store *store = importing->store;
    uint32_t id = pm_map_get(&store->variable_ids, variable);
    if (!id)
        return PM_OK;
    store->n_accesses++;
    return store_insert(store, INSERT_ACCESS, "innnzztiii", (int64_t)id, (int64_t)0,
                        (int64_t)a->routine, a->loop,
                        pdt_reaches[reach_of(&store->variables[id - 1])], pdt_modes[mode],
                        pm_str_of(""), (int64_t)file_of(importing, statement),
                        (int64_t)statement->line, (int64_t)statement->column);
}

static enum pm_status add_mapping(struct importing *importing, const struct pm_pif_mapping *mapping)
{
    const struct pm_pif_sentence *from = &mapping->source, *to = &mapping->destination;
    struct pm_pif_noun statement;
    if (from->n_nouns != 1 || to->n_nouns != 1 ||
        from->verb != pm_pif_verb_id("Source", "Executes") ||
        !pm_pif_find_noun(importing->pif, from->nouns[0], &statement) ||
        !is_kind(&statement, "statement"))
        return PM_OK;
    struct around a = around(importing, &statement);
    if (!a.routine)
        return PM_OK;
    if (to->verb == pm_pif_verb_id("Source", "Calls"))
        return add_call(importing, &statement, &a, to->nouns[0]);
    if (to->verb == pm_pif_verb_id("Source", "Reads"))
        return add_access(importing, &statement, &a, to->nouns[0], PDT_READ);
    if (to->verb == pm_pif_verb_id("Source", "Writes"))
        return add_access(importing, &statement, &a, to->nouns[0], PDT_WRITE);
    return PM_OK;
}

static enum pm_status add_mappings(struct importing *importing)
{
    struct pm_pif_mapping mapping;
    for (size_t i = 0; i < pm_pif_n_mappings(importing->pif); i++) {
        pm_pif_get_mapping(importing->pif, i, &mapping);
        enum pm_status status = add_mapping(importing, &mapping);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

/* --- all --- */

static enum pm_status add_pif(struct importing *importing)
{
    static noun_visit *const visits[] = {add_file,      add_routine, number_loop,  add_loop,
                                         add_directive, add_type,    add_variable, count_statement};
    pm_map_release(&importing->names);
    pm_map_release(&importing->bodies);
    enum pm_status named = add_symbols(importing);
    if (named != PM_OK)
        return named;
    for (size_t i = 0; i < sizeof visits / sizeof *visits; i++) {
        enum pm_status status = each_noun(importing, visits[i]);
        if (status != PM_OK)
            return status;
    }
    return add_mappings(importing);
}

static enum pm_status add_all(struct importing *importing)
{
    enum pm_status status = collect_linkages(importing);
    if (status != PM_OK)
        return status;
    status = collect_variables(importing);
    if (status != PM_OK)
        return status;
    for (uint32_t i = 0; i < importing->facts->n; i++) {
        importing->pif = importing->facts->items[i];
        status = add_pif(importing);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

enum pm_status pdt_facts_store(struct pdt_facts *facts, struct pdt_store *store,
                               struct pm_error *err)
{
    struct importing importing = {.store = store, .facts = facts};
    store->err = err;
    enum pm_status status = add_all(&importing);
    struct pm_map *maps[] = {&importing.linkages, &importing.variables, &importing.loops,
                             &importing.names,    &importing.bodies,    &importing.symbols};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        pm_map_release(maps[i]);
    free(importing.texts);
    return store->failed ? PM_ERR_MEMORY : status;
}
