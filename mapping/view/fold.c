/* --fold system: code of system headers counts for what uses it. Code that was inlined counts
 * for the innermost place of the source outside of these headers; a function of theirs that was
 * instantiated and called, for the place that called it, where samples know that or the machine
 * code has only one, else for the function or loop that was active. What nothing tells of stays.
 * Mappings and contexts are redirected before anything is made of them, so all totals are as
 * without it. */
#include "groupings.h"

#include "mapping/base/names.h"

#include <stdlib.h>

enum code_state { CODE_NONE, CODE_OURS, CODE_SYSTEM };

struct folding {
    struct pm_view *view;
    struct pm_graph *graph;
    unsigned char *state; /* per sentence, enum code_state: what it maps to in the source */
    pm_index *target;     /* per sentence: what it counts for; PM_NONE: not known */
    uint32_t n_sentences; /* of both */
    pm_index *loop; /* per noun: of code, the loop of the program's own that it is in; PM_NONE */
};

static bool is_system(const struct folding *f, pm_index sentence)
{
    pm_index noun = pm_graph_first_noun(f->graph, sentence);
    return noun != PM_NONE && pm_name_is_of_system(f->graph->nouns[noun].file);
}

/* A place or a function of the source, no data. */
static bool is_source_code(const struct folding *f, pm_index sentence)
{
    pm_index noun = pm_graph_first_noun(f->graph, sentence);
    return pm_graph_sentence_level(f->graph, sentence) == f->view->level && noun != PM_NONE &&
           *f->graph->nouns[noun].file && !pm_view_noun_is_object(f->view, noun);
}

static void find_states(struct folding *f)
{
    const struct pm_graph *graph = f->graph;
    for (uint32_t m = 0; m < graph->n_mappings; m++) {
        const struct pm_mapping *mapping = &graph->mappings[m];
        if (mapping->source >= f->n_sentences || !is_source_code(f, mapping->destination))
            continue;
        unsigned char *state = &f->state[mapping->source];
        if (!is_system(f, mapping->destination))
            *state = CODE_OURS;
        else if (*state == CODE_NONE)
            *state = CODE_SYSTEM;
    }
}

/* The innermost place of a call site that lies outside of system headers. */
static pm_index outside_place(const struct folding *f, const struct pm_call_site *site)
{
    const pm_index *places = f->view->data->call_places + site->first;
    for (uint32_t i = 0; i < site->n; i++)
        if (!is_system(f, places[i]))
            return places[i];
    return PM_NONE;
}

/* The code's own noun, or that of the code that called it. */
static pm_index code_noun(const struct folding *f, pm_index sentence)
{
    const struct pm_graph_sentence *s = &f->graph->sentences[sentence];
    return s->n_nouns ? f->graph->sentence_nouns[s->first_noun + (s->n_nouns > 1)] : PM_NONE;
}

/* Where all calls of a symbol in the caller are; PM_NONE: at several places, or not known. */
static pm_index place_of_calls(const struct folding *f, pm_index callee, pm_index caller)
{
    uint32_t n;
    const struct pm_call_site *sites = pm_archive_call_sites(f->view->data, callee, &n);
    pm_index found = PM_NONE;
    for (const struct pm_call_site *site = sites; site < sites + n; site++) {
        if (site->caller != caller)
            continue;
        pm_index place = outside_place(f, site);
        if (place == PM_NONE || (found != PM_NONE && place != found))
            return PM_NONE;
        found = place;
    }
    return found;
}

/* A statement that stands in the loop's line may be in it and around it: the active loop tells
 * which. */
static bool lies_in(const struct folding *f, pm_index place, pm_index around)
{
    pm_index within = around == PM_NONE ? PM_NONE : pm_graph_first_noun(f->graph, around);
    pm_index noun = pm_graph_first_noun(f->graph, place);
    while (noun != PM_NONE && noun != within)
        noun = f->graph->nouns[noun].parent;
    return noun == within;
}

static void find_loops(struct folding *f)
{
    for (uint32_t i = 0; i < f->graph->n_nouns; i++)
        f->loop[i] = PM_NONE;
    for (uint32_t m = 0; m < f->graph->n_mappings; m++) {
        const struct pm_mapping *mapping = &f->graph->mappings[m];
        pm_index code = pm_graph_first_noun(f->graph, mapping->source),
                 to = pm_graph_first_noun(f->graph, mapping->destination);
        if (code != PM_NONE && to != PM_NONE && pm_view_noun_is(f->view, to, "loop") &&
            is_source_code(f, mapping->destination) && !is_system(f, mapping->destination) &&
            f->graph->sentences[mapping->source].n_nouns == 1)
            f->loop[code] = mapping->destination;
    }
}

/* What code that was inlined or called at the place counts for. A statement that stands in its
 * loop's line (a range-for's) is partly in it and partly around it, and its noun is around it:
 * the code tells. */
static pm_index place_of_code(const struct folding *f, pm_index code, pm_index place)
{
    pm_index loop = pm_view_is_fine(f->view) ? PM_NONE : f->loop[code];
    return place == PM_NONE || loop == PM_NONE || lies_in(f, place, loop) ? place : loop;
}

/* Called from code that had no samples itself: nothing is known of its loop, and the context tells
 * more than its place. */
static bool lacks_loop(const struct folding *f, pm_index sentence, pm_index code)
{
    return f->graph->sentences[sentence].n_nouns > 1 && f->loop[code] == PM_NONE &&
           !pm_view_is_fine(f->view);
}

/* Code that was inlined at a place of the program's own, or called from one. */
static void find_targets(struct folding *f)
{
    const struct pm_archive_data *data = f->view->data;
    for (pm_index s = 0; s < f->n_sentences; s++) {
        pm_index noun = f->state[s] == CODE_NONE ? PM_NONE : code_noun(f, s);
        uint32_t n = 0;
        const struct pm_call_site *site =
            noun == PM_NONE ? NULL : pm_archive_call_sites(data, noun, &n);
        bool is_inlined = n && site->caller == PM_NONE && !lacks_loop(f, s, noun);
        f->target[s] = is_inlined ? place_of_code(f, noun, outside_place(f, site)) : PM_NONE;
    }
    /* Beside a place of the program's own, which the code implements as well. */
    for (uint32_t m = 0; m < f->graph->n_mappings; m++) {
        const struct pm_mapping *mapping = &f->graph->mappings[m];
        if (f->state[mapping->source] == CODE_OURS && f->target[mapping->source] == PM_NONE &&
            is_source_code(f, mapping->destination) && !is_system(f, mapping->destination))
            f->target[mapping->source] = mapping->destination;
    }
}

static void redirect_mappings(struct folding *f)
{
    for (uint32_t m = 0; m < f->graph->n_mappings; m++) {
        struct pm_mapping *mapping = &f->graph->mappings[m];
        if (mapping->source < f->n_sentences && f->target[mapping->source] != PM_NONE &&
            is_source_code(f, mapping->destination) && is_system(f, mapping->destination)) {
            mapping->destination = f->target[mapping->source];
            mapping->reason = "";
        }
    }
}

/* --- functions that were called --- */

static pm_index symbol_of(const struct folding *f, pm_index context)
{
    pm_index noun = pm_graph_first_noun(f->graph, f->graph->contexts[context].sentence);
    return noun == PM_NONE ? PM_NONE : pm_graph_ancestor(f->graph, noun, "symbol");
}

/* What has a sled was entered by itself, and has a row. */
static bool has_sled(const struct folding *f, pm_index sentence, pm_index context)
{
    pm_index noun = pm_graph_first_noun(f->graph, sentence);
    return !(f->graph->contexts[context].flags & (PM_CONTEXT_SAMPLED | PM_CONTEXT_INLINED)) &&
           (pm_view_noun_is(f->view, noun, "symbol") || pm_view_noun_is(f->view, noun, "loopcode"));
}

/* The innermost context around that is code of the program's own, and the outermost function of
 * system headers below it. */
static pm_index own_context(const struct folding *f, const pm_index *sentences, pm_index context,
                            pm_index *ret_called)
{
    *ret_called = PM_NONE;
    for (pm_index at = f->graph->contexts[context].parent; at != PM_NONE;
         at = f->graph->contexts[at].parent) {
        pm_index sentence = sentences[at];
        unsigned char state = sentence < f->n_sentences ? f->state[sentence] : CODE_NONE;
        if (state == CODE_OURS || (state == CODE_SYSTEM && has_sled(f, sentence, at)))
            return at;
        pm_index noun = pm_graph_first_noun(f->graph, sentence);
        if (state == CODE_SYSTEM && pm_view_noun_is(f->view, noun, "symbol"))
            *ret_called = noun;
    }
    return PM_NONE;
}

/* What the own code around maps to: its function or loop. */
static pm_index function_around(const struct folding *f, pm_index sentence)
{
    for (uint32_t e = f->graph->out_first[sentence]; e < f->graph->out_first[sentence + 1]; e++) {
        pm_index to = f->graph->mappings[f->graph->out[e]].destination;
        if (is_source_code(f, to) && !is_system(f, to))
            return to;
    }
    return PM_NONE;
}

/* {code, what it counts for}: a sentence that maps there. */
static pm_index sentence_for(struct folding *f, pm_index sentence, pm_index target)
{
    pm_index nouns[] = {pm_graph_first_noun(f->graph, sentence),
                        pm_graph_first_noun(f->graph, target)};
    uint32_t n_before = f->graph->n_sentences;
    pm_index made = pm_graph_sentence(f->graph, f->graph->sentences[sentence].verb, nouns, 2);
    if (made != PM_NONE && made >= n_before)
        (void)pm_graph_mapping(f->graph, made, target, 0, "run");
    return made;
}

static bool fold_context(struct folding *f, const pm_index *sentences, pm_index context)
{
    pm_index sentence = sentences[context], called, place = PM_NONE,
             own = own_context(f, sentences, context, &called);
    pm_index noun = pm_graph_first_noun(f->graph, sentence);
    if (own == PM_NONE || noun == PM_NONE || has_sled(f, sentence, context))
        return true;
    if (pm_view_noun_is(f->view, noun, "symbol") || pm_view_noun_is(f->view, noun, "inline") ||
        pm_view_noun_is(f->view, noun, "loopcode")) { /* on the way only */
        f->graph->contexts[context].sentence = sentences[own];
        return true;
    }
    if (called != PM_NONE)
        place = place_of_calls(f, called, symbol_of(f, own));
    pm_index around = pm_view_is_fine(f->view) ? PM_NONE : function_around(f, sentences[own]);
    if (place == PM_NONE || (around != PM_NONE && !lies_in(f, place, around)))
        place = around;
    if (place == PM_NONE)
        return true;
    pm_index made = sentence_for(f, sentence, place);
    if (made != PM_NONE)
        f->graph->contexts[context].sentence = made;
    return made != PM_NONE;
}

static bool fold_contexts(struct folding *f)
{
    uint32_t n = f->graph->n_contexts;
    pm_index *sentences = pm_alloc_array(n + 1u, sizeof *sentences);
    bool good = sentences != NULL;
    for (pm_index c = 0; good && c < n; c++)
        sentences[c] = f->graph->contexts[c].sentence;
    for (pm_index c = 0; good && c < n; c++)
        if (f->state[sentences[c]] == CODE_SYSTEM && f->target[sentences[c]] == PM_NONE)
            good = fold_context(f, sentences, c);
    free(sentences);
    return good;
}

/* --- all of it --- */

/* Of a context: before is the sentence that it had. */
static bool is_moved(const struct folding *f, pm_index before, pm_index context)
{
    return f->state[before] == CODE_SYSTEM &&
           (f->target[before] != PM_NONE || f->graph->contexts[context].sentence != before);
}

enum pm_status pm_view_sum_folded(struct pm_view *view, struct pm_error *err)
{
    const struct pm_graph *graph = view->data->graph;
    (void)err;
    for (uint32_t i = 0; view->is_folded && view->n_metrics && i < graph->n_costs; i++) {
        const struct pm_cost *cost = &graph->costs[i];
        bool is_in = view->in_focus == NULL || view->in_focus[cost->context];
        if (is_in && cost->metric == view->metrics[view->primary] && view->is_folded[cost->context])
            view->folded_value += (double)cost->value;
    }
    return PM_OK;
}

static bool fold(struct folding *f)
{
    uint32_t n = f->graph->n_contexts;
    pm_index *sentences = pm_alloc_array(n + 1u, sizeof *sentences);
    for (uint32_t i = 0; sentences && i < f->n_sentences; i++)
        f->target[i] = PM_NONE;
    for (pm_index c = 0; sentences && c < n; c++)
        sentences[c] = f->graph->contexts[c].sentence;
    if (sentences) {
        find_states(f);
        find_loops(f);
        find_targets(f);
    }
    bool good = sentences && fold_contexts(f);
    f->view->is_folded = good ? pm_alloc_array(n + 1u, sizeof *f->view->is_folded) : NULL;
    good = f->view->is_folded != NULL;
    for (pm_index c = 0; good && c < n; c++)
        f->view->is_folded[c] = is_moved(f, sentences[c], c);
    if (good)
        redirect_mappings(f);
    free(sentences);
    return good && pm_graph_seal(f->graph);
}

enum pm_status pm_view_fold(struct pm_view *view, struct pm_error *err)
{
    const struct pm_view_options *options = &view->options;
    struct pm_graph *graph = view->data->graph;
    bool by_object = pm_view_grouping(view)->is_object;
    if (!options->folds || by_object || !pm_view_is_at_source(view) || view->level == PM_NONE)
        return PM_OK;
    struct folding f = {.view = view, .graph = graph, .n_sentences = graph->n_sentences};
    f.state = pm_alloc_array(graph->n_sentences + 1u, sizeof *f.state);
    f.target = pm_alloc_array(graph->n_sentences + 1u, sizeof *f.target);
    f.loop = pm_alloc_array(graph->n_nouns + 1u, sizeof *f.loop);
    bool good = f.state && f.target && f.loop && fold(&f);
    free(f.loop);
    free(f.state);
    free(f.target);
    return good ? PM_OK : pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}
