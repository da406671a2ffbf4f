/* Marks of rows: why several constructs are one, what was inlined, where calls were not counted
 * to the end. */
#include "view.h"

#include <stdlib.h>

/* A reason is certain when anything states it as certain. */
static void add_reason(struct pm_view_traits *traits, const char *reason, bool is_inferred)
{
    for (int i = 0; i < PM_VIEW_MAX_REASONS; i++) {
        if (!traits->reasons[i]) {
            traits->reasons[i] = reason;
            traits->is_inferred[i] = is_inferred;
            return;
        }
        if (!strcmp(traits->reasons[i], reason)) {
            traits->is_inferred[i] &= is_inferred;
            return;
        }
    }
}

/* The reasons on the ways that start at a measured sentence. Nearly all are on its own mappings;
 * those of one step more are looked at, too. */
static void add_reasons(const struct pm_view *view, pm_index sentence,
                        struct pm_view_traits *traits)
{
    const struct pm_graph *graph = view->data->graph;
    for (uint32_t e = graph->out_first[sentence]; e < graph->out_first[sentence + 1]; e++) {
        const struct pm_mapping *m = &graph->mappings[graph->out[e]];
        pm_index next = m->destination;
        if (view->leaves_out[graph->out[e]])
            continue;
        if (*m->reason)
            add_reason(traits, m->reason, !strcmp(m->origin, "inferred"));
        for (uint32_t k = graph->out_first[next];
             view->group_of[next] == PM_NONE && k < graph->out_first[next + 1]; k++) {
            const struct pm_mapping *second = &graph->mappings[graph->out[k]];
            if (*second->reason && !view->leaves_out[graph->out[k]])
                add_reason(traits, second->reason, !strcmp(second->origin, "inferred"));
        }
    }
}

struct counts {
    uint32_t n, n_inlined, n_sampled; /* contexts; inlined: of those that are not mere addresses */
    uint32_t n_named;
    uint32_t n_untimed;
    uint32_t n_entered, n_called; /* by their sleds; of these, those that are no entries of loops */
};

static bool is_address(const struct pm_view *view, pm_index sentence)
{
    pm_index noun = pm_graph_first_noun(view->data->graph, sentence);
    return noun != PM_NONE && pm_view_noun_is_machine_code(view, noun);
}

static void count_context(const struct pm_view *view, pm_index context, struct counts *counts)
{
    const struct pm_context *c = &view->data->graph->contexts[context];
    counts->n++;
    counts->n_sampled += (c->flags & PM_CONTEXT_SAMPLED) != 0;
    if (is_address(view, c->sentence)) {
        counts->n_untimed++;
        return;
    }
    counts->n_named++;
    bool is_entered = !(c->flags & (PM_CONTEXT_INLINED | PM_CONTEXT_SAMPLED));
    counts->n_entered += is_entered;
    counts->n_called += is_entered && !pm_view_counts_as_entries(view, c->sentence) &&
                        !pm_view_is_of_statement(view, context);
    counts->n_inlined += (c->flags & PM_CONTEXT_INLINED) != 0;
    counts->n_untimed += pm_view_is_untimed(view, context);
}

/* Calls that are not counted, or without their callers. */
enum { LACKS_CALLS = 1, LACKS_CALLERS = 2 };

static unsigned lacks_of(enum pm_run_mode mode)
{
    if (mode == PM_RUN_MODE_OFF)
        return LACKS_CALLS;
    return mode == PM_RUN_MODE_COUNT ? LACKS_CALLERS : 0;
}

/* [graph->n_sentences]: what calls of the sentence lack; to be freed. */
static unsigned char *find_disarmed(const struct pm_view *view)
{
    const struct pm_archive_data *data = view->data;
    const struct pm_graph *graph = data->graph;
    unsigned char *of_noun = pm_alloc_array(graph->n_nouns, sizeof *of_noun),
                  *of_sentence = pm_alloc_array(graph->n_sentences, sizeof *of_sentence);
    for (uint32_t i = 0; of_noun && i < data->n_noun_modes; i++)
        of_noun[data->noun_modes[i].noun] |= lacks_of(data->noun_modes[i].mode);
    for (pm_index s = 0; of_noun && of_sentence && s < graph->n_sentences; s++) {
        pm_index noun = pm_graph_first_noun(graph, s);
        of_sentence[s] = noun != PM_NONE ? of_noun[noun] : 0;
    }
    free(of_noun);
    if (!of_noun) {
        free(of_sentence);
        return NULL;
    }
    return of_sentence;
}

bool pm_view_is_left_by_jump(const struct pm_view *view, pm_index context)
{
    const struct pm_graph *graph = view->data->graph;
    pm_index noun = pm_graph_first_noun(graph, graph->contexts[context].sentence);
    return noun != PM_NONE && graph->contexts[context].parent != PM_NONE &&
           view->data->bare[noun] & PM_BARE_JUMPS;
}

static void mark_caller(struct pm_view *view, pm_index context)
{
    const struct pm_graph *graph = view->data->graph;
    const struct pm_lift *lift = view->lift;
    if (!pm_view_is_left_by_jump(view, context))
        return;
    pm_index caller = graph->contexts[context].parent;
    uint32_t class = lift->class_of[graph->contexts[caller].sentence];
    for (uint32_t k = lift->class_first[class]; k < lift->class_first[class + 1]; k++)
        view->traits[lift->parts[k].row].has_others_time = true;
}

static void mark_calls(struct pm_view_traits *traits, unsigned lacks)
{
    traits->calls_are_at_least |= (lacks & LACKS_CALLS) != 0;
    traits->calls_lack_callers |= (lacks & LACKS_CALLERS) != 0;
}

static void mark_rows(struct pm_view *view, struct counts *counts, const unsigned char *disarmed)
{
    const struct pm_graph *graph = view->data->graph;
    const struct pm_lift *lift = view->lift;
    for (pm_index c = 0; c < graph->n_contexts; c++) {
        pm_index sentence = graph->contexts[c].sentence;
        uint32_t class = lift->class_of[sentence];
        mark_caller(view, c);
        for (uint32_t k = lift->class_first[class]; k < lift->class_first[class + 1]; k++) {
            uint32_t row = lift->parts[k].row;
            struct pm_view_traits *traits = &view->traits[row];
            count_context(view, c, &counts[row]);
            mark_calls(traits, disarmed[sentence]);
            traits->own_lacks_samples |= pm_view_lacks_samples(view, c, false);
            traits->inclusive_lacks_samples |= pm_view_lacks_samples(view, c, true);
            traits->own_lacks_counts |= (uint8_t)pm_view_lacks_counts(view, c, false);
            traits->inclusive_lacks_counts |= (uint8_t)pm_view_lacks_counts(view, c, true);
            pm_view_mark_partial(view, pm_graph_first_noun(graph, sentence), traits);
            if (lift->rows[row].n_destinations > 1 && view->in_focus[c])
                add_reasons(view, sentence, traits);
        }
    }
    for (uint32_t r = 0; r < lift->n_rows; r++) {
        view->traits[r].is_inlined = counts[r].n_named && counts[r].n_inlined == counts[r].n_named;
        view->traits[r].calls_are_unknown = counts[r].n && !counts[r].n_called;
        /* A function that was inlined, of which only loops have sleds. */
        bool is_copy = !counts[r].n_called && counts[r].n_entered;
        view->traits[r].calls_are_at_least |= is_copy;
        view->traits[r].times_are_at_least |= is_copy;
        view->traits[r].is_untimed = counts[r].n && counts[r].n_untimed == counts[r].n;
        view->traits[r].is_sampled = counts[r].n && counts[r].n_sampled == counts[r].n;
    }
}

/* A construct whose code was not followed at all has no context that says so. */
static bool mark_groups(struct pm_view *view, const unsigned char *disarmed)
{
    const struct pm_graph *graph = view->data->graph;
    const struct pm_lift *lift = view->lift;
    struct pm_view_traits *of_group = pm_alloc_array(view->n_groups + 1u, sizeof *of_group);
    for (pm_index s = 0; of_group && s < graph->n_sentences; s++) {
        struct pm_view_traits marks = {0};
        pm_view_mark_partial(view, pm_graph_first_noun(graph, s), &marks);
        if (!disarmed[s] && !marks.costs_are_at_least)
            continue;
        for (uint32_t e = graph->out_first[s]; e <= graph->out_first[s + 1]; e++) {
            bool itself = e == graph->out_first[s + 1];
            pm_index to = itself ? s : graph->mappings[graph->out[e]].destination;
            uint32_t group = view->group_of[to];
            if (group == PM_NONE)
                continue;
            mark_calls(&of_group[group], disarmed[s]);
            of_group[group].costs_are_at_least |= marks.costs_are_at_least;
        }
    }
    for (uint32_t r = 0; of_group && r < lift->n_rows; r++)
        for (uint32_t i = 0; i < lift->rows[r].n_destinations; i++) {
            const struct pm_view_traits *marks =
                &of_group[lift->destinations[lift->rows[r].first_destination + i]];
            view->traits[r].calls_are_at_least |= marks->calls_are_at_least;
            view->traits[r].calls_lack_callers |= marks->calls_lack_callers;
            view->traits[r].costs_are_at_least |= marks->costs_are_at_least;
        }
    bool ok = of_group != NULL;
    free(of_group);
    return ok;
}

static void mark_bare_row(struct pm_view_traits *traits, unsigned bare, bool is_loop)
{
    unsigned code = bare & PM_BARE_COPIES, calls = bare & PM_BARE_COPIES_CALL;
    if (is_loop) {
        code = bare & PM_BARE_CODE;
        calls = bare & PM_BARE_CALLS;
        traits->calls_are_at_least |= (bare & PM_BARE_ENTRIES) != 0;
    } else { /* a function or file with loops: its calls are those of functions */
        traits->entries_are_at_least |= (bare & (PM_BARE_CODE | PM_BARE_ENTRIES)) != 0;
    }
    traits->calls_are_at_least |= code != 0;
    traits->times_are_at_least |= code != 0;
    traits->costs_are_at_least |= calls != 0;
}

/* Of constructs that were entered, but not all of whose code has sleds (a copy of a loop that
 * was inlined into another loop, of a function that was inlined at some of its calls): all but
 * samples is at least. */
static bool mark_bare(struct pm_view *view)
{
    const struct pm_graph *graph = view->data->graph;
    const struct pm_lift *lift = view->lift;
    unsigned char *of_group = pm_alloc_array(view->n_groups + 1u, sizeof *of_group);
    for (pm_index s = 0; of_group && s < graph->n_sentences; s++) {
        pm_index noun = pm_graph_first_noun(graph, s);
        if (noun != PM_NONE && view->group_of[s] != PM_NONE)
            of_group[view->group_of[s]] |= view->data->bare[noun];
    }
    for (uint32_t r = 0; of_group && r < lift->n_rows; r++) {
        pm_index unmapped = lift->rows[r].source != PM_NONE
                                ? pm_graph_first_noun(graph, lift->rows[r].source)
                                : PM_NONE;
        view->traits[r].costs_are_at_least |=
            unmapped != PM_NONE && view->data->bare[unmapped] & PM_BARE_LACKS;
        for (uint32_t i = 0; i < lift->rows[r].n_destinations; i++) {
            uint32_t group = lift->destinations[lift->rows[r].first_destination + i];
            pm_index noun = view->groups[group].noun;
            bool is_loop = noun != PM_NONE && pm_view_noun_is_loop(view, noun);
            if (!view->traits[r].calls_are_unknown)
                mark_bare_row(&view->traits[r], of_group[group], is_loop);
            else if (!is_loop) /* only loops of it have sleds */
                view->traits[r].entries_are_at_least |=
                    (of_group[group] & (PM_BARE_CODE | PM_BARE_ENTRIES)) != 0;
            unsigned around = noun != PM_NONE ? view->data->bare[noun] : 0; /* of its lines */
            view->traits[r].costs_are_at_least |= ((of_group[group] | around) & PM_BARE_LACKS) != 0;
            view->traits[r].data_is_at_least |= (of_group[group] & PM_BARE_OPEN) != 0;
        }
    }
    bool ok = of_group != NULL;
    free(of_group);
    return ok;
}

/* --- functions in which others were inlined --- */

/* The functions that the context's code is of. */
static bool mark_functions(const struct pm_view *view, pm_index context, bool *is_around)
{
    const struct pm_graph *graph = view->data->graph;
    pm_index s = graph->contexts[context].sentence;
    bool any = false;
    for (uint32_t e = graph->out_first[s]; e <= graph->out_first[s + 1]; e++) {
        bool itself = e == graph->out_first[s + 1];
        pm_index to = itself ? s : graph->mappings[graph->out[e]].destination;
        pm_index noun = pm_graph_first_noun(graph, to);
        pm_index function = noun != PM_NONE ? pm_graph_ancestor(graph, noun, "function") : PM_NONE;
        if (function == PM_NONE)
            continue;
        is_around[function] = any = true;
    }
    return any;
}

static bool is_of_lacking(const struct pm_view *view, pm_index context)
{
    const struct pm_graph *graph = view->data->graph;
    pm_index s = graph->contexts[context].sentence;
    bool lacks = false;
    for (uint32_t e = graph->out_first[s]; e <= graph->out_first[s + 1]; e++) {
        bool itself = e == graph->out_first[s + 1];
        pm_index noun =
            pm_graph_first_noun(graph, itself ? s : graph->mappings[graph->out[e]].destination);
        lacks |= noun != PM_NONE && view->data->bare[noun] & PM_BARE_LACKS;
    }
    return lacks;
}

/* What lacks callees, inlined: its callees count for the function around, which has a sled. */
static void mark_around(const struct pm_view *view, pm_index inlined, bool *is_around)
{
    const struct pm_context *contexts = view->data->graph->contexts;
    if (!is_of_lacking(view, inlined))
        return;
    for (pm_index c = contexts[inlined].parent; c != PM_NONE; c = contexts[c].parent)
        if (mark_functions(view, c, is_around) && !(contexts[c].flags & PM_CONTEXT_INLINED))
            return;
}

static bool mark_with_inlined(struct pm_view *view)
{
    const struct pm_graph *graph = view->data->graph;
    const struct pm_lift *lift = view->lift;
    bool *is_around = pm_alloc_array(graph->n_nouns + 1u, sizeof *is_around);
    for (pm_index c = 0; is_around && c < graph->n_contexts; c++)
        if (graph->contexts[c].flags & PM_CONTEXT_INLINED)
            mark_around(view, c, is_around);
    for (uint32_t r = 0; is_around && r < lift->n_rows; r++)
        for (uint32_t i = 0; i < lift->rows[r].n_destinations; i++) {
            uint32_t group = lift->destinations[lift->rows[r].first_destination + i];
            pm_index noun = view->groups[group].noun;
            noun = noun != PM_NONE ? pm_graph_ancestor(graph, noun, "function") : PM_NONE;
            view->traits[r].has_inlined |= noun != PM_NONE && is_around[noun];
            view->has_inlined |= view->traits[r].has_inlined;
        }
    bool ok = is_around != NULL;
    free(is_around);
    return ok;
}

static bool is_sure(const struct pm_mapping *mapping)
{
    return strcmp(mapping->origin, "inferred") != 0 && strcmp(mapping->origin, "possible") != 0;
}

bool pm_view_is_inferred(const struct pm_view *view, pm_index sentence)
{
    const struct pm_graph *graph = view->data->graph;
    bool any = false;
    if (pm_graph_sentence_level(graph, sentence) == view->level)
        return false;
    for (uint32_t e = graph->out_first[sentence]; e < graph->out_first[sentence + 1]; e++) {
        if (view->leaves_out[graph->out[e]])
            continue;
        if (is_sure(&graph->mappings[graph->out[e]]))
            return false;
        any = true;
    }
    return any;
}

/* own: [number of rows], what is inferred counts for a row and what is not against it. */
static void mark_inferred(struct pm_view *view, double *own)
{
    const struct pm_graph *graph = view->data->graph;
    const struct pm_lift *lift = view->lift;
    pm_index metric = view->n_metrics ? view->metrics[view->primary] : view->calls_metric;
    for (uint32_t i = 0; i < graph->n_costs; i++) {
        const struct pm_cost *cost = &graph->costs[i];
        if (cost->metric != metric || !view->in_focus[cost->context])
            continue;
        pm_index sentence = graph->contexts[cost->context].sentence;
        double value =
            pm_view_is_inferred(view, sentence) ? (double)cost->value : -(double)cost->value;
        uint32_t class = lift->class_of[sentence];
        for (uint32_t k = lift->class_first[class]; k < lift->class_first[class + 1]; k++)
            own[lift->parts[k].row] += value * lift->parts[k].share;
    }
    for (uint32_t r = 0; r < lift->n_rows; r++)
        view->traits[r].is_mostly_inferred = own[r] > 0 && lift->rows[r].n_destinations > 0;
}

enum pm_status pm_view_find_traits(struct pm_view *view, struct pm_error *err)
{
    struct counts *counts = pm_alloc_array(view->lift->n_rows, sizeof *counts);
    unsigned char *disarmed = find_disarmed(view);
    view->traits = pm_alloc_array(view->lift->n_rows, sizeof *view->traits);
    double *own = pm_alloc_array(view->lift->n_rows, sizeof *own);
    bool ok = counts && disarmed && own && view->traits;
    if (ok) {
        mark_rows(view, counts, disarmed);
        ok = mark_groups(view, disarmed) && mark_bare(view) && mark_with_inlined(view);
        for (uint32_t r = 0; view->n_lost_events && r < view->lift->n_rows; r++)
            view->traits[r].calls_are_at_least = view->traits[r].entries_are_at_least = true;
        mark_inferred(view, own);
    }
    free(own);
    free(counts);
    free(disarmed);
    return ok ? PM_OK : pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}
