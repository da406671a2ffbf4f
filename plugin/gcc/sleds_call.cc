/* Sleds around calls of the Fortran library that carry out array statements: b = cshift(a, 1) is neither a loop nor a function of the
 * program, yet {a CShift} shall be active while it runs. To the runtime such a call is a loop that is entered and left. */
#include "sleds.h"
#include "facts.h"

/* _gfortran_matmul_r8, _gfortran_cshift0_4, _gfortran_mmaxval_r8, ...: not the library's other helpers in the same statements. */
static bool is_array_operation(tree function_decl)
{
    static const char prefix[] = "_gfortran_";
    static const char *const operations[] = {
        "matmul", "cshift", "eoshift", "transpose", "reshape", "spread",  "pack",    "unpack",
        "maxloc", "minloc", "findloc", "maxval",    "minval",  "sum",     "product", "norm2",
        "count",  "any",    "all",     "iall",      "iany",    "iparity", "parity",  "dot_product",
    };
    if (function_decl == NULL_TREE || DECL_NAME(function_decl) == NULL_TREE)
        return false;
    const char *name = IDENTIFIER_POINTER(DECL_NAME(function_decl));
    if (strncmp(name, prefix, sizeof prefix - 1) != 0)
        return false;
    name += sizeof prefix - 1;
    for (const char *operation : operations) {
        size_t n = strlen(operation);
        /* With a mask, or a mask of one value: mmaxval, smaxval. */
        if (strncmp(name, operation, n) == 0 ||
            ((*name == 'm' || *name == 's') && strncmp(name + 1, operation, n) == 0))
            return true;
    }
    return false;
}

/* Place of the array statement that the call belongs to, as its noun has it. */
static bool find_statement(gimple *stmt, tree function_decl, struct pm_place *ret_place)
{
    if (!pm_place_of(gimple_location(stmt), ret_place) || !pm_fortran_is_array_statement(ret_place))
        return false;
    const struct pm_statements *statements = pm_statements_of(pm_source_function_of(function_decl));
    int at = statements != NULL ? pm_statement_at(statements, ret_place) : -1;
    if (at >= 0) {
        ret_place->line = statements->list[(size_t)at].first.line;
        ret_place->column = statements->list[(size_t)at].first.column;
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
    FOR_EACH_BB_FN(bb, fun)
    {
        unsigned depth = MIN(loop_depth(bb->loop_father) + 1u, (unsigned)PM_SLED_DEPTH_MASK);
        for (gimple_stmt_iterator gsi = gsi_start_bb(bb); !gsi_end_p(gsi); gsi_next(&gsi)) {
            gimple *stmt = gsi_stmt(gsi);
            if (is_gimple_call(stmt) && !stmt_ends_bb_p(stmt) &&
                is_array_operation(gimple_call_fndecl(stmt)))
                put_call_sleds(fun, &gsi, depth);
        }
    }
}
