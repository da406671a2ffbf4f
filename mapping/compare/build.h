/* What a build of a program consists of, and which of it is which of another build: what moved
 * within functions, and files of other folders.
 *
 *     struct pm_build before = {0}, after = {0};
 *     if (pm_build_make(&old, NULL, &request, &err, &before) == PM_OK &&
 *         pm_build_make(&new, &before, &request, &err, &after) == PM_OK &&
 *         pm_build_names(&after, &before, &run, &err, &names) == PM_OK)
 *         status = pm_view_keys_make(&run, &names, &err, &keys); // as in `before`
 *     pm_build_names_release(&names);
 *     pm_build_release(&after);
 *     pm_build_release(&before);
 *
 * A build keeps hashes, 50 bytes a construct, and nothing of the view that it was made of: one
 * archive at a time is in memory, and many runs of two builds are matched once.
 *
 * Functions are the same by name and file, data by name. The statements and loops of a function
 * are aligned in their order: first those whose column, extent, nesting and use of data are equal
 * (lcs.h), then in the gaps those of one column. What has no partner has a key of its own.
 *
 * A function that only one of them has was renamed when one of the other build is most like it:
 * shared signatures, weighted by how few functions have them, are 60 % of all that either has; no
 * third function comes within 10 points; and it has four statements, loops or data.
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
    const char *text;  /* pm_view_function_text */
    const char *name;
};

/* What the user says: a function of the reference and one of the other build are the same.
 * One of them "": the other one is new, or gone. */
struct pm_build_map {
    const char *old_name, *new_name; /* as called, or as the linker has it */
};

struct pm_build_request {
    /* What lies in functions is looked for (PM_ARCHIVE_LOAD_FACTS); else functions alone, and what
     * lies outside (PM_ARCHIVE_LOAD_FUNCTIONS). */
    bool in_functions;
    const struct pm_build_map *maps;
    uint32_t n_maps;
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
    const char **here, **there; /* [n_renamed_files] with another name in the reference */
    uint32_t n_renamed_files;
    uint32_t *renamed_to; /* of others, per function: 1 + that of the reference; 0: none */
    bool *is_users;       /* likewise: the user says so, else it is likely */
    uint32_t n_renamed_functions;
    uint32_t n_matchable, n_matched; /* fines of functions that both have */
    uint32_t n_functions_left_out;   /* too different: more than 2000 edits */
    struct pm_arena arena;
};

/* Of all binaries with the plugin's facts; of the others where there are none. In no order. */
uint64_t pm_build_hash(const struct pm_archive_data *data);
/* view: its data and level are looked at. reference: NULL: it is one itself. PM_ERR_MEMORY;
 * PM_ERR_NOT_FOUND: a function of a map. */
PM_MUST_CHECK enum pm_status pm_build_make(const struct pm_view *view,
                                           const struct pm_build *reference,
                                           const struct pm_build_request *request,
                                           struct pm_error *err, struct pm_build *ret_build);
/* Each has functions that the other one lacks: some may have been renamed. */
bool pm_build_may_have_renames(const struct pm_build *build, const struct pm_build *reference);
/* What the constructs of a run of the build are in the reference; to be released, the files and
 * texts are the builds'. PM_ERR_MEMORY. */
PM_MUST_CHECK enum pm_status pm_build_names(const struct pm_build *build,
                                            const struct pm_build *reference,
                                            const struct pm_view *view, struct pm_error *err,
                                            struct pm_view_key_names *ret_names);
void pm_build_names_release(struct pm_view_key_names *names);
/* What a function of the run was called in the reference, where it has another name now, and
 * whether that is likely only; NULL: it has the same name. */
const char *pm_build_old_name(const struct pm_build *build, const struct pm_build *reference,
                              const struct pm_view *view, pm_index function, bool *ret_is_likely);
/* Does it have the construct that has this key in the reference? */
bool pm_build_has(const struct pm_build *build, const struct pm_build *reference, uint64_t key);
void pm_build_release(struct pm_build *build);

/* renames.c: which functions that only one has were renamed. PM_ERR_NOT_FOUND: one of a map is not
 * there. */
PM_MUST_CHECK enum pm_status pm_build_find_renames(struct pm_build *build,
                                                   const struct pm_build *reference,
                                                   const struct pm_build_map *maps, uint32_t n_maps,
                                                   struct pm_error *err);
/* align.c: partner, is_apart and what is counted. false: memory. */
PM_MUST_CHECK bool pm_build_align(struct pm_build *build, const struct pm_build *reference);

#endif
