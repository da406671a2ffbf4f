/* What a build of a program consists of, and which of it is which of another build: what moved
 * within functions, and files of other folders.
 *
 *     struct pm_build before = {0}, after = {0};
 *     if (pm_build_make(&old, NULL, true, &err, &before) == PM_OK &&
 *         pm_build_make(&new, &before, true, &err, &after) == PM_OK &&
 *         pm_build_names(&after, &before, &run, &err, &names) == PM_OK)
 *         status = pm_view_keys_make(&run, &names, &err, &keys); // as in `before`
 *     pm_build_release(&after);
 *     pm_build_release(&before);
 *
 * A build keeps hashes, 50 bytes a construct, and nothing of the view that it was made of: one
 * archive at a time is in memory, and many runs of two builds are matched once.
 *
 * Functions are the same by name and file, data by name. The statements and loops of a function
 * are aligned in their order: first those whose column, extent, nesting and use of data are equal
 * (lcs.h), then in the gaps those of one column. What has no partner has a key of its own.
 */
#ifndef PM_COMPARE_BUILD_H
#define PM_COMPARE_BUILD_H

#include "mapping/view/keys.h"

/* A statement, a loop, or data of a function. */
struct pm_build_fine {
    uint64_t key;              /* pm_view_noun_key, files as the reference names them */
    uint64_t signature, rough; /* equal: likely the same; rough: of one column and kind */
    uint32_t line_no;          /* from the function's first, 0 */
    uint32_t column_no;
};

struct pm_build_function {
    uint64_t key;
    uint32_t first, n; /* of fines */
};

struct pm_build {
    uint64_t hash; /* of its binaries */
    const char **files;
    uint32_t n_files;
    struct pm_build_fine *fines; /* by function, line, column */
    struct pm_build_function *functions;
    uint32_t n_fines, n_functions;
    struct pm_map constructs;   /* keys of what is no fine, at level Source */
    struct pm_map fine_of;      /* key -> 1 + fine */
    struct pm_map function_of;  /* of the reference: key -> 1 + function */
    uint32_t *partner;          /* of others, per fine: that of the reference. PM_NONE: none */
    bool *is_apart;             /* likewise: the reference has no such function, or did not look */
    bool *is_matched;           /* likewise, per fine of the reference */
    const char **here, **there; /* [n_renamed] files with another name in the reference */
    uint32_t n_renamed;
    uint32_t n_matchable, n_matched; /* fines of functions that both have */
    uint32_t n_functions_left_out;   /* too different: more than 2000 edits */
    struct pm_arena arena;
};

/* Of all binaries with the plugin's facts; of the others where there are none. In no order. */
uint64_t pm_build_hash(const struct pm_archive_data *data);
/* view: its data and level are looked at; with in_functions, what lies in functions is looked for
 * (PM_ARCHIVE_LOAD_FACTS), else functions and what lies outside (PM_ARCHIVE_LOAD_FUNCTIONS).
 * reference: NULL: it is one itself. PM_ERR_MEMORY. */
PM_MUST_CHECK enum pm_status pm_build_make(const struct pm_view *view,
                                           const struct pm_build *reference, bool in_functions,
                                           struct pm_error *err, struct pm_build *ret_build);
/* What the constructs of a run of the build are in the reference; ret_names->places is to be
 * freed, the files are the build's. PM_ERR_MEMORY. */
PM_MUST_CHECK enum pm_status pm_build_names(const struct pm_build *build,
                                            const struct pm_build *reference,
                                            const struct pm_view *view, struct pm_error *err,
                                            struct pm_view_key_names *ret_names);
/* Does it have the construct that has this key in the reference? */
bool pm_build_has(const struct pm_build *build, const struct pm_build *reference, uint64_t key);
void pm_build_release(struct pm_build *build);

/* align.c: partner, is_apart and what is counted. false: memory. */
PM_MUST_CHECK bool pm_build_align(struct pm_build *build, const struct pm_build *reference);

#endif
