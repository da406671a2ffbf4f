/* Which loops are search loops: they look through memory until they have found what they look
 * for, a hash chain, a list, the end of a string.
 *
 * Entered very often for one or two rounds, a loop of that kind takes about as long as its own
 * two sleds (SQLite: pcache1Fetch had 19 % more instructions with them), and a time of some
 * nanoseconds is not one that could be measured. So they get none unless they are asked for;
 * their time is known by samples, as that of inner loops. A loop with a number of rounds that is
 * known when it is entered (a sum, a dot product) is none of them, however small it is; nor is
 * one that works with floating-point numbers, so that numeric programs lose nothing.
 */
#include "sleds.h"

/* Statements of GIMPLE: about as many instructions. */
enum { MAX_SEARCH_STATEMENTS = 12 };

static bool is_float(tree type)
{
    return type && (FLOAT_TYPE_P(type) || VECTOR_TYPE_P(type));
}

/* Floating-point numbers, be they only moved or compared. */
static bool has_float_operand(gimple *stmt)
{
    for (unsigned i = 0; i < gimple_num_ops(stmt); i++)
        if (gimple_op(stmt, i) && is_float(TREE_TYPE(gimple_op(stmt, i))))
            return true;
    return false;
}

static bool may_search(gimple *stmt)
{
    return (is_gimple_assign(stmt) || gimple_code(stmt) == GIMPLE_COND) && !gimple_vdef(stmt) &&
           !gimple_has_volatile_ops(stmt) && !has_float_operand(stmt);
}

/* No more than a few statements, no inner loop, no call, no store, no asm; something is read. */
static bool only_looks(class loop *loop)
{
    bool reads = false;
    unsigned n = 0;
    if (loop->inner)
        return false;
    basic_block *body = get_loop_body(loop);
    for (unsigned i = 0; i < loop->num_nodes; i++)
        for (gimple_stmt_iterator at = gsi_start_bb(body[i]); !gsi_end_p(at); gsi_next(&at)) {
            gimple *stmt = gsi_stmt(at);
            if (is_gimple_debug(stmt) || gimple_code(stmt) == GIMPLE_LABEL ||
                gimple_code(stmt) == GIMPLE_PREDICT || gimple_nop_p(stmt))
                continue;
            n = may_search(stmt) ? n + 1 : MAX_SEARCH_STATEMENTS + 1;
            reads |= gimple_vuse(stmt) != NULL_TREE;
        }
    free(body);
    return reads && n <= MAX_SEARCH_STATEMENTS;
}

/* Does it grow by the same amount in each round, or not at all? */
static bool is_counter(class loop *loop, tree value)
{
    affine_iv iv;
    return simple_iv(loop, loop, value, &iv, true);
}

/* Is it known at the loop's entry in which round this exit would be taken? GCC says no also
 * where it cannot know that there is such a round (a step that is a variable): that is still a
 * loop that counts. */
static bool exit_is_counted(class loop *loop, edge exit)
{
    class tree_niter_desc rounds;
    if (number_of_iterations_exit(loop, exit, &rounds, false, false))
        return true;
    gimple *last = gsi_stmt(gsi_last_nondebug_bb(exit->src));
    const gcond *condition = last ? dyn_cast<gcond *>(last) : NULL;
    return condition && is_counter(loop, gimple_cond_lhs(condition)) &&
           is_counter(loop, gimple_cond_rhs(condition));
}

bool pm_sleds_is_search_loop(class loop *loop)
{
    if (!optimize || !only_looks(loop))
        return false;
    bool is_counted = true;
    for (edge exit : pm_loop_exits(loop))
        is_counted = is_counted && exit_is_counted(loop, exit);
    return !is_counted;
}
