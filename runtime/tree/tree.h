/* The calling-context tree behind the trampolines: events that they leave to C. Below probes. */
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
void pm_close_all(struct pm_node *node, uint64_t tsc);

#endif
