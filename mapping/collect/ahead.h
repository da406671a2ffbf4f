/* Run files, read by several threads ahead of who wants them.
 *
 *     struct run_ahead *ahead = run_ahead_new(files, n, &clock, n_threads);
 *     for (size_t i = 0; i < n; i++) {
 *         status = run_ahead_take(ahead, i, err, &file);       // as pm_run_file_open
 *         ...
 *         pm_run_file_free(file);
 *     }
 *     run_ahead_free(ahead);
 *
 * To read and check files is most of the work where there are many. What comes out is the same for
 * any number of threads. The caller is one of them while it waits. Memory: as many files as twice
 * the threads, and two; large ones are only read when it is their turn.
 */
#ifndef PM_COLLECT_AHEAD_H
#define PM_COLLECT_AHEAD_H

#include "mapping/run/run_file.h"

struct run_ahead_file {
    const char *path;
    uint64_t size_bytes;
};

struct run_ahead;
/* files, clock: lent. n_threads: at most; 0: one for each processor. NULL: memory. */
struct run_ahead *run_ahead_new(const struct run_ahead_file *files, size_t n,
                                const struct pm_run_clock *clock, unsigned n_threads);
/* File i, each once and in order. Errors are those of pm_run_file_open. */
PM_MUST_CHECK enum pm_status run_ahead_take(struct run_ahead *ahead, size_t i, struct pm_error *err,
                                            struct pm_run_file **ret_file);
void run_ahead_free(struct run_ahead *ahead); /* NULL is fine */

#endif
