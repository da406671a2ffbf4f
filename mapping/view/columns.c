/* The table of columns: what each is called, which views and which parts of them have it, and
 * how to get it. */
#include "columns.h"

#include <math.h>

static const struct pm_metric *metric_of(const struct pm_view *view, uint32_t m)
{
    return &view->data->graph->metrics[view->metrics[m]];
}

static bool is_wall(const struct pm_view *view, uint32_t m)
{
    return view->metrics[m] == view->wall_metric;
}

static struct pm_view_number integer(int64_t value)
{
    return (struct pm_view_number){
        .kind = PM_VIEW_INTEGER, .integer = value, .real = (double)value};
}

static struct pm_view_number real(double value)
{
    if (!isfinite(value))
        return (struct pm_view_number){0};
    return (struct pm_view_number){.kind = PM_VIEW_REAL, .real = value};
}

/* --- which views have them --- */

static bool always(const struct pm_view *view, uint32_t m)
{
    (void)view;
    (void)m;
    return true;
}

static bool is_sum(const struct pm_view *view, uint32_t m)
{
    return metric_of(view, m)->aggregation == PM_SUM;
}

static bool has_bounds(const struct pm_view *view, uint32_t m)
{
    return view->options.bounds && is_sum(view, m);
}

/* What was taken out of the own wall times of rows, when that was to be. */
static bool has_taken_out(const struct pm_view *view, uint32_t m)
{
    (void)m;
    return view->taken_ns && pm_view_shows_wall(view) && !pm_view_is_by_runner(view);
}

/* Numbers of samples stand beside sampled times. */
static bool has_samples(const struct pm_view *view, uint32_t m)
{
    (void)m;
    for (uint32_t k = 0; k < view->n_metrics; k++)
        if (view->metrics[k] == view->cpu_metric)
            return view->samples_metric != PM_NONE;
    return false;
}

/* Statements and what they touch are not called. */
static bool has_calls(const struct pm_view *view, uint32_t m)
{
    (void)m;
    return view->calls_metric != PM_NONE &&
           (!pm_view_is_fine(view) || view->options.tree || view->shows_calls);
}

/* Where loops have rows of their own, their entries are those rows' calls. */
static bool has_entries(const struct pm_view *view, uint32_t m)
{
    return has_calls(view, m) && view->options.by != PM_VIEW_BY_LOOP &&
           view->options.by != PM_VIEW_BY_STATEMENT;
}

/* --- what they are of a row --- */

struct cell {
    const struct pm_view *view;
    const struct pm_view_row *row;
    uint32_t metric;
    enum pm_view_part part;
};

static struct pm_view_number own(const struct cell *c)
{
    const struct pm_view *view = c->view;
    const struct pm_amount *amount = &c->row->values[c->metric].own;
    enum pm_aggregation aggregation = metric_of(view, c->metric)->aggregation;
    bool is_row = c->part == PM_VIEW_PART_ROW;
    if (is_row && c->row->traits.is_untimed && is_wall(view, c->metric))
        return (struct pm_view_number){0};
    if (aggregation != PM_SUM && amount->n == 0)
        return (struct pm_view_number){0};
    struct pm_view_number number = aggregation == PM_AVERAGE
                                       ? real((double)amount->value / (double)amount->n)
                                       : integer(amount->value);
    number.is_at_least =
        (is_row || view->n_lost_events) && pm_view_is_at_least(view, c->row, c->metric, false);
    number.is_uncertain = is_wall(view, c->metric) && pm_view_is_doubtful(view, c->row, false);
    return number;
}

static struct pm_view_number inclusive(const struct cell *c)
{
    struct pm_view_number number = integer(c->row->values[c->metric].inclusive);
    number.is_at_least = pm_view_is_at_least(c->view, c->row, c->metric, true);
    number.is_uncertain = is_wall(c->view, c->metric) && pm_view_is_doubtful(c->view, c->row, true);
    return number;
}

static struct pm_view_number at_least(const struct cell *c)
{
    if (!c->row->has_bounds)
        return (struct pm_view_number){0};
    return integer(c->row->values[c->metric].bounds.at_least);
}

static struct pm_view_number at_most(const struct cell *c)
{
    if (!c->row->has_bounds)
        return (struct pm_view_number){0};
    return integer(c->row->values[c->metric].bounds.at_most);
}

static struct pm_view_number taken_out(const struct cell *c)
{
    return integer(c->row->taken_out_ns);
}

static struct pm_view_number own_uncertainty(const struct cell *c)
{
    return integer(c->row->doubt_ns);
}

static struct pm_view_number inclusive_uncertainty(const struct cell *c)
{
    return integer(c->row->inclusive_doubt_ns);
}

static struct pm_view_number share(const struct cell *c)
{
    struct pm_view_number number = real(pm_view_share_pct(c->view, c->row));
    number.is_uncertain = pm_view_is_uncertain(c->view, c->row);
    return number;
}

static struct pm_view_number samples(const struct cell *c)
{
    return integer(c->row->n_samples);
}

static struct pm_view_number calls(const struct cell *c)
{
    const struct pm_view_traits *traits = &c->row->traits;
    if (c->part == PM_VIEW_PART_ROW && traits->calls_are_unknown && c->row->n_calls == 0)
        return (struct pm_view_number){0};
    struct pm_view_number number = integer(c->row->n_calls);
    number.is_at_least = traits->calls_are_at_least;
    return number;
}

static struct pm_view_number entries(const struct cell *c)
{
    struct pm_view_number number = integer(c->row->n_loop_entries);
    number.is_at_least = c->row->traits.entries_are_at_least && c->row->n_loop_entries;
    return number;
}

/* --- the table --- */

enum { ROW = PM_VIEW_PART_ROW, ALL = PM_VIEW_PART_ROW | PM_VIEW_PART_REST | PM_VIEW_PART_TOTAL };

static const struct column_kind {
    const char *key;     /* by metric: what stands before its name */
    const char *heading; /* of text; the metric's unit follows */
    bool by_metric;
    unsigned parts;
    bool (*is_there)(const struct pm_view *view, uint32_t m);
    struct pm_view_number (*of)(const struct cell *c);
} kinds[PM_VIEW_N_COLUMN_IDS] = {
    [PM_VIEW_COLUMN_OWN] = {"own_", "own", true, ALL, always, own},
    [PM_VIEW_COLUMN_INCLUSIVE] = {"inclusive_", "incl.", true, ROW, is_sum, inclusive},
    [PM_VIEW_COLUMN_AT_LEAST] = {"at_least_", "at least", true, ROW, has_bounds, at_least},
    [PM_VIEW_COLUMN_AT_MOST] = {"at_most_", "at most", true, ROW, has_bounds, at_most},
    [PM_VIEW_COLUMN_TAKEN_OUT] = {"taken_out_ns", "subtracted", false, ALL, has_taken_out,
                                  taken_out},
    [PM_VIEW_COLUMN_OWN_UNCERTAINTY] = {"own_uncertainty_ns", "±", false, ALL, has_taken_out,
                                        own_uncertainty},
    [PM_VIEW_COLUMN_INCLUSIVE_UNCERTAINTY] = {"inclusive_uncertainty_ns", "±", false, ROW,
                                              has_taken_out, inclusive_uncertainty},
    [PM_VIEW_COLUMN_SHARE] = {"share_pct", "share %", false, ALL, always, share},
    [PM_VIEW_COLUMN_SAMPLES] = {"n_samples", "samples", false, ALL, has_samples, samples},
    [PM_VIEW_COLUMN_CALLS] = {"n_calls", "calls", false, ALL, has_calls, calls},
    [PM_VIEW_COLUMN_ENTRIES] = {"n_loop_entries", "entries", false, ALL, has_entries, entries},
};

static struct pm_view_column column_of(const struct pm_view *view, enum pm_view_column_id id,
                                       uint32_t m)
{
    struct pm_view_column column = {.id = id, .metric = m};
    snprintf(column.key, sizeof column.key, "%s%s", kinds[id].key,
             kinds[id].by_metric ? metric_of(view, m)->name : "");
    return column;
}

uint32_t pm_view_columns(const struct pm_view *view, struct pm_view_column *ret_columns)
{
    uint32_t n = 0;
    for (uint32_t m = 0; m < view->n_metrics; m++)
        for (int id = 0; id < PM_VIEW_N_COLUMN_IDS; id++)
            if (kinds[id].by_metric && kinds[id].is_there(view, m))
                ret_columns[n++] = column_of(view, (enum pm_view_column_id)id, m);
    for (int id = 0; id < PM_VIEW_N_COLUMN_IDS; id++)
        if (!kinds[id].by_metric && kinds[id].is_there(view, 0))
            ret_columns[n++] = column_of(view, (enum pm_view_column_id)id, 0);
    return n;
}

bool pm_view_column_has(const struct pm_view_column *column, enum pm_view_part part)
{
    return (kinds[column->id].parts & (unsigned)part) != 0;
}

struct pm_view_number pm_view_number_of(const struct pm_view *view,
                                        const struct pm_view_column *column,
                                        const struct pm_view_row *row, enum pm_view_part part)
{
    struct cell cell = {view, row, column->metric, part};
    if (!pm_view_column_has(column, part))
        return (struct pm_view_number){0};
    return kinds[column->id].of(&cell);
}

const char *pm_view_column_heading(enum pm_view_column_id id)
{
    return kinds[id].heading;
}
