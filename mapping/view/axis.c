/* Costs over locations: of each row the least, the average and the most that a runner of
 * options.parts has of the first metric, and which of them has the most.
 *
 * A location where a row ran nothing counts as 0, if it took part: ranks have a number, the thread
 * is of those that were asked for, and the metric was measured there. So it was where the location
 * has any cost of it, and where another process of the same program has: both had the same
 * adapters and words. What comes from samples needs a process that was sampled.
 *
 * Threads that share a row of the archive are as many locations. Of these the sum is known, so the
 * average is; their least is not, and their most is at least their average.
 */
#include "axis.h"

#include <math.h>
#include <stdlib.h>

static enum pm_status no_memory(struct pm_error *err)
{
    return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}

bool pm_view_has_axis(const struct pm_view *view)
{
    return view->options.parts != PM_RUNNER_NONE && view->axis.n_threads_at != NULL;
}

/* --- who took part --- */

static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (!strcmp(name, *names))
            return true;
    return false;
}

static bool samples_it(const char *metric, const struct pm_sampling *sampling)
{
    static const char *const sampled[] = {"cpu_ns", "sampled_wall_ns", "n_samples", "off_cpu_ns",
                                          NULL};
    static const char *const switched[] = {"waiting_ns", "preempted_ns", NULL};
    bool has_source = strcmp(sampling->source, "none") != 0;
    if (is_one_of(metric, sampled))
        return has_source;
    return has_source && sampling->has_switches && is_one_of(metric, switched);
}

static bool is_by_samples(const char *metric)
{
    static const struct pm_sampling full = {.source = "perf", .has_switches = true};
    return samples_it(metric, &full);
}

/* Per process: could it have a cost of the metric? The costs are those of all that ran, merged by
 * program. */
static void find_measured(const struct pm_view *view, pm_index metric, bool *of_program, bool *ret)
{
    const struct pm_archive_data *data = view->data;
    const struct pm_graph *all = view->archive->graph;
    const char *name = all->metrics[metric].name;
    bool by_samples = is_by_samples(name);
    for (uint32_t i = 0; i < all->n_costs; i++) {
        const struct pm_cost *cost = &all->costs[i];
        uint32_t process = data->threads[cost->thread].process;
        if (cost->metric == metric && cost->value != 0)
            of_program[data->processes[process].merged_into] = true;
    }
    for (uint32_t p = 0; p < data->n_processes; p++)
        ret[p] = !by_samples && of_program[data->processes[p].merged_into];
    for (uint32_t i = 0; by_samples && i < data->n_samplings; i++) {
        const struct pm_sampling *sampling = &data->samplings[i];
        ret[sampling->process] = samples_it(name, sampling);
    }
}

/* A row of the archive may be of several threads. */
static uint32_t n_threads_in(const struct pm_thread *thread)
{
    return thread->n_threads > 1 ? (uint32_t)thread->n_threads : 1;
}

/* How many locations a runner is: 1, but of threads that share a row. */
static uint32_t n_of(const struct pm_view *view, const struct pm_runner_item *item)
{
    bool is_thread = pm_runner_kind(view->options.parts)->is_thread;
    return is_thread ? n_threads_in(&view->data->threads[item->thread]) : 1;
}

/* What has no number is no location where they are numbered; nor is the time of processes that
 * nobody knows ("(not sampled)"). */
static bool is_location(const struct pm_view *view, const struct pm_runner_item *item)
{
    const struct pm_archive_data *data = view->data;
    if (data->processes[data->threads[item->thread].process].pid == 0)
        return false;
    return !pm_runner_kind(view->options.parts)->why_none || item->key != PM_UNKNOWN;
}

/* measured: per process; asked: room for all runners. */
static void find_locations(struct pm_view *view, const bool *measured, bool *asked)
{
    struct pm_view_axis *axis = &view->axis;
    const struct pm_archive_data *data = view->data;
    for (uint32_t t = 0; t < data->n_threads; t++) {
        uint32_t k = view->runners.of_thread[t];
        bool is_asked = !view->runs_in || view->runs_in[t];
        asked[k] |= is_asked;
        axis->takes_part[k] |=
            is_asked && (measured[data->threads[t].process] || axis->has_cost[k]);
    }
    for (uint32_t k = 0; k < view->runners.n; k++) {
        const struct pm_runner_item *item = &view->runners.items[k];
        axis->n_threads_at[k] = n_of(view, item);
        axis->takes_part[k] &= is_location(view, item);
        if (axis->takes_part[k])
            axis->n_locations += axis->n_threads_at[k];
        else if (asked[k] && is_location(view, item))
            axis->n_unmeasured += axis->n_threads_at[k];
    }
}

/* Of locations that have no numbers. */
static bool name_locations(struct pm_view *view)
{
    const struct pm_runner_kind *kind = pm_runner_kind(view->options.parts);
    if (!kind->is_place)
        return true;
    view->axis.names = pm_arena_alloc(&view->arena, view->runners.n * sizeof *view->axis.names);
    for (uint32_t k = 0; view->axis.names && k < view->runners.n; k++) {
        const char *name = kind->names(view->data, view->runners.items[k].thread).names[0];
        view->axis.names[k] = pm_text_printable(&view->arena, name);
        if (!view->axis.names[k])
            return false;
    }
    return view->axis.names != NULL;
}

static enum pm_status choose_locations(struct pm_view *view, struct pm_error *err)
{
    struct pm_view_axis *axis = &view->axis;
    uint32_t n_processes = view->data->n_processes, n = view->runners.n;
    bool *of_program = pm_alloc_array(n_processes, 1), *measured = pm_alloc_array(n_processes, 1),
         *asked = pm_alloc_array(n, 1);
    axis->takes_part = pm_arena_alloc(&view->arena, n);
    axis->n_threads_at = pm_arena_alloc(&view->arena, n * sizeof *axis->n_threads_at);
    bool good = of_program && measured && asked && axis->takes_part && axis->n_threads_at &&
                name_locations(view);
    if (good) {
        find_measured(view, view->metrics[view->primary], of_program, measured);
        find_locations(view, measured, asked);
    }
    free(of_program);
    free(measured);
    free(asked);
    return good ? PM_OK : no_memory(err);
}

/* --- one row --- */

static double value_of(const struct pm_amount *amount)
{
    return amount->n > 0 ? (double)amount->value / amount->n : 0;
}

static void add_location(struct pm_view_spread *s, uint32_t runner, struct pm_amount amount)
{
    double value = value_of(&amount);
    if (s->least.n == 0 || value < value_of(&s->least))
        s->least = amount;
    if (s->most.n == 0 || value > value_of(&s->most)) {
        s->most = amount;
        s->at = runner;
    }
    s->n_with += value != 0;
}

/* Which of the threads spent it is not known. */
static void add_shared(struct pm_view_spread *s, uint32_t n, double value, bool is_sum)
{
    double each = is_sum ? value / n : value;
    s->shared_most = fmax(s->shared_most, value);
    s->shared_each = fmax(s->shared_each, ceil(each));
    s->n_with++;
    s->has_shared = true;
    s->has_no_average |= !is_sum;
}

struct spreading {
    struct pm_view *view;
    bool is_sum, overflow;
    struct pm_amount *column;      /* [n_rows]: of one runner */
    struct pm_view_spread *spread; /* [n_rows + 1]: the last is of the total */
};

/* Of amounts that do not add up, a location without one has none. */
static void add_amount(const struct spreading *s, uint32_t runner, const struct pm_amount *amount,
                       struct pm_view_spread *ret)
{
    uint32_t n = s->view->axis.n_threads_at[runner];
    struct pm_amount known = s->is_sum ? (struct pm_amount){amount->value, 1} : *amount;
    double value = value_of(&known);
    if (known.n == 0)
        return;
    ret->n += s->is_sum ? n : 1;
    ret->sum += value;
    if (n > 1 && value != 0)
        add_shared(ret, n, value, s->is_sum);
    else
        add_location(ret, runner, known);
}

/* Where threads share a row, one of them may have more than any that is known, or less. */
static void finish(struct pm_view_spread *s)
{
    if (s->has_shared && value_of(&s->least) > 0)
        s->least = (struct pm_amount){0};
    if (s->has_shared && s->shared_most > value_of(&s->most)) {
        double most = fmax(s->shared_each, value_of(&s->most));
        s->most = (struct pm_amount){(int64_t)most, 1};
        s->most_is_at_least = true;
        s->at = PM_NONE;
    }
    if (s->most.value == 0)
        s->at = PM_NONE;
}

/* --- all rows --- */

/* A runner's amounts of all rows: own, in a tree with what is below. Rows of a tree are behind
 * those that they are below. */
static void fill_column(struct spreading *s, uint32_t runner)
{
    struct pm_view *view = s->view;
    for (uint32_t r = 0; r < view->n_rows; r++)
        s->column[r] = view->rows[r].parts[runner * view->n_metrics + view->primary];
    if (!view->options.tree || !s->is_sum)
        return;
    for (uint32_t r = view->n_rows; r-- > 0;) {
        uint32_t parent = view->rows[r].parent_id;
        if (parent != PM_NONE)
            s->overflow |= !pm_amount_add(&s->column[parent], PM_SUM, &s->column[r]);
    }
}

static struct pm_amount total_of(struct spreading *s, uint32_t runner)
{
    const struct pm_view *view = s->view;
    pm_index metric = view->metrics[view->primary];
    struct pm_amount total = {0};
    for (uint32_t r = 0; r < view->n_rows; r++)
        s->overflow |=
            !pm_amount_add(&total, view->data->graph->metrics[metric].aggregation,
                           &view->rows[r].parts[runner * view->n_metrics + view->primary]);
    return total;
}

static void add_sums(struct spreading *s, const struct pm_amount *total)
{
    uint32_t n = s->view->n_rows;
    for (uint32_t r = 0; r <= n; r++) {
        int64_t value = r < n ? s->column[r].value : total->value;
        s->overflow |= __builtin_add_overflow(s->spread[r].all, value, &s->spread[r].all);
    }
}

static void add_runner(struct spreading *s, uint32_t runner)
{
    struct pm_view *view = s->view;
    struct pm_amount total = total_of(s, runner);
    fill_column(s, runner);
    add_sums(s, &total);
    if (!view->axis.takes_part[runner]) {
        if (s->is_sum)
            s->overflow |=
                __builtin_add_overflow(view->axis.left_out, total.value, &view->axis.left_out);
        return;
    }
    for (uint32_t r = 0; r < view->n_rows; r++)
        add_amount(s, runner, &s->column[r], &s->spread[r]);
    add_amount(s, runner, &total, &s->spread[view->n_rows]);
}

static enum pm_status spread_rows(struct spreading *s, struct pm_error *err)
{
    struct pm_view *view = s->view;
    for (uint32_t r = 0; r <= view->n_rows; r++)
        s->spread[r].at = PM_NONE;
    for (uint32_t k = 0; k < view->runners.n; k++)
        add_runner(s, k);
    for (uint32_t r = 0; r <= view->n_rows; r++) {
        struct pm_view_row *row = r < view->n_rows ? &view->rows[r] : &view->total;
        finish(&s->spread[r]);
        row->spread = &s->spread[r];
    }
    return s->overflow ? pm_error_set(err, PM_ERR_LIMIT, "costs add up to more than 64 bits hold")
                       : PM_OK;
}

enum pm_status pm_view_spread_parts(struct pm_view *view, struct pm_error *err)
{
    enum pm_status status = choose_locations(view, err);
    if (status != PM_OK)
        return status;
    pm_index metric = view->metrics[view->primary];
    struct spreading s = {.view = view,
                          .is_sum = view->data->graph->metrics[metric].aggregation == PM_SUM,
                          .column = pm_alloc_array(view->n_rows, sizeof *s.column),
                          .spread =
                              pm_arena_alloc(&view->arena, (view->n_rows + 1u) * sizeof *s.spread)};
    status = s.column && s.spread ? spread_rows(&s, err) : no_memory(err);
    free(s.column);
    return status;
}

/* --- what it says --- */

double pm_view_spread_average(const struct pm_view_spread *spread)
{
    if (spread->n == 0 || spread->has_no_average)
        return NAN;
    return spread->sum / (double)spread->n;
}

double pm_view_imbalance_pct(const struct pm_view_spread *spread)
{
    double average = pm_view_spread_average(spread);
    if (!(average > 0) || spread->most.n == 0)
        return NAN;
    return 100 * (value_of(&spread->most) / average - 1);
}

/* A hundredth, and what rounding may leave, is nothing to speak of. */
bool pm_view_spread_is_off(const struct pm_view *view, const struct pm_view_row *row)
{
    const struct pm_view_value *value = &row->values[view->primary];
    bool tree = view->options.tree && row != &view->total;
    double all = tree ? (double)value->inclusive : (double)value->own.value;
    return fabs((double)row->spread->all - all) > 0.01 * fabs(all) + view->runners.n;
}

/* How many samples such a part of a row's amount stands for; NAN: it is not of samples. */
static double n_samples_of(const struct pm_view *view, const struct pm_view_row *row, double value)
{
    bool tree = view->options.tree && row != &view->total;
    const struct pm_view_value *all = &row->values[view->primary];
    double of_row = tree ? (double)all->inclusive : (double)all->own.value;
    if (view->metrics[view->primary] != view->cpu_metric || view->samples_metric == PM_NONE ||
        pm_view_has_wall_samples(view) || of_row <= 0)
        return NAN;
    return value / of_row * (double)(tree ? row->n_samples_inclusive : row->n_samples);
}

bool pm_view_is_few_samples(const struct pm_view *view, const struct pm_view_row *row, double value)
{
    double n = n_samples_of(view, row, value);
    return value != 0 && !isnan(n) && n < PM_VIEW_FEW_SAMPLES;
}

/* As of shares: one standard deviation is more than a third of it, and more than a point. */
bool pm_view_imbalance_is_noise(const struct pm_view *view, const struct pm_view_row *row)
{
    const struct pm_view_spread *spread = row->spread;
    double n = n_samples_of(view, row, value_of(&spread->most)),
           imbalance = pm_view_imbalance_pct(spread);
    if (isnan(n) || isnan(imbalance) || n <= 0)
        return false;
    double deviation = (100 + imbalance) / sqrt(n);
    return deviation > 1 && deviation > imbalance / 3;
}

int64_t pm_view_spread_place(const struct pm_view *view, const struct pm_view_spread *spread)
{
    if (spread->at == PM_NONE)
        return PM_UNKNOWN;
    uint32_t thread = view->runners.items[spread->at].thread;
    return pm_runner_kind(view->options.parts)->names(view->data, thread).number;
}
