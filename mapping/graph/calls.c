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

/* Of a row that a context counts as: its share before. row PM_NONE: the context's first. */
struct saved_share {
    uint32_t row;
    double before;
};

/* What a context found when it was entered, for its leaving: the share that each of its rows had on
 * the path so far. */
struct inclusive_walk {
    const struct pm_graph *graph;
    const struct pm_lift *lift;
    const uint32_t *around;   /* NULL: none */
    const int64_t *inclusive; /* of contexts */
    double *on_path;          /* per row: largest share on the path */
    double *now;              /* per row: share of the context that is entered; 0 else */
    long double *sums;        /* per row: what fractional shares gave */
    int64_t *ret_inclusive;   /* per row: what whole shares gave */
    struct saved_share *saved;
    uint32_t n_saved, cap_saved;
    bool overflow;
};

static bool save(struct inclusive_walk *walk, uint32_t row, double before)
{
    struct saved_share *grown =
        pm_grow_array(walk->saved, walk->n_saved, &walk->cap_saved, 256, sizeof *grown);
    if (!grown)
        return false;
    walk->saved = grown;
    grown[walk->n_saved++] = (struct saved_share){row, before};
    return true;
}

/* The share of a context in its rows and in those around them; each is saved once. */
static bool add_shares(struct inclusive_walk *walk, uint32_t class)
{
    const struct pm_lift *lift = walk->lift;
    for (uint32_t k = lift->class_first[class]; k < lift->class_first[class + 1]; k++)
        for (uint32_t row = lift->parts[k].row; row != PM_NONE;
             row = walk->around ? walk->around[row] : PM_NONE) {
            if (walk->now[row] == 0 && lift->parts[k].share > 0 &&
                !save(walk, row, walk->on_path[row]))
                return false;
            walk->now[row] += lift->parts[k].share;
        }
    return true;
}

/* Shares that are one but for rounding are. */
static double whole_or(double share)
{
    return share > 1 - 1e-9 ? 1 : share;
}

static bool enter(struct inclusive_walk *walk, pm_index context)
{
    uint32_t class = walk->lift->class_of[walk->graph->contexts[context].sentence];
    uint32_t first = walk->n_saved + 1;
    if (class == PM_NONE)
        return true;
    if (!save(walk, PM_NONE, 0) || !add_shares(walk, class))
        return false;
    for (uint32_t i = first; i < walk->n_saved; i++) {
        uint32_t row = walk->saved[i].row;
        double before = walk->saved[i].before, share = whole_or(walk->now[row]);
        walk->now[row] = 0;
        if (share <= before)
            continue;
        walk->on_path[row] = share;
        if (before == 0 && share >= 1)
            walk->overflow |= __builtin_add_overflow(
                walk->ret_inclusive[row], walk->inclusive[context], &walk->ret_inclusive[row]);
        else
            walk->sums[row] += (long double)(share - before) * walk->inclusive[context];
    }
    return true;
}

static void leave(struct inclusive_walk *walk, pm_index context)
{
    if (walk->lift->class_of[walk->graph->contexts[context].sentence] == PM_NONE)
        return;
    while (walk->saved[--walk->n_saved].row != PM_NONE)
        walk->on_path[walk->saved[walk->n_saved].row] = walk->saved[walk->n_saved].before;
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
                                  const struct pm_call_nesting *nesting, const int64_t *own,
                                  struct pm_error *err, int64_t *ret_inclusive)
{
    uint32_t *first = NULL, *children = NULL;
    int64_t *inclusive = pm_alloc_array(graph->n_contexts, sizeof *inclusive);
    struct inclusive_walk walk = {
        .graph = graph,
        .lift = lift,
        .around = nesting ? nesting->around : NULL,
        .inclusive = inclusive,
        .now = pm_alloc_array(lift->n_rows, sizeof *walk.now),
        .on_path = pm_alloc_array(lift->n_rows, sizeof *walk.on_path),
        .sums = pm_alloc_array(lift->n_rows, sizeof *walk.sums),
        .ret_inclusive = ret_inclusive,
    };
    bool ok = list_children(graph, &first, &children) && inclusive && walk.on_path && walk.now &&
              walk.sums;
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
    free(walk.now);
    free(walk.sums);
    free(walk.saved);
    if (!ok)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory for inclusive costs of %u contexts",
                            graph->n_contexts);
    return walk.overflow ? pm_error_set(err, PM_ERR_LIMIT, "costs add up to more than 64 bits hold")
                         : PM_OK;
}

/* --- the lifted tree --- */

struct tree_build {
    struct pm_call_tree tree;
    uint32_t cap; /* of its nodes */
    /* node number + 1 by (parent, row), open addressing, at most half full; 0 free */
    uint32_t *table;
    uint32_t table_size;
    const struct pm_call_nesting *nesting; /* NULL: none */
};

static uint32_t *slot_of(const struct tree_build *build, uint32_t parent, uint32_t row)
{
    uint64_t key = ((uint64_t)parent << 32 | row) * 0x9e3779b97f4a7c15u;
    uint32_t at = (uint32_t)(key >> 32) & (build->table_size - 1);
    for (; build->table[at]; at = (at + 1) & (build->table_size - 1)) {
        const struct pm_call_node *node = &build->tree.nodes[build->table[at] - 1];
        if (node->parent == parent && node->row == row)
            break;
    }
    return &build->table[at];
}

static bool grow_table(struct tree_build *build)
{
    uint32_t size = build->table_size ? build->table_size * 2 : 1024, *old = build->table;
    uint32_t *table = size ? pm_alloc_array(size, sizeof *table) : NULL;
    if (!table)
        return false;
    build->table = table;
    build->table_size = size;
    for (uint32_t i = 0; i < build->tree.n_nodes; i++)
        *slot_of(build, build->tree.nodes[i].parent, build->tree.nodes[i].row) = i + 1;
    free(old);
    return true;
}

/* The node below `parent` for `row`; PM_NONE: memory ended. */
static uint32_t find_node(struct tree_build *build, uint32_t parent, uint32_t row)
{
    struct pm_call_tree *tree = &build->tree;
    if (tree->n_nodes * 2ul >= build->table_size && !grow_table(build))
        return PM_NONE;
    uint32_t *slot = slot_of(build, parent, row);
    if (*slot)
        return *slot - 1;
    struct pm_call_node *nodes =
        pm_grow_array(tree->nodes, tree->n_nodes, &build->cap, 256, sizeof *nodes);
    if (!nodes)
        return PM_NONE;
    tree->nodes = nodes;
    nodes[tree->n_nodes] =
        (struct pm_call_node){parent, row, parent == PM_NONE ? 0 : nodes[parent].depth + 1};
    *slot = ++tree->n_nodes;
    return tree->n_nodes - 1;
}

/* Whether `row` is `outer` or lies in it. */
static bool lies_in(const struct tree_build *build, uint32_t row, uint32_t outer)
{
    while (row != PM_NONE && row != outer)
        row = build->nesting->around[row];
    return row != PM_NONE;
}

/* The steps between a node and a row below it: the rows around it that the path up to the
 * function does not have. Outermost first. */
static bool add_around(struct tree_build *build, uint32_t *node, uint32_t row)
{
    enum { MAX_DEPTH = 64 };
    const struct pm_call_nesting *nesting = build->nesting;
    uint32_t missing[MAX_DEPTH], n = 0, function = PM_NONE;
    if (!nesting || nesting->is_function[row])
        return true;
    for (uint32_t up = nesting->around[row]; up != PM_NONE && n < MAX_DEPTH;
         up = nesting->around[up]) {
        if (nesting->is_function[up]) {
            function = up;
            break;
        }
        missing[n++] = up;
    }
    for (uint32_t at = *node; n && at != PM_NONE; at = build->tree.nodes[at].parent) {
        if (build->tree.nodes[at].row == function)
            break;
        for (uint32_t i = 0; i < n; i++)
            if (lies_in(build, build->tree.nodes[at].row, missing[i]))
                n = i;
    }
    while (n-- > 0) {
        *node = find_node(build, *node, missing[n]);
        if (*node == PM_NONE)
            return false;
    }
    return true;
}

static uint32_t function_around(const struct pm_call_nesting *nesting, uint32_t row)
{
    while (row != PM_NONE && !nesting->is_function[row])
        row = nesting->around[row];
    return row;
}

/* The node that a context of a row is below. Code of a loop may have been inlined into it: the
 * functions that it was written in are on its path, but they lie in the loop, not around it. */
static uint32_t node_above(const struct tree_build *build, const struct pm_graph *graph, pm_index c,
                           uint32_t row)
{
    const struct pm_call_nesting *nesting = build->nesting;
    const uint32_t *node_of = build->tree.node_of;
    pm_index parent = graph->contexts[c].parent, up = parent;
    uint32_t node = parent == PM_NONE ? PM_NONE : node_of[parent];
    uint32_t function = nesting ? function_around(nesting, row) : PM_NONE;
    if (node == PM_NONE || function == PM_NONE || function == row)
        return node;
    while (
        up != PM_NONE && graph->contexts[up].flags & PM_CONTEXT_INLINED &&
        (node_of[up] == PM_NONE || !lies_in(build, build->tree.nodes[node_of[up]].row, function)))
        up = graph->contexts[up].parent;
    bool is_in = up != PM_NONE && node_of[up] != PM_NONE &&
                 lies_in(build, build->tree.nodes[node_of[up]].row, function);
    return is_in ? node_of[up] : node;
}

/* false: memory ended. */
static bool add_context(struct tree_build *build, const struct pm_graph *graph,
                        const struct pm_lift *lift, bool folds, pm_index c)
{
    const struct pm_context *context = &graph->contexts[c];
    uint32_t *node_of = build->tree.node_of;
    uint32_t node = context->parent == PM_NONE ? PM_NONE : node_of[context->parent];
    uint32_t class = lift->class_of[context->sentence];
    if (class == PM_NONE) { /* transparent */
        node_of[c] = node;
        return true;
    }
    PM_ASSERT(lift->class_first[class + 1] - lift->class_first[class] == 1);
    uint32_t row = lift->parts[lift->class_first[class]].row;
    if (folds && node != PM_NONE && build->tree.nodes[node].row == row) {
        node_of[c] = node;
        return true;
    }
    enum { BEGUN = PM_CONTEXT_AMBIENT | PM_CONTEXT_FOLDED };
    for (uint32_t up = node; up != PM_NONE && (context->flags & BEGUN) == BEGUN;
         up = build->tree.nodes[up].parent)
        if (build->tree.nodes[up].row == row) { /* where it is said what went on meanwhile */
            node_of[c] = up;
            return true;
        }
    node = node_above(build, graph, c, row);
    if (!add_around(build, &node, row))
        return false;
    node_of[c] = find_node(build, node, row);
    return node_of[c] != PM_NONE;
}

enum pm_status pm_call_tree_make(const struct pm_graph *graph, const struct pm_lift *lift,
                                 const struct pm_call_nesting *nesting, const bool *folds,
                                 struct pm_error *err, struct pm_call_tree *ret_tree)
{
    struct tree_build build = {
        .tree.node_of = pm_alloc_array(graph->n_contexts, sizeof *build.tree.node_of),
        .nesting = nesting,
    };
    bool ok = build.tree.node_of != NULL;
    for (pm_index c = 0; c < graph->n_contexts && ok; c++)
        ok = add_context(&build, graph, lift, folds[c], c);
    free(build.table);
    if (!ok) {
        pm_call_tree_release(&build.tree);
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory for a call tree of %u contexts",
                            graph->n_contexts);
    }
    *ret_tree = build.tree;
    return PM_OK;
}

void pm_call_tree_release(struct pm_call_tree *tree)
{
    free(tree->nodes);
    free(tree->node_of);
    *tree = (struct pm_call_tree){0};
}
