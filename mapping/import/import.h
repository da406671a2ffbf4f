/* Profiles and traces of other tools (docs/import.md).
 *
 *     struct pm_import_options options = {.size = sizeof options};
 *     status = pm_import_file("perf.data", &options, sink, &err);    // sink.h
 *
 * What it is is found by its beginning, unless options say so. Readers stream: memory grows with
 * the number of different stacks, not with the file. Nothing in it is trusted.
 */
#ifndef PM_IMPORT_H
#define PM_IMPORT_H

#include "sink.h"

struct pm_import_options {
    size_t size;        /* sizeof(struct pm_import_options) of the caller */
    const char *format; /* a word of formats.def; NULL: by the file's beginning */
    const char *exe;    /* the program that a file does not name; NULL: not known */
    const char *unit;   /* of values that have none in the file; NULL: samples */
};

/* PM_ERR_NOT_FOUND, PM_ERR_SYSTEM, PM_ERR_FORMAT (damaged, or of no known format), PM_ERR_LIMIT,
 * PM_ERR_USAGE (no such format), PM_ERR_UNSUPPORTED (needs a tool or library that is not there),
 * PM_ERR_MEMORY, and those of the sink. */
PM_MUST_CHECK enum pm_status pm_import_file(const char *path,
                                            const struct pm_import_options *options,
                                            struct pm_import_sink *sink, struct pm_error *err);
/* The same of bytes in memory, in that format. */
PM_MUST_CHECK enum pm_status pm_import_bytes(const char *name, const void *bytes, size_t len,
                                             const struct pm_import_options *options,
                                             struct pm_import_sink *sink, struct pm_error *err);

#endif
