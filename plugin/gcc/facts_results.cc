/* What the results of calls lead into: "r = row(k)" of a function of the program's own, "r =
 * strchr(text, c)" of the library; and what calls make pointers lead into by their addresses:
 * "get(&r)", "strtol(text, &end, 10)".
 */
#include "facts_reader.h"

extern "C" {
#include "../emit/arguments.h"
}

const char *pm_reader_name_in_c(gcall *call)
{
    tree callee = gimple_call_internal_p(call) ? NULL_TREE : gimple_call_fndecl(call);
    return callee != NULL_TREE && TREE_PUBLIC(callee) && !pm_is_method_type(callee)
               ? pm_builtin_free_name(pm_linkage_name(callee))
               : "";
}

bool pm_reader_leads_into(gcall *call, unsigned argument)
{
    return pm_result_leads_into(pm_reader_name_in_c(call), argument);
}

bool pm_reader_leads_on(gcall *call)
{
    for (unsigned i = 0; i < gimple_call_num_args(call); i++)
        if (pm_reader_leads_into(call, i))
            return true;
    return false;
}

/* The noun of what is given a value; 0: it has none. */
static pm_id holder_of(struct pm_reader *reader, tree address)
{
    std::vector<pm_id> holders = pm_reader_objects_behind(reader, address);
    return holders.empty() ? 0 : holders[0];
}

/* What a function with variable arguments takes from them. */
static void note_taken(struct pm_reader *reader, gcall *call, pm_id holder)
{
    if (gimple_call_internal_p(call, IFN_VA_ARG))
        pm_fact_refers(holder, pm_id_of_variable_arguments(reader->function->id));
}

static void note_of_library(struct pm_reader *reader, gcall *call, pm_id holder)
{
    for (unsigned i = 0; i < gimple_call_num_args(call); i++)
        if (pm_reader_leads_into(call, i))
            pm_reader_refer(reader, holder, gimple_call_arg(call, i));
    if (!pm_result_is_remembered(pm_reader_name_in_c(call)))
        return;
    pm_id before = pm_fact_returned(gimple_call_fndecl(call));
    pm_fact_refers(holder, before);
    if (!integer_zerop(gimple_call_arg(call, 0)))
        pm_reader_refer(reader, before, gimple_call_arg(call, 0));
}

static void note_filled(struct pm_reader *reader, gcall *call)
{
    unsigned pointer, into;
    if (!pm_fills_pointer(pm_reader_name_in_c(call), &pointer, &into) ||
        pointer >= gimple_call_num_args(call) || into >= gimple_call_num_args(call))
        return;
    tree address = gimple_call_arg(call, pointer);
    if (!integer_zerop(address))
        pm_reader_refer(reader, holder_of(reader, address), gimple_call_arg(call, into));
}

void pm_reader_note_results(struct pm_reader *reader, gcall *call)
{
    tree result = gimple_call_lhs(call);
    if (pm_fact_is_fortran())
        return;
    note_filled(reader, call);
    if (result == NULL_TREE || TREE_CODE(result) == SSA_NAME ||
        (!POINTER_TYPE_P(TREE_TYPE(result)) && !pm_fact_is_container(TREE_TYPE(result))))
        return;
    if (POINTER_TYPE_P(TREE_TYPE(result)) && VAR_P(result) && DECL_ARTIFICIAL(result))
        return; /* whoever uses it looks at the call */
    pm_id holder = holder_of(reader, build_fold_addr_expr(result));
    if (tree callee = pm_returning_function(call))
        pm_fact_refers(holder, pm_fact_returned(callee));
    note_taken(reader, call, holder);
    note_of_library(reader, call, holder);
}

/* "get(&r)": what the function makes its parameter's target lead into, r leads into. */
void pm_reader_note_passed_pointer(struct pm_reader *reader, tree argument, pm_id parameter)
{
    STRIP_NOPS(argument);
    tree pointer = TREE_CODE(argument) == ADDR_EXPR ? TREE_OPERAND(argument, 0) : NULL_TREE;
    if (pointer == NULL_TREE || !POINTER_TYPE_P(TREE_TYPE(pointer)) || pm_fact_is_fortran())
        return;
    pm_fact_refers(holder_of(reader, argument), parameter);
}
