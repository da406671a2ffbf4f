/* What JSON and CSV have in common (columns.h). */
#include "columns.h"

const char *show_row_kind(const struct pm_view *report, const struct pm_view_row *row)
{
    switch (row->kind) {
    case PM_VIEW_ROW_OUTSIDE:
        return "outside";
    case PM_VIEW_ROW_SPECIAL:
        return pm_view_special_word(report->groups[row->groups[0]].special);
    case PM_VIEW_ROW_UNMAPPED:
        return "unmapped";
    case PM_VIEW_ROW_SET:
        return "set";
    case PM_VIEW_ROW_RUNNER:
        return pm_runner_kind(row->runner)->word;
    case PM_VIEW_ROW_BRANCH:
        return "branch";
    case PM_VIEW_ROW_NOUN:
        break;
    }
    const struct pm_view_group *group = &report->groups[row->groups[0]];
    return group->file              ? "file"
           : group->noun == PM_NONE ? ""
                                    : report->data->graph->nouns[group->noun].kind;
}

struct show_columns show_columns_of(const struct pm_view *report)
{
    struct show_columns columns;
    columns.n = pm_view_columns(report, columns.items);
    return columns;
}

bool show_has_column(const struct show_columns *columns, enum pm_view_column_id id)
{
    for (uint32_t i = 0; i < columns->n; i++)
        if (columns->items[i].id == id)
            return true;
    return false;
}

bool show_tells_uncertain(const struct pm_view *report, const struct show_columns *columns)
{
    return show_has_column(columns, PM_VIEW_COLUMN_TAKEN_OUT) ||
           show_has_column(columns, PM_VIEW_COLUMN_LEAST) ||
           (report->has_words && report->has_inlined);
}

void show_each_marked(const struct pm_view *report, const struct show_columns *columns,
                      const struct pm_view_row *row, enum pm_view_part part, enum show_mark mark,
                      void (*found)(void *, const char *key), void *context)
{
    for (uint32_t i = 0; i < columns->n; i++) {
        struct pm_view_number number = pm_view_number_of(report, &columns->items[i], row, part);
        if (mark == SHOW_MARK_AT_LEAST ? number.is_at_least : number.is_uncertain)
            found(context, columns->items[i].key);
    }
}

bool show_is_complete(struct pm_view_number n_calls)
{
    return n_calls.kind != PM_VIEW_NO_NUMBER && !n_calls.is_at_least;
}
