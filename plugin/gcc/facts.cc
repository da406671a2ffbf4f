/* Early facts: what the source is made of, read from GIMPLE before it is lowered, in every language
 * alike. */

#include "facts.h"

void pm_no_memory(void)
{
    fatal_error(UNKNOWN_LOCATION, "perfmap: no memory for the facts");
}

static struct pm_facts *new_facts(void)
{
    char producer[64];
    snprintf(producer, sizeof producer, "perfmap-gcc%d %s", GCCPLUGIN_VERSION_MAJOR,
             PERFMAP_VERSION);
    struct pm_facts *facts = pm_facts_new(producer);
    if (facts == NULL)
        pm_no_memory();
    return facts;
}

struct pm_facts *pm_facts_early(void)
{
    static struct pm_facts *facts;
    if (facts == NULL)
        facts = new_facts();
    return facts;
}

struct pm_facts *pm_facts_late(void)
{
    static struct pm_facts *facts;
    if (!flag_generate_lto || in_lto_p)
        return pm_facts_early();
    if (facts == NULL)
        facts = new_facts();
    return facts;
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
    pm_fortran_mend_workshare(code);
    pm_scan_loops(fun->decl, &code);
    if (!pm_function_selected(fun->decl))
        return 0;
    struct pm_source_function *function = pm_source_function_of(fun->decl);
    struct pm_facts *facts = pm_facts_early();
    pm_fact_function(facts, function);
    for (uint32_t i = 0; i < function->n_loops; i++)
        pm_fact_loop(facts, function, (int)i);
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
