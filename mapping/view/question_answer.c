/* The answer of an archive to a question. */
#include "question_parts.h"

#include "mapping/base/banned.h"

#include <stdlib.h>

bool pm_ask_is_fine(const struct pm_graph *graph, const struct pm_question_matches *matches,
                    pm_index sentence)
{
    pm_index noun = pm_graph_first_noun(graph, sentence);
    if (noun == PM_NONE || matches->class_of[sentence] == PM_NONE || matches->is_inner[sentence])
        return false;
    const char *kind = graph->nouns[noun].kind;
    const char *verb = graph->verbs[graph->sentences[sentence].verb].name;
    if (kind && !strcmp(kind, "statement"))
        return true;
    return pm_noun_is_data(&graph->nouns[noun]) &&
           (!strcmp(verb, "Reads") || !strcmp(verb, "Writes"));
}

bool pm_ask_row_is_empty(const struct pm_view *view, const struct pm_answer_row *row)
{
    for (uint32_t m = 0; m < view->n_metrics; m++)
        if (row->amounts[view->metrics[m]].value != 0)
            return false;
    return row->n_times == 0;
}

static bool any_is_fine(const struct pm_graph *graph, const struct pm_question_matches *matches)
{
    for (pm_index s = 0; s < graph->n_sentences; s++)
        if (pm_ask_is_fine(graph, matches, s))
            return true;
    return false;
}

/* Is it about statements or data? Only where functions and loops have another time than those. */
static enum pm_status find_fine(struct pm_view *view, const struct pm_question *question,
                                struct pm_error *err)
{
    const struct pm_graph *graph = view->data->graph;
    view->asks_fine = false;
    if (view->options.metrics || pm_graph_find_metric(graph, "wall_ns") == PM_NONE)
        return PM_OK;
    for (uint32_t i = 0; i < question->n_sentences && !view->asks_fine; i++) {
        struct pm_question_matches matches;
        enum pm_status status = pm_question_match(&question->sentences[i], graph, err, &matches);
        if (status != PM_OK) {
            pm_question_matches_release(&matches);
            return status;
        }
        view->asks_fine = any_is_fine(graph, &matches);
        pm_question_matches_release(&matches);
    }
    return PM_OK;
}

/* Metrics that were not measured yet may come. */
static enum pm_status choose_metrics(struct pm_view *view, const struct pm_question *question,
                                     bool is_live, struct pm_error *err)
{
    enum pm_status status = find_fine(view, question, err);
    if (status != PM_OK)
        return status;
    status = pm_view_choose_metrics(view, err);
    if (status != PM_ERR_USAGE || !is_live)
        return status;
    pm_error_release(err);
    view->options.metrics = NULL;
    view->n_metrics = 0;
    return pm_view_choose_metrics(view, err);
}

/* Processes of one program share their costs, unless some of them are asked for. */
static enum pm_status ask_graph(struct pm_view *view, const struct pm_question *question,
                                struct pm_error *err, struct pm_answer **ret_answer)
{
    struct pm_graph *graph = view->data->graph;
    struct pm_question_run run = {.graph = graph, .calls_metric = view->calls_metric};
    bool *threads_in = NULL;
    struct pm_cost *own = NULL;
    uint32_t n_own = 0;
    enum pm_status status = pm_ask_find_threads(question, view->data, err, &threads_in);
    if (status == PM_OK && threads_in)
        status = pm_view_costs_of(view, threads_in, err, &own, &n_own);
    struct pm_cost *merged = graph->costs;
    uint32_t n_merged = graph->n_costs;
    if (threads_in) {
        graph->costs = own;
        graph->n_costs = n_own;
    }
    if (status == PM_OK)
        status = pm_question_ask(question, &run, err, ret_answer);
    graph->costs = merged;
    graph->n_costs = n_merged;
    free(own);
    free(threads_in);
    return status;
}

/* Code that was inlined, or has no sleds, is not timed either. */
static enum pm_status choose_sampled(struct pm_view *view, struct pm_answer *answer,
                                     struct pm_error *err)
{
    bool is_wall = view->n_metrics && view->metrics[view->primary] == view->wall_metric;
    if (view->options.metrics || view->asks_fine || !is_wall || view->cpu_metric == PM_NONE ||
        !pm_ask_lacks_wall(view, answer))
        return PM_OK;
    view->asks_fine = true;
    view->n_metrics = 0;
    return pm_view_choose_metrics(view, err);
}

/* What the answer does not say by itself. */
static enum pm_status add_notes(struct pm_view *view, const struct pm_question *question,
                                bool is_live, struct pm_answer *answer, struct pm_error *err)
{
    struct pm_ask_whole whole = {0};
    if (is_live)
        answer->n_notes = 0; /* what is not there yet may come */
    enum pm_status status = choose_sampled(view, answer, err);
    if (status != PM_OK)
        return status;
    status = pm_ask_note_nothing(view, question, &whole, answer, err);
    if (!status)
        status = pm_ask_note_gaps(view, question, is_live, &whole, answer, err);
    pm_ask_whole_release(&whole);
    return status;
}

enum pm_status pm_ask_answer(struct pm_view *view, const struct pm_question *question, bool is_live,
                             struct pm_error *err, struct pm_answer **ret_answer)
{
    static enum pm_status (*const steps[])(struct pm_view *, struct pm_error *) = {
        pm_view_fold, pm_view_sum_folded, pm_view_find_untimed, pm_view_compensate,
        pm_view_naming_start};
    struct pm_answer *answer = NULL;
    unsigned flags = PM_ARCHIVE_LOAD_CAUSES | PM_ARCHIVE_LOAD_MERGED | PM_ARCHIVE_LOAD_KEPT;
    if (view->options.overlays[0]) /* nothing can be added behind what they add */
        flags |= PM_ARCHIVE_LOAD_ALL;
    enum pm_status status = pm_view_load(view, flags, err);
    if (status == PM_OK)
        status = pm_view_choose_level(view, err);
    if (status == PM_OK)
        status = choose_metrics(view, question, is_live, err);
    for (size_t i = 0; i < sizeof steps / sizeof *steps && status == PM_OK; i++)
        status = steps[i](view, err);
    if (status == PM_OK)
        status = ask_graph(view, question, err, &answer);
    if (status != PM_OK)
        return status;
    status = add_notes(view, question, is_live, answer, err);
    if (status == PM_OK)
        *ret_answer = answer;
    else
        pm_answer_free(answer);
    return status;
}
