/* From an archive to the rows of a report. */
#include "report.h"

#include <stdlib.h>

static enum pm_status no_memory(struct pm_error *err)
{
    return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}

/* --- rows --- */

static void init_row(const struct report *report, uint32_t lift_row, struct report_row *row)
{
    const struct pm_lift_row *lifted = &report->lift->rows[lift_row];
    row->groups = report->lift->destinations + lifted->first_destination;
    row->n_groups = lifted->n_destinations;
    row->source = lifted->source;
    row->kind = lifted->n_destinations == 0  ? REPORT_ROW_UNMAPPED
                : lifted->n_destinations > 1 ? REPORT_ROW_SET
                                             : REPORT_ROW_NOUN;
    row->traits = report->traits[lift_row];
    if (row->kind != REPORT_ROW_NOUN || !report->groups[row->groups[0]].special)
        return;
    row->kind = report->groups[row->groups[0]].special == REPORT_OUTSIDE ? REPORT_ROW_OUTSIDE
                                                                         : REPORT_ROW_SPECIAL;
}

static bool alloc_rows(struct report *report, uint32_t n)
{
    report->rows = pm_alloc_array(n, sizeof *report->rows);
    struct report_value *values =
        pm_arena_alloc(&report->arena, ((size_t)n + 2) * (report->n_metrics + 1) * sizeof *values);
    if (!report->rows || !values)
        return false;
    for (uint32_t i = 0; i < n + 2; i++) {
        struct report_row *row = i < n ? &report->rows[i] : i == n ? &report->rest : &report->total;
        row->values = values + (size_t)i * report->n_metrics;
        row->parent_id = PM_NONE;
    }
    return true;
}

/* Whether a symbol is the body of an OpenMP region: calls of it are entries of the region. */
static bool is_region_body(const struct report *report, pm_index sentence)
{
    const struct pm_graph *graph = report->data->graph;
    for (uint32_t e = graph->out_first[sentence]; e < graph->out_first[sentence + 1]; e++) {
        pm_index to = pm_graph_first_noun(graph, graph->mappings[graph->out[e]].destination);
        if (to != PM_NONE && report_noun_is(report, to, "region"))
            return true;
    }
    return false;
}

bool report_counts_as_entries(const struct report *report, pm_index sentence)
{
    pm_index noun = pm_graph_first_noun(report->data->graph, sentence);
    enum report_by by = report->options.by;
    return by != REPORT_BY_LOOP && by != REPORT_BY_STATEMENT && noun != PM_NONE &&
           (report_noun_is_loop(report, noun) ||
            (report_is_at_source(report) && report_noun_is(report, noun, "symbol") &&
             is_region_body(report, sentence)));
}

/* Of a function of the source; its symbols count as they are. */
static bool is_no_call(const struct report *report, const struct pm_cost *cost)
{
    return cost->metric == report->calls_metric && report_is_at_source(report) &&
           pm_graph_continues_call(report->data->graph, cost->context);
}

/* Costs in focus of one metric as samples; the room is for all costs. entries: 0 and 1 choose calls
 * by report_counts_as_entries, -1 takes all. */
static size_t collect_samples(const struct report *report, pm_index metric, int entries,
                              struct pm_lift_sample *ret_samples)
{
    const struct pm_graph *graph = report->data->graph;
    size_t n = 0;
    for (uint32_t i = 0; i < graph->n_costs; i++) {
        const struct pm_cost *cost = &graph->costs[i];
        if (cost->metric != metric || !report->in_focus[cost->context])
            continue;
        pm_index sentence = graph->contexts[cost->context].sentence;
        if (is_no_call(report, cost))
            continue;
        if (entries < 0 || report_counts_as_entries(report, sentence) == entries)
            ret_samples[n++] = (struct pm_lift_sample){sentence, cost->value};
    }
    return n;
}

/* Sums per context of one metric in focus; false: 64 bits are left. */
static bool own_of_contexts(const struct report *report, pm_index metric, int64_t *ret_own)
{
    const struct pm_graph *graph = report->data->graph;
    bool overflow = false;
    memset(ret_own, 0, graph->n_contexts * sizeof *ret_own);
    for (uint32_t i = 0; i < graph->n_costs; i++) {
        const struct pm_cost *cost = &graph->costs[i];
        if (cost->metric == metric && report->in_focus[cost->context])
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

static const struct pm_call_nesting *nesting_of(const struct report *report)
{
    return report->around ? &report->nesting : NULL;
}

static enum pm_status flat_metric(struct report *report, uint32_t m, struct scratch *s,
                                  struct pm_error *err)
{
    const struct pm_graph *graph = report->data->graph;
    const struct pm_metric *metric = &graph->metrics[report->metrics[m]];
    size_t n = collect_samples(report, report->metrics[m], -1, s->samples);
    enum pm_status status =
        pm_lift_costs(report->lift, metric->aggregation, s->samples, n, err, s->amounts);
    if (status == PM_OK && metric->aggregation == PM_SUM) {
        if (!own_of_contexts(report, report->metrics[m], s->own))
            return overflow_error(err);
        status =
            pm_calls_inclusive(graph, report->lift, nesting_of(report), s->own, err, s->inclusive);
        if (status == PM_OK)
            status = pm_lift_bounds(report->lift, s->samples, n, err, s->bounds);
    }
    for (uint32_t r = 0; status == PM_OK && r < report->lift->n_rows; r++) {
        struct report_row *row = &report->rows[r];
        row->values[m].own = s->amounts[r];
        if (metric->aggregation != PM_SUM)
            continue;
        row->values[m].inclusive = s->inclusive[r];
        if (row->n_groups == 1 && row->kind == REPORT_ROW_NOUN)
            row->values[m].bounds = s->bounds[row->groups[0]];
    }
    return status;
}

static enum pm_status flat_samples(struct report *report, struct scratch *s, struct pm_error *err)
{
    size_t n = collect_samples(report, report->samples_metric, -1, s->samples);
    enum pm_status status = pm_lift_costs(report->lift, PM_SUM, s->samples, n, err, s->amounts);
    for (uint32_t r = 0; status == PM_OK && r < report->lift->n_rows; r++)
        report->rows[r].n_samples = s->amounts[r].value;
    return status;
}

/* What was taken out of the own times of rows. */
static enum pm_status flat_taken(struct report *report, struct scratch *s, struct pm_error *err)
{
    const struct pm_graph *graph = report->data->graph;
    size_t n = 0;
    for (pm_index c = 0; c < graph->n_contexts; c++)
        if (report->taken_ns[c] && report->in_focus[c]) /* each has a cost, so there is room */
            s->samples[n++] =
                (struct pm_lift_sample){graph->contexts[c].sentence, report->taken_ns[c]};
    enum pm_status status = pm_lift_costs(report->lift, PM_SUM, s->samples, n, err, s->amounts);
    for (uint32_t r = 0; status == PM_OK && r < report->lift->n_rows; r++)
        report->rows[r].taken_out_ns = s->amounts[r].value;
    return status;
}

static enum pm_status flat_calls(struct report *report, struct scratch *s, struct pm_error *err)
{
    for (int entries = 0; entries < 2; entries++) {
        size_t n = collect_samples(report, report->calls_metric, entries, s->samples);
        enum pm_status status = pm_lift_costs(report->lift, PM_SUM, s->samples, n, err, s->amounts);
        if (status != PM_OK)
            return status;
        for (uint32_t r = 0; r < report->lift->n_rows; r++)
            *(entries ? &report->rows[r].n_loop_entries : &report->rows[r].n_calls) =
                s->amounts[r].value;
    }
    return PM_OK;
}

/* --bounds: destinations that only occur in sets get rows of their own, with nothing but bounds.
 * Rows beyond the lift's are free for them. */
static enum pm_status add_bound_rows(struct report *report, struct scratch *s, struct pm_error *err)
{
    uint32_t *numbers =
        pm_arena_alloc(&report->arena, ((size_t)report->n_groups + 1) * sizeof *numbers);
    bool *has_row = pm_alloc_array(report->n_groups, sizeof *has_row);
    enum pm_status status = numbers && has_row ? PM_OK : no_memory(err);
    for (uint32_t r = 0; status == PM_OK && r < report->lift->n_rows; r++)
        if (report->rows[r].n_groups == 1)
            has_row[report->rows[r].groups[0]] = true;
    for (uint32_t g = 0; status == PM_OK && g < report->n_groups; g++) {
        numbers[g] = g;
        if (!has_row[g]) {
            struct report_row *row = &report->rows[report->n_rows++];
            row->groups = &numbers[g];
            row->n_groups = 1;
            row->source = PM_NONE;
        }
    }
    free(has_row);
    for (uint32_t m = 0; status == PM_OK && m < report->n_metrics; m++) {
        size_t n = collect_samples(report, report->metrics[m], -1, s->samples);
        status = pm_lift_bounds(report->lift, s->samples, n, err, s->bounds);
        for (uint32_t r = report->lift->n_rows; status == PM_OK && r < report->n_rows; r++)
            report->rows[r].values[m].bounds = s->bounds[report->rows[r].groups[0]];
    }
    for (uint32_t r = 0; r < report->n_rows; r++)
        report->rows[r].has_bounds = report->rows[r].kind == REPORT_ROW_NOUN;
    return status;
}

static enum pm_status make_flat_rows(struct report *report, struct scratch *s, struct pm_error *err)
{
    uint32_t n = report->lift->n_rows;
    if (!alloc_rows(report, n + (report->options.bounds ? report->n_groups : 0)))
        return no_memory(err);
    report->n_rows = n;
    for (uint32_t r = 0; r < n; r++)
        init_row(report, r, &report->rows[r]);
    enum pm_status status = PM_OK;
    for (uint32_t m = 0; status == PM_OK && m < report->n_metrics; m++)
        status = flat_metric(report, m, s, err);
    if (status == PM_OK && report->calls_metric != PM_NONE)
        status = flat_calls(report, s, err);
    if (status == PM_OK && report->samples_metric != PM_NONE)
        status = flat_samples(report, s, err);
    if (status == PM_OK && report->taken_ns)
        status = flat_taken(report, s, err);
    if (status == PM_OK && report->options.bounds)
        status = add_bound_rows(report, s, err);
    for (uint32_t r = 0; r < report->n_rows; r++)
        report->rows[r].id = r;
    return status;
}

/* --- the tree --- */

/* Machine code where samples were: seen as its function, it is no call of it. */
static bool is_leaf(const struct report *report, pm_index context)
{
    const struct pm_graph *graph = report->data->graph;
    pm_index noun = pm_graph_first_noun(graph, graph->contexts[context].sentence);
    return noun != PM_NONE && report_noun_is_machine_code(report, noun);
}

/* Below what was not followed for a while paths lack what stood elsewhere meanwhile; not code that is a part of it. */
static void mark_paths(struct report *report, const struct pm_call_tree *tree)
{
    const struct pm_graph *graph = report->data->graph;
    for (uint32_t r = 0; r < tree->n_nodes; r++)
        report->rows[r].traits.path_is_at_least = false;
    for (pm_index c = 0; c < graph->n_contexts; c++)
        if (tree->node_of[c] != PM_NONE && !is_leaf(report, c) &&
            !(graph->contexts[c].flags & PM_CONTEXT_INLINED))
            report->rows[tree->node_of[c]].traits.path_is_at_least = true; /* entered, up to now */
    for (uint32_t r = 0; r < tree->n_nodes; r++)
        report->rows[r].traits.calls_are_unknown =
            !report->rows[r].traits.path_is_at_least || report->rows[r].traits.is_sampled;
    for (uint32_t r = 0; r < tree->n_nodes; r++) {
        uint32_t parent = report->rows[r].parent_id;
        struct report_traits *traits = &report->rows[r].traits;
        const struct report_traits *above = parent == PM_NONE ? NULL : &report->rows[parent].traits;
        traits->path_is_at_least =
            above &&
            (above->path_is_at_least || (traits->path_is_at_least && above->costs_are_at_least));
        traits->calls_are_at_least |= traits->path_is_at_least;
    }
}

/* A node is inlined or found by samples when all contexts are that are more than addresses in it. */
static enum pm_status tree_traits(struct report *report, const struct pm_call_tree *tree,
                                  struct pm_error *err)
{
    const struct pm_graph *graph = report->data->graph;
    bool *called = pm_alloc_array(tree->n_nodes, sizeof *called);
    if (!called)
        return no_memory(err);
    for (uint32_t r = 0; r < tree->n_nodes; r++)
        report->rows[r].traits.is_inlined = report->rows[r].traits.is_sampled =
            report->rows[r].traits.calls_are_unknown = false;
    for (pm_index c = 0; c < graph->n_contexts; c++) {
        uint32_t node = tree->node_of[c];
        if (node == PM_NONE || is_leaf(report, c))
            continue;
        struct report_traits *traits = &report->rows[node].traits;
        bool inlined = graph->contexts[c].flags & PM_CONTEXT_INLINED,
             sampled = graph->contexts[c].flags & PM_CONTEXT_SAMPLED;
        traits->is_inlined = inlined && (traits->is_inlined || !called[node]);
        traits->is_sampled = sampled && (traits->is_sampled || !called[node]);
        traits->is_counted =
            graph->contexts[c].flags & PM_CONTEXT_COUNTED && (traits->is_counted || !called[node]);
        traits->is_untimed = report_is_untimed(report, c) && (traits->is_untimed || !called[node]);
        called[node] = true;
    }
    mark_paths(report, tree);
    free(called);
    return PM_OK;
}

/* A loop seen as its function, or anything within its file, is no step of its own. */
static enum pm_status make_tree(struct report *report, struct pm_call_tree *ret_tree,
                                struct pm_error *err)
{
    const struct pm_graph *graph = report->data->graph;
    bool *folds = pm_alloc_array(graph->n_contexts, sizeof *folds);
    if (!folds)
        return no_memory(err);
    for (pm_index c = 0; c < graph->n_contexts; c++)
        folds[c] = report->options.by == REPORT_BY_FILE || is_leaf(report, c) ||
                   report_counts_as_entries(report, graph->contexts[c].sentence);
    enum pm_status status =
        pm_call_tree_make(graph, report->lift, nesting_of(report), folds, err, ret_tree);
    free(folds);
    return status;
}

static bool tree_costs(struct report *report, const struct pm_call_tree *tree)
{
    const struct pm_graph *graph = report->data->graph;
    bool overflow = false;
    for (uint32_t i = 0; i < graph->n_costs; i++) {
        const struct pm_cost *cost = &graph->costs[i];
        if (!report->in_focus[cost->context])
            continue;
        struct report_row *row = &report->rows[tree->node_of[cost->context]];
        if (cost->metric == report->calls_metric && !is_no_call(report, cost)) {
            bool entries =
                report_counts_as_entries(report, graph->contexts[cost->context].sentence);
            int64_t *n = entries ? &row->n_loop_entries : &row->n_calls;
            overflow |= __builtin_add_overflow(*n, cost->value, n);
        }
        if (cost->metric == report->samples_metric)
            overflow |= __builtin_add_overflow(row->n_samples, cost->value, &row->n_samples);
        for (uint32_t m = 0; m < report->n_metrics; m++)
            if (cost->metric == report->metrics[m])
                overflow |=
                    !pm_amount_add(&row->values[m].own, graph->metrics[cost->metric].aggregation,
                                   &(struct pm_amount){cost->value, 1});
    }
    for (pm_index c = 0; report->taken_ns && c < graph->n_contexts; c++)
        if (report->in_focus[c] && report->taken_ns[c])
            report->rows[tree->node_of[c]].taken_out_ns += report->taken_ns[c];
    for (uint32_t r = report->n_rows; r-- > 0;) {
        struct report_row *row = &report->rows[r];
        int64_t *n_samples = &row->n_samples_inclusive;
        overflow |= __builtin_add_overflow(*n_samples, row->n_samples, n_samples);
        if (row->parent_id != PM_NONE) {
            int64_t *above = &report->rows[row->parent_id].n_samples_inclusive;
            overflow |= __builtin_add_overflow(*above, *n_samples, above);
        }
        for (uint32_t m = 0; m < report->n_metrics; m++) {
            if (graph->metrics[report->metrics[m]].aggregation != PM_SUM)
                continue;
            int64_t *inclusive = &row->values[m].inclusive;
            overflow |= __builtin_add_overflow(*inclusive, row->values[m].own.value, inclusive);
            if (row->parent_id != PM_NONE)
                overflow |= __builtin_add_overflow(
                    report->rows[row->parent_id].values[m].inclusive, *inclusive,
                    &report->rows[row->parent_id].values[m].inclusive);
        }
    }
    return !overflow;
}

static enum pm_status make_tree_rows(struct report *report, struct pm_error *err)
{
    struct pm_call_tree tree = {0};
    enum pm_status status = make_tree(report, &tree, err);
    if (status == PM_OK && !alloc_rows(report, tree.n_nodes))
        status = no_memory(err);
    if (status == PM_OK) {
        report->n_rows = tree.n_nodes;
        for (uint32_t r = 0; r < tree.n_nodes; r++) {
            init_row(report, tree.nodes[r].row, &report->rows[r]);
            report->rows[r].id = r;
            report->rows[r].parent_id = tree.nodes[r].parent;
            report->rows[r].depth = tree.nodes[r].depth;
        }
        status = tree_costs(report, &tree) ? tree_traits(report, &tree, err) : overflow_error(err);
    }
    pm_call_tree_release(&tree);
    return status;
}

/* --- sums that the header needs --- */

/* Told apart no more; not what says how often something was begun. */
static bool is_folded(uint32_t flags)
{
    return flags & PM_CONTEXT_FOLDED && !(flags & PM_CONTEXT_AMBIENT);
}

static void summarise(struct report *report)
{
    const struct pm_graph *graph = report->data->graph;
    pm_index metric = report->n_metrics ? report->metrics[report->primary] : report->calls_metric;
    double all = 0, in_focus = 0;
    for (uint32_t i = 0; i < graph->n_costs; i++) {
        const struct pm_cost *cost = &graph->costs[i];
        uint32_t flags = graph->contexts[cost->context].flags;
        if (is_folded(flags) && cost->metric == report->calls_metric)
            report->n_folded_calls += cost->value;
        if (cost->metric != metric)
            continue;
        all += (double)cost->value;
        if (report->in_focus[cost->context])
            in_focus += (double)cost->value;
    }
    for (pm_index c = 0; c < graph->n_contexts; c++)
        report->n_folded_contexts += is_folded(graph->contexts[c].flags);
    report->focus_share_pct = all != 0 ? 100 * in_focus / all : 100;
    for (uint32_t r = 0; r < report->n_rows; r++)
        if (report->rows[r].kind == REPORT_ROW_UNMAPPED)
            report->unmapped_value += (int64_t)report_primary(report, &report->rows[r]);
}

static enum pm_status make_rows(struct report *report, struct pm_error *err)
{
    const struct pm_graph *graph = report->data->graph;
    if (report->options.tree)
        return make_tree_rows(report, err);
    if (report_is_by_runner(report))
        return alloc_rows(report, report->options.by == REPORT_BY_THREAD
                                      ? report->data->n_threads
                                      : report->data->n_processes)
                   ? report_make_runners(report, err)
                   : no_memory(err);
    struct scratch s = {
        .samples = pm_alloc_array(graph->n_costs, sizeof *s.samples),
        .amounts = pm_alloc_array(report->lift->n_rows, sizeof *s.amounts),
        .inclusive = pm_alloc_array(report->lift->n_rows, sizeof *s.inclusive),
        .own = pm_alloc_array(graph->n_contexts, sizeof *s.own),
        .bounds = pm_alloc_array(report->n_groups, sizeof *s.bounds),
    };
    enum pm_status status = s.samples && s.amounts && s.inclusive && s.own && s.bounds
                                ? make_flat_rows(report, &s, err)
                                : no_memory(err);
    free(s.samples);
    free(s.amounts);
    free(s.inclusive);
    free(s.own);
    free(s.bounds);
    return status;
}

enum pm_status report_make(struct report *report, struct pm_error *err)
{
    static enum pm_status (*const steps[])(struct report *, struct pm_error *) = {
        report_choose_level, report_choose_metrics, report_fold,       report_find_untimed,
        report_find_partial, report_place_waits,    report_compensate, report_make_groups,
        report_make_lift,    report_make_nesting,   report_focus,      report_drop_empty,
        report_follow_paths, report_find_traits,    make_rows,         report_arrange,
    };
    enum pm_status status =
        pm_archive_load(report->options.archive_path,
                        report->options.everything ? PM_ARCHIVE_LOAD_ALL : PM_ARCHIVE_LOAD_LEFT_OUT,
                        err, &report->data);
    for (size_t i = 0; i < sizeof steps / sizeof *steps && status == PM_OK; i++)
        status = steps[i](report, err);
    if (status != PM_OK)
        return status;
    summarise(report);
    return report_warn(report, err);
}

void report_release(struct report *report)
{
    pm_archive_data_free(report->data);
    pm_lift_free(report->lift);
    pm_arena_release(&report->arena);
    for (int i = 0; i < report->n_warnings; i++)
        free(report->warnings[i]);
    free(report->warnings);
    free(report->groups);
    free(report->group_of);
    free(report->leaves_out);
    free(report->around);
    free(report->traits);
    free(report->is_untimed);
    free(report->partial);
    free(report->taken_ns);
    free(report->is_placed);
    free(report->in_focus);
    free(report->rows);
    report_naming_free(report->naming);
    *report = (struct report){0};
}
