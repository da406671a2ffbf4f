/* What is done through parameters, pointers and fields is done with what they refer to.
 *
 * The facts say {sum::w Refers} -> {main::weights Refers}: main passes weights to sum. Of the
 * nouns that code touched in this run, and of what they refer to in turn, {w Reads} -> {weights
 * Reads} becomes a mapping: "inferred" where w refers to nothing else, "possible" where callers
 * pass several things and no one knows which of them the cost is of. What code of a method does
 * with members of its object (`x += v * dt`), it does with what the method is called for:
 * {particles[i]}. Where that is a single object, or the member an array, rows have the member,
 * and only questions about the object see it ("possible"), or about a field that the method is
 * called for ("body.pos += step"). Where the code is known to touch some
 * of that (the method was inlined), with no other; nor with what is local to functions other than
 * those that it was inlined into. A parameter of another unit's function is an
 * id that is no noun, between two such facts: w -> id in the unit of the function, id -> weights
 * in that of the caller, perhaps in another binary.
 */
#include "references.h"

#include "binaries.h"
#include "collector.h"
#include "model.h"
#include "overlaps.h"
#include "places.h"

#include "format/pm_id.h"
#include "format/pm_map.h"
#include "mapping/base/cxx_name.h"
#include "mapping/base/map.h"
#include "mapping/base/reasons.h"
#include "mapping/code/code_map.h"
#include "mapping/pif/pif.h"

#include <stdlib.h>

/* Of a function, of which ids are looked for. */
enum { PARAMETERS_MAX = 10 };

struct object {
    pm_id id;
    uint32_t row;
    const struct collect_binary *binary;
};

struct references {
    struct collect_reference *list; /* by from */
    size_t n;
    struct object *objects; /* of one noun */
    uint32_t n_objects, cap_objects;
    pm_id *ways; /* to them: the noun, and ids that are no nouns */
    uint32_t n_ways, cap_ways;
};

enum pm_status collect_note_named(struct collector *c, const struct collect_binary *binary,
                                  pm_id id, uint32_t row, unsigned access)
{
    uint32_t before = pm_map_get(&c->references->touched, row);
    if ((before | access) == before)
        return PM_OK;
    struct collect_touched *list = pm_grow_array(c->references->touches, c->references->n_touches,
                                                 &c->references->touches_cap, 256, sizeof *list);
    if (list)
        c->references->touches = list;
    if (!list || !pm_map_put(&c->references->touched, row, before | access))
        return collect_no_memory(c);
    list[c->references->n_touches++] = (struct collect_touched){binary, id, row, access & ~before};
    return PM_OK;
}

enum pm_status collect_note_touch(struct collector *c, const struct collect_binary *binary,
                                  pm_id id, uint32_t row, unsigned access)
{
    uint32_t before = pm_map_get(&c->references->shown, row);
    if ((before | access) != before && !pm_map_put(&c->references->shown, row, before | access))
        return collect_no_memory(c);
    return collect_note_named(c, binary, id, row, access);
}

/* As plugin/gcc/facts_references.cc. */
static pm_id parameter_id(pm_id function, unsigned index)
{
    struct pm_id_hash hash;
    pm_id_hash_init(&hash, "parameter");
    pm_id_hash_id(&hash, function);
    pm_id_hash_number(&hash, index);
    return pm_id_hash_done(&hash);
}

/* As plugin/emit/ids.c. */
static pm_id returned_id(pm_id function)
{
    struct pm_id_hash hash;
    pm_id_hash_init(&hash, "returned");
    pm_id_hash_id(&hash, function);
    return pm_id_hash_done(&hash);
}

static int compare(const void *a, const void *b)
{
    const struct collect_reference *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->to < y->to ? -1 : x->to > y->to;
}

static bool is_reference(const struct pm_pif_mapping *mapping, pm_id refers)
{
    return mapping->source.verb == refers && mapping->source.n_nouns == 1 &&
           mapping->destination.n_nouns == 1;
}

/* ret_list NULL: only counts. */
static size_t read_references(const struct collector *c, struct collect_reference *ret_list)
{
    pm_id refers = pm_pif_verb_id("Source", "Refers");
    size_t n_found = 0;
    for (const struct collect_binary *binary = c->binaries->first; binary; binary = binary->next)
        for (size_t i = 0, n = binary->pif ? pm_pif_n_mappings(binary->pif) : 0; i < n; i++) {
            struct pm_pif_mapping mapping;
            pm_pif_get_mapping(binary->pif, i, &mapping);
            if (!is_reference(&mapping, refers))
                continue;
            if (ret_list)
                ret_list[n_found] = (struct collect_reference){
                    mapping.source.nouns[0], mapping.destination.nouns[0], binary};
            n_found++;
        }
    return n_found;
}

/* Both ways of each overlap. */
static size_t add_overlaps(struct collect_reference *list, size_t n,
                           const struct collect_overlap *overlaps, size_t n_overlaps)
{
    for (size_t i = 0; i < n_overlaps; i++) {
        const struct collect_overlap *o = &overlaps[i];
        list[n++] = (struct collect_reference){o->one, o->other, o->binary};
        list[n++] = (struct collect_reference){o->other, o->one, o->binary};
    }
    return n;
}

enum pm_status collect_read_references(struct collector *c, struct collect_reference **ret_list,
                                       size_t *ret_n)
{
    struct collect_overlap *overlaps = NULL;
    size_t n_overlaps = 0, n = read_references(c, NULL);
    enum pm_status status = collect_overlaps_find(c, &overlaps, &n_overlaps);
    if (status != PM_OK)
        return status;
    *ret_list = pm_alloc_array(n + 2 * n_overlaps + 1, sizeof **ret_list);
    if (*ret_list) {
        read_references(c, *ret_list);
        *ret_n = add_overlaps(*ret_list, n, overlaps, n_overlaps);
    }
    free(overlaps);
    return *ret_list ? PM_OK : collect_no_memory(c);
}

static bool is_of_earlier(const void *reference, const void *from)
{
    return ((const struct collect_reference *)reference)->from < *(const pm_id *)from;
}

static size_t first_of(const struct references *all, pm_id from)
{
    return pm_lower_bound(all->list, all->n, sizeof *all->list, &from, is_of_earlier);
}

static enum pm_status add_object(struct collector *c, struct references *all,
                                 const struct collect_reference *reference, uint32_t own_row)
{
    uint32_t row = pm_map_get(&reference->binary->nouns, reference->to);
    bool is_known = row == 0 || row == own_row;
    for (uint32_t i = 0; i < all->n_objects && !is_known; i++)
        is_known = all->objects[i].row == row;
    if (is_known)
        return PM_OK;
    struct object *objects =
        pm_grow_array(all->objects, all->n_objects, &all->cap_objects, 64, sizeof *objects);
    if (!objects)
        return collect_no_memory(c);
    all->objects = objects;
    objects[all->n_objects++] = (struct object){reference->to, row, reference->binary};
    return PM_OK;
}

/* Once for each id that is no noun. */
static enum pm_status add_way(struct collector *c, struct references *all, pm_id id)
{
    for (uint32_t i = 0; i < all->n_ways; i++)
        if (all->ways[i] == id)
            return PM_OK;
    pm_id *ways = pm_grow_array(all->ways, all->n_ways, &all->cap_ways, 64, sizeof *ways);
    if (!ways)
        return collect_no_memory(c);
    all->ways = ways;
    ways[all->n_ways++] = id;
    return PM_OK;
}

/* --- whose locals code of an inlined method may touch --- */

static bool is_caller(const struct collect_member *member, pm_id function)
{
    bool is = function == member->outermost;
    for (const struct pm_code_site *site = member->callers; site && !is; site = site->parent)
        is = site->function == function;
    return is;
}

bool collect_is_parameter_of(pm_id id, pm_id function)
{
    for (unsigned k = 0; k < PARAMETERS_MAX; k++)
        if (id == parameter_id(function, k))
            return true;
    return false;
}

/* The id is one that the functions around the code pass on; what the outermost's callers pass to
 * it is theirs, whoever they are. */
static bool is_within(const struct collect_member *member, pm_id id)
{
    bool is = id == member->object;
    for (const struct pm_code_site *site = member->callers; site && !is; site = site->parent)
        is = collect_is_parameter_of(id, site->function);
    return is && !collect_is_parameter_of(id, member->outermost);
}

pm_id collect_function_of_data(const struct pm_pif *pif, pm_id id)
{
    struct pm_pif_noun noun;
    if (!id || !pm_pif_find_noun(pif, id, &noun) || !pm_pif_find_noun(pif, noun.parent, &noun))
        return 0;
    return collect_function_around(pif, &noun);
}

/* member NULL: of any code. */
static bool may_lead(const struct collect_member *member, const struct collect_reference *reference)
{
    if (!member || !member->outermost)
        return true;
    pm_id function = collect_function_of_data(reference->binary->pif, reference->to);
    return !function || is_caller(member, function) || !is_within(member, reference->from);
}

/* The nouns that one refers to, also by way of ids that are no nouns. */
static enum pm_status find_objects_of(struct collector *c, struct references *all, pm_id from,
                                      uint32_t own_row, const struct collect_member *member)
{
    enum { WAYS_MAX = 1000 };
    all->n_objects = all->n_ways = 0;
    enum pm_status status = add_way(c, all, from);
    for (uint32_t way = 0; way < all->n_ways && way < WAYS_MAX && status == PM_OK; way++) {
        pm_id id = all->ways[way]; /* it grows meanwhile */
        for (size_t i = first_of(all, id); i < all->n && all->list[i].from == id && status == PM_OK;
             i++)
            if (!pm_map_get(&all->list[i].binary->nouns, all->list[i].to))
                status = add_way(c, all, all->list[i].to);
            else if (may_lead(member, &all->list[i]))
                status = add_object(c, all, &all->list[i], own_row);
    }
    return status;
}

static enum pm_status find_objects(struct collector *c, struct references *all, pm_id from,
                                   uint32_t own_row)
{
    return find_objects_of(c, all, from, own_row, NULL);
}

static enum pm_status map_way(struct collector *c, uint32_t verb, uint32_t from, uint32_t to,
                              const char *origin)
{
    struct collect_mapping mapping = {.origin = origin};
    enum pm_status status = collect_short_sentence(c, verb, from, &mapping.source);
    if (status != PM_OK)
        return status;
    status = collect_short_sentence(c, verb, to, &mapping.destination);
    return status == PM_OK ? collect_add_mapping(c, &mapping) : status;
}

/* PM_MAP_READS, PM_MAP_WRITES: each of what is done with the one. */
static enum pm_status map_access(struct collector *c, unsigned access, uint32_t from, uint32_t to,
                                 const char *origin)
{
    if (access & PM_MAP_READS) {
        enum pm_status status = map_way(c, c->model->source_reads, from, to, origin);
        if (status != PM_OK)
            return status;
    }
    return access & PM_MAP_WRITES ? map_way(c, c->model->source_writes, from, to, origin) : PM_OK;
}

static enum pm_status map_objects(struct collector *c, const struct references *all,
                                  const struct collect_touched *touched)
{
    const char *origin = all->n_objects == 1 ? "inferred" : "possible";
    enum pm_status status = PM_OK;
    for (uint32_t i = 0; i < all->n_objects && status == PM_OK; i++) {
        const struct object *object = &all->objects[i];
        status = map_access(c, touched->access, touched->row, object->row, origin);
        if (status != PM_OK)
            return status;
        unsigned shown = touched->access & pm_map_get(&c->references->shown, touched->row);
        status = collect_note_touch(c, object->binary, object->id, object->row, shown);
        if (status != PM_OK)
            return status;
        status = collect_note_named(c, object->binary, object->id, object->row, touched->access);
    }
    return status;
}

/* --- members of objects --- */

enum pm_status collect_note_member(struct collector *c, const struct collect_member *member,
                                   pm_id function)
{
    struct collect_member *list = pm_grow_array(c->references->members, c->references->n_members,
                                                &c->references->members_cap, 256, sizeof *list);
    if (!list)
        return collect_no_memory(c);
    c->references->members = list;
    list[c->references->n_members] = *member;
    list[c->references->n_members++].object = parameter_id(function, 0);
    return PM_OK;
}

/* An array of objects, or a pointer to them. */
static bool is_array(const struct pm_pif_noun *noun)
{
    return strcmp(noun->kind, "variable") != 0 || strchr("*&]", noun->type[strlen(noun->type) - 1]);
}

/* Is the field of the class that the type names, and not of one in its arguments? */
static bool is_of_type(const struct pm_pif_noun *type, const char *text)
{
    static const char constant[] = "const ";
    size_t before = strncmp(text, constant, strlen(constant)) == 0 ? strlen(constant) : 0;
    return type->name && strcmp(text + before, type->name) == 0;
}

/* Rows of arrays do not name a single object, so that it may stand beside its member. A container
 * is single to its own members, and an array to those of what it holds. */
static bool is_single(const struct object *object, const struct pm_pif_noun *noun, pm_id field)
{
    struct pm_pif_noun member, type;
    if (pm_cxx_type_has(noun->type, "*[&"))
        return false;
    return strcmp(noun->kind, "variable") == 0 || !strchr(noun->type, '<') ||
           (pm_pif_find_noun(object->binary->pif, field, &member) && member.parent &&
            pm_pif_find_noun(object->binary->pif, member.parent, &type) &&
            is_of_type(&type, noun->type));
}

static bool is_field(const struct object *object)
{
    struct pm_pif_noun noun;
    return pm_pif_find_noun(object->binary->pif, object->id, &noun) && noun.kind &&
           strcmp(noun.kind, "field") == 0;
}

static bool may_have_member(const struct object *object, const struct collect_member *member,
                            struct pm_pif_noun *ret_noun)
{
    return (!member->only || member->only == object->id) &&
           pm_pif_find_noun(object->binary->pif, object->id, ret_noun) && ret_noun->type &&
           ret_noun->type[0] && ret_noun->kind && strcmp(ret_noun->kind, "field") != 0 &&
           collect_may_hold(object->binary, object->id, member->field);
}

/* Returns how many have the member, those without a row of it, too: a local that callers pass. */
static uint32_t keep_objects(struct references *all, const struct collect_member *member)
{
    uint32_t n = 0, n_have = 0;
    for (uint32_t i = 0; i < all->n_objects && member->field; i++) {
        struct pm_pif_noun noun;
        if (!may_have_member(&all->objects[i], member, &noun))
            continue;
        n_have++;
        if (is_single(&all->objects[i], &noun, member->field) ||
            (!member->is_array && is_array(&noun)))
            all->objects[n++] = all->objects[i];
    }
    if (member->field)
        all->n_objects = n;
    return n_have;
}

static uint64_t way_key(uint32_t source, uint32_t destination)
{
    return (uint64_t)source << 32 | destination;
}

static enum pm_status map_member_way(struct collector *c, struct pm_map *known,
                                     const struct collect_member *member, uint32_t verb,
                                     uint32_t row, const char *origin)
{
    struct collect_mapping mapping = {
        .source = member->sentence,
        .origin = origin,
        .reason = member->field && !member->is_named ? NULL : PM_REASON_MAY_SERVE};
    enum pm_status status = collect_short_sentence(c, verb, row, &mapping.destination);
    uint64_t key = way_key(mapping.source, mapping.destination);
    if (status != PM_OK || pm_map_get(known, key))
        return status;
    return pm_map_put(known, key, 1) ? collect_add_mapping(c, &mapping) : collect_no_memory(c);
}

static enum pm_status map_member_access(struct collector *c, struct pm_map *known,
                                        const struct collect_member *member, uint32_t row,
                                        const char *origin)
{
    enum pm_status status = PM_OK;
    if (member->access & PM_MAP_READS)
        status = map_member_way(c, known, member, c->model->source_reads, row, origin);
    if (status != PM_OK || !(member->access & PM_MAP_WRITES))
        return status;
    return map_member_way(c, known, member, c->model->source_writes, row, origin);
}

/* What is done with v's elements may be done through the field that v's operator[] reads. */
static enum pm_status map_holder(struct collector *c, struct pm_map *known,
                                 const struct collect_member *member, uint32_t object)
{
    enum { OBJECT = UINT32_C(1) << 31 }; /* not a sentence */
    uint64_t key = way_key(object | OBJECT, member->holder);
    if (!member->holder || pm_map_get(known, key))
        return PM_OK;
    if (!pm_map_put(known, key, 1))
        return collect_no_memory(c);
    return map_access(c, PM_MAP_READS | PM_MAP_WRITES, object, member->holder, "possible");
}

/* "body.pos += step": pos is a field that has the member. */
static enum pm_status map_outer_fields(struct collector *c, struct references *all,
                                       struct pm_map *known, const struct collect_member *member)
{
    for (uint32_t i = 0; i < all->n_objects && member->field; i++) {
        const struct object *object = &all->objects[i];
        if (!is_field(object) || object->id == member->field ||
            !collect_may_hold(object->binary, object->id, member->field))
            continue;
        enum pm_status status = map_member_access(c, known, member, object->row, "possible");
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

static enum pm_status map_member(struct collector *c, struct references *all, struct pm_map *known,
                                 const struct collect_member *member)
{
    enum pm_status status = find_objects_of(c, all, member->object, 0, member);
    if (status != PM_OK)
        return status;
    status = map_outer_fields(c, all, known, member);
    uint32_t n_have = keep_objects(all, member);
    struct pm_pif_noun noun;
    bool is_known = n_have == 1 && !member->is_named && all->n_objects == 1 && !member->is_array &&
                    pm_pif_find_noun(all->objects[0].binary->pif, all->objects[0].id, &noun) &&
                    !is_single(&all->objects[0], &noun, member->field);
    const char *origin = is_known ? "inferred" : "possible";
    for (uint32_t i = 0; i < all->n_objects && status == PM_OK; i++) {
        const struct object *object = &all->objects[i];
        status = map_member_access(c, known, member, object->row, origin);
        if (status != PM_OK)
            return status;
        status = map_holder(c, known, member, object->row);
        if (status != PM_OK)
            return status;
        /* p[i].step(): what p refers to */
        status = collect_note_touch(c, object->binary, object->id, object->row, member->access);
    }
    return status;
}

static bool may_serve(const struct collect_mapping *mapping)
{
    return mapping->reason && strcmp(mapping->reason, PM_REASON_MAY_SERVE) == 0;
}

/* What their code maps to already is known better, unless it merely may be for that. */
static enum pm_status know_ways(struct collector *c, struct pm_map *known)
{
    struct pm_map sentences = {0};
    bool good = true;
    for (uint32_t i = 0; i < c->references->n_members && good; i++)
        good = pm_map_put(&sentences, c->references->members[i].sentence, 1);
    for (size_t i = 0; i < c->model->n_mappings && good; i++)
        if (pm_map_get(&sentences, c->model->mappings[i].source) &&
            !may_serve(&c->model->mappings[i]))
            good = pm_map_put(
                known, way_key(c->model->mappings[i].source, c->model->mappings[i].destination), 1);
    pm_map_release(&sentences);
    return good ? PM_OK : collect_no_memory(c);
}

static enum pm_status map_those(struct collector *c, struct references *all, struct pm_map *known,
                                bool accessors)
{
    for (uint32_t i = 0; i < c->references->n_members; i++) {
        const struct collect_member *member = &c->references->members[i];
        if ((member->field == 0) != accessors)
            continue;
        enum pm_status status = map_member(c, all, known, member);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

/* Those of accessors are last: they are for what nothing says better. */
static enum pm_status map_members(struct collector *c, struct references *all)
{
    struct pm_map known = {0};
    enum pm_status status = c->references->n_members ? know_ways(c, &known) : PM_OK;
    for (int accessors = 0; accessors < 2 && status == PM_OK; accessors++)
        status = map_those(c, all, &known, accessors != 0);
    pm_map_release(&known);
    return status;
}

/* --- what accessors return --- */

/* What is done with the object may be done with what it holds. */
static enum pm_status map_holder_of(struct collector *c, struct pm_map *known, uint32_t object,
                                    uint32_t held)
{
    uint64_t key = way_key(object, held);
    if (object == held || pm_map_get(known, key))
        return PM_OK;
    if (!pm_map_put(known, key, 1))
        return collect_no_memory(c);
    return map_access(c, PM_MAP_READS | PM_MAP_WRITES, object, held, "possible");
}

/* What the function returns leads into the held ones, and what it is called for has them. */
static enum pm_status map_returned_by(struct collector *c, struct references *all,
                                      struct pm_map *known, pm_id function)
{
    enum { HELD_MAX = 8 };
    uint32_t held[HELD_MAX], n = 0;
    enum pm_status status = find_objects(c, all, returned_id(function), 0);
    for (; n < all->n_objects && n < HELD_MAX; n++)
        held[n] = all->objects[n].row;
    if (status != PM_OK || n == 0)
        return status;
    status = find_objects(c, all, parameter_id(function, 0), 0);
    if (status != PM_OK)
        return status;
    for (uint32_t i = 0; i < all->n_objects * n; i++) {
        status = map_holder_of(c, known, all->objects[i / n].row, held[i % n]);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

static enum pm_status map_returned_in(struct collector *c, struct references *all,
                                      struct pm_map *known, const struct pm_pif *pif)
{
    for (size_t i = 0, n = pif ? pm_pif_n_nouns(pif) : 0; i < n; i++) {
        struct pm_pif_noun noun;
        pm_pif_get_noun(pif, i, &noun);
        if (!noun.kind || strcmp(noun.kind, "function") != 0)
            continue;
        enum pm_status status = map_returned_by(c, all, known, noun.id);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

/* "g[i] = x" is done with g, and with the array in g that operator[] returned a reference into.
 * Where that was inlined, an address is all that is left of it: no code shows the array. */
static enum pm_status map_returned(struct collector *c, struct references *all)
{
    struct pm_map known = {0};
    enum pm_status status = PM_OK;
    const struct collect_binary *binary = c->binaries->first;
    for (; binary && !status; binary = binary->next)
        status = map_returned_in(c, all, &known, binary->pif);
    pm_map_release(&known);
    return status;
}

/* --- what is passed to functions that are not known --- */

/* Of the ids that are no nouns: those that a noun leads to, so it is known who has what is
 * passed there. */
static enum pm_status know_followed(struct collector *c, struct references *all,
                                    struct pm_map *known)
{
    enum pm_status status = PM_OK;
    for (size_t i = 0; i < all->n && status == PM_OK; i++) {
        const struct collect_reference *reference = &all->list[i];
        bool is_first = i == 0 || reference[-1].from != reference->from;
        if (!is_first || !pm_map_get(&reference->binary->nouns, reference->from))
            continue;
        status = find_objects(c, all, reference->from, 0);
        for (uint32_t k = 0; k < all->n_ways && status == PM_OK; k++)
            if (!pm_map_put(known, all->ways[k], 1))
                status = collect_no_memory(c);
    }
    return status;
}

/* Functions of other libraries are known not to have the plugin: what they do with arrays is
 * theirs. */
static enum pm_status know_external(struct collector *c, struct pm_map *known)
{
    for (const struct collect_binary *binary = c->binaries->first; binary; binary = binary->next)
        for (size_t i = 0, n = binary->pif ? pm_pif_n_nouns(binary->pif) : 0; i < n; i++) {
            struct pm_pif_noun noun;
            pm_pif_get_noun(binary->pif, i, &noun);
            if (!noun.kind || strcmp(noun.kind, "external") != 0)
                continue;
            for (unsigned k = 0; k < PARAMETERS_MAX; k++)
                if (!pm_map_put(known, parameter_id(noun.id, k), 1))
                    return collect_no_memory(c);
        }
    return PM_OK;
}

/* Who asks whether it is read or written is told that this is not known. */
static enum pm_status allow_questions(struct collector *c, uint32_t row)
{
    uint32_t sentence;
    enum pm_status status = collect_need_source(c);
    if (status != PM_OK)
        return status;
    status = collect_short_sentence(c, c->model->source_reads, row, &sentence);
    if (status != PM_OK)
        return status;
    return collect_short_sentence(c, c->model->source_writes, row, &sentence);
}

/* The object, and what it refers to in turn. */
static enum pm_status mark_passed_on(struct collector *c, struct references *all,
                                     struct pm_map *marked, const struct object *object,
                                     unsigned depth)
{
    enum { DEPTH_MAX = 8 };
    if (pm_map_get(marked, object->row) || depth == DEPTH_MAX)
        return PM_OK;
    if (!pm_map_put(marked, object->row, 1))
        return collect_no_memory(c);
    enum pm_status status = collect_write_attribute(c, object->row, "passed on", "yes");
    if (status != PM_OK)
        return status;
    status = allow_questions(c, object->row);
    for (uint32_t i = 0; status == PM_OK; i++) { /* found anew: those below found others */
        status = find_objects(c, all, object->id, object->row);
        if (status != PM_OK || i >= all->n_objects)
            break;
        const struct object next = all->objects[i];
        status = mark_passed_on(c, all, marked, &next, depth + 1);
    }
    return status;
}

static enum pm_status map_passed_on(struct collector *c, struct references *all)
{
    struct pm_map known = {0}, marked = {0};
    enum pm_status status = know_followed(c, all, &known);
    if (status == PM_OK)
        status = know_external(c, &known);
    for (size_t i = 0; i < all->n && status == PM_OK; i++) {
        const struct collect_reference reference = all->list[i];
        uint32_t row = pm_map_get(&reference.binary->nouns, reference.to);
        const struct object object = {reference.to, row, reference.binary};
        if (row && !pm_map_get(&reference.binary->nouns, reference.from) &&
            !pm_map_get(&known, reference.from))
            status = mark_passed_on(c, all, &marked, &object, 0);
    }
    pm_map_release(&known);
    pm_map_release(&marked);
    return status;
}

/* --- fields that copies of whole objects are not counted for (plugin/emit/whole.c) --- */

static enum pm_status allow_left_out(struct collector *c)
{
    enum pm_status status = PM_OK;
    for (const struct collect_binary *binary = c->binaries->first; binary; binary = binary->next)
        for (size_t i = 0, n = binary->pif ? pm_pif_n_nouns(binary->pif) : 0; i < n && !status;
             i++) {
            struct pm_pif_noun noun;
            pm_pif_get_noun(binary->pif, i, &noun);
            uint32_t row = pm_map_get(&binary->nouns, noun.id);
            if (row && pm_pif_get_attribute(binary->pif, noun.id, "left out"))
                status = allow_questions(c, row);
        }
    return status;
}

/* --- names that no code shows --- */

/* Noun -> what the facts say that statements do with it. */
static enum pm_status read_said(struct collector *c, struct pm_map *said)
{
    pm_id reads = pm_pif_verb_id("Source", "Reads"), writes = pm_pif_verb_id("Source", "Writes");
    for (const struct collect_binary *binary = c->binaries->first; binary; binary = binary->next)
        for (size_t i = 0, n = binary->pif ? pm_pif_n_mappings(binary->pif) : 0; i < n; i++) {
            struct pm_pif_mapping mapping;
            pm_pif_get_mapping(binary->pif, i, &mapping);
            pm_id verb = mapping.destination.verb;
            if (mapping.destination.n_nouns != 1 || (verb != reads && verb != writes))
                continue;
            pm_id noun = mapping.destination.nouns[0];
            uint32_t access = verb == reads ? PM_MAP_READS : PM_MAP_WRITES;
            if (!pm_map_put(said, noun, pm_map_get(said, noun) | access))
                return collect_no_memory(c);
        }
    return PM_OK;
}

/* What is done through e is done through what e refers to: a lambda's parameter, say, and the
 * reference whose elements it gets. */
static enum pm_status spread_said(struct collector *c, const struct references *all,
                                  struct pm_map *said)
{
    enum { ROUNDS_MAX = 8 };
    bool changes = true;
    for (int round = 0; round < ROUNDS_MAX && changes; round++) {
        changes = false;
        for (size_t i = 0; i < all->n; i++) {
            uint32_t before = pm_map_get(said, all->list[i].to);
            uint32_t now = before | pm_map_get(said, all->list[i].from);
            changes |= now != before;
            if (now != before && !pm_map_put(said, all->list[i].to, now))
                return collect_no_memory(c);
        }
    }
    return PM_OK;
}

/* A reference or view of C++ that is no parameter: compilers leave little of it where they know
 * what it refers to, though some of its code may still show it. */
static bool is_local_view(const struct references *all, const struct collect_reference *name)
{
    struct pm_pif_noun noun;
    if (!pm_pif_find_noun(name->binary->pif, name->from, &noun) || !noun.type || !noun.name ||
        !strchr(noun.name, '(') || pm_cxx_type_has(noun.type, "*["))
        return false;
    for (size_t i = first_of(all, name->from); i < all->n && all->list[i].from == name->from; i++)
        if (!pm_map_get(&all->list[i].binary->nouns, all->list[i].to))
            return false;
    return true;
}

/* Statements read through the noun, says the source, and no code of this run shows the noun: where
 * addresses are constants, it shows what the noun refers to. What is done with that is possibly
 * done through the noun. Of local views some code may show it, and most does not. */
static enum pm_status map_name(struct collector *c, struct references *all, struct pm_map *said,
                               struct pm_map *shown, const struct collect_reference *name)
{
    uint32_t row = pm_map_get(&name->binary->nouns, name->from);
    uint32_t known = is_local_view(all, name) ? 0 : pm_map_get(shown, row);
    uint32_t lacks = pm_map_get(said, name->from) & ~known;
    if (!row || !lacks)
        return PM_OK;
    enum pm_status status = find_objects(c, all, name->from, row);
    for (uint32_t i = 0; i < all->n_objects && status == PM_OK; i++) {
        uint32_t access = lacks & pm_map_get(shown, all->objects[i].row);
        status = map_access(c, access, all->objects[i].row, row, "possible");
        if (!pm_map_put(shown, row, pm_map_get(shown, row) | access))
            return collect_no_memory(c);
    }
    return status;
}

static enum pm_status copy_touched(struct collector *c, struct pm_map *shown)
{
    for (uint32_t i = 0; i < c->references->n_touches; i++) {
        uint32_t row = c->references->touches[i].row;
        if (!pm_map_put(shown, row, pm_map_get(&c->references->shown, row)))
            return collect_no_memory(c);
    }
    return PM_OK;
}

static enum pm_status map_names_by(struct collector *c, struct references *all, struct pm_map *said,
                                   struct pm_map *shown)
{
    enum { ROUNDS = 3 }; /* a name of a name */
    enum pm_status status = read_said(c, said);
    if (status != PM_OK)
        return status;
    status = spread_said(c, all, said);
    if (status != PM_OK)
        return status;
    status = copy_touched(c, shown);
    for (int round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < all->n && status == PM_OK; i++)
            if (i == 0 || all->list[i - 1].from != all->list[i].from)
                status = map_name(c, all, said, shown, &all->list[i]);
    return status;
}

static enum pm_status map_names(struct collector *c, struct references *all)
{
    struct pm_map said = {0}, shown = {0};
    enum pm_status status = map_names_by(c, all, &said, &shown);
    pm_map_release(&said);
    pm_map_release(&shown);
    return status;
}

static enum pm_status map_the_rest(struct collector *c, struct references *all)
{
    enum pm_status status = map_names(c, all);
    if (status != PM_OK)
        return status;
    status = map_returned(c, all);
    if (status != PM_OK)
        return status;
    status = map_passed_on(c, all);
    return status != PM_OK ? status : allow_left_out(c);
}

enum pm_status collect_references_end(struct collector *c)
{
    struct references all = {0};
    enum pm_status status = collect_read_references(c, &all.list, &all.n);
    if (status != PM_OK)
        return status;
    if (all.n)
        qsort(all.list, all.n, sizeof *all.list, compare);
    status = map_members(c, &all);
    for (uint32_t i = 0; i < c->references->n_touches && status == PM_OK;
         i++) { /* it grows meanwhile */
        struct collect_touched touched = c->references->touches[i];
        status = find_objects(c, &all, touched.id, touched.row);
        status = status == PM_OK ? map_objects(c, &all, &touched) : status;
    }
    if (status == PM_OK)
        status = map_the_rest(c, &all);
    free(all.ways);
    free(all.objects);
    free(all.list);
    return status;
}

void collect_references_release(struct collector *c)
{
    collect_arguments_release(c);
    pm_map_release(&c->references->touched);
    pm_map_release(&c->references->shown);
    free(c->references->touches);
    free(c->references->members);
}
