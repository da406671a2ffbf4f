/* Where the thread is when `current` is the sentinel: within a call that got no context (folded),
 * or on a foreign stack, a signal's or a coroutine's that nobody reported. Below probes. */
#ifndef PM_RUNTIME_FOLD_H
#define PM_RUNTIME_FOLD_H

#include "runtime/tree/thread.h"

#include <stdbool.h>
#include <stdint.h>

/* From here to the exit of this call everything is counted below `at`. On a foreign stack the
 * extent is not kept. */
void pm_fold(struct pm_tls *t, struct pm_node **current, struct pm_node *at,
             const struct pm_probe *probe, uint64_t sp);
void pm_unfold(struct pm_tls *t);
/* Within a folded call. True: the event is dealt with. False: that call is over, and the event is
 * an ordinary one. */
bool pm_event_folded(struct pm_tls *t, const struct pm_probe *probe, uint64_t sp);
/* The thread's own stack again. */
void pm_come_back(struct pm_tls *t, uint64_t tsc);

/* What the thread has just done for us, so much of its time, is no part of the time of what is
 * open. For outside of events, in mode exact: a trace's times are what they are. */
void pm_take_out(struct pm_tls *t, uint64_t spent_tsc);

/* the innermost context on the thread's own stack; thread is ready */
struct pm_node *pm_own_current(const struct pm_tls *t);
struct pm_node *pm_innermost_again(struct pm_tls *t, struct pm_node **current, uint64_t tsc);

/* A handler on a foreign stack, or one that folded and never came to the end of that, may have put
 * the sentinel there since the event began. */
static inline struct pm_node *pm_innermost(struct pm_tls *t, struct pm_node **current, uint64_t tsc)
{
    struct pm_node *node = pm_load(*current);
    return pm_likely(node != &pm_sentinel) ? node : pm_innermost_again(t, current, tsc);
}

/* What a folded call or a foreign stack hides: the innermost context of the stack that the
 * thread is on. */
static inline struct pm_node *pm_settle(struct pm_tls *t, uint64_t tsc)
{
    return pm_innermost(t, &t->current, tsc);
}

#endif
