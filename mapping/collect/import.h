/* Costs that were measured elsewhere. */
#ifndef PM_COLLECT_IMPORT_H
#define PM_COLLECT_IMPORT_H

#include "mapping/base/status.h"

struct collector;

/* Costs that were measured elsewhere: a thread of their own. name: of the execution that is made
 * when there is none; NULL: the file's. */
PM_MUST_CHECK enum pm_status collect_cost_file(struct collector *c, const char *path,
                                               const char *name);

#endif
