/* Which level and which metrics a report shows. */
#include "report.h"

#include <stdlib.h>

enum pm_status report_choose_level(struct report *report, struct pm_error *err)
{
    const struct pm_graph *graph = report->data->graph;
    const char *asked = report->options.level;
    report->level = PM_NONE;
    for (pm_index i = 0; i < graph->n_levels; i++)
        if (!strcasecmp(graph->levels[i].name, asked)) {
            report->level = i;
            report->level_name = graph->levels[i].name;
            return PM_OK;
        }
    /* Programs without mappings have no Source level: all is unmapped there, which the report can
     * say. */
    report->level_name = !strcasecmp(asked, "source") ? "Source"
                         : !strcasecmp(asked, "base") ? "Base"
                                                      : NULL;
    if (report->level_name)
        return PM_OK;
    struct pm_buf list = PM_BUF_INIT(4096);
    for (pm_index i = 0; i < graph->n_levels; i++)
        pm_buf_printf(&list, "%s%s", list.len ? ", " : "", graph->levels[i].name);
    pm_error_set(err, PM_ERR_USAGE, "there is no level '%s' in the archive; levels: %s", asked,
                 list.len ? list.data : "none");
    pm_buf_release(&list);
    return PM_ERR_USAGE;
}

bool report_is_measured(const struct pm_graph *graph, pm_index metric)
{
    for (uint32_t i = 0; i < graph->n_costs; i++)
        if (graph->costs[i].metric == metric && graph->costs[i].value != 0)
            return true;
    return false;
}

/* Whether code was timed, not counted only (mode count): the process has a time even then. With
 * none_is_enough also when nothing was counted either. */
static bool has_times_of_code(const struct report *report, bool none_is_enough)
{
    const struct pm_graph *graph = report->data->graph;
    bool counted = false;
    for (uint32_t i = 0; i < graph->n_costs; i++) {
        const struct pm_cost *cost = &graph->costs[i];
        pm_index noun = pm_graph_first_noun(graph, graph->contexts[cost->context].sentence);
        if (cost->value == 0 || (noun != PM_NONE && report_noun_is(report, noun, "process")))
            continue;
        if (cost->metric == report->wall_metric)
            return true;
        counted |= cost->metric == report->calls_metric;
    }
    return none_is_enough && !counted;
}

size_t report_bare_metric_len(const struct pm_metric *metric)
{
    const char *unit = strrchr(metric->name, '_');
    return unit && unit != metric->name && !strcmp(unit + 1, metric->unit)
               ? (size_t)(unit - metric->name)
               : strlen(metric->name);
}

/* A metric by its name, or its name without the unit; "calls" and "time" are the usual two. */
static pm_index find_metric(const struct report *report, struct pm_str name)
{
    const struct pm_graph *graph = report->data->graph;
    if (pm_str_is(name, "calls"))
        name = PM_STR("n_calls");
    if (pm_str_is(name, "time") && report->time_metric != PM_NONE)
        return report->time_metric;
    for (pm_index m = 0; m < graph->n_metrics; m++) {
        const char *known = graph->metrics[m].name;
        size_t bare_len = report_bare_metric_len(&graph->metrics[m]);
        if (pm_str_is(name, known) || pm_str_eq(name, (struct pm_str){known, bare_len}))
            return m;
    }
    return PM_NONE;
}

static enum pm_status add_metric(struct report *report, struct pm_str name, struct pm_error *err)
{
    const struct pm_graph *graph = report->data->graph;
    pm_index metric = find_metric(report, name), wall = pm_graph_find_metric(graph, "wall_ns");
    bool no_times = report->wall_metric == PM_NONE && metric == wall;
    if (metric == PM_NONE || no_times || !report_is_measured(graph, metric)) {
        struct pm_buf list = PM_BUF_INIT(4096);
        for (pm_index m = 0; m < graph->n_metrics; m++)
            if (report_is_measured(graph, m) && (m == report->wall_metric || m != wall))
                pm_buf_printf(&list, "%s%s", list.len ? ", " : "", graph->metrics[m].name);
        pm_error_set(err, PM_ERR_USAGE, "metric '%.*s' was not measured; measured: %s",
                     (int)name.len, name.p, list.len ? list.data : "nothing");
        pm_buf_release(&list);
        return PM_ERR_USAGE;
    }
    if (metric == report->calls_metric) {
        report->shows_calls = true;
        return PM_OK;
    }
    for (uint32_t i = 0; i < report->n_metrics; i++)
        if (report->metrics[i] == metric)
            return PM_OK;
    if (report->n_metrics == REPORT_MAX_METRICS)
        return pm_error_set(err, PM_ERR_USAGE, "more than %d metrics", REPORT_MAX_METRICS);
    report->metrics[report->n_metrics++] = metric;
    return PM_OK;
}

/* Instrumented code leaves contexts that are not of samples only. */
static void see_what_ran(struct report *report)
{
    const struct pm_graph *graph = report->data->graph;
    report->measured_nothing = report->only_samples = true;
    for (pm_index c = 0; c < graph->n_contexts && report->only_samples; c++) {
        pm_index noun = pm_graph_first_noun(graph, graph->contexts[c].sentence);
        if (noun != PM_NONE && report_noun_is(report, noun, "process"))
            continue;
        report->measured_nothing = false;
        report->only_samples = noun != PM_NONE && (graph->contexts[c].flags & PM_CONTEXT_SAMPLED ||
                                                   report_noun_is_machine_code(report, noun));
    }
    report->only_samples &= !report->measured_nothing;
}

static double sum_of(const struct pm_graph *graph, pm_index metric)
{
    double sum = 0;
    for (uint32_t i = 0; i < graph->n_costs; i++)
        sum += graph->costs[i].metric == metric ? (double)graph->costs[i].value : 0;
    return sum;
}

static pm_index measured(const struct report *report, const char *name)
{
    pm_index metric = pm_graph_find_metric(report->data->graph, name);
    return metric != PM_NONE && report_is_measured(report->data->graph, metric) ? metric : PM_NONE;
}

bool report_shows_wall(const struct report *report)
{
    for (uint32_t m = 0; m < report->n_metrics; m++)
        if (report->metrics[m] == report->wall_metric)
            return true;
    return false;
}

bool report_is_fine(const struct report *report)
{
    enum report_by by = report->options.by;
    return by == REPORT_BY_STATEMENT || by == REPORT_BY_ARRAY || by == REPORT_BY_VARIABLE ||
           by == REPORT_BY_LINE;
}

/* What only functions and loops were timed for has no finer destination: there samples tell. Where single nouns were timed in a run
 * that was not, too: samples are of all of it. */
static void choose_time(struct report *report)
{
    bool is_fine = report_is_fine(report);
    report->wall_metric = measured(report, "wall_ns");
    report->cpu_metric = measured(report, "cpu_ns");
    if (report->cpu_metric == PM_NONE)
        report->cpu_metric = measured(report, "sampled_wall_ns"); /* run --clock wall */
    if (report->wall_metric != PM_NONE && !has_times_of_code(report, report->cpu_metric == PM_NONE))
        report->wall_metric = PM_NONE;
    report->samples_metric = measured(report, "n_samples");
    report->time_metric =
        report->wall_metric == PM_NONE ||
                ((is_fine || !report_is_timed_run(report)) && report->cpu_metric != PM_NONE)
            ? report->cpu_metric
            : report->wall_metric;
}

bool report_has_wall_samples(const struct report *report)
{
    return report->cpu_metric != PM_NONE &&
           !strcmp(report->data->graph->metrics[report->cpu_metric].name, "sampled_wall_ns");
}

static const char *const off_cpu_metrics[][2] = {
    {"waiting_ns", "waiting"},
    {"preempted_ns", "preempted"},
    {"off_cpu_ns", "off CPU"}, /* one or the other */
};
enum { N_OFF_CPU = sizeof off_cpu_metrics / sizeof *off_cpu_metrics };

const char *report_off_cpu_word(const struct report *report, uint32_t m)
{
    const char *name = report->data->graph->metrics[report->metrics[m]].name;
    for (int i = 0; i < N_OFF_CPU; i++)
        if (m > 0 && !strcmp(name, off_cpu_metrics[i][0]))
            return off_cpu_metrics[i][1];
    return NULL;
}

/* Time off the processor is shown where it is more than a hundredth of what was measured: beside CPU time, and as a part of wall time. */
static void add_off_cpu(struct report *report)
{
    if (report->cpu_metric == PM_NONE || report->n_metrics == 0)
        return;
    const struct pm_graph *graph = report->data->graph;
    bool is_wall = report_has_wall_samples(report);
    double sums[N_OFF_CPU], all_ns = sum_of(graph, report->cpu_metric);
    pm_index metrics[N_OFF_CPU];
    for (int i = 0; i < N_OFF_CPU; i++) {
        metrics[i] = measured(report, off_cpu_metrics[i][0]);
        sums[i] = metrics[i] != PM_NONE ? sum_of(graph, metrics[i]) : 0;
        all_ns += is_wall ? 0 : sums[i];
    }
    for (int i = 0; i < N_OFF_CPU; i++)
        if (metrics[i] != PM_NONE && sums[i] > 0.01 * all_ns)
            report->metrics[report->n_metrics++] = metrics[i];
}

/* No times: costs from elsewhere, the first that there are. */
static void add_counted(struct report *report)
{
    const struct pm_graph *graph = report->data->graph;
    for (pm_index m = 0; m < graph->n_metrics && report->n_metrics == 0; m++)
        if (m != report->calls_metric && graph->metrics[m].aggregation == PM_SUM &&
            strcmp(graph->metrics[m].kind, "time") != 0 &&
            strcmp(graph->metrics[m].name, "n_samples") != 0 && report_is_measured(graph, m))
            report->metrics[report->n_metrics++] = m;
}

enum pm_status report_choose_metrics(struct report *report, struct pm_error *err)
{
    const struct pm_graph *graph = report->data->graph;
    see_what_ran(report);
    report->calls_metric = pm_graph_find_metric(graph, "n_calls");
    choose_time(report);
    enum pm_status status = PM_OK;
    if (!report->options.metrics) {
        report->shows_calls =
            report->calls_metric != PM_NONE && !report->measured_nothing && !report->only_samples &&
            (!report_is_fine(report) || report->options.tree || report->time_metric == PM_NONE);
        if (report->time_metric != PM_NONE)
            report->metrics[report->n_metrics++] = report->time_metric;
        else if (report->calls_metric == PM_NONE ||
                 !report_is_measured(graph, report->calls_metric))
            add_counted(report);
        if (report->time_metric == report->cpu_metric && report->wall_metric != PM_NONE &&
            !report_is_fine(report) && !report_is_timed_run(report))
            report->metrics[report->n_metrics++] = report->wall_metric;
        add_off_cpu(report);
    }
    for (const char *p = report->options.metrics; p && status == PM_OK;) {
        size_t len = strcspn(p, ",");
        status = add_metric(report, (struct pm_str){p, len}, err);
        p = p[len] ? p + len + 1 : NULL;
    }
    report->primary = 0; /* of the shown ones the first; n_metrics == 0: calls */
    return status;
}

/* Columns that nobody asked for and that have nothing in what is looked at. */
enum pm_status report_drop_empty(struct report *report, struct pm_error *err)
{
    const struct pm_graph *graph = report->data->graph;
    bool *has = pm_alloc_array(graph->n_metrics + 1u, sizeof *has);
    if (!has)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    for (uint32_t i = 0; i < graph->n_costs; i++)
        has[graph->costs[i].metric] |=
            graph->costs[i].value != 0 && report->in_focus[graph->costs[i].context];
    uint32_t n = 0;
    for (uint32_t m = 0; m < report->n_metrics; m++)
        if (report->options.metrics || report->options.keeps_columns || m == report->primary ||
            has[report->metrics[m]])
            report->metrics[n++] = report->metrics[m];
    report->n_metrics = n;
    free(has);
    return PM_OK;
}

const char *report_sampled_word(const struct report *report)
{
    return report_has_wall_samples(report) ? "wall time by samples" : "CPU time by samples";
}

static double value_of(const struct report *report, const struct report_row *row, uint32_t m)
{
    const struct report_value *value = &row->values[m];
    return report->options.tree ? (double)value->inclusive : (double)value->own.value;
}

enum { LEAST_DOUBT_NS = 1000000 };

/* More than a third of what is left: it is as uncertain as the estimate of what measuring cost. */
static bool is_mostly_taken_out(const struct report *report, const struct report_row *row)
{
    return report->metrics[report->primary] == report->wall_metric &&
           (double)row->taken_out_ns > (double)row->values[report->primary].own.value / 3 &&
           row->taken_out_ns >= LEAST_DOUBT_NS;
}

/* Of wall time, what was spent off the CPU is known exactly. */
bool report_is_uncertain(const struct report *report, const struct report_row *row)
{
    if (report->n_metrics != 0 && is_mostly_taken_out(report, row))
        return true;
    if (report->n_metrics == 0 || report->metrics[report->primary] != report->cpu_metric ||
        report->samples_metric == PM_NONE)
        return false;
    double value = value_of(report, row, report->primary), sampled = value;
    if (report_has_wall_samples(report))
        for (uint32_t m = 0; m < report->n_metrics; m++)
            sampled -= report_off_cpu_word(report, m) ? value_of(report, row, m) : 0;
    int64_t n = report->options.tree ? row->n_samples_inclusive : row->n_samples;
    return n < REPORT_FEW_SAMPLES && value != 0 && sampled > value / 3;
}
