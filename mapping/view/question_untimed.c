/* Wall time of what is not timed: samples alone meet code that was inlined, loops without sleds,
 * statements and data, and what was called beyond --max-depth has no context of its own. Their wall
 * time is that of the timed code around. Where that is of the question as well, nothing lacks. */
#include "question_parts.h"

#include "mapping/base/banned.h"

/* Calls that found no room for a path of their own. */
static bool is_folded_call(const struct pm_graph *graph, pm_index context)
{
    uint32_t flags = graph->contexts[context].flags;
    return flags & PM_CONTEXT_FOLDED && !(flags & PM_CONTEXT_AMBIENT);
}

static bool lacks_wall(const struct pm_view *view, pm_index context)
{
    return pm_view_is_untimed_code(view, context) || pm_view_is_only_sampled(view, context);
}

/* Does a context around have the same, with a time? */
static bool is_timed_around(const struct pm_view *view, const struct pm_answer *answer,
                            uint32_t sentence, pm_index context, uint32_t class)
{
    const struct pm_graph *graph = view->data->graph;
    for (pm_index up = graph->contexts[context].parent; up != PM_NONE;
         up = graph->contexts[up].parent) {
        uint32_t n;
        const uint32_t *classes = pm_answer_reached(answer, graph, sentence, up, &n);
        if (pm_ask_has_class(classes, n, class) && !lacks_wall(view, up) &&
            !is_folded_call(graph, up))
            return true;
    }
    return false;
}

/* Marks by `mark` what a context has of the question that no timed one around has. */
static unsigned mark_context(const struct pm_view *view, struct pm_answer *answer, pm_index context,
                             unsigned (*mark)(struct pm_answer *, uint32_t sentence,
                                              uint32_t class))
{
    unsigned sides = 0;
    for (uint32_t i = 0; i < answer->n_sentences; i++) {
        uint32_t n;
        const uint32_t *classes = pm_answer_reached(answer, view->data->graph, i, context, &n);
        for (uint32_t k = 0; k < n; k++)
            if (!is_timed_around(view, answer, i, context, classes[k]))
                sides |= mark(answer, i, classes[k]);
    }
    return sides;
}

static unsigned no_mark(struct pm_answer *answer, uint32_t sentence, uint32_t class)
{
    (void)class;
    return pm_ask_side_of(answer, sentence);
}

/* What samples tell of it that is not timed. One or two of many may be of code before its sled. */
static bool is_much_sampled(const struct pm_view *view, struct pm_answer *answer)
{
    const struct pm_graph *graph = view->data->graph;
    double sampled_ns = 0;
    for (uint32_t i = 0; i < graph->n_costs; i++) {
        const struct pm_cost *cost = &graph->costs[i];
        if (cost->metric == view->cpu_metric && pm_view_is_only_sampled(view, cost->context) &&
            mark_context(view, answer, cost->context, no_mark))
            sampled_ns += (double)cost->value;
    }
    return pm_view_is_much_sampled(view, sampled_ns,
                                   (double)answer->amounts[view->wall_metric].value);
}

bool pm_ask_lacks_wall(const struct pm_view *view, struct pm_answer *answer)
{
    const struct pm_graph *graph = view->data->graph;
    for (pm_index c = 0; c < graph->n_contexts; c++)
        if (pm_view_is_untimed_code(view, c) && mark_context(view, answer, c, no_mark))
            return true;
    return is_much_sampled(view, answer);
}

/* The calls themselves are counted: only times are less. */
static enum pm_status note_folded_calls(struct pm_view *view, struct pm_answer *answer,
                                        struct pm_error *err)
{
    const struct pm_graph *graph = view->data->graph;
    unsigned sides = 0;
    for (pm_index c = 0; c < graph->n_contexts; c++)
        if (is_folded_call(graph, c))
            sides |= mark_context(view, answer, c, pm_ask_mark_costs);
    if (!sides)
        return PM_OK;
    struct pm_buf text = PM_BUF_INIT(1024);
    pm_ask_mark_answer(answer, sides);
    pm_buf_printf(&text,
                  "%s: deep calls have no call path of their own, for --max-depth or a limit of "
                  "memory was reached: what they cost counts for the calls around",
                  pm_ask_word_of(sides));
    enum pm_status status = pm_ask_add_note(answer, &text, err);
    pm_buf_release(&text);
    return status;
}

/* Not a part of what was named: a loop of a function, a function of a file. */
static bool is_noun_of_class(const struct pm_question_class *class, pm_index noun)
{
    return class->n_nouns && class->nouns[0] == noun;
}

/* Functions and loops of which some code has no sleds, also where no sample met that. */
static unsigned mark_bare_walls(const struct pm_view *view, struct pm_answer *answer)
{
    const struct pm_archive_data *data = view->data;
    unsigned sides = 0;
    for (pm_index s = 0; s < data->graph->n_sentences; s++) {
        pm_index noun = pm_graph_first_noun(data->graph, s);
        if (noun == PM_NONE || !(data->bare[noun] & PM_BARE_OF_CALLS))
            continue;
        for (uint32_t i = 0; i < answer->n_sentences; i++) {
            uint32_t class = answer->matches[i].class_of[s];
            if (class != PM_NONE && is_noun_of_class(&answer->matches[i].classes[class], noun))
                sides |= pm_ask_mark_wall(answer, i, class);
        }
    }
    return sides;
}

enum pm_status pm_ask_note_untimed(struct pm_view *view, struct pm_answer *answer,
                                   struct pm_error *err)
{
    const struct pm_graph *graph = view->data->graph;
    enum pm_status status = note_folded_calls(view, answer, err);
    if (status != PM_OK || !pm_view_shows_wall(view))
        return status;
    unsigned sides = mark_bare_walls(view, answer);
    bool is_much = is_much_sampled(view, answer);
    for (pm_index c = 0; c < graph->n_contexts; c++)
        if (pm_view_is_untimed_code(view, c) || (is_much && pm_view_is_only_sampled(view, c)))
            sides |= mark_context(view, answer, c, pm_ask_mark_wall);
    if (!sides)
        return PM_OK;
    struct pm_buf text = PM_BUF_INIT(1024);
    pm_ask_mark_answer(answer, sides);
    pm_buf_printf(
        &text,
        "wall time is %s: some of that code was not timed, but inlined, or met by samples "
        "or counted only (--metric cpu_ns)",
        pm_ask_word_of(sides));
    status = pm_ask_add_note(answer, &text, err);
    pm_buf_release(&text);
    return status;
}
