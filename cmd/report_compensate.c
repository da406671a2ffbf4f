/* Takes the measuring itself out of own times.
 *
 * An exact pair reads the clock first thing in its entry and in its exit. What it costs between
 * the two falls into the construct's own time, the rest into its caller's; the runtime measures
 * both parts at start (pm_run.h, exact_pair_ps and exact_inner_ps). So the own time of a context
 * holds about
 *
 *     n_calls x inner + (sum of its children's n_calls) x (pair - inner)
 *
 * which is an estimate: the parts are those of an idle machine, and a processor overlaps a pair
 * with the work around it. Nothing is taken below zero, and what is taken is summed up and shown.
 */
#include "report.h"

#include <stdlib.h>

struct pair_cost {
    double inner_ns, outer_ns;
};

static struct pair_cost cost_of(const struct pm_archive_data *data, const struct pm_cost *calls)
{
    const struct pm_process *process = &data->processes[data->threads[calls->thread].process];
    if (process->exact_pair_ps <= 0 || process->exact_inner_ps <= 0 ||
        process->exact_inner_ps > process->exact_pair_ps)
        return (struct pair_cost){0, 0};
    return (struct pair_cost){(double)process->exact_inner_ps / 1e3,
                              (double)(process->exact_pair_ps - process->exact_inner_ps) / 1e3};
}

/* Estimated nanoseconds of measuring within the own time of each context, over all threads. */
static void estimate(const struct report *report, double *added_ns)
{
    const struct pm_graph *graph = report->data->graph;
    for (uint32_t i = 0; i < graph->n_costs; i++) {
        const struct pm_cost *cost = &graph->costs[i];
        const struct pm_context *context = &graph->contexts[cost->context];
        if (cost->metric != report->calls_metric || context->parent == PM_NONE)
            continue;
        struct pair_cost pair = cost_of(report->data, cost);
        double n_calls = (double)cost->value;
        if (context->flags & PM_CONTEXT_FOLDED) { /* all of its time is the parent's */
            added_ns[context->parent] += n_calls * (pair.inner_ns + pair.outer_ns);
        } else {
            added_ns[cost->context] += n_calls * pair.inner_ns;
            added_ns[context->parent] += n_calls * pair.outer_ns;
        }
    }
}

enum pm_status report_compensate(struct report *report, struct pm_error *err)
{
    struct pm_graph *graph = report->data->graph;
    if (report->options.no_compensation || report->time_metric == PM_NONE ||
        report->time_metric != report->wall_metric || report->calls_metric == PM_NONE)
        return PM_OK;
    double *added_ns = pm_alloc_array(graph->n_contexts + 1u, sizeof *added_ns);
    if (!added_ns)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    estimate(report, added_ns);
    for (uint32_t i = 0; i < graph->n_costs; i++) {
        struct pm_cost *cost = &graph->costs[i];
        double *left = &added_ns[cost->context];
        if (cost->metric != report->time_metric || cost->value <= 0 || *left < 1)
            continue;
        int64_t taken = *left < (double)cost->value ? (int64_t)*left : cost->value;
        cost->value -= taken;
        *left -= (double)taken;
        report->taken_out_ns += taken;
    }
    free(added_ns);
    return PM_OK;
}
