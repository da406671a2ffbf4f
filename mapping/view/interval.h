/* Views of a part of the run's time, and rows over time.
 *
 *     struct pm_view view = {.options = {.from = "2s", .to = "50%", .over_time = 20, ...}};
 *     if (pm_view_make(&view, &err) == PM_OK && view.over_time.metric != PM_NONE)
 *         use(view.over_time.edges_ns, view.rows[i].over_time);
 *
 * Every number of a view with an interval is of that interval. A metric that has no times is not in
 * it: the usual ones are left out, and one that was asked for is refused. */
#ifndef PM_VIEW_INTERVAL_H
#define PM_VIEW_INTERVAL_H

#include "view.h"

/* Length of the run: of the longest, where an archive has several. */
int64_t pm_view_run_ns(const struct pm_archive_data *data);
/* Nothing in the archive has a time: why. NULL: some has. */
const char *pm_view_why_no_times(const struct pm_archive_data *data);
bool pm_view_has_interval(const struct pm_view *view);
/* A time as options.from has it: "2.5s", "50%" of a run that is so long. False: it is none. */
PM_MUST_CHECK bool pm_view_read_time(const char *text, int64_t run_ns, int64_t *ret_ns);
/* Reads options.from and options.to, and leaves in view->data what is in between; when it has been
 * loaded. PM_ERR_USAGE: these are no times, or nothing is in between; PM_ERR_NOT_FOUND: the archive
 * has no times. */
PM_MUST_CHECK enum pm_status pm_view_keep_interval(struct pm_view *view, struct pm_error *err);
/* Was the metric measured, and nobody knows how much of it in the interval? */
bool pm_view_lacks_times(const struct pm_view *view, pm_index metric);
PM_MUST_CHECK enum pm_status pm_view_refuse_untimed(const struct pm_view *view, pm_index metric,
                                                    struct pm_error *err);
/* How much of a metric, over the whole run, has no time; NAN: not looked at. With an interval, or
 * over time. */
double pm_view_untimed_pct(const struct pm_view *view, pm_index metric);
PM_MUST_CHECK enum pm_status pm_view_find_untimed_pct(struct pm_view *view, struct pm_error *err);
/* What is shown, with both ends: 0, or the end of the run, where one is open. */
struct pm_time_span pm_view_shown_interval(const struct pm_view *view);
/* "2.500 s", "300.0 ms" */
void pm_view_put_time(int64_t ns, bool utf8, char ret_text[32]);

/* --- over_time.c --- */
/* Chooses which metric rows have over time: the first, or CPU time for wall time without times. */
PM_MUST_CHECK enum pm_status pm_view_choose_over_time(struct pm_view *view, struct pm_error *err);
/* phases.c: over_time.phases, of the whole run or of what runs in the view. */
PM_MUST_CHECK enum pm_status pm_view_find_phases(struct pm_view *view, struct pm_error *err);
/* over_time of all rows. row_of: per context its row, in a tree; NULL: rows are of the lift. */
PM_MUST_CHECK enum pm_status pm_view_find_over_time(struct pm_view *view, const uint32_t *row_of,
                                                    struct pm_error *err);
/* The same of rows that are runners; row_of: per thread. */
PM_MUST_CHECK enum pm_status pm_view_find_over_time_of_threads(struct pm_view *view,
                                                               const uint32_t *row_of,
                                                               struct pm_error *err);
/* Of `total` and `rest`, when rows are arranged. False: memory ended. */
PM_MUST_CHECK bool pm_view_sum_over_time(struct pm_view *view);

#endif
