/* The manifest of a run: what `perfmap run` knows about the whole run (format/pm_run.h says what
 * the file holds).
 *
 *     struct pm_manifest manifest;
 *     pm_manifest_init(&manifest);
 *     if (pm_manifest_read("heat.run", &manifest, &err) != PM_OK) ...
 *     printf("%s\n", manifest.argv[0]);
 *     pm_manifest_release(&manifest);
 *
 * `perfmap run` fills one, writes it before the program starts, sets the end's fields when the
 * program is gone, and writes it again; each writing replaces the file as a whole. Strings may hold
 * any bytes but zero. One thread at a time per object.
 */
#ifndef PM_MANIFEST_H
#define PM_MANIFEST_H

#include "../base/str.h"

#define PM_MANIFEST_NAME "manifest"
#define PM_MANIFEST_VERSION 1u

struct pm_manifest {
    char **argv; /* owned, NULL-ended array of owned strings; NULL: not stated */
    size_t n_args;
    char *cwd, *host, *perfmap, *mode; /* owned; NULL: not stated */
    char *question; /* owned: that only what it needs was measured for; NULL: none */
    uint64_t n_question_sleds, n_all_sleds; /* of these, when the program started */
    uint32_t pid;                           /* of the first process; 0: not stated */
    uint64_t start_realtime_ns, start_monotonic_ns, start_tsc;
    uint64_t tsc_hz; /* 0: not stated */
    uint64_t end_monotonic_ns,
        end_tsc;    /* 0: the program was still running, or `perfmap run` was killed */
    bool has_usage; /* the three below are known */
    uint64_t user_cpu_ns, system_cpu_ns, max_rss_bytes;
    int exit_status, exit_signal; /* -1: unknown, or not left that way */
    /* Attributes, and lines with keys of later versions, kept and written back: "key=value", still
     * encoded. */
    char **other; /* owned */
    size_t n_other;
};

void pm_manifest_init(struct pm_manifest *manifest); /* nothing stated, exit fields -1 */
void pm_manifest_release(struct pm_manifest *manifest);

/* Copies the argument vector of the program in; false when memory ended. */
PM_MUST_CHECK bool pm_manifest_set_argv(struct pm_manifest *manifest, char *const *argv,
                                        size_t n_args);
/* Copies one of the strings in: pm_manifest_set_text(&manifest.cwd, "..."). */
PM_MUST_CHECK bool pm_manifest_set_text(char **member, const char *value);
/* What the archive has as an attribute of the execution. key: not one of the members'; value:
 * printable, without '%'. False when memory ended. */
PM_MUST_CHECK bool pm_manifest_add_attribute(struct pm_manifest *manifest, const char *key,
                                             const char *value);

/* Reads RUN_DIR/manifest into an initialised struct. PM_ERR_NOT_FOUND: there is none.
 * PM_ERR_VERSION: of a version not known here. PM_ERR_FORMAT: a line that is malformed, named by
 * its number. */
PM_MUST_CHECK enum pm_status pm_manifest_read(const char *run_dir, struct pm_manifest *manifest,
                                              struct pm_error *err);
/* The same from memory; name is for messages. */
PM_MUST_CHECK enum pm_status pm_manifest_parse(const char *name, const char *text, size_t len,
                                               struct pm_manifest *manifest, struct pm_error *err);

/* Writes RUN_DIR/manifest, whole or not at all. */
PM_MUST_CHECK enum pm_status pm_manifest_write(const char *run_dir,
                                               const struct pm_manifest *manifest,
                                               struct pm_error *err);

#endif
