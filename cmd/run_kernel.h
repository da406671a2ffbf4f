/* What the kernel itself writes to disks, while a program runs and when it has ended, by trace
 * events of all CPUs (docs/ADAPTERS.md).
 *
 *     // NULL: not available here, why says more
 *     struct run_kernel *kernel = run_kernel_open(&why);
 *     poll run_kernel_fd(kernel), then run_kernel_read(kernel);
 *     // the program's files are synced; writes kernel-writes.txt
 *     run_kernel_end(kernel, run_dir, &clock);
 *     run_kernel_free(kernel);
 *
 *   run_kernel.c         events and their rings
 *   run_kernel_files.c   whose bytes they are: which inodes the program had open
 */
#ifndef PM_CMD_RUN_KERNEL_H
#define PM_CMD_RUN_KERNEL_H

#include "run.h"

#include "mapping/run/run_file.h"

struct run_kernel;
struct run_kernel *run_kernel_open(struct pm_buf *why);
int run_kernel_fd(const struct run_kernel *kernel);
void run_kernel_read(struct run_kernel *kernel);
/* Tells what is wrong with it. */
void run_kernel_end(struct run_kernel *kernel, const char *run_dir,
                    const struct pm_run_clock *clock);
void run_kernel_free(struct run_kernel *kernel);

/* --- between the two --- */

enum kernel_event { KERNEL_BEGIN, KERNEL_END, KERNEL_BLOCKS, N_KERNEL_EVENTS };
/* One event. A thread that writes pages of an inode: BEGIN, BLOCKS..., END. */
struct kernel_record {
    uint64_t time_ns;      /* CLOCK_MONOTONIC_RAW */
    uint64_t inode, bytes; /* of BEGIN and END; of BLOCKS */
    uint32_t device;       /* as the kernel has it: major << 20 | minor */
    int32_t thread;        /* as the kernel counts them */
    enum kernel_event event;
};
/* By thread and time. Valid until the next run_kernel_read. */
const struct kernel_record *run_kernel_records(struct run_kernel *kernel, size_t *ret_n);
uint64_t run_kernel_n_lost(const struct run_kernel *kernel);

#endif
