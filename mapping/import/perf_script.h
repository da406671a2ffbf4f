/* The text of `perf script`, for perf.c that runs it. */
#ifndef PM_IMPORT_PERF_SCRIPT_H
#define PM_IMPORT_PERF_SCRIPT_H

#include "../base/str.h"

struct import;

/* As `perf buildid-list` has it. */
struct perf_build_id {
    char *path;
    char bytes[32]; /* raw */
    size_t len;
};

PM_MUST_CHECK enum pm_status perf_read_text(struct import *im,
                                            const struct perf_build_id *build_ids, size_t n);

#endif
