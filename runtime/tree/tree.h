/* The calling-context tree behind the trampolines: events that they leave to C, and the children
 * of contexts. Below probes. */
#ifndef PM_RUNTIME_TREE_H
#define PM_RUNTIME_TREE_H

#include "runtime/tree/thread.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void pm_slow(const struct pm_probe *probe, uint64_t sp, uint64_t tsc); /* any event, any mode */
void pm_event_exact(struct pm_tls *t, const struct pm_probe *probe, uint64_t sp, uint64_t tsc);
/* The thread, which has no context but its root, begins within this cause. All signals are
 * blocked. */
void pm_event_start(struct pm_tls *t, uint32_t noun, uint64_t tsc);
struct pm_node *pm_root_make(struct pm_slot *slot, uint64_t sp, uint32_t flags, uint64_t tsc);
bool pm_index_open(struct pm_slot *slot);
void pm_index_clear(struct pm_slot *slot);
void pm_index_put(struct pm_slot *slot, struct pm_node *node); /* which is not in it */
void pm_close_all(struct pm_node *node, uint64_t tsc);
/* Puts a child into the quick table (pm_tls.hash), where trampolines look for it. */
void pm_hash_child(const struct pm_tls *t, struct pm_node *node);
/* A child that the quick table knows; NULL: look on. */
struct pm_node *pm_known_child(const struct pm_tls *t, const struct pm_node *parent, uint32_t noun);
/* The child for this probe; makes one when there is none and it may. NULL: there is none. */
struct pm_node *pm_child_of(struct pm_tls *t, struct pm_node *parent, const struct pm_probe *probe,
                            uint32_t flags, bool may_make);
/* For what is made beside contexts that are told apart: somewhat beyond their limit. */
bool pm_may_exceed(void);
void pm_say_limit(void);
/* the innermost context on the thread's own stack; thread is ready */
struct pm_node *pm_own_current(const struct pm_tls *t);

/* What a folded call or a foreign stack hides: the innermost context of the stack that the
 * thread is on. */
struct pm_node *pm_settle(struct pm_tls *t, uint64_t tsc);
/* A context like this one, of another thread's tree, below parent, open as that is, without a
 * call. NULL: no memory. */
struct pm_node *pm_reopen(struct pm_tls *t, struct pm_node *parent, const struct pm_node *like);

/* Has what a context without a time jumped to returned, for the return address is another one
 * now? False: nobody knows. sp: nothing below is alive. */
bool pm_has_returned(const struct pm_tls *t, const struct pm_node *node, uint64_t sp);

#endif
