/* perfmap experiment run, as experiment.c calls it.
 *
 *     struct experiment_run options = {.n = 10, .sets = sets, .n_sets = 1};
 *     return experiment_run_all(parse, &options);
 */
#ifndef PM_CMD_EXPERIMENT_RUN_H
#define PM_CMD_EXPERIMENT_RUN_H

#include "experiment.h"

enum { EXPERIMENT_MOST_SIDES = 8, SPAWN_FAILED = 125 };

struct experiment_run {
    uint32_t n, n_bare;             /* of each side; bare: without measurement */
    struct pm_experiment_set *sets; /* of the first side */
    uint32_t n_sets;
    const char *input;              /* each run's standard input; NULL: none */
    const char *const *run_options; /* for `perfmap run` */
    uint32_t n_run_options;
    bool ignores_failure;
};

/* Operands: "run", the experiment, the first program, "--against", KEY=VALUE, "--", the next. */
int experiment_run_all(struct cmd_parse *parse, const struct experiment_run *options);

#endif
