/* What has to be measured for a question: the code whose contexts match one of its sentences,
 * and whether samples are needed.
 *
 * Left out is a context that matches nothing: what it costs counts where it was called, and
 * there the same sentences are active. A loop is left out as well when it matches just what its
 * function does, for it runs within that: no row begins or ends there. That does not hold where
 * another loop of the function matches something else (a row would end there and begin again),
 * nor when the question has an order and the function fits several of its parts (the loop would
 * be the next of them).
 *
 * When the whole question, or each part of its `and`s, is `a then b`, what matches b and nothing
 * else matters only inside a: entering it elsewhere can make no part true. Where a is nothing
 * but code that is followed, that is a term, which the trampolines ask for.
 */
#include "question.h"

#include "../base/banned.h"

#include <stdlib.h>
#include <strings.h>

struct finding {
    const struct pm_question *question;
    const struct pm_graph *graph;
    const bool *has_probes;
    struct pm_error *err;
    struct pm_question_need *need;
    pm_index *sources; /* sentences of code */
    pm_index *code;    /* their nouns */
    uint32_t n_sources;
    uint32_t *reached;   /* [n_sources * n_sentences]: set of classes, 0 none */
    bool *by_samples;    /* per sentence: not all that fits is told by followed code */
    uint32_t *source_of; /* per noun: position in sources, PM_NONE */
    struct pm_sets sets; /* of all sentences: numbers of different sentences are not compared */
};

static bool is_kind(const struct pm_graph_noun *noun, const char *kind)
{
    return strcmp(noun->kind, kind) == 0;
}

static bool is_code(const struct finding *f, pm_index noun)
{
    const struct pm_graph_noun *n = &f->graph->nouns[noun];
    return (is_kind(n, "symbol") || is_kind(n, "loopcode")) &&
           strcmp(f->graph->levels[n->level].name, "Base") == 0;
}

static bool has_probe(const struct finding *f, pm_index noun)
{
    return !f->has_probes || f->has_probes[noun];
}

/* A context's sentence is {code Executes}. */
static bool find_sources(struct finding *f)
{
    const struct pm_graph *graph = f->graph;
    f->sources = pm_alloc_array(graph->n_sentences + 1u, sizeof *f->sources);
    f->code = pm_alloc_array(graph->n_sentences + 1u, sizeof *f->code);
    f->source_of = pm_alloc_array(graph->n_nouns + 1u, sizeof *f->source_of);
    if (!f->sources || !f->code || !f->source_of)
        return false;
    for (pm_index n = 0; n < graph->n_nouns; n++)
        f->source_of[n] = PM_NONE;
    for (pm_index s = 0; s < graph->n_sentences; s++) {
        const struct pm_graph_sentence *sentence = &graph->sentences[s];
        pm_index noun = pm_graph_first_noun(graph, s);
        if (sentence->n_nouns != 1 || !is_code(f, noun) || f->source_of[noun] != PM_NONE ||
            strcmp(graph->verbs[sentence->verb].name, "Executes") != 0)
            continue;
        f->source_of[noun] = f->n_sources;
        f->code[f->n_sources] = noun;
        f->sources[f->n_sources++] = s;
    }
    return true;
}

static uint32_t *reached_at(const struct finding *f, uint32_t source, uint32_t sentence)
{
    return &f->reached[(size_t)source * f->question->n_sentences + sentence];
}

static bool is_word_of_any(const struct pm_question_sentence *sentence)
{
    bool any = true;
    for (uint32_t i = 0; i < sentence->n_nouns; i++)
        any = any && sentence->nouns[i].any;
    return any;
}

/* Is there something that fits and that no code with probes is? Its costs are found by samples
 * alone. */
static bool is_seen_by_samples(const struct pm_question_matches *matches,
                               const struct pm_graph *graph, const bool *is_reached)
{
    for (pm_index s = 0; s < graph->n_sentences; s++)
        if (matches->class_of[s] != PM_NONE && !is_reached[matches->class_of[s]])
            return true;
    return false;
}

static enum pm_status look_at_sentence(struct finding *f, uint32_t number,
                                       const struct pm_question_matches *matches)
{
    const struct pm_graph *graph = f->graph;
    struct pm_lift_options options = {.rule = PM_RULE_MERGE,
                                      .destination_of = matches->class_of,
                                      .n_destinations = matches->n_classes + 1u};
    struct pm_lift *lift = NULL;
    bool *is_reached = pm_alloc_array(matches->n_classes + 1u, sizeof *is_reached);
    enum pm_status status =
        is_reached ? pm_lift_new(graph, &options, f->sources, f->n_sources, f->err, &lift)
                   : pm_error_set(f->err, PM_ERR_MEMORY, "out of memory");
    bool by_name = !is_word_of_any(&f->question->sentences[number]);
    if (status != PM_OK)
        goto out;
    for (uint32_t i = 0; i < f->n_sources; i++) {
        uint32_t n;
        const uint32_t *classes = pm_lift_reached(lift, f->sources[i], &n);
        uint32_t set = n ? pm_sets_add(&f->sets, classes, n) : 0;
        if (set == PM_SETS_FAILED) {
            status = pm_error_set(f->err, PM_ERR_MEMORY, "out of memory");
            goto out;
        }
        *reached_at(f, i, number) = set;
        f->need->followed[f->code[i]] |= n != 0;
        f->need->by_name[f->code[i]] |= n != 0 && by_name;
        for (uint32_t k = 0; k < n; k++)
            is_reached[classes[k]] |= has_probe(f, f->code[i]);
    }
    for (pm_index s = 0; s < graph->n_sentences; s++)
        f->need->is_known[number] |= matches->class_of[s] != PM_NONE;
    f->by_samples[number] = is_seen_by_samples(matches, graph, is_reached);
    f->need->samples |= f->by_samples[number];
out:
    pm_lift_free(lift);
    free(is_reached);
    return status;
}

static enum pm_status look_at_all(struct finding *f)
{
    for (uint32_t i = 0; i < f->question->n_sentences; i++) {
        struct pm_question_matches matches;
        enum pm_status status =
            pm_question_match(&f->question->sentences[i], f->graph, f->err, &matches);
        if (status == PM_OK)
            status = look_at_sentence(f, i, &matches);
        pm_question_matches_release(&matches);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

/* --- loops that tell nothing that their function does not tell --- */

/* The source of the symbol that a loop's code lies in; PM_NONE: not known, or it is not noticed. */
static uint32_t symbol_of(const struct finding *f, uint32_t source)
{
    pm_index noun = f->code[source];
    if (!is_kind(&f->graph->nouns[noun], "loopcode"))
        return PM_NONE;
    for (noun = f->graph->nouns[noun].parent; noun != PM_NONE; noun = f->graph->nouns[noun].parent)
        if (is_kind(&f->graph->nouns[noun], "symbol"))
            return has_probe(f, noun) ? f->source_of[noun] : PM_NONE;
    return PM_NONE;
}

static bool is_same(const struct finding *f, uint32_t a, uint32_t b)
{
    return memcmp(reached_at(f, a, 0), reached_at(f, b, 0),
                  f->question->n_sentences * sizeof *f->reached) == 0;
}

static uint32_t n_matched(const struct finding *f, uint32_t source)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->question->n_sentences; i++)
        n += *reached_at(f, source, i) != 0;
    return n;
}

static bool has_order(const struct pm_question *question)
{
    for (uint32_t i = 0; i < question->n_nodes; i++)
        if (question->nodes[i].kind == PM_QUESTION_THEN)
            return true;
    return false;
}

static enum pm_status leave_out_loops(struct finding *f)
{
    bool ordered = has_order(f->question);
    bool *is_mixed = pm_alloc_array(f->n_sources + 1u, sizeof *is_mixed); /* by symbol */
    if (!is_mixed)
        return pm_error_set(f->err, PM_ERR_MEMORY, "out of memory");
    for (uint32_t i = 0; i < f->n_sources; i++) {
        uint32_t symbol = symbol_of(f, i);
        if (symbol != PM_NONE)
            is_mixed[symbol] |= f->need->followed[f->code[i]] && !is_same(f, i, symbol);
    }
    for (uint32_t i = 0; i < f->n_sources; i++) {
        uint32_t symbol = symbol_of(f, i);
        if (symbol != PM_NONE && !is_mixed[symbol] && !(ordered && n_matched(f, symbol) > 1))
            f->need->followed[f->code[i]] = false;
    }
    free(is_mixed);
    return PM_OK;
}

/* --- what matters only inside others --- */

enum { MAX_TERMS = 8 };

/* The sentences below a node, as bits. */
static void add_sentences(const struct finding *f, uint32_t node, bool *is_in)
{
    const struct pm_question_node *n = &f->question->nodes[node];
    if (n->kind == PM_QUESTION_SENTENCE) {
        is_in[n->left] = true;
        return;
    }
    add_sentences(f, n->left, is_in);
    if (n->kind != PM_QUESTION_NOT)
        add_sentences(f, n->right, is_in);
}

/* All that the source matches is in the list. */
static bool matches_only(const struct finding *f, uint32_t source, const bool *is_in)
{
    bool any = false;
    for (uint32_t i = 0; i < f->question->n_sentences; i++) {
        bool matches = *reached_at(f, source, i) != 0;
        any |= matches;
        if (matches && !is_in[i])
            return false;
    }
    return any;
}

static bool matches_some(const struct finding *f, uint32_t source, const bool *is_in)
{
    bool any = false;
    for (uint32_t i = 0; i < f->question->n_sentences; i++)
        any |= is_in[i] && *reached_at(f, source, i) != 0;
    return any;
}

/* Is what fits the sentences told by followed code alone? */
static bool is_told_by_code(const struct finding *f, const bool *is_in)
{
    for (uint32_t i = 0; i < f->question->n_sentences; i++)
        if (is_in[i] && f->by_samples[i])
            return false;
    return true;
}

/* `first then last`, at the node. */
static enum pm_status add_term(struct finding *f, uint32_t node, uint32_t *n_terms)
{
    const struct pm_question_node *n = &f->question->nodes[node];
    const struct pm_question_node *left = &f->question->nodes[n->left];
    bool *first = pm_alloc_array(2 * (f->question->n_sentences + 1u), sizeof *first);
    if (!first)
        return pm_error_set(f->err, PM_ERR_MEMORY, "out of memory");
    bool *last = first + f->question->n_sentences + 1u;
    add_sentences(f, left->kind == PM_QUESTION_THEN ? left->right : n->left, first);
    add_sentences(f, n->right, last);
    if (*n_terms < MAX_TERMS && is_told_by_code(f, first)) {
        uint8_t bit = (uint8_t)(1u << (*n_terms)++);
        for (uint32_t i = 0; i < f->n_sources; i++) {
            if (matches_some(f, i, first))
                f->need->terms[f->code[i]] |= bit;
            else if (matches_only(f, i, last))
                f->need->inside[f->code[i]] |= bit;
        }
    }
    free(first);
    return PM_OK;
}

/* The parts of `and`s, and within them the orders. */
static enum pm_status find_terms(struct finding *f, uint32_t node, uint32_t *n_terms)
{
    const struct pm_question_node *n = &f->question->nodes[node];
    if (n->kind != PM_QUESTION_AND && n->kind != PM_QUESTION_THEN)
        return PM_OK;
    enum pm_status status =
        n->kind == PM_QUESTION_THEN ? add_term(f, node, n_terms) : find_terms(f, n->right, n_terms);
    return status != PM_OK ? status : find_terms(f, n->left, n_terms);
}

/* --- the whole --- */

static enum pm_status find(struct finding *f)
{
    struct pm_question_need *need = f->need;
    size_t n_nouns = f->graph->n_nouns + 1u;
    need->followed = pm_alloc_array(n_nouns, sizeof *need->followed);
    need->by_name = pm_alloc_array(n_nouns, sizeof *need->by_name);
    need->is_known = pm_alloc_array(f->question->n_sentences + 1u, sizeof *need->is_known);
    need->terms = pm_alloc_array(n_nouns, sizeof *need->terms);
    need->inside = pm_alloc_array(n_nouns, sizeof *need->inside);
    f->by_samples = pm_alloc_array(f->question->n_sentences + 1u, sizeof *f->by_samples);
    bool good = need->followed && need->by_name && need->is_known && need->terms && need->inside &&
                f->by_samples && find_sources(f);
    if (good)
        f->reached = pm_alloc_array((f->n_sources + 1u) * (size_t)f->question->n_sentences,
                                    sizeof *f->reached);
    if (!good || !f->reached)
        return pm_error_set(f->err, PM_ERR_MEMORY, "out of memory");
    enum pm_status status = look_at_all(f);
    if (status != PM_OK)
        return status;
    uint32_t n_terms = 0;
    status = find_terms(f, f->question->n_nodes - 1, &n_terms);
    if (status != PM_OK)
        return status;
    status = leave_out_loops(f);
    if (status != PM_OK)
        return status;
    for (uint32_t i = 0; i < f->n_sources; i++) {
        pm_index noun = f->code[i];
        need->followed[noun] &= has_probe(f, noun);
        need->n_followed += need->followed[noun];
        need->n_inside += need->followed[noun] && need->inside[noun];
    }
    return PM_OK;
}

enum pm_status pm_question_find_need(const struct pm_question *question,
                                     const struct pm_graph *graph, const bool *has_probes,
                                     struct pm_error *err, struct pm_question_need *ret_need)
{
    struct pm_question_need need = {0};
    struct finding f = {
        .question = question, .graph = graph, .has_probes = has_probes, .err = err, .need = &need};
    enum pm_status status =
        pm_sets_init(&f.sets) ? find(&f) : pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    pm_sets_release(&f.sets);
    free(f.sources);
    free(f.code);
    free(f.source_of);
    free(f.reached);
    free(f.by_samples);
    if (status != PM_OK) {
        pm_question_need_release(&need);
        return status;
    }
    *ret_need = need;
    return PM_OK;
}

void pm_question_need_release(struct pm_question_need *need)
{
    free(need->followed);
    free(need->by_name);
    free(need->is_known);
    free(need->terms);
    free(need->inside);
    *need = (struct pm_question_need){0};
}
