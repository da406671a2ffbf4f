/* The table of columns: what each is called, which views and which parts of them have it, how
 * to get it, and how text shows it. */
#include "columns.h"
#include "axis.h"
#include "groupings.h"

#include <math.h>
#include <stddef.h>

static const struct pm_graph_metric *metric_of(const struct pm_view *view, uint32_t m)
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

static bool is_of_runners(const struct pm_view *view)
{
    return pm_view_is_by_runner(view) || pm_view_grouping(view)->where == PM_VIEW_WHERE_MACHINE;
}

/* What was taken out of the own wall times of rows, when that was to be. */
static bool has_taken_out(const struct pm_view *view, uint32_t m)
{
    (void)m;
    return view->taken_ns && pm_view_shows_wall(view) && !is_of_runners(view);
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
           (!pm_view_is_fine(view) || (view->options.tree && !pm_view_grouping(view)->where) ||
            view->shows_calls);
}

/* Where loops have rows of their own, their entries are those rows' calls. */
static bool has_entries(const struct pm_view *view, uint32_t m)
{
    return has_calls(view, m) && !pm_view_grouping(view)->counts_all;
}

/* Over locations, of the first metric. */
static bool has_spread(const struct pm_view *view, uint32_t m)
{
    return m == view->primary && pm_view_has_axis(view);
}

/* --- what they are of a row --- */

struct cell {
    const struct pm_view *view;
    const struct pm_view_row *row;
    uint32_t metric;
    enum pm_view_part part;
};

static bool count_is_uncertain(const struct cell *c, double value)
{
    return c->part == PM_VIEW_PART_ROW ? pm_view_counts_are_few(c->view, c->metric, value)
                                       : pm_view_counts_are_scaled(c->view, c->metric);
}

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
        (is_row || view->n_lost_events || pm_view_is_unmeasured(view, c->metric)) &&
        pm_view_is_at_least(view, c->row, c->metric, false);
    number.is_uncertain = (is_wall(view, c->metric) && pm_view_is_doubtful(view, c->row, false)) ||
                          (is_row && pm_view_has_words_of_inlined(view, c->row, c->metric)) ||
                          count_is_uncertain(c, (double)amount->value);
    return number;
}

/* Places of where axes hold what is in them, others what they called. */
static bool is_at_least_inclusive(const struct pm_view *view, const struct pm_view_row *row,
                                  uint32_t m)
{
    if (pm_view_grouping(view)->where)
        return (row->at_least_in & 1u << m) != 0;
    return pm_view_is_at_least(view, row, m, true);
}

static struct pm_view_number inclusive(const struct cell *c)
{
    struct pm_view_number number = integer(c->row->values[c->metric].inclusive);
    number.is_at_least = is_at_least_inclusive(c->view, c->row, c->metric);
    number.is_uncertain =
        (is_wall(c->view, c->metric) && pm_view_is_doubtful(c->view, c->row, true)) ||
        count_is_uncertain(c, number.real);
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
    if (!c->row->has_bounds || c->row->traits.data_is_at_least)
        return (struct pm_view_number){0};
    return integer(c->row->values[c->metric].bounds.at_most);
}

static struct pm_view_number own_uncertainty(const struct cell *c)
{
    return integer(pm_view_uncertainty_ns(c->row, false));
}

static struct pm_view_number inclusive_uncertainty(const struct cell *c)
{
    return integer(pm_view_uncertainty_ns(c->row, true));
}

static struct pm_view_number share(const struct cell *c)
{
    struct pm_view_number number = real(pm_view_share_pct(c->view, c->row));
    number.is_uncertain = pm_view_is_uncertain(c->view, c->row);
    return number;
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

static bool has_formula(const struct pm_view *view, uint32_t i)
{
    return i < view->n_formulas;
}

static struct pm_view_number own_or_calls(const struct cell *c)
{
    return c->metric == PM_VIEW_MAX_METRICS ? calls(c) : own(c);
}

static struct pm_view_number inclusive_or_calls(const struct cell *c)
{
    return c->metric == PM_VIEW_MAX_METRICS ? calls(c) : inclusive(c);
}

/* c->metric: which formula. What it is made of may be more, so it is uncertain, whichever way. */
static struct pm_view_number of_formula(const struct cell *c, bool is_inclusive)
{
    const struct pm_formula *formula = &c->view->formulas[c->metric];
    double values[PM_VIEW_MAX_METRICS + 1];
    bool is_uncertain = false;
    for (uint32_t m = 0; m <= PM_VIEW_MAX_METRICS; m++) {
        struct cell part = {c->view, c->row, m, c->part};
        values[m] = NAN;
        if (!pm_formula_uses(formula, m))
            continue;
        struct pm_view_number number =
            is_inclusive ? inclusive_or_calls(&part) : own_or_calls(&part);
        if (number.kind != PM_VIEW_NO_NUMBER)
            values[m] = number.real;
        is_uncertain |= number.is_at_least || number.is_uncertain;
        if (m < PM_VIEW_MAX_METRICS)
            is_uncertain |= pm_view_counts_are_few(c->view, m, number.real);
    }
    struct pm_view_number number = real(pm_formula_value(formula, values));
    number.is_uncertain = is_uncertain;
    return number;
}

static struct pm_view_number own_formula(const struct cell *c)
{
    return of_formula(c, false);
}

static struct pm_view_number inclusive_formula(const struct cell *c)
{
    return of_formula(c, true);
}

/* NULL: a row without own times, or nothing took part. */
static const struct pm_view_spread *spread_of(const struct cell *c)
{
    const struct pm_view *view = c->view;
    bool untimed = c->row->traits.is_untimed && is_wall(view, view->primary);
    if (c->part == PM_VIEW_PART_ROW && untimed && !view->options.tree)
        return NULL;
    return c->row->spread && c->row->spread->n > 0 ? c->row->spread : NULL;
}

/* What is at least, or uncertain, in the row is so on its locations. */
static bool spread_is_at_least(const struct cell *c)
{
    bool is_row = c->part == PM_VIEW_PART_ROW;
    if (!is_row && !c->view->n_lost_events)
        return false;
    return is_row && c->view->options.tree
               ? is_at_least_inclusive(c->view, c->row, c->view->primary)
               : pm_view_is_at_least(c->view, c->row, c->view->primary, false);
}

static bool spread_is_uncertain(const struct cell *c)
{
    bool inclusive = c->view->options.tree && c->part == PM_VIEW_PART_ROW;
    if (is_wall(c->view, c->view->primary))
        return pm_view_spread_is_off(c->view, c->row) ||
               pm_view_is_doubtful(c->view, c->row, inclusive);
    return pm_view_is_uncertain(c->view, c->row);
}

static struct pm_view_number of_location(const struct cell *c, const struct pm_amount *amount)
{
    bool is_average = metric_of(c->view, c->view->primary)->aggregation == PM_AVERAGE;
    if (amount->n == 0)
        return (struct pm_view_number){0};
    struct pm_view_number number =
        is_average ? real((double)amount->value / amount->n) : integer(amount->value);
    number.is_at_least = spread_is_at_least(c);
    number.is_uncertain =
        spread_is_uncertain(c) || pm_view_is_few_samples(c->view, c->row, number.real);
    return number;
}

static struct pm_view_number least(const struct cell *c)
{
    const struct pm_view_spread *spread = spread_of(c);
    return spread ? of_location(c, &spread->least) : (struct pm_view_number){0};
}

static struct pm_view_number average(const struct cell *c)
{
    const struct pm_view_spread *spread = spread_of(c);
    if (!spread)
        return (struct pm_view_number){0};
    struct pm_view_number number = real(pm_view_spread_average(spread));
    number.is_at_least = spread_is_at_least(c);
    number.is_uncertain = spread_is_uncertain(c);
    return number;
}

static struct pm_view_number most(const struct cell *c)
{
    const struct pm_view_spread *spread = spread_of(c);
    if (!spread)
        return (struct pm_view_number){0};
    struct pm_view_number number = of_location(c, &spread->most);
    number.is_at_least |= spread->most_is_at_least;
    return number;
}

/* Of numbers that may be more it is no bound. */
static struct pm_view_number imbalance(const struct cell *c)
{
    const struct pm_view_spread *spread = spread_of(c);
    if (!spread)
        return (struct pm_view_number){0};
    struct pm_view_number number = real(pm_view_imbalance_pct(spread));
    if (number.kind == PM_VIEW_NO_NUMBER || spread->n == 1) /* 0, whatever it has */
        return number;
    bool rows_may_be_more = spread_is_at_least(c);
    number.is_at_least = spread->most_is_at_least && !rows_may_be_more;
    number.is_uncertain =
        rows_may_be_more || most(c).is_uncertain || pm_view_imbalance_is_noise(c->view, c->row);
    return number;
}

static struct pm_view_number locations(const struct cell *c)
{
    const struct pm_view_spread *spread = spread_of(c);
    if (!spread)
        return (struct pm_view_number){0};
    struct pm_view_number number = integer(spread->n_with);
    bool may_be_more = spread_is_at_least(c) || spread->has_shared;
    number.is_at_least = may_be_more && spread->n_with < spread->n;
    return number;
}

static struct pm_view_number most_at(const struct cell *c)
{
    const struct pm_view_spread *spread = spread_of(c);
    if (!spread || spread->at == PM_NONE)
        return (struct pm_view_number){0};
    struct pm_view_number number = integer(pm_view_spread_place(c->view, spread));
    const char *const *names = c->view->axis.names;
    if (names)
        number = (struct pm_view_number){.kind = PM_VIEW_TEXT, .text = names[spread->at]};
    number.is_uncertain = imbalance(c).is_uncertain;
    return number;
}

/* --- where text has them --- */

static bool is_off_cpu(const struct pm_view *view, uint32_t m)
{
    return m < view->n_metrics && pm_view_off_cpu_word(view, m);
}

/* Of amounts that add up, trees show the inclusive ones first. */
static bool tree_is_first(const struct pm_view *view, uint32_t m)
{
    return view->options.tree && is_sum(view, m);
}

/* Beside what rows are sorted by, the other of own and inclusive. Operations seldom lie in each
 * other, and have many metrics: of the first one only. */
static bool shows_both(const struct pm_view *view, uint32_t m)
{
    bool is_wanted = m == 0 || view->options.by != PM_VIEW_BY_OPERATION || view->options.tree;
    return is_wanted && is_sum(view, m) && !view->measured_nothing && !pm_view_has_axis(view) &&
           (!pm_view_is_fine(view) || view->options.tree) && !pm_view_is_by_runner(view);
}

/* Unless it was asked for, what is over locations takes its room. */
static bool shows_off_cpu(const struct pm_view *view)
{
    return !pm_view_has_axis(view) || view->options.metrics;
}

static bool shows_own(const struct pm_view *view, uint32_t m)
{
    if (is_off_cpu(view, m))
        return !view->options.tree && shows_off_cpu(view);
    return !tree_is_first(view, m) || shows_both(view, m);
}

static bool shows_inclusive(const struct pm_view *view, uint32_t m)
{
    if (is_off_cpu(view, m))
        return view->options.tree && shows_off_cpu(view);
    return tree_is_first(view, m) || shows_both(view, m);
}

static bool shows_bounds(const struct pm_view *view, uint32_t m)
{
    return has_bounds(view, m) && !is_off_cpu(view, m);
}

/* What measuring cost in own times, and is not in them, where it is more than a hundredth of
 * them. */
static bool shows_taken_out(const struct pm_view *view, uint32_t m)
{
    return m < view->n_metrics && is_wall(view, m) && !is_of_runners(view) &&
           (double)view->total.taken_out_ns > 0.01 * (double)view->total.values[m].own.value;
}

static bool shows_share(const struct pm_view *view, uint32_t m)
{
    return m == view->primary && (m == view->n_metrics || is_sum(view, m));
}

static const char *locations_heading(const struct pm_view *view)
{
    return pm_runner_kind(view->options.parts)->plural;
}

static const char *most_at_heading(const struct pm_view *view)
{
    static const char *const words[PM_N_RUNNERS] = {
        [PM_RUNNER_THREAD] = "at tid",
        [PM_RUNNER_PROCESS] = "at pid",
        [PM_RUNNER_RANK] = "at rank",
        [PM_RUNNER_NODE] = "at node",
    };
    return words[view->options.parts];
}

/* After all metrics; alone where there are none. */
static bool shows_calls(const struct pm_view *view, uint32_t m)
{
    if (m < view->n_metrics)
        return false;
    return m == 0 || (view->shows_calls && (view->total.n_calls || view->n_rows == 0));
}

/* --- the table --- */

enum {
    ROW = PM_VIEW_PART_ROW,
    REST = PM_VIEW_PART_REST,
    TOTAL = PM_VIEW_PART_TOTAL,
    ALL = ROW | REST | TOTAL
};

/* From left to right, for each metric; then those without one. */
enum place { PLACE_FIRST = 1, PLACE_CALLS, PLACE_SHARE, PLACE_SECOND, PLACE_LATER };

struct text {
    const char *(*heading)(const struct pm_view *view); /* NULL: the column's */
    enum place place;                                   /* 0: only programs get it */
    enum place tree_place;
    /* m: beside which metric, n_metrics for after them all. NULL: wherever the view has it */
    bool (*is_shown)(const struct pm_view *view, uint32_t m);
    enum pm_view_unit unit;
    bool has_bar;
    enum pm_view_turn turn, tree_turn, other_turn; /* in trees, and of later metrics */
    bool keeps_row;      /* a row is not folded while it prints more than 0 here */
    unsigned doubt;      /* the parts where "~" marks what is uncertain */
    unsigned tree_doubt; /* and in trees */
    unsigned blank_zero; /* the parts where 0 says nothing */
    unsigned tree_blank; /* the parts that trees leave out */
    bool outside_blank;  /* left out of time outside instrumented code, but in trees */
};

#define IN_ROW(member) offsetof(struct pm_view_row, member)

/* What is not set is the usual: all parts of text that have the number show it, as a count, and
 * tables keep it however narrow they are. */
static const struct column_kind {
    const char *key;     /* by metric: what stands before its name */
    const char *heading; /* of text; the metric and the unit follow */
    bool by_metric;
    unsigned parts;
    bool (*is_there)(const struct pm_view *view, uint32_t m);
    size_t number; /* where a row has it, an int64_t; 0: nowhere */
    bool sums;     /* rest and total add up what rows have there */
    struct pm_view_number (*of)(const struct cell *c); /* NULL: what the row has there */
    struct text text;
    uint32_t formula; /* 1 + which of the view's; 0: none */
    bool in_trees;    /* of formulas: text has this one in trees, else the other */
} kinds[] = {
    /* clang-format off */
    [PM_VIEW_COLUMN_OWN] = {
        "own_", "own", .by_metric = true, ALL, always, .of = own,
        .text = {.place = PLACE_FIRST, .tree_place = PLACE_SECOND, .is_shown = shows_own,
                 .unit = PM_VIEW_UNIT_METRIC, .tree_turn = PM_VIEW_GOES_TREE_OWN,
                 .keeps_row = true, .doubt = TOTAL /* of rows the share says it */,
                 .tree_doubt = ROW /* which is of inclusive times there */},
    },
    [PM_VIEW_COLUMN_INCLUSIVE] = {
        "inclusive_", "incl.", .by_metric = true, ROW, is_sum, .of = inclusive,
        .text = {.place = PLACE_SECOND, .tree_place = PLACE_FIRST, .is_shown = shows_inclusive,
                 .unit = PM_VIEW_UNIT_METRIC, .turn = PM_VIEW_GOES_INCLUSIVE,
                 .other_turn = PM_VIEW_GOES_OTHER_METRIC, .doubt = ROW, .outside_blank = true},
    },
    [PM_VIEW_COLUMN_AT_LEAST] = {
        "at_least_", "at least", .by_metric = true, ROW, has_bounds, .of = at_least,
        .text = {.place = PLACE_LATER, .is_shown = shows_bounds, .unit = PM_VIEW_UNIT_METRIC,
                 .keeps_row = true},
    },
    [PM_VIEW_COLUMN_AT_MOST] = {
        "at_most_", "at most", .by_metric = true, ROW, has_bounds, .of = at_most,
        .text = {.place = PLACE_LATER, .is_shown = shows_bounds, .unit = PM_VIEW_UNIT_METRIC,
                 .keeps_row = true},
    },
    [PM_VIEW_COLUMN_TAKEN_OUT] = {
        "taken_out_ns", "subtracted", .parts = ALL, has_taken_out, IN_ROW(taken_out_ns),
        .sums = true,
        .text = {.place = PLACE_LATER, .is_shown = shows_taken_out, .unit = PM_VIEW_UNIT_METRIC,
                 .turn = PM_VIEW_GOES_FOR_FULL_NAMES, .keeps_row = true, .blank_zero = ALL},
    },
    [PM_VIEW_COLUMN_OWN_UNCERTAINTY] = {
        "own_uncertainty_ns", "±", .parts = ALL, has_taken_out, IN_ROW(doubt_ns), .sums = true,
        .of = own_uncertainty,
    },
    [PM_VIEW_COLUMN_INCLUSIVE_UNCERTAINTY] = {
        "inclusive_uncertainty_ns", "±", .parts = ROW, has_taken_out,
        .of = inclusive_uncertainty,
    },
    [PM_VIEW_COLUMN_SHARE] = {
        "share_pct", "share %", .parts = ALL, always, .of = share,
        .text = {.place = PLACE_SHARE, .is_shown = shows_share, .unit = PM_VIEW_UNIT_PERCENT,
                 .has_bar = true, .turn = PM_VIEW_GOES_SHARE, .doubt = ROW,
                 .tree_blank = REST /* rows have inclusive shares, which do not add up */},
    },
    [PM_VIEW_COLUMN_SAMPLES] = {
        "n_samples", "samples", .parts = ALL, has_samples, IN_ROW(n_samples), .sums = true,
    },
    [PM_VIEW_COLUMN_CALLS] = {
        "n_calls", "calls", .parts = ALL, has_calls, IN_ROW(n_calls), .sums = true, .of = calls,
        .text = {.place = PLACE_CALLS, .is_shown = shows_calls, .turn = PM_VIEW_GOES_CALLS,
                 .blank_zero = ROW | REST},
    },
    [PM_VIEW_COLUMN_ENTRIES] = {
        "n_loop_entries", "entries", .parts = ALL, has_entries, IN_ROW(n_loop_entries),
        .sums = true, .of = entries,
    },
    [PM_VIEW_COLUMN_LEAST] = {
        "min_", "min", .by_metric = true, ROW | TOTAL, has_spread, .of = least,
        .text = {.place = PLACE_LATER, .is_shown = has_spread, .unit = PM_VIEW_UNIT_METRIC,
                 .turn = PM_VIEW_GOES_INCLUSIVE, .doubt = ROW | TOTAL},
    },
    [PM_VIEW_COLUMN_AVERAGE] = {
        "average_", "average", .by_metric = true, ROW | TOTAL, has_spread, .of = average,
        .text = {.place = PLACE_LATER, .is_shown = has_spread, .unit = PM_VIEW_UNIT_METRIC,
                 .turn = PM_VIEW_GOES_INCLUSIVE, .doubt = ROW | TOTAL},
    },
    [PM_VIEW_COLUMN_MOST] = {
        "max_", "max", .by_metric = true, ROW | TOTAL, has_spread, .of = most,
        .text = {.place = PLACE_LATER, .is_shown = has_spread, .unit = PM_VIEW_UNIT_METRIC,
                 .doubt = ROW | TOTAL},
    },
    {
        "max_location", "at", .parts = ROW | TOTAL, has_spread, .of = most_at,
        .text = {most_at_heading, PLACE_LATER, .is_shown = has_spread,
                 .turn = PM_VIEW_GOES_INCLUSIVE, .doubt = ROW | TOTAL},
    },
    {
        "imbalance_pct", "imbalance %", .parts = ROW | TOTAL, has_spread, .of = imbalance,
        .text = {.place = PLACE_LATER, .is_shown = has_spread, .unit = PM_VIEW_UNIT_PERCENT,
                 .doubt = ROW | TOTAL},
    },
    {
        "n_locations_with_cost", "locations", .parts = ROW | TOTAL, has_spread, .of = locations,
        .text = {locations_heading, PLACE_LATER, .is_shown = has_spread,
                 .turn = PM_VIEW_GOES_CALLS},
    },
#define FORMULA(i) \
    {"own_", NULL, .parts = ALL, has_formula, .of = own_formula, \
     .text = {.place = PLACE_LATER, .unit = PM_VIEW_UNIT_REAL, .doubt = ALL}, .formula = 1 + (i)}, \
    {"inclusive_", NULL, .parts = ROW, has_formula, .of = inclusive_formula, \
     .text = {.place = PLACE_LATER, .unit = PM_VIEW_UNIT_REAL, .doubt = ROW, .tree_doubt = ROW}, \
     .formula = 1 + (i), .in_trees = true}
    FORMULA(0), FORMULA(1), FORMULA(2), FORMULA(3),
#undef FORMULA
    /* clang-format on */
};
_Static_assert(PM_VIEW_MAX_FORMULAS == 4, "columns for each");

enum { N_KINDS = sizeof kinds / sizeof *kinds };
_Static_assert((int)N_KINDS >= (int)PM_VIEW_N_COLUMN_IDS &&
                   N_KINDS * PM_VIEW_MAX_METRICS <= PM_VIEW_MAX_COLUMNS,
               "PM_VIEW_MAX_COLUMNS holds each column of each metric");

static const char *name_of(const struct pm_view *view, const struct column_kind *kind, uint32_t m)
{
    if (kind->formula)
        return view->formulas[kind->formula - 1].name;
    return kind->by_metric ? metric_of(view, m)->name : "";
}

static struct pm_view_column column_of(const struct pm_view *view, uint32_t id, uint32_t m)
{
    struct pm_view_column column = {.id = id, .metric = m};
    snprintf(column.key, sizeof column.key, "%s%s", kinds[id].key, name_of(view, &kinds[id], m));
    return column;
}

/* Of those without a metric. */
static bool is_in_view(const struct pm_view *view, const struct column_kind *kind)
{
    return !kind->by_metric && kind->is_there(view, kind->formula ? kind->formula - 1 : 0);
}

uint32_t pm_view_columns(const struct pm_view *view, struct pm_view_column *ret_columns)
{
    uint32_t n = 0;
    for (uint32_t m = 0; m < view->n_metrics; m++)
        for (uint32_t id = 0; id < N_KINDS; id++)
            if (kinds[id].by_metric && kinds[id].is_there(view, m))
                ret_columns[n++] = column_of(view, id, m);
    for (uint32_t id = 0; id < N_KINDS; id++)
        if (is_in_view(view, &kinds[id]))
            ret_columns[n++] = column_of(view, id, 0);
    return n;
}

bool pm_view_column_has(const struct pm_view_column *column, enum pm_view_part part)
{
    return (kinds[column->id].parts & (unsigned)part) != 0;
}

static int64_t *number_in(const struct column_kind *kind, const struct pm_view_row *row)
{
    return (int64_t *)((char *)row + kind->number);
}

struct pm_view_number pm_view_number_of(const struct pm_view *view,
                                        const struct pm_view_column *column,
                                        const struct pm_view_row *row, enum pm_view_part part)
{
    const struct column_kind *kind = &kinds[column->id];
    struct cell cell = {view, row, kind->formula ? kind->formula - 1 : column->metric, part};
    if (!pm_view_column_has(column, part))
        return (struct pm_view_number){0};
    return kind->of ? kind->of(&cell) : integer(*number_in(kind, row));
}

bool pm_view_add_numbers(struct pm_view_row *sum, const struct pm_view_row *row)
{
    bool overflow = false;
    for (uint32_t id = 0; id < N_KINDS; id++) {
        int64_t *total = number_in(&kinds[id], sum);
        if (kinds[id].sums)
            overflow |= __builtin_add_overflow(*total, *number_in(&kinds[id], row), total);
    }
    return !overflow;
}

/* --- text --- */

static bool is_shown(const struct pm_view *view, const struct column_kind *kind, uint32_t m)
{
    if (kind->by_metric && m == view->n_metrics)
        return false;
    if (kind->formula)
        return m == view->n_metrics && is_in_view(view, kind) &&
               kind->in_trees == view->options.tree;
    if (kind->text.is_shown)
        return kind->text.is_shown(view, m);
    return (kind->by_metric || m == view->n_metrics) && kind->is_there(view, m);
}

/* At a place, those that stand there beside a metric. */
static uint32_t add_at(const struct pm_view *view, enum place place, uint32_t m, uint32_t n,
                       struct pm_view_column *columns)
{
    for (uint32_t id = 0; id < N_KINDS; id++) {
        const struct text *text = &kinds[id].text;
        bool moves = view->options.tree && text->tree_place;
        if ((moves ? text->tree_place : text->place) == place && is_shown(view, &kinds[id], m))
            columns[n++] = column_of(view, id, m < view->n_metrics ? m : 0);
    }
    return n;
}

uint32_t pm_view_text_columns(const struct pm_view *view, struct pm_view_column *ret_columns)
{
    uint32_t n = 0;
    for (uint32_t m = 0; m <= view->n_metrics; m++)
        for (enum place place = PLACE_FIRST; place <= PLACE_LATER; place++)
            n = add_at(view, place, m, n, ret_columns);
    return n;
}

const char *pm_view_column_heading(const struct pm_view *view, const struct pm_view_column *column)
{
    const struct column_kind *kind = &kinds[column->id];
    if (kind->formula)
        return view->formulas[kind->formula - 1].name;
    return kind->text.heading ? kind->text.heading(view) : kind->heading;
}

bool pm_view_column_is_of_metric(const struct pm_view_column *column)
{
    return kinds[column->id].by_metric;
}

enum pm_view_unit pm_view_column_unit(const struct pm_view_column *column)
{
    return kinds[column->id].text.unit;
}

bool pm_view_column_has_bar(const struct pm_view_column *column)
{
    return kinds[column->id].text.has_bar;
}

static const char *off_cpu_word(const struct pm_view *view, const struct pm_view_column *column)
{
    return kinds[column->id].by_metric ? pm_view_off_cpu_word(view, column->metric) : NULL;
}

static bool is_preempted(const char *off_cpu_word)
{
    return off_cpu_word && !strcmp(off_cpu_word, "preempted");
}

enum pm_view_turn pm_view_column_turn(const struct pm_view *view,
                                      const struct pm_view_column *column)
{
    const struct text *text = &kinds[column->id].text;
    const char *off_cpu = off_cpu_word(view, column);
    enum pm_view_turn turn = text->turn;
    if (view->options.tree && text->tree_turn)
        turn = text->tree_turn;
    else if (column->metric != view->primary && text->other_turn)
        turn = text->other_turn;
    if (is_preempted(off_cpu))
        return PM_VIEW_GOES_AS_CHANCE;
    if (off_cpu && (turn == PM_VIEW_NEVER_GOES || turn > PM_VIEW_GOES_OFF_CPU))
        return PM_VIEW_GOES_OFF_CPU;
    return turn;
}

/* A number that is not known and 0 as far as it is. */
static bool is_unknown_zero(const struct pm_view *view, const struct pm_view_column *column,
                            const struct pm_view_row *row, struct pm_view_number number)
{
    return number.real == 0 && (number.is_at_least || pm_view_off_cpu_word(view, column->metric) ||
                                (row->traits.is_untimed && is_wall(view, column->metric)));
}

bool pm_view_is_blank(const struct pm_view *view, const struct pm_view_column *column,
                      const struct pm_view_row *row, enum pm_view_part part,
                      struct pm_view_number number)
{
    const struct text *text = &kinds[column->id].text;
    bool tree = view->options.tree;
    if (number.kind == PM_VIEW_NO_NUMBER || (tree && text->tree_blank & (unsigned)part))
        return true;
    if (!tree && text->outside_blank && row->kind == PM_VIEW_ROW_OUTSIDE)
        return true;
    if (number.real == 0 && text->blank_zero & (unsigned)part)
        return true;
    return kinds[column->id].by_metric && part == PM_VIEW_PART_ROW &&
           is_unknown_zero(view, column, row, number);
}

bool pm_view_marks_doubt(const struct pm_view *view, const struct pm_view_column *column,
                         enum pm_view_part part)
{
    const struct text *text = &kinds[column->id].text;
    unsigned parts = text->doubt | (view->options.tree ? text->tree_doubt : 0);
    if (column->id == PM_VIEW_COLUMN_OWN && column->metric != view->primary)
        parts |= ROW; /* of which no share says it */
    return (parts & (unsigned)part) != 0;
}

bool pm_view_keeps_row(const struct pm_view *view, const struct pm_view_column *column)
{
    return kinds[column->id].text.keeps_row && !is_preempted(off_cpu_word(view, column));
}
