/* Signals on a thread's CPU time, for where there are no samples. */
#ifndef PM_RUNTIME_TICKS_H
#define PM_RUNTIME_TICKS_H

#include "runtime/tree/thread.h"

#include <stdbool.h>

/* Of the calling thread, whose slot it is. Early: more punctual at first, and dearer. */
void pm_ticks_begin(struct pm_slot *slot, bool is_early);
void pm_ticks_end(struct pm_slot *slot);
/* They are another process's, or another thread's that is gone. */
void pm_ticks_forget(struct pm_slot *slot);
void pm_ticks_fork_child(void);

#endif
