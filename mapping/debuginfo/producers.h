/* Which compilers made a file, by its debug information.
 *
 *     static bool visit(void *context, const char *producer)
 *     {
 *         puts(producer);         // "GNU C17 12.2.0 -mtune=generic -O2"
 *         return true;
 *     }
 *     status = pm_debug_producers(path, build_id, visit, NULL, &err);
 *
 * GCC writes its options, too; Clang only with -grecord-command-line. Of a large file the first
 * units are read. One thread at a time.
 */
#ifndef PM_DEBUG_PRODUCERS_H
#define PM_DEBUG_PRODUCERS_H

#include "../base/status.h"

/* producer: of one unit, lent for the call. Returns false to end. */
typedef bool pm_producer_visit(void *context, const char *producer);

/* build_id as in debuginfo.h. No debug information, a damaged one, and one that is too large to be
 * read for this are no errors. */
PM_MUST_CHECK enum pm_status pm_debug_producers(const char *path, const char *build_id,
                                                pm_producer_visit *visit, void *context,
                                                struct pm_error *err);

#endif
