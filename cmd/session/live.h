/* A run that goes on, as an archive of what there is by now.
 *
 *     struct live_run run = {0};
 *     if (live_run_open(4711, err, &run) == PM_OK && live_run_collect(&run, err) == PM_OK)
 *         use(run.archive);
 *     live_run_close(&run);
 *
 * Run files are valid at any time. The archive is in a folder of its own, and is written anew by
 * each live_run_collect. One thread.
 */
#ifndef PM_SESSION_LIVE_H
#define PM_SESSION_LIVE_H

#include "mapping/base/status.h"

#include <limits.h>
#include <stdint.h>

struct live_run {
    char dir[PATH_MAX]; /* of its run files */
    char *folder, *archive;
};

/* PM_ERR_NOT_FOUND: there is no such process, or it is not measured. */
PM_MUST_CHECK enum pm_status live_run_open(uint64_t pid, struct pm_error *err,
                                           struct live_run *ret_run);
PM_MUST_CHECK enum pm_status live_run_collect(const struct live_run *run, struct pm_error *err);
/* Also of what was not opened; the archive is gone then. */
void live_run_close(struct live_run *run);

#endif
