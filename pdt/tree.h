/* Who calls whom, as a tree.
 *
 *     struct pdt_tree *tree;
 *     if (pdt_tree_make(pdb, "main", PDT_CALLS_FROM, 4, &err, &tree) == PM_OK)
 *         for (uint32_t i = 0; i < tree->n_nodes; i++)
 *             printf("%*s%s\n", 2 * (int)tree->nodes[i].depth, "", tree->nodes[i].name);
 *     pdt_tree_free(tree);
 *
 * A routine's own calls are listed where it comes first; elsewhere it is marked. When the depth cut
 * something there, they are listed again where there is more room. So trees are no larger than the
 * graph times the depth.
 */
#ifndef PDT_TREE_H
#define PDT_TREE_H

#include "pdb.h"

#include "mapping/base/arena.h"

enum pdt_direction { PDT_CALLS_FROM, PDT_CALLS_TO };

struct pdt_tree_node {
    uint32_t depth; /* 0: a routine that was asked for */
    int64_t routine;
    const char *name, *file; /* file NULL: not known */
    uint32_t line, n_calls;  /* places in the routine above that call it (are called by it) */
    uint32_t n_targets;      /* 1: it is this one; else one of so many that a pointer may lead to */
    bool is_pointer, is_virtual, is_recursive; /* it is above itself */
    bool is_repeated;                          /* its calls are shown elsewhere */
    bool is_cut;                               /* it has calls below the depth asked for */
    bool is_defined;
};

struct pdt_tree {
    struct pdt_tree_node *nodes;
    uint32_t n_nodes, cap_nodes;
    struct pm_arena arena;
};

/* root: a name, or a pattern as in queries: ^a, a$, with * and ?; names alone mean all of it.
 * PM_ERR_NOT_FOUND with a suggestion. */
PM_MUST_CHECK enum pm_status pdt_tree_make(struct pm_database *pdb, const char *root,
                                           enum pdt_direction direction, uint32_t depth,
                                           struct pm_error *err, struct pdt_tree **ret_tree);
void pdt_tree_free(struct pdt_tree *tree);

#endif
