/* Calls out: which functions outside of this translation unit are called. */

#include "facts.h"

static pm_id make_external(tree decl)
{
    bool is_library = fndecl_built_in_p(decl) || pm_is_system_place(DECL_SOURCE_LOCATION(decl));
    return pm_fact_called(pm_facts_early(), pm_source_function_of(decl), pm_linkage_name(decl),
                          is_library);
}

pm_id pm_fact_external(tree function_decl)
{
    static std::map<unsigned, pm_id> known;
    if (!TREE_PUBLIC(function_decl) || DECL_STRUCT_FUNCTION(function_decl) != NULL ||
        DECL_INITIAL(function_decl) != NULL_TREE)
        return 0;
    auto found = known.find(DECL_UID(function_decl));
    if (found == known.end())
        found = known.insert({DECL_UID(function_decl), make_external(function_decl)}).first;
    return found->second;
}
