/* Calls that get no context, and stacks other than the thread's own: what it means that `current`
 * is the sentinel. */
#include "runtime/tree/fold.h"
#include "runtime/base/clock.h"
#include "runtime/tree/children.h"
#include "runtime/tree/noun.h"

#include <stddef.h>

struct pm_node *pm_own_current(const struct pm_tls *t)
{
    if (t->current != &pm_sentinel)
        return t->current;
    return t->where == PM_WHERE_FOREIGN ? t->own_current : t->fold_at;
}

/* Counts a call that gets no context. */
static void count_folded(struct pm_tls *t, struct pm_node *at, const struct pm_probe *probe)
{
    pm_add_own(&t->slot->thread->n_events_folded, 1);
    pm_add_shared(pm_process.file.header->n_lost_contexts, 1);
    struct pm_node *node = pm_child_of(t, at, probe, PM_RUN_NODE_FOLDED, pm_may_exceed());
    if (node != NULL)
        pm_add_own(&node->n_calls, 1);
    pm_say_limit();
}

/* From here to the exit of this call everything is counted below `at`. On a foreign stack the
 * extent is not kept. */
void pm_fold(struct pm_tls *t, struct pm_node **current, struct pm_node *at,
             const struct pm_probe *probe, uint64_t sp)
{
    count_folded(t, at, probe);
    if (current != &t->current)
        return;
    do { /* again when a handler has folded a call of its own in between */
        t->fold_at = at;
        t->fold_sp = sp;
        t->fold_noun = probe->noun;
        t->fold_loop_depth = probe->loop_depth;
        pm_store(t->where, PM_WHERE_FOLDED);
        pm_barrier();
        pm_store(t->current, &pm_sentinel);
        pm_barrier();
    } while (pm_load(t->fold_sp) != sp || pm_load(t->where) != PM_WHERE_FOLDED);
}

void pm_unfold(struct pm_tls *t)
{
    t->where = PM_WHERE_OWN;
    pm_barrier();
    pm_store(t->current, t->fold_at);
}

/* The thread's own stack again. */
void pm_come_back(struct pm_tls *t, uint64_t tsc)
{
    struct pm_node *root = t->slot->foreign_root;
    if (tsc == 0)
        tsc = pm_tsc();
    uint64_t spent = tsc - root->start_tsc;
    pm_add_own(&root->inclusive_tsc, spent);
    pm_store(root->sp, 0);
    for (struct pm_node *node = t->own_current; node->parent != NULL; node = node->parent)
        if (node->start_tsc != 0) /* this is not their time */
            pm_add_own(&node->start_tsc, spent);
    t->fold_at = t->own_current; /* what pm_own_current finds until it is current */
    t->where = PM_WHERE_OWN;
    pm_barrier();
    pm_store(t->current, t->own_current);
}

static void begin_later(struct pm_node *node, uint64_t spent_tsc)
{
    for (; node != NULL; node = node->parent)
        if (node->start_tsc != 0)
            pm_add_own(&node->start_tsc, spent_tsc);
}

void pm_take_out(struct pm_tls *t, uint64_t spent_tsc)
{
    if (t->slot == NULL || t->trace_end != NULL)
        return;
    begin_later(pm_own_current(t), spent_tsc);
    if (t->where == PM_WHERE_FOREIGN)
        begin_later(t->foreign_current, spent_tsc);
}

/* A handler on a foreign stack, or one that folded and never came to the end of that, may have put
 * the sentinel there since the event began. */
struct pm_node *pm_innermost_again(struct pm_tls *t, struct pm_node **current, uint64_t tsc)
{
    struct pm_node *node;
    while (pm_unlikely((node = pm_load(*current)) == &pm_sentinel))
        if (t->where == PM_WHERE_FOREIGN)
            pm_come_back(t, tsc);
        else
            pm_unfold(t);
    return node;
}

static bool is_loop(unsigned kind)
{
    return kind != PM_SLED_ENTRY && kind != PM_SLED_RETURN && kind != PM_SLED_TAIL;
}

/* Within a folded call. True: the event is dealt with. False: that call is over, and the event is
 * an ordinary one. */
bool pm_event_folded(struct pm_tls *t, const struct pm_probe *probe, uint64_t sp)
{
    bool folded_loop = t->fold_loop_depth != 0, same_frame = sp == t->fold_sp;
    if (pm_noun_is_disarmed(t->fold_noun)) {
        pm_unfold(t);
        return false;
    }
    if (probe->noun == t->fold_noun && !pm_kind_is_entry(probe->kind) &&
        (same_frame || (folded_loop && sp < t->fold_sp))) {
        pm_unfold(t);
        return true;
    }
    bool inside = sp < t->fold_sp;
    if (same_frame && is_loop(probe->kind))
        inside = probe->loop_depth > t->fold_loop_depth;
    if (!inside) {
        pm_unfold(t);
        return false;
    }
    if (pm_kind_is_entry(probe->kind) && pm_is_inside(t->fold_at, probe))
        count_folded(t, t->fold_at, probe);
    return true;
}
