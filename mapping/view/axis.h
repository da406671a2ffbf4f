/* Costs over locations: what each row costs on the runners of options.parts, the first metric only.
 *
 *     struct pm_view view = {.options = {.parts = PM_RUNNER_RANK, ...}};
 *     if (pm_view_make(&view, &err) == PM_OK && pm_view_has_axis(&view))
 *         use(pm_view_imbalance_pct(view.rows[0].spread));
 *
 * The table of columns has all of it, so formats need no more than that. Constant, once a view has
 * been made.
 */
#ifndef PM_VIEW_AXIS_H
#define PM_VIEW_AXIS_H

#include "view.h"

/* Fills pm_view.axis, and the spread of rows and of the total; rows have their parts. */
PM_MUST_CHECK enum pm_status pm_view_spread_parts(struct pm_view *view, struct pm_error *err);

bool pm_view_has_axis(const struct pm_view *view);
/* NAN: not known, or no location took part. */
double pm_view_spread_average(const struct pm_view_spread *spread);
/* (most / average - 1) * 100; NAN also where nothing has a cost. */
double pm_view_imbalance_pct(const struct pm_view_spread *spread);
/* The number of the location with the most: a rank, a pid, a tid; PM_UNKNOWN. */
int64_t pm_view_spread_place(const struct pm_view *view, const struct pm_view_spread *spread);
/* Of sums: do all runners have something else than the row? What measuring and others took of its
 * wall time cannot always be told by thread. */
bool pm_view_spread_is_off(const struct pm_view *view, const struct pm_view_row *row);
/* Is such a part of a row's amount of a few samples only? */
bool pm_view_is_few_samples(const struct pm_view *view, const struct pm_view_row *row,
                            double value);
/* Are there too few samples to tell the imbalance from chance? */
bool pm_view_imbalance_is_noise(const struct pm_view *view, const struct pm_view_row *row);

#endif
