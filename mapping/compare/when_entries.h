/* When each entry of a loop or a function was, of the trace of a run.
 *
 *     struct when_target target = {.kind = "loop", .file = "/src/heat.c", .line_no = 40};
 *     struct when_entries entries = {0};
 *     if (when_entries_read("heat.perfmap", &target, &err, &entries) == PM_OK)
 *         use(entries.times_ns[0], entries.n);
 *     free(entries.times_ns);
 */
#ifndef PM_COMPARE_WHEN_ENTRIES_H
#define PM_COMPARE_WHEN_ENTRIES_H

#include "mapping/base/status.h"

#include <stdint.h>

struct when_target {
    const char *kind, *name, *file; /* as the archive has it; name: of a function */
    uint32_t line_no;
};

struct when_entries {
    double *times_ns; /* since the start of the run, of all threads, rising */
    uint32_t n, cap;
};

/* PM_ERR_NOT_FOUND: there is no trace, or no entry in it. */
PM_MUST_CHECK enum pm_status when_entries_read(const char *path, const struct when_target *target,
                                               struct pm_error *err, struct when_entries *ret);

#endif
