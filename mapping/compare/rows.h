/* What a row of a run's view is in a comparison: its number, and the constructs that it stands for.
 *
 *     struct pm_compare_cell cell = pm_compare_cell_of(&view, &view.rows[r], false);
 *     pm_compare_add_parts(&view, NULL, &view.rows[r], &keys);
 */
#ifndef PM_COMPARE_ROWS_H
#define PM_COMPARE_ROWS_H

#include "compare.h"

#include "mapping/view/columns.h"

/* Of the metric that the view shows first, or was asked for: calls, own costs, inclusive ones. */
struct pm_view_column pm_compare_column(const struct pm_view *view, bool inclusive);
struct pm_compare_cell pm_compare_cell_of(const struct pm_view *view, const struct pm_view_row *row,
                                          bool inclusive);
/* The construct of a noun: entry and exit of a function, say, have nouns of their own where
 * somebody found code of it. */
pm_index pm_compare_construct_of(const struct pm_view *view, pm_index noun);
/* Adds the keys of a row's constructs, pm_view_noun_key; none where the build does not say what it
 * consists of: at other levels than Source, and of other rows. out->failed: memory. */
void pm_compare_add_parts(const struct pm_view *view, const struct pm_view_key_names *names,
                          const struct pm_view_row *row, struct pm_buf *out);

#endif
