/* Events of mode trace. */
#ifndef PM_COLLECT_TRACE_H
#define PM_COLLECT_TRACE_H

#include "mapping/base/str.h"

struct collect_names;
struct collector;
struct pm_run_file;

/* Events of all threads of a file, path, whose rows are first_thread and on. */
PM_MUST_CHECK enum pm_status collect_trace(struct collector *c, uint64_t start_tsc,
                                           const char *path, const struct pm_run_file *file,
                                           uint32_t first_thread,
                                           const struct collect_names *names);

#endif
