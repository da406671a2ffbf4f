/* Whether a run was measured well. */
#include "compare.h"

#include <math.h>

static double sum_of(const struct pm_graph *graph, const char *metric)
{
    pm_index m = pm_graph_find_metric(graph, metric);
    double sum = 0;
    for (uint32_t i = 0; m != PM_NONE && i < graph->n_costs; i++)
        sum += graph->costs[i].metric == m ? (double)graph->costs[i].value : 0;
    return sum;
}

const char *pm_compare_why_poor(const struct pm_view *view, struct pm_arena *arena)
{
    enum { LOST_PCT = 1, PREEMPTED_PCT = 5, BUDGETS = 2 };
    struct pm_view_facts facts = pm_view_facts(view);
    double all = (double)(facts.n_samples + facts.n_lost_samples);
    double lost_pct = all > 0 ? 100 * (double)facts.n_lost_samples / all : 0;
    double cpu_ns = (double)facts.user_cpu_ns + (double)facts.system_cpu_ns;
    double out_pct = facts.user_cpu_ns != PM_UNKNOWN && cpu_ns > 0
                         ? 100 * sum_of(view->data->graph, "preempted_ns") / cpu_ns
                         : 0;
    double budget_pct = facts.budget_ppm == PM_UNKNOWN ? NAN : (double)facts.budget_ppm / 1e4;
    char text[200] = "";
    if (lost_pct > LOST_PCT)
        snprintf(text, sizeof text, "lost %.1f %% of its samples", lost_pct);
    else if (facts.slow_down_pct > BUDGETS * budget_pct)
        snprintf(text, sizeof text, "measuring slowed it down by %.1f %%", facts.slow_down_pct);
    else if (out_pct > PREEMPTED_PCT)
        snprintf(text, sizeof text, "others had the processor for %.1f %% of its CPU time",
                 out_pct);
    return pm_arena_strndup(arena, text, strlen(text));
}
