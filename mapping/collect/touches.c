/* What code is for, in arrays and fields: what its instructions touch, as the late map says, and
 * what follows from the statement that they belong to.
 *
 * "s += a[i].x" is several instructions. One loads a[i].x; by then the optimisers know it as so
 * many bytes behind a, so the field is the one that the facts name for the statement. Others
 * compute the address, add, or (without optimisation) load i and a: they are there for a[i].x,
 * too. "y[i] += 1" both reads and writes y, whether that is one instruction or three. And what
 * counts a loop that walks over y is for y. All of that has the origin "inferred".
 */
#include "touches.h"

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
#include "mapping/base/map.h"
#include "mapping/base/names.h"
#include "mapping/base/reasons.h"
#include "mapping/code/code_map.h"
#include "mapping/pif/pif.h"

#include <ctype.h>
#include <stdlib.h>

/* --- the statement of the user's that code belongs to --- */

struct user_statement {
    struct pm_code_place place;
    const struct pm_code_site *site;
    bool in_header;
};

/* With what tells whether other code is of it, too. */
struct whole_statement {
    struct user_statement user;
    const struct collect_source_statement *around; /* NULL: all of its code has its place */
};

static struct user_statement user_statement_of(const struct collect_binary *binary,
                                               const struct pm_code_tuple *tuple)
{
    struct user_statement user = {tuple->place, tuple->site, false};
    for (; user.site; user.site = user.site->parent) {
        struct pm_pif_noun noun;
        bool is_known = pm_pif_find_noun(binary->pif, user.place.file, &noun) && noun.name;
        if (is_known && !pm_name_is_of_system(noun.name))
            return user;
        user.in_header = true;
        user.place = user.site->call;
    }
    return user;
}

struct pm_code_place collect_user_place(const struct collect_binary *binary,
                                        const struct pm_code_tuple *tuple, bool *ret_in_header)
{
    struct user_statement user = user_statement_of(binary, tuple);
    *ret_in_header = user.in_header;
    return user.place;
}

static enum pm_status make_whole(struct collector *c, const struct collect_binary *binary,
                                 const struct user_statement *user, struct whole_statement *ret)
{
    enum pm_status status = PM_OK;
    ret->user = *user;
    ret->around = collect_statement_around(c, binary, &user->place, &status);
    return status;
}

static bool is_of_statement(const struct collect_binary *binary,
                            const struct whole_statement *statement,
                            const struct user_statement *other)
{
    const struct pm_code_place *x = &statement->user.place, *y = &other->place;
    if (statement->user.site != other->site || x->function != y->function || x->file != y->file)
        return false;
    return (x->line_no == y->line_no && x->column_no == y->column_no) ||
           (statement->around && collect_is_within(binary, statement->around, y));
}

bool collect_is_library(const struct collect_code *code)
{
    struct pm_pif_noun function;
    return code->symbol && code->range && code->binary->pif &&
           pm_pif_find_noun(code->binary->pif, code->range->block->function, &function) &&
           function.file && pm_name_is_of_system(function.file);
}

/* --- accessors --- */

static bool is_of_function_before(const void *statement, const void *function)
{
    return ((const struct collect_source_statement *)statement)->function <
           *(const pm_id *)function;
}

/* A function of few lines and no loop: one by which callers reach the elements of an object, or
 * ask for its size. */
static bool is_accessor(const struct collect_binary *binary, pm_id function)
{
    enum { LINES_MAX = 3 };
    const struct collect_places *places = binary->places;
    const struct collect_source_statement *all = places->statements;
    size_t first =
        pm_lower_bound(all, places->n_statements, sizeof *all, &function, is_of_function_before);
    uint32_t n_lines = 0;
    for (size_t at = first; at < places->n_statements && all[at].function == function; at++) {
        n_lines += at == first || all[at].line_no != all[at - 1].line_no;
        if (n_lines > LINES_MAX || all[at].parent != function)
            return false;
    }
    return n_lines != 0;
}

/* The statement that code is there for: of "v[i] = x" also what was inlined of v's operator[], and
 * of what that calls by way of the library. */
static struct user_statement served_statement_of(const struct collect_binary *binary,
                                                 const struct pm_code_tuple *tuple)
{
    struct user_statement user = user_statement_of(binary, tuple);
    while (user.site && is_accessor(binary, user.place.function)) {
        struct pm_code_tuple call = {.place = user.site->call, .site = user.site->parent};
        user = user_statement_of(binary, &call);
    }
    return user;
}

/* --- what is touched --- */

enum { TOUCHES_MAX = 64, OF_LOOP_MAX = 8 };

struct touch {
    pm_id noun;
    unsigned access; /* PM_MAP_READS | PM_MAP_WRITES, PM_MAP_THROUGH */
    unsigned sure;   /* of these what the map says */
    bool is_data;    /* an array, a pointer, a field: no lone number */
    bool is_field;
    bool is_found; /* the code reads its descriptor */
};

/* What one piece of code touches, each noun once. */
struct touches {
    struct collector *c;
    const struct collect_binary *binary;
    struct touch list[TOUCHES_MAX];
    uint32_t n;
};

static bool is_data(const struct pm_pif_noun *noun)
{
    if (!noun->kind || strcmp(noun->kind, "variable") != 0)
        return true;
    const char *type = noun->type ? noun->type : "";
    return pm_cxx_type_has(type, "*[&") || strstr(type, "allocatable");
}

static void add_touch(struct touches *touches, pm_id id, unsigned access)
{
    struct pm_pif_noun noun = {0};
    for (uint32_t i = 0; i < touches->n; i++) {
        if (touches->list[i].noun != id)
            continue;
        touches->list[i].access |= access;
        return;
    }
    if (touches->n == TOUCHES_MAX)
        return;
    pm_pif_find_noun(touches->binary->pif, id, &noun);
    touches->list[touches->n++] = (struct touch){
        .noun = id,
        .access = access,
        .is_data = is_data(&noun),
        .is_field = noun.kind && strcmp(noun.kind, "field") == 0,
    };
}

/* Of what is touched. */
static void add_access_to_known(struct touches *touches, const struct pm_code_tuple *tuple)
{
    for (uint32_t i = 0; i < touches->n; i++)
        for (uint32_t k = 0; k < tuple->n_objects && touches->list[i].is_data; k++)
            if (touches->list[i].noun == tuple->objects[k].noun)
                touches->list[i].access |= tuple->objects[k].access;
}

static uint32_t n_data(const struct touches *touches)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < touches->n; i++)
        n += touches->list[i].is_data;
    return n;
}

static bool has_data(const struct touches *touches)
{
    return n_data(touches) != 0;
}

static unsigned access_of(const struct collect_access *access)
{
    return access->is_read ? PM_MAP_READS : PM_MAP_WRITES;
}

/* The statement's objects by the facts: arrays and fields. */
static void add_facts(struct touches *touches, uint32_t statement)
{
    const struct collect_binary *binary = touches->binary;
    for (size_t i = collect_first_access(binary, statement);
         i < binary->accesses->n && binary->accesses->list[i].statement == statement; i++) {
        struct pm_pif_noun noun;
        if (pm_pif_find_noun(binary->pif, binary->accesses->list[i].variable, &noun) &&
            is_data(&noun))
            add_touch(touches, noun.id, access_of(&binary->accesses->list[i]));
    }
}

/* The statement's objects by the code of the rest of it. */
static enum pm_status add_code(struct touches *touches, const struct pm_code_block *block,
                               const struct pm_code_tuple *own, const struct user_statement *user)
{
    struct whole_statement statement;
    enum pm_status status = make_whole(touches->c, touches->binary, user, &statement);
    if (status != PM_OK)
        return status;
    for (uint32_t i = 0; i < block->n_tuples; i++) {
        const struct pm_code_tuple *tuple = &block->tuples[i];
        if (tuple->loop != own->loop || tuple->n_objects == 0)
            continue;
        struct user_statement other = user_statement_of(touches->binary, tuple);
        if (is_of_statement(touches->binary, &statement, &other))
            for (uint32_t k = 0; k < tuple->n_objects; k++)
                add_touch(touches, tuple->objects[k].noun, tuple->objects[k].access);
    }
    return PM_OK;
}

/* Does the text have the word? */
static bool has_word(const char *text, const char *word)
{
    size_t len = strlen(word);
    for (const char *p = text; len && (p = strstr(p, word)); p++) {
        bool begins = p == text || !(isalnum((unsigned char)p[-1]) || p[-1] == '_');
        if (begins && !(isalnum((unsigned char)p[len]) || p[len] == '_'))
            return true;
    }
    return false;
}

/* What is in an object of a template's class, its arguments do not say: "pair<double>". In a
 * container ("vector<double>") there is nothing else. */
static bool is_of_template(const struct pm_pif_noun *object)
{
    const char *arguments = strchr(object->type, '<');
    return arguments && object->kind && strcmp(object->kind, "variable") == 0;
}

/* Are elements of the object records that have the field? Where its type does not say (void *, a
 * record within one), it is not an array of numbers. */
bool collect_may_hold(const struct collect_binary *binary, pm_id object, pm_id field)
{
    static const char *const numbers[] = {"int",  "long",    "short",   "char",
                                          "bool", "_Bool",   "float",   "double",
                                          "real", "integer", "logical", "complex"};
    struct pm_pif_noun of, noun, type;
    if (!pm_pif_find_noun(binary->pif, object, &of) || !of.type ||
        !pm_pif_find_noun(binary->pif, field, &noun))
        return true;
    if (noun.parent && pm_pif_find_noun(binary->pif, noun.parent, &type) && type.name &&
        has_word(of.type, type.name))
        return true;
    if (is_of_template(&of))
        return true;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (has_word(of.type, numbers[i]))
            return false;
    return true;
}

static bool has_field(const struct touches *touches, unsigned access)
{
    for (uint32_t i = 0; i < touches->n; i++)
        if (touches->list[i].is_field && touches->list[i].access & access)
            return true;
    return false;
}

/* Code that touches a, in a statement that reads the field x of something, reads a's x, when
 * nothing says which field it touches. Code that loads the pointer a is for whatever is done
 * through it. known: what the code touches, before anything was inferred. */
static void add_fields(struct touches *touches, const struct touches *known, uint32_t statement)
{
    const struct collect_binary *binary = touches->binary;
    for (size_t i = collect_first_access(binary, statement);
         i < binary->accesses->n && binary->accesses->list[i].statement == statement; i++) {
        struct pm_pif_noun noun, of;
        const struct collect_access *access = &binary->accesses->list[i];
        if (!pm_pif_find_noun(binary->pif, access->variable, &noun) || !noun.kind ||
            strcmp(noun.kind, "field") != 0 || has_field(known, access_of(access)))
            continue;
        for (uint32_t k = 0; k < known->n; k++) {
            const struct touch *touch = &known->list[k];
            bool is_pointer = !(touch->access & PM_MAP_THROUGH) &&
                              pm_pif_find_noun(binary->pif, touch->noun, &of) && of.type &&
                              strchr(of.type, '*');
            if (touch->is_data && !touch->is_field &&
                (is_pointer || touch->access & access_of(access)) &&
                collect_may_hold(binary, touch->noun, noun.id))
                add_touch(touches, noun.id, access_of(access));
        }
    }
}

/* What a statement reads and writes: whichever of its code that touches it is for both. */
static void add_other_ways(struct touches *touches, uint32_t statement)
{
    const struct collect_binary *binary = touches->binary;
    uint32_t n = touches->n;
    for (size_t i = collect_first_access(binary, statement);
         i < binary->accesses->n && binary->accesses->list[i].statement == statement; i++)
        for (uint32_t k = 0; k < n; k++)
            if (touches->list[k].noun == binary->accesses->list[i].variable &&
                touches->list[k].is_data)
                add_touch(touches, touches->list[k].noun, access_of(&binary->accesses->list[i]));
}

static bool names(const struct collect_binary *binary, uint32_t statement, pm_id variable)
{
    for (size_t i = collect_first_access(binary, statement);
         i < binary->accesses->n && binary->accesses->list[i].statement == statement; i++)
        if (binary->accesses->list[i].variable == variable)
            return true;
    return false;
}

/* The same of fields that the statement does not name: "v[i] += 1", where v's operator[] says
 * which. The code of the rest of it tells. */
static enum pm_status add_ways_of_code(struct touches *touches, const struct pm_code_range *range,
                                       uint32_t statement)
{
    const struct pm_code_tuple *own = range->tuple;
    const struct pm_code_block *block = range->block;
    bool is_named = true;
    for (uint32_t i = 0; i < touches->n; i++)
        is_named &=
            !touches->list[i].is_data || names(touches->binary, statement, touches->list[i].noun);
    if (is_named && !own->site)
        return PM_OK;
    struct user_statement user = served_statement_of(touches->binary, own);
    struct whole_statement served;
    enum pm_status status = make_whole(touches->c, touches->binary, &user, &served);
    if (status != PM_OK)
        return status;
    for (uint32_t i = 0; i < block->n_tuples; i++) {
        const struct pm_code_tuple *tuple = &block->tuples[i];
        if (tuple->loop != own->loop || tuple->n_objects == 0)
            continue;
        struct user_statement other = served_statement_of(touches->binary, tuple);
        if (is_of_statement(touches->binary, &served, &other))
            add_access_to_known(touches, tuple);
    }
    return PM_OK;
}

/* Does the statement stand in the line in which the loop begins? */
static bool is_loop_control(const struct collect_binary *binary, pm_id loop,
                            const struct pm_code_place *place)
{
    struct pm_pif_noun noun, file;
    return loop && pm_pif_find_noun(binary->pif, loop, &noun) && noun.line == place->line_no &&
           pm_pif_find_noun(binary->pif, place->file, &file) && file.name && noun.file &&
           strcmp(file.name, noun.file) == 0;
}

static enum pm_status find_statement(const struct touches *touches, const struct collect_code *code,
                                     const struct user_statement *user, uint32_t *ret_row)
{
    return collect_map_statement(touches->c, code->binary, &user->place, code->region, ret_row);
}

/* Of a loop whose statements have no code in it any more (it only counts): what they would
 * touch. */
static void add_facts_of_loop(struct touches *all, const struct collect_binary *binary, pm_id loop)
{
    for (size_t i = 0; i < binary->places->n_statements; i++)
        if (binary->places->statements[i].parent == loop)
            add_facts(all, binary->places->statements[i].row);
}

/* What one piece of code touches, with the fields that its statement names. */
static enum pm_status add_of_tuple(struct touches *all, const struct collect_code *code,
                                   const struct pm_code_tuple *tuple)
{
    struct touches own = {.c = all->c, .binary = all->binary};
    struct user_statement user = user_statement_of(code->binary, tuple);
    uint32_t statement;
    for (uint32_t i = 0; i < tuple->n_objects; i++)
        add_touch(&own, tuple->objects[i].noun, tuple->objects[i].access);
    enum pm_status status = find_statement(all, code, &user, &statement);
    if (status != PM_OK)
        return status;
    const struct touches known = own;
    add_fields(&own, &known, statement);
    add_other_ways(&own, statement);
    for (uint32_t i = 0; i < own.n; i++)
        add_touch(all, own.list[i].noun, own.list[i].access);
    return PM_OK;
}

/* What the code of a loop touches, of arrays and fields; too many say nothing. 0: of all loops. */
static enum pm_status add_of_loop(struct touches *touches, const struct collect_code *code,
                                  const struct pm_code_block *block, pm_id loop)
{
    struct touches all = {.c = touches->c, .binary = touches->binary};
    enum pm_status status = PM_OK;
    for (uint32_t i = 0; i < block->n_tuples && status == PM_OK && n_data(&all) <= OF_LOOP_MAX; i++)
        if ((loop ? block->tuples[i].loop == loop : block->tuples[i].loop != 0) &&
            block->tuples[i].n_objects)
            status = add_of_tuple(&all, code, &block->tuples[i]);
    if (loop && !has_data(&all))
        add_facts_of_loop(&all, code->binary, loop);
    for (uint32_t i = 0; i < all.n && n_data(&all) <= OF_LOOP_MAX; i++)
        if (all.list[i].is_data)
            add_touch(touches, all.list[i].noun, all.list[i].access);
    return status;
}

/* Of statements that the code implements as well: "if (p[i].charge > 3) n++" is one addition.
 * is_theirs: its own statement does not explain what it touches. */
static enum pm_status add_of_others(struct touches *touches, const struct touches *known,
                                    const struct collect_code *code,
                                    const struct pm_code_tuple *own, bool is_theirs)
{
    enum pm_status status = PM_OK;
    for (uint32_t i = 0; i < own->n_also; i++) {
        uint32_t statement;
        status = collect_map_statement(touches->c, code->binary, &own->also[i].place, code->region,
                                       &statement);
        if (status != PM_OK)
            return status;
        add_fields(touches, known, statement);
        if (is_theirs)
            add_facts(touches, statement);
    }
    return PM_OK;
}

/* Does the statement name an array or pointer that the code touches? */
static bool names_any(const struct touches *touches, uint32_t statement)
{
    const struct collect_binary *binary = touches->binary;
    for (size_t i = collect_first_access(binary, statement);
         i < binary->accesses->n && binary->accesses->list[i].statement == statement; i++)
        for (uint32_t k = 0; k < touches->n; k++)
            if (touches->list[k].is_data &&
                touches->list[k].noun == binary->accesses->list[i].variable)
                return true;
    return false;
}

/* Of two statements that became one the code may have the place of the other: what it touches is
 * then named by a neighbour in the loop. */
static void add_fields_of_neighbours(struct touches *touches, uint32_t statement, pm_id loop)
{
    const struct collect_binary *binary = touches->binary;
    if (!loop || !has_data(touches) || has_field(touches, PM_MAP_READS | PM_MAP_WRITES) ||
        names_any(touches, statement))
        return;
    const struct touches known = *touches;
    for (size_t i = 0; i < binary->places->n_statements; i++)
        if (binary->places->statements[i].parent == loop &&
            names_any(&known, binary->places->statements[i].row))
            add_fields(touches, &known, binary->places->statements[i].row);
}

/* What the statement names is followed to what callers passed, also where its code touches
 * members of that only ("carr[i]" with carr.p). */
static enum pm_status note_named(const struct touches *touches, const struct collect_code *code,
                                 uint32_t statement)
{
    const struct collect_binary *binary = code->binary;
    enum pm_status status = PM_OK;
    for (size_t i = collect_first_access(binary, statement);
         i < binary->accesses->n && binary->accesses->list[i].statement == statement &&
         status == PM_OK;
         i++) {
        const struct collect_access *access = &binary->accesses->list[i];
        uint32_t row;
        status =
            collect_map_noun(touches->c, code->binary, access->variable, "variable", NULL, &row);
        if (status == PM_OK)
            status = collect_note_named(touches->c, binary, access->variable, row,
                                        access_of(access) & (PM_MAP_READS | PM_MAP_WRITES));
    }
    return status;
}

static enum pm_status infer(struct touches *touches, const struct collect_code *code,
                            const struct pm_code_range *range)
{
    const struct pm_code_tuple *own = range->tuple;
    struct user_statement user = user_statement_of(code->binary, own);
    uint32_t statement = 0;
    enum pm_status status = collect_accesses_make(touches->c, code->binary);
    if (status == PM_OK)
        status = find_statement(touches, code, &user, &statement);
    if (status == PM_OK)
        status = note_named(touches, code, statement);
    if (status != PM_OK)
        return status;
    if (!has_data(touches) && !own->unnamed)
        status = add_code(touches, range->block, own, &user);
    if (status != PM_OK)
        return status;
    if (!has_data(touches))
        add_facts(touches, statement);
    const struct touches known = *touches;
    add_fields(touches, &known, statement);
    add_other_ways(touches, statement);
    status = add_ways_of_code(touches, range, statement);
    if (status != PM_OK)
        return status;
    /* Vectorised code of the body has the place of the loop, too (Clang 14). */
    bool is_control = is_loop_control(code->binary, own->loop, &user.place);
    bool is_of_body =
        is_control && (own->unnamed || own->n_objects != 0) && !names_any(&known, statement);
    status = add_of_others(touches, &known, code, own, is_of_body);
    if (status != PM_OK)
        return status;
    add_fields_of_neighbours(touches, statement, own->loop);
    return is_control ? add_of_loop(touches, code, range->block, own->loop) : PM_OK;
}

/* Of a call of C++'s library, or of one that gets memory without a name: what is passed, in the
 * ways in which the statement touches that. Where something else is passed, too, or the call is
 * made by code of the library that was inlined, it is whatever the statement touches. */
static enum pm_status infer_call(struct touches *touches, const struct collect_code *code,
                                 const struct pm_code_range *range)
{
    struct user_statement user = user_statement_of(code->binary, range->tuple);
    uint32_t statement = 0;
    enum pm_status status = collect_accesses_make(touches->c, code->binary);
    if (status == PM_OK)
        status = find_statement(touches, code, &user, &statement);
    if (status != PM_OK)
        return status;
    if (!has_data(touches) || range->tuple->unnamed)
        add_facts(touches, statement);
    add_other_ways(touches, statement);
    const struct touches known = *touches;
    add_fields(touches, &known, statement);
    return is_loop_control(code->binary, range->tuple->loop, &user.place)
               ? add_of_loop(touches, code, range->block, range->tuple->loop)
               : PM_OK;
}

static enum pm_status map_way(struct collector *c, struct collect_code *code, uint32_t verb,
                              uint32_t noun, const char *origin, const char *reason)
{
    struct collect_mapping mapping = {.source = code->sentence, .origin = origin, .reason = reason};
    enum pm_status status = collect_short_sentence(c, verb, noun, &mapping.destination);
    if (status == PM_OK)
        status = collect_add_mapping(c, &mapping);
    code->n_mappings += status == PM_OK;
    return status;
}

static enum pm_status map_touch(struct collector *c, struct collect_code *code, pm_id id,
                                unsigned access, const char *origin, const char *reason)
{
    uint32_t row;
    enum pm_status status = collect_map_noun(c, code->binary, id, "variable", NULL, &row);
    if (status == PM_OK)
        status =
            collect_note_touch(c, code->binary, id, row, access & (PM_MAP_READS | PM_MAP_WRITES));
    if (status == PM_OK && access & PM_MAP_READS)
        status = map_way(c, code, c->model->source_reads, row, origin, reason);
    if (status == PM_OK && access & PM_MAP_WRITES)
        status = map_way(c, code, c->model->source_writes, row, origin, reason);
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
    enum pm_status status = find_statement(touches, code, user, &statement);
    if (status != PM_OK)
        return status;
    add_facts(&named, statement);
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
    struct user_statement user = user_statement_of(code->binary, range->tuple);
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
                 : map_way(c, code, c->model->source_writes, member.holder, "possible",
                           PM_REASON_MAY_SERVE);
    return status != PM_OK ? status : collect_note_member(c, &member, function);
}

static bool touches_so(const struct touches *touches, const struct collect_access *access)
{
    for (uint32_t i = 0; i < touches->n; i++)
        if (touches->list[i].noun == access->variable &&
            touches->list[i].access & access_of(access))
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
    status = collect_note_touch(c, code->binary, access->variable, row, access_of(access));
    return status != PM_OK ? status : map_way(c, code, verb, row, "possible", PM_REASON_MAY_SERVE);
}

/* The code may be for all that the statement names. */
static enum pm_status map_named(const struct touches *touches, struct collect_code *code,
                                const struct user_statement *of)
{
    const struct collect_binary *binary = touches->binary;
    uint32_t statement = 0;
    enum pm_status status = find_statement(touches, code, of, &statement);
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
    struct user_statement served = served_statement_of(touches->binary, own);
    return map_named(touches, code, &served);
}

/* What was inlined of C++'s library ("transform(u, v, w, f)"), and of a function that it calls,
 * is for all that the statement names that calls the library. */
static enum pm_status map_by_library(const struct touches *touches, struct collect_code *code,
                                     const struct pm_code_tuple *own)
{
    struct user_statement user = user_statement_of(touches->binary, own);
    if (user.in_header)
        return map_named(touches, code, &user);
    if (!user.site)
        return PM_OK;
    struct pm_code_tuple call = {.place = user.site->call, .site = user.site->parent};
    struct user_statement outer = user_statement_of(touches->binary, &call);
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
    struct user_statement user = user_statement_of(code->binary, own);
    pm_id function = user.place.function ? user.place.function : range->block->function;
    if (!function || !is_accessor(code->binary, function))
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

/* What the statements of a function name; too many say nothing. */
static void add_facts_of_function(struct touches *touches, pm_id function)
{
    const struct collect_places *places = touches->binary->places;
    const struct collect_source_statement *all = places->statements;
    struct touches named = {.c = touches->c, .binary = touches->binary};
    size_t at =
        pm_lower_bound(all, places->n_statements, sizeof *all, &function, is_of_function_before);
    for (; at < places->n_statements && all[at].function == function; at++)
        add_facts(&named, all[at].row);
    for (uint32_t i = 0; i < named.n && n_data(&named) <= OF_LOOP_MAX; i++)
        add_touch(touches, named.list[i].noun, named.list[i].access);
}

/* "x = v[i]; s += x * x;": the second statement names no array and works for v all the same. So
 * may all code of a loop that touches nothing. */
static enum pm_status map_of_loop(struct touches *touches, struct collect_code *code,
                                  const struct pm_code_range *range)
{
    const struct pm_code_tuple *own = range->tuple;
    struct touches loop = {.c = touches->c, .binary = touches->binary};
    if (own->kind != PM_MAP_ORDINARY || !own->loop || has_data(touches))
        return PM_OK;
    enum pm_status status = add_of_loop(&loop, code, range->block, own->loop);
    if (status != PM_OK)
        return status;
    /* a view that filters has the element from an inner loop */
    status = has_data(&loop) ? PM_OK : add_of_loop(&loop, code, range->block, 0);
    if (status != PM_OK)
        return status;
    if (!has_data(&loop))
        add_facts_of_function(&loop, range->block->function);
    for (uint32_t i = 0; i < loop.n; i++)
        for (unsigned way = PM_MAP_READS; way <= PM_MAP_WRITES; way <<= 1) {
            struct collect_access access = {0, way == PM_MAP_READS, loop.list[i].noun};
            if (!(loop.list[i].access & way))
                continue;
            status = map_possible(touches->c, code, &access);
            if (status != PM_OK)
                return status;
        }
    return PM_OK;
}

enum pm_status collect_map_objects(struct collector *c, struct collect_code *code,
                                   const struct pm_code_range *range, const char *reason)
{
    const struct pm_code_tuple *own = range->tuple;
    struct touches touches = {.c = c, .binary = code->binary};
    enum pm_status status = PM_OK;
    for (uint32_t i = 0; i < own->n_objects && status == PM_OK; i++) {
        const struct pm_code_object *object = &own->objects[i];
        add_touch(&touches, object->noun, object->access);
        status = map_touch(c, code, object->noun, object->access, "compiler", reason);
    }
    for (uint32_t i = 0; i < touches.n; i++) {
        touches.list[i].sure = touches.list[i].access;
        touches.list[i].is_found = !(touches.list[i].access & (PM_MAP_READS | PM_MAP_WRITES));
    }
    bool has_place = own->place.line_no && code->binary->pif;
    if (status == PM_OK && has_place && (own->kind == PM_MAP_ORDINARY || own->kind == PM_MAP_SPILL))
        status = infer(&touches, code, range);
    else if (status == PM_OK && has_place && (passes_object(own) || passes_unknown(own)))
        status = infer_call(&touches, code, range);
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
                               access_of(&binary->accesses->list[k]), "possible", NULL);
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
        add_touch(&touches, call->objects[i].noun, call->objects[i].access);
    if (!call->place.line_no)
        return map_inferred(&touches, &called, NULL);
    enum pm_status status = infer_call(&touches, caller, caller->range);
    if (status != PM_OK)
        return status;
    status = note_members(&touches, &called, caller->range);
    if (status != PM_OK)
        return status;
    status = map_accessor(&touches, &called, caller->range);
    return status != PM_OK ? status : map_inferred(&touches, &called, NULL);
}
