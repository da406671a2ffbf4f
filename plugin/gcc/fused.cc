/* Statements of the source that own no instruction any more, though other code implements them:
 * the two looks at a function, before and after the optimisers, and who has instructions in its
 * RTL. What became of the others: plugin/emit/fused.c.
 *
 * SSA names are told apart by more than their version, since freed versions are given out again.
 */
#include "map.h"
#include "objects.h"
#include "fused.h"

static struct pm_fused *fused(void)
{
    static struct pm_fused *one;
    if (one == NULL)
        one = pm_fused_new();
    if (one == NULL || pm_fused_failed(one))
        pm_no_memory();
    return one;
}

static bool has_code(const rtx_insn *insn)
{
    return NONDEBUG_INSN_P(insn) && GET_CODE(PATTERN(insn)) != USE &&
           GET_CODE(PATTERN(insn)) != CLOBBER;
}

static void find_code(void)
{
    struct pm_table<location_t, int> seen;
    struct pm_fused_key key;
    const char *shown;
    for (rtx_insn *insn = get_insns(); insn != NULL; insn = NEXT_INSN(insn)) {
        if (!has_code(insn))
            continue;
        bool is_new;
        seen.add(INSN_LOCATION(insn), 0, &is_new);
        if (is_new && pm_fused_key_of(INSN_LOCATION(insn), &key, &shown))
            pm_fused_has_code(fused(), &key);
    }
}

const struct pm_map_also *pm_fused_next(pm_id function, const struct pm_place *place, uint32_t *at)
{
    if (pm_fused_wants_code(fused()))
        find_code();
    return pm_fused_with(fused(), function, place, at);
}

/* --- the two passes --- */

static bool gate(function *fun)
{
    pm_fused_clear(fused());
    return optimize > 0 && !seen_error() && pm_function_selected(fun->decl);
}

static unsigned look_before(function *fun)
{
    pm_fused_look_at(fun, true, pm_fused_before(fused()));
    return 0;
}

static bool gate_after(function *)
{
    return pm_fused_has_before(fused());
}

static unsigned look_after(function *fun)
{
    pm_fused_look_at(fun, false, pm_fused_after(fused()));
    return 0;
}

void pm_fused_register(const char *plugin_name)
{
    pm_gcc_register_pass(
        plugin_name,
        pm_gcc_gimple_pass("perfmap_fused_before", PROP_cfg | PROP_ssa, gate, look_before),
        "adjust_alignment", 1, PASS_POS_INSERT_AFTER);
    pm_gcc_register_pass(
        plugin_name,
        pm_gcc_gimple_pass("perfmap_fused_after", PROP_cfg | PROP_ssa, gate_after, look_after),
        "optimized", 1, PASS_POS_INSERT_AFTER);
}
