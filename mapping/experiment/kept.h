/* Cells that an experiment keeps, read back: numbers of rows over members.
 *
 *     struct experiment_kept kept;
 *     status = experiment_read_kept(experiment, "loop", NULL, members, n, err, &kept);
 *     if (status == PM_OK && kept.is_whole)
 *         use(kept.readings[i].cells, kept.rows[kept.readings[i].cells[0].row].id);
 *     experiment_kept_release(&kept);
 */
#ifndef PM_EXPERIMENT_KEPT_H
#define PM_EXPERIMENT_KEPT_H

#include "cells.h"

/* What one member has. */
struct experiment_reading {
    struct experiment_cell *cells; /* row: a position in rows */
    uint32_t n;
    double total, slow_down_pct; /* slow_down_pct NAN: not known */
    int64_t period_ns;
    bool is_there; /* it has cells of the metric */
};

struct experiment_row {
    int64_t id;
    uint64_t key;
    const uint64_t *parts;
    uint32_t n_parts;
};

struct experiment_kept {
    const uint32_t *members; /* lent; positions in the experiment */
    uint32_t n;              /* of these, and of readings */
    struct experiment_reading *readings;
    struct experiment_row *rows;
    uint32_t n_rows;
    struct pm_graph_metric metric;
    bool is_sampled;
    bool is_whole; /* all members have cells of the metric: else nothing is read */
    /* private */
    struct pm_map row_of; /* id -> 1 + position */
    uint32_t cap_rows;
    struct pm_arena arena;
};

/* metric: NULL: what the first member's report shows first. PM_ERR_FORMAT: damaged. */
PM_MUST_CHECK enum pm_status experiment_read_kept(const struct pm_experiment *experiment,
                                                  const char *grouping, const char *metric,
                                                  const uint32_t *members, uint32_t n,
                                                  struct pm_error *err,
                                                  struct experiment_kept *ret);
void experiment_kept_release(struct experiment_kept *kept);

/* What rows are called in a build: [n_rows], NULL where it has no name there. what, place: room. */
PM_MUST_CHECK enum pm_status experiment_read_names(const struct pm_experiment *experiment,
                                                   struct experiment_kept *kept, int64_t build,
                                                   struct pm_error *err, const char **what,
                                                   const char **place);
/* Whether the build has all that each row is made of. has: [n_rows] */
PM_MUST_CHECK enum pm_status experiment_read_has(const struct pm_experiment *experiment,
                                                 const struct experiment_kept *kept, int64_t build,
                                                 struct pm_error *err, bool *has);

#endif
