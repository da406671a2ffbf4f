/* From run folders to an archive.
 *
 *     const char *runs[] = {"heat.run"};
 *     struct pm_collect_options options = {.size = sizeof options};
 *     struct pm_collect_result result = {0};
 *     if (pm_collect(runs, 1, "heat.perfmap", &options, &err, &result) != PM_OK) ...
 *     for (size_t i = 0; i < result.n_warnings; i++)
 *         say(result.warnings[i]);
 *     pm_collect_result_release(&result);
 *
 * Each run folder becomes one execution. Of each binary that had sleds the compact PIF is read,
 * when the file is still the one that ran (same build-id; without one, same size and time of
 * change). The archive is made as a temporary beside its place and renamed when it is complete and
 * synced: an archive that was there is replaced as a whole or not at all. docs/formats/archive.md
 * says what is in it.
 *
 * What is damaged or missing becomes a warning, and the rest is collected: a manifest that is not
 * there, a run file that is cut, a binary without PIF. One thread at a time per archive.
 */
#ifndef PM_COLLECT_H
#define PM_COLLECT_H

#include "mapping/base/str.h"
#include "mapping/base/statement_names.h"

struct pm_collect_options {
    size_t size;                  /* sizeof(struct pm_collect_options) of the caller */
    const char *const *pif_paths; /* PIF files of the user, read after the binaries' */
    size_t n_pif_paths;
    const char *name; /* of the execution; NULL: the run folder's name. Only with one run */
    const char *const *
        /* files of costs measured elsewhere (mapping/costs); with them there may be no run at
         * all */
        costs_paths;
    size_t n_costs_paths;
    const char *const *
        /* programs and libraries whose facts are read although nothing ran; with them there may
         * be no run at all */
        binary_paths;
    size_t n_binary_paths;
    const char *const *
        /* profiles and traces of other tools (mapping/import), one execution; with them there may
         * be no run at all */
        profile_paths;
    size_t n_profile_paths;
    const char *profile_format, *profile_unit, *profile_exe; /* as in struct pm_import_options */
    unsigned n_threads; /* that work at most; 0: one for each processor. The archive is the same */
    bool is_repeatable; /* as pm_archive_is_repeatable */
};

struct pm_collect_result {
    char **warnings; /* owned; whole sentences without "warning:" */
    size_t n_warnings;
    size_t n_executions, n_processes, n_threads, n_contexts, n_nouns, n_mappings;
    /* over all processes (a process in portable mode counts as 1); 0: nothing was instrumented */
    size_t n_sleds;
    size_t n_sampled; /* processes of which samples were taken */
    uint64_t n_calls;
};
void pm_collect_result_release(struct pm_collect_result *result);

/* options NULL: all as by default. ret_result may be NULL; it is written on success only. Errors:
 * PM_ERR_NOT_FOUND no such folder, or no run in it; PM_ERR_FORMAT no run file in it can be read;
 * PM_ERR_SYSTEM the archive cannot be written; PM_ERR_MEMORY; and those of reading the user's PIF.
 */
PM_MUST_CHECK enum pm_status pm_collect(const char *const *run_dirs, size_t n_run_dirs,
                                        const char *archive_path,
                                        const struct pm_collect_options *options,
                                        struct pm_error *err, struct pm_collect_result *ret_result);

#endif
