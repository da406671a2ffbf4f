#include "explanation.h"

#include "mapping/code/blame.h"

#include <stdlib.h>

int64_t pm_explanation_own(const struct pm_view *view, const struct pm_view_row *row)
{
    return !row ? 0 : view->n_metrics ? row->values[view->primary].own.value : row->n_calls;
}

bool pm_explanation_is_open(const struct pm_explanation *x)
{
    return (x->views->reports[PM_RULE_MERGE].data->bare[x->noun] & PM_BARE_OPEN) != 0 &&
           pm_noun_is_data(&x->views->reports[PM_RULE_MERGE].data->graph->nouns[x->noun]);
}

bool pm_explanation_row_has(const struct pm_view_row *row, uint32_t group)
{
    for (uint32_t i = 0; i < row->n_groups; i++)
        if (row->groups[i] == group)
            return true;
    return false;
}

const char *pm_explanation_name(const struct pm_view *view, pm_id id)
{
    const struct pm_graph *graph = view->data->graph;
    for (pm_index n = 0; id && n < graph->n_nouns; n++)
        if ((pm_id)graph->nouns[n].id == id)
            return graph->nouns[n].name;
    return NULL;
}

/* --- rows --- */

static const struct pm_view_row *row_of_group(const struct pm_view *view, uint32_t group,
                                              bool alone)
{
    for (uint32_t r = 0; r < view->n_rows; r++)
        if (pm_explanation_row_has(&view->rows[r], group) &&
            (!alone || view->rows[r].n_groups == 1))
            return &view->rows[r];
    return NULL;
}

/* A function is entered, called and allocates: of its sentences, the one that has a row. */
static uint32_t group_of_noun(const struct pm_view *view, pm_index noun)
{
    const struct pm_graph *graph = view->data->graph;
    uint32_t first = PM_NONE;
    for (pm_index s = 0; s < graph->n_sentences; s++) {
        uint32_t group = view->group_of[s];
        if (pm_graph_first_noun(graph, s) != noun || group == PM_NONE ||
            graph->sentences[s].n_nouns != 1 || group == first)
            continue;
        if (row_of_group(view, group, false))
            return group;
        first = first == PM_NONE ? group : first;
    }
    return first;
}

/* --- measured code --- */

static int compare_codes(const void *a_pointer, const void *b_pointer)
{
    const struct pm_explained_code *a = a_pointer, *b = b_pointer;
    if (a->own != b->own)
        return a->own < b->own ? 1 : -1;
    return (a->sentence > b->sentence) - (a->sentence < b->sentence);
}

static const struct pm_mapping *mapping_to(const struct pm_view *view, pm_index sentence,
                                           uint32_t group)
{
    const struct pm_graph *graph = view->data->graph;
    for (uint32_t e = graph->out_first[sentence]; e < graph->out_first[sentence + 1]; e++)
        if (view->group_of[graph->mappings[graph->out[e]].destination] == group &&
            !view->leaves_out[graph->out[e]])
            return &graph->mappings[graph->out[e]];
    return NULL;
}

static bool reaches(const struct pm_view *view, pm_index sentence, uint32_t group)
{
    uint32_t n;
    const uint32_t *reached = pm_lift_reached(view->lift, sentence, &n);
    for (uint32_t i = 0; i < n; i++)
        if (reached[i] == group)
            return true;
    return false;
}

/* Sentences of contexts that lead to the construct, with what they cost. */
static bool find_codes(struct pm_explanation *x)
{
    const struct pm_view *view = &x->views->reports[PM_RULE_MERGE];
    const struct pm_graph *graph = view->data->graph;
    pm_index metric = view->n_metrics ? view->metrics[view->primary] : view->calls_metric;
    uint32_t *at = pm_alloc_array(graph->n_sentences, sizeof *at); /* position + 1 */
    x->codes = pm_alloc_array(graph->n_contexts, sizeof *x->codes);
    for (uint32_t i = 0; at && x->codes && i < graph->n_costs; i++) {
        const struct pm_cost *cost = &graph->costs[i];
        pm_index sentence = graph->contexts[cost->context].sentence;
        if ((cost->metric != metric && cost->metric != view->samples_metric) ||
            !reaches(view, sentence, x->group))
            continue;
        if (!at[sentence]) {
            x->codes[x->n_codes] = (struct pm_explained_code){sentence, cost->context, 0, 0,
                                                              mapping_to(view, sentence, x->group)};
            at[sentence] = (uint32_t)++x->n_codes;
        }
        struct pm_explained_code *code = &x->codes[at[sentence] - 1];
        *(cost->metric == metric ? &code->own : &code->n_samples) += cost->value;
    }
    bool ok = at && x->codes;
    free(at);
    if (ok)
        qsort(x->codes, x->n_codes, sizeof *x->codes, compare_codes);
    return ok;
}

/* --- the late maps --- */

/* What is told of a range: where its code was inlined, and what else it implements. */
static bool says_the_same(const struct pm_code_range *a, const struct pm_code_range *b)
{
    return a->tuple == b->tuple ||
           (a->tuple->site == b->tuple->site && !a->tuple->n_also && !b->tuple->n_also);
}

static bool add_range(struct pm_explanation *x, const struct pm_late_map *map,
                      const struct pm_code_range *range, const struct pm_code_also *also)
{
    if (x->n_ranges) {
        struct pm_explained_range *last = &x->ranges[x->n_ranges - 1];
        if (last->map == map && last->range->address + last->size_bytes == range->address &&
            last->range->block == range->block && last->also == also &&
            says_the_same(last->range, range)) {
            last->size_bytes += range->size_bytes;
            return true;
        }
    }
    if (x->n_ranges == x->cap_ranges) {
        size_t cap = x->cap_ranges ? x->cap_ranges * 2 : 64;
        struct pm_explained_range *grown = pm_realloc_array(x->ranges, cap, sizeof *grown);
        if (!grown)
            return false;
        x->ranges = grown;
        x->cap_ranges = cap;
    }
    x->ranges[x->n_ranges++] = (struct pm_explained_range){range, range->size_bytes, map, also};
    return true;
}

struct target {
    pm_id id;
    pm_index noun;
    bool is_statement, is_loop, is_function, is_object;
};

static bool is_same_noun(const struct pm_view *view, pm_index a, pm_index b)
{
    const struct pm_graph_noun *nouns = view->data->graph->nouns;
    return a == b || (a != PM_NONE && nouns[a].id && nouns[a].id == nouns[b].id &&
                      nouns[a].line_no == nouns[b].line_no);
}

/* Whether the range implements the construct; *ret_also: as one of those that it implements,
 * too. */
static bool implements(const struct pm_view *view, const struct pm_late_maps *maps,
                       const struct pm_code_range *range, const struct target *target,
                       const struct pm_code_also **ret_also)
{
    const struct pm_code_tuple *tuple = range->tuple;
    *ret_also = NULL;
    if (target->is_loop)
        return tuple->loop == target->id;
    if (target->is_function)
        return (tuple->site ? tuple->site->function : range->block->function) == target->id;
    for (uint32_t i = 0; target->is_object && i < tuple->n_objects; i++)
        if (tuple->objects[i].noun == target->id)
            return true;
    if (!target->is_statement)
        return false;
    if (is_same_noun(view, pm_late_maps_statement(maps, &tuple->place), target->noun))
        return true;
    for (uint32_t i = 0; i < tuple->n_also; i++)
        if (is_same_noun(view, pm_late_maps_statement(maps, &tuple->also[i].place), target->noun)) {
            *ret_also = &tuple->also[i];
            return true;
        }
    return false;
}

static bool find_ranges(struct pm_explanation *x, const struct pm_late_maps *maps)
{
    const struct pm_view *view = &x->views->reports[PM_RULE_MERGE];
    const struct pm_graph_noun *noun = &view->data->graph->nouns[x->noun];
    struct target target = {(pm_id)noun->id,
                            x->noun,
                            pm_view_noun_is_statement(view, x->noun),
                            pm_view_noun_is_loop(view, x->noun),
                            !strcmp(noun->kind, "function"),
                            pm_view_noun_is_object(view, x->noun)};
    x->is_covered = pm_late_maps_cover(maps, x->noun);
    if (!target.id)
        return true;
    for (uint32_t b = 0; b < view->data->n_binaries; b++) {
        size_t n = 0;
        const struct pm_late_map *map = &maps->items[b];
        const struct pm_code_range *ranges = map->map ? pm_code_map_ranges(map->map, &n) : NULL;
        for (size_t i = 0; i < n; i++) {
            const struct pm_code_also *also;
            if (ranges[i].tuple->kind != PM_MAP_PADDING &&
                implements(view, maps, &ranges[i], &target, &also) &&
                !add_range(x, map, &ranges[i], also))
                return false;
        }
    }
    return true;
}

static void count_vectors(struct pm_explanation *x)
{
    const struct pm_late_map *map = NULL;
    struct pm_blame *blame = NULL;
    for (size_t i = 0; i < x->n_ranges; i++) {
        const struct pm_explained_range *range = &x->ranges[i];
        if (range->map != map) {
            map = range->map;
            pm_blame_free(blame);
            blame = pm_late_map_code(map);
        }
        if (blame)
            (void)pm_blame_visit(blame, range->range->address, range->size_bytes, pm_vectors_count,
                                 &x->vectors);
    }
    pm_blame_free(blame);
}

enum pm_status pm_explanation_collect(struct pm_explanation *x,
                                      const struct pm_explain_views *views, pm_index noun,
                                      const struct pm_late_maps *maps, struct pm_error *err)
{
    const struct pm_view *view = &views->reports[PM_RULE_MERGE];
    *x = (struct pm_explanation){.views = views, .noun = noun, .group = group_of_noun(view, noun)};
    bool ok = find_ranges(x, maps);
    if (ok && !pm_view_noun_is_object(view, noun))
        count_vectors(x);
    if (x->group != PM_NONE) {
        x->alone = row_of_group(view, x->group, true);
        x->closed = row_of_group(&views->reports[PM_RULE_CLOSED], x->group, false);
        x->split = row_of_group(&views->reports[PM_RULE_SPLIT], x->group, true);
        ok = ok && find_codes(x);
    }
    return ok ? PM_OK : pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}

void pm_explanation_release(struct pm_explanation *x)
{
    free(x->codes);
    free(x->ranges);
    *x = (struct pm_explanation){0};
}
