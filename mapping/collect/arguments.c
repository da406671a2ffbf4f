/* What calls pass.
 *
 * The facts say that a statement reads u, and that sum's parameter refers to u somewhere: "t +=
 * sum(u)" passes u to sum, as long as there is nothing else in the statement that sum may get.
 * While the call lasts, whatever runs, u is read. If it was a parameter, too, the next step out
 * tells what that stands for.
 */
#include "arguments.h"

#include "accesses.h"
#include "binaries.h"
#include "code.h"
#include "collector.h"
#include "model.h"
#include "places.h"
#include "references.h"
#include "touched.h"

#include "format/pm_map.h"
#include "mapping/base/reasons.h"
#include "mapping/pif/pif.h"

#include <stdlib.h>
#include <xxhash.h>

/* A parameter refers to a noun, or to an id that another unit has for it. */
struct collect_argument {
    pm_id noun, parameter, function; /* function 0: parameter is such an id */
};

static bool is_before(const void *a, const void *noun)
{
    return ((const struct collect_argument *)a)->noun < *(const pm_id *)noun;
}

static int compare(const void *a, const void *b)
{
    const struct collect_argument *x = a, *y = b;
    if (x->noun != y->noun)
        return x->noun < y->noun ? -1 : 1;
    return (x->parameter > y->parameter) - (x->parameter < y->parameter);
}

static enum pm_status make(struct collector *c)
{
    struct collect_arguments *arguments = &c->references->arguments;
    struct collect_reference *facts;
    if (arguments->is_made)
        return PM_OK;
    enum pm_status status = collect_read_references(c, &facts, &arguments->n);
    if (status != PM_OK)
        return status;
    arguments->list = pm_alloc_array(arguments->n + 1, sizeof *arguments->list);
    for (size_t i = 0; arguments->list && i < arguments->n; i++)
        arguments->list[i] = (struct collect_argument){
            facts[i].to, facts[i].from,
            collect_function_of_data(facts[i].binary->pif, facts[i].from)};
    free(facts);
    if (!arguments->list)
        return collect_no_memory(c);
    qsort(arguments->list, arguments->n, sizeof *arguments->list, compare);
    arguments->is_made = true;
    return PM_OK;
}

void collect_arguments_release(struct collector *c)
{
    free(c->references->arguments.list);
    pm_map_release(&c->references->arguments.known);
}

static size_t first_of(const struct collect_arguments *all, pm_id noun)
{
    return pm_lower_bound(all->list, all->n, sizeof *all->list, &noun, is_before);
}

static bool is_of_function(const struct collect_argument *argument, pm_id function)
{
    return argument->function ? argument->function == function
                              : collect_is_parameter_of(argument->parameter, function);
}

enum { MAX_PARAMETERS = 8 };

/* The function's parameters that refer to the noun: how many, at most MAX_PARAMETERS. */
static uint32_t parameters_with(const struct collect_arguments *all, pm_id noun, pm_id function,
                                pm_id ret_parameters[MAX_PARAMETERS])
{
    uint32_t n = 0;
    for (size_t i = first_of(all, noun); i < all->n && all->list[i].noun == noun; i++)
        if (n < MAX_PARAMETERS && is_of_function(&all->list[i], function))
            ret_parameters[n++] = all->list[i].parameter;
    return n;
}

/* Is it that parameter, of which `parameter` may be another unit's id? */
static bool is_parameter(const struct collect_arguments *all, pm_id parameter, pm_id noun)
{
    bool is = parameter == noun;
    for (size_t i = first_of(all, parameter); i < all->n && all->list[i].noun == parameter && !is;
         i++)
        is = all->list[i].parameter == noun;
    return is;
}

/* --- ways --- */

void collect_way_add(struct collect_way *way, pm_id function, const struct pm_code_place *place,
                     const struct collect_code *code)
{
    if (way->n < COLLECT_MAX_WAY)
        way->steps[way->n++] = (struct collect_step){function, *place, code};
}

void collect_way_add_inlined(struct collect_way *way, const struct collect_code *code)
{
    for (const struct pm_code_site *site = code->range ? code->range->tuple->site : NULL; site;
         site = site->parent)
        collect_way_add(way, site->function, &site->call, code);
}

/* --- what data stands for --- */

enum { MOST_RESOLVED = 256 };

struct resolving {
    struct collector *c;
    const struct collect_way *way;
    struct touches sure, possible;
    uint32_t n_used; /* steps that told something */
    /* what was resolved: wrappers that pass two arrays on have two ways to each at each step */
    struct resolved {
        pm_id noun;
        uint32_t from, access;
        bool is_sure;
    } done[MOST_RESOLVED];
    uint32_t n_done;
};

/* What the statement of a step names. */
static enum pm_status facts_of(const struct collect_step *step, struct touches *facts)
{
    uint32_t statement = 0;
    if (!step->place.line_no || !step->code || !step->code->binary->pif)
        return PM_OK;
    facts->binary = step->code->binary;
    struct user_statement user = {.place = step->place};
    enum pm_status status = collect_accesses_make(facts->c, step->code->binary);
    if (status != PM_OK)
        return status;
    status = collect_find_statement(facts, step->code, &user, &statement);
    if (status != PM_OK)
        return status;
    collect_add_facts(facts, statement);
    return PM_OK;
}

static void add_touch(struct resolving *r, const struct collect_binary *binary, pm_id noun,
                      unsigned access, bool is_sure)
{
    struct touches *touches = is_sure ? &r->sure : &r->possible;
    touches->binary = binary;
    collect_add_touch(touches, noun, access);
}

/* The step by which the noun's function was called; way->n: it is no parameter, or that is not
 * known. */
static uint32_t step_of(const struct collect_way *way, const struct collect_binary *binary,
                        pm_id noun, uint32_t from)
{
    pm_id function = binary->pif ? collect_function_of_data(binary->pif, noun) : 0;
    for (uint32_t i = from; function && i < way->n && way->steps[i].function; i++)
        if (way->steps[i].function == function)
            return i;
    return way->n;
}

/* False: it was resolved before. *ret_is_full: there is no room to tell. */
static bool is_new(struct resolving *r, const struct resolved *what, bool *ret_is_full)
{
    *ret_is_full = r->n_done == MOST_RESOLVED;
    for (uint32_t i = 0; i < r->n_done; i++) {
        const struct resolved *done = &r->done[i];
        if (done->noun == what->noun && done->from == what->from &&
            (done->access & what->access) == what->access && done->is_sure == what->is_sure)
            return false;
    }
    if (!*ret_is_full)
        r->done[r->n_done++] = *what;
    return true;
}

/* Of the facts, what the parameter may be in a call of the function. */
static void keep_of_parameter(const struct collect_arguments *all, pm_id function, pm_id noun,
                              struct touches *facts)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < facts->n; i++) {
        pm_id parameters[MAX_PARAMETERS];
        uint32_t n_parameters = parameters_with(all, facts->list[i].noun, function, parameters);
        bool is = false;
        for (uint32_t k = 0; k < n_parameters; k++)
            is |= is_parameter(all, parameters[k], noun);
        if (is)
            facts->list[n++] = facts->list[i];
    }
    facts->n = n;
}

/* Adds what the noun stands for, where the steps from that one on are all that is known. */
static enum pm_status resolve(struct resolving *r, uint32_t from,
                              const struct collect_binary *binary, pm_id noun, unsigned access,
                              bool is_sure)
{
    struct touches facts = {.c = r->c};
    uint32_t at = step_of(r->way, binary, noun, from);
    bool is_full;
    if (!is_new(r, &(struct resolved){noun, from, access, is_sure}, &is_full))
        return PM_OK;
    enum pm_status status =
        at < r->way->n && !is_full ? facts_of(&r->way->steps[at], &facts) : PM_OK;
    if (status != PM_OK)
        return status;
    if (facts.n)
        keep_of_parameter(&r->c->references->arguments, r->way->steps[at].function, noun, &facts);
    if (facts.n == 0)
        add_touch(r, binary, noun, access, is_sure && !is_full);
    else if (r->n_used < at + 1)
        r->n_used = at + 1;
    for (uint32_t i = 0; i < facts.n; i++) {
        status =
            resolve(r, at + 1, facts.binary, facts.list[i].noun, access, is_sure && facts.n == 1);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

/* The binary whose facts have the noun; NULL: none. */
static struct collect_binary *binary_of(const struct collector *c, pm_id id,
                                        struct pm_pif_noun *ret_noun)
{
    struct collect_binary *binary = c->binaries->first;
    while (binary && !(binary->pif && pm_pif_find_noun(binary->pif, id, ret_noun)))
        binary = binary->next;
    return binary;
}

/* That of the function's own unit, of an id that another one has for it; else itself. */
static pm_id own_parameter(const struct collect_arguments *all, pm_id parameter)
{
    size_t i = first_of(all, parameter);
    bool is_known = i < all->n && all->list[i].noun == parameter && all->list[i].function;
    return is_known ? all->list[i].parameter : parameter;
}

/* What the function does by its parameter, beyond what the statement says that calls it: it may
 * write. *ret_is_sure: a statement of the function does so itself. */
static enum pm_status find_writes(struct collector *c, pm_id parameter, unsigned *ret_access,
                                  bool *ret_is_sure)
{
    struct pm_pif_noun noun;
    pm_id own = own_parameter(&c->references->arguments, parameter);
    struct collect_binary *binary = binary_of(c, own, &noun);
    enum pm_status status = binary ? collect_accesses_make(c, binary) : PM_OK;
    if (status != PM_OK)
        return status;
    *ret_is_sure = binary && pm_map_get(&binary->accesses->n_writers, own);
    bool is_constant = binary && noun.type && strncmp(noun.type, "const ", strlen("const ")) == 0;
    *ret_access = *ret_is_sure || !is_constant ? PM_MAP_WRITES : 0;
    return PM_OK;
}

/* Data that is passed: it may be any of these parameters. */
struct passed {
    struct touch fact;
    pm_id parameters[MAX_PARAMETERS];
    uint32_t n;
};

static enum pm_status resolve_passed(struct resolving *r, uint32_t at,
                                     const struct collect_binary *binary,
                                     const struct passed *passed, bool is_sure)
{
    unsigned writes = 0;
    bool all_write = passed->n != 0;
    enum pm_status status = resolve(r, at + 1, binary, passed->fact.noun, passed->fact.access,
                                    is_sure && passed->n != 0);
    if (status != PM_OK)
        return status;
    for (uint32_t i = 0; i < passed->n; i++) {
        unsigned more = 0;
        bool is_written = false;
        status = find_writes(r->c, passed->parameters[i], &more, &is_written);
        if (status != PM_OK)
            return status;
        writes |= more;
        all_write &= is_written;
    }
    writes &= ~passed->fact.access;
    return writes ? resolve(r, at + 1, binary, passed->fact.noun, writes, is_sure && all_write)
                  : PM_OK;
}

static bool is_among(const pm_id *ids, uint32_t n, pm_id id)
{
    for (uint32_t i = 0; i < n; i++)
        if (ids[i] == id)
            return true;
    return false;
}

/* Of what the statement of a step names, only what the function may get. Where that is more than
 * it has parameters for, or none is known to get any: nobody knows which. */
static enum pm_status resolve_step(struct resolving *r, uint32_t at)
{
    const struct collect_step *step = &r->way->steps[at];
    struct passed list[TOUCHES_MAX];
    pm_id used[TOUCHES_MAX];
    struct touches facts = {.c = r->c};
    uint32_t n = 0, n_used = 0;
    enum pm_status status = facts_of(step, &facts);
    if (status != PM_OK)
        return status;
    for (uint32_t i = 0; i < facts.n; i++) {
        struct passed *passed = &list[n];
        passed->fact = facts.list[i];
        passed->n = parameters_with(&r->c->references->arguments, passed->fact.noun, step->function,
                                    passed->parameters);
        n += step->function && passed->n != 0;
        for (uint32_t k = 0; k < passed->n && n_used < TOUCHES_MAX; k++)
            if (!is_among(used, n_used, passed->parameters[k]))
                used[n_used++] = passed->parameters[k];
    }
    for (uint32_t i = 0; i < facts.n && n == 0; i++) {
        status =
            resolve_passed(r, at, facts.binary, &(struct passed){.fact = facts.list[i]}, false);
        if (status != PM_OK)
            return status;
    }
    for (uint32_t i = 0; i < n; i++) {
        status = resolve_passed(r, at, facts.binary, &list[i], n <= n_used);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

/* Nouns of a sentence: those given, and the code of the steps that told what data stands for.
 * False: there are too many. */
static bool add_callers(const struct resolving *r, uint32_t first, const struct collect_code *own,
                        uint32_t *nouns, uint32_t *n)
{
    const struct collect_code *last = own;
    for (uint32_t i = first; i < r->n_used; i++) {
        const struct collect_code *code = r->way->steps[i].code;
        if (code == last || !code)
            continue;
        if (*n == PM_PIF_MAX_NOUNS)
            return false;
        nouns[(*n)++] = code->noun;
        last = code;
    }
    return true;
}

static enum pm_status map_resolved(const struct resolving *r, struct collect_code *at)
{
    enum pm_status status = collect_map_touches(&r->sure, at, "inferred", PM_REASON_PASSED);
    return status != PM_OK ? status
                           : collect_map_touches(&r->possible, at, "possible", PM_REASON_PASSED);
}

static uint64_t key_of(const struct collect_way *way, uint32_t first, uint32_t code,
                       uint32_t called)
{
    uint32_t numbers[COLLECT_MAX_WAY + 3], n = 0;
    numbers[n++] = code;
    numbers[n++] = called;
    numbers[n++] = first < way->n;
    for (uint32_t i = first; i < way->n; i++)
        numbers[n++] = way->steps[i].code ? way->steps[i].code->noun : 0;
    return XXH64(numbers, n * sizeof *numbers, 0);
}

/* --- {code called Calls} --- */

static enum pm_status map_statement(struct collector *c, const struct collect_step *step,
                                    uint32_t sentence)
{
    struct collect_mapping mapping = {.source = sentence, .origin = "compiler"};
    uint32_t row = 0;
    enum pm_status status = collect_need_source(c);
    if (status != PM_OK)
        return status;
    status = collect_map_statement(c, step->code->binary, &step->place, step->code->region, &row);
    if (status != PM_OK || !row)
        return status;
    status = collect_short_sentence(c, c->model->source_executes, row, &mapping.destination);
    return status != PM_OK ? status : collect_add_mapping(c, &mapping);
}

static enum pm_status make_calls_sentence(struct collector *c, struct resolving *r, uint32_t first,
                                          uint32_t called, uint32_t *ret_sentence)
{
    const struct collect_way *way = r->way;
    struct collect_code at = *way->steps[first].code;
    uint32_t nouns[PM_PIF_MAX_NOUNS] = {at.noun, called}, n = 2;
    if (!add_callers(r, first, way->steps[first].code, nouns, &n))
        r->sure.n = r->possible.n = 0;
    enum pm_status status = collect_long_sentence(c, c->model->calls, nouns, n, ret_sentence);
    if (status != PM_OK || pm_map_get(&c->codes->calls, *ret_sentence))
        return status;
    if (!pm_map_put(&c->codes->calls, *ret_sentence, 2))
        return collect_no_memory(c);
    status = map_statement(c, &way->steps[first], *ret_sentence);
    if (status != PM_OK)
        return status;
    at.sentence = *ret_sentence;
    return map_resolved(r, &at);
}

static enum pm_status know(struct collector *c, uint64_t key, uint32_t sentence)
{
    return pm_map_put(&c->references->arguments.known, key, sentence) ? PM_OK
                                                                      : collect_no_memory(c);
}

enum pm_status collect_calls_sentence(struct collector *c, const struct collect_way *way,
                                      uint32_t step, uint32_t called, uint32_t *ret_sentence)
{
    struct resolving r = {.c = c, .way = way, .sure = {.c = c}, .possible = {.c = c}};
    uint64_t key = key_of(way, step, way->steps[step].code->noun, called);
    *ret_sentence = pm_map_get(&c->references->arguments.known, key);
    if (*ret_sentence)
        return PM_OK;
    enum pm_status status = collect_need_calls_verb(c);
    if (status != PM_OK)
        return status;
    status = make(c);
    if (status != PM_OK)
        return status;
    status = resolve_step(&r, step);
    if (status != PM_OK)
        return status;
    status = make_calls_sentence(c, &r, step, called, ret_sentence);
    return status != PM_OK ? status : know(c, key, *ret_sentence);
}

/* --- {code CALLER ... Executes} --- */

/* {noun Reads}, {noun Writes} that the code maps to. */
static unsigned ways_of(const struct collect_code *code, const struct collector *c, uint32_t row,
                        uint32_t ret_sentences[2])
{
    const uint32_t verbs[] = {c->model->source_reads, c->model->source_writes};
    unsigned ways = 0;
    for (unsigned k = 0; k < 2; k++) {
        ret_sentences[k] =
            row ? pm_map_get(&c->model->sentences, (uint64_t)verbs[k] << 32 | row) : 0;
        for (size_t i = 0; i < code->n_mappings && ret_sentences[k]; i++)
            if (c->model->mappings[code->first_mapping + i].destination == ret_sentences[k])
                ways |= k ? PM_MAP_WRITES : PM_MAP_READS;
    }
    return ways;
}

static enum pm_status leave_out(struct collector *c, const uint32_t sentences[2],
                                struct pm_map *left_out)
{
    for (unsigned k = 0; k < 2; k++)
        if (sentences[k] && !pm_map_put(left_out, sentences[k], 1))
            return collect_no_memory(c);
    return PM_OK;
}

/* Of all that the code may touch, what callers tell of: their sentences are left out. */
static enum pm_status resolve_code(struct resolving *r, const struct collect_code *code,
                                   const struct touches *named, struct pm_map *left_out)
{
    for (uint32_t i = 0; i < named->n; i++) {
        pm_id noun = named->list[i].noun;
        uint32_t sentences[2], n_used = r->n_used, n_sure = r->sure.n, n_possible = r->possible.n;
        unsigned ways = ways_of(code, r->c, pm_map_get(&code->binary->nouns, noun), sentences);
        if (!ways)
            continue;
        r->n_used = 0;
        enum pm_status status = resolve(r, 0, code->binary, noun, ways, true);
        if (status != PM_OK)
            return status;
        bool is_itself = r->n_used == 0;
        r->sure.n = is_itself ? n_sure : r->sure.n;
        r->possible.n = is_itself ? n_possible : r->possible.n;
        status = is_itself ? PM_OK : leave_out(r->c, sentences, left_out);
        if (status != PM_OK)
            return status;
        r->n_used = r->n_used > n_used ? r->n_used : n_used;
    }
    return PM_OK;
}

static enum pm_status make_resolved(struct collector *c, struct resolving *r,
                                    const struct collect_code *code, const struct pm_map *left_out,
                                    uint32_t *ret_sentence)
{
    uint32_t nouns[PM_PIF_MAX_NOUNS] = {code->noun}, n = 1;
    struct collect_code at = *code;
    if ((r->sure.n == 0 && r->possible.n == 0) || !add_callers(r, 0, code, nouns, &n))
        return PM_OK;
    enum pm_status status = PM_OK;
    if (n > 1)
        status = collect_long_sentence(c, c->model->executes, nouns, n, ret_sentence);
    if (status != PM_OK || pm_map_get(&c->codes->calls, *ret_sentence))
        return status;
    if (!pm_map_put(&c->codes->calls, *ret_sentence, 2))
        return collect_no_memory(c);
    for (size_t i = 0; i < code->n_mappings && n > 1; i++) {
        struct collect_mapping mapping = c->model->mappings[code->first_mapping + i];
        mapping.source = *ret_sentence;
        if (pm_map_get(left_out, mapping.destination))
            continue;
        status = collect_add_mapping(c, &mapping);
        if (status != PM_OK)
            return status;
    }
    at.sentence = *ret_sentence;
    return map_resolved(r, &at);
}

/* A call of a library of which the map says nothing ("write(fd, u, n)"): data that its statement
 * names is passed, for sure where that is only one. */
static enum pm_status resolve_passed_on(struct resolving *r, const struct collect_code *code,
                                        const struct touches *named)
{
    uint32_t n_data = 0, sentences[2];
    for (uint32_t i = 0; i < named->n; i++) {
        if (ways_of(code, r->c, pm_map_get(&code->binary->nouns, named->list[i].noun), sentences))
            return PM_OK; /* the map does say something */
        n_data += named->list[i].is_data;
    }
    for (uint32_t i = 0; i < named->n; i++) {
        if (!named->list[i].is_data)
            continue;
        enum pm_status status =
            resolve(r, 0, code->binary, named->list[i].noun, named->list[i].access, n_data == 1);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

/* left_out: to be released by the caller. */
static enum pm_status find_resolved(struct resolving *r, const struct collect_code *code,
                                    struct pm_map *left_out, uint32_t *ret_sentence)
{
    const struct pm_code_tuple *tuple = code->range->tuple;
    struct touches named = {.c = r->c, .binary = code->binary};
    struct collect_step own = {.place = collect_user_statement(code->binary, tuple).place,
                               .code = code};
    enum pm_status status = make(r->c);
    if (status != PM_OK)
        return status;
    status = facts_of(&own, &named);
    if (status != PM_OK)
        return status;
    if (tuple->kind == PM_MAP_CALL && tuple->n_objects == 0) {
        status = resolve_passed_on(r, code, &named);
        if (status != PM_OK)
            return status;
    }
    for (uint32_t i = 0; i < tuple->n_objects; i++)
        collect_add_touch(&named, tuple->objects[i].noun, tuple->objects[i].access);
    status = resolve_code(r, code, &named, left_out);
    return status != PM_OK ? status : make_resolved(r->c, r, code, left_out, ret_sentence);
}

enum pm_status collect_resolved_sentence(struct collector *c, const struct collect_way *way,
                                         const struct collect_code *code, uint32_t *ret_sentence)
{
    struct resolving r = {.c = c, .way = way, .sure = {.c = c}, .possible = {.c = c}};
    struct pm_map left_out = {0};
    uint64_t key = key_of(way, 0, code->noun, 0);
    uint32_t known = pm_map_get(&c->references->arguments.known, key);
    *ret_sentence = known ? known : code->sentence;
    if (known || !code->range || !code->binary->pif)
        return PM_OK;
    enum pm_status status = find_resolved(&r, code, &left_out, ret_sentence);
    pm_map_release(&left_out);
    return status != PM_OK ? status : know(c, key, *ret_sentence);
}
