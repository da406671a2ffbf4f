#include "calls.h"

#include "../base/str.h"

#include <math.h>
#include <stdlib.h>

bool pm_calls_sum_up(const struct pm_graph *graph, int64_t *values)
{
    bool overflow = false;
    for (pm_index c = graph->n_contexts; c-- > 0;) /* children come after parents */
        if (graph->contexts[c].parent != PM_NONE) {
            int64_t *up = &values[graph->contexts[c].parent];
            overflow |= __builtin_add_overflow(*up, values[c], up);
        }
    return !overflow;
}

/* Children lists of all contexts; n_contexts stands for the roots' parent. */
static bool list_children(const struct pm_graph *graph, uint32_t **ret_first,
                          uint32_t **ret_children)
{
    uint32_t n = graph->n_contexts;
    uint32_t *first = *ret_first = pm_alloc_array((size_t)n + 3, sizeof *first);
    uint32_t *children = *ret_children = pm_alloc_array(n, sizeof *children);
    if (!first || !children)
        return false;
    for (pm_index c = 0; c < n; c++) {
        pm_index parent = graph->contexts[c].parent;
        first[(parent == PM_NONE ? n : parent) + 2]++;
    }
    for (uint32_t i = 0; i <= n; i++)
        first[i + 2] += first[i + 1];
    for (pm_index c = 0; c < n; c++) {
        pm_index parent = graph->contexts[c].parent;
        children[first[(parent == PM_NONE ? n : parent) + 1]++] = c;
    }
    return true;
}

/* What a context found when it was entered, for its leaving: the share that each of its rows had on
 * the path so far. */
struct inclusive_walk {
    const struct pm_graph *graph;
    const struct pm_lift *lift;
    const int64_t *inclusive; /* of contexts */
    double *on_path;          /* per row: largest share on the path */
    long double *sums;        /* per row: what fractional shares gave */
    int64_t *ret_inclusive;   /* per row: what whole shares gave */
    double *saved;            /* stack of on_path values */
    size_t n_saved, cap_saved;
    bool overflow;
};

static bool enter(struct inclusive_walk *walk, pm_index context)
{
    const struct pm_lift *lift = walk->lift;
    uint32_t class = lift->class_of[walk->graph->contexts[context].sentence];
    if (class == PM_NONE)
        return true;
    uint32_t n = lift->class_first[class + 1] - lift->class_first[class];
    if (walk->n_saved + n > walk->cap_saved) {
        size_t cap = (walk->n_saved + n) * 2;
        double *grown = pm_realloc_array(walk->saved, cap, sizeof *grown);
        if (!grown)
            return false;
        walk->saved = grown;
        walk->cap_saved = cap;
    }
    for (uint32_t k = 0; k < n; k++) {
        struct pm_lift_part part = lift->parts[lift->class_first[class] + k];
        double before = walk->on_path[part.row];
        walk->saved[walk->n_saved++] = before;
        if (part.share <= before)
            continue;
        walk->on_path[part.row] = part.share;
        if (before == 0 && part.share >= 1)
            walk->overflow |=
                __builtin_add_overflow(walk->ret_inclusive[part.row], walk->inclusive[context],
                                       &walk->ret_inclusive[part.row]);
        else
            walk->sums[part.row] += (long double)(part.share - before) * walk->inclusive[context];
    }
    return true;
}

static void leave(struct inclusive_walk *walk, pm_index context)
{
    const struct pm_lift *lift = walk->lift;
    uint32_t class = lift->class_of[walk->graph->contexts[context].sentence];
    if (class == PM_NONE)
        return;
    for (uint32_t k = lift->class_first[class + 1]; k-- > lift->class_first[class];)
        walk->on_path[lift->parts[k].row] = walk->saved[--walk->n_saved];
}

/* Depth first without recursion: next[context] is its next child to visit. */
static bool walk_contexts(struct inclusive_walk *walk, uint32_t *first, const uint32_t *children)
{
    uint32_t n = walk->graph->n_contexts;
    uint32_t *next = pm_alloc_array((size_t)n + 1, sizeof *next);
    if (!next)
        return false;
    memcpy(next, first, ((size_t)n + 1) * sizeof *next);
    bool ok = true;
    for (uint32_t at = n; ok;) {
        if (next[at] < first[at + 1]) {
            at = children[next[at]++];
            ok = enter(walk, at);
            continue;
        }
        if (at == n)
            break;
        leave(walk, at);
        pm_index parent = walk->graph->contexts[at].parent;
        at = parent == PM_NONE ? n : parent;
    }
    free(next);
    return ok;
}

enum pm_status pm_calls_inclusive(const struct pm_graph *graph, const struct pm_lift *lift,
                                  const int64_t *own, struct pm_error *err, int64_t *ret_inclusive)
{
    uint32_t *first = NULL, *children = NULL;
    int64_t *inclusive = pm_alloc_array(graph->n_contexts, sizeof *inclusive);
    struct inclusive_walk walk = {
        .graph = graph,
        .lift = lift,
        .inclusive = inclusive,
        .on_path = pm_alloc_array(lift->n_rows, sizeof *walk.on_path),
        .sums = pm_alloc_array(lift->n_rows, sizeof *walk.sums),
        .ret_inclusive = ret_inclusive,
    };
    bool ok = list_children(graph, &first, &children) && inclusive && walk.on_path && walk.sums;
    if (ok) {
        memset(ret_inclusive, 0, lift->n_rows * sizeof *ret_inclusive);
        memcpy(inclusive, own, graph->n_contexts * sizeof *inclusive);
        walk.overflow = !pm_calls_sum_up(graph, inclusive);
        ok = walk_contexts(&walk, first, children);
    }
    for (uint32_t r = 0; ok && r < lift->n_rows; r++)
        if (walk.sums[r] != 0)
            ret_inclusive[r] += (int64_t)llroundl(walk.sums[r]);
    free(first);
    free(children);
    free(inclusive);
    free(walk.on_path);
    free(walk.sums);
    free(walk.saved);
    if (!ok)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory for inclusive costs of %u contexts",
                            graph->n_contexts);
    return walk.overflow ? pm_error_set(err, PM_ERR_LIMIT, "costs add up to more than 64 bits hold")
                         : PM_OK;
}

/* --- the lifted tree --- */

/* The node below `parent` for `row`: a hash table of (parent, row), number + 1, at most half full.
 */
static uint32_t find_node(struct pm_call_tree *tree, uint32_t *table, uint32_t mask,
                          uint32_t parent, uint32_t row)
{
    uint64_t key = ((uint64_t)parent << 32 | row) * 0x9e3779b97f4a7c15u;
    uint32_t at = (uint32_t)(key >> 32) & mask;
    for (; table[at]; at = (at + 1) & mask) {
        const struct pm_call_node *node = &tree->nodes[table[at] - 1];
        if (node->parent == parent && node->row == row)
            return table[at] - 1;
    }
    tree->nodes[tree->n_nodes] =
        (struct pm_call_node){parent, row, parent == PM_NONE ? 0 : tree->nodes[parent].depth + 1};
    table[at] = ++tree->n_nodes;
    return tree->n_nodes - 1;
}

enum pm_status pm_call_tree_make(const struct pm_graph *graph, const struct pm_lift *lift,
                                 const bool *folds, struct pm_error *err,
                                 struct pm_call_tree *ret_tree)
{
    struct pm_call_tree tree = {
        .nodes = pm_alloc_array(graph->n_contexts, sizeof *tree.nodes),
        .node_of = pm_alloc_array(graph->n_contexts, sizeof *tree.node_of),
    };
    uint32_t size = 16;
    while (size < graph->n_contexts * 2ul && size < 1u << 31)
        size *= 2;
    uint32_t *table = pm_alloc_array(size, sizeof *table);
    if (!tree.nodes || !tree.node_of || !table) {
        free(table);
        pm_call_tree_release(&tree);
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory for a call tree of %u contexts",
                            graph->n_contexts);
    }
    for (pm_index c = 0; c < graph->n_contexts; c++) {
        const struct pm_context *context = &graph->contexts[c];
        uint32_t parent = context->parent == PM_NONE ? PM_NONE : tree.node_of[context->parent];
        uint32_t class = lift->class_of[context->sentence];
        if (class == PM_NONE) { /* transparent */
            tree.node_of[c] = parent;
            continue;
        }
        PM_ASSERT(lift->class_first[class + 1] - lift->class_first[class] == 1);
        uint32_t row = lift->parts[lift->class_first[class]].row;
        if (folds[c] && parent != PM_NONE && tree.nodes[parent].row == row)
            tree.node_of[c] = parent;
        else
            tree.node_of[c] = find_node(&tree, table, size - 1, parent, row);
    }
    free(table);
    *ret_tree = tree;
    return PM_OK;
}

void pm_call_tree_release(struct pm_call_tree *tree)
{
    free(tree->nodes);
    free(tree->node_of);
    *tree = (struct pm_call_tree){0};
}
