/* How long calls that processes take part in together waited for the others. */
#ifndef PM_COLLECT_MEETINGS_H
#define PM_COLLECT_MEETINGS_H

#include "mapping/base/str.h"

struct collect_names;
struct collect_node;
struct collector;
struct pm_run_file;
struct pm_run_file_thread;

/* Those of a run file, before its threads. */
/* Which ranks the process c->processes->n has in communicators. */
PM_MUST_CHECK enum pm_status collect_members(struct collector *c, const struct pm_run_file *file,
                                             const struct collect_names *names);
PM_MUST_CHECK enum pm_status collect_meetings_begin(struct collector *c,
                                                    const struct pm_run_file *file);
/* Those whose contexts are of that thread. nodes: as for collect_samples. */
PM_MUST_CHECK enum pm_status collect_meetings_add(
    struct collector *c, const struct pm_run_file *file, const struct pm_run_file_thread *thread,
    uint32_t thread_row, const struct collect_names *names, const struct collect_node *nodes);
/* All of all runs: who met whom, and the cost mpi_wait_ns of who waited. */
PM_MUST_CHECK enum pm_status collect_meetings_end(struct collector *c);
void collect_meetings_release(struct collector *c);

#endif
