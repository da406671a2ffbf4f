/* Entering and leaving contexts that have no sleds - sentences, causes - when nothing is in the
 * way. In C. */
#ifndef PM_QUICK_H
#define PM_QUICK_H

#include "runtime/tree/tree.h"

/* What the trampolines of loops do (x86_64/trampolines.c), in C. False: the slow way. */
static inline bool pm_enter_quickly(uint32_t noun, uintptr_t sp, uint64_t tsc)
{
    struct pm_tls *t = &pm_tls;
    struct pm_node *node = pm_load(t->current), *child;
    if (*t->ring_head != t->ring_seen || node->sp < sp ||
        (node->sp == sp && node->loop_depth == PM_SLED_DEPTH_MASK && node->noun == noun))
        return false;
    child = pm_load(node->cached_child);
    if (child->noun != noun) { /* two by turns: {heap Allocate}, {heap Free} */
        child = pm_known_child(t, node, noun);
        if (child == NULL)
            return false;
        pm_store(node->cached_child, child);
    }
    pm_add_own(&child->n_calls, 1);
    pm_store(t->current, child);
    if (tsc != 0)
        pm_store(child->start_tsc, tsc);
    pm_store(child->sp, sp);
    return true;
}

static inline bool pm_leave_quickly(uint32_t noun, uintptr_t sp, uint64_t tsc)
{
    struct pm_tls *t = &pm_tls;
    struct pm_node *node = pm_load(t->current);
    if (*t->ring_head != t->ring_seen || node->noun != noun || node->sp != sp)
        return false;
    uint64_t start_tsc = node->start_tsc;
    pm_store(t->current, node->parent);
    pm_store(node->sp, 0);
    if (tsc != 0)
        pm_add_own(&node->inclusive_tsc, tsc - start_tsc);
    return true;
}

#endif
