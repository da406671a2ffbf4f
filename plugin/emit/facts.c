/* PIF records out of what a back end reads in its compiler's trees. */
#include "facts.h"

#include "library.h"

#include <stdlib.h>

const char pm_level_source[] = "Source", pm_level_base[] = "Base";

static const struct {
    const char *level, *name, *description;
} verbs[PM_N_VERBS] = {
    {pm_level_source, "Executes", "units are seconds"},
    {pm_level_source, "Reads", "units are operations"},
    {pm_level_source, "Writes", "units are operations"},
    {pm_level_source, "Calls", "units are calls"},
    {pm_level_source, "Refers", "what is done with the first is done with the second"},
    {pm_level_base, "Executes", "units are seconds"},
};

struct pm_facts *pm_facts_new(const char *producer)
{
    struct pm_facts *facts = pm_alloc(sizeof *facts);
    struct pm_pif *pif = facts ? pm_pif_new() : NULL;
    if (!pif) {
        free(facts);
        return NULL;
    }
    *facts = (struct pm_facts){.pif = pif, .name = PM_BUF_INIT((size_t)1 << 30)};
    pm_pif_set_producer(pif, producer);
    pm_pif_level(pif, pm_level_base, NULL);
    pm_pif_level(pif, pm_level_source, pm_level_base);
    for (int verb = 0; verb < PM_N_VERBS; verb++)
        pm_pif_verb(pif, &(struct pm_pif_verb){.name = verbs[verb].name,
                                               .level = verbs[verb].level,
                                               .description = verbs[verb].description});
    return facts;
}

void pm_facts_free(struct pm_facts *facts)
{
    if (!facts)
        return;
    pm_pif_free(facts->pif);
    pm_buf_release(&facts->name);
    pm_buf_release(&facts->within);
    free(facts);
}

bool pm_facts_failed(const struct pm_facts *facts)
{
    return facts->failed || facts->name.failed || pm_pif_failed(facts->pif);
}

pm_id pm_verb_id(enum pm_fact_verb verb)
{
    static pm_id ids[PM_N_VERBS];
    if (ids[verb] == 0)
        ids[verb] = pm_pif_verb_id(verbs[verb].level, verbs[verb].name);
    return ids[verb];
}

void pm_fact_mapping(struct pm_facts *facts, pm_id source, enum pm_fact_verb source_verb,
                     pm_id destination, enum pm_fact_verb destination_verb)
{
    /* No origin, that is, the compiler: 2 MB less in SQLite's .pif than with the word. */
    struct pm_pif_mapping mapping = {
        .source = {.verb = pm_verb_id(source_verb), .n_nouns = 1, .nouns = {source}},
        .destination = {
            .verb = pm_verb_id(destination_verb), .n_nouns = 1, .nouns = {destination}}};
    pm_pif_mapping(facts->pif, &mapping);
}

/* --- names: without printf, for each statement has one --- */

static struct pm_buf *begin_name(struct pm_facts *facts)
{
    facts->failed |= facts->name.failed;
    pm_buf_clear(&facts->name);
    return &facts->name;
}

static const char *made_name(const struct pm_facts *facts)
{
    return facts->name.data ? facts->name.data : ""; /* memory ended */
}

/* "heat.c:42", with ":5" where the column is asked for. */
static void begin_place_name(struct pm_facts *facts, const struct pm_place *place, bool has_column)
{
    struct pm_buf *name = begin_name(facts);
    pm_buf_add_str(name, place->shown);
    pm_buf_add_byte(name, ':');
    pm_buf_add_u64(name, place->line);
    if (!has_column)
        return;
    pm_buf_add_byte(name, ':');
    pm_buf_add_u64(name, place->column);
}

/* --- level Source: code --- */

pm_id pm_fact_file(struct pm_facts *facts, const char *file, const char *shown)
{
    if (file == facts->last_file)
        return facts->last_file_id;
    struct pm_pif_noun noun = {.id = pm_id_of_file(file),
                               .name = shown,
                               .level = pm_level_source,
                               .kind = "file",
                               .file = shown};
    pm_pif_noun(facts->pif, &noun);
    pm_pif_noun_attribute(facts->pif, noun.id, "path", file);
    facts->last_file = file;
    facts->last_file_id = noun.id;
    return noun.id;
}

pm_id pm_fact_function(struct pm_facts *facts, const struct pm_source_function *function)
{
    bool has_linkage = !function->abstract && strcmp(function->linkage, function->name) != 0;
    struct pm_pif_noun noun = {.id = function->id,
                               .name = function->name,
                               .level = pm_level_source,
                               .kind = "function",
                               .linkage = has_linkage ? function->linkage : NULL,
                               .file = function->place.shown,
                               .line = function->place.line,
                               .column = function->place.column,
                               .end_line = function->end_line};
    noun.parent = pm_fact_file(facts, function->place.file, function->place.shown);
    pm_pif_noun(facts->pif, &noun);
    if (function->local)
        pm_pif_noun_attribute(facts->pif, noun.id, "local", "yes");
    return noun.id;
}

pm_id pm_fact_loop(struct pm_facts *facts, const struct pm_source_function *function, int index)
{
    const struct pm_source_loop *loop = &function->loops[index];
    struct pm_pif_noun noun = {.id = loop->id,
                               .level = pm_level_source,
                               .kind = "loop",
                               .file = loop->shown,
                               .line = loop->place.line,
                               .column = loop->place.column,
                               .end_line = loop->last.line};
    if (loop->parent >= 0)
        noun.parent = pm_fact_loop(facts, function, loop->parent);
    else
        noun.parent = pm_fact_function(facts, function);
    pm_source_loop_name(loop, begin_name(facts));
    noun.name = made_name(facts);
    pm_pif_noun(facts->pif, &noun);
    return noun.id;
}

pm_id pm_fact_loop_of(struct pm_facts *facts, const struct pm_source_function *function, pm_id loop,
                      const struct pm_place *place, struct pm_buf *ret_name)
{
    int index = pm_source_loop_with(function, loop);
    if (index >= 0) {
        if (ret_name)
            pm_source_loop_name(&function->loops[index], ret_name);
        return pm_fact_loop(facts, function, index);
    }
    struct pm_pif_noun noun = {.id = loop,
                               .level = pm_level_source,
                               .kind = "loop",
                               .file = place->shown,
                               .line = place->line,
                               .column = place->column};
    noun.parent = pm_fact_function(facts, function);
    begin_place_name(facts, place, false);
    noun.name = made_name(facts);
    pm_pif_noun(facts->pif, &noun);
    if (ret_name)
        pm_buf_add_str(ret_name, noun.name);
    return noun.id;
}

pm_id pm_fact_statement(struct pm_facts *facts, const struct pm_source_function *function,
                        const struct pm_place *place, unsigned end_line, pm_id parent)
{
    begin_place_name(facts, place, true);
    struct pm_pif_noun noun = {
        .id = pm_id_of_statement(function->id, place->file, pm_place_point(place)),
        .name = made_name(facts),
        .level = pm_level_source,
        .kind = "statement",
        .file = place->shown,
        .line = place->line,
        .column = place->column,
        .end_line = end_line > place->line ? end_line : 0,
        .parent = parent};
    pm_pif_noun(facts->pif, &noun);
    return noun.id;
}

pm_id pm_fact_region(struct pm_facts *facts, const struct pm_source_function *function,
                     const struct pm_place *place, const char *construct, pm_id parent)
{
    begin_place_name(facts, place, false);
    pm_buf_add_str(&facts->name, " omp ");
    pm_buf_add_str(&facts->name, construct);
    struct pm_pif_noun noun = {
        .id = pm_id_of_region(function->id, place->file, pm_place_point(place), construct),
        .name = made_name(facts),
        .level = pm_level_source,
        .kind = "region",
        .file = place->shown,
        .line = place->line,
        .column = place->column,
        .parent = parent};
    pm_pif_noun(facts->pif, &noun);
    return noun.id;
}

pm_id pm_fact_called(struct pm_facts *facts, const struct pm_source_function *function,
                     const char *linkage, bool is_library)
{
    if (pm_library_is_internal(linkage))
        return 0;
    const char *group = pm_library_group(linkage);
    /* Another translation unit of the user's may define it: then the two are one function. */
    bool is_foreign = is_library || group || pm_library_is_fortran(linkage);
    struct pm_pif_noun noun = {.id = function->id,
                               .name = pm_library_name(function->name, linkage),
                               .level = pm_level_source,
                               .kind = is_foreign ? "external" : "function"};
    if (strcmp(linkage, noun.name) != 0)
        noun.linkage = linkage;
    pm_pif_noun(facts->pif, &noun);
    if (group)
        pm_pif_noun_attribute(facts->pif, noun.id, "group", group);
    return noun.id;
}

void pm_fact_call_within(struct pm_facts *facts, pm_id statement, pm_id callee)
{
    if (facts->within.max == 0)
        facts->within = (struct pm_buf)PM_BUF_INIT((size_t)1 << 30);
    pm_buf_printf(&facts->within,
                  "MAPPING\n  source = {#%016llx, Source::Executes}\n"
                  "  destination = {#%016llx, Source::Calls}\n",
                  (unsigned long long)statement, (unsigned long long)callee);
}

void pm_fact_bare(struct pm_facts *facts, pm_id noun, bool has_calls)
{
    pm_pif_noun_attribute(facts->pif, noun, "bare", "yes");
    if (has_calls)
        pm_pif_noun_attribute(facts->pif, noun, "bare calls", "yes");
}

void pm_fact_uncounted(struct pm_facts *facts, pm_id loop)
{
    pm_pif_noun_attribute(facts->pif, loop, "uncounted entries", "yes");
}

/* --- level Source: data --- */

pm_id pm_fact_data(struct pm_facts *facts, const struct pm_data *data)
{
    static const char *const kinds[] = {[PM_DATA_VARIABLE] = "variable",
                                        [PM_DATA_ARRAY] = "array",
                                        [PM_DATA_TYPE] = "type",
                                        [PM_DATA_FIELD] = "field"};
    struct pm_pif_noun noun = {.id = data->id,
                               .name = data->name,
                               .level = pm_level_source,
                               .kind = kinds[data->kind],
                               .type = data->type,
                               .linkage = data->linkage,
                               .file = data->shown,
                               .parent = data->parent,
                               .line = data->line,
                               .column = data->column};
    pm_pif_noun(facts->pif, &noun);
    return noun.id;
}

void pm_fact_left_out(struct pm_facts *facts, pm_id field)
{
    pm_pif_noun_attribute(facts->pif, field, "left out", "yes");
}

/* --- level Base: emitted code --- */

pm_id pm_fact_symbol(struct pm_facts *facts, pm_id id, const char *name)
{
    struct pm_pif_noun noun = {.id = id, .name = name, .level = pm_level_base, .kind = "symbol"};
    pm_pif_noun(facts->pif, &noun);
    return id;
}

/* A part of a symbol's code, with the name that facts->name holds. */
static pm_id add_code(struct pm_facts *facts, const char *kind, pm_id id, pm_id symbol,
                      pm_id implemented)
{
    struct pm_pif_noun noun = {
        .id = id, .name = made_name(facts), .level = pm_level_base, .kind = kind, .parent = symbol};
    pm_pif_noun(facts->pif, &noun);
    pm_fact_mapping(facts, noun.id, PM_BASE_EXECUTES, implemented, PM_SOURCE_EXECUTES);
    return noun.id;
}

static void begin_loopcode_name(struct pm_facts *facts, const char *symbol_name,
                                const char *loop_name)
{
    pm_buf_add_str(begin_name(facts), symbol_name);
    pm_buf_add_byte(&facts->name, '/');
    pm_buf_add_str(&facts->name, loop_name);
}

pm_id pm_fact_loopcode(struct pm_facts *facts, pm_id symbol, const char *symbol_name, pm_id loop,
                       const char *loop_name)
{
    begin_loopcode_name(facts, symbol_name, loop_name);
    return add_code(facts, "loopcode", pm_id_of_loopcode(symbol, loop), symbol, loop);
}

pm_id pm_fact_loop_rest(struct pm_facts *facts, pm_id symbol, const char *symbol_name, pm_id loop,
                        const char *loop_name)
{
    begin_loopcode_name(facts, symbol_name, loop_name);
    pm_buf_add_str(&facts->name, " rest"); /* pm_graph_continues_call knows it by its name */
    return add_code(facts, "loopcode", pm_id_of_loop_rest(symbol, loop), symbol, loop);
}

void pm_fact_folded_loop(struct pm_facts *facts, pm_id loopcode,
                         const struct pm_source_function *function, pm_id loop,
                         const struct pm_source_function *folded)
{
    int index = pm_source_loop_with(function, loop);
    if (index >= 0 && folded->n_loops == function->n_loops)
        pm_fact_mapping(facts, loopcode, PM_BASE_EXECUTES, pm_fact_loop(facts, folded, index),
                        PM_SOURCE_EXECUTES);
}

/* The loop or function around a place. */
static pm_id fact_around(struct pm_facts *facts, const struct pm_source_function *function,
                         const struct pm_place *place)
{
    int loop = pm_source_loop_at(function, place->file, pm_place_point(place));
    return loop >= 0 ? pm_fact_loop(facts, function, loop) : pm_fact_function(facts, function);
}

pm_id pm_fact_callcode(struct pm_facts *facts, pm_id symbol, const char *symbol_name,
                       const struct pm_source_function *function, const struct pm_place *place)
{
    pm_id around = fact_around(facts, function, place);
    pm_id statement = pm_fact_statement(facts, function, place, 0, around);
    pm_fact_symbol(facts, symbol, symbol_name);
    pm_buf_add_str(begin_name(facts), symbol_name);
    pm_buf_add_str(&facts->name, "/call ");
    pm_buf_add_str(&facts->name, place->shown);
    pm_buf_add_byte(&facts->name, ':');
    pm_buf_add_u64(&facts->name, place->line);
    pm_id code =
        add_code(facts, "callcode", pm_id_of_loopcode(symbol, statement), symbol, statement);
    pm_fact_mapping(facts, code, PM_BASE_EXECUTES, around, PM_SOURCE_EXECUTES);
    return code;
}
