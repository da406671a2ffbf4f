/* The GCC back end's entrance: options, selection, registration of the parts. Loaded by perfmap.so
 * (../perfmap.c), never named by users. */
#include "identity.h"
#include "map.h"

extern "C" {
__attribute__((visibility("default"))) int plugin_is_GPL_compatible;
__attribute__((visibility("default"))) int plugin_init(struct plugin_name_args *info,
                                                       struct plugin_gcc_version *version);
}

struct pm_options pm_options;

static const char *const not_instrumented[] = {"no_instrument_function", "naked"};

/* The name as users write it, the same in every compiler process: lto1 has no front end to ask, so
 * where there is a mangled name it is demangled. To be freed. */
static char *selected_name(tree function_decl, const char *linkage)
{
    char *name = linkage ? pm_gcc_demangle_signature(linkage) : NULL;
    if (name == NULL)
        name = xstrdup(pm_written_name(function_decl));
    return name;
}

static bool selection_matches(tree origin)
{
    if (pm_selection_is_everything(pm_options.selection))
        return true;
    struct pm_place place = {};
    pm_place_of(pm_definition_place(origin), &place);
    const char *linkage = IDENTIFIER_POINTER(DECL_ASSEMBLER_NAME(origin));
    char *name = selected_name(origin, linkage);
    const struct pm_selection_subject subject = {place.shown, place.file, name, linkage};
    bool is_match = pm_selection_fits(pm_options.selection, &subject);
    free(name);
    return is_match;
}

/* Of runtime/include/perfmap.f90, by the name of its module: sleds around what leaves a sentence
 * would be entered within it, and left behind it. */
static bool is_own_module(tree function_decl)
{
    return DECL_ASSEMBLER_NAME_SET_P(function_decl) &&
           strncmp(IDENTIFIER_POINTER(DECL_ASSEMBLER_NAME(function_decl)), "__perfmap_MOD_", 14) ==
               0;
}

static bool is_instrumentable(tree function_decl)
{
    for (const char *attribute : not_instrumented)
        if (lookup_attribute(attribute, DECL_ATTRIBUTES(function_decl)))
            return false;
    struct cgraph_node *node = cgraph_node::get(function_decl);
    return (node == NULL || !node->thunk) && !is_own_module(function_decl);
}

/* OpenMP: what a task gets from where it is made, the library lets a function of the compiler
 * copy. That is no call of the function around the task. */
static bool copies_for_task(tree function_decl)
{
    return DECL_NAME(function_decl) != NULL_TREE &&
           strstr(IDENTIFIER_POINTER(DECL_NAME(function_decl)), "._omp_cpyfn.") != NULL;
}

bool pm_function_selected(tree function_decl)
{
    tree origin = pm_origin_function(function_decl);
    return is_instrumentable(function_decl) && !copies_for_task(function_decl) &&
           !pm_is_system_place(pm_definition_place(origin)) && selection_matches(origin);
}

bool pm_function_mapped(tree function_decl)
{
    tree origin = pm_origin_function(function_decl);
    return is_instrumentable(function_decl) &&
           (pm_is_system_place(pm_definition_place(origin)) || selection_matches(origin));
}

/* The first wrong option ends the compilation. */
static void read_options(const struct plugin_name_args *info)
{
    struct pm_error err = PM_ERROR_INIT;
    enum pm_status status = pm_options_init(&pm_options, &err);
    for (int i = 0; i < info->argc; i++) {
        if (status != PM_OK)
            break;
        status = pm_options_set(&pm_options, info->argv[i].key, info->argv[i].value, &err);
    }
    if (status != PM_OK)
        fatal_error(UNKNOWN_LOCATION, "perfmap: %s", pm_error_text(&err));
}

/* Sections, records and trampolines hold 64-bit addresses. The assembler would refuse them, too,
 * but in words that help nobody ("cannot represent relocation type"). */
static void refuse_32_bit(void *, void *)
{
    if (POINTER_SIZE < 64)
        fatal_error(UNKNOWN_LOCATION,
                    "perfmap: only 64-bit programs can be measured, and this one is compiled for "
                    "%d-bit addresses; compile it without %<-fplugin%>, or without %<-m32%> and "
                    "%<-mx32%>",
                    (int)POINTER_SIZE);
}

int plugin_init(struct plugin_name_args *info, struct plugin_gcc_version *version)
{
    static struct plugin_info help = {
        PERFMAP_VERSION,
        "PerfMap: sleds and source facts. -fplugin-arg-perfmap-KEY[=VALUE], keys: constructs, "
        "include, exclude, select, pif, pdb, section, map, portable, verbose"};
    if (!plugin_default_version_check(version, &gcc_version))
        fatal_error(UNKNOWN_LOCATION,
                    "perfmap: the back end for GCC %s was loaded by GCC %s; build PerfMap with the "
                    "plugin headers of this compiler (gcc-%d-plugin-dev)",
                    gcc_version.basever, version->basever, GCCPLUGIN_VERSION_MAJOR);
    read_options(info);
    register_callback(info->base_name, PLUGIN_INFO, NULL, &help);
    register_callback(info->base_name, PLUGIN_START_UNIT, refuse_32_bit, NULL);
    pm_facts_register(info->base_name);
    if (pm_options.loops)
        pm_omp_register(info->base_name);
    pm_sleds_register(info->base_name);
    pm_late_register(info->base_name);
    pm_copies_register(info->base_name);
    if (pm_options.map) {
        pm_objects_register(info->base_name);
        pm_fused_register(info->base_name);
        pm_tails_register(info->base_name);
        pm_map_register(info->base_name);
    }
    return 0;
}
