/* Frames: which of them are dead, and the order in which an enter and a leave store.
 *
 * Frames are told apart by the stack pointer S of an event (functions: at the sled, CFA - 8;
 * loops: within the function's frame). Stacks grow down. An event first ends the frames that are
 * dead, for longjmp or an exception has left them:
 *
 *     event            dead                              then
 *     function entry   frames with sp <= S, but for      a child of the youngest frame is pushed
 *                      one that jumped to this function
 *     return, tail     frames with sp < S                the frame with sp == S and this noun ends
 *     loop entry       frames with sp < S, and loops     a child is pushed
 *                      of this frame that are not
 *                      outside of this one (depth)
 *     loop exit        what lies deeper in the loop      the youngest loop of this noun ends
 *     landing          frames with sp < S, and loops     behind setjmp(): the loop that it
 *                      of this frame that are deeper     lies in goes on, if another one is
 *                      than where it goes on             active there
 *
 * A sample at stack pointer S belongs to the youngest frame whose sp is not below S. All of them
 * ask pm_frame_is_dead(), whose limit is S, or S + 1 where a frame at S itself is dead:
 *
 *     context                                 is dead when
 *     function, or root of a thread's cause   its frame lies below the limit
 *     sentence or cause of the program's      its frame does: the function that entered it may have
 *                                             no sleds, or none any more
 *     loop                                    its frame does, and that of its function: compilers
 *                                             pop the arguments of a call only later (-fdefer-pop)
 *     loop without a function around it       its frame does
 *     half-open (sp 0)                        its parent's frame does
 *     closed from outside, or disarmed        always: pm_frame_is_gone()
 *     jumped away, without a time             also when another return address is at S:
 *                                             pm_has_returned()
 *
 * A signal handler may run between any two instructions, call instrumented code (also the very
 * function that was being entered) and return, or never return. So all that enters or leaves - the
 * slow path, quick.h, ambient.c, trampolines (code/x86_64/trampolines.c) - stores in this order:
 *
 *     enter                                   leave
 *     1  n_calls + 1, by one instruction      1  the time is read, and start_tsc
 *     2  gone = 0 (slow); 5 and 6             2  current = parent
 *     3  current = node                       3  the event            (mode trace)
 *     4  the event         (mode trace)       4  sp = 0
 *     5  start_tsc; 0: without a time         5  gone = 0                (slow)
 *     6  sp = S                               6  the time is added, by one instruction (timed)
 *
 * A handler in between an enter's 3 and 6, or a leave's 1 and 2, sees a node that is open, and
 * nests below it; when it jumps out, the frame is dead as any other. An enter's 5 and 6 come twice,
 * for a handler between 2 and 3 may enter the node and leave it; behind a leave's 2 it may, too.
 * Half-open is what two handlers have interrupted, and what differs:
 *
 *     trampolines of mode active    enter: 2 without 5
 *                                   leave: 4 before 2 where no register is free for the parent
 *     trampolines of mode trace     enter: 4 (its place), 3, 5, 4 (the event itself), 6: no 2, for
 *                                   what is jumped out of has no event
 *                                   leave: 4, 6, 3 (its place), 2, 3 (the event itself)
 *     slow leave                    2 only if current still is the node, by one instruction: else
 *                                   a handler has ended it
 *     ambient.c                     moves `current` once for all of a path, between 6 of what is
 *                                   entered and 4 of what is left
 */
#ifndef PM_RUNTIME_FRAME_H
#define PM_RUNTIME_FRAME_H

#include "runtime/base/clock.h"
#include "runtime/tree/noun.h"
#include "runtime/tree/thread.h"
#include "runtime/tree/trace.h"

#include <stdbool.h>
#include <stdint.h>

/* The context of the function that a loop, sentence or cause lies in; a root: there is none. */
static inline const struct pm_node *pm_function_of(const struct pm_node *node)
{
    while (node->loop_depth != 0)
        node = node->parent;
    return node;
}

/* Is this frame dead, when nothing below `limit` can be alive? Not for roots. Also of a tree that
 * another thread changes. */
static inline bool pm_frame_is_dead(const struct pm_node *node, uint64_t limit)
{
    uint64_t sp = pm_load(node->sp);
    if (sp == 0) {
        uint64_t parent_sp = pm_load(node->parent->sp);
        return node->parent->parent != NULL && parent_sp != 0 && pm_sp_frame(parent_sp) < limit;
    }
    if (pm_sp_frame(sp) >= limit)
        return false;
    if (pm_node_is_said(node))
        return true;
    const struct pm_node *function = pm_function_of(node);
    return function == node || function->parent == NULL || function->kind == PM_RUN_CAUSE_START ||
           pm_sp_frame(pm_load(function->sp)) < limit;
}

/* Dead, or not there any more for all we can know. */
static inline bool pm_frame_is_gone(const struct pm_node *node, uint64_t limit)
{
    return pm_frame_is_dead(node, limit) || pm_node_is_gone(node) ||
           pm_noun_is_disarmed(node->noun);
}

/* Is it the thread's own stack that has this frame, and that it is on? Then it may be read. */
bool pm_frame_is_on_own_stack(const struct pm_tls *t, uint64_t frame);

/* Has what a context without a time jumped to returned, for the return address is another one
 * now? False: nobody knows. sp: nothing below is alive. */
bool pm_jump_has_returned(const struct pm_tls *t, const struct pm_node *node, uint64_t sp);
static inline bool pm_has_returned(const struct pm_tls *t, const struct pm_node *node, uint64_t sp)
{
    return pm_unlikely(pm_sp_jumped_away(pm_load(node->sp))) && pm_jump_has_returned(t, node, sp);
}

/* Constants: who enters or leaves. */
enum { PM_QUICKLY = 0, PM_SLOWLY = 1, PM_TRACED = 2 };

static inline void pm_context_record(struct pm_node *const *current, uint32_t head, uint32_t noun,
                                     uint64_t tsc)
{
    uint32_t foreign = current != &pm_tls.current ? PM_RUN_TRACE_FOREIGN : 0;
    pm_trace_fill(pm_trace_reserve(&pm_tls), head | pm_trace_noun(noun) | foreign, tsc);
}

/* tsc 0: the event has no time. */
static inline void pm_context_enter(struct pm_node **current, struct pm_node *node, unsigned how,
                                    uint64_t sp, uint64_t tsc)
{
    if ((how & PM_TRACED) != 0)
        pm_trace_room(&pm_tls, tsc);
    pm_add_own(&node->n_calls, 1);
    if ((how & PM_SLOWLY) != 0)
        pm_store(node->gone, 0);
    if ((how & PM_TRACED) == 0) {
        if ((how & PM_SLOWLY) != 0 || tsc != 0)
            pm_store(node->start_tsc, tsc);
        pm_store(node->sp, sp);
    }
    pm_barrier();
    pm_store(*current, node);
    if ((how & PM_TRACED) != 0)
        pm_context_record(current, PM_RUN_TRACE_ENTER, node->noun, tsc);
    if ((how & PM_SLOWLY) != 0 || tsc != 0)
        pm_store(node->start_tsc, tsc);
    pm_store(node->sp, sp);
    pm_barrier();
}

/* A leave's 4 to 6. spent 0: nothing is to be added. */
static inline void pm_context_close(struct pm_node *node, unsigned how, uint64_t spent)
{
    pm_store(node->sp, 0);
    if ((how & PM_SLOWLY) != 0)
        pm_store(node->gone, 0);
    pm_barrier();
    if (spent != 0)
        pm_add_own(&node->inclusive_tsc, spent);
}

/* Nothing is in the way, and the context has this frame: it is current. tsc 0: the event has no
 * time. */
static inline void pm_context_leave_quickly(struct pm_node **current, struct pm_node *node,
                                            uint64_t tsc)
{
    uint64_t spent = tsc != 0 ? tsc - node->start_tsc : 0;
    pm_store(*current, node->parent);
    pm_context_close(node, PM_QUICKLY, spent);
}

/* False: a handler that came in between has ended this frame (only dead ones), look again. tsc
 * 0: the event has none, but the frame may have begun with one. */
static inline bool pm_context_leave(struct pm_node **current, struct pm_node *node, uint64_t tsc)
{
    uint64_t start = node->start_tsc, spent = 0;
    bool traced = pm_tls.trace_end != NULL && start != 0 && node->parent != NULL;
    if (tsc == 0 && start != 0)
        tsc = pm_tsc();
    if (start != 0 && pm_load(node->sp) != 0 &&
        tsc > start) /* else it has waited since (coroutines.c) */
        spent = tsc - start;
    if (traced)
        pm_trace_room(&pm_tls, tsc);
    if (!__atomic_compare_exchange_n(current, &(struct pm_node *){node}, node->parent, false,
                                     __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        return false;
    pm_barrier();
    if (traced)
        pm_context_record(current, PM_RUN_TRACE_LEAVE, node->noun, tsc);
    pm_context_close(node, PM_SLOWLY, spent);
    return true;
}

#endif
