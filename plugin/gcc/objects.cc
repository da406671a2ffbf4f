/* Which variable, array or field a piece of code touches. */

#include "map.h"

static void add_access(std::vector<struct pm_access> *out, pm_id noun, unsigned access)
{
    for (struct pm_access &known : *out) {
        if (known.noun == noun && (known.access & PM_MAP_THROUGH) == (access & PM_MAP_THROUGH)) {
            known.access |= access;
            return;
        }
    }
    out->push_back({noun, access});
}

static tree base_of(tree t)
{
    while (handled_component_p(t))
        t = TREE_OPERAND(t, 0);
    if (TREE_CODE(t) == MEM_REF && TREE_CODE(TREE_OPERAND(t, 0)) == ADDR_EXPR)
        return base_of(TREE_OPERAND(TREE_OPERAND(t, 0), 0));
    return t;
}

bool pm_objects_of_memory(const_rtx mem, bool writes, std::vector<struct pm_access> *out,
                          bool *ret_is_frame)
{
    tree base = MEM_EXPR(mem) != NULL_TREE ? base_of(MEM_EXPR(mem)) : NULL_TREE;
    *ret_is_frame = false;
    if (base == NULL_TREE || !DECL_P(base)) {
        *ret_is_frame = reg_mentioned_p(stack_pointer_rtx, XEXP(mem, 0)) ||
                        (frame_pointer_needed && reg_mentioned_p(hard_frame_pointer_rtx, XEXP(mem, 0)));
        return *ret_is_frame;
    }
    pm_id noun = VAR_P(base) || TREE_CODE(base) == PARM_DECL
                     ? pm_fact_variable(DECL_ORIGIN(base), current_function_decl)
                     : 0;
    if (noun != 0)
        add_access(out, noun, writes ? PM_MAP_WRITES : PM_MAP_READS);
    *ret_is_frame = noun == 0 && VAR_P(base) && auto_var_in_fn_p(base, current_function_decl);
    return noun != 0 || *ret_is_frame;
}

bool pm_objects_of_call(const rtx_insn *, std::vector<struct pm_access> *)
{
    return false;
}

void pm_objects_register(const char *)
{
}
