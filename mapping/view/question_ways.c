/* What calls say (messages, bytes that are written, waiting for a lock): known as far as
 * it is known which code says it, and what calls led there. Samples have no part in it. */
#include "question_parts.h"

#include "mapping/base/banned.h"

static bool is_of_level(const struct pm_graph *graph, pm_index sentence, const char *level)
{
    return !strcmp(graph->levels[pm_graph_sentence_level(graph, sentence)].name, level);
}

/* Is a word of the program, or of an adapter, active there? */
static bool is_within_word(const struct pm_graph *graph, pm_index context)
{
    for (; context != PM_NONE; context = graph->contexts[context].parent) {
        pm_index sentence = graph->contexts[context].sentence;
        if (!is_of_level(graph, sentence, "Base") && !is_of_level(graph, sentence, "Source"))
            return true;
    }
    return false;
}

static bool is_of_kind(const struct pm_graph *graph, pm_index context, const char *kind)
{
    pm_index noun = pm_graph_first_noun(graph, graph->contexts[context].sentence);
    return noun != PM_NONE && !strcmp(graph->nouns[noun].kind, kind);
}

/* A function's code, below another's: then a call led there, but for threads. */
static bool is_called(const struct pm_graph *graph, pm_index context)
{
    const struct pm_context *c = &graph->contexts[context];
    if (c->flags & PM_CONTEXT_INLINED || !is_of_kind(graph, context, "symbol") ||
        c->parent == PM_NONE || graph->contexts[c->parent].flags & PM_CONTEXT_CAUSE)
        return false;
    return !is_of_kind(graph, c->parent, "process");
}

static bool is_below_call(const struct pm_graph *graph, pm_index context)
{
    pm_index around = graph->contexts[graph->contexts[context].parent].sentence;
    return is_of_level(graph, around, "Base") &&
           !strcmp(graph->verbs[graph->sentences[around].verb].name, "Calls");
}

/* Does it lie in itself? Calls of itself are told once, further out. */
static bool is_again(const struct pm_graph *graph, pm_index context)
{
    pm_index sentence = graph->contexts[context].sentence, above = graph->contexts[context].parent;
    while (above != PM_NONE && graph->contexts[above].sentence != sentence)
        above = graph->contexts[above].parent;
    return above != PM_NONE;
}

static bool has_way(const struct pm_graph *graph, pm_index context)
{
    for (; context != PM_NONE; context = graph->contexts[context].parent)
        if (is_called(graph, context) && !is_below_call(graph, context) &&
            !is_again(graph, context))
            return false;
    return true;
}

/* Is it only known which function or loop the word was said in? */
static bool is_without_code(const struct pm_graph *graph, pm_index context)
{
    return is_of_kind(graph, context, "symbol") || is_of_kind(graph, context, "loopcode");
}

struct told {
    double all, unknown;
    bool is_told; /* all of the metric is what words cost */
};

static bool is_unknown(const struct pm_view *view, pm_index context)
{
    const struct pm_graph *graph = view->data->graph;
    pm_index noun = pm_graph_first_noun(graph, graph->contexts[context].sentence);
    bool is_other = noun != PM_NONE && pm_view_noun_is_of_unknown_data(view, noun);
    return is_other || is_without_code(graph, context) || !has_way(graph, context);
}

static struct told find_told(const struct pm_view *view, pm_index metric)
{
    const struct pm_graph *graph = view->data->graph;
    struct told told = {.is_told = metric != view->cpu_metric && metric != view->wall_metric &&
                                   metric != view->samples_metric};
    for (uint32_t i = 0; i < graph->n_costs && told.is_told; i++) {
        const struct pm_cost *cost = &graph->costs[i];
        if (cost->metric != metric || cost->value == 0)
            continue;
        told.all += (double)cost->value;
        told.unknown += is_unknown(view, cost->context) ? (double)cost->value : 0;
        told.is_told = is_within_word(graph, cost->context);
    }
    told.is_told &= told.all > 0;
    return told;
}

bool pm_ask_is_told(const struct pm_view *view)
{
    bool is_told = view->n_metrics > 0;
    for (uint32_t m = 0; m < view->n_metrics && is_told; m++)
        is_told = find_told(view, view->metrics[m]).is_told;
    return is_told;
}

static bool asks_for_fine(const struct pm_graph *graph, const struct pm_question_matches *matches)
{
    for (pm_index s = 0; s < graph->n_sentences; s++)
        if (pm_ask_is_fine(graph, matches, s))
            return true;
    return false;
}

/* The bounds are right with all of it, too. */
static void widen(const struct pm_view *view, struct pm_answer *answer, pm_index metric)
{
    const struct pm_graph *graph = view->data->graph;
    for (uint32_t i = 0; answer->has_bounds && i < graph->n_costs; i++) {
        const struct pm_cost *cost = &graph->costs[i];
        if (cost->metric == metric && !answer->active[cost->context] &&
            is_unknown(view, cost->context))
            answer->most[metric] += cost->value;
    }
    if (answer->has_bounds && answer->most[metric] > answer->totals[metric].value)
        answer->most[metric] = answer->totals[metric].value;
}

static enum pm_status note(const struct pm_view *view, pm_index metric, const struct told *told,
                           unsigned sides, struct pm_answer *answer, struct pm_error *err)
{
    struct pm_buf text = PM_BUF_INIT(1024);
    answer->is_partial |= (sides & PM_ASK_ASKED) != 0;
    pm_ask_mark_all_costs(answer, sides);
    widen(view, answer, metric);
    pm_buf_printf(&text,
                  "%.3g %% of %s is not known by call: what called there was not followed, called "
                  "itself, or was compiled without the plugin; what that reads and writes is not "
                  "known",
                  100 * told->unknown / told->all, view->data->graph->metrics[metric].name);
    enum pm_status status = pm_ask_add_note(answer, &text, err);
    pm_buf_release(&text);
    return status;
}

enum pm_status pm_ask_note_ways(const struct pm_view *view, unsigned sides_of_data,
                                struct pm_answer *answer, struct pm_error *err)
{
    unsigned sides = sides_of_data;
    for (uint32_t i = 0; i < answer->n_sentences; i++)
        if (asks_for_fine(view->data->graph, &answer->matches[i]))
            sides |= pm_ask_side_of(answer, i);
    for (uint32_t m = 0; sides && m < view->n_metrics; m++) {
        struct told told = find_told(view, view->metrics[m]);
        if (!told.is_told || told.unknown == 0)
            continue;
        enum pm_status status = note(view, view->metrics[m], &told, sides, answer, err);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}
