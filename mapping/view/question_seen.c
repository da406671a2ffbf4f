/* What is known of sentences that were not active. Sleds and words tell each time that something
 * becomes active: then it never was. Samples meet statements, data and code that was inlined by
 * chance: what none of them met was rare, or never.
 *
 *     function or loop with sleds, and no copy without     never
 *     word of the program or of an adapter                 never
 *     statement, data, inlined function, line              not seen
 *     function or loop that was off                        not seen
 *     whatever it is, in an interval (--from, --to)        not seen
 */
#include "interval.h"
#include "question_parts.h"

#include "format/pm_mode.h"
#include "mapping/base/banned.h"

#include <stdlib.h>

static bool is_kind(const struct pm_graph *graph, pm_index sentence, const char *kind)
{
    pm_index noun = pm_graph_first_noun(graph, sentence);
    return noun != PM_NONE && !strcmp(graph->nouns[noun].kind, kind);
}

static bool is_at(const struct pm_graph *graph, pm_index sentence, const char *level)
{
    return !strcmp(graph->levels[pm_graph_sentence_level(graph, sentence)].name, level);
}

/* Sentences that the compiler or the mapper makes have these verbs. */
static bool has_verb_of_code(const struct pm_graph *graph, pm_index sentence)
{
    const char *verb = graph->verbs[graph->sentences[sentence].verb].name;
    return !strcmp(verb, "Executes") || !strcmp(verb, "Reads") || !strcmp(verb, "Writes");
}

/* Is it told by itself, not by what implements it? */
static bool is_told(const struct pm_graph *graph, pm_index sentence, bool has_sources)
{
    if (is_kind(graph, sentence, "symbol") || is_kind(graph, sentence, "loopcode"))
        return true;
    bool is_of_code = is_at(graph, sentence, "Source") || is_at(graph, sentence, "Base");
    return !has_sources && !(is_of_code && has_verb_of_code(graph, sentence));
}

/* Statements and data have no sleds, whatever leads to them. */
static bool may_be_told(const struct pm_archive_data *data, pm_index sentence)
{
    const struct pm_graph *graph = data->graph;
    pm_index noun = pm_graph_first_noun(graph, sentence);
    return noun == PM_NONE ||
           (!pm_noun_is_data(&graph->nouns[noun]) && !is_kind(graph, sentence, "statement") &&
            !is_kind(graph, sentence, "line") &&
            !(data->bare[noun] & (PM_BARE_OF_CALLS | PM_BARE_ENTRIES)));
}

static bool has_mode_off(const struct pm_archive_data *data)
{
    enum pm_run_mode mode;
    for (uint32_t i = 0; i < data->n_executions; i++)
        if (pm_mode_of(data->executions[i].mode, &mode) && mode == PM_RUN_MODE_OFF)
            return true;
    return false;
}

/* Sentences of code whose entries were not counted, for a while or all the time. False: memory. */
static bool forget_off(const struct pm_archive_data *data, bool *followed)
{
    const struct pm_graph *graph = data->graph;
    bool all = has_mode_off(data), *off = pm_alloc_array(graph->n_nouns + 1u, sizeof *off);
    for (uint32_t i = 0; off && i < data->n_noun_modes; i++)
        off[data->noun_modes[i].noun] |= data->noun_modes[i].mode == PM_RUN_MODE_OFF;
    for (pm_index s = 0; off && s < graph->n_sentences; s++) {
        bool is_code = is_kind(graph, s, "symbol") || is_kind(graph, s, "loopcode");
        followed[s] &= !is_code || !(all || off[pm_graph_first_noun(graph, s)]);
    }
    free(off);
    return off != NULL;
}

/* [graph->n_sentences]: sleds or words tell each time that it becomes active. NULL: memory. */
static bool *find_followed(const struct pm_archive_data *data, bool is_live)
{
    const struct pm_graph *graph = data->graph;
    bool *followed = pm_alloc_array(graph->n_sentences + 1u, sizeof *followed);
    bool *has_sources = pm_alloc_array(graph->n_sentences + 1u, sizeof *has_sources);
    bool more = followed && has_sources;
    for (uint32_t m = 0; more && m < graph->n_mappings; m++)
        has_sources[graph->mappings[m].destination] = true;
    for (pm_index s = 0; more && s < graph->n_sentences; s++)
        followed[s] = is_told(graph, s, has_sources[s]);
    if (more && !is_live) /* what was off before it was asked for is on now */
        more = forget_off(data, followed);
    bool is_whole = more;
    while (more) {
        more = false;
        for (uint32_t m = 0; m < graph->n_mappings; m++) {
            pm_index from = graph->mappings[m].source, to = graph->mappings[m].destination;
            bool leads = followed[from] && !followed[to] && may_be_told(data, to);
            followed[to] |= leads;
            more |= leads;
        }
    }
    if (!is_whole) {
        free(followed);
        followed = NULL;
    }
    free(has_sources);
    return followed;
}

/* [graph->n_nouns]: of one of its sentences. NULL: memory. */
static bool *find_nouns(const struct pm_graph *graph, const bool *followed)
{
    bool *nouns = pm_alloc_array(graph->n_nouns + 1u, sizeof *nouns);
    for (pm_index s = 0; nouns && s < graph->n_sentences; s++) {
        pm_index noun = pm_graph_first_noun(graph, s);
        if (noun != PM_NONE)
            nouns[noun] |= followed[s];
    }
    return nouns;
}

/* A part of what was named is followed with it. */
static bool all_are_followed(const struct pm_graph *graph,
                             const struct pm_question_matches *matches, const bool *followed,
                             const bool *nouns)
{
    for (pm_index s = 0; s < graph->n_sentences; s++) {
        uint32_t number = matches->class_of[s];
        if (number == PM_NONE)
            continue;
        const struct pm_question_class *class = &matches->classes[number];
        if (!followed[s] && !(class->n_nouns && nouns[class->nouns[0]]))
            return false;
    }
    return true;
}

bool pm_ask_fits_any(const struct pm_graph *graph, const struct pm_question_matches *matches)
{
    for (pm_index s = 0; s < graph->n_sentences; s++)
        if (matches->class_of[s] != PM_NONE)
            return true;
    return false;
}

/* What fits is matched once for all that asks. */
static enum pm_status match_all(const struct pm_archive_data *all,
                                const struct pm_question *question, struct pm_error *err,
                                struct pm_ask_whole *whole)
{
    whole->followed = pm_alloc_array(question->n_sentences + 1u, sizeof *whole->followed);
    whole->matches = pm_alloc_array(question->n_sentences + 1u, sizeof *whole->matches);
    if (!whole->followed || !whole->matches)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    for (uint32_t i = 0; i < question->n_sentences; i++) {
        struct pm_question_matches *matches = &whole->matches[whole->n_matches++];
        enum pm_status status =
            pm_question_match(&question->sentences[i], all->graph, err, matches);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

static void find_sentences(const struct pm_archive_data *all, const struct pm_question *question,
                           const bool *followed, const bool *nouns, struct pm_ask_whole *whole)
{
    for (uint32_t i = 0; i < question->n_sentences; i++)
        whole->followed[i] = pm_ask_fits_any(all->graph, &whole->matches[i])
                                 ? all_are_followed(all->graph, &whole->matches[i], followed, nouns)
                                 : !pm_ask_is_of_data(all->graph, &question->sentences[i]);
}

enum pm_status pm_ask_find_followed(struct pm_view *view, const struct pm_question *question,
                                    bool is_live, struct pm_error *err, struct pm_ask_whole *whole)
{
    if (whole->is_found)
        return PM_OK;
    enum pm_status status = pm_ask_load_all(view, err);
    if (status != PM_OK)
        return status;
    status = match_all(view->archive, question, err, whole);
    if (status != PM_OK)
        return status;
    const struct pm_archive_data *all = view->archive;
    bool *followed = find_followed(all, is_live);
    bool *nouns = followed ? find_nouns(all->graph, followed) : NULL;
    if (nouns)
        find_sentences(all, question, followed, nouns, whole);
    else
        status = pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    if (pm_view_has_interval(view)) /* when calls were is not known */
        memset(whole->followed, 0, question->n_sentences * sizeof *whole->followed);
    whole->is_found = nouns != NULL;
    free(followed);
    free(nouns);
    return status;
}

void pm_ask_whole_release(struct pm_ask_whole *whole)
{
    for (uint32_t i = 0; i < whole->n_matches; i++)
        pm_question_matches_release(&whole->matches[i]);
    free(whole->matches);
    free(whole->followed);
    *whole = (struct pm_ask_whole){0};
}

int64_t pm_ask_n_samples(const struct pm_view *view)
{
    const struct pm_graph *graph = view->data->graph;
    int64_t n = 0;
    for (uint32_t i = 0; view->samples_metric != PM_NONE && i < graph->n_costs; i++)
        n += graph->costs[i].metric == view->samples_metric ? graph->costs[i].value : 0;
    return n;
}

/* --- the whole question --- */

struct knowing {
    const struct pm_question *question;
    const bool *followed, *active; /* per sentence: it, or something that fits it, was active */
};

/* Is the part known to be false all the time? */
static bool is_false(const struct knowing *k, uint32_t node)
{
    const struct pm_question_node *n = &k->question->nodes[node];
    switch (n->kind) {
    case PM_QUESTION_SENTENCE:
        return k->followed[n->left] && !k->active[n->left];
    case PM_QUESTION_OR:
        return is_false(k, n->left) && is_false(k, n->right);
    case PM_QUESTION_NOT:
        return false;
    default:
        return is_false(k, n->left) || is_false(k, n->right);
    }
}

/* Is it known all the time whether the part is true? */
static bool is_known(const struct knowing *k, uint32_t node)
{
    const struct pm_question_node *n = &k->question->nodes[node];
    if (n->kind == PM_QUESTION_SENTENCE)
        return k->followed[n->left];
    if (n->kind == PM_QUESTION_NOT)
        return is_known(k, n->left);
    return is_false(k, node) || (is_known(k, n->left) && is_known(k, n->right));
}

bool pm_ask_is_known(const struct pm_view *view, const struct pm_question *question,
                     const struct pm_answer *answer, const bool *followed)
{
    bool *active = pm_alloc_array(question->n_sentences + 1u, sizeof *active);
    if (!active)
        return false;
    for (uint32_t i = 0; i < question->n_sentences; i++)
        active[i] = pm_ask_fits_any(view->data->graph, &answer->matches[i]);
    const struct knowing knowing = {question, followed, active};
    bool known = is_known(&knowing, question->n_nodes - 1);
    free(active);
    return known;
}
