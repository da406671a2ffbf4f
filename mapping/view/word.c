/* Words of a program's own, or of an adapter: which nouns they are, and what was spent (word.h). */
#include "word.h"

#include "mapping/base/banned.h"

#include <stdlib.h>

enum { TEXT_BYTES = 1 << 20 };

bool pm_word_is(const struct pm_view *view, pm_index noun)
{
    static const char *const code[] = {"symbol",  "loopcode", "code", "kernel",   "perfmap",
                                       "process", "line",     "lost", "unsampled"};
    const char *level = view->data->graph->levels[view->data->graph->nouns[noun].level].name;
    if (strcmp(level, "Base") != 0)
        return strcmp(level, "Source") != 0;
    for (size_t i = 0; i < sizeof code / sizeof *code; i++)
        if (pm_view_noun_is(view, noun, code[i]))
            return false;
    return true;
}

bool pm_word_has(const struct pm_graph *graph, pm_index sentence, pm_index noun)
{
    const struct pm_graph_sentence *s = &graph->sentences[sentence];
    for (uint32_t i = 0; i < s->n_nouns; i++)
        if (graph->sentence_nouns[s->first_noun + i] == noun)
            return true;
    return false;
}

void pm_word_spent_release(struct pm_word_spent *spent)
{
    free(spent->amounts);
    pm_answer_free(spent->answer);
}

/* Whether the sentence itself, not one of equal words elsewhere, is in the row. */
static bool is_in_row(const struct pm_answer *answer, const struct pm_answer_row *row,
                      uint32_t class)
{
    for (uint32_t i = 0; i < row->matches[0].n_classes; i++)
        if (row->matches[0].classes[i] == class)
            return true;
    return answer->n_asked == 0;
}

static enum pm_status add_up(const struct pm_graph *graph, pm_index sentence,
                             struct pm_word_spent *spent, struct pm_error *err)
{
    const struct pm_answer *answer = spent->answer;
    uint32_t class = answer->matches[0].class_of[sentence];
    if (class == PM_NONE)
        return PM_OK;
    for (uint32_t r = 0; r < answer->n_rows; r++) {
        const struct pm_answer_row *row = &answer->rows[r];
        if (!is_in_row(answer, row, class))
            continue;
        if (!spent->amounts)
            spent->amounts = pm_alloc_array(graph->n_metrics + 1u, sizeof *spent->amounts);
        if (!spent->amounts)
            return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
        for (pm_index m = 0; m < graph->n_metrics; m++)
            if (!pm_amount_add(&spent->amounts[m], graph->metrics[m].aggregation, &row->amounts[m]))
                return pm_error_set(err, PM_ERR_LIMIT, "metric '%s' adds up to more than 64 bits",
                                    graph->metrics[m].name);
        spent->n_times += row->n_times;
        spent->times_known |= row->times_known;
    }
    spent->totals = answer->totals;
    return PM_OK;
}

enum pm_status pm_word_ask(const struct pm_view *view, pm_index sentence, struct pm_error *err,
                           struct pm_word_spent *ret_spent)
{
    const struct pm_graph *graph = view->data->graph;
    struct pm_question *question = NULL;
    struct pm_buf text = PM_BUF_INIT(TEXT_BYTES);
    *ret_spent = (struct pm_word_spent){0};
    pm_ask_add_exact_sentence(&text, graph, sentence);
    enum pm_status status = text.failed || !text.data
                                ? pm_error_set(err, PM_ERR_MEMORY, "out of memory")
                                : pm_question_parse(text.data, err, &question);
    if (status == PM_OK)
        status = pm_question_ask(question,
                                 &(struct pm_question_run){.graph = graph,
                                                           .n_threads = view->data->n_threads,
                                                           .calls_metric = view->calls_metric},
                                 err, &ret_spent->answer);
    if (status == PM_OK)
        status = add_up(graph, sentence, ret_spent, err);
    pm_question_free(question);
    pm_buf_release(&text);
    return status;
}

bool pm_word_shows(const struct pm_view *view, const struct pm_word_spent *spent, pm_index metric)
{
    const struct pm_graph_metric *m = &view->data->graph->metrics[metric];
    return spent->amounts && m->aggregation == PM_SUM && spent->amounts[metric].value != 0 &&
           metric != view->calls_metric && strcmp(m->name, "n_samples") != 0;
}
