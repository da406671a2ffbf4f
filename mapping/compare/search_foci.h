/* The foci of a search while it goes on: search.c makes and judges them, search_tree.c arranges
 * those that are shown. */
#ifndef PM_COMPARE_SEARCH_FOCI_H
#define PM_COMPARE_SEARCH_FOCI_H

#include "search_cells.h"

struct focus {
    uint32_t nodes[PM_SEARCH_MAX_AXES]; /* the lowest that hold all of its cells; PM_NONE */
    uint32_t *tuples;                   /* NULL: its parts were looked for */
    uint32_t n_tuples;
    double l1, noise;    /* noise: a difference of no more can be chance */
    bool is_at_least[2]; /* by each way that led to it */
    bool is_failed;
    bool is_shown, is_compensating; /* search_tree.c */
    uint32_t parent;                /* likewise: the least shown one around it */
};

struct foci {
    struct focus *items; /* beside the rows of the comparison; the first is the whole program */
    uint32_t n, cap;
};

/* Fills search->foci, and puts the rows of the comparison into their order: those that are shown
 * come first, and are left. False: memory ended. */
PM_MUST_CHECK bool search_arrange(struct pm_search *search, const struct search_cells *cells,
                                  struct foci *foci);

static inline bool search_lies_in(const struct search_axis *axis, uint32_t node, uint32_t outer)
{
    if (outer == PM_NONE)
        return true;
    while (node != PM_NONE && axis->nodes[node].depth > axis->nodes[outer].depth)
        node = axis->nodes[node].parent;
    return node == outer;
}

/* What decides: divided by the speed of the runs, where they are. */
static inline double search_difference(const struct pm_compare_row *row)
{
    return row->scaled_means[PM_COMPARE_B] - row->scaled_means[PM_COMPARE_A];
}

#endif
