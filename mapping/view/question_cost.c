/* What a question itself cost the program: calls of the code that it needs at what each costs on
 * that machine, and samples. */
#include "question.h"

#include "format/pm_mode.h"

#include <math.h>
#include <stdlib.h>

static enum pm_run_mode mode_of(const struct pm_execution *execution)
{
    enum pm_run_mode mode;
    if (!pm_mode_of(execution->mode, &mode) || mode == PM_RUN_MODE_OFF)
        return PM_RUN_MODE_ACTIVE;
    return mode == PM_RUN_MODE_TRACE ? PM_RUN_MODE_EXACT : mode;
}

/* Picoseconds; 0: not known. */
static int64_t own_pair_ps(const struct pm_archive_data *data, uint32_t process, bool is_timed)
{
    const struct pm_process *p = &data->processes[process];
    enum pm_run_mode mode = mode_of(&data->executions[p->execution]);
    int64_t ps = is_timed || mode == PM_RUN_MODE_EXACT ? p->exact_pair_ps
                 : mode == PM_RUN_MODE_COUNT           ? p->count_pair_ps
                                                       : p->active_pair_ps;
    return ps > 0 ? ps : 0;
}

/* Of those whose costs are one: the mean by their calls. */
static int64_t mean_pair_ps(const struct pm_archive_data *data, uint32_t process, bool is_timed)
{
    const struct pm_process *p = &data->processes[process];
    enum pm_run_mode mode = mode_of(&data->executions[p->execution]);
    double ps = is_timed || mode == PM_RUN_MODE_EXACT ? p->pair.exact_ps
                : mode == PM_RUN_MODE_COUNT           ? 0
                                                      : p->pair.active_ps;
    return ps > 0 ? llround(ps) : own_pair_ps(data, process, is_timed);
}

/* A process that did not measure it has what another one found on that machine. */
static int64_t pair_ps_of(const struct pm_archive_data *data, uint32_t process, bool is_timed)
{
    int64_t ps = mean_pair_ps(data, process, is_timed);
    for (uint32_t i = 0; i < data->n_processes && ps == 0; i++)
        if (data->processes[i].execution == data->processes[process].execution)
            ps = own_pair_ps(data, i, is_timed);
    return ps;
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

/* Nouns whose calls were timed for a while, whatever the run's mode. NULL: memory. */
static bool *find_timed(const struct pm_archive_data *data)
{
    bool *timed = pm_alloc_array(data->graph->n_nouns + 1u, sizeof *timed);
    for (uint32_t i = 0; timed && i < data->n_noun_modes; i++)
        timed[data->noun_modes[i].noun] |= data->noun_modes[i].mode >= PM_RUN_MODE_EXACT;
    return timed;
}

static void add_calls(const struct pm_archive_data *data, const struct pm_question_need *need,
                      const bool *timed, struct pm_ask_cost *cost)
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
        int64_t pair_ps = pair_ps_of(data, data->threads[c->thread].process, timed[noun]);
        cost->n_calls += c->value;
        ps += (double)c->value * (double)pair_ps;
        known &= pair_ps != 0 || c->value == 0;
    }
    cost->events_ns = known ? (int64_t)(ps / 1000) : PM_UNKNOWN;
}

enum pm_status pm_ask_find_cost(const struct pm_archive_data *data,
                                const struct pm_question *question, struct pm_error *err,
                                struct pm_ask_cost *ret_cost)
{
    struct pm_ask_cost cost = {0};
    struct pm_question_need need;
    enum pm_status status = pm_question_find_need(question, data->graph, NULL, err, &need);
    if (status != PM_OK)
        return status;
    bool *timed = find_timed(data);
    if (timed)
        add_calls(data, &need, timed, &cost);
    else
        status = pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    for (uint32_t i = 0; i < data->n_processes; i++)
        if (data->processes[i].samples_ns > 0)
            cost.samples_ns += data->processes[i].samples_ns;
    cost.share_pct = cost.events_ns == PM_UNKNOWN
                         ? NAN
                         : 100 * (double)(cost.events_ns + cost.samples_ns) / own_ns_of(data);
    pm_question_need_release(&need);
    free(timed);
    if (status == PM_OK)
        *ret_cost = cost;
    return status;
}
