/* Statements of Fortran that are several loops of the compiler's, one after the other: first the
 * mask of WHERE, then what it assigns; first a temporary array, then what it is copied to. The
 * statement is entered with the first; the others are its rest, timed but no entries.
 *
 * First is a loop to which no way leads from another one of the statement, but around loops. There
 * may be several, and only one of them runs (an IF was moved out). A rest that ways around all
 * first ones lead to may run alone, for these may have no turn at all.
 */
#include "sleds.h"

struct split {
    std::vector<int> order; /* of blocks: no way but back in a loop leads to a smaller one */
    std::vector<basic_block> heads; /* of the statement's loops */
    int first;                      /* the smallest of their orders */
};

static std::vector<int> order_of_blocks(function *fun)
{
    std::vector<int> blocks((size_t)n_basic_blocks_for_fn(fun));
    std::vector<int> order((size_t)last_basic_block_for_fn(fun), 0);
    int n = pre_and_rev_post_order_compute_fn(fun, NULL, blocks.data(), false);
    for (int i = 0; i < n; i++)
        order[(size_t)blocks[(size_t)i]] = i + 1; /* the entry has 0 */
    return order;
}

/* What ways to a loop come by: other loops of the statement, or the begin of the code around. */
static void look_back(const struct split &split, struct pm_marked_loop *marked)
{
    std::vector<basic_block> open = {marked->loop->header};
    std::set<int> seen;
    bool is_alone = false;
    while (!open.empty()) {
        basic_block bb = open.back();
        edge e;
        edge_iterator ei;
        open.pop_back();
        FOR_EACH_EDGE(e, ei, bb->preds) {
            int order = split.order[(size_t)e->src->index];
            if (order >= split.order[(size_t)bb->index] || !seen.insert(e->src->index).second)
                continue;
            bool is_head =
                std::find(split.heads.begin(), split.heads.end(), e->src) != split.heads.end();
            marked->is_rest |= is_head;
            is_alone |= order < split.first;
            if (!is_head && order >= split.first)
                open.push_back(e->src);
        }
    }
    marked->may_be_first = marked->is_rest && is_alone;
}

void pm_sleds_find_rests(function *fun, std::vector<struct pm_marked_loop> *loops)
{
    std::map<std::pair<pm_id, tree>, std::vector<struct pm_marked_loop *>> statements;
    struct split split;
    for (struct pm_marked_loop &marked : *loops)
        if (marked.identity.is_split)
            statements[{marked.identity.id, marked.identity.copy}].push_back(&marked);
    if (!statements.empty())
        split.order = order_of_blocks(fun);
    for (const auto &entry : statements) {
        split.heads.clear();
        split.first = INT_MAX;
        for (const struct pm_marked_loop *marked : entry.second) {
            split.heads.push_back(marked->loop->header);
            split.first = std::min(split.first, split.order[(size_t)marked->loop->header->index]);
        }
        for (struct pm_marked_loop *marked : entry.second) {
            look_back(split, marked);
            if (marked->is_rest)
                marked->id = pm_id_of_loop_rest(pm_symbol_id(fun->decl), marked->identity.id);
        }
    }
}
