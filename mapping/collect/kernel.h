/* What the kernel wrote of a run's files, on behalf of who wrote them. */
#ifndef PM_COLLECT_KERNEL_H
#define PM_COLLECT_KERNEL_H

#include "mapping/base/str.h"

struct collect_names;
struct collect_node;
struct collector;
struct pm_run_file;
struct pm_run_file_sample;
struct pm_run_file_thread;

/* Has the run folder a file of that? */
PM_MUST_CHECK enum pm_status collect_kernel_start(struct collector *c, const char *run_dir);
/* The inodes that a run file names; when its words have their rows. */
PM_MUST_CHECK enum pm_status collect_kernel_words(struct collector *c,
                                                  const struct pm_run_file *file,
                                                  const struct collect_names *names);
/* A cost that was said at a node. nodes: as for collect_samples; context: that of the cost. */
PM_MUST_CHECK enum pm_status collect_kernel_cost(
    struct collector *c, const struct pm_run_file *file, const struct pm_run_file_thread *thread,
    const struct pm_run_file_sample *sample, const struct collect_names *names,
    const struct collect_node *nodes, uint32_t context, uint32_t thread_row);
PM_MUST_CHECK enum pm_status collect_kernel_end(struct collector *c); /* of the run */
void collect_kernel_release(struct collector *c);

#endif
