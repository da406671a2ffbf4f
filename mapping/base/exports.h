/* The functions that a library gives to others: the dynamic symbols of a shared library, the
 * global ones of an archive of objects.
 *
 *     static void each(void *context, const struct pm_export *one);
 *     status = pm_exports_visit("/lib/x86_64-linux-gnu/libz.so.1", each, context, &err);
 *
 * Nothing in the file is trusted. Errors name the file. One thread at a time per file.
 */
#ifndef PM_EXPORTS_H
#define PM_EXPORTS_H

#include "status.h"

#include <stdint.h>

struct pm_export {
    const char *name; /* lent */
    bool is_hidden;   /* an old version, which only programs that were linked long ago find */
};

/* PM_ERR_SYSTEM: cannot be read; PM_ERR_FORMAT: no library, or a damaged one. */
PM_MUST_CHECK enum pm_status pm_exports_visit(const char *path,
                                              void (*visitor)(void *context,
                                                              const struct pm_export *one),
                                              void *context, struct pm_error *err);

#endif
