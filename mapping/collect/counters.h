/* Events that processes counted, beside the clock. */
#ifndef PM_COLLECT_COUNTERS_H
#define PM_COLLECT_COUNTERS_H

#include "mapping/base/str.h"

struct collect_names;
struct collector;
struct pm_run_file;
struct pm_run_file_counter;

/* Makes a metric of each of the file's, fills names->counters, and says of the last process that
 * has a row how they were counted. */
PM_MUST_CHECK enum pm_status collect_counters(struct collector *c, const struct pm_run_file *file,
                                              struct collect_names *names);

/* Counts are scaled up where the kernel let events take turns. One for each thread and counter:
 * what rounding leaves goes to the next. */
struct collect_scaled {
    double seen, given;
};
uint64_t collect_scaled_count(const struct pm_run_file_counter *counter,
                              struct collect_scaled *scaled, uint64_t count);

#endif
