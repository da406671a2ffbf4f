/* Calls that processes take part in together, as an adapter tells of them. */
#ifndef PM_RUNTIME_MEETINGS_H
#define PM_RUNTIME_MEETINGS_H

#include <stdint.h>

struct pm_run_meeting;
/* One more in the run file, in the context of a cause of this process. Takes no lock but where a
 * chunk is full; after the first million it is counted only. */
void pm_meet(const struct pm_run_meeting *meeting, uint64_t cause);
void pm_meetings_fork_child(void);

#endif
