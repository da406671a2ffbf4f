/* What outputs for programs have in common: the numbers of a view, by the one table of
 * mapping/view/columns.h, and what they lack.
 *
 *     struct show_columns columns = show_columns_of(&view);
 *     for (uint32_t i = 0; i < columns.n; i++)
 *         use(columns.items[i].key);
 */
#ifndef PM_SHOW_COLUMNS_H
#define PM_SHOW_COLUMNS_H

#include "mapping/view/columns.h"

/* The numbers of a view, and how many. */
struct show_columns {
    struct pm_view_column items[PM_VIEW_MAX_COLUMNS];
    uint32_t n;
};
struct show_columns show_columns_of(const struct pm_view *report);
bool show_has_column(const struct show_columns *columns, enum pm_view_column_id id);
/* Can numbers be uncertain by more than samples say? */
bool show_tells_uncertain(const struct pm_view *report, const struct show_columns *columns);

enum show_mark { SHOW_MARK_AT_LEAST, SHOW_MARK_UNCERTAIN };
/* Calls back with the key of each number of a row that has the mark. */
void show_each_marked(const struct pm_view *report, const struct show_columns *columns,
                      const struct pm_view_row *row, enum pm_view_part part, enum show_mark mark,
                      void (*found)(void *, const char *key), void *context);
/* Are all calls known? */
bool show_is_complete(struct pm_view_number n_calls);

/* What a row is: the kind of its noun, "set", "unmapped", ... */
const char *show_row_kind(const struct pm_view *report, const struct pm_view_row *row);

#endif
