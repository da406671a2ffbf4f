/* When costs of samples were: table cost_times. */
#ifndef PM_COLLECT_TIMES_H
#define PM_COLLECT_TIMES_H

#include "mapping/base/status.h"

#include <stddef.h>
#include <stdint.h>

struct collector;
struct pm_run_file;
struct pm_run_file_thread;

/* A cost that one sample (an item of the run file) has become. */
struct collect_timed {
    uint32_t metric, context, sample;
    uint64_t value;
};

/* Those of one thread. */
struct collect_times {
    struct collect_timed *items;
    size_t n, cap;
};

PM_MUST_CHECK enum pm_status collect_times_add(struct collector *c, struct collect_times *times,
                                               uint32_t context, uint32_t metric, uint32_t sample,
                                               uint64_t value);
/* Writes them, and forgets them. process_start_ns: of the file, from the execution's start. */
PM_MUST_CHECK enum pm_status collect_times_write(struct collector *c, struct collect_times *times,
                                                 const struct pm_run_file *file,
                                                 const struct pm_run_file_thread *thread,
                                                 uint32_t thread_row, uint64_t process_start_ns);
void collect_times_release(struct collect_times *times);

#endif
