/* What is in the cells of a table of rows, for any format that people read: which columns, under
 * which headings, and the text of each number.
 *
 *     struct show_cells cells;
 *     char text[SHOW_CELL_BYTES];
 *     show_cells_make(&report, true, &cells);
 *     for (uint32_t c = 0; c < cells.n; c++) {
 *         show_cell(&cells, &cells.columns[c], &report.rows[0], PM_VIEW_PART_ROW, text);
 *         use(cells.columns[c].heading, text);
 *     }
 */
#ifndef PM_SHOW_CELLS_H
#define PM_SHOW_CELLS_H

#include "mapping/view/columns.h"

enum { SHOW_CELL_BYTES = 64 };

/* One unit for a column of amounts, by their total: ms, KiB; numbers are divided by `divisor`. */
struct show_scale {
    double divisor;
    const char *unit;
    int decimals;
};
struct show_scale show_scale_of(const struct pm_graph_metric *metric, double total, bool utf8);

struct show_cell_column {
    struct pm_view_column of;
    struct show_scale scale;
    char heading[SHOW_CELL_BYTES]; /* "own ms" */
};

struct show_cells {
    const struct pm_view *view;
    bool utf8;
    struct show_cell_column columns[PM_VIEW_MAX_COLUMNS];
    uint32_t n;
};

/* Those that text shows, from left to right. */
void show_cells_make(const struct pm_view *view, bool utf8, struct show_cells *ret);
/* "≥ 12.345", "~0.5"; "" where nothing is known, or nothing is to be said. */
void show_cell(const struct show_cells *cells, const struct show_cell_column *column,
               const struct pm_view_row *row, enum pm_view_part part,
               char ret_text[SHOW_CELL_BYTES]);
const char *show_at_least_mark(bool utf8); /* what such a text begins with: "≥ " */

#endif
