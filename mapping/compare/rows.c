#include "rows.h"

#include "mapping/base/statement_names.h"

struct pm_view_column pm_compare_column(const struct pm_view *view, bool inclusive)
{
    struct pm_view_column column = {.id = inclusive ? PM_VIEW_COLUMN_INCLUSIVE : PM_VIEW_COLUMN_OWN,
                                    .metric = view->primary};
    if (view->primary == view->n_metrics)
        column = (struct pm_view_column){.id = PM_VIEW_COLUMN_CALLS};
    return column;
}

struct pm_compare_cell pm_compare_cell_of(const struct pm_view *view, const struct pm_view_row *row,
                                          bool inclusive)
{
    struct pm_view_column column = pm_compare_column(view, inclusive);
    struct pm_view_number number = pm_view_number_of(view, &column, row, PM_VIEW_PART_ROW);
    if (number.kind == PM_VIEW_NO_NUMBER)
        return (struct pm_compare_cell){.state = PM_COMPARE_UNKNOWN};
    return (struct pm_compare_cell){number.real, PM_COMPARE_MEASURED, number.is_at_least,
                                    number.is_uncertain};
}

pm_index pm_compare_construct_of(const struct pm_view *view, pm_index noun)
{
    const struct pm_graph *graph = view->data->graph;
    if (!pm_is_named_by_function(graph->nouns[noun].name))
        return noun;
    pm_index function = pm_graph_ancestor(graph, noun, "function");
    return function == PM_NONE ? noun : function;
}

void pm_compare_add_parts(const struct pm_view *view, const struct pm_view_key_names *names,
                          const struct pm_view_row *row, struct pm_buf *out)
{
    bool is_construct = row->kind == PM_VIEW_ROW_NOUN || row->kind == PM_VIEW_ROW_SET;
    for (uint32_t i = 0; i < row->n_groups && is_construct && pm_view_is_at_source(view); i++) {
        const struct pm_view_group *group = &view->groups[row->groups[i]];
        if (group->noun == PM_NONE || group->special)
            continue;
        uint64_t key = pm_view_noun_key(view, names, pm_compare_construct_of(view, group->noun));
        out->failed |= !key;
        pm_buf_add(out, &key, sizeof key);
    }
}
