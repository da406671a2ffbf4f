/* The file that an archive is while it is written: NAME.PID.N.tmp beside it, locked by its
 * writer.
 *
 *     struct pm_temporary temporary;
 *     if (pm_temporary_make("heat.perfmap", "archive", ".perfmap", &err, &temporary) == PM_OK) {
 *         write_it(temporary.path);
 *         rename(temporary.path, temporary.target);    // or unlink(temporary.path)
 *         pm_temporary_release(&temporary);
 *     }
 *
 * A writer that is killed leaves its file. The next one that writes into that folder removes it.
 * Nobody writes a file whose lock can be had, on whichever machine or in whichever container;
 * what a PID that lives here left is kept for a day all the same. Where there are no locks all
 * is kept.
 */
#ifndef PM_TEMPORARY_H
#define PM_TEMPORARY_H

#include "../base/status.h"

struct pm_temporary {
    char *target; /* where it goes to: the path given, or what it links to */
    char *path;   /* NULL: there is none */
    int fd;       /* holds the lock; -1: none */
};

/* noun is for messages. What killed writers left of files with the usual suffix is removed. */
PM_MUST_CHECK enum pm_status pm_temporary_make(const char *target, const char *noun,
                                               const char *usual_suffix, struct pm_error *err,
                                               struct pm_temporary *ret_temporary);
/* Gives up the lock; the file stays. */
void pm_temporary_release(struct pm_temporary *temporary);

#endif
