/* What the files of this room share. */
#ifndef PM_EXPERIMENT_INTERNAL_H
#define PM_EXPERIMENT_INTERNAL_H

#include "experiment.h"

struct pm_experiment_private {
    struct pm_database *database;
    char *folder;                   /* absolute, of the experiment's file */
    char *prefix;                   /* the same as it was given, with a slash; "": here */
    struct pm_arena arena;          /* of members and all they have */
    struct experiment_known *known; /* cells.c; NULL: nothing is */
};

void experiment_known_free(struct experiment_known *known); /* NULL is fine */

const char *pm_experiment_schema(void);

/* Of one member, in a transaction. */
PM_MUST_CHECK enum pm_status experiment_set(struct pm_experiment *experiment, int64_t member,
                                            const struct pm_experiment_set *set,
                                            struct pm_error *err);
/* members.c: fills members of what is open. */
PM_MUST_CHECK enum pm_status experiment_load(struct pm_experiment *experiment,
                                             struct pm_error *err);
/* What the file calls an archive: from its folder where it lies in it, else absolute. To be freed;
 * NULL: memory. */
char *experiment_name_of(const struct pm_experiment *experiment, const char *path);
/* Of all its bytes. */
PM_MUST_CHECK enum pm_status experiment_sum(const char *path, struct pm_error *err,
                                            int64_t *ret_sum);
/* One statement with values: 'i' int64_t, 's' const char *, 'n' const char * or NULL. */
PM_MUST_CHECK enum pm_status experiment_do(struct pm_experiment *experiment, struct pm_error *err,
                                           const char *sql, const char *kinds, ...);

#endif
