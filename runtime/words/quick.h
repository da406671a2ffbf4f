/* Entering and leaving contexts that have no sleds - sentences, causes - when nothing is in the
 * way. In C. */
#ifndef PM_QUICK_H
#define PM_QUICK_H

#include "runtime/tree/children.h"
#include "runtime/tree/frame.h"

/* Is there nothing to be done before a child of this node is entered? */
static inline bool pm_way_is_free(const struct pm_tls *t, const struct pm_node *node, uint32_t noun,
                                  uintptr_t sp)
{
    return pm_likely(*t->ring_head == t->ring_seen && node->sp >= sp) &&
           (pm_likely(node->sp != sp) || node->loop_depth != PM_SLED_DEPTH_MASK ||
            node->noun != noun);
}

/* Without a time, the child that was entered last: no call, so no register is saved. False: any
 * other way. */
static inline bool pm_enter_at_once(uint32_t noun, uintptr_t sp)
{
    struct pm_tls *t = &pm_tls;
    struct pm_node *node = pm_load(t->current), *child = pm_load(node->cached_child);
    if (!pm_way_is_free(t, node, noun, sp) || pm_unlikely(child->noun != noun))
        return false;
    pm_context_enter(&t->current, child, PM_QUICKLY, sp, 0);
    return true;
}

/* What the trampolines of loops do (code/x86_64/trampolines.c), in C. False: the slow way. */
static inline bool pm_enter_quickly(uint32_t noun, uintptr_t sp, uint64_t tsc)
{
    struct pm_tls *t = &pm_tls;
    struct pm_node *node = pm_load(t->current), *child;
    if (!pm_way_is_free(t, node, noun, sp))
        return false;
    child = pm_load(node->cached_child);
    if (child->noun != noun) { /* two by turns: {heap Allocate}, {heap Free} */
        child = pm_known_child(t, node, noun);
        if (child == NULL)
            return false;
        pm_store(node->cached_child, child);
    }
    pm_context_enter(&t->current, child, PM_QUICKLY, sp, tsc);
    return true;
}

static inline bool pm_leave_quickly(uint32_t noun, uintptr_t sp, uint64_t tsc)
{
    struct pm_tls *t = &pm_tls;
    struct pm_node *node = pm_load(t->current);
    if (*t->ring_head != t->ring_seen || node->noun != noun || node->sp != sp)
        return false;
    pm_context_leave_quickly(&t->current, node, tsc);
    return true;
}

#endif
