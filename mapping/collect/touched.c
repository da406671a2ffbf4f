/* What a piece of code touches, of arrays and fields: what its instructions touch, as the late map
 * says, and what follows from the statement that they belong to (touches.c maps it).
 *
 * "s += a[i].x" is several instructions. One loads a[i].x; by then the optimisers know it as so
 * many bytes behind a, so the field is the one that the facts name for the statement. Others
 * compute the address, add, or (without optimisation) load i and a: they are there for a[i].x,
 * too. "y[i] += 1" both reads and writes y, whether that is one instruction or three. And what
 * counts a loop that walks over y is for y. All of that has the origin "inferred".
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
#include "mapping/base/map.h"
#include "mapping/base/names.h"
#include "mapping/base/reasons.h"
#include "mapping/code/code_map.h"
#include "mapping/pif/pif.h"

#include <ctype.h>
#include <stdlib.h>

/* --- the statement of the user's that code belongs to --- */

/* With what tells whether other code is of it, too. */
struct whole_statement {
    struct user_statement user;
    const struct collect_source_statement *around; /* NULL: all of its code has its place */
};

struct user_statement collect_user_statement(const struct collect_binary *binary,
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
    struct user_statement user = collect_user_statement(binary, tuple);
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
bool collect_is_accessor(const struct collect_binary *binary, pm_id function)
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
struct user_statement collect_served_statement(const struct collect_binary *binary,
                                               const struct pm_code_tuple *tuple)
{
    struct user_statement user = collect_user_statement(binary, tuple);
    while (user.site && collect_is_accessor(binary, user.place.function)) {
        struct pm_code_tuple call = {.place = user.site->call, .site = user.site->parent};
        user = collect_user_statement(binary, &call);
    }
    return user;
}

/* --- what is touched --- */

enum { OF_LOOP_MAX = 8 };

static bool is_data(const struct pm_pif_noun *noun)
{
    if (!noun->kind || strcmp(noun->kind, "variable") != 0)
        return true;
    const char *type = noun->type ? noun->type : "";
    return pm_cxx_type_has(type, "*[&") || strstr(type, "allocatable");
}

void collect_add_touch(struct touches *touches, pm_id id, unsigned access)
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

bool collect_has_data(const struct touches *touches)
{
    return n_data(touches) != 0;
}

unsigned collect_access_ways(const struct collect_access *access)
{
    return access->is_read ? PM_MAP_READS : PM_MAP_WRITES;
}

/* The statement's objects by the facts: arrays and fields. */
void collect_add_facts(struct touches *touches, uint32_t statement)
{
    const struct collect_binary *binary = touches->binary;
    for (size_t i = collect_first_access(binary, statement);
         i < binary->accesses->n && binary->accesses->list[i].statement == statement; i++) {
        struct pm_pif_noun noun;
        if (pm_pif_find_noun(binary->pif, binary->accesses->list[i].variable, &noun) &&
            is_data(&noun))
            collect_add_touch(touches, noun.id, collect_access_ways(&binary->accesses->list[i]));
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
        struct user_statement other = collect_user_statement(touches->binary, tuple);
        if (is_of_statement(touches->binary, &statement, &other))
            for (uint32_t k = 0; k < tuple->n_objects; k++)
                collect_add_touch(touches, tuple->objects[k].noun, tuple->objects[k].access);
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

/* Does the code touch a field of the records that the field holds? "x" of "one.points[i].x". */
static bool is_around(const struct touches *known, const struct pm_pif_noun *field, unsigned ways)
{
    struct pm_pif_noun inner, type;
    for (uint32_t k = 0; k < known->n && field->type; k++) {
        const struct touch *touch = &known->list[k];
        if (touch->is_field && touch->access & ways && touch->noun != field->id &&
            pm_pif_find_noun(known->binary->pif, touch->noun, &inner) && inner.parent &&
            pm_pif_find_noun(known->binary->pif, inner.parent, &type) && type.name &&
            has_word(field->type, type.name))
            return true;
    }
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
            strcmp(noun.kind, "field") != 0)
            continue;
        if (is_around(known, &noun, collect_access_ways(access)))
            collect_add_touch(touches, noun.id, collect_access_ways(access));
        if (has_field(known, collect_access_ways(access)))
            continue;
        for (uint32_t k = 0; k < known->n; k++) {
            const struct touch *touch = &known->list[k];
            bool is_pointer = !(touch->access & PM_MAP_THROUGH) &&
                              pm_pif_find_noun(binary->pif, touch->noun, &of) && of.type &&
                              strchr(of.type, '*');
            if (touch->is_data && !touch->is_field &&
                (is_pointer || touch->access & collect_access_ways(access)) &&
                collect_may_hold(binary, touch->noun, noun.id))
                collect_add_touch(touches, noun.id, collect_access_ways(access));
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
                collect_add_touch(touches, touches->list[k].noun,
                                  collect_access_ways(&binary->accesses->list[i]));
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
    struct user_statement user = collect_served_statement(touches->binary, own);
    struct whole_statement served;
    enum pm_status status = make_whole(touches->c, touches->binary, &user, &served);
    if (status != PM_OK)
        return status;
    for (uint32_t i = 0; i < block->n_tuples; i++) {
        const struct pm_code_tuple *tuple = &block->tuples[i];
        if (tuple->loop != own->loop || tuple->n_objects == 0)
            continue;
        struct user_statement other = collect_served_statement(touches->binary, tuple);
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

enum pm_status collect_find_statement(const struct touches *touches,
                                      const struct collect_code *code,
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
            collect_add_facts(all, binary->places->statements[i].row);
}

/* What one piece of code touches, with the fields that its statement names. Where nothing else is
 * known of the memory that it touches, all that the statement names, as in collect_infer(). */
static enum pm_status add_of_tuple(struct touches *all, const struct collect_code *code,
                                   const struct pm_code_tuple *tuple)
{
    struct touches own = {.c = all->c, .binary = all->binary};
    struct user_statement user = collect_user_statement(code->binary, tuple);
    uint32_t statement;
    for (uint32_t i = 0; i < tuple->n_objects; i++)
        collect_add_touch(&own, tuple->objects[i].noun, tuple->objects[i].access);
    enum pm_status status = collect_find_statement(all, code, &user, &statement);
    if (status != PM_OK)
        return status;
    if (tuple->n_objects == 0)
        collect_add_facts(&own, statement);
    const struct touches known = own;
    add_fields(&own, &known, statement);
    add_other_ways(&own, statement);
    for (uint32_t i = 0; i < own.n; i++)
        collect_add_touch(all, own.list[i].noun, own.list[i].access);
    return PM_OK;
}

/* What the code of a loop touches, of arrays and fields; too many say nothing. 0: of all loops. */
enum pm_status collect_add_of_loop(struct touches *touches, const struct collect_code *code,
                                   const struct pm_code_block *block, pm_id loop)
{
    struct touches all = {.c = touches->c, .binary = touches->binary};
    enum pm_status status = PM_OK;
    for (uint32_t i = 0; i < block->n_tuples && status == PM_OK && n_data(&all) <= OF_LOOP_MAX; i++)
        if ((loop ? block->tuples[i].loop == loop : block->tuples[i].loop != 0) &&
            (block->tuples[i].n_objects || block->tuples[i].unnamed))
            status = add_of_tuple(&all, code, &block->tuples[i]);
    if (loop && !collect_has_data(&all))
        add_facts_of_loop(&all, code->binary, loop);
    for (uint32_t i = 0; i < all.n && n_data(&all) <= OF_LOOP_MAX; i++)
        if (all.list[i].is_data)
            collect_add_touch(touches, all.list[i].noun, all.list[i].access);
    return status;
}

static bool is_part_of(const struct collect_binary *binary, pm_id field, pm_id object)
{
    struct pm_pif_noun of, noun, type;
    if (!pm_pif_find_noun(binary->pif, object, &of) || !of.type)
        return false;
    if (!pm_pif_find_noun(binary->pif, field, &noun) || !noun.parent)
        return false;
    return pm_pif_find_noun(binary->pif, noun.parent, &type) && type.name &&
           has_word(of.type, type.name);
}

/* The lone objects that a statement names, if it is done to them and to a field of theirs. */
static void add_holders(struct touches *holders, const struct touches *touches, uint32_t statement)
{
    const struct collect_binary *binary = touches->binary;
    for (size_t i = collect_first_access(binary, statement);
         i < binary->accesses->n && binary->accesses->list[i].statement == statement; i++) {
        const struct collect_access *access = &binary->accesses->list[i];
        for (uint32_t k = 0; k < touches->n; k++)
            if (touches->list[k].is_field &&
                touches->list[k].access & collect_access_ways(access) &&
                is_part_of(binary, touches->list[k].noun, access->variable))
                collect_add_touch(holders, access->variable, collect_access_ways(access));
    }
}

void collect_add_holders(struct touches *holders, const struct touches *touches,
                         const struct pm_code_range *range)
{
    const struct collect_binary *binary = touches->binary;
    const struct collect_source_statement *all = binary->places->statements;
    struct user_statement user = collect_user_statement(binary, range->tuple);
    pm_id loop = range->tuple->loop, function;
    struct pm_pif_noun noun;
    if (!is_loop_control(binary, loop, &user.place) || !pm_pif_find_noun(binary->pif, loop, &noun))
        return;
    function = collect_function_around(binary->pif, &noun);
    for (size_t i = pm_lower_bound(all, binary->places->n_statements, sizeof *all, &function,
                                   is_of_function_before);
         i < binary->places->n_statements && all[i].function == function; i++)
        if (all[i].parent == loop)
            add_holders(holders, touches, all[i].row);
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
            collect_add_facts(touches, statement);
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
    if (!loop || !collect_has_data(touches) || has_field(touches, PM_MAP_READS | PM_MAP_WRITES) ||
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
            status =
                collect_note_named(touches->c, binary, access->variable, row,
                                   collect_access_ways(access) & (PM_MAP_READS | PM_MAP_WRITES));
    }
    return status;
}

enum pm_status collect_infer(struct touches *touches, const struct collect_code *code,
                             const struct pm_code_range *range)
{
    const struct pm_code_tuple *own = range->tuple;
    struct user_statement user = collect_user_statement(code->binary, own);
    uint32_t statement = 0;
    enum pm_status status = collect_accesses_make(touches->c, code->binary);
    if (status == PM_OK)
        status = collect_find_statement(touches, code, &user, &statement);
    if (status == PM_OK)
        status = note_named(touches, code, statement);
    if (status != PM_OK)
        return status;
    if (!collect_has_data(touches) && !own->unnamed)
        status = add_code(touches, range->block, own, &user);
    if (status != PM_OK)
        return status;
    if (!collect_has_data(touches))
        collect_add_facts(touches, statement);
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
    return is_control ? collect_add_of_loop(touches, code, range->block, own->loop) : PM_OK;
}

/* Of a call of C++'s library, or of one that gets memory without a name: what is passed, in the
 * ways in which the statement touches that. Where something else is passed, too, or the call is
 * made by code of the library that was inlined, it is whatever the statement touches. */
enum pm_status collect_infer_call(struct touches *touches, const struct collect_code *code,
                                  const struct pm_code_range *range)
{
    struct user_statement user = collect_user_statement(code->binary, range->tuple);
    uint32_t statement = 0;
    enum pm_status status = collect_accesses_make(touches->c, code->binary);
    if (status == PM_OK)
        status = collect_find_statement(touches, code, &user, &statement);
    if (status != PM_OK)
        return status;
    if (!collect_has_data(touches) || range->tuple->unnamed)
        collect_add_facts(touches, statement);
    add_other_ways(touches, statement);
    const struct touches known = *touches;
    add_fields(touches, &known, statement);
    return is_loop_control(code->binary, range->tuple->loop, &user.place)
               ? collect_add_of_loop(touches, code, range->block, range->tuple->loop)
               : PM_OK;
}

/* A number, or another value that is passed itself. Strings, pointers and records within it are
 * passed by their address, or say where. */
static bool is_single_value(const struct collect_binary *binary, const struct pm_pif_noun *field)
{
    if (!field->type || strpbrk(field->type, "*[<(&"))
        return false;
    for (size_t i = 0; i < pm_pif_n_nouns(binary->pif); i++) {
        struct pm_pif_noun noun;
        pm_pif_get_noun(binary->pif, i, &noun);
        if (noun.kind && !strcmp(noun.kind, "type") && noun.name &&
            has_word(field->type, noun.name))
            return false;
    }
    return true;
}

static bool statement_reads(const struct collect_binary *binary, uint32_t statement, pm_id variable)
{
    for (size_t i = collect_first_access(binary, statement);
         i < binary->accesses->n && binary->accesses->list[i].statement == statement; i++)
        if (binary->accesses->list[i].variable == variable &&
            collect_access_ways(&binary->accesses->list[i]) & PM_MAP_READS)
            return true;
    return false;
}

/* Does the statement read all fields of the record that the field is of? */
static bool reads_whole(const struct collect_binary *binary, uint32_t statement,
                        const struct pm_pif_noun *field)
{
    for (size_t i = 0; i < pm_pif_n_nouns(binary->pif); i++) {
        struct pm_pif_noun noun;
        pm_pif_get_noun(binary->pif, i, &noun);
        if (noun.kind && !strcmp(noun.kind, "field") && noun.parent == field->parent &&
            !statement_reads(binary, statement, noun.id))
            return false;
    }
    return true;
}

/* memcpy(to, p->name, p->length) reads the length before the call, not in it. */
static bool is_argument(const struct collect_binary *binary, uint32_t statement, pm_id field)
{
    struct pm_pif_noun noun;
    return pm_pif_find_noun(binary->pif, field, &noun) && is_single_value(binary, &noun) &&
           !reads_whole(binary, statement, &noun);
}

/* Of a call of a memory function: the fields of an object that it copies or clears as a whole, and
 * those that it is passed the address of. */
enum pm_status collect_infer_fields(struct touches *touches, const struct collect_code *code,
                                    const struct pm_code_range *range)
{
    struct user_statement user = collect_user_statement(code->binary, range->tuple);
    uint32_t statement = 0;
    enum pm_status status = collect_accesses_make(touches->c, code->binary);
    if (status != PM_OK)
        return status;
    status = collect_find_statement(touches, code, &user, &statement);
    if (status != PM_OK)
        return status;
    const struct touches known = *touches;
    struct touches named = *touches;
    add_fields(&named, &known, statement);
    for (uint32_t i = known.n; i < named.n; i++) {
        const struct touch *touch = &named.list[i];
        unsigned ways = touch->access;
        if (ways & PM_MAP_READS && is_argument(code->binary, statement, touch->noun))
            ways &= ~(unsigned)PM_MAP_READS;
        if (ways)
            collect_add_touch(touches, touch->noun, ways);
    }
    return PM_OK;
}

/* What the statements of a function name; too many say nothing. */
void collect_add_facts_of_function(struct touches *touches, pm_id function)
{
    const struct collect_places *places = touches->binary->places;
    const struct collect_source_statement *all = places->statements;
    struct touches named = {.c = touches->c, .binary = touches->binary};
    size_t at =
        pm_lower_bound(all, places->n_statements, sizeof *all, &function, is_of_function_before);
    for (; at < places->n_statements && all[at].function == function; at++)
        collect_add_facts(&named, all[at].row);
    for (uint32_t i = 0; i < named.n && n_data(&named) <= OF_LOOP_MAX; i++)
        collect_add_touch(touches, named.list[i].noun, named.list[i].access);
}
