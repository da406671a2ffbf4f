/* The calling-context tree seen through a lift: inclusive costs of rows, and the call-path tree of
 * a level.
 *
 *     pm_calls_inclusive(graph, lift, &nesting, exclusive_ns, &err, inclusive_of_row);
 *     struct pm_call_tree tree;
 *     pm_call_tree_make(graph, lift, &nesting, folds, &err, &tree);
 *     use(tree.nodes[i].row);
 *     pm_call_tree_release(&tree);
 *
 * Contexts whose sentence is no source of the lift are passed through: what is below them belongs
 * to what is above them. Readers only, any number.
 */
#ifndef PM_CALLS_H
#define PM_CALLS_H

#include "lift.h"

/* Constructs that lie in others and of which a context need not tell: loops in loops, of which
 * only the outermost one is followed at run time. What is measured for one counts for those
 * around it, too. */
struct pm_call_nesting {
    /* per row of the lift: the row that it lies in, PM_NONE: none. No circles */
    const uint32_t *around;
    /* per row: contexts do tell of it, and what is beyond it is another function's */
    const bool *is_function;
};

/* Adds to each context's value those of the contexts below it: values[n_contexts] becomes
 * inclusive, in place. False: 64 bits are left. */
PM_MUST_CHECK bool pm_calls_sum_up(const struct pm_graph *graph, int64_t *values);

/* Inclusive sums of rows: of the contexts that count as the row, the outermost ones count with
 * all that is below them, so that recursion counts once. Under rule split a context counts as a
 * row by its share, and a cost counts as the largest such share on its path. A context counts as
 * the rows around its rows, too, by the sum of the shares in them. nesting NULL: no row lies in
 * another. own[n_contexts]: exclusive costs. ret_inclusive[lift->n_rows]. Linear in contexts
 * times their rows and those around them. */
PM_MUST_CHECK enum pm_status pm_calls_inclusive(const struct pm_graph *graph,
                                                const struct pm_lift *lift,
                                                const struct pm_call_nesting *nesting,
                                                const int64_t *own, struct pm_error *err,
                                                int64_t *ret_inclusive);

/* A node of the lifted tree: all contexts with the same path of rows, or a row around such. A
 * parent's position is smaller than its child's. */
struct pm_call_node {
    uint32_t parent; /* PM_NONE: top */
    uint32_t row;    /* of the lift */
    uint32_t depth;
};

struct pm_call_tree {
    struct pm_call_node *nodes;
    uint32_t n_nodes;
    uint32_t *node_of; /* per context; PM_NONE: passed through, with nothing above */
};

/* Rules merge and closed only (asserted): under split a path is not one path. folds[context]: a
 * context that counts as the same row as its parent is not a new step on the path (a loop seen
 * as its function), as opposed to recursion. Rows around a context's row that are not on the
 * path since the function (or the last row that lies in them itself) become steps before it. */
PM_MUST_CHECK enum pm_status pm_call_tree_make(const struct pm_graph *graph,
                                               const struct pm_lift *lift,
                                               const struct pm_call_nesting *nesting,
                                               const bool *folds, struct pm_error *err,
                                               struct pm_call_tree *ret_tree);
void pm_call_tree_release(struct pm_call_tree *tree);

#endif
