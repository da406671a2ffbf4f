/* PerfMap's own time in an answer: samples of its runtime count where the program was. */
#include "interval.h"
#include "question_parts.h"

static bool is_own(const struct pm_view *view, pm_index context)
{
    const struct pm_graph *graph = view->data->graph;
    pm_index noun = pm_graph_first_noun(graph, graph->contexts[context].sentence);
    return noun != PM_NONE && pm_view_noun_is(view, noun, "perfmap");
}

static double own_share_pct(const struct pm_view *view, const struct pm_answer *answer,
                            pm_index metric)
{
    const struct pm_graph *graph = view->data->graph;
    double own = 0, total = (double)answer->totals[metric].value;
    for (uint32_t i = 0; i < graph->n_costs; i++) {
        const struct pm_cost *cost = &graph->costs[i];
        if (cost->metric == metric && answer->active[cost->context] && is_own(view, cost->context))
            own += (double)cost->value;
    }
    return total > 0 ? 100 * own / total : 0;
}

/* Less is in the doubt of any share. */
enum { TOLD_FROM_PCT = 3 };

enum pm_status pm_ask_note_own(const struct pm_view *view, struct pm_answer *answer,
                               struct pm_error *err)
{
    pm_index metric = view->primary < view->n_metrics ? view->metrics[view->primary] : PM_NONE;
    bool is_sampled = metric != PM_NONE && metric == view->cpu_metric;
    double share_pct = is_sampled ? own_share_pct(view, answer, metric) : 0;
    if (share_pct < TOLD_FROM_PCT)
        return PM_OK;
    struct pm_buf text = PM_BUF_INIT(1024);
    pm_buf_printf(&text,
                  "%.1f %% of the %s, in the answer, are PerfMap's own time, not the program's "
                  "('PerfMap itself' in 'perfmap report')",
                  share_pct, pm_view_has_interval(view) ? "interval's costs" : "run");
    enum pm_status status = pm_ask_add_note(answer, &text, err);
    pm_buf_release(&text);
    return status;
}
