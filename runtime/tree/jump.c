/* Tail calls (jump.h). Where no sled tells when what was jumped to returns, contexts without times
 * stay for samples, until an event or a sample shows another return address at S, or a frame above.
 * Timed ones had their time up to the jump. */
#include "runtime/tree/jump.h"
#include "runtime/tree/noun.h"

#include <stddef.h>

/* A context that has jumped away, and where no sled told when that returned: it had its time up
 * to the jump. */
uint64_t pm_end_of_jump(const struct pm_node *node, uint64_t tsc)
{
    const struct pm_jump *jump = pm_jump_at(&pm_tls, pm_sp_frame(node->sp));
    bool known = tsc != 0 && jump->sp == pm_sp_frame(node->sp) && jump->tsc != 0;
    return known && jump->tsc > node->start_tsc ? jump->tsc : tsc;
}

bool pm_is_in_chain(const struct pm_node *node, uint32_t noun, uint64_t sp)
{
    for (; node->parent != NULL && pm_sp_frame(node->sp) == sp; node = node->parent)
        if (node->noun == noun)
            return true;
    return false;
}

/* Is the function that is entered what the youngest frame jumped to? Else that has returned, and
 * the caller calls at the same S: from another place, or what has been in the chain already (a
 * loop). */
bool pm_is_jumped_to(struct pm_tls *t, const struct pm_node *node, uint32_t noun, uint64_t sp)
{
    const struct pm_jump *jump = pm_jump_at(t, sp);
    if (node->sp == sp + 1 && pm_sp_jumps(node->sp))
        return true;
    if (!pm_sp_jumped(node->sp) || pm_sp_frame(node->sp) != sp || jump->sp != sp ||
        jump->return_address != *(const uint64_t *)sp)
        return false;
    return jump->to == PM_TAIL_TO_SLED
               ? jump->noun == noun
               : jump->to == PM_TAIL_ANYWHERE && !pm_is_in_chain(node, noun, sp);
}

/* Where nothing tells when it returns, a timed context ends here, and others stay for samples,
 * which tell by the return address. */
bool pm_stays_open(const struct pm_node *node, const struct pm_probe *probe, uint64_t sp)
{
    if (probe->tail == PM_TAIL_ENDS || sp % 8 != 0)
        return false;
    bool has_exit = probe->tail == PM_TAIL_TO_SLED && !pm_noun_is_disarmed(probe->counter);
    return has_exit || node->start_tsc == 0 ||
           (probe->tail == PM_TAIL_ANYWHERE && probe->mode != PM_RUN_MODE_TRACE);
}

void pm_jump_away(struct pm_tls *t, struct pm_node *node, const struct pm_probe *probe, uint64_t sp,
                  uint64_t tsc)
{
    struct pm_jump *jump = pm_jump_at(t, sp);
    *jump = (struct pm_jump){.sp = sp,
                             .return_address = *(const uint64_t *)sp,
                             .tsc = probe->mode != PM_RUN_MODE_TRACE ? tsc : 0,
                             .to = probe->tail,
                             .noun = probe->counter};
    pm_store(node->paused, node->start_tsc == 0 ? (uint32_t)jump->return_address : 0);
    pm_barrier();
    bool was_called = node->sp == sp;
    if (node->start_tsc == 0 && probe->tail != PM_TAIL_TO_SLED && sp % 16 == 8)
        pm_store(node->sp, was_called ? sp / 2 : sp / 2 - 1);
    else
        pm_store(node->sp, was_called ? sp - 1 : sp - 3);
}

/* What it jumped to was not entered, or has lost its context: whatever comes next is to be
 * looked at. */
void pm_settle_jump(struct pm_tls *t, struct pm_node *node)
{
    uint64_t sp = pm_sp_frame(node->sp);
    *pm_jump_at(t, sp) =
        (struct pm_jump){.sp = sp, .return_address = *(const uint64_t *)sp, .to = PM_TAIL_ANYWHERE};
    if (node->start_tsc == 0)
        pm_store(node->paused, *(const uint32_t *)sp);
    pm_barrier();
    pm_store(node->sp, sp - 1);
}
