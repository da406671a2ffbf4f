/* Numbers of rows as people read them: units, headings, texts. */
#include "cells.h"

#include <math.h>

/* One unit for a column, by its total: a whole table in milliseconds reads faster than one that
 * changes from row to row. */
struct show_scale show_scale_of(const struct pm_graph_metric *metric, double total, bool utf8)
{
    if (metric->aggregation == PM_AVERAGE)
        return (struct show_scale){1, metric->unit, 3};
    total = fabs(total);
    if (!strcmp(metric->unit, "ns")) {
        if (total >= 1e12)
            return (struct show_scale){1e9, "s", 1};
        if (total >= 1e6)
            return (struct show_scale){1e6, "ms", total >= 1e10 ? 1 : total >= 1e9 ? 2 : 3};
        return (struct show_scale){1e3, utf8 ? "µs" : "us", 3};
    }
    if (!strcmp(metric->kind, "bytes")) {
        static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
        int i = 0;
        double divisor = 1;
        for (; total / divisor >= 1e5 && i < 4; i++)
            divisor *= 1024;
        return (struct show_scale){divisor, units[i], i ? 1 : 0};
    }
    return (struct show_scale){1, "", 0};
}

static const struct pm_graph_metric *metric_of(const struct pm_view *view, uint32_t m)
{
    return &view->data->graph->metrics[view->metrics[m]];
}

static struct show_scale scale_of_metric(const struct show_cells *cells, uint32_t m)
{
    return show_scale_of(metric_of(cells->view, m), (double)cells->view->total.values[m].own.value,
                         cells->utf8);
}

/* Three digits and more of what the total is. */
static int decimals_of(const struct show_cells *cells, const struct pm_view_column *column)
{
    struct pm_view_number total =
        pm_view_number_of(cells->view, column, &cells->view->total, PM_VIEW_PART_TOTAL);
    double size = fabs(total.real);
    int decimals = 3;
    for (double least = 0.1; decimals < 9 && size != 0 && size < least; least /= 10)
        decimals++;
    return size >= 1000 ? 0 : decimals;
}

static struct show_scale unit_of(const struct show_cells *cells,
                                 const struct pm_view_column *column)
{
    switch (pm_view_column_unit(column)) {
    case PM_VIEW_UNIT_COUNT:
        return (struct show_scale){1, "", 0};
    case PM_VIEW_UNIT_PERCENT:
        return (struct show_scale){1, "", 1};
    case PM_VIEW_UNIT_REAL:
        return (struct show_scale){1, "", decimals_of(cells, column)};
    case PM_VIEW_UNIT_METRIC:
        break;
    }
    uint32_t primary = cells->view->primary;
    if (column->metric >= cells->view->n_metrics)
        return (struct show_scale){1, "", 0};
    if (!pm_view_column_is_of_metric(column) ||
        !pm_view_off_cpu_word(cells->view, column->metric) || primary >= column->metric)
        return scale_of_metric(cells, column->metric);
    struct show_scale scale = scale_of_metric(cells, primary); /* one unit for both times */
    return *scale.unit ? scale : scale_of_metric(cells, column->metric);
}

/* Averages of counts are no whole numbers. */
static struct show_scale scale_of(const struct show_cells *cells,
                                  const struct pm_view_column *column)
{
    struct show_scale scale = unit_of(cells, column);
    if (column->id == PM_VIEW_COLUMN_AVERAGE && scale.decimals == 0)
        scale.decimals = 1;
    return scale;
}

/* "own ms"; metrics other than wall time are named: "own page_faults". */
static void name_by_metric(const struct pm_view *view, struct show_cell_column *column)
{
    enum { NAME_MOST = 24 };
    const struct pm_graph_metric *metric = metric_of(view, column->of.metric);
    const char *unit = column->scale.unit;
    size_t len = *unit ? pm_view_bare_metric_len(metric) : strlen(metric->name);
    /* else there is no inclusive one beside it */
    bool has_word = metric->aggregation == PM_SUM || column->of.id != PM_VIEW_COLUMN_OWN;
    bool is_spread = column->of.id >= PM_VIEW_COLUMN_LEAST; /* beside "own", which has the name */
    if (is_spread || view->metrics[column->of.metric] == view->time_metric)
        len = 0; /* named above the table */
    snprintf(column->heading, sizeof column->heading, "%s%s%.*s%s%s",
             has_word ? pm_view_column_heading(view, &column->of) : "", has_word && len ? " " : "",
             len > NAME_MOST ? NAME_MOST : (int)len, metric->name, *unit ? " " : "", unit);
}

static void name(const struct pm_view *view, struct show_cell_column *column)
{
    const char *unit = column->scale.unit;
    const char *off_cpu = pm_view_column_is_of_metric(&column->of)
                              ? pm_view_off_cpu_word(view, column->of.metric)
                              : NULL;
    if (pm_view_column_is_of_metric(&column->of) && !off_cpu) {
        name_by_metric(view, column);
        return;
    }
    snprintf(column->heading, sizeof column->heading, "%s%s%s",
             off_cpu ? off_cpu : pm_view_column_heading(view, &column->of), *unit ? " " : "", unit);
}

void show_cells_make(const struct pm_view *view, bool utf8, struct show_cells *ret)
{
    struct pm_view_column columns[PM_VIEW_MAX_COLUMNS];
    *ret =
        (struct show_cells){.view = view, .utf8 = utf8, .n = pm_view_text_columns(view, columns)};
    for (uint32_t c = 0; c < ret->n; c++) {
        ret->columns[c].of = columns[c];
        ret->columns[c].scale = scale_of(ret, &columns[c]);
        name(view, &ret->columns[c]);
    }
}

const char *show_at_least_mark(bool utf8)
{
    return utf8 ? "≥ " : ">= ";
}

void show_cell(const struct show_cells *cells, const struct show_cell_column *column,
               const struct pm_view_row *row, enum pm_view_part part,
               char ret_text[SHOW_CELL_BYTES])
{
    const struct pm_view *view = cells->view;
    const struct show_scale *scale = &column->scale;
    struct pm_view_number number = pm_view_number_of(view, &column->of, row, part);
    *ret_text = 0;
    if (pm_view_is_blank(view, &column->of, row, part, number))
        return;
    const char *mark = number.is_at_least ? show_at_least_mark(cells->utf8) : "";
    const char *doubt =
        number.is_uncertain && pm_view_marks_doubt(view, &column->of, part) ? "~" : "";
    if (number.kind == PM_VIEW_TEXT)
        snprintf(ret_text, SHOW_CELL_BYTES, "%s%s%s", mark, doubt, number.text);
    else if (number.kind == PM_VIEW_INTEGER && !scale->decimals && scale->divisor == 1)
        snprintf(ret_text, SHOW_CELL_BYTES, "%s%s%lld", mark, doubt, (long long)number.integer);
    else
        snprintf(ret_text, SHOW_CELL_BYTES, "%s%s%.*f", mark, doubt, scale->decimals,
                 number.real / scale->divisor);
}
