/* Rows over time (mapping/view/interval.h), as each format shows them, and what is said of an
 * interval. */
#ifndef PM_SHOW_OVER_TIME_H
#define PM_SHOW_OVER_TIME_H

#include "mapping/view/interval.h"

#include <stdio.h>

bool show_has_over_time(const struct pm_view *report);
/* A letter for each part, higher for more, up to the row's own peak; in trees with what is below.
 * As many columns as there are parts. */
void show_put_spark(const struct pm_view *report, const struct pm_view_row *row, bool utf8,
                    FILE *out);
/* Are there phases of the program in what is shown over time? */
bool show_has_phases(const struct pm_view *report);
/* Likewise, a letter for the phase that most of a part was in; the note explains them. */
void show_put_phases(const struct pm_view *report, FILE *out);
/* "from 2.000 s to 3.000 s of 5.200 s"; to be freed; NULL: of all of it. */
char *show_interval_text(const struct pm_view *report, bool utf8);
/* What has no times, and which metric is over time; to be freed, NULL: nothing. */
char *show_times_note(const struct pm_view *report, bool utf8);

/* Members from_ns and to_ns, null of all of it. */
void show_limits_json(const struct pm_view *report, struct pm_json *json);
/* Members of the object of the view, and of a row. */
void show_interval_json(const struct pm_view *report, struct pm_json *json);
void show_over_time_json(const struct pm_view *report, const struct pm_view_row *row,
                         struct pm_json *json);
/* Cells, each behind a comma: their names, and numbers. */
void show_over_time_csv_head(const struct pm_view *report, FILE *out);
void show_over_time_csv(const struct pm_view *report, const struct pm_view_row *row, FILE *out);

#endif
