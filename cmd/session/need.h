/* What a question needs of the files that a program consists of, as modes of their code.
 *
 *     struct need_files files = {0};
 *     // and the libraries that it is started with
 *     need_files_add_program(&files, "./heat", err);
 *     struct need need;
 *     if (need_find(question, &files, PM_RUN_MODE_ACTIVE, false, err, &need) == PM_OK)
 *         use(need.modes, need.n_sleds, need.n_sleds_all);
 *     need_release(&need);
 *     need_files_release(&files);
 *
 * One thread.
 */
#ifndef PM_SESSION_NEED_H
#define PM_SESSION_NEED_H

#include "plan.h"

#include "mapping/question/question.h"

struct need_sled {
    uint64_t id;
    uint32_t n; /* copies */
};

/* Those that were compiled with the plugin. */
struct need_files {
    char **paths; /* owned */
    size_t n;
    struct need_sled *sleds; /* by id, when they have been counted */
    size_t n_sleds;          /* different ids */
    uint64_t n_copies;
    bool has_words; /* one of them speaks perfmap.h */
    bool is_portable;
    const bool *said; /* lent; per sentence: an adapter has words for it. NULL: none has */
};
/* A file without anything of ours is passed over, one that is there already, too. */
PM_MUST_CHECK enum pm_status need_files_add(struct need_files *files, const char *path,
                                            struct pm_error *err);
PM_MUST_CHECK enum pm_status need_files_add_program(struct need_files *files, const char *path,
                                                    struct pm_error *err);
void need_files_release(struct need_files *files);

struct need {
    struct mode_needs modes; /* of all code of the files: the mode that was asked for, or off */
    uint64_t n_sleds, n_sleds_all;
    uint32_t n_followed; /* functions and loops */
    uint32_t n_inside;   /* of these, entered inside others only */
    bool samples;        /* a sentence needs samples */
    char *note;          /* owned: what only the run can tell; NULL: nothing */
};
/* words_come: sentences that fit nothing may be said by the program while it runs: they are
 * noted. Else PM_ERR_NOT_FOUND with near names. Code that is followed has that mode. */
PM_MUST_CHECK enum pm_status need_find(const struct pm_question *question, struct need_files *files,
                                       enum pm_run_mode mode, bool words_come, struct pm_error *err,
                                       struct need *ret_need);
/* The same of a graph that has the facts of the files already. */
PM_MUST_CHECK enum pm_status need_find_in(const struct pm_question *question,
                                          const struct pm_graph *graph, struct need_files *files,
                                          enum pm_run_mode mode, bool words_come,
                                          struct pm_error *err, struct need *ret_need);
void need_release(struct need *need);

#endif
