/* Rows over the members of an experiment, in an order, and where they change.
 *
 *     struct pm_trend_options options = {.key = "commit", .compare = compare, .least_pct = 2};
 *     struct pm_trend *trend;
 *     if (pm_experiment_trend(experiment, &chosen, &options, err, &trend) == PM_OK)
 *         for (uint32_t r = 0; r < trend->n_rows; r++)
 *             use(trend->rows[r].what, trend->rows[r].means, trend->rows[r].n_changes);
 *     pm_trend_free(trend);
 *
 * Members with one value of the key are a point. Points are in the order of their numbers, where
 * all are numbers, else in that in which the first of each was added. The unit of statistics is the
 * member, as measured: changes lie between points (mapping/compare/changes.h).
 */
#ifndef PM_EXPERIMENT_TREND_H
#define PM_EXPERIMENT_TREND_H

#include "experiment.h"

#include "mapping/compare/changes.h"

struct pm_trend_options {
    const char *key;
    struct pm_compare_options compare; /* what is compared, and which members take part */
    double least_pct;                  /* smaller changes are none */
};

struct pm_trend_point {
    const char *value;
    uint32_t first, n; /* of members */
};

struct pm_trend_row {
    const char *what, *place;
    const double *means;       /* [n_points]; NAN: not known in some member, or only at least */
    double all;                /* over all members */
    bool is_whole;             /* known in all of them: else no change is looked for */
    struct pm_change *changes; /* .at: of points */
    uint32_t n_changes;
};

struct pm_trend {
    struct pm_trend_point *points;
    uint32_t n_points;
    uint32_t *members;                             /* positions in the experiment, by point */
    uint32_t n_members, n_without_key, n_left_out; /* left out: missing, changed, poor */
    struct pm_graph_metric metric;
    bool is_sampled;
    struct pm_trend_row total, *rows; /* rows: those that change first, then by size */
    uint32_t n_rows;
    struct pm_arena arena;
};

/* PM_ERR_USAGE: no member has the key, or a metric is not there. */
PM_MUST_CHECK enum pm_status pm_experiment_trend(const struct pm_experiment *experiment,
                                                 const struct pm_experiment_selection *chosen,
                                                 const struct pm_trend_options *options,
                                                 struct pm_error *err, struct pm_trend **ret);
void pm_trend_free(struct pm_trend *trend);

#endif
