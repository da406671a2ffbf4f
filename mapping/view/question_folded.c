/* Functions whose code is one: compilers fold those that are equal (-fipa-icf). What ran was any of
 * them: costs and calls of one that was asked for are at most, without one that is denied at
 * least. */
#include "question_parts.h"

#include "mapping/base/banned.h"

static bool is_function(const struct pm_graph *graph, pm_index sentence)
{
    pm_index noun = pm_graph_first_noun(graph, sentence);
    return noun != PM_NONE && !strcmp(graph->nouns[noun].kind, "function");
}

/* A function that the symbol implements and the sentence of the question does not mean; PM_NONE. */
static pm_index other_function(const struct pm_graph *graph, const uint32_t *class_of,
                               pm_index symbol)
{
    for (uint32_t k = graph->out_first[symbol]; k < graph->out_first[symbol + 1]; k++) {
        pm_index to = graph->mappings[graph->out[k]].destination;
        if (is_function(graph, to) && class_of[to] == PM_NONE)
            return to;
    }
    return PM_NONE;
}

static unsigned mark_folded(struct pm_answer *answer, uint32_t sentence, uint32_t class)
{
    unsigned side = pm_ask_side_of(answer, sentence);
    for (uint32_t r = 0; r < answer->n_rows; r++) {
        struct pm_answer_row *row = &answer->rows[r];
        if (side == PM_ASK_DENIED)
            row->costs_at_least = row->times_at_least = true;
        else if (pm_ask_matches_class(&row->matches[answer->asked_at[sentence]], class))
            row->costs_at_most = row->times_at_most = row->is_folded = true;
    }
    return side;
}

/* What one symbol has of a sentence of the question. ret_other: a function that it may be as
 * well. */
static unsigned mark_symbol(const struct pm_graph *graph, struct pm_answer *answer,
                            uint32_t sentence, pm_index symbol, pm_index *ret_other)
{
    const uint32_t *class_of = answer->matches[sentence].class_of;
    pm_index other = other_function(graph, class_of, symbol);
    unsigned sides = 0;
    for (uint32_t k = graph->out_first[symbol];
         other != PM_NONE && k < graph->out_first[symbol + 1]; k++) {
        pm_index to = graph->mappings[graph->out[k]].destination;
        if (!is_function(graph, to) || class_of[to] == PM_NONE)
            continue;
        sides |= mark_folded(answer, sentence, class_of[to]);
        *ret_other = other;
    }
    return sides;
}

enum pm_status pm_ask_note_folded(struct pm_view *view, struct pm_answer *answer,
                                  struct pm_error *err)
{
    const struct pm_graph *graph = view->data->graph;
    unsigned sides = 0;
    pm_index other = PM_NONE;
    for (pm_index c = 0; c < graph->n_contexts && answer->n_rows; c++) {
        pm_index symbol = graph->contexts[c].sentence, noun = pm_graph_first_noun(graph, symbol);
        if (noun == PM_NONE || !pm_view_noun_is(view, noun, "symbol"))
            continue;
        for (uint32_t i = 0; i < answer->n_sentences; i++)
            sides |= mark_symbol(graph, answer, i, symbol, &other);
    }
    if (!sides)
        return PM_OK;
    answer->is_at_most |= (sides & PM_ASK_ASKED) != 0;
    answer->is_partial |= (sides & PM_ASK_DENIED) != 0;
    const char *name = pm_view_noun_name(view, pm_graph_first_noun(graph, other));
    struct pm_buf text = PM_BUF_INIT(1 << 23);
    pm_buf_printf(&text,
                  "the compiler made one of equal functions: what ran was perhaps '%s', or another "
                  "that is not meant (-fno-ipa-icf keeps them apart)",
                  name ? name : "");
    enum pm_status status = pm_ask_add_note(answer, &text, err);
    pm_buf_release(&text);
    return status;
}
