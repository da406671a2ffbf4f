#include "export_counters.h"

#include <stdlib.h>

struct counting {
    const struct pm_archive_data *data;
    pm_index metric;
    int64_t edges_ns[EXPORT_STRETCHES + 1];
    /* the same, open where the run begins and ends: samples may be a little beyond */
    int64_t asked_ns[EXPORT_STRETCHES + 1];
    int64_t *amounts; /* [n_threads * EXPORT_STRETCHES] */
    bool overflow;
};

static bool add_parts(void *context, const struct pm_cost *cost, const int64_t *parts)
{
    struct counting *c = context;
    if (cost->metric != c->metric)
        return true;
    int64_t *to = c->amounts + (size_t)cost->thread * EXPORT_STRETCHES;
    for (uint32_t i = 0; i < EXPORT_STRETCHES; i++)
        c->overflow |= __builtin_add_overflow(to[i], parts[i], &to[i]);
    return true;
}

static bool is_any(const int64_t *amounts)
{
    for (uint32_t i = 0; i < EXPORT_STRETCHES; i++)
        if (amounts[i])
            return true;
    return false;
}

/* The thread of the costs that is one of the trace. */
static bool is_same(const struct pm_archive_data *data, uint32_t thread,
                    const struct pm_trace_thread *traced)
{
    const struct pm_process *process = &data->processes[data->threads[thread].process];
    return data->threads[thread].tid == traced->tid && process->pid == traced->pid &&
           !strcmp(process->exe, traced->exe) && !strcmp(process->node, traced->node);
}

static void visit_threads(const struct counting *c, struct pm_trace *trace,
                          const struct export_request *request, struct export_counter *counter,
                          void (*visit)(void *context, const struct export_counter *counter),
                          void *context)
{
    for (size_t t = 0; t < pm_trace_n_threads(trace); t++) {
        const struct pm_trace_thread *traced = pm_trace_thread(trace, t);
        if (request->tid && (uint64_t)traced->tid != request->tid)
            continue;
        for (uint32_t i = 0; i < c->data->n_threads; i++) {
            counter->thread = t;
            counter->amounts = c->amounts + (size_t)i * EXPORT_STRETCHES;
            if (is_same(c->data, i, traced) && is_any(counter->amounts)) {
                visit(context, counter);
                break;
            }
        }
    }
}

/* Sums with times, but for the number of samples, which says the same. */
static bool is_wanted(const struct pm_archive_data *data, pm_index metric)
{
    const struct pm_graph_metric *m = &data->graph->metrics[metric];
    return data->has_times && data->has_times[metric] && m->aggregation == PM_SUM &&
           strcmp(m->name, "samples") != 0;
}

static void choose_edges(struct counting *c, const struct pm_trace *trace,
                         const struct export_request *request)
{
    int64_t from_ns = (int64_t)request->from_ns, to_ns = pm_trace_run_ns(trace);
    if (request->to_ns < (uint64_t)to_ns)
        to_ns = (int64_t)request->to_ns;
    if (to_ns < from_ns)
        to_ns = from_ns;
    for (int i = 0; i <= EXPORT_STRETCHES; i++)
        c->asked_ns[i] = c->edges_ns[i] =
            from_ns + (int64_t)((double)(to_ns - from_ns) * i / EXPORT_STRETCHES);
    if (from_ns == 0)
        c->asked_ns[0] = INT64_MIN;
    if (to_ns == pm_trace_run_ns(trace))
        c->asked_ns[EXPORT_STRETCHES] = INT64_MAX;
}

static enum pm_status visit_metrics(struct counting *c, struct pm_trace *trace,
                                    const struct export_request *request,
                                    void (*visit)(void *context,
                                                  const struct export_counter *counter),
                                    void *context, struct pm_error *err)
{
    size_t n = (size_t)c->data->n_threads * EXPORT_STRETCHES;
    struct export_counter counter = {.edges_ns = c->edges_ns};
    for (c->metric = 0; c->metric < c->data->graph->n_metrics; c->metric++) {
        const struct pm_graph_metric *metric = &c->data->graph->metrics[c->metric];
        if (!is_wanted(c->data, c->metric))
            continue;
        memset(c->amounts, 0, n * sizeof *c->amounts);
        enum pm_status status =
            pm_archive_each_part(c->data, NULL, c->asked_ns, EXPORT_STRETCHES, add_parts, c, err);
        if (status != PM_OK)
            return status;
        counter.metric = metric->name;
        counter.unit = metric->unit;
        counter.number = c->metric;
        visit_threads(c, trace, request, &counter, visit, context);
    }
    return c->overflow ? pm_error_set(err, PM_ERR_LIMIT, "costs add up to more than 64 bits hold")
                       : PM_OK;
}

enum pm_status export_each_counter(struct pm_trace *trace, const struct export_request *request,
                                   void (*visit)(void *context,
                                                 const struct export_counter *counter),
                                   void *context, struct pm_error *err)
{
    struct pm_archive_data *data;
    enum pm_status status = pm_archive_load(request->archive, PM_ARCHIVE_LOAD_KEPT, err, &data);
    if (status != PM_OK)
        return status;
    struct counting c = {.data = data,
                         .amounts = pm_alloc_array((size_t)data->n_threads + 1,
                                                   EXPORT_STRETCHES * sizeof *c.amounts)};
    choose_edges(&c, trace, request);
    status = c.amounts ? visit_metrics(&c, trace, request, visit, context, err)
                       : pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    free(c.amounts);
    pm_archive_data_free(data);
    return status;
}
