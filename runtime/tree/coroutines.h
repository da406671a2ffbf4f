/* Stacks of makecontext: each has a tree of its own. */
#ifndef PM_RUNTIME_COROUTINES_H
#define PM_RUNTIME_COROUTINES_H

#include "runtime/tree/thread.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pm_coroutine;
extern bool pm_coroutines_used; /* there has been one */
void pm_coroutine_make(uint64_t low, uint64_t size_bytes);
/* The stack that has sp goes on in this thread. NULL: its own. */
struct pm_coroutine *pm_coroutine_resume(uint64_t sp);
bool pm_coroutine_is_fresh(struct pm_coroutine *c); /* once */
void pm_coroutine_end(uint64_t sp);                 /* its function has returned */
struct pm_coroutine *pm_coroutine_at(uint64_t sp);
/* An event came from this stack pointer: the thread may have changed stacks by other means. */
/* True: another stack has gone on, behind the time of the event. */
bool pm_coroutine_check(struct pm_tls *t, uint64_t sp);
void pm_coroutine_thread_begin(struct pm_tls *t, uint64_t top);
void pm_coroutine_thread_end(struct pm_tls *t); /* goes to the thread's own stack */
/* As pm_own_current, of the thread's own stack, also while it waits. */
struct pm_node *pm_home_current(const struct pm_tls *t);
void pm_coroutine_fork_child(void);
void pm_coroutine_renew(
    struct pm_tls *t,
    struct pm_coroutine *on); /* in the child, when the thread's own stack is renewed */

#endif
