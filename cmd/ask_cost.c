/* What a question itself cost the program: calls of the code that it needs at what each costs on that machine, and samples. */
#include "ask.h"

#include <math.h>
#include <stdlib.h>

static bool is_timed(const struct pm_execution *execution)
{
    return !strcmp(execution->mode, "exact") || !strcmp(execution->mode, "trace");
}

/* Picoseconds; 0: not known. */
static int64_t pair_ps_of(const struct pm_archive_data *data, uint32_t process)
{
    const struct pm_process *p = &data->processes[process];
    const struct pm_execution *execution = &data->executions[p->execution];
    int64_t ps = is_timed(execution)                     ? p->exact_pair_ps
                 : strcmp(execution->mode, "count") == 0 ? p->count_pair_ps
                                                         : p->active_pair_ps;
    return ps > 0 ? ps : 0;
}

/* The program's CPU time without what measuring added. */
static double own_ns_of(const struct pm_archive_data *data)
{
    double own_ns = 0;
    for (uint32_t i = 0; i < data->n_processes; i++) {
        const struct pm_process *p = &data->processes[i];
        if (p->user_cpu_ns == PM_UNKNOWN || p->system_cpu_ns == PM_UNKNOWN)
            return NAN;
        own_ns += (double)p->user_cpu_ns + (double)p->system_cpu_ns -
                  (p->added_ns > 0 ? (double)p->added_ns : 0);
    }
    return own_ns > 0 ? own_ns : NAN;
}

static void add_calls(const struct pm_archive_data *data, const struct pm_question_need *need,
                      struct ask_cost *cost)
{
    const struct pm_graph *graph = data->graph;
    pm_index calls = pm_graph_find_metric(graph, "n_calls");
    double ps = 0;
    bool known = true;
    for (uint32_t i = 0; i < graph->n_costs; i++) {
        const struct pm_cost *c = &graph->costs[i];
        pm_index noun = pm_graph_first_noun(graph, graph->contexts[c->context].sentence);
        if (c->metric != calls || noun == PM_NONE || !need->followed[noun])
            continue;
        int64_t pair_ps = pair_ps_of(data, data->threads[c->thread].process);
        cost->n_calls += c->value;
        ps += (double)c->value * (double)pair_ps;
        known &= pair_ps != 0 || c->value == 0;
    }
    cost->events_ns = known ? (int64_t)(ps / 1000) : PM_UNKNOWN;
}

enum pm_status ask_find_cost(const struct pm_archive_data *data, const struct pm_question *question,
                             struct pm_error *err, struct ask_cost *ret_cost)
{
    struct ask_cost cost = {0};
    struct pm_question_need need;
    enum pm_status status = pm_question_find_need(question, data->graph, NULL, err, &need);
    if (status != PM_OK)
        return status;
    add_calls(data, &need, &cost);
    for (uint32_t i = 0; i < data->n_processes; i++)
        if (data->processes[i].samples_ns > 0)
            cost.samples_ns += data->processes[i].samples_ns;
    cost.share_pct = cost.events_ns == PM_UNKNOWN
                         ? NAN
                         : 100 * (double)(cost.events_ns + cost.samples_ns) / own_ns_of(data);
    pm_question_need_release(&need);
    *ret_cost = cost;
    return PM_OK;
}
