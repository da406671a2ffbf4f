/* What calls say (messages, bytes that are written, waiting for a lock): known as far as
 * it is known which code says it, and what calls led there. Samples have no part in it. */
#include "question_parts.h"

#include "mapping/base/banned.h"

#include <stdlib.h>

static bool is_of_level(const struct pm_graph *graph, pm_index sentence, const char *level)
{
    return !strcmp(graph->levels[pm_graph_sentence_level(graph, sentence)].name, level);
}

static bool has_verb(const struct pm_graph *graph, pm_index sentence, const char *verb)
{
    return !strcmp(graph->verbs[graph->sentences[sentence].verb].name, verb);
}

/* A word of the program, or of an adapter: those of io are at level Base, with own verbs. */
static bool is_word(const struct pm_graph *graph, pm_index sentence)
{
    if (is_of_level(graph, sentence, "Source"))
        return false;
    return !is_of_level(graph, sentence, "Base") ||
           !(has_verb(graph, sentence, "Executes") || has_verb(graph, sentence, "Calls"));
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
    return is_of_level(graph, around, "Base") && has_verb(graph, around, "Calls");
}

/* Does it lie in itself? Calls of itself are told once, further out. */
static bool is_again(const struct pm_graph *graph, pm_index context)
{
    pm_index sentence = graph->contexts[context].sentence, above = graph->contexts[context].parent;
    while (above != PM_NONE && graph->contexts[above].sentence != sentence)
        above = graph->contexts[above].parent;
    return above != PM_NONE;
}

/* What is known of a context. */
enum { WITHIN_WORD = 1, LACKS_WAY = 2, IS_UNKNOWN = 4 };

/* Is it only known which function or loop the word was said in? */
static bool is_without_code(const struct pm_graph *graph, pm_index context)
{
    return is_of_kind(graph, context, "symbol") || is_of_kind(graph, context, "loopcode");
}

/* [graph->n_contexts], to be freed. NULL: memory. Contexts come after their parents. */
static unsigned char *judge(const struct pm_view *view)
{
    const struct pm_graph *graph = view->data->graph;
    unsigned char *known = pm_alloc_array(graph->n_contexts + 1u, sizeof *known);
    for (pm_index c = 0; known && c < graph->n_contexts; c++) {
        pm_index parent = graph->contexts[c].parent, sentence = graph->contexts[c].sentence,
                 noun = pm_graph_first_noun(graph, sentence);
        known[c] = parent != PM_NONE ? known[parent] & (WITHIN_WORD | LACKS_WAY) : 0;
        known[c] |= is_word(graph, sentence) ? WITHIN_WORD : 0;
        bool lacks_call = is_called(graph, c) && !is_below_call(graph, c) && !is_again(graph, c);
        known[c] |= lacks_call ? LACKS_WAY : 0;
        bool is_other = noun != PM_NONE && pm_view_noun_is_of_unknown_data(view, noun);
        bool is_unknown = is_other || known[c] & LACKS_WAY || is_without_code(graph, c);
        known[c] |= is_unknown ? IS_UNKNOWN : 0;
    }
    return known;
}

struct told {
    double all, unknown;
    bool is_told; /* words cost it */
};

/* Samples, and switches of the kernel, tell of these: words have no part in it. */
static bool is_of_samples(const struct pm_view *view, pm_index metric)
{
    static const char *const names[] = {"waiting_ns", "preempted_ns", "off_cpu_ns",
                                        "sampled_wall_ns", "n_samples"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(view->data->graph->metrics[metric].name, names[i]))
            return true;
    return metric == view->cpu_metric || metric == view->wall_metric;
}

static struct told find_told(const struct pm_view *view, const unsigned char *known,
                             pm_index metric)
{
    const struct pm_graph *graph = view->data->graph;
    struct told told = {0};
    if (is_of_samples(view, metric))
        return told;
    for (uint32_t i = 0; i < graph->n_costs; i++) {
        const struct pm_cost *cost = &graph->costs[i];
        if (cost->metric != metric || cost->value == 0)
            continue;
        told.all += (double)cost->value;
        told.unknown += known[cost->context] & IS_UNKNOWN ? (double)cost->value : 0;
        told.is_told |= known[cost->context] & WITHIN_WORD;
    }
    return told;
}

static bool asks_for_fine(const struct pm_graph *graph, const struct pm_question_matches *matches)
{
    for (pm_index s = 0; s < graph->n_sentences; s++)
        if (pm_ask_is_fine(graph, matches, s))
            return true;
    return false;
}

/* The bounds are right with all of it, too. */
static void widen(const struct pm_view *view, const unsigned char *known, struct pm_answer *answer,
                  pm_index metric)
{
    const struct pm_graph *graph = view->data->graph;
    for (uint32_t i = 0; answer->has_bounds && i < graph->n_costs; i++) {
        const struct pm_cost *cost = &graph->costs[i];
        if (cost->metric == metric && !answer->active[cost->context] &&
            known[cost->context] & IS_UNKNOWN)
            answer->most[metric] += cost->value;
    }
    if (answer->has_bounds && answer->most[metric] > answer->totals[metric].value)
        answer->most[metric] = answer->totals[metric].value;
}

static enum pm_status note(const struct pm_view *view, const unsigned char *known, pm_index metric,
                           const struct told *told, unsigned sides, struct pm_answer *answer,
                           struct pm_error *err)
{
    struct pm_buf text = PM_BUF_INIT(1024);
    answer->is_partial |= (sides & PM_ASK_ASKED) != 0;
    pm_ask_mark_all_costs(answer, sides);
    widen(view, known, answer, metric);
    pm_buf_printf(
        &text,
        "of %.3g %% of %s it is not known which calls led there: functions that were not "
        "followed, code without the plugin, libc's FILEs, or more ways than there is room "
        "for; what these calls read and write is missing",
        100 * told->unknown / told->all, view->data->graph->metrics[metric].name);
    enum pm_status status = pm_ask_add_note(answer, &text, err);
    pm_buf_release(&text);
    return status;
}

static unsigned sides_of(const struct pm_view *view, unsigned sides_of_data,
                         const struct pm_answer *answer)
{
    unsigned sides = sides_of_data;
    for (uint32_t i = 0; i < answer->n_sentences; i++)
        if (asks_for_fine(view->data->graph, &answer->matches[i]))
            sides |= pm_ask_side_of(answer, i);
    return sides;
}

static enum pm_status note_metrics(const struct pm_view *view, const unsigned char *known,
                                   unsigned sides, struct pm_answer *answer, struct pm_error *err,
                                   bool *ret_is_told)
{
    *ret_is_told = view->n_metrics > 0;
    for (uint32_t m = 0; m < view->n_metrics; m++) {
        struct told told = find_told(view, known, view->metrics[m]);
        *ret_is_told &= told.is_told;
        if (!sides || !told.is_told || told.unknown == 0)
            continue;
        enum pm_status status = note(view, known, view->metrics[m], &told, sides, answer, err);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

enum pm_status pm_ask_note_ways(const struct pm_view *view, unsigned sides_of_data,
                                struct pm_answer *answer, struct pm_error *err, bool *ret_is_told)
{
    unsigned sides = sides_of(view, sides_of_data, answer);
    unsigned char *known = judge(view);
    enum pm_status status = known ? note_metrics(view, known, sides, answer, err, ret_is_told)
                                  : pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    free(known);
    return status;
}
