/* Natural loops without the ways of longjmp().
 *
 * A call may end in longjmp(), so GCC has an abnormal edge from each call in a function to what
 * comes after each setjmp() in it (labels that nested functions jump to are the same). Where the
 * setjmp() lies in a loop, every call of the function reaches that loop's end on such a way, and
 * all code between is part of the loop: a loop after it, and what that one calls. In the source it
 * is not. So a loop here has the blocks from which its end is reached without a leap.
 */
#include "backend.h"

extern "C" {
#include "../../format/pm_sled.h"
}

static bool has_leaps(void)
{
    return cfun->calls_setjmp || cfun->has_nonlocal_label;
}

/* goto *label has abnormal edges, too, which are ways like others. */
static bool is_computed_goto(basic_block bb)
{
    if (bb->flags & BB_RTL)
        return BB_END(bb) != NULL && JUMP_P(BB_END(bb)) && computed_jump_p(BB_END(bb));
    gimple_stmt_iterator last = gsi_last_nondebug_bb(bb);
    return !gsi_end_p(last) && computed_goto_p(gsi_stmt(last));
}

static bool is_leap(edge e)
{
    return (e->flags & EDGE_ABNORMAL) && !(e->flags & (EDGE_EH | EDGE_SIBCALL)) &&
           !is_computed_goto(e->src);
}

/* The only way on from a block that is no leap; NULL: none, or several. */
static edge only_way(basic_block bb, unsigned *ret_n_ways)
{
    edge e, found = NULL;
    edge_iterator ei;
    *ret_n_ways = 0;
    FOR_EACH_EDGE(e, ei, bb->succs)
        if (!is_leap(e) && !(e->flags & EDGE_EH)) {
            found = e;
            ++*ret_n_ways;
        }
    return *ret_n_ways == 1 ? found : NULL;
}

bool pm_ends_without_return(basic_block bb)
{
    unsigned n_ways;
    edge way;
    while ((way = only_way(bb, &n_ways)) != NULL && single_pred_p(way->dest))
        bb = way->dest;
    return n_ways == 0 && bb != EXIT_BLOCK_PTR_FOR_FN(cfun);
}

/* Every block of GCC's loop, in its order. */
static std::vector<basic_block> all_blocks(class loop *loop)
{
    basic_block *body = get_loop_body(loop);
    std::vector<basic_block> blocks(body, body + loop->num_nodes);
    free(body);
    return blocks;
}

/* Which blocks of a function are in a list, by their index. */
static std::vector<bool> marked(const std::vector<basic_block> &blocks)
{
    std::vector<bool> in(last_basic_block_for_fn(cfun));
    for (basic_block bb : blocks)
        in[bb->index] = true;
    return in;
}

/* From the loop's end backwards; the header is the last. */
std::vector<basic_block> pm_loop_blocks(class loop *loop)
{
    if (!has_leaps())
        return all_blocks(loop);
    std::vector<basic_block> blocks = {loop->header}, open = {loop->header};
    std::vector<bool> in = marked(blocks);
    while (!open.empty()) {
        basic_block bb = open.back();
        edge e;
        edge_iterator ei;
        open.pop_back();
        FOR_EACH_EDGE(e, ei, bb->preds) {
            if (is_leap(e) || !flow_bb_inside_loop_p(loop, e->src) || in[e->src->index])
                continue;
            in[e->src->index] = true;
            blocks.push_back(e->src);
            open.push_back(e->src);
        }
    }
    return blocks;
}

std::vector<edge> pm_loop_exits(class loop *loop)
{
    std::vector<basic_block> blocks = pm_loop_blocks(loop);
    std::vector<bool> in = marked(blocks);
    std::vector<edge> exits;
    for (basic_block bb : blocks) {
        edge e;
        edge_iterator ei;
        FOR_EACH_EDGE(e, ei, bb->succs)
            if (!(e->flags & (EDGE_ABNORMAL | EDGE_EH)) && !in[e->dest->index])
                exits.push_back(e);
    }
    return exits;
}

static class loop *first_that_holds(class loop *loop, basic_block bb)
{
    while (loop != NULL && loop_outer(loop) != NULL && has_leaps() &&
           !marked(pm_loop_blocks(loop))[bb->index])
        loop = loop_outer(loop);
    return loop != NULL && loop_outer(loop) != NULL ? loop : NULL;
}

class loop *pm_loop_outer(class loop *loop)
{
    return first_that_holds(loop_outer(loop), loop->header);
}

class loop *pm_loop_around(basic_block bb)
{
    return first_that_holds(bb->loop_father, bb);
}

unsigned pm_loop_depth(class loop *loop)
{
    unsigned depth = 0;
    for (; loop != NULL && depth < PM_SLED_DEPTH_MASK; loop = pm_loop_outer(loop))
        depth++;
    return depth;
}
