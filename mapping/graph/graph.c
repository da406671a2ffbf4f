#include "graph.h"
#include "mapping/base/cxx_name.h"

#include "../base/arena.h"
#include "../base/str.h"
#include "index_map.h"

#include <math.h>
#include <stdlib.h>

struct pm_graph_private {
    struct pm_intern *strings;
    uint32_t cap_levels, cap_nouns, cap_verbs, cap_sentences, cap_sentence_nouns, cap_mappings,
        cap_contexts, cap_metrics, cap_costs;
};

/* Room for one more item in *array; false when memory ends. Doubles, so that additions cost
 * constant time. */
static bool make_room(struct pm_graph *graph, void *array_pointer, uint32_t n, uint32_t *cap,
                      size_t item_bytes)
{
    if (n < *cap)
        return true;
    void **array = array_pointer;
    uint32_t larger = *cap ? *cap * 2 : 64;
    void *grown = *cap < PM_NONE / 4 ? pm_realloc_array(*array, larger, item_bytes) : NULL;
    if (!grown) {
        graph->failed = true;
        return false;
    }
    *array = grown;
    *cap = larger;
    return true;
}

#define ROOM(graph, name)                                                          \
    make_room(graph, &(graph)->name, (graph)->n_##name, &(graph)->own->cap_##name, \
              sizeof *(graph)->name)

static const char *keep(struct pm_graph *graph, const char *text)
{
    if (!text || !*text)
        return "";
    const char *copy = pm_intern_add(graph->own->strings, text, strlen(text));
    if (!copy)
        graph->failed = true;
    return copy ? copy : "";
}

struct pm_graph *pm_graph_new(void)
{
    struct pm_graph *graph = pm_alloc(sizeof *graph);
    if (!graph)
        return NULL;
    graph->own = pm_alloc(sizeof *graph->own);
    if (graph->own)
        graph->own->strings = pm_intern_new();
    if (!graph->own || !graph->own->strings) {
        pm_graph_free(graph);
        return NULL;
    }
    return graph;
}

void pm_graph_free(struct pm_graph *graph)
{
    if (!graph)
        return;
    if (graph->own)
        pm_intern_free(graph->own->strings);
    void *arrays[] = {
        graph->levels,   graph->nouns,    graph->verbs,   graph->sentences, graph->sentence_nouns,
        graph->mappings, graph->contexts, graph->metrics, graph->costs,     graph->out_first,
        graph->out,      graph->in_first, graph->in,      graph->own};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    free(graph);
}

/* For n items of which each may be NULL only where there are none. */
static void *copy_array(const void *items, uint32_t n, size_t item_bytes, bool *ok)
{
    void *copy = pm_alloc_array(n + 1u, item_bytes);
    *ok &= copy != NULL;
    if (copy && n)
        memcpy(copy, items, n * item_bytes);
    return copy;
}

#define COPY(name, n) copy->name = copy_array(graph->name, n, sizeof *graph->name, &ok)

struct pm_graph *pm_graph_copy(const struct pm_graph *graph)
{
    struct pm_graph *copy = pm_graph_new();
    if (!copy)
        return NULL;
    bool ok = true;
    struct pm_graph_private *own = copy->own;
    *copy = *graph;
    copy->own = own;
    COPY(levels, graph->n_levels);
    COPY(nouns, graph->n_nouns);
    COPY(verbs, graph->n_verbs);
    COPY(sentences, graph->n_sentences);
    COPY(sentence_nouns, graph->n_sentence_nouns);
    COPY(mappings, graph->n_mappings);
    COPY(contexts, graph->n_contexts);
    COPY(metrics, graph->n_metrics);
    COPY(costs, graph->n_costs);
    COPY(out_first, graph->n_sentences + 1u);
    COPY(in_first, graph->n_sentences + 1u);
    COPY(out, graph->n_mappings);
    COPY(in, graph->n_mappings);
    own->cap_levels = graph->n_levels;
    own->cap_nouns = graph->n_nouns;
    own->cap_verbs = graph->n_verbs;
    own->cap_sentences = graph->n_sentences;
    own->cap_sentence_nouns = graph->n_sentence_nouns;
    own->cap_mappings = graph->n_mappings;
    own->cap_contexts = graph->n_contexts;
    own->cap_metrics = graph->n_metrics;
    own->cap_costs = graph->n_costs;
    if (ok)
        return copy;
    pm_graph_free(copy);
    return NULL;
}

pm_index pm_graph_find_level(const struct pm_graph *graph, const char *name)
{
    for (pm_index i = 0; i < graph->n_levels; i++)
        if (!strcmp(graph->levels[i].name, name))
            return i;
    return PM_NONE;
}

pm_index pm_graph_level(struct pm_graph *graph, const char *name)
{
    pm_index found = pm_graph_find_level(graph, name);
    if (found != PM_NONE)
        return found;
    if (!ROOM(graph, levels))
        return PM_NONE;
    graph->levels[graph->n_levels] = (struct pm_graph_level){keep(graph, name), PM_NONE};
    return graph->n_levels++;
}

pm_index pm_graph_noun(struct pm_graph *graph, const struct pm_graph_noun *noun)
{
    PM_ASSERT(noun->level < graph->n_levels);
    PM_ASSERT(noun->parent == PM_NONE || noun->parent < graph->n_nouns);
    if (!ROOM(graph, nouns))
        return PM_NONE;
    struct pm_graph_noun *copy = &graph->nouns[graph->n_nouns];
    *copy = *noun;
    copy->name = keep(graph, noun->name);
    copy->kind = keep(graph, noun->kind);
    copy->linkage = keep(graph, noun->linkage);
    copy->file = keep(graph, noun->file);
    copy->type = keep(graph, noun->type);
    copy->binary = keep(graph, noun->binary);
    return graph->n_nouns++;
}

bool pm_graph_set_parent(struct pm_graph *graph, pm_index noun, pm_index parent)
{
    PM_ASSERT(noun < graph->n_nouns && (parent == PM_NONE || parent < graph->n_nouns));
    for (pm_index up = parent; up != PM_NONE; up = graph->nouns[up].parent)
        if (up == noun)
            return false;
    graph->nouns[noun].parent = parent;
    return true;
}

pm_index pm_graph_verb(struct pm_graph *graph, const char *name, pm_index level)
{
    PM_ASSERT(level < graph->n_levels);
    if (!ROOM(graph, verbs))
        return PM_NONE;
    graph->verbs[graph->n_verbs] = (struct pm_graph_verb){keep(graph, name), level};
    return graph->n_verbs++;
}

pm_index pm_graph_sentence(struct pm_graph *graph, pm_index verb, const pm_index *nouns,
                           uint32_t n_nouns)
{
    PM_ASSERT(verb < graph->n_verbs);
    if (!ROOM(graph, sentences))
        return PM_NONE;
    uint32_t first = graph->n_sentence_nouns;
    for (uint32_t i = 0; i < n_nouns; i++) {
        PM_ASSERT(nouns[i] < graph->n_nouns);
        if (!ROOM(graph, sentence_nouns)) {
            graph->n_sentence_nouns = first;
            return PM_NONE;
        }
        graph->sentence_nouns[graph->n_sentence_nouns++] = nouns[i];
    }
    graph->sentences[graph->n_sentences] = (struct pm_graph_sentence){verb, first, n_nouns};
    return graph->n_sentences++;
}

pm_index pm_graph_mapping(struct pm_graph *graph, pm_index source, pm_index destination,
                          double weight, const char *origin)
{
    PM_ASSERT(source < graph->n_sentences && destination < graph->n_sentences);
    if (!ROOM(graph, mappings))
        return PM_NONE;
    if (!(weight > 0) || !isfinite(weight))
        weight = 0;
    graph->mappings[graph->n_mappings] =
        (struct pm_mapping){source, destination, weight, keep(graph, origin), ""};
    return graph->n_mappings++;
}

void pm_graph_set_reason(struct pm_graph *graph, pm_index mapping, const char *reason)
{
    PM_ASSERT(mapping < graph->n_mappings);
    graph->mappings[mapping].reason = keep(graph, reason);
}

pm_index pm_graph_context(struct pm_graph *graph, pm_index parent, pm_index sentence,
                          uint32_t flags)
{
    PM_ASSERT(parent == PM_NONE || parent < graph->n_contexts);
    PM_ASSERT(sentence < graph->n_sentences);
    if (!ROOM(graph, contexts))
        return PM_NONE;
    graph->contexts[graph->n_contexts] = (struct pm_context){parent, sentence, flags, PM_NONE};
    return graph->n_contexts++;
}

void pm_graph_set_cause(struct pm_graph *graph, pm_index context, pm_index cause)
{
    graph->contexts[context].cause = cause;
}

pm_index pm_graph_metric(struct pm_graph *graph, const struct pm_graph_metric *metric)
{
    if (!ROOM(graph, metrics))
        return PM_NONE;
    graph->metrics[graph->n_metrics] = (struct pm_graph_metric){
        .name = keep(graph, metric->name),
        .unit = keep(graph, metric->unit),
        .kind = keep(graph, metric->kind),
        .description = keep(graph, metric->description),
        .aggregation = metric->aggregation,
    };
    return graph->n_metrics++;
}

pm_index pm_graph_find_metric(const struct pm_graph *graph, const char *name)
{
    for (pm_index i = 0; i < graph->n_metrics; i++)
        if (!strcmp(graph->metrics[i].name, name))
            return i;
    return PM_NONE;
}

void pm_graph_cost(struct pm_graph *graph, const struct pm_cost *cost)
{
    PM_ASSERT(cost->context < graph->n_contexts && cost->metric < graph->n_metrics);
    if (ROOM(graph, costs))
        graph->costs[graph->n_costs++] = *cost;
}

void pm_graph_take_costs(struct pm_graph *graph, struct pm_cost *costs, uint32_t n)
{
    free(graph->costs);
    graph->costs = costs;
    graph->n_costs = graph->own->cap_costs = n;
}

/* Edge lists by one counting sort: for each sentence the mappings that leave it (or, by
 * destination, that enter it), in the order of their addition. */
static bool index_edges(const struct pm_graph *graph, bool by_destination, uint32_t **first_pointer,
                        uint32_t **list_pointer)
{
    free(*first_pointer);
    free(*list_pointer);
    uint32_t *first = *first_pointer =
        pm_alloc_array((size_t)graph->n_sentences + 2, sizeof *first);
    uint32_t *list = *list_pointer = pm_alloc_array(graph->n_mappings, sizeof *list);
    if (!first || !list)
        return false;
    for (uint32_t i = 0; i < graph->n_mappings; i++) {
        const struct pm_mapping *m = &graph->mappings[i];
        first[(by_destination ? m->destination : m->source) + 2]++;
    }
    for (uint32_t s = 0; s < graph->n_sentences; s++)
        first[s + 2] += first[s + 1];
    for (uint32_t i = 0; i < graph->n_mappings; i++) {
        const struct pm_mapping *m = &graph->mappings[i];
        list[first[(by_destination ? m->destination : m->source) + 1]++] = i;
    }
    return true;
}

static bool is_of_kind(const struct pm_graph *graph, pm_index noun, const char *kind)
{
    return noun != PM_NONE && strcmp(graph->nouns[noun].kind, kind) == 0;
}

bool pm_graph_add_outer(struct pm_graph *graph, const char *kind)
{
    struct pm_index_map known = {0}; /* by verb and noun */
    bool ok = true;
    for (pm_index s = 0; ok && s < graph->n_sentences; s++) {
        pm_index noun = pm_graph_first_noun(graph, s), verb = graph->sentences[s].verb;
        if (graph->sentences[s].n_nouns == 1 && is_of_kind(graph, noun, kind))
            ok = pm_index_map_add(&known, (int64_t)verb << 32 | noun, s) || !known.out_of_memory;
    }
    for (pm_index s = 0; ok && s < graph->n_sentences; s++) { /* those that are added, too */
        pm_index noun = pm_graph_first_noun(graph, s), verb = graph->sentences[s].verb;
        if (graph->sentences[s].n_nouns != 1 || !is_of_kind(graph, noun, kind))
            continue;
        pm_index outer = graph->nouns[noun].parent;
        if (!is_of_kind(graph, outer, kind) ||
            pm_index_map_get(&known, (int64_t)verb << 32 | outer) != PM_NONE)
            continue;
        pm_index added = pm_graph_sentence(graph, verb, &outer, 1);
        ok = added != PM_NONE && pm_index_map_add(&known, (int64_t)verb << 32 | outer, added);
    }
    pm_index_map_release(&known);
    return ok;
}

bool pm_graph_seal(struct pm_graph *graph)
{
    return !graph->failed && index_edges(graph, false, &graph->out_first, &graph->out) &&
           index_edges(graph, true, &graph->in_first, &graph->in);
}

pm_index pm_graph_ancestor(const struct pm_graph *graph, pm_index noun, const char *kind)
{
    while (noun != PM_NONE && strcmp(graph->nouns[noun].kind, kind) != 0)
        noun = graph->nouns[noun].parent;
    return noun;
}

/* --- kinds --- */

static bool is_one_of(const char *kind, const char *const *kinds)
{
    for (; *kinds; kinds++)
        if (!strcmp(kind, *kinds))
            return true;
    return false;
}

bool pm_noun_is_data(const struct pm_graph_noun *noun)
{
    static const char *const kinds[] = {"array", "variable", "field", "block", "heap", NULL};
    return is_one_of(noun->kind, kinds);
}

bool pm_noun_is_array(const struct pm_graph_noun *noun)
{
    static const char *const kinds[] = {"array", "block", "heap", NULL};
    return is_one_of(noun->kind, kinds) ||
           (pm_noun_is_data(noun) &&
            (pm_cxx_type_has(noun->type, "*[&") || strstr(noun->type, "allocatable")));
}

/* "" of what is no symbol. */
static const char *symbol_of(const struct pm_graph *graph, pm_index context)
{
    pm_index noun = pm_graph_first_noun(graph, graph->contexts[context].sentence);
    return noun != PM_NONE && !strcmp(graph->nouns[noun].kind, "symbol") ? graph->nouns[noun].name
                                                                         : "";
}

/* "sweep/heat.f90:42 rest" */
static bool is_loop_rest(const struct pm_graph *graph, pm_index context)
{
    pm_index noun = pm_graph_first_noun(graph, graph->contexts[context].sentence);
    return noun != PM_NONE && !strcmp(graph->nouns[noun].kind, "loopcode") &&
           pm_str_ends_with(graph->nouns[noun].name, " rest");
}

bool pm_graph_continues_call(const struct pm_graph *graph, pm_index context)
{
    if (graph->contexts[context].flags & PM_CONTEXT_CONTINUED || is_loop_rest(graph, context))
        return true;
    const char *symbol = symbol_of(graph, context);
    pm_index parent = graph->contexts[context].parent;
    return strstr(symbol, ".part.") || (!strncmp(symbol, "_Z", 2) && parent != PM_NONE &&
                                        pm_cxx_is_lower_body(symbol, symbol_of(graph, parent)));
}
