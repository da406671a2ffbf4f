/* What the parts of `perfmap experiment` share.
 *
 *     if (!strcmp(parse->operands[0], "list"))
 *         return experiment_list(parse, &request);
 */
#ifndef PM_CMD_EXPERIMENT_H
#define PM_CMD_EXPERIMENT_H

#include "cmd/core/archives.h"

#include "mapping/experiment/experiment.h"

struct experiment_request {
    struct pm_experiment_set *sets; /* --set; owned, with their texts */
    uint32_t n_sets;
    struct show_look look;
    uint64_t n, n_bare;       /* run */
    const char *input;        /* run */
    const char **run_options; /* run; owned array of lent strings */
    uint32_t n_run_options;
    bool ignores_failure;              /* run */
    const char *key;                   /* trend: of points */
    struct pm_compare_options compare; /* trend */
    double least_pct;                  /* trend */
    uint64_t limit;                    /* trend; 0: all */
    bool limit_given, csv;             /* trend */
    const char *from, *output, *level; /* overlay */
};

/* The experiment that operand 1 names, "E" or "E.perfexp", "E?SELECTION" where ret_selection is not
 * NULL. A failure is told, *ret_exit has its status. */
bool experiment_open(struct cmd_parse *parse, const char **ret_selection,
                     struct pm_experiment **ret, int *ret_exit);
/* One more --set. false: it was told why not. */
bool experiment_add_set(struct cmd_parse *parse, struct experiment_request *request,
                        const char *text);
/* "ok", "missing", "changed", "poor" */
const char *experiment_state_word(const struct pm_experiment_member *member);

/* The words behind `perfmap experiment`: each returns the exit status. */
int experiment_list(struct cmd_parse *parse, const struct experiment_request *request);
int experiment_overlay(struct cmd_parse *parse, const struct experiment_request *request);

#endif
