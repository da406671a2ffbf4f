/* Sleds around calls of the Fortran library that carry out array statements: b = cshift(a, 1) is
 * neither a loop nor a function of the program, yet {a CShift} shall be active while it runs. To
 * the runtime such a call is a loop that is entered and left. */
#include "sleds.h"
#include "facts.h"

/* Place of the array statement that the call belongs to, as its noun has it. */
static bool find_statement(gimple *stmt, tree function_decl, struct pm_place *ret_place)
{
    if (!pm_place_of(gimple_location(stmt), ret_place) || !pm_fortran_is_array_statement(ret_place))
        return false;
    const struct pm_statements *statements = pm_statements_of(pm_source_function_of(function_decl));
    int at = statements != NULL ? pm_statement_at(statements, ret_place) : -1;
    if (at >= 0) {
        ret_place->line = statements->list[at].first.line;
        ret_place->column = statements->list[at].first.column;
    }
    return true;
}

static void put_call_sleds(function *fun, gimple_stmt_iterator *gsi, unsigned depth)
{
    tree text = pm_text_function(gimple_block(gsi_stmt(*gsi)));
    struct pm_place place;
    if (!find_statement(gsi_stmt(*gsi), text, &place) || !pm_function_selected(text))
        return;
    pm_id id = pm_late_call(fun->decl, text, &place);
    gsi_insert_before(gsi, pm_sled_asm(PM_SLED_LOOP_ENTER, depth, id), GSI_SAME_STMT);
    gsi_insert_after(gsi, pm_sled_asm(PM_SLED_LOOP_LEAVE, depth, id), GSI_NEW_STMT);
}

void pm_sleds_put_calls(function *fun)
{
    basic_block bb;
    FOR_EACH_BB_FN(bb, fun) {
        unsigned depth = MIN(pm_loop_depth(pm_loop_around(bb)) + 1u, (unsigned)PM_SLED_DEPTH_MASK);
        for (gimple_stmt_iterator gsi = gsi_start_bb(bb); !gsi_end_p(gsi); gsi_next(&gsi)) {
            gimple *stmt = gsi_stmt(gsi);
            if (is_gimple_call(stmt) && !stmt_ends_bb_p(stmt) &&
                pm_fortran_is_array_operation(gimple_call_fndecl(stmt)))
                put_call_sleds(fun, &gsi, depth);
        }
    }
}
