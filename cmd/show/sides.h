/* Several sides beside each other: as a table, as JSON, as CSV.
 *
 *     struct show_sides sides = {.whole = whole, .columns = columns, .n_columns = 2};
 *     bool good = show_sides_order(&sides) && show_sides_table(&sides, 20, &look, stdout);
 */
#ifndef PM_SHOW_SIDES_H
#define PM_SHOW_SIDES_H

#include "term.h"

#include "mapping/compare/compare.h"

enum { SHOW_MOST_SIDES = 26 }; /* A to Z */

struct show_sides {
    /* A and all others; its rows' differences are the largest of the columns */
    struct pm_comparison *whole;
    struct pm_comparison *columns; /* [n_columns] of the others, pm_compare_columns */
    uint32_t n_columns;
};

/* Puts rows in the order of their largest differences: once, before anything is shown. */
PM_MUST_CHECK bool show_sides_order(struct show_sides *sides);
/* limit: rows; 0: all. False: memory ended. */
PM_MUST_CHECK bool show_sides_table(const struct show_sides *sides, uint64_t limit,
                                    const struct show_look *look, FILE *out);
PM_MUST_CHECK bool show_sides_json(const struct show_sides *sides, uint64_t limit, FILE *out);
PM_MUST_CHECK bool show_sides_csv(const struct show_sides *sides, uint64_t limit, FILE *out);

#endif
