/* Early facts: what the source is made of, read from GIMPLE before it is lowered, in every language
 * alike. */

#include "facts.h"

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

pm_id pm_verb_id(enum pm_verb verb)
{
    static pm_id ids[PM_N_VERBS];
    if (ids[verb] == 0)
        ids[verb] = pm_pif_verb_id(verbs[verb].level, verbs[verb].name);
    return ids[verb];
}

static struct pm_pif *new_facts(void)
{
    struct pm_pif *pif = pm_pif_new();
    if (pif == NULL)
        fatal_error(UNKNOWN_LOCATION, "perfmap: no memory for the facts");
    char producer[64];
    snprintf(producer, sizeof producer, "perfmap-gcc%d %s", GCCPLUGIN_VERSION_MAJOR,
             PERFMAP_VERSION);
    pm_pif_set_producer(pif, producer);
    pm_pif_level(pif, pm_level_base, NULL);
    pm_pif_level(pif, pm_level_source, pm_level_base);
    for (int verb = 0; verb < PM_N_VERBS; verb++) {
        struct pm_pif_verb record = {};
        record.name = verbs[verb].name;
        record.level = verbs[verb].level;
        record.description = verbs[verb].description;
        pm_pif_verb(pif, &record);
    }
    return pif;
}

struct pm_pif *pm_facts_early(void)
{
    static struct pm_pif *pif;
    if (pif == NULL)
        pif = new_facts();
    return pif;
}

struct pm_pif *pm_facts_late(void)
{
    static struct pm_pif *pif;
    if (!flag_generate_lto || in_lto_p)
        return pm_facts_early();
    if (pif == NULL)
        pif = new_facts();
    return pif;
}

void pm_fact_mapping(struct pm_pif *pif, pm_id source, enum pm_verb source_verb, pm_id destination,
                     enum pm_verb destination_verb)
{
    struct pm_pif_mapping mapping = {};
    mapping.source.verb = pm_verb_id(source_verb);
    mapping.source.n_nouns = 1;
    mapping.source.nouns[0] = source;
    mapping.destination.verb = pm_verb_id(destination_verb);
    mapping.destination.n_nouns = 1;
    mapping.destination.nouns[0] = destination;
    mapping.origin = NULL; /* the compiler: 2 MB less in SQLite's .pif than with the word */
    pm_pif_mapping(pif, &mapping);
}

static pm_id file_id(const char *file)
{
    struct pm_id_hash hash;
    pm_id_hash_init(&hash, "file");
    pm_id_hash_string(&hash, file);
    return pm_id_hash_done(&hash);
}

pm_id pm_fact_file(struct pm_pif *pif, const char *file, const char *shown)
{
    static const char *last_file; /* names are shared, see pm_place_of */
    static struct pm_pif *last_pif;
    static pm_id last_id;
    if (file == last_file && pif == last_pif)
        return last_id;
    struct pm_pif_noun noun = {};
    noun.id = file_id(file);
    noun.name = shown;
    noun.level = pm_level_source;
    noun.kind = "file";
    noun.file = shown;
    pm_pif_noun(pif, &noun);
    pm_pif_noun_attribute(pif, noun.id, "path", file);
    last_file = file;
    last_pif = pif;
    return last_id = noun.id;
}

pm_id pm_fact_function(struct pm_pif *pif, const struct pm_source_function *function)
{
    struct pm_pif_noun noun = {};
    noun.id = function->id;
    noun.name = function->name;
    noun.level = pm_level_source;
    noun.kind = "function";
    noun.linkage = !function->abstract && strcmp(function->linkage, function->name) != 0
                       ? function->linkage
                       : NULL;
    noun.file = function->place.shown;
    noun.line = function->place.line;
    noun.column = function->place.column;
    noun.end_line = function->end_line;
    noun.parent = pm_fact_file(pif, function->place.file, function->place.shown);
    pm_pif_noun(pif, &noun);
    if (function->local)
        pm_pif_noun_attribute(pif, noun.id, "local", "yes");
    return noun.id;
}

pm_id pm_fact_loop(struct pm_pif *pif, const struct pm_source_function *function, int index)
{
    const struct pm_source_loop *loop = &function->loops[(size_t)index];
    struct pm_pif_noun noun = {};
    std::string name = pm_loop_name(loop);
    noun.id = loop->id;
    noun.name = name.c_str();
    noun.level = pm_level_source;
    noun.kind = "loop";
    noun.file = loop->shown;
    noun.line = loop->place.line;
    noun.column = loop->place.column;
    noun.end_line = loop->last.line;
    noun.parent = loop->parent >= 0 ? pm_fact_loop(pif, function, loop->parent)
                                    : pm_fact_function(pif, function);
    pm_pif_noun(pif, &noun);
    return noun.id;
}

/* --- the pass --- */

/* The main() that gfortran makes to call the program: nothing in it is of the source. */
static bool is_fortran_start(tree decl)
{
    return strncmp(lang_hooks.name, "GNU Fortran", 11) == 0 &&
           strcmp(pm_linkage_name(decl), "main") == 0;
}

static unsigned read_function(function *fun)
{
    if (seen_error())
        return 0;
    std::vector<struct pm_linear> code;
    pm_linearise(gimple_body(fun->decl), &code);
    pm_scan_loops(fun->decl, &code);
    if (!pm_function_selected(fun->decl))
        return 0;
    struct pm_source_function *function = pm_source_function_of(fun->decl);
    struct pm_pif *pif = pm_facts_early();
    pm_fact_function(pif, function);
    for (size_t i = 0; i < function->loops.size(); i++)
        pm_fact_loop(pif, function, (int)i);
    if (!is_fortran_start(fun->decl))
        pm_fact_statements(fun->decl, code);
    pm_ranges_drop(fun->decl);
    return 0;
}

void pm_facts_register(const char *plugin_name)
{
    pm_gcc_register_pass(plugin_name, pm_gcc_gimple_pass("perfmap_facts", 0, NULL, read_function),
                         "omplower", 1, PASS_POS_INSERT_BEFORE);
    pm_ranges_register(plugin_name);
    pm_facts_out_register(plugin_name);
}
