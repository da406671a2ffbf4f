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
 * A further column is an entry there: its key, its heading, its unit, which views and parts have
 * it, what it is of a row, and how text shows it. All formats then have it. One that nobody picks
 * by name goes at the end, and needs no word in the enum below.
 */
#ifndef PM_VIEW_COLUMNS_H
#define PM_VIEW_COLUMNS_H

#include "view.h"

/* Columns that somebody picks; those after them have no name. */
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
    PM_VIEW_COLUMN_LEAST, /* over the locations of options.parts */
    PM_VIEW_COLUMN_AVERAGE,
    PM_VIEW_COLUMN_MOST,
    PM_VIEW_N_COLUMN_IDS
};

/* Of a view: its rows, the sum of those that are not shown, the sum of all. */
enum pm_view_part { PM_VIEW_PART_ROW = 1, PM_VIEW_PART_REST = 2, PM_VIEW_PART_TOTAL = 4 };

enum { PM_VIEW_MAX_COLUMNS = 256, PM_VIEW_KEY_BYTES = 160 };

struct pm_view_column {
    uint32_t id;                 /* enum pm_view_column_id, or a later entry of the table */
    uint32_t metric;             /* of the view's; of columns without one 0 */
    char key[PM_VIEW_KEY_BYTES]; /* "own_wall_ns": as JSON and CSV have it */
};

enum pm_view_number_kind {
    PM_VIEW_NO_NUMBER, /* not known, or nothing of the kind: an empty cell, null */
    PM_VIEW_INTEGER,
    PM_VIEW_REAL,
    PM_VIEW_TEXT /* the name of a place, printable: no number */
};

struct pm_view_number {
    enum pm_view_number_kind kind;
    bool is_at_least;  /* it may be more */
    bool is_uncertain; /* it may be off: few samples, or much of it was the measuring */
    int64_t integer;
    double real; /* of integers, too */
    const char *text;
};

/* Fills ret_columns[PM_VIEW_MAX_COLUMNS] with all that the view has, in the order of JSON and
 * CSV; returns their number. */
uint32_t pm_view_columns(const struct pm_view *view, struct pm_view_column *ret_columns);
/* Does the column say anything of such a part at all? */
bool pm_view_column_has(const struct pm_view_column *column, enum pm_view_part part);
struct pm_view_number pm_view_number_of(const struct pm_view *view,
                                        const struct pm_view_column *column,
                                        const struct pm_view_row *row, enum pm_view_part part);

/* --- how text shows them --- */

enum pm_view_unit {
    PM_VIEW_UNIT_COUNT,
    PM_VIEW_UNIT_PERCENT,
    PM_VIEW_UNIT_METRIC, /* that of the metric: ms, KiB; one for the whole column */
    PM_VIEW_UNIT_REAL    /* none, and as many decimals as its total needs */
};

/* What a table does without when names need the room, the first of them first. */
enum pm_view_turn {
    PM_VIEW_NEVER_GOES,
    PM_VIEW_GOES_FOR_FULL_NAMES, /* before any name is shortened */
    PM_VIEW_GOES_AS_CHANCE,      /* likewise: who was preempted, unless somebody looks for it */
    PM_VIEW_GOES_BAR,
    PM_VIEW_GOES_INDENT, /* of trees: no column */
    PM_VIEW_GOES_OTHER_METRIC,
    PM_VIEW_GOES_OFF_CPU,
    PM_VIEW_GOES_TREE_OWN,
    PM_VIEW_GOES_CALLS, /* from here on there is hardly any room for names */
    PM_VIEW_GOES_INCLUSIVE,
    PM_VIEW_GOES_SHARE,
    PM_VIEW_N_TURNS
};

/* Fills ret_columns[PM_VIEW_MAX_COLUMNS] with those that text shows, from left to right; returns
 * their number. What rows are sorted by comes first, with its share. */
uint32_t pm_view_text_columns(const struct pm_view *view, struct pm_view_column *ret_columns);
const char *pm_view_column_heading(const struct pm_view *view,
                                   const struct pm_view_column *column); /* "own" */
/* Is it of one metric, which its heading then names? */
bool pm_view_column_is_of_metric(const struct pm_view_column *column);
enum pm_view_unit pm_view_column_unit(const struct pm_view_column *column);
/* Does the bar of shares stand beside it? */
bool pm_view_column_has_bar(const struct pm_view_column *column);
enum pm_view_turn pm_view_column_turn(const struct pm_view *view,
                                      const struct pm_view_column *column);
/* Is the number left out of text: for it says nothing, or another place of the row says it? */
bool pm_view_is_blank(const struct pm_view *view, const struct pm_view_column *column,
                      const struct pm_view_row *row, enum pm_view_part part,
                      struct pm_view_number number);
/* Is an uncertain number marked there? */
bool pm_view_marks_doubt(const struct pm_view *view, const struct pm_view_column *column,
                         enum pm_view_part part);
/* Does a row count as one of its own while it prints more than zero there? */
bool pm_view_keeps_row(const struct pm_view *view, const struct pm_view_column *column);

/* Adds the numbers of a row to a sum; false: 64 bits are left. Amounts are no part of it. */
bool pm_view_add_numbers(struct pm_view_row *sum, const struct pm_view_row *row);

#endif
