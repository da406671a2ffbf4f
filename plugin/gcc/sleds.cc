/* What is common to the kinds of sleds: which kind this compilation gets, and the verbose line. */
#include "sleds.h"

struct pm_sleds_stats pm_sleds_stats;

bool pm_sleds_possible(void)
{
    return !pm_options.portable && PM_GCC_TARGET_HAS_SLEDS;
}

static void print_stats(void *, void *)
{
    const struct pm_sleds_stats *s = &pm_sleds_stats;
    fprintf(
        stderr,
        "perfmap: %s: %u functions with %u sleds, %u loops with %u sleds, %u search loops without, "
        "%u portable calls\n",
        main_input_filename ? main_input_filename : "?", s->n_functions, s->n_function_sleds,
        s->n_loops, s->n_loop_sleds, s->n_search_loops, s->n_hook_calls);
}

void pm_sleds_register(const char *plugin_name)
{
    if (pm_options.loops)
        pm_sleds_loop_register(plugin_name);
    if (pm_options.functions || pm_options.loops) {
        pm_sleds_function_register(plugin_name); /* loop sleds get their free registers there */
        pm_sleds_portable_register(plugin_name);
    }
    if (pm_options.verbose)
        register_callback(plugin_name, PLUGIN_FINISH, print_stats, NULL);
}
