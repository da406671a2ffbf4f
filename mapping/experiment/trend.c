/* Rows over members, in an order (trend.h). */
#include "trend.h"

#include "kept.h"

#include "mapping/view/groupings.h"

#include <math.h>
#include <stdlib.h>

/* Shares of less are not looked at for changes, as in comparisons. */
#define LEAST_SHARE (PM_COMPARE_JUDGED_PCT / 100)

struct making {
    const struct pm_experiment *experiment;
    const struct pm_trend_options *options;
    struct pm_trend *to;
    struct pm_error *err;
    double *values; /* [n_rows + 1][n_members], the total behind the rows; NAN: not known */
    bool *may_end;  /* [n_members] */
};

static enum pm_status no_memory(const struct making *m)
{
    return pm_error_set(m->err, PM_ERR_MEMORY, "out of memory");
}

static const char *keep(struct making *m, const char *text)
{
    return pm_arena_strndup(&m->to->arena, text, strlen(text));
}

/* --- points --- */

static const char *value_of(const struct making *m, uint32_t member)
{
    return pm_member_value(&m->experiment->members[member], m->options->key);
}

/* An order for qsort_r: by number where all are numbers, else by the first of each value. */
struct order {
    const struct making *m;
    bool is_numeric;
    struct pm_map first_of; /* hash of a value -> 1 + position of the first member */
};

static uint64_t hash_of(const char *text)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 1099511628211u;
    return hash;
}

static double number_of(const struct order *order, uint32_t member)
{
    double number = 0;
    const char *value = value_of(order->m, member);
    if (order->is_numeric && pm_str_to_double(pm_str_of(value), &number))
        return number;
    return pm_map_get(&order->first_of, hash_of(value));
}

static int compare_members(const void *a_pointer, const void *b_pointer, void *context)
{
    uint32_t a = *(const uint32_t *)a_pointer, b = *(const uint32_t *)b_pointer;
    double x = number_of(context, a), y = number_of(context, b);
    if (x != y)
        return x < y ? -1 : 1;
    return (a > b) - (a < b);
}

static enum pm_status sort_members(struct making *m)
{
    struct order order = {.m = m, .is_numeric = true};
    enum pm_status status = PM_OK;
    double number;
    for (uint32_t i = 0; i < m->to->n_members && !status; i++) {
        const char *value = value_of(m, m->to->members[i]);
        uint32_t *at = pm_map_at(&order.first_of, hash_of(value));
        order.is_numeric &= pm_str_to_double(pm_str_of(value), &number);
        if (!at)
            status = no_memory(m);
        else if (!*at)
            *at = 1 + m->to->members[i];
    }
    if (!status)
        qsort_r(m->to->members, m->to->n_members, sizeof *m->to->members, compare_members, &order);
    pm_map_release(&order.first_of);
    return status;
}

static enum pm_status make_points(struct making *m)
{
    struct pm_trend *to = m->to;
    to->points = pm_alloc_array((size_t)to->n_members + 1, sizeof *to->points);
    m->may_end = pm_alloc_array((size_t)to->n_members + 1, sizeof *m->may_end);
    if (!to->points || !m->may_end)
        return no_memory(m);
    for (uint32_t i = 0; i < to->n_members; i++) {
        const char *value = value_of(m, to->members[i]);
        bool is_new = !to->n_points || strcmp(to->points[to->n_points - 1].value, value) != 0;
        m->may_end[i] = is_new;
        if (is_new)
            to->points[to->n_points++] = (struct pm_trend_point){keep(m, value), i, 0};
        if (!to->points[to->n_points - 1].value)
            return no_memory(m);
        to->points[to->n_points - 1].n++;
    }
    return PM_OK;
}

static enum pm_status choose_members(struct making *m, const struct pm_experiment_selection *chosen)
{
    struct pm_trend *to = m->to;
    to->members = pm_alloc_array((size_t)chosen->n + 1, sizeof *to->members);
    if (!to->members)
        return no_memory(m);
    for (uint32_t i = 0; i < chosen->n; i++) {
        const struct pm_experiment_member *member = &m->experiment->members[chosen->items[i]];
        bool is_out = member->state || (member->poor && m->options->compare.good_only);
        bool has_key = pm_member_value(member, m->options->key) != NULL;
        to->n_left_out += is_out;
        to->n_without_key += !is_out && !has_key;
        if (!is_out && has_key)
            to->members[to->n_members++] = chosen->items[i];
    }
    if (!to->n_members)
        return pm_error_set(m->err, PM_ERR_USAGE,
                            "no member that can be read has an attribute '%s'", m->options->key);
    enum pm_status status = sort_members(m);
    return status != PM_OK ? status : make_points(m);
}

/* --- numbers --- */

static bool make_room(struct making *m, uint32_t n_rows)
{
    struct pm_trend *to = m->to;
    to->n_rows = n_rows;
    to->rows = pm_alloc_array((size_t)n_rows + 1, sizeof *to->rows);
    m->values = pm_alloc_array(((size_t)n_rows + 1) * to->n_members, sizeof *m->values);
    return to->rows && m->values;
}

static double number_of_cell(const struct pm_compare_cell *cell)
{
    return cell->state == PM_COMPARE_UNKNOWN || cell->is_at_least ? NAN : cell->value;
}

/* Names of the newest build that has one. */
static enum pm_status name_rows(struct making *m, struct experiment_kept *kept)
{
    const char **names = pm_alloc_array(2 * (size_t)kept->n_rows + 1, sizeof *names);
    enum pm_status status = names ? PM_OK : no_memory(m);
    for (uint32_t i = m->to->n_members; i-- > 0 && !status;) {
        uint32_t build = m->experiment->members[m->to->members[i]].build;
        if (i + 1 < m->to->n_members &&
            build == m->experiment->members[m->to->members[i + 1]].build)
            continue;
        status =
            experiment_read_names(m->experiment, kept, build, m->err, names, names + kept->n_rows);
        for (uint32_t r = 0; r < kept->n_rows && !status; r++) {
            struct pm_trend_row *row = &m->to->rows[r];
            if (!names[r] || row->what)
                continue;
            row->what = keep(m, names[r]);
            row->place = keep(m, names[kept->n_rows + r]);
            status = row->what && row->place ? PM_OK : no_memory(m);
        }
    }
    free(names);
    return status;
}

static enum pm_status keep_metric(struct making *m, const struct pm_graph_metric *metric)
{
    m->to->metric = (struct pm_graph_metric){keep(m, metric->name), keep(m, metric->unit),
                                             keep(m, metric->kind), keep(m, metric->description),
                                             metric->aggregation};
    const struct pm_graph_metric *kept = &m->to->metric;
    return kept->name && kept->unit && kept->kind && kept->description ? PM_OK : no_memory(m);
}

static enum pm_status take_kept(struct making *m, struct experiment_kept *kept)
{
    uint32_t n = m->to->n_members;
    if (!make_room(m, kept->n_rows))
        return no_memory(m);
    m->to->is_sampled = kept->is_sampled;
    for (uint32_t i = 0; i < n; i++) {
        const struct experiment_reading *reading = &kept->readings[i];
        for (uint32_t e = 0; e < reading->n; e++)
            m->values[(size_t)reading->cells[e].row * n + i] =
                number_of_cell(&reading->cells[e].cell);
        m->values[(size_t)kept->n_rows * n + i] = reading->total;
    }
    enum pm_status status = keep_metric(m, &kept->metric);
    return status != PM_OK ? status : name_rows(m, kept);
}

/* Rows of a comparison of all members with the last one. */
static enum pm_status take_comparison(struct making *m, const struct pm_comparison *from)
{
    uint32_t n = m->to->n_members;
    if (!make_room(m, from->n_rows))
        return no_memory(m);
    m->to->is_sampled = from->is_sampled;
    for (uint32_t i = 0; i < n; i++)
        m->values[(size_t)from->n_rows * n + i] = from->sides[0].runs[i].total;
    for (uint32_t r = 0; r < from->n_rows; r++) {
        const struct pm_compare_row *row = &from->rows[r];
        const char *place = row->places[1] ? row->places[1] : row->places[0];
        for (uint32_t i = 0; i < n; i++)
            m->values[(size_t)r * n + i] = number_of_cell(&row->cells[0][i]);
        m->to->rows[r].what = keep(m, row->what);
        m->to->rows[r].place = keep(m, place ? place : "");
        if (!m->to->rows[r].what || !m->to->rows[r].place)
            return no_memory(m);
    }
    return keep_metric(m, &from->metric);
}

static enum pm_status read_archives(struct making *m)
{
    uint32_t n = m->to->n_members;
    const char **paths = pm_alloc_array((size_t)n + 1, sizeof *paths);
    struct pm_compare_options options = m->options->compare;
    struct pm_comparison *comparison = NULL;
    if (!paths)
        return no_memory(m);
    for (uint32_t i = 0; i < n; i++)
        paths[i] = m->experiment->members[m->to->members[i]].path;
    options.good_only = false; /* who is poor was left out already */
    const struct pm_compare_input inputs[2] = {{paths, n}, {paths + n - 1, 1}};
    enum pm_status status = pm_compare(&options, inputs, NULL, m->err, &comparison);
    if (!status)
        status = take_comparison(m, comparison);
    pm_comparison_free(comparison);
    free(paths);
    return status;
}

static enum pm_status read_numbers(struct making *m)
{
    const struct pm_view_options *view = &m->options->compare.view;
    struct experiment_kept kept = {0};
    if (!pm_experiment_keeps(&m->options->compare))
        return read_archives(m);
    enum pm_status status =
        experiment_read_kept(m->experiment, pm_view_by_word(view->by), view->metrics,
                             m->to->members, m->to->n_members, m->err, &kept);
    if (status != PM_OK)
        return status;
    status = kept.is_whole ? take_kept(m, &kept) : read_archives(m);
    experiment_kept_release(&kept);
    return status;
}

/* --- rows --- */

static enum pm_status find_changes(struct making *m, const double *values, struct pm_trend_row *row)
{
    struct pm_change changes[PM_MOST_CHANGES];
    const struct pm_change_options options = {m->options->least_pct, 0.001, m->may_end};
    uint32_t n = 0, point = 0;
    enum pm_status status =
        pm_find_changes(values, m->to->n_members, &options, m->err, changes, &n);
    if (status != PM_OK || !n)
        return status;
    row->changes = pm_arena_alloc(&m->to->arena, n * sizeof *row->changes);
    if (!row->changes)
        return no_memory(m);
    for (uint32_t i = 0; i < n; i++) {
        while (m->to->points[point].first != changes[i].at)
            point++;
        row->changes[i] = changes[i];
        row->changes[i].at = point;
    }
    row->n_changes = n;
    return PM_OK;
}

static enum pm_status sum_row(struct making *m, const double *values, double all,
                              struct pm_trend_row *row)
{
    struct pm_trend *to = m->to;
    double *means = pm_arena_alloc(&to->arena, (to->n_points + 1) * sizeof *means);
    if (!means)
        return no_memory(m);
    row->is_whole = true;
    for (uint32_t p = 0; p < to->n_points; p++) {
        double sum = 0;
        for (uint32_t i = 0; i < to->points[p].n; i++)
            sum += values[to->points[p].first + i];
        means[p] = sum / to->points[p].n;
        row->is_whole &= !isnan(sum);
        row->all += isnan(sum) ? 0 : sum;
    }
    row->means = means;
    bool is_large = strcmp(to->metric.kind, "time") != 0 || row->all >= LEAST_SHARE * all;
    return row->is_whole && is_large ? find_changes(m, values, row) : PM_OK;
}

static double size_of(const struct pm_trend_row *row)
{
    double size = 0;
    for (uint32_t i = 0; i < row->n_changes; i++)
        size = fmax(size, fabs(row->changes[i].after - row->changes[i].before));
    return size;
}

static int compare_rows(const void *a_pointer, const void *b_pointer)
{
    const struct pm_trend_row *a = a_pointer, *b = b_pointer;
    double x = size_of(a), y = size_of(b);
    if (x == y) {
        x = a->all;
        y = b->all;
    }
    if (x != y)
        return x > y ? -1 : 1;
    int by_name = strcmp(a->what, b->what);
    return by_name ? by_name : strcmp(a->place, b->place);
}

static enum pm_status make_rows(struct making *m)
{
    struct pm_trend *to = m->to;
    const double *totals = m->values + (size_t)to->n_rows * to->n_members;
    to->total.what = "total";
    to->total.place = "";
    enum pm_status status = sum_row(m, totals, 0, &to->total);
    uint32_t n = 0;
    for (uint32_t r = 0; r < to->n_rows && !status; r++) {
        struct pm_trend_row *row = &to->rows[r];
        row->what = row->what ? row->what : "";
        row->place = row->place ? row->place : "";
        status = sum_row(m, m->values + (size_t)r * to->n_members, to->total.all, row);
        if (row->all > 0 || !row->is_whole)
            to->rows[n++] = *row;
    }
    to->n_rows = n;
    if (!status && n)
        qsort(to->rows, n, sizeof *to->rows, compare_rows);
    return status;
}

enum pm_status pm_experiment_trend(const struct pm_experiment *experiment,
                                   const struct pm_experiment_selection *chosen,
                                   const struct pm_trend_options *options, struct pm_error *err,
                                   struct pm_trend **ret)
{
    struct making m = {.experiment = experiment, .options = options, .err = err};
    m.to = pm_alloc(sizeof *m.to);
    if (!m.to)
        return no_memory(&m);
    enum pm_status status = choose_members(&m, chosen);
    if (!status)
        status = read_numbers(&m);
    if (!status)
        status = make_rows(&m);
    free(m.values);
    free(m.may_end);
    if (status != PM_OK)
        pm_trend_free(m.to);
    *ret = status != PM_OK ? NULL : m.to;
    return status;
}

void pm_trend_free(struct pm_trend *trend)
{
    if (!trend)
        return;
    free(trend->points);
    free(trend->members);
    free(trend->rows);
    pm_arena_release(&trend->arena);
    free(trend);
}
