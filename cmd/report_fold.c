/* --fold system: code of system headers counts for what uses it. Code that was inlined counts for the innermost place of the source outside of
 * these headers; a function of theirs that was instantiated and called, for the place that calls it where the machine code has only one, else for
 * the function or loop that was active. What nothing tells of stays. Mappings and contexts are redirected before anything is made of them, so all
 * totals are as without it. */
#include "report.h"

#include <stdlib.h>

enum code_state { CODE_NONE, CODE_OURS, CODE_SYSTEM };

struct folding {
    struct report *report;
    struct pm_graph *graph;
    unsigned char *state; /* per sentence, enum code_state: what it maps to in the source */
    pm_index *target;     /* per sentence: what it counts for; PM_NONE: not known */
    uint32_t n_sentences; /* of both */
};

bool report_is_system_file(const char *file)
{
    static const char *const starts[] = {"/usr/include/", "/usr/local/include/", "/usr/lib/gcc/",
                                         "/usr/lib/llvm"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (!strncmp(file, starts[i], strlen(starts[i])))
            return true;
    return strstr(file, "/include/c++/") || strstr(file, "/lib/gcc/");
}

static bool is_system(const struct folding *f, pm_index sentence)
{
    pm_index noun = pm_graph_first_noun(f->graph, sentence);
    return noun != PM_NONE && report_is_system_file(f->graph->nouns[noun].file);
}

/* A place or a function of the source, no data. */
static bool is_source_code(const struct folding *f, pm_index sentence)
{
    pm_index noun = pm_graph_first_noun(f->graph, sentence);
    return pm_graph_sentence_level(f->graph, sentence) == f->report->level && noun != PM_NONE &&
           *f->graph->nouns[noun].file && !report_noun_is_object(f->report, noun);
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
    const pm_index *places = f->report->data->call_places + site->first;
    for (uint32_t i = 0; i < site->n; i++)
        if (!is_system(f, places[i]))
            return places[i];
    return PM_NONE;
}

/* The code's own noun, or that of the code that called it. */
static pm_index code_noun(const struct folding *f, pm_index sentence)
{
    const struct pm_sentence *s = &f->graph->sentences[sentence];
    return s->n_nouns ? f->graph->sentence_nouns[s->first_noun + (s->n_nouns > 1)] : PM_NONE;
}

/* Where all calls of a symbol in the caller are; PM_NONE: at several places, or not known. */
static pm_index place_of_calls(const struct folding *f, pm_index callee, pm_index caller)
{
    uint32_t n;
    const struct pm_call_site *sites = pm_archive_call_sites(f->report->data, callee, &n);
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

/* Code that was inlined at a place of the program's own. */
static void find_targets(struct folding *f)
{
    const struct pm_archive_data *data = f->report->data;
    for (pm_index s = 0; s < f->n_sentences; s++) {
        pm_index noun = f->state[s] == CODE_NONE ? PM_NONE : code_noun(f, s);
        uint32_t n = 0;
        const struct pm_call_site *site =
            noun == PM_NONE ? NULL : pm_archive_call_sites(data, noun, &n);
        bool is_inlined = n && site->caller == PM_NONE;
        f->target[s] = is_inlined ? outside_place(f, site) : PM_NONE;
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
           (report_noun_is(f->report, noun, "symbol") ||
            report_noun_is(f->report, noun, "loopcode"));
}

/* The innermost context around that is code of the program's own, and the outermost function of system headers below it. */
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
        if (state == CODE_SYSTEM && report_noun_is(f->report, noun, "symbol"))
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
    if (report_noun_is(f->report, noun, "symbol") || report_noun_is(f->report, noun, "inline") ||
        report_noun_is(f->report, noun, "loopcode")) { /* on the way only */
        f->graph->contexts[context].sentence = sentences[own];
        return true;
    }
    if (called != PM_NONE)
        place = place_of_calls(f, called, symbol_of(f, own));
    if (place == PM_NONE && !report_is_fine(f->report))
        place = function_around(f, sentences[own]);
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

static double cost_of_system(const struct folding *f, const pm_index *sentences)
{
    const struct report *report = f->report;
    double sum = 0;
    for (uint32_t i = 0; i < f->graph->n_costs; i++) {
        const struct pm_cost *cost = &f->graph->costs[i];
        pm_index before = sentences[cost->context];
        bool is_moved =
            f->state[before] == CODE_SYSTEM &&
            (f->target[before] != PM_NONE || f->graph->contexts[cost->context].sentence != before);
        bool is_in = report->in_focus == NULL || report->in_focus[cost->context];
        if (is_in && report->n_metrics && cost->metric == report->metrics[report->primary] &&
            is_moved)
            sum += (double)cost->value;
    }
    return sum;
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
        find_targets(f);
    }
    bool good = sentences && fold_contexts(f);
    if (good) {
        f->report->folded_value = cost_of_system(f, sentences);
        redirect_mappings(f);
    }
    free(sentences);
    return good && pm_graph_seal(f->graph);
}

enum pm_status report_fold(struct report *report, struct pm_error *err)
{
    const struct report_options *options = &report->options;
    struct pm_graph *graph = report->data->graph;
    bool by_object = options->by == REPORT_BY_ARRAY || options->by == REPORT_BY_VARIABLE;
    if (!options->folds || options->tree || by_object || !report_is_at_source(report) ||
        report->level == PM_NONE)
        return PM_OK;
    struct folding f = {.report = report, .graph = graph, .n_sentences = graph->n_sentences};
    f.state = pm_alloc_array(graph->n_sentences + 1u, sizeof *f.state);
    f.target = pm_alloc_array(graph->n_sentences + 1u, sizeof *f.target);
    bool good = f.state && f.target && fold(&f);
    free(f.state);
    free(f.target);
    return good ? PM_OK : pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}
