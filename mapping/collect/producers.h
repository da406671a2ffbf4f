/* Which compiler made the program, and how far it optimised: attributes of executions. */
#ifndef PM_COLLECT_PRODUCERS_H
#define PM_COLLECT_PRODUCERS_H

#include "mapping/base/status.h"

struct collector;

/* `compiler` ("GCC 12.2.0") and `opt` ("O2") of what has the plugin's facts, else of the program.
 * Several are joined by "+"; what debug information does not say is left out. */
PM_MUST_CHECK enum pm_status collect_producers_end(struct collector *c);

#endif
