/* Requests to this process while it runs. */
#ifndef PM_RUNTIME_CONTROL_H
#define PM_RUNTIME_CONTROL_H

#include <stdint.h>

/* when there is a run file: makes the chunk, installs the bell's handler; again after fork */
void pm_control_begin(void);
void pm_control_answer(uint64_t tsc); /* all signals are blocked, adapt.c's lock is held */
void pm_control_fork_child(void);

#endif
