/* What a question leaves out at lower levels: where a level has something that fits, those below it
 * do not count. {field ?} asks for the one assignment of a whole array (level Fortran), not for
 * all code that reads and writes it (level Source). */
#include "question_parts.h"

#include "mapping/base/banned.h"

static const char *level_of(const struct pm_graph *graph, const struct pm_question_matches *matches)
{
    for (pm_index s = 0; s < graph->n_sentences; s++)
        if (matches->class_of[s] != PM_NONE)
            return graph->levels[pm_graph_sentence_level(graph, s)].name;
    return "";
}

/* Data has no wall time. */
static pm_index metric_of(const struct pm_view *view)
{
    bool is_chosen = view->options.metrics != NULL || view->cpu_metric == PM_NONE;
    return is_chosen ? view->metrics[view->primary] : view->cpu_metric;
}

/* Share of the run, in %: of its CPU time, unless a metric was named. */
static enum pm_status find_share(const struct pm_view *view, const struct pm_question *question,
                                 struct pm_error *err, double *ret_share_pct)
{
    const struct pm_question_run run = {.graph = view->data->graph,
                                        .calls_metric = view->calls_metric};
    pm_index metric = metric_of(view);
    struct pm_answer *answer;
    enum pm_status status = pm_question_ask(question, &run, err, &answer);
    if (status != PM_OK)
        return status;
    double total = (double)answer->totals[metric].value;
    *ret_share_pct = total > 0 ? 100 * (double)answer->amounts[metric].value / total : 0;
    pm_answer_free(answer);
    return PM_OK;
}

static enum pm_status find_share_of_text(const struct pm_view *view, const char *text,
                                         struct pm_error *err, double *ret_share_pct)
{
    struct pm_question *question;
    enum pm_status status = pm_question_parse(text, err, &question);
    if (status != PM_OK)
        return status;
    status = find_share(view, question, err, ret_share_pct);
    pm_question_free(question);
    return status;
}

/* "{field ?}" at level Source: "{Source::field ?}". */
static void add_at_level(struct pm_buf *out, const char *sentence, const char *level)
{
    const char *first = sentence + 1 + strspn(sentence + 1, " \t\r\n");
    pm_buf_printf(out, "{%s::%s", level, first);
}

static enum pm_status note_level(const struct pm_view *view, const char *sentence,
                                 const char *highest, const char *level, struct pm_answer *answer,
                                 struct pm_error *err)
{
    static const double told_from_pct = 0.5;
    double share_pct, lower_pct = 0;
    struct pm_buf lower = PM_BUF_INIT(PM_QUESTION_MAX_BYTES), text = PM_BUF_INIT(1 << 18);
    add_at_level(&lower, sentence, level);
    enum pm_status status = find_share_of_text(view, sentence, err, &share_pct);
    if (!status && !lower.failed && find_share_of_text(view, lower.data, err, &lower_pct))
        pm_error_release(err); /* it cannot be said so */
    if (!status && lower_pct - share_pct >= told_from_pct) {
        pm_buf_printf(&text,
                      "%s means level %s, the highest that has it: %s has %.1f %% of the run",
                      sentence, highest, lower.data, lower_pct);
        status = pm_ask_add_note(answer, &text, err);
    }
    pm_buf_release(&lower);
    pm_buf_release(&text);
    return status;
}

/* Level Base implements what is above it. */
static bool is_left_out(const struct pm_graph *graph, const struct pm_question_matches *matches,
                        pm_index level)
{
    return matches->is_lower[level] && strcmp(graph->levels[level].name, "Base") != 0;
}

enum pm_status pm_ask_note_levels(struct pm_view *view, const struct pm_question *question,
                                  struct pm_answer *answer, struct pm_error *err)
{
    const struct pm_graph *graph = view->data->graph;
    if (view->primary >= view->n_metrics)
        return PM_OK;
    for (uint32_t i = 0; i < answer->n_asked; i++) {
        const struct pm_question_sentence *sentence = &question->sentences[answer->asked[i]];
        const struct pm_question_matches *matches = &answer->matches[answer->asked[i]];
        if (sentence->is_ambient || !sentence->n_nouns)
            continue;
        for (pm_index l = 0; l < graph->n_levels; l++) {
            if (!is_left_out(graph, matches, l))
                continue;
            enum pm_status status = note_level(view, sentence->text, level_of(graph, matches),
                                               graph->levels[l].name, answer, err);
            if (status != PM_OK)
                return status;
        }
    }
    return PM_OK;
}
