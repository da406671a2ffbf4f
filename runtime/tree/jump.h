/* Tail calls: which context jumped where (sp.h says how its sp tells that). Below probes. */
#ifndef PM_RUNTIME_JUMP_H
#define PM_RUNTIME_JUMP_H

#include "runtime/tree/thread.h"

#include <stdbool.h>
#include <stdint.h>

/* A context that has jumped away, and where no sled told when that returned: it had its time up
 * to the jump. */
uint64_t pm_end_of_jump(const struct pm_node *node, uint64_t tsc);
/* Is there a frame of this noun among those of the chain at sp? */
bool pm_is_in_chain(const struct pm_node *node, uint32_t noun, uint64_t sp);
/* Is the function that is entered what the youngest frame jumped to? */
bool pm_is_jumped_to(struct pm_tls *t, const struct pm_node *node, uint32_t noun, uint64_t sp);
/* Does the context that jumps stay open? */
bool pm_stays_open(const struct pm_node *node, const struct pm_probe *probe, uint64_t sp);
void pm_jump_away(struct pm_tls *t, struct pm_node *node, const struct pm_probe *probe, uint64_t sp,
                  uint64_t tsc);
/* What it jumped to was not entered, or has lost its context. */
void pm_settle_jump(struct pm_tls *t, struct pm_node *node);

#endif
