/* perfmap experiment trend, as experiment.c calls it.
 *
 *     struct experiment_trend options = {.key = "commit", .limit = 20, .look = &look};
 *     return experiment_show_trend(parse, &options);
 */
#ifndef PM_CMD_EXPERIMENT_TREND_H
#define PM_CMD_EXPERIMENT_TREND_H

#include "experiment.h"

#include "mapping/experiment/trend.h"

struct experiment_trend {
    const char *key; /* of points */
    struct pm_compare_options compare;
    double least_pct;
    uint64_t limit; /* rows; 0: all */
    bool csv;
    const struct show_look *look;
};

/* Operand 1: the experiment, or a selection of it. */
int experiment_show_trend(struct cmd_parse *parse, const struct experiment_trend *options);

#endif
