/* Where axes as rows: a tree of all places of one axis, each with what it has and what is below
 * it. Every cost is at one place, so what the places have adds up to the total.
 *
 *     Machine          node > process > thread
 *     Code             file (of code without one: binary) > function > loop
 *     Data             file > function, or type > variable > field; code that touches none apart
 *     MPI              communicator > tag > rank at the other end; window; file
 *     SyncObject       locks, conditions, semaphores, barriers, messages, ... > each of them
 *
 * Code and data count as rows of the lift do: what several constructs share is a set, and lies in
 * what all of them lie in. Of MPI and SyncObject the innermost sentence on a context's path counts:
 * what a call of MPI costs, with all that was done for it.
 *
 *     struct pm_view_where where = {0}; // struct pm_view *view: up to its focus
 *     if (pm_view_where_make(view, &err, &where) == PM_OK)
 *         use(where.nodes[where.node_of[context]]);
 *     pm_view_where_release(&where);
 */
#ifndef PM_VIEW_WHERE_H
#define PM_VIEW_WHERE_H

#include "view.h"

struct pm_view_where_node {
    uint32_t parent;   /* smaller than its own position; PM_NONE: top */
    uint32_t depth;    /* 0: top */
    uint32_t lift_row; /* that is this place; PM_NONE: none is */
    uint32_t group;    /* without a row: the noun, in view->groups; PM_NONE: no noun */
    const char *name;  /* without a row and a noun, and of no runner */
    enum pm_runner runner;
    uint32_t thread; /* of a runner: its first one */
};

struct pm_view_where {
    struct pm_view_where_node *nodes;
    uint32_t n_nodes, cap;
    uint32_t *node_of; /* per context, of Machine per thread */
};

/* When lift and focus are made, of a view whose grouping is a where axis. Adds to view->groups.
 * Calls of code that counts for a place around it are no calls of the place, and are taken out of
 * the view's costs. PM_ERR_NOT_FOUND: the archive has nothing of that axis, and why. */
PM_MUST_CHECK enum pm_status pm_view_where_make(struct pm_view *view, struct pm_error *err,
                                                struct pm_view_where *ret_where);
void pm_view_where_release(struct pm_view_where *where);

/* First step of a view: such rows are a tree; the level where its words are. */
PM_MUST_CHECK enum pm_status pm_view_begin_where(struct pm_view *view, struct pm_error *err);

#endif
