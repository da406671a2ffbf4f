/* The columns of numbers that rows have, in one table (columns.c), which text, JSON and CSV
 * walk.
 *
 *     struct pm_view_column columns[PM_VIEW_MAX_COLUMNS];
 *     uint32_t n = pm_view_columns(&view, columns);
 *     for (uint32_t i = 0; i < n; i++) {
 *         struct pm_view_number number =
 *             pm_view_number_of(&view, &columns[i], row, PM_VIEW_PART_ROW);
 *         use(columns[i].key, number.integer);
 *     }
 *
 * A further column is a line there, with what says whether a view has it and what it is of a
 * row.
 */
#ifndef PM_VIEW_COLUMNS_H
#define PM_VIEW_COLUMNS_H

#include "view.h"

enum pm_view_column_id {
    PM_VIEW_COLUMN_OWN,
    PM_VIEW_COLUMN_INCLUSIVE,
    PM_VIEW_COLUMN_AT_LEAST,
    PM_VIEW_COLUMN_AT_MOST,
    PM_VIEW_COLUMN_TAKEN_OUT,
    PM_VIEW_COLUMN_OWN_UNCERTAINTY, /* ns that wall times may be off, for what was taken out */
    PM_VIEW_COLUMN_INCLUSIVE_UNCERTAINTY,
    PM_VIEW_COLUMN_SHARE,
    PM_VIEW_COLUMN_SAMPLES,
    PM_VIEW_COLUMN_CALLS,
    PM_VIEW_COLUMN_ENTRIES,
    PM_VIEW_N_COLUMN_IDS
};

/* Of a view: its rows, the sum of those that are not shown, the sum of all. */
enum pm_view_part { PM_VIEW_PART_ROW = 1, PM_VIEW_PART_REST = 2, PM_VIEW_PART_TOTAL = 4 };

enum { PM_VIEW_MAX_COLUMNS = PM_VIEW_N_COLUMN_IDS * PM_VIEW_MAX_METRICS, PM_VIEW_KEY_BYTES = 160 };

struct pm_view_column {
    enum pm_view_column_id id;
    uint32_t metric;             /* of the view's; of columns without one 0 */
    char key[PM_VIEW_KEY_BYTES]; /* "own_wall_ns": as JSON and CSV have it */
};

enum pm_view_number_kind {
    PM_VIEW_NO_NUMBER, /* not known, or nothing of the kind: an empty cell, null */
    PM_VIEW_INTEGER,
    PM_VIEW_REAL
};

struct pm_view_number {
    enum pm_view_number_kind kind;
    bool is_at_least;  /* it may be more */
    bool is_uncertain; /* it may be off: few samples, or much of it was the measuring */
    int64_t integer;
    double real; /* of integers, too */
};

/* Fills ret_columns[PM_VIEW_MAX_COLUMNS] with all that the view has, in the order of JSON and
 * CSV; returns their number. */
uint32_t pm_view_columns(const struct pm_view *view, struct pm_view_column *ret_columns);
/* Does the column say anything of such a part at all? */
bool pm_view_column_has(const struct pm_view_column *column, enum pm_view_part part);
struct pm_view_number pm_view_number_of(const struct pm_view *view,
                                        const struct pm_view_column *column,
                                        const struct pm_view_row *row, enum pm_view_part part);
const char *pm_view_column_heading(enum pm_view_column_id id); /* "own" */

#endif
