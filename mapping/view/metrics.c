/* Which level and which metrics a report shows. */
#include "groupings.h"
#include "interval.h"

#include "format/pm_adapters.h"
#include "mapping/archive/archive.h"

#include <ctype.h>
#include <stdlib.h>

enum pm_status pm_view_choose_level(struct pm_view *view, struct pm_error *err)
{
    const struct pm_graph *graph = view->data->graph;
    const char *asked = view->options.level;
    view->level = PM_NONE;
    for (pm_index i = 0; i < graph->n_levels; i++)
        if (!strcasecmp(graph->levels[i].name, asked)) {
            view->level = i;
            view->level_name = graph->levels[i].name;
            return PM_OK;
        }
    /* Programs without mappings have no Source level: all is unmapped there, which the report can
     * say. */
    view->level_name = !strcasecmp(asked, "source") ? "Source"
                       : !strcasecmp(asked, "base") ? "Base"
                                                    : NULL;
    if (view->level_name)
        return PM_OK;
    struct pm_buf list = PM_BUF_INIT(4096);
    for (pm_index i = 0; i < graph->n_levels; i++)
        pm_buf_printf(&list, "%s%s", list.len ? ", " : "", graph->levels[i].name);
    pm_error_set(err, PM_ERR_USAGE, "there is no level '%s' in the archive; levels: %s", asked,
                 list.len ? list.data : "none");
    pm_buf_release(&list);
    return PM_ERR_USAGE;
}

bool pm_view_is_measured(const struct pm_graph *graph, pm_index metric)
{
    for (uint32_t i = 0; i < graph->n_costs; i++)
        if (graph->costs[i].metric == metric && graph->costs[i].value != 0)
            return true;
    return false;
}

/* Whether code was timed, not counted only (mode count): the process has a time even then. With
 * none_is_enough also when nothing was counted either. */
static bool has_times_of_code(const struct pm_view *view, bool none_is_enough)
{
    const struct pm_graph *graph = view->data->graph;
    bool counted = false;
    for (uint32_t i = 0; i < graph->n_costs; i++) {
        const struct pm_cost *cost = &graph->costs[i];
        pm_index noun = pm_graph_first_noun(graph, graph->contexts[cost->context].sentence);
        if (cost->value == 0 || (noun != PM_NONE && pm_view_noun_is(view, noun, "process")))
            continue;
        if (cost->metric == view->wall_metric)
            return true;
        counted |= cost->metric == view->calls_metric;
    }
    return none_is_enough && !counted;
}

size_t pm_view_bare_metric_len(const struct pm_graph_metric *metric)
{
    const char *unit = strrchr(metric->name, '_');
    return unit && unit != metric->name && !strcmp(unit + 1, metric->unit)
               ? (size_t)(unit - metric->name)
               : strlen(metric->name);
}

/* Events have the names that perf(1) and PAPI have for them, and metrics these names in small
 * letters, with one _ for all between that is no letter or digit: "page-faults", "msr/tsc/" and
 * "PAPI_TOT_INS" are page_faults, msr_tsc and papi_tot_ins. */
static bool is_event_name(struct pm_str name, const char *known, size_t len)
{
    size_t n = 0;
    bool is_between = false;
    for (size_t i = 0; i < name.len; i++) {
        if (!isalnum((unsigned char)name.p[i])) {
            is_between = n != 0;
            continue;
        }
        if (is_between && (n == len || known[n++] != '_'))
            return false;
        is_between = false;
        if (n == len || known[n++] != tolower((unsigned char)name.p[i]))
            return false;
    }
    return n != 0 && n == len;
}

/* A metric by its name, or its name without the unit; "calls" and "time" are the usual two. */
static pm_index find_metric(const struct pm_view *view, struct pm_str name)
{
    const struct pm_graph *graph = view->data->graph;
    if (pm_str_is(name, "calls"))
        name = PM_STR("n_calls");
    if (pm_str_is(name, "time") && view->time_metric != PM_NONE)
        return view->time_metric;
    for (pm_index m = 0; m < graph->n_metrics; m++)
        if (pm_str_is(name, graph->metrics[m].name))
            return m;
    for (pm_index m = 0; m < graph->n_metrics; m++) {
        const char *known = graph->metrics[m].name;
        size_t bare_len = pm_view_bare_metric_len(&graph->metrics[m]);
        if (pm_str_eq(name, (struct pm_str){known, bare_len}))
            return m;
    }
    for (pm_index m = 0; m < graph->n_metrics; m++) {
        const char *known = graph->metrics[m].name;
        if (is_event_name(name, known, strlen(known)) ||
            is_event_name(name, known, pm_view_bare_metric_len(&graph->metrics[m])))
            return m;
    }
    return PM_NONE;
}

/* Of an event that the run was to count; "": it was not. Lent. */
static const char *why_not_counted(const struct pm_view *view, struct pm_str name)
{
    const char *why = "";
    for (uint32_t i = 0; i < view->data->n_counters; i++) {
        const struct pm_event_counter *counter = &view->data->counters[i];
        if (!is_event_name(name, counter->metric, strlen(counter->metric)))
            continue;
        if (*counter->problem && strcmp(counter->problem, PM_THROTTLED) != 0)
            return counter->problem;
        if (counter->is_starved)
            why = "the processor has too few counters, and it never got one (count fewer events "
                  "in one run)";
        else if (!*why)
            why = "it never happened";
    }
    return why;
}

/* In an interval it may be that nothing of it was. */
static bool is_measured(const struct pm_view *view, pm_index metric)
{
    if (pm_view_has_interval(view))
        return view->data->has_times[metric] && pm_view_is_measured(view->archive->graph, metric);
    return pm_view_is_measured(view->data->graph, metric);
}

static enum pm_status add_metric(struct pm_view *view, struct pm_str name, struct pm_error *err)
{
    const struct pm_graph *graph = view->data->graph;
    pm_index metric = find_metric(view, name), wall = pm_graph_find_metric(graph, "wall_ns");
    bool no_times = view->wall_metric == PM_NONE && metric == wall;
    if (metric != PM_NONE && pm_view_lacks_times(view, metric))
        return pm_view_refuse_untimed(view, metric, err);
    if (metric == PM_NONE || no_times || !is_measured(view, metric)) {
        struct pm_buf list = PM_BUF_INIT(4096);
        for (pm_index m = 0; m < graph->n_metrics; m++)
            if (pm_view_is_measured(graph, m) && (m == view->wall_metric || m != wall))
                pm_buf_printf(&list, "%s%s", list.len ? ", " : "", graph->metrics[m].name);
        const char *why = why_not_counted(view, name), *colon = *why ? ": " : "";
        pm_error_set(err, PM_ERR_USAGE, "metric '%.*s' was not measured%s%s; measured: %s",
                     (int)name.len, name.p, colon, why, list.len ? list.data : "nothing");
        pm_buf_release(&list);
        return PM_ERR_USAGE;
    }
    if (metric == view->calls_metric) {
        view->shows_calls = true;
        return PM_OK;
    }
    for (uint32_t i = 0; i < view->n_metrics; i++)
        if (view->metrics[i] == metric)
            return PM_OK;
    if (view->n_metrics == PM_VIEW_MAX_METRICS)
        return pm_error_set(err, PM_ERR_USAGE, "more than %d metrics", PM_VIEW_MAX_METRICS);
    view->metrics[view->n_metrics++] = metric;
    return PM_OK;
}

static bool find_for_formula(void *context, struct pm_str name, struct pm_error *err,
                             uint32_t *ret_m)
{
    struct pm_view *view = context;
    if (add_metric(view, name, err) != PM_OK)
        return false;
    pm_index metric = find_metric(view, name);
    *ret_m = 0;
    while (*ret_m < view->n_metrics && view->metrics[*ret_m] != metric)
        ++*ret_m;
    if (metric == view->calls_metric)
        *ret_m = PM_VIEW_MAX_METRICS;
    return true;
}

static enum pm_status add_formula(struct pm_view *view, struct pm_str text, struct pm_error *err)
{
    if (view->n_formulas == PM_VIEW_MAX_FORMULAS)
        return pm_error_set(err, PM_ERR_USAGE, "more than %d formulas", PM_VIEW_MAX_FORMULAS);
    struct pm_formula *formula = &view->formulas[view->n_formulas];
    enum pm_status status = pm_formula_parse(text, find_for_formula, view, err, formula);
    if (status != PM_OK)
        return status;
    view->n_formulas++;
    return PM_OK;
}

/* Instrumented code leaves contexts that are not of samples only. */
static void see_what_ran(struct pm_view *view)
{
    const struct pm_graph *graph = view->data->graph;
    view->measured_nothing = view->only_samples = true;
    for (pm_index c = 0; c < graph->n_contexts && view->only_samples; c++) {
        pm_index noun = pm_graph_first_noun(graph, graph->contexts[c].sentence);
        if (noun != PM_NONE && pm_view_noun_is(view, noun, "process"))
            continue;
        view->measured_nothing = false;
        view->only_samples = noun != PM_NONE && (graph->contexts[c].flags & PM_CONTEXT_SAMPLED ||
                                                 pm_view_noun_is_machine_code(view, noun));
    }
    view->only_samples &= !view->measured_nothing;
}

static double sum_of(const struct pm_graph *graph, pm_index metric)
{
    double sum = 0;
    for (uint32_t i = 0; i < graph->n_costs; i++)
        sum += graph->costs[i].metric == metric ? (double)graph->costs[i].value : 0;
    return sum;
}

static pm_index measured(const struct pm_view *view, const char *name)
{
    pm_index metric = pm_graph_find_metric(view->data->graph, name);
    return metric != PM_NONE && is_measured(view, metric) ? metric : PM_NONE;
}

bool pm_view_shows(const struct pm_view *view, pm_index metric)
{
    for (uint32_t m = 0; m < view->n_metrics; m++)
        if (view->metrics[m] == metric)
            return true;
    return false;
}

bool pm_view_shows_wall(const struct pm_view *view)
{
    return pm_view_shows(view, view->wall_metric);
}

bool pm_view_is_fine(const struct pm_view *view)
{
    return pm_view_grouping(view)->is_fine;
}

/* What only functions and loops were timed for has no finer destination: there samples tell.
 * Where single nouns were timed in a run that was not, too: samples are of all of it. */
static void choose_time(struct pm_view *view)
{
    bool is_fine = pm_view_is_fine(view) || view->asks_fine;
    view->wall_metric = measured(view, "wall_ns");
    view->cpu_metric = measured(view, "cpu_ns");
    if (view->cpu_metric == PM_NONE)
        view->cpu_metric = measured(view, "sampled_wall_ns"); /* run --clock wall */
    if (view->wall_metric != PM_NONE && !has_times_of_code(view, view->cpu_metric == PM_NONE))
        view->wall_metric = PM_NONE;
    view->samples_metric = measured(view, "n_samples");
    view->time_metric = view->wall_metric == PM_NONE || ((is_fine || !pm_view_is_timed_run(view)) &&
                                                         view->cpu_metric != PM_NONE)
                            ? view->cpu_metric
                            : view->wall_metric;
}

bool pm_view_has_wall_samples(const struct pm_view *view)
{
    return view->cpu_metric != PM_NONE &&
           !strcmp(view->data->graph->metrics[view->cpu_metric].name, "sampled_wall_ns");
}

static const char *const off_cpu_metrics[][2] = {
    {"waiting_ns", "waiting"},
    {"preempted_ns", "preempted"},
    {"off_cpu_ns", "off CPU"}, /* one or the other */
};
enum { N_OFF_CPU = sizeof off_cpu_metrics / sizeof *off_cpu_metrics };

const char *pm_view_off_cpu_word(const struct pm_view *view, uint32_t m)
{
    const char *name = view->data->graph->metrics[view->metrics[m]].name;
    for (int i = 0; i < N_OFF_CPU; i++)
        if (m > 0 && !strcmp(name, off_cpu_metrics[i][0]))
            return off_cpu_metrics[i][1];
    return NULL;
}

/* Time off the processor is shown where it is more than a hundredth of what was measured: beside
 * CPU time, and as a part of wall time. */
static void add_off_cpu(struct pm_view *view)
{
    if (view->cpu_metric == PM_NONE || view->n_metrics == 0)
        return;
    const struct pm_graph *graph = view->data->graph;
    bool is_wall = pm_view_has_wall_samples(view);
    double sums[N_OFF_CPU], all_ns = sum_of(graph, view->cpu_metric);
    pm_index metrics[N_OFF_CPU];
    for (int i = 0; i < N_OFF_CPU; i++) {
        metrics[i] = measured(view, off_cpu_metrics[i][0]);
        sums[i] = metrics[i] != PM_NONE ? sum_of(graph, metrics[i]) : 0;
        all_ns += is_wall ? 0 : sums[i];
    }
    for (int i = 0; i < N_OFF_CPU; i++)
        if (metrics[i] != PM_NONE && sums[i] > 0.01 * all_ns)
            view->metrics[view->n_metrics++] = metrics[i];
}

bool pm_view_is_import(const struct pm_view *view)
{
    const struct pm_archive_data *data = view->data;
    return data->n_executions && !strcmp(data->executions[0].mode, "import");
}

static bool add_measured(struct pm_view *view, const char *const *names)
{
    for (; *names; names++) {
        pm_index metric = measured(view, *names);
        if (metric != PM_NONE)
            view->metrics[view->n_metrics++] = metric;
    }
    return view->n_metrics > 0;
}

/* No times: costs from elsewhere, the first that there are; of others' samples how
 * many there were. */
static void add_counted(struct pm_view *view)
{
    static const char *const samples[] = {"n_samples", NULL};
    const struct pm_graph *graph = view->data->graph;
    for (pm_index m = 0; m < graph->n_metrics && view->n_metrics == 0; m++)
        if (m != view->calls_metric && graph->metrics[m].aggregation == PM_SUM &&
            strcmp(graph->metrics[m].kind, "time") != 0 &&
            strcmp(graph->metrics[m].name, "n_samples") != 0 && pm_view_is_measured(graph, m))
            view->metrics[view->n_metrics++] = m;
    if (pm_view_is_import(view) && view->n_metrics == 0)
        (void)add_measured(view, samples);
}

/* Of messages it is asked how many, how large and how long; of what one waits at, how long. false:
 * none was counted. */
static bool add_messages(struct pm_view *view)
{
    static const char *const of_mpi[] = {"mpi_ns",        "mpi_wait_ns",    "messages",
                                         "message_bytes", "received_bytes", NULL};
    static const char *const of_sync[] = {"wait_ns", "omp_wait_ns", "mpi_wait_ns", "mpi_ns", NULL};
    if (pm_view_grouping(view)->where == PM_VIEW_WHERE_SYNC)
        return add_measured(view, of_sync);
    if (strcmp(view->level_name, PM_MPI_LEVEL) != 0 || measured(view, of_mpi[0]) == PM_NONE)
        return false;
    return add_measured(view, of_mpi);
}

enum pm_status pm_view_choose_metrics(struct pm_view *view, struct pm_error *err)
{
    const struct pm_graph *graph = view->data->graph;
    see_what_ran(view);
    view->calls_metric = pm_graph_find_metric(graph, "n_calls");
    if (view->calls_metric != PM_NONE && pm_view_lacks_times(view, view->calls_metric))
        view->calls_metric = PM_NONE;
    choose_time(view);
    view->n_formulas = 0;
    if (!view->options.metrics && add_messages(view)) {
        view->shows_calls = view->calls_metric != PM_NONE;
    } else if (!view->options.metrics) {
        view->shows_calls =
            view->calls_metric != PM_NONE && !view->measured_nothing && !view->only_samples &&
            !view->options.parts &&
            (!pm_view_is_fine(view) || (view->options.tree && !pm_view_grouping(view)->where) ||
             view->time_metric == PM_NONE);
        if (view->time_metric != PM_NONE)
            view->metrics[view->n_metrics++] = view->time_metric;
        else if (view->calls_metric == PM_NONE || pm_view_is_import(view) ||
                 !pm_view_is_measured(graph, view->calls_metric))
            add_counted(view);
        if (view->time_metric == view->cpu_metric && view->wall_metric != PM_NONE &&
            !pm_view_is_fine(view) && !pm_view_is_timed_run(view))
            view->metrics[view->n_metrics++] = view->wall_metric;
        add_off_cpu(view);
        pm_view_add_counted(view);
    }
    bool is_last = view->options.metrics == NULL;
    for (const char *p = view->options.metrics; !is_last;) {
        struct pm_str text = pm_formula_next(&p);
        enum pm_status status =
            pm_formula_is_one(text) ? add_formula(view, text, err) : add_metric(view, text, err);
        if (status != PM_OK)
            return status;
        is_last = text.p[text.len] == 0;
    }
    view->primary = 0; /* of the shown ones the first; n_metrics == 0: calls */
    return PM_OK;
}

/* Columns that nobody asked for and that have nothing in what is looked at. */
enum pm_status pm_view_drop_empty(struct pm_view *view, struct pm_error *err)
{
    const struct pm_graph *graph = view->data->graph;
    bool *has = pm_alloc_array(graph->n_metrics + 1u, sizeof *has);
    if (!has)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    for (uint32_t i = 0; i < graph->n_costs; i++)
        has[graph->costs[i].metric] |=
            graph->costs[i].value != 0 && view->in_focus[graph->costs[i].context];
    uint32_t n = 0;
    for (uint32_t m = 0; m < view->n_metrics; m++)
        if (view->options.metrics || view->options.keeps_columns || m == view->primary ||
            has[view->metrics[m]])
            view->metrics[n++] = view->metrics[m];
    view->n_metrics = n;
    free(has);
    return PM_OK;
}

const char *pm_view_sampled_word(const struct pm_view *view)
{
    return pm_view_has_wall_samples(view) ? "wall time by samples" : "CPU time by samples";
}

static double value_of(const struct pm_view *view, const struct pm_view_row *row, uint32_t m)
{
    const struct pm_view_value *value = &row->values[m];
    return view->options.tree ? (double)value->inclusive : (double)value->own.value;
}

enum { LEAST_DOUBT_NS = 1000000, MOST_POINTS = 3, MOST_PARTS = 5 };

static bool is_large(double doubt_ns, double of_ns, double all_ns)
{
    return 100 * doubt_ns > MOST_POINTS * all_ns || MOST_PARTS * doubt_ns > of_ns;
}

/* A share is off by what its own time may be off by, and by what all others may be. */
bool pm_view_share_is_doubtful(double ns, double doubt_ns, double shift_ns, double all_ns,
                               double all_doubt_ns)
{
    double share = all_ns > 0 ? ns / all_ns : 0, others_ns = all_doubt_ns - doubt_ns;
    double self_ns = doubt_ns + shift_ns;
    double off_ns = (1 - share) * self_ns + share * (others_ns > 0 ? others_ns : 0);
    if (all_ns <= 0 || all_doubt_ns + shift_ns < LEAST_DOUBT_NS)
        return false;
    return is_large(off_ns, all_ns, all_ns) ||
           (doubt_ns >= LEAST_DOUBT_NS && is_large(doubt_ns, ns, all_ns)) ||
           (self_ns >= LEAST_DOUBT_NS && MOST_PARTS * self_ns > ns);
}

/* The position of wall time among the metrics; n_metrics: it is not shown, or nothing was taken
 * out of it. */
static uint32_t doubtful_metric(const struct pm_view *view)
{
    uint32_t m = 0;
    while (m < view->n_metrics && (!view->doubt_ns || view->metrics[m] != view->wall_metric))
        m++;
    return m;
}

bool pm_view_has_words_of_inlined(const struct pm_view *view, const struct pm_view_row *row,
                                  uint32_t m)
{
    pm_index metric = m < view->n_metrics ? view->metrics[m] : PM_NONE;
    if (metric == PM_NONE || view->is_placed[metric] || metric == view->wall_metric ||
        metric == view->calls_metric || metric == view->samples_metric)
        return false;
    return row->traits.has_inlined && view->has_words && pm_view_is_at_source(view) &&
           row->values[m].own.value != 0;
}

/* How much of its own it is nobody knows: as of other doubt, little is not told. */
bool pm_view_has_others_time(const struct pm_view *view, const struct pm_view_row *row)
{
    uint32_t m = 0;
    while (m < view->n_metrics && view->metrics[m] != view->wall_metric)
        m++;
    if (!row->traits.has_others_time || m == view->n_metrics)
        return false;
    double own_ns = (double)row->values[m].own.value;
    return own_ns >= LEAST_DOUBT_NS ||
           100 * own_ns > MOST_POINTS * (double)view->total.values[m].own.value;
}

int64_t pm_view_uncertainty_ns(const struct pm_view_row *row, bool inclusive)
{
    int64_t doubt_ns = inclusive ? row->inclusive_doubt_ns : row->doubt_ns;
    int64_t shift_ns = inclusive ? row->inclusive_shift_ns : row->shift_ns;
    int64_t sum_ns;
    return __builtin_add_overflow(doubt_ns, shift_ns, &sum_ns) ? INT64_MAX : sum_ns;
}

bool pm_view_is_doubtful(const struct pm_view *view, const struct pm_view_row *row, bool inclusive)
{
    uint32_t m = doubtful_metric(view);
    if (pm_view_times_hold_readings(view) || (!inclusive && pm_view_has_others_time(view, row)))
        return true;
    if (m == view->n_metrics)
        return false;
    const struct pm_view_value *value = &row->values[m];
    double doubt_ns = (double)pm_view_uncertainty_ns(row, inclusive);
    return doubt_ns >= LEAST_DOUBT_NS &&
           is_large(doubt_ns, inclusive ? (double)value->inclusive : (double)value->own.value,
                    (double)view->total.values[m].own.value);
}

static bool share_is_doubtful(const struct pm_view *view, const struct pm_view_row *row)
{
    uint32_t m = doubtful_metric(view);
    bool inclusive = view->options.tree;
    bool is_wall = view->n_metrics && view->metrics[view->primary] == view->wall_metric;
    if (is_wall &&
        (pm_view_times_hold_readings(view) || (!inclusive && pm_view_has_others_time(view, row))))
        return true;
    if (m == view->n_metrics || m != view->primary)
        return false;
    const struct pm_view_value *value = &row->values[m];
    return pm_view_share_is_doubtful(
        inclusive ? (double)value->inclusive : (double)value->own.value,
        (double)(inclusive ? row->inclusive_doubt_ns : row->doubt_ns),
        (double)(inclusive ? row->inclusive_shift_ns : row->shift_ns),
        (double)view->total.values[m].own.value, (double)view->total.doubt_ns);
}

/* Of wall time, what was spent off the CPU is known exactly. */
bool pm_view_is_uncertain(const struct pm_view *view, const struct pm_view_row *row)
{
    if (share_is_doubtful(view, row) ||
        (!view->options.tree && pm_view_has_words_of_inlined(view, row, view->primary)))
        return true;
    if (view->n_metrics != 0 &&
        pm_view_counts_are_few(view, view->primary, value_of(view, row, view->primary)))
        return true;
    if (view->n_metrics == 0 || view->metrics[view->primary] != view->cpu_metric ||
        view->samples_metric == PM_NONE)
        return false;
    double value = value_of(view, row, view->primary), sampled = value;
    if (pm_view_has_wall_samples(view))
        for (uint32_t m = 0; m < view->n_metrics; m++)
            sampled -= pm_view_off_cpu_word(view, m) ? value_of(view, row, m) : 0;
    int64_t n = view->options.tree ? row->n_samples_inclusive : row->n_samples;
    return n < PM_VIEW_FEW_SAMPLES && value != 0 && sampled > value / 3;
}
