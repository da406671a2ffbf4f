/* Children of contexts, and roots. Below probes. */
#ifndef PM_RUNTIME_CHILDREN_H
#define PM_RUNTIME_CHILDREN_H

#include "runtime/tree/thread.h"

#include <stdbool.h>
#include <stdint.h>

struct pm_node *pm_root_make(struct pm_slot *slot, uint64_t sp, uint32_t flags, uint64_t tsc);
bool pm_index_open(struct pm_slot *slot);
void pm_index_clear(struct pm_slot *slot);
void pm_index_put(struct pm_slot *slot, struct pm_node *node); /* which is not in it */
/* Puts a child into the quick table (pm_tls.hash), where trampolines look for it. */
void pm_hash_child(const struct pm_tls *t, struct pm_node *node);
/* A child that the quick table knows; NULL: look on. */
struct pm_node *pm_known_child(const struct pm_tls *t, const struct pm_node *parent, uint32_t noun);
/* The child for this probe; makes one when there is none and it may. NULL: there is none. */
struct pm_node *pm_child_of(struct pm_tls *t, struct pm_node *parent, const struct pm_probe *probe,
                            uint32_t flags, bool may_make);
/* Below this one a new context may be made. */
bool pm_may_have_context(const struct pm_node *parent);
/* For what is made beside contexts that are told apart: somewhat beyond their limit. */
bool pm_may_exceed(void);
void pm_say_limit(void);
/* A context like this one, of another thread's tree, below parent, open as that is, without a
 * call. NULL: no memory. */
struct pm_node *pm_reopen(struct pm_tls *t, struct pm_node *parent, const struct pm_node *like);

#endif
