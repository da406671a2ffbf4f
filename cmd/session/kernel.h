/* What the kernel itself writes to disks, while a program runs and when it has ended, by trace
 * events of all CPUs (docs/ADAPTERS.md).
 *
 *     // NULL: not available here, why says more
 *     struct session_kernel *kernel = session_kernel_open(&why);
 *     struct pollfd poll = {.fd = session_kernel_fd(kernel), .events = POLLIN};
 *     session_kernel_read(kernel);                  // when there is something
 *     // the program's files are synced; writes kernel-writes.txt
 *     session_kernel_end(kernel, run_dir, &clock, &notes);
 *     session_kernel_free(kernel);
 *
 *   kernel.c         events and their rings
 *   kernel_files.c   whose bytes they are: which inodes the program had open
 */
#ifndef PM_SESSION_KERNEL_H
#define PM_SESSION_KERNEL_H

#include "notes.h"

#include "mapping/run/run_file.h"

struct session_kernel;
struct session_kernel *session_kernel_open(struct pm_buf *why);
int session_kernel_fd(const struct session_kernel *kernel);
void session_kernel_read(struct session_kernel *kernel);
/* What is wrong with it is noted. */
void session_kernel_end(struct session_kernel *kernel, const char *run_dir,
                        const struct pm_run_clock *clock, struct session_notes *notes);
void session_kernel_free(struct session_kernel *kernel);

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
/* By thread and time. Valid until the next session_kernel_read. */
const struct kernel_record *session_kernel_records(struct session_kernel *kernel, size_t *ret_n);
uint64_t session_kernel_n_lost(const struct session_kernel *kernel);

#endif
