/* Which statements code was called from, and inlined at. */
#ifndef PM_COLLECT_SITES_H
#define PM_COLLECT_SITES_H

#include "mapping/base/status.h"

struct collect_code;
struct collector;

PM_MUST_CHECK enum pm_status collect_inlined_at(struct collector *c,
                                                const struct collect_code *code);
/* When all contexts are there. */
PM_MUST_CHECK enum pm_status collect_calls_end(struct collector *c);

#endif
