/* From an archive to the rows of a report. */
#include "groupings.h"
#include "interval.h"
#include "where.h"

#include <stdlib.h>

static enum pm_status no_memory(struct pm_error *err)
{
    return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}

/* --- rows --- */

static int compare_in_source(const void *a_pointer, const void *b_pointer, void *context)
{
    const struct pm_view *view = context;
    uint32_t a = *(const uint32_t *)a_pointer, b = *(const uint32_t *)b_pointer;
    pm_index noun_a = view->groups[a].noun, noun_b = view->groups[b].noun;
    if (noun_a == PM_NONE || noun_b == PM_NONE)
        return noun_a != noun_b ? (noun_a == PM_NONE) - (noun_b == PM_NONE) : (a > b) - (a < b);
    const struct pm_graph_noun *x = &view->data->graph->nouns[noun_a];
    const struct pm_graph_noun *y = &view->data->graph->nouns[noun_b];
    int by_file = strcmp(x->file, y->file);
    if (by_file)
        return by_file;
    if (x->line_no != y->line_no)
        return x->line_no < y->line_no ? -1 : 1;
    if (x->column_no != y->column_no)
        return x->column_no < y->column_no ? -1 : 1;
    int by_name = strcmp(x->name, y->name);
    return by_name ? by_name : (a > b) - (a < b);
}

/* Members of sets in the order of the source: that of the archive is by chance. */
static enum pm_status order_members(struct pm_view *view, struct pm_error *err)
{
    const struct pm_lift *lift = view->lift;
    uint32_t n = 0;
    for (uint32_t r = 0; r < lift->n_rows; r++)
        if (lift->rows[r].first_destination + lift->rows[r].n_destinations > n)
            n = lift->rows[r].first_destination + lift->rows[r].n_destinations;
    view->members = pm_arena_alloc(&view->arena, ((size_t)n + 1) * sizeof *view->members);
    if (!view->members)
        return no_memory(err);
    memcpy(view->members, lift->destinations, n * sizeof *view->members);
    for (uint32_t r = 0; r < lift->n_rows; r++)
        if (lift->rows[r].n_destinations > 1)
            qsort_r(view->members + lift->rows[r].first_destination, lift->rows[r].n_destinations,
                    sizeof *view->members, compare_in_source, view);
    return PM_OK;
}

static void init_row(const struct pm_view *view, uint32_t lift_row, struct pm_view_row *row)
{
    const struct pm_lift_row *lifted = &view->lift->rows[lift_row];
    row->groups = view->members + lifted->first_destination;
    row->n_groups = lifted->n_destinations;
    row->source = lifted->source;
    row->kind = lifted->n_destinations == 0  ? PM_VIEW_ROW_UNMAPPED
                : lifted->n_destinations > 1 ? PM_VIEW_ROW_SET
                                             : PM_VIEW_ROW_NOUN;
    row->traits = view->traits[lift_row];
    if (row->kind != PM_VIEW_ROW_NOUN || !view->groups[row->groups[0]].special)
        return;
    row->kind = view->groups[row->groups[0]].special == PM_VIEW_OUTSIDE ? PM_VIEW_ROW_OUTSIDE
                                                                        : PM_VIEW_ROW_SPECIAL;
}

static bool alloc_rows(struct pm_view *view, uint32_t n)
{
    view->rows = pm_alloc_array(n, sizeof *view->rows);
    struct pm_view_value *values =
        pm_arena_alloc(&view->arena, ((size_t)n + 2) * (view->n_metrics + 1) * sizeof *values);
    if (!view->rows || !values)
        return false;
    for (uint32_t i = 0; i < n + 2; i++) {
        struct pm_view_row *row = i < n ? &view->rows[i] : i == n ? &view->rest : &view->total;
        row->values = values + (size_t)i * view->n_metrics;
        row->parent_id = PM_NONE;
    }
    return true;
}

/* Whether a symbol is the body of an OpenMP region: calls of it are entries of the region. */
static bool is_region_body(const struct pm_view *view, pm_index sentence)
{
    const struct pm_graph *graph = view->data->graph;
    for (uint32_t e = graph->out_first[sentence]; e < graph->out_first[sentence + 1]; e++) {
        pm_index to = pm_graph_first_noun(graph, graph->mappings[graph->out[e]].destination);
        if (to != PM_NONE && pm_view_noun_is(view, to, "region"))
            return true;
    }
    return false;
}

bool pm_view_counts_as_entries(const struct pm_view *view, pm_index sentence)
{
    pm_index noun = pm_graph_first_noun(view->data->graph, sentence);
    return !pm_view_grouping(view)->counts_all && noun != PM_NONE &&
           (pm_view_noun_is_loop(view, noun) ||
            (pm_view_is_at_source(view) && pm_view_noun_is(view, noun, "symbol") &&
             is_region_body(view, sentence)));
}

bool pm_view_is_of_statement(const struct pm_view *view, pm_index context)
{
    const struct pm_graph *graph = view->data->graph;
    pm_index noun = pm_graph_first_noun(graph, graph->contexts[context].sentence);
    return noun != PM_NONE && pm_view_noun_is(view, noun, "callcode") && !pm_view_is_fine(view);
}

/* Of a function or loop of the source, or an array statement, of which several pieces of code are
 * one; code of level Base counts as it is. */
bool pm_view_is_no_call(const struct pm_view *view, const struct pm_cost *cost)
{
    if (cost->metric != view->calls_metric || !strcmp(view->level_name, "Base"))
        return false;
    return (pm_view_is_at_source(view) && pm_view_is_of_statement(view, cost->context)) ||
           pm_graph_continues_call(view->data->graph, cost->context);
}

/* Costs in focus of one metric as samples; the room is for all costs. entries: 0 and 1 choose calls
 * by pm_view_counts_as_entries, -1 takes all. */
static size_t collect_samples(const struct pm_view *view, pm_index metric, int entries,
                              struct pm_lift_sample *ret_samples)
{
    const struct pm_graph *graph = view->data->graph;
    size_t n = 0;
    for (uint32_t i = 0; i < graph->n_costs; i++) {
        const struct pm_cost *cost = &graph->costs[i];
        if (cost->metric != metric || !view->in_focus[cost->context])
            continue;
        pm_index sentence = graph->contexts[cost->context].sentence;
        if (pm_view_is_no_call(view, cost))
            continue;
        if (entries < 0 || pm_view_counts_as_entries(view, sentence) == entries)
            ret_samples[n++] = (struct pm_lift_sample){sentence, cost->value};
    }
    return n;
}

/* Sums per context of one metric in focus; false: 64 bits are left. */
static bool own_of_contexts(const struct pm_view *view, pm_index metric, int64_t *ret_own)
{
    const struct pm_graph *graph = view->data->graph;
    bool overflow = false;
    memset(ret_own, 0, graph->n_contexts * sizeof *ret_own);
    for (uint32_t i = 0; i < graph->n_costs; i++) {
        const struct pm_cost *cost = &graph->costs[i];
        if (cost->metric == metric && view->in_focus[cost->context])
            overflow |= __builtin_add_overflow(ret_own[cost->context], cost->value,
                                               &ret_own[cost->context]);
    }
    return !overflow;
}

static enum pm_status overflow_error(struct pm_error *err)
{
    return pm_error_set(err, PM_ERR_LIMIT, "costs add up to more than 64 bits hold");
}

struct scratch {
    struct pm_lift_sample *samples; /* [n_costs] */
    struct pm_amount *amounts;      /* [lift rows] */
    int64_t *inclusive;             /* [lift rows] */
    int64_t *own;                   /* [n_contexts] */
    struct pm_bounds *bounds;       /* [n_groups] */
};

static const struct pm_call_nesting *nesting_of(const struct pm_view *view)
{
    return view->around ? &view->nesting : NULL;
}

static enum pm_status flat_metric(struct pm_view *view, uint32_t m, struct scratch *s,
                                  struct pm_error *err)
{
    const struct pm_graph *graph = view->data->graph;
    const struct pm_graph_metric *metric = &graph->metrics[view->metrics[m]];
    size_t n = collect_samples(view, view->metrics[m], -1, s->samples);
    enum pm_status status =
        pm_lift_costs(view->lift, metric->aggregation, s->samples, n, err, s->amounts);
    if (status == PM_OK && metric->aggregation == PM_SUM) {
        if (!own_of_contexts(view, view->metrics[m], s->own))
            return overflow_error(err);
        status = pm_calls_inclusive(graph, view->lift, nesting_of(view), s->own, err, s->inclusive);
        if (status == PM_OK)
            status = pm_lift_bounds(view->lift, s->samples, n, err, s->bounds);
    }
    for (uint32_t r = 0; status == PM_OK && r < view->lift->n_rows; r++) {
        struct pm_view_row *row = &view->rows[r];
        row->values[m].own = s->amounts[r];
        if (metric->aggregation != PM_SUM)
            continue;
        row->values[m].inclusive = s->inclusive[r];
        if (row->n_groups == 1 && row->kind == PM_VIEW_ROW_NOUN)
            row->values[m].bounds = s->bounds[row->groups[0]];
    }
    return status;
}

static enum pm_status flat_samples(struct pm_view *view, struct scratch *s, struct pm_error *err)
{
    size_t n = collect_samples(view, view->samples_metric, -1, s->samples);
    enum pm_status status = pm_lift_costs(view->lift, PM_SUM, s->samples, n, err, s->amounts);
    for (uint32_t r = 0; status == PM_OK && r < view->lift->n_rows; r++)
        view->rows[r].n_samples = s->amounts[r].value;
    return status;
}

/* Sums per row of what contexts have. */
static enum pm_status flat_contexts(struct pm_view *view, const int64_t *of_context,
                                    struct scratch *s, struct pm_error *err)
{
    const struct pm_graph *graph = view->data->graph;
    size_t n = 0;
    for (pm_index c = 0; c < graph->n_contexts; c++)
        if (of_context[c] && view->in_focus[c]) /* each has a cost, so there is room */
            s->samples[n++] = (struct pm_lift_sample){graph->contexts[c].sentence, of_context[c]};
    return pm_lift_costs(view->lift, PM_SUM, s->samples, n, err, s->amounts);
}

/* What was taken out of the times of rows, and how far they may be off. */
static enum pm_status flat_taken(struct pm_view *view, struct scratch *s, struct pm_error *err)
{
    uint32_t n_rows = view->lift->n_rows;
    enum pm_status status = flat_contexts(view, view->taken_ns, s, err);
    if (status != PM_OK)
        return status;
    for (uint32_t r = 0; r < n_rows; r++)
        view->rows[r].taken_out_ns = s->amounts[r].value;
    status = flat_contexts(view, view->doubt_ns, s, err);
    if (status != PM_OK)
        return status;
    for (uint32_t r = 0; r < n_rows; r++)
        view->rows[r].doubt_ns = s->amounts[r].value;
    for (pm_index c = 0; c < view->data->graph->n_contexts; c++)
        s->own[c] = view->in_focus[c] ? view->doubt_ns[c] : 0;
    status = pm_calls_inclusive(view->data->graph, view->lift, nesting_of(view), s->own, err,
                                s->inclusive);
    if (status != PM_OK)
        return status;
    for (uint32_t r = 0; r < n_rows; r++)
        view->rows[r].inclusive_doubt_ns = s->inclusive[r];
    return pm_view_shift_rows(view, nesting_of(view), s->own, s->inclusive, err);
}

static enum pm_status flat_calls(struct pm_view *view, struct scratch *s, struct pm_error *err)
{
    for (int entries = 0; entries < 2; entries++) {
        size_t n = collect_samples(view, view->calls_metric, entries, s->samples);
        enum pm_status status = pm_lift_costs(view->lift, PM_SUM, s->samples, n, err, s->amounts);
        if (status != PM_OK)
            return status;
        for (uint32_t r = 0; r < view->lift->n_rows; r++)
            *(entries ? &view->rows[r].n_loop_entries : &view->rows[r].n_calls) =
                s->amounts[r].value;
    }
    return PM_OK;
}

/* --bounds: destinations that only occur in sets get rows of their own, with nothing but bounds.
 * Rows beyond the lift's are free for them. */
static enum pm_status add_bound_rows(struct pm_view *view, struct scratch *s, struct pm_error *err)
{
    uint32_t *numbers =
        pm_arena_alloc(&view->arena, ((size_t)view->n_groups + 1) * sizeof *numbers);
    bool *has_row = pm_alloc_array(view->n_groups, sizeof *has_row);
    enum pm_status status = numbers && has_row ? PM_OK : no_memory(err);
    for (uint32_t r = 0; status == PM_OK && r < view->lift->n_rows; r++)
        if (view->rows[r].n_groups == 1)
            has_row[view->rows[r].groups[0]] = true;
    for (uint32_t g = 0; status == PM_OK && g < view->n_groups; g++) {
        numbers[g] = g;
        if (!has_row[g]) {
            struct pm_view_row *row = &view->rows[view->n_rows++];
            row->groups = &numbers[g];
            row->n_groups = 1;
            row->source = PM_NONE;
        }
    }
    free(has_row);
    for (uint32_t m = 0; status == PM_OK && m < view->n_metrics; m++) {
        size_t n = collect_samples(view, view->metrics[m], -1, s->samples);
        status = pm_lift_bounds(view->lift, s->samples, n, err, s->bounds);
        for (uint32_t r = view->lift->n_rows; status == PM_OK && r < view->n_rows; r++)
            view->rows[r].values[m].bounds = s->bounds[view->rows[r].groups[0]];
    }
    for (uint32_t r = 0; r < view->n_rows; r++)
        view->rows[r].has_bounds = view->rows[r].kind == PM_VIEW_ROW_NOUN;
    return status;
}

static enum pm_status make_flat_rows(struct pm_view *view, struct scratch *s, struct pm_error *err)
{
    uint32_t n = view->lift->n_rows;
    if (!alloc_rows(view, n + (view->options.bounds ? view->n_groups : 0)))
        return no_memory(err);
    view->n_rows = n;
    for (uint32_t r = 0; r < n; r++)
        init_row(view, r, &view->rows[r]);
    enum pm_status status = PM_OK;
    for (uint32_t m = 0; status == PM_OK && m < view->n_metrics; m++)
        status = flat_metric(view, m, s, err);
    if (status == PM_OK && view->calls_metric != PM_NONE)
        status = flat_calls(view, s, err);
    if (status == PM_OK && view->samples_metric != PM_NONE)
        status = flat_samples(view, s, err);
    if (status == PM_OK && view->taken_ns)
        status = flat_taken(view, s, err);
    if (status == PM_OK && view->options.bounds)
        status = add_bound_rows(view, s, err);
    for (uint32_t r = 0; r < view->n_rows; r++)
        view->rows[r].id = r;
    if (status != PM_OK)
        return status;
    status = pm_view_find_over_time(view, NULL, err);
    return status != PM_OK ? status : pm_view_find_parts(view, NULL, err);
}

/* --- the tree --- */

/* Machine code where samples were: seen as its function, it is no call of it. */
static bool is_leaf(const struct pm_view *view, pm_index context)
{
    const struct pm_graph *graph = view->data->graph;
    pm_index noun = pm_graph_first_noun(graph, graph->contexts[context].sentence);
    return noun != PM_NONE && pm_view_noun_is_machine_code(view, noun);
}

/* Below what was not followed for a while paths lack what stood elsewhere meanwhile; not code
 * that is a part of it. */
static void mark_paths(struct pm_view *view, const struct pm_call_tree *tree)
{
    const struct pm_graph *graph = view->data->graph;
    for (uint32_t r = 0; r < tree->n_nodes; r++)
        view->rows[r].traits.path_is_at_least = false;
    for (pm_index c = 0; c < graph->n_contexts; c++)
        if (tree->node_of[c] != PM_NONE && !is_leaf(view, c) &&
            !(graph->contexts[c].flags & PM_CONTEXT_INLINED))
            view->rows[tree->node_of[c]].traits.path_is_at_least = true; /* entered, up to now */
    for (uint32_t r = 0; r < tree->n_nodes; r++)
        view->rows[r].traits.calls_are_unknown =
            !view->rows[r].traits.path_is_at_least || view->rows[r].traits.is_sampled;
    for (uint32_t r = 0; r < tree->n_nodes; r++) {
        uint32_t parent = view->rows[r].parent_id;
        struct pm_view_traits *traits = &view->rows[r].traits;
        const struct pm_view_traits *above = parent == PM_NONE ? NULL : &view->rows[parent].traits;
        traits->path_is_at_least =
            above &&
            (above->path_is_at_least || (traits->path_is_at_least && above->costs_are_at_least));
        traits->calls_are_at_least |= traits->path_is_at_least;
    }
}

/* As pm_view_is_left_by_jump says. */
static void mark_callers(struct pm_view *view, const struct pm_call_tree *tree)
{
    const struct pm_context *contexts = view->data->graph->contexts;
    for (uint32_t r = 0; r < tree->n_nodes; r++)
        view->rows[r].traits.has_others_time = false;
    for (pm_index c = 0; c < view->data->graph->n_contexts; c++)
        if (pm_view_is_left_by_jump(view, c) && tree->node_of[contexts[c].parent] != PM_NONE)
            view->rows[tree->node_of[contexts[c].parent]].traits.has_others_time = true;
}

/* Calls that were counted without their callers are all in a node of their own. */
static void mark_counted(struct pm_view *view)
{
    for (uint32_t r = 0; r < view->n_rows; r++) {
        struct pm_view_traits *traits = &view->rows[r].traits;
        traits->calls_are_at_least |= traits->calls_lack_callers && !traits->is_counted;
    }
}

/* A node is inlined or found by samples when all contexts are that are more than addresses in
 * it. */
static enum pm_status tree_traits(struct pm_view *view, const struct pm_call_tree *tree,
                                  struct pm_error *err)
{
    const struct pm_graph *graph = view->data->graph;
    bool *called = pm_alloc_array(tree->n_nodes, sizeof *called);
    bool *entered = pm_alloc_array(tree->n_nodes, sizeof *entered);
    if (!called || !entered) {
        free(called);
        free(entered);
        return no_memory(err);
    }
    for (uint32_t r = 0; r < tree->n_nodes; r++)
        view->rows[r].traits.is_inlined = view->rows[r].traits.is_sampled =
            view->rows[r].traits.calls_are_unknown = false;
    for (pm_index c = 0; c < graph->n_contexts; c++) {
        uint32_t node = tree->node_of[c];
        if (node == PM_NONE || is_leaf(view, c))
            continue;
        struct pm_view_traits *traits = &view->rows[node].traits;
        bool inlined = graph->contexts[c].flags & PM_CONTEXT_INLINED,
             sampled = graph->contexts[c].flags & PM_CONTEXT_SAMPLED;
        traits->is_inlined = inlined && (traits->is_inlined || !called[node]);
        traits->is_sampled = sampled && (traits->is_sampled || !called[node]);
        if (!inlined && !sampled) { /* which are no calls */
            bool counted = graph->contexts[c].flags & PM_CONTEXT_COUNTED;
            traits->is_counted = counted && (traits->is_counted || !entered[node]);
            entered[node] = true;
        }
        traits->is_untimed = pm_view_is_untimed(view, c) && (traits->is_untimed || !called[node]);
        called[node] = true;
    }
    mark_counted(view);
    mark_paths(view, tree);
    mark_callers(view, tree);
    free(called);
    free(entered);
    return PM_OK;
}

/* A loop without sleds around a call. */
static bool is_bare_loop(const struct pm_view *view, pm_index context)
{
    const struct pm_graph *graph = view->data->graph;
    pm_index s = graph->contexts[context].sentence;
    if (!(graph->contexts[context].flags & PM_CONTEXT_INLINED))
        return false;
    for (uint32_t e = graph->out_first[s]; e < graph->out_first[s + 1]; e++) {
        pm_index to = pm_graph_first_noun(graph, graph->mappings[graph->out[e]].destination);
        if (to != PM_NONE && pm_view_noun_is_loop(view, to))
            return true;
    }
    return false;
}

/* A loop seen as its function, or anything within its file, is no step of its own. */
static enum pm_status make_tree(struct pm_view *view, struct pm_call_tree *ret_tree,
                                struct pm_error *err)
{
    const struct pm_graph *graph = view->data->graph;
    bool *folds = pm_alloc_array(graph->n_contexts, sizeof *folds);
    if (!folds)
        return no_memory(err);
    for (pm_index c = 0; c < graph->n_contexts; c++)
        folds[c] = pm_view_grouping(view)->key == PM_VIEW_GROUP_BY_FILE || is_leaf(view, c) ||
                   is_bare_loop(view, c) || (view->is_folded && view->is_folded[c]) ||
                   pm_view_counts_as_entries(view, graph->contexts[c].sentence);
    enum pm_status status =
        pm_call_tree_make(graph, view->lift, nesting_of(view), folds, err, ret_tree);
    free(folds);
    return status;
}

/* What is below rows is in their inclusive amounts. Parents come before their children. */
static bool sum_up_rows(struct pm_view *view)
{
    const struct pm_graph *graph = view->data->graph;
    bool overflow = false;
    for (uint32_t r = view->n_rows; r-- > 0;) {
        struct pm_view_row *row = &view->rows[r];
        struct pm_view_row *parent = row->parent_id == PM_NONE ? NULL : &view->rows[row->parent_id];
        int64_t *n_samples = &row->n_samples_inclusive;
        row->inclusive_doubt_ns += row->doubt_ns;
        if (parent)
            parent->inclusive_doubt_ns += row->inclusive_doubt_ns;
        overflow |= __builtin_add_overflow(*n_samples, row->n_samples, n_samples);
        if (parent)
            overflow |= __builtin_add_overflow(parent->n_samples_inclusive, *n_samples,
                                               &parent->n_samples_inclusive);
        for (uint32_t m = 0; m < view->n_metrics; m++) {
            if (graph->metrics[view->metrics[m]].aggregation != PM_SUM)
                continue;
            int64_t *inclusive = &row->values[m].inclusive;
            overflow |= __builtin_add_overflow(*inclusive, row->values[m].own.value, inclusive);
            if (parent)
                overflow |= __builtin_add_overflow(parent->values[m].inclusive, *inclusive,
                                                   &parent->values[m].inclusive);
        }
    }
    return !overflow;
}

/* node_of: per context. */
static bool tree_costs(struct pm_view *view, const uint32_t *node_of)
{
    const struct pm_graph *graph = view->data->graph;
    bool overflow = false;
    for (uint32_t i = 0; i < graph->n_costs; i++) {
        const struct pm_cost *cost = &graph->costs[i];
        if (!view->in_focus[cost->context])
            continue;
        struct pm_view_row *row = &view->rows[node_of[cost->context]];
        if (cost->metric == view->calls_metric && !pm_view_is_no_call(view, cost)) {
            bool entries = pm_view_counts_as_entries(view, graph->contexts[cost->context].sentence);
            int64_t *n = entries ? &row->n_loop_entries : &row->n_calls;
            overflow |= __builtin_add_overflow(*n, cost->value, n);
        }
        if (cost->metric == view->samples_metric)
            overflow |= __builtin_add_overflow(row->n_samples, cost->value, &row->n_samples);
        for (uint32_t m = 0; m < view->n_metrics; m++)
            if (cost->metric == view->metrics[m])
                overflow |=
                    !pm_amount_add(&row->values[m].own, graph->metrics[cost->metric].aggregation,
                                   &(struct pm_amount){cost->value, 1});
    }
    for (pm_index c = 0; view->taken_ns && c < graph->n_contexts; c++)
        if (view->in_focus[c] && (view->taken_ns[c] || view->doubt_ns[c])) {
            view->rows[node_of[c]].taken_out_ns += view->taken_ns[c];
            view->rows[node_of[c]].doubt_ns += view->doubt_ns[c];
        }
    return !overflow && sum_up_rows(view);
}

static enum pm_status fill_tree_rows(struct pm_view *view, const struct pm_call_tree *tree,
                                     struct pm_error *err)
{
    if (!alloc_rows(view, tree->n_nodes))
        return no_memory(err);
    view->n_rows = tree->n_nodes;
    for (uint32_t r = 0; r < tree->n_nodes; r++) {
        init_row(view, tree->nodes[r].row, &view->rows[r]);
        view->rows[r].id = r;
        view->rows[r].parent_id = tree->nodes[r].parent;
        view->rows[r].depth = tree->nodes[r].depth;
    }
    if (!tree_costs(view, tree->node_of))
        return overflow_error(err);
    if (view->taken_ns && !pm_view_shift_nodes(view, tree->node_of))
        return no_memory(err);
    enum pm_status status = tree_traits(view, tree, err);
    if (status != PM_OK)
        return status;
    status = pm_view_find_over_time(view, tree->node_of, err);
    return status != PM_OK ? status : pm_view_find_parts(view, tree->node_of, err);
}

static enum pm_status make_tree_rows(struct pm_view *view, struct pm_error *err)
{
    struct pm_call_tree tree = {0};
    enum pm_status status = make_tree(view, &tree, err);
    if (status == PM_OK)
        status = fill_tree_rows(view, &tree, err);
    if (view->options.keeps_nodes) {
        view->node_of = tree.node_of;
        tree.node_of = NULL;
    }
    pm_call_tree_release(&tree);
    return status;
}

/* --- where axes --- */

static void init_place(const struct pm_view *view, const struct pm_view_where_node *node,
                       struct pm_view_row *row)
{
    if (node->lift_row != PM_NONE) {
        init_row(view, node->lift_row, row);
        return;
    }
    row->source = node->runner ? node->thread : PM_NONE;
    row->runner = node->runner;
    row->branch = node->name;
    row->kind = node->runner ? PM_VIEW_ROW_RUNNER : PM_VIEW_ROW_BRANCH;
    if (node->group == PM_NONE)
        return;
    row->kind = PM_VIEW_ROW_NOUN;
    row->groups = &node->group;
    row->n_groups = 1;
}

/* What is in a place is at least what is known where that is so of any part. */
static void mark_places(struct pm_view *view)
{
    for (uint32_t r = view->n_rows; r-- > 0;) {
        struct pm_view_row *row = &view->rows[r];
        for (uint32_t m = 0; m < view->n_metrics; m++)
            if (pm_view_is_at_least(view, row, m, false))
                row->at_least_in |= 1u << m;
        if (row->parent_id != PM_NONE)
            view->rows[row->parent_id].at_least_in |= row->at_least_in;
    }
}

static enum pm_status place_costs(struct pm_view *view, const struct pm_view_where *where,
                                  struct pm_error *err)
{
    if (pm_view_grouping(view)->where == PM_VIEW_WHERE_MACHINE) {
        enum pm_status status = pm_view_add_costs_of_threads(view, where->node_of, err);
        if (status != PM_OK)
            return status;
        for (uint32_t r = 0; r < view->n_rows; r++)
            for (uint32_t m = 0; m < view->n_metrics; m++)
                view->rows[r].values[m].inclusive = 0; /* is summed up */
        return sum_up_rows(view) ? pm_view_find_over_time_of_threads(view, where->node_of, err)
                                 : overflow_error(err);
    }
    if (!tree_costs(view, where->node_of))
        return overflow_error(err);
    if (view->taken_ns && !pm_view_shift_nodes(view, where->node_of))
        return no_memory(err);
    enum pm_status status = pm_view_find_over_time(view, where->node_of, err);
    return status != PM_OK ? status : pm_view_find_parts(view, where->node_of, err);
}

static enum pm_status fill_places(struct pm_view *view, const struct pm_view_where *where,
                                  struct pm_error *err)
{
    struct pm_view_where_node *nodes =
        pm_arena_alloc(&view->arena, where->n_nodes * sizeof *nodes); /* rows point to them */
    if (!nodes || !alloc_rows(view, where->n_nodes))
        return no_memory(err);
    memcpy(nodes, where->nodes, where->n_nodes * sizeof *nodes);
    view->n_rows = where->n_nodes;
    for (uint32_t r = 0; r < where->n_nodes; r++) {
        init_place(view, &nodes[r], &view->rows[r]);
        view->rows[r].id = r;
        view->rows[r].parent_id = nodes[r].parent;
        view->rows[r].depth = nodes[r].depth;
    }
    enum pm_status status = place_costs(view, where, err);
    mark_places(view);
    return status;
}

static enum pm_status make_places(struct pm_view *view, struct pm_error *err)
{
    struct pm_view_where where = {0};
    enum pm_status status = pm_view_where_make(view, err, &where);
    if (status != PM_OK)
        return status;
    status = fill_places(view, &where, err);
    if (view->options.keeps_nodes) {
        view->node_of = where.node_of;
        where.node_of = NULL;
    }
    pm_view_where_release(&where);
    return status;
}

/* --- sums that the header needs --- */

/* Told apart no more; not what says how often something was begun. */
static bool is_folded(uint32_t flags)
{
    return flags & PM_CONTEXT_FOLDED && !(flags & PM_CONTEXT_AMBIENT);
}

static void summarise(struct pm_view *view)
{
    const struct pm_graph *graph = view->data->graph;
    pm_index metric = view->n_metrics ? view->metrics[view->primary] : view->calls_metric;
    double all = 0, in_focus = 0;
    for (uint32_t i = 0; i < graph->n_costs; i++) {
        const struct pm_cost *cost = &graph->costs[i];
        uint32_t flags = graph->contexts[cost->context].flags;
        if (is_folded(flags) && cost->metric == view->calls_metric)
            view->n_folded_calls += cost->value;
        if (cost->metric != metric)
            continue;
        all += (double)cost->value;
        if (view->in_focus[cost->context])
            in_focus += (double)cost->value;
    }
    if (view->runs_in && metric != PM_NONE)
        all = view->all_values[metric];
    for (pm_index c = 0; c < graph->n_contexts; c++)
        view->n_folded_contexts += is_folded(graph->contexts[c].flags);
    view->focus_share_pct = all != 0 ? 100 * in_focus / all : 100;
    for (uint32_t r = 0; r < view->n_rows; r++)
        if (view->rows[r].kind == PM_VIEW_ROW_UNMAPPED)
            view->unmapped_value += (int64_t)pm_view_primary(view, &view->rows[r]);
}

static enum pm_status make_rows(struct pm_view *view, struct pm_error *err)
{
    const struct pm_graph *graph = view->data->graph;
    if (pm_view_grouping(view)->where)
        return make_places(view, err);
    if (view->options.tree)
        return make_tree_rows(view, err);
    if (pm_view_is_by_runner(view))
        return alloc_rows(view, view->runners.n) ? pm_view_make_runners(view, err) : no_memory(err);
    struct scratch s = {
        .samples = pm_alloc_array(graph->n_costs, sizeof *s.samples),
        .amounts = pm_alloc_array(view->lift->n_rows, sizeof *s.amounts),
        .inclusive = pm_alloc_array(view->lift->n_rows, sizeof *s.inclusive),
        .own = pm_alloc_array(graph->n_contexts, sizeof *s.own),
        .bounds = pm_alloc_array(view->n_groups, sizeof *s.bounds),
    };
    enum pm_status status = s.samples && s.amounts && s.inclusive && s.own && s.bounds
                                ? make_flat_rows(view, &s, err)
                                : no_memory(err);
    free(s.samples);
    free(s.amounts);
    free(s.inclusive);
    free(s.own);
    free(s.bounds);
    return status;
}

/* A loop without sleds that is on a path has the flags of what was inlined, and is in nothing
 * else. */
static enum pm_status mark_loops(struct pm_view *view, struct pm_error *err)
{
    (void)err;
    for (uint32_t r = 0; r < view->n_rows; r++) {
        struct pm_view_row *row = &view->rows[r];
        pm_index noun =
            row->kind == PM_VIEW_ROW_NOUN ? pm_view_row_noun(view, row, 0) : (pm_index)PM_NONE;
        if (noun != PM_NONE && pm_view_noun_is_loop(view, noun))
            row->traits.is_inlined = false;
    }
    return PM_OK;
}

unsigned pm_view_load_flags(const struct pm_view_options *options)
{
    bool tells_runners = options->tells_threads || pm_view_grouping_by(options->by)->runner ||
                         options->parts || options->on[0] || options->from || options->to ||
                         options->over_time ||
                         pm_view_grouping_by(options->by)->where == PM_VIEW_WHERE_MACHINE;
    for (const char *const *focus = options->focus; *focus; focus++)
        tells_runners |= pm_view_names_runner(*focus);
    return PM_ARCHIVE_LOAD_MERGED | (tells_runners ? PM_ARCHIVE_LOAD_KEPT : 0) |
           (options->all_functions ? PM_ARCHIVE_LOAD_FUNCTIONS : 0) |
           (options->everything ? PM_ARCHIVE_LOAD_ALL : PM_ARCHIVE_LOAD_LEFT_OUT);
}

enum pm_status pm_view_load(struct pm_view *view, unsigned flags, struct pm_error *err)
{
    if (!view->archive) {
        enum pm_status status =
            pm_archive_load(view->options.archive_path, flags, err, &view->loaded);
        if (status != PM_OK)
            return status;
        view->archive = view->loaded;
        status = pm_view_apply_overlays(view, err);
        if (status != PM_OK)
            return status;
    }
    view->data = pm_alloc(sizeof *view->data);
    if (!view->data)
        return no_memory(err);
    *view->data = *view->archive;
    view->data->graph = pm_graph_copy(view->archive->graph);
    return view->data->graph ? pm_view_keep_interval(view, err) : no_memory(err);
}

enum pm_status pm_view_make(struct pm_view *view, struct pm_error *err)
{
    static enum pm_status (*const steps[])(struct pm_view *, struct pm_error *) = {
        pm_view_begin_where,
        pm_view_drop_guesses,
        pm_view_choose_runners,
        pm_view_choose_level,
        pm_view_choose_metrics,
        pm_view_choose_time_of_focus,
        pm_view_choose_over_time,
        pm_view_find_untimed_pct,
        pm_view_find_phases,
        pm_view_fold,
        pm_view_find_untimed,
        pm_view_find_partial,
        pm_view_place_waits,
        pm_view_compensate,
        pm_view_keep_runners,
        pm_view_make_groups,
        pm_view_make_lift,
        order_members,
        pm_view_make_nesting,
        pm_view_focus,
        pm_view_sum_folded,
        pm_view_drop_empty,
        pm_view_follow_paths,
        pm_view_find_traits,
        make_rows,
        mark_loops,
        pm_view_arrange,
    };
    enum pm_status status = pm_view_load(view, pm_view_load_flags(&view->options), err);
    for (size_t i = 0; i < sizeof steps / sizeof *steps && status == PM_OK; i++)
        status = steps[i](view, err);
    if (status != PM_OK)
        return status;
    summarise(view);
    return pm_view_warn(view, err);
}

void pm_view_release(struct pm_view *view)
{
    if (view->data)
        pm_graph_free(view->data->graph);
    free(view->data);
    pm_archive_data_free(view->loaded);
    pm_lift_free(view->lift);
    pm_arena_release(&view->arena);
    for (int i = 0; i < view->n_warnings; i++)
        free(view->warnings[i]);
    free(view->warnings);
    free(view->groups);
    free(view->group_of);
    free(view->node_of);
    free(view->leaves_out);
    free(view->is_folded);
    free(view->around);
    free(view->traits);
    free(view->is_untimed);
    free(view->partial);
    free(view->lost_ns);
    pm_view_release_lost_counts(view);
    free(view->taken_ns);
    free(view->timed_ns);
    free(view->taken_of_all_ns);
    free(view->timed_of_all_ns);
    free(view->preempted);
    free(view->wait_of);
    free(view->doubt_ns);
    free(view->timed_above);
    free(view->boundary_ns);
    free(view->is_placed);
    free(view->in_focus);
    free(view->sentence_of_focus);
    pm_runners_release(&view->runners);
    free(view->runs_in);
    free(view->parts);
    free(view->over_time.cells);
    free(view->over_time.inclusive_cells);
    free(view->rows);
    pm_view_naming_free(view->naming);
    *view = (struct pm_view){0};
}
