/* Maps code to the arrays and fields that it is for (touched.c finds out which): as the compiler
 * says, as follows from its statement (origin "inferred"), and what it may be for ("possible").
 */
#include "touched.h"

#include "accesses.h"
#include "binaries.h"
#include "code.h"
#include "collector.h"
#include "model.h"
#include "places.h"
#include "references.h"

#include "format/pm_id.h"
#include "format/pm_map.h"
#include "mapping/base/cxx_name.h"
#include "mapping/base/reasons.h"
#include "mapping/code/code_map.h"
#include "mapping/pif/pif.h"

static enum pm_status map_touch(struct collector *c, struct collect_code *code, pm_id id,
                                unsigned access, const char *origin, const char *reason)
{
    uint32_t row;
    enum pm_status status = collect_map_noun(c, code->binary, id, "variable", NULL, &row);
    if (status == PM_OK)
        status =
            collect_note_touch(c, code->binary, id, row, access & (PM_MAP_READS | PM_MAP_WRITES));
    if (status == PM_OK && access & PM_MAP_READS)
        status = collect_map_code(c, code, c->model->source_reads, row, origin, reason);
    if (status == PM_OK && access & PM_MAP_WRITES)
        status = collect_map_code(c, code, c->model->source_writes, row, origin, reason);
    return status;
}

/* Does the library of C++ get an object passed? */
static bool passes_object(const struct pm_code_tuple *call)
{
    bool passes = false;
    for (uint32_t i = 0; i < call->n_objects && call->kind == PM_MAP_CALL; i++)
        passes |= !(call->objects[i].access & (PM_MAP_READS | PM_MAP_WRITES));
    return passes;
}

/* Does a memory function, or the library of Fortran, get memory passed that has no name? */
static bool passes_unknown(const struct pm_code_tuple *call)
{
    return call->kind == PM_MAP_CALL && call->unnamed;
}

static enum pm_status map_inferred(const struct touches *touches, struct collect_code *code,
                                   const char *reason)
{
    enum pm_status status = PM_OK;
    for (uint32_t i = 0; i < touches->n && status == PM_OK; i++) {
        const struct touch *touch = &touches->list[i];
        status = map_touch(touches->c, code, touch->noun, touch->access & ~touch->sure, "inferred",
                           reason);
    }
    return status;
}

enum pm_status collect_map_touches(const struct touches *touches, struct collect_code *code,
                                   const char *origin, const char *reason)
{
    enum pm_status status = PM_OK;
    for (uint32_t i = 0; i < touches->n && status == PM_OK; i++) {
        const struct touch *touch = &touches->list[i];
        status = touch->is_data || touch->is_field
                     ? map_touch(touches->c, code, touch->noun, touch->access, origin, reason)
                     : PM_OK;
    }
    return status;
}

/* Code that reads an array's descriptor finds what the statement reads or writes. Where the
 * statement does both, the code is for either. */
static enum pm_status map_found(struct touches *touches, struct collect_code *code,
                                const struct pm_code_tuple *own, const char *reason)
{
    for (uint32_t i = 0; i < touches->n && own->kind != PM_MAP_CALL; i++) {
        struct touch *touch = &touches->list[i];
        unsigned ways = touch->access & (PM_MAP_READS | PM_MAP_WRITES);
        if (!touch->is_found || (ways != PM_MAP_READS && ways != PM_MAP_WRITES))
            continue;
        touch->sure = touch->access;
        enum pm_status status =
            map_touch(touches->c, code, touch->noun, touch->access, "compiler", reason);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

/* Is it known that the code touches that object's member? Of `ones[i].step(dt)` that was inlined
 * the rest of the statement says it, too. */
static bool is_object_of(const struct touches *touches, const struct touch *touch, pm_id field,
                         bool is_inlined)
{
    return touch->is_data && !touch->is_field && (touch->sure || is_inlined) &&
           collect_may_hold(touches->binary, touch->noun, field);
}

static enum pm_status note_member(const struct touches *touches, const struct collect_code *code,
                                  const struct user_statement *user, const struct touch *field,
                                  pm_id outermost, bool is_named)
{
    enum pm_status status = PM_OK;
    struct pm_pif_noun noun;
    if (!pm_pif_find_noun(touches->binary->pif, field->noun, &noun))
        return PM_OK;
    struct collect_member member = {code->binary,
                                    code->sentence,
                                    .field = field->noun,
                                    .access = field->access & (PM_MAP_READS | PM_MAP_WRITES),
                                    .is_array = noun.type && pm_cxx_type_has(noun.type, "*[&"),
                                    .is_named = is_named};
    if (user->site && user->site->function == user->place.function) {
        member.callers = user->site->parent;
        member.outermost = outermost;
    }
    for (uint32_t i = 0; i < touches->n && status == PM_OK; i++)
        if (is_object_of(touches, &touches->list[i], field->noun, user->site != NULL)) {
            member.only = touches->list[i].noun;
            status = collect_note_member(touches->c, &member, user->place.function);
        }
    return status != PM_OK || member.only
               ? status
               : collect_note_member(touches->c, &member, user->place.function);
}

/* Code of a method that was inlined may be for what its statement does with other members. */
static enum pm_status note_named_members(const struct touches *touches,
                                         const struct collect_code *code,
                                         const struct user_statement *user, pm_id outermost)
{
    const struct collect_binary *binary = touches->binary;
    struct touches named = {.c = touches->c, .binary = binary};
    uint32_t statement = 0;
    enum pm_status status = collect_find_statement(touches, code, user, &statement);
    if (status != PM_OK)
        return status;
    collect_add_facts(&named, statement);
    for (uint32_t i = 0; i < named.n; i++) {
        struct touch *field = &named.list[i];
        for (uint32_t k = 0; k < touches->n; k++)
            if (touches->list[k].noun == field->noun)
                field->access &= ~touches->list[k].access;
        if (!field->is_field || !(field->access & (PM_MAP_READS | PM_MAP_WRITES)))
            continue;
        status = note_member(touches, code, user, field, outermost, true);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

/* Members of objects: what an array of such objects, or the object, is asked for. */
static enum pm_status note_members(const struct touches *touches, const struct collect_code *code,
                                   const struct pm_code_range *range)
{
    struct user_statement user = collect_user_statement(code->binary, range->tuple);
    pm_id outermost = range->block->function;
    for (uint32_t i = 0; i < touches->n; i++) {
        enum pm_status status = PM_OK;
        if (touches->list[i].is_field)
            status = note_member(touches, code, &user, &touches->list[i], outermost, false);
        if (status != PM_OK)
            return status;
    }
    return user.site && range->tuple->kind == PM_MAP_ORDINARY
               ? note_named_members(touches, code, &user, outermost)
               : PM_OK;
}

/* What the accessor touches: callers may write what it returns a reference to. */
static enum pm_status note_holder(struct collector *c, struct collect_code *code,
                                  const struct touch *touch, struct collect_member member,
                                  pm_id function)
{
    enum pm_status status =
        collect_map_noun(c, code->binary, touch->noun, "variable", NULL, &member.holder);
    if (status != PM_OK)
        return status;
    status = touch->access & PM_MAP_WRITES
                 ? PM_OK
                 : collect_map_code(c, code, c->model->source_writes, member.holder, "possible",
                                    PM_REASON_MAY_SERVE);
    return status != PM_OK ? status : collect_note_member(c, &member, function);
}

static bool touches_so(const struct touches *touches, const struct collect_access *access)
{
    for (uint32_t i = 0; i < touches->n; i++)
        if (touches->list[i].noun == access->variable &&
            touches->list[i].access & collect_access_ways(access))
            return true;
    return false;
}

static enum pm_status map_possible(struct collector *c, struct collect_code *code,
                                   const struct collect_access *access)
{
    uint32_t verb = access->is_read ? c->model->source_reads : c->model->source_writes, row;
    enum pm_status status =
        collect_map_noun(c, code->binary, access->variable, "variable", NULL, &row);
    if (status != PM_OK)
        return status;
    /* what callers passed is possible, too */
    status =
        collect_note_touch(c, code->binary, access->variable, row, collect_access_ways(access));
    return status != PM_OK ? status
                           : collect_map_code(c, code, verb, row, "possible", PM_REASON_MAY_SERVE);
}

/* The code may be for all that the statement names. */
static enum pm_status map_named(const struct touches *touches, struct collect_code *code,
                                const struct user_statement *of)
{
    const struct collect_binary *binary = touches->binary;
    uint32_t statement = 0;
    enum pm_status status = collect_find_statement(touches, code, of, &statement);
    if (status != PM_OK)
        return status;
    for (size_t i = collect_first_access(binary, statement);
         i < binary->accesses->n && binary->accesses->list[i].statement == statement; i++) {
        const struct collect_access *access = &binary->accesses->list[i];
        if (touches_so(touches, access))
            continue;
        status = map_possible(touches->c, code, access);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

/* What was inlined of v's operator[] may be for v, and all else that the statement names. */
static enum pm_status map_served(const struct touches *touches, struct collect_code *code,
                                 const struct pm_code_tuple *own)
{
    struct user_statement served = collect_served_statement(touches->binary, own);
    return map_named(touches, code, &served);
}

/* What was inlined of C++'s library ("transform(u, v, w, f)"), and of a function that it calls,
 * is for all that the statement names that calls the library. */
static enum pm_status map_by_library(const struct touches *touches, struct collect_code *code,
                                     const struct pm_code_tuple *own)
{
    struct user_statement user = collect_user_statement(touches->binary, own);
    if (user.in_header)
        return map_named(touches, code, &user);
    if (!user.site)
        return PM_OK;
    struct pm_code_tuple call = {.place = user.site->call, .site = user.site->parent};
    struct user_statement outer = collect_user_statement(touches->binary, &call);
    return outer.in_header ? map_named(touches, code, &outer) : PM_OK;
}

/* "v[i] = x" of a class is a call of its operator[]: what that takes is there for v, too, be it
 * read or written. So is what it calls in C++'s library. */
static enum pm_status map_accessor(const struct touches *touches, struct collect_code *code,
                                   const struct pm_code_range *range)
{
    const struct pm_code_tuple *own = range->tuple;
    struct collect_member member = {code->binary, code->sentence,
                                    .access = PM_MAP_READS | PM_MAP_WRITES};
    if (!code->binary->pif)
        return PM_OK;
    struct user_statement user = collect_user_statement(code->binary, own);
    pm_id function = user.place.function ? user.place.function : range->block->function;
    if (!function || !collect_is_accessor(code->binary, function))
        return PM_OK;
    if (user.site)
        return map_served(touches, code, own);
    enum pm_status status = collect_note_member(touches->c, &member, function);
    if (status != PM_OK)
        return status;
    for (uint32_t i = 0; i < touches->n; i++) {
        if (!touches->list[i].is_data)
            continue;
        status = note_holder(touches->c, code, &touches->list[i], member, function);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

/* All ways of all touches but those that are known. */
static enum pm_status map_all_possible(const struct touches *known, struct collect_code *code,
                                       const struct touches *touches)
{
    for (uint32_t i = 0; i < touches->n; i++)
        for (unsigned way = PM_MAP_READS; way <= PM_MAP_WRITES; way <<= 1) {
            struct collect_access access = {0, way == PM_MAP_READS, touches->list[i].noun};
            if (!(touches->list[i].access & way) || touches_so(known, &access))
                continue;
            enum pm_status status = map_possible(touches->c, code, &access);
            if (status != PM_OK)
                return status;
        }
    return PM_OK;
}

/* "for (...) run.cells[i] = x": what counts the loop is for cells, and for run. */
static enum pm_status map_holders(const struct touches *touches, struct collect_code *code,
                                  const struct pm_code_range *range)
{
    struct touches holders = {.c = touches->c, .binary = touches->binary};
    bool has_field = false;
    for (uint32_t i = 0; i < touches->n; i++)
        has_field |= touches->list[i].is_field;
    if (!has_field)
        return PM_OK;
    collect_add_holders(&holders, touches, range);
    return map_all_possible(touches, code, &holders);
}

/* "x = v[i]; s += x * x;": the second statement names no array and works for v all the same. So
 * may all code of a loop that touches nothing. */
static enum pm_status map_of_loop(struct touches *touches, struct collect_code *code,
                                  const struct pm_code_range *range)
{
    const struct pm_code_tuple *own = range->tuple;
    struct touches loop = {.c = touches->c, .binary = touches->binary};
    if (own->kind != PM_MAP_ORDINARY || !own->loop)
        return PM_OK;
    if (collect_has_data(touches))
        return map_holders(touches, code, range);
    enum pm_status status = collect_add_of_loop(&loop, code, range->block, own->loop);
    if (status != PM_OK)
        return status;
    /* a view that filters has the element from an inner loop */
    status = collect_has_data(&loop) ? PM_OK : collect_add_of_loop(&loop, code, range->block, 0);
    if (status != PM_OK)
        return status;
    if (!collect_has_data(&loop))
        collect_add_facts_of_function(&loop, range->block->function);
    const struct touches none = {0};
    return map_all_possible(&none, code, &loop);
}

enum pm_status collect_map_objects(struct collector *c, struct collect_code *code,
                                   const struct pm_code_range *range, const char *reason)
{
    const struct pm_code_tuple *own = range->tuple;
    struct touches touches = {.c = c, .binary = code->binary};
    enum pm_status status = PM_OK;
    for (uint32_t i = 0; i < own->n_objects && status == PM_OK; i++) {
        const struct pm_code_object *object = &own->objects[i];
        collect_add_touch(&touches, object->noun, object->access);
        status = map_touch(c, code, object->noun, object->access, "compiler", reason);
    }
    for (uint32_t i = 0; i < touches.n; i++) {
        touches.list[i].sure = touches.list[i].access;
        touches.list[i].is_found = !(touches.list[i].access & (PM_MAP_READS | PM_MAP_WRITES));
    }
    bool has_place = own->place.line_no && code->binary->pif;
    if (status != PM_OK)
        return status;
    if (has_place && (own->kind == PM_MAP_ORDINARY || own->kind == PM_MAP_SPILL))
        status = collect_infer(&touches, code, range);
    else if (has_place && (passes_object(own) || passes_unknown(own)))
        status = collect_infer_call(&touches, code, range);
    else if (has_place && own->kind == PM_MAP_CALL)
        status = collect_infer_fields(&touches, code, range);
    if (status == PM_OK && has_place)
        status = note_members(&touches, code, range);
    if (status != PM_OK)
        return status;
    status = map_accessor(&touches, code, range);
    if (status != PM_OK)
        return status;
    status = has_place ? map_by_library(&touches, code, own) : PM_OK;
    if (status != PM_OK)
        return status;
    status = has_place ? map_of_loop(&touches, code, range) : PM_OK;
    if (status != PM_OK)
        return status;
    status = map_found(&touches, code, own, reason);
    return status != PM_OK ? status : map_inferred(&touches, code, reason);
}

enum pm_status collect_map_any_of(struct collector *c, struct collect_binary *binary, pm_id of,
                                  uint32_t sentence)
{
    struct collect_code code = {.binary = binary, .sentence = sentence};
    enum pm_status status = collect_accesses_make(c, binary);
    for (size_t i = 0; i < binary->places->n_statements && status == PM_OK; i++) {
        const struct collect_source_statement *s = &binary->places->statements[i];
        if (s->function != of && s->parent != of)
            continue;
        for (size_t k = collect_first_access(binary, s->row);
             k < binary->accesses->n && binary->accesses->list[k].statement == s->row &&
             status == PM_OK;
             k++)
            status = map_touch(c, &code, binary->accesses->list[k].variable,
                               collect_access_ways(&binary->accesses->list[k]), "possible", NULL);
    }
    return status;
}

enum pm_status collect_map_passed(struct collector *c, const struct collect_code *caller,
                                  uint32_t sentence)
{
    const struct pm_code_tuple *call = caller->range->tuple;
    struct collect_code called = *caller;
    struct touches touches = {.c = c, .binary = caller->binary};
    called.sentence = sentence;
    for (uint32_t i = 0; i < call->n_objects; i++)
        collect_add_touch(&touches, call->objects[i].noun, call->objects[i].access);
    if (!call->place.line_no)
        return map_inferred(&touches, &called, NULL);
    enum pm_status status = collect_infer_call(&touches, caller, caller->range);
    if (status != PM_OK)
        return status;
    status = note_members(&touches, &called, caller->range);
    if (status != PM_OK)
        return status;
    status = map_accessor(&touches, &called, caller->range);
    return status != PM_OK ? status : map_inferred(&touches, &called, NULL);
}
