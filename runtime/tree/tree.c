/* Events: what trampolines leave to C, and everything of portable mode. frame.h says which frames
 * each event ends first, and in which order an enter and a leave store.
 *
 * An exit that finds no frame belongs to a call that got no context, or whose entry was not
 * armed.
 *
 * Contexts whose nouns come to have none (modes.c) while they are open get no exit any more.
 * Nobody can know whether their frame still lives, so they are closed from outside (gone, sp 0),
 * which brings the next event that finds one as the youngest here, and it is taken off. Events
 * that were on their way when the sleds changed are not counted.
 *
 * Events of mode active do not know the time (tsc 0), and contexts that they begin have
 * start_tsc 0 while they are open. Each noun has its own mode, which may change at any time;
 * roots always have times.
 */
#include "runtime/tree/tree.h"
#include "runtime/base/upward.h"
#include "runtime/tree/ambient.h"
#include "runtime/tree/children.h"
#include "runtime/tree/coroutines.h"
#include "runtime/tree/fold.h"
#include "runtime/tree/frame.h"
#include "runtime/tree/jump.h"

#include <stddef.h>

struct pm_node pm_sentinel = {
    .noun = 0xfffffffeu, .cached_child = &pm_sentinel, .flags = PM_NODE_TERMS};

static inline unsigned how_of(unsigned mode)
{
    return PM_SLOWLY | (mode == PM_RUN_MODE_TRACE ? PM_TRACED : 0);
}

/* Its time ends before what it jumped to does. */
static void pop_jumped(struct pm_node **current, struct pm_node *node, uint64_t tsc)
{
    if (node->start_tsc != 0)
        pm_store(node->flags, node->flags | PM_RUN_NODE_JUMPED);
    pm_context_leave(current, node, tsc);
}

static void pop_exit(struct pm_node **current, struct pm_node *node, unsigned kind, uint64_t tsc)
{
    if (kind == PM_SLED_TAIL)
        pop_jumped(current, node, tsc);
    else
        pm_context_leave(current, node, tsc);
}

static void pop_dead(struct pm_node **current, struct pm_node *node, uint64_t tsc)
{
    if (pm_sp_jumped(node->sp)) {
        pop_jumped(current, node, pm_end_of_jump(node, tsc));
        return;
    }
    bool disarmed = pm_node_is_gone(node) || pm_noun_is_leaving(node->noun);
    if (pm_context_leave(current, node, tsc) && !disarmed)
        pm_add_shared(pm_process.file.header->n_healed, 1);
}

void pm_close_all(struct pm_node *node, uint64_t tsc)
{
    while (node != NULL)
        pm_context_leave(&node, node, tsc);
}

static void enter(struct pm_tls *t, struct pm_node **current, const struct pm_probe *probe,
                  uint64_t sp, uint64_t tsc)
{
    struct pm_node *parent = pm_innermost(t, current, tsc);
    if (!pm_is_inside(parent, probe))
        return;
    struct pm_node *node = pm_child_of(t, parent, probe, 0, pm_may_have_context(parent));
    if (node == NULL) {
        pm_fold(t, current, parent, probe, sp);
        return;
    }
    pm_store(parent->cached_child, node);
    pm_context_enter(current, node, how_of(probe->mode), sp, tsc);
}

static void pop_all_dead(struct pm_tls *t, struct pm_node **current, uint64_t limit, uint64_t tsc)
{
    for (;;) {
        struct pm_node *node = pm_innermost(t, current, tsc);
        if (node->parent == NULL ||
            (!pm_frame_is_gone(node, limit) && !pm_has_returned(t, node, limit)))
            return;
        pop_dead(current, node, tsc);
    }
}

/* Functions that jump to each other for ever are entered anew where they were: the chain has
 * each once. */
static void end_until(struct pm_tls *t, struct pm_node **current, uint32_t noun, uint64_t sp,
                      uint64_t tsc)
{
    for (bool found = !pm_is_in_chain(pm_innermost(t, current, tsc), noun, sp); !found;) {
        struct pm_node *node = pm_innermost(t, current, tsc);
        found = node->noun == noun;
        if (!pm_context_leave(current, node, tsc))
            return;
    }
}

static void enter_function(struct pm_tls *t, struct pm_node **current, const struct pm_probe *probe,
                           uint64_t sp, uint64_t tsc)
{
    if (pm_unlikely(pm_is_jumped_to(t, pm_innermost(t, current, tsc), probe->noun, sp))) {
        end_until(t, current, probe->noun, sp, tsc);
        bool more = pm_sp_frame(pm_innermost(t, current, tsc)->sp) == sp;
        enter(t, current, probe, more ? sp - 2 : sp, tsc);
        return;
    }
    pop_all_dead(t, current, sp + 1, tsc);
    enter(t, current, probe, sp, tsc);
}

static void enter_loop(struct pm_tls *t, struct pm_node **current, const struct pm_probe *probe,
                       uint64_t sp, uint64_t tsc)
{
    for (;;) {
        struct pm_node *node = pm_innermost(t, current, tsc);
        if (node->parent == NULL)
            break;
        bool sibling = node->sp != 0 && node->sp <= sp && node->loop_depth >= probe->loop_depth;
        if (sibling && node->loop_depth == PM_SLED_DEPTH_MASK && node->noun != probe->noun)
            sibling = false; /* that deep, depths are not told apart */
        if (!sibling && !pm_frame_is_gone(node, sp) && !pm_has_returned(t, node, sp))
            break;
        pop_dead(current, node, tsc);
    }
    enter(t, current, probe, sp, tsc);
}

/* Without folded calls every exit has its frame; but for loops that ended with a sentence around
 * them, which their code is still to leave. */
static void count_unmatched(struct pm_tls *t, const struct pm_probe *probe)
{
    if (probe->kind == PM_SLED_LOOP_LEAVE && t->n_loops_left > 0)
        t->n_loops_left--;
    else if (t->slot->thread->n_events_folded == 0 && probe->loop_depth <= 1 &&
             probe->inside == 0 && !pm_noun_is_leaving(probe->noun))
        pm_add_shared(pm_process.file.header->n_unmatched, 1);
}

static void leave_function(struct pm_tls *t, struct pm_node **current, const struct pm_probe *probe,
                           uint64_t sp, uint64_t tsc)
{
    for (;;) {
        struct pm_node *node = pm_innermost(t, current, tsc);
        if (node->parent == NULL ||
            (pm_sp_frame(node->sp) != sp && !pm_frame_is_gone(node, sp + 1)))
            break;
        if (pm_sp_frame(node->sp) == sp && node->noun == probe->noun && !pm_sp_jumped(node->sp)) {
            if (probe->kind == PM_SLED_TAIL && pm_stays_open(node, probe, sp)) {
                pm_jump_away(t, node, probe, sp, tsc);
                return;
            }
            pop_exit(current, node, probe->kind, tsc);
            while (pm_sp_jumped((node = pm_innermost(t, current, tsc))->sp) &&
                   pm_sp_frame(node->sp) == sp && node->parent != NULL)
                pop_exit(current, node, probe->kind, tsc);
            return;
        }
        pop_dead(current, node, tsc);
    }
    count_unmatched(t, probe);
}

/* The loop's stack pointer need not be that of its entry (alloca in the loop, arguments not yet
 * popped): what matters is the frame. A match whose sp lies below S is taken only when no
 * function's frame is between it and the youngest living one. */
static const struct pm_node *find_loop(const struct pm_node *node, uint32_t noun, uint64_t sp)
{
    const struct pm_node *weak = NULL;
    for (; node->parent != NULL; node = node->parent) {
        if (node->loop_depth == 0) {
            if (!pm_frame_is_gone(node, sp))
                break;
            weak = NULL;
        } else if (node->noun == noun) {
            if (node->sp >= sp)
                return node;
            weak = node;
        }
    }
    return weak;
}

static void leave_loop(struct pm_tls *t, struct pm_node **current, const struct pm_probe *probe,
                       uint64_t sp, uint64_t tsc)
{
    const struct pm_node *loop = find_loop(pm_innermost(t, current, tsc), probe->noun, sp);
    if (loop == NULL) {
        pop_all_dead(t, current, sp, tsc);
        count_unmatched(t, probe);
        return;
    }
    for (;;) {
        struct pm_node *node = pm_innermost(t, current, tsc);
        if (node->parent == NULL)
            return;
        if (probe->kind == PM_RUN_SENTENCE_LEAVE && node->kind == PM_SLED_LOOP_ENTER)
            t->n_loops_left += !pm_frame_is_gone(node, sp);
        if (node == loop || (node->loop_depth > loop->loop_depth && node->sp == loop->sp))
            pm_context_leave(current, node, tsc); /* left together */
        else
            pop_dead(current, node, tsc);
        if (node == loop)
            return;
    }
}

/* Which loop a setjmp() lies in: the one that was active when code first came behind it. For each
 * landing a word: which it is, and the loop's noun and 1; 0: free. */
static uint64_t setjmp_loops[256];

/* 0: not known. noun: what it is, if nobody has said it yet. */
static uint32_t loop_of_setjmp(const struct pm_probe *probe, uint32_t noun)
{
    uint64_t key = (uintptr_t)probe / sizeof *probe << 32;
    uint64_t *place = &setjmp_loops[(key >> 32) % (sizeof setjmp_loops / sizeof *setjmp_loops)];
    uint64_t known = 0;
    if (!__atomic_compare_exchange_n(place, &known, key | (noun + 1), false, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED) &&
        (known ^ key) >> 32 != 0)
        return 0; /* of another one */
    return known != 0 ? (uint32_t)known - 1 : noun;
}

static struct pm_node *loop_in(const struct pm_node *parent, uint32_t noun, uint8_t depth)
{
    struct pm_node *node = pm_load(parent->first_child);
    while (node != NULL && (node->noun != noun || node->kind != PM_SLED_LOOP_ENTER ||
                            node->loop_depth != depth || node->flags & PM_RUN_NODE_FOLDED))
        node = node->next_sibling;
    return node;
}

/* longjmp() may lead from a loop back into an earlier one, which was left: it goes on, and is no
 * further entry. */
static void return_to_loop(struct pm_tls *t, struct pm_node **current, const struct pm_probe *probe,
                           uint64_t sp, uint64_t tsc)
{
    struct pm_node *loop = pm_innermost(t, current, tsc);
    if (loop->kind != PM_SLED_LOOP_ENTER || loop->loop_depth != probe->loop_depth ||
        pm_function_of(loop)->noun != probe->noun)
        return;
    uint32_t noun = loop_of_setjmp(probe, loop->noun);
    struct pm_node *earlier =
        noun != loop->noun ? loop_in(loop->parent, noun, loop->loop_depth) : NULL;
    if (earlier == NULL)
        return;
    pop_dead(current, loop, tsc);
    pm_context_enter(current, earlier, how_of(probe->mode), sp, tsc);
    pm_add_own(&earlier->n_calls, (uint64_t)-1);
}

/* An exception was caught here, or a longjmp led here. */
static void land(struct pm_tls *t, struct pm_node **current, const struct pm_probe *probe,
                 uint64_t sp, uint64_t tsc)
{
    pop_all_dead(t, current, sp, tsc);
    for (;;) {
        struct pm_node *node = pm_innermost(t, current, tsc);
        if (node->kind != PM_SLED_LOOP_ENTER || node->loop_depth <= probe->loop_depth ||
            pm_function_of(node)->noun != probe->noun)
            break;
        pop_dead(current, node, tsc);
    }
    if (probe->by_setjmp)
        return_to_loop(t, current, probe, sp, tsc);
}

static void count(struct pm_tls *t, const struct pm_probe *probe)
{
    uint64_t *counters = t->bank[probe->bank];
    if (counters == NULL && (counters = pm_bank_open(t, probe->bank)) == NULL)
        return;
    pm_add_own(&counters[probe->counter], 1);
}

/* On its way when the noun's mode was changed to one without contexts. */
static void count_late(struct pm_tls *t, const struct pm_probe *probe)
{
    const struct pmr_noun *noun = pm_noun_at(probe->noun);
    if (pm_load(noun->mode) == PM_RUN_MODE_COUNT && probe->bank < PM_MAX_BANKS)
        count(t, probe);
}

static void event(struct pm_tls *t, struct pm_node **current, const struct pm_probe *probe,
                  uint64_t sp, uint64_t tsc)
{
    if (pm_unlikely(pm_noun_is_disarmed(probe->noun)) && pm_kind_is_entry(probe->kind)) {
        count_late(t, probe);
        return;
    }
    switch (probe->kind) {
    case PM_SLED_ENTRY:
        enter_function(t, current, probe, sp, tsc);
        return;
    case PM_SLED_RETURN:
    case PM_SLED_TAIL:
        leave_function(t, current, probe, sp, tsc);
        break;
    case PM_SLED_LOOP_ENTER:
    case PM_RUN_SENTENCE_ENTER:
    case PM_RUN_CAUSE_ENTER:
        enter_loop(t, current, probe, sp, tsc);
        return;
    case PM_SLED_LAND:
        land(t, current, probe, sp, tsc);
        break;
    default:
        leave_loop(t, current, probe, sp, tsc);
    }
    struct pm_node *node = pm_load(*current);
    if (pm_unlikely(pm_sp_jumps(node->sp)) && node->parent != NULL)
        pm_settle_jump(t, node);
}

/* A stack above the thread's own (signal stack, coroutine): it gets a tree of its own, lest its
 * first event ends all frames. Lower ones nest like calls. While there, every event comes here, to
 * notice the way back. */
static void event_foreign(struct pm_tls *t, const struct pm_probe *probe, uint64_t sp, uint64_t tsc)
{
    uint64_t now = tsc != 0 ? tsc : pm_tsc();
    if (t->current == &pm_sentinel && t->where == PM_WHERE_FOLDED)
        pm_unfold(t);
    if (t->current !=
        &pm_sentinel) { /* also when a trampoline that was interrupted put its own context back */
        pm_add_shared(pm_process.file.header->n_foreign_stack, 1);
        if (t->slot->foreign_root == NULL) {
            struct pm_node *root =
                pm_root_make(t->slot, UINT64_MAX, PM_RUN_NODE_FOREIGN_STACK, now);
            if (root == NULL) {
                pm_add_shared(pm_process.file.header->n_lost_contexts, 1);
                return;
            }
            pm_store(t->slot->foreign_root, root);
        }
        if (t->foreign_current == NULL)
            t->foreign_current = t->slot->foreign_root;
        if (pm_unlikely(t->foreign_current->set != t->set))
            pm_ambient_settle(t, tsc);
        t->slot->foreign_root->start_tsc = now;
        t->slot->foreign_root->sp = UINT64_MAX;
        t->own_current = t->current;
        t->where = PM_WHERE_FOREIGN;
        pm_barrier();
        pm_store(t->current, &pm_sentinel);
    }
    event(t, &t->foreign_current, probe, sp, tsc);
}

/* A context's time must hold the switches that are charged to it, and no others. What is left
 * ends when the ring was read. What is entered begins after that, for reading it takes time,
 * too: when nothing has come since, for the system calls behind the reading are where threads
 * are preempted; else the next event would charge that to what is entered now. */
static uint64_t after_drain(struct pm_tls *t, uint64_t drained_tsc)
{
    enum { MOST_DRAINS = 4 };
    for (int i = 0; i < MOST_DRAINS; i++) {
        uint64_t tsc = pm_tsc();
        if (!pm_ring_has_moved(t))
            return tsc;
        drained_tsc = pm_sample_drain(t);
    }
    return drained_tsc;
}

void pm_event_exact(struct pm_tls *t, const struct pm_probe *probe, uint64_t sp, uint64_t tsc)
{
    bool timed = pm_mode_is_timed(probe->mode);
    if (pm_unlikely(t->state != PM_THREAD_READY)) {
        if (!pm_thread_begin(t, timed ? tsc : pm_tsc()))
            return;
        tsc = timed ? pm_tsc() : 0;
    }
    if (*t->ring_head != t->ring_seen) { /* what it holds was before this event */
        bool moved = pm_ambient_look(t);
        uint64_t drained_tsc = pm_sample_drain(t);
        if (timed)
            tsc =
                moved || pm_kind_is_entry(probe->kind) ? after_drain(t, drained_tsc) : drained_tsc;
    }
    if (pm_unlikely(pm_coroutines_used) && pm_coroutine_check(t, sp) && timed)
        tsc = pm_tsc(); /* what was open there has gone on since */
    if (pm_unlikely(pm_own_current(t)->set !=
                    t->set)) /* a trampoline was interrupted, and put it back */
        pm_ambient_settle(t, tsc);
    if (pm_unlikely(sp > t->base->sp)) {
        event_foreign(t, probe, sp, tsc);
        return;
    }
    if (pm_unlikely(t->current == &pm_sentinel)) {
        if (t->where == PM_WHERE_FOREIGN) {
            pm_come_back(t, tsc);
        } else if (pm_event_folded(t, probe, sp)) {
            return;
        }
    }
    event(t, &t->current, probe, sp, tsc);
}

void pm_event_start(struct pm_tls *t, uint32_t noun, uint64_t tsc)
{
    struct pm_node *parent = t->current; /* the root, or a set of sentences below it */
    struct pm_probe probe = {
        .noun = noun, .kind = PM_RUN_CAUSE_START, .mode = (uint8_t)pm_process.mode};
    struct pm_node *node = pm_child_of(t, parent, &probe, 0, pm_may_have_context(parent));
    if (node != NULL)
        pm_context_enter(&t->current, node, how_of(probe.mode), t->slot->root->sp,
                         pm_mode_is_timed(probe.mode) ? tsc : 0);
}

static void event_count(struct pm_tls *t, const struct pm_probe *probe)
{
    if (pm_unlikely(t->state != PM_THREAD_READY) && !pm_thread_begin(t, pm_tsc()))
        return;
    count(t, probe);
}

void pm_slow(const struct pm_probe *probe, uint64_t sp, uint64_t tsc)
{
    struct pm_tls *t = &pm_tls;
    if (pm_unlikely(!*pm_process.alive_mark)) { /* of a clone() that no fork handler saw */
        pm_fork_child();
        tsc = pm_tsc();
    }
    if (probe->mode == PM_RUN_MODE_COUNT)
        event_count(t, probe);
    else
        pm_event_exact(t, probe, sp, pm_mode_is_timed(probe->mode) ? tsc : 0);
    if (pm_unlikely(t->reads_counters))
        pm_sample_resume(t);
}
