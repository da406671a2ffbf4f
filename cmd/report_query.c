/* From an archive to the rows of a report. */
#include "report.h"

#include "mapping/graph/index_map.h"

#include <stdlib.h>

static enum pm_status no_memory(struct pm_error *err)
{
    return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}

/* --- level and metrics --- */

static enum pm_status choose_level(struct report *report, struct pm_error *err)
{
    const struct pm_graph *graph = report->data->graph;
    const char *asked = report->options.level;
    report->level = PM_NONE;
    for (pm_index i = 0; i < graph->n_levels; i++)
        if (!strcasecmp(graph->levels[i].name, asked)) {
            report->level = i;
            report->level_name = graph->levels[i].name;
            return PM_OK;
        }
    /* Programs without mappings have no Source level: all is unmapped there, which the report can
     * say. */
    report->level_name = !strcasecmp(asked, "source") ? "Source"
                         : !strcasecmp(asked, "base") ? "Base"
                                                      : NULL;
    if (report->level_name)
        return PM_OK;
    struct pm_buf list = PM_BUF_INIT(4096);
    for (pm_index i = 0; i < graph->n_levels; i++)
        pm_buf_printf(&list, "%s%s", list.len ? ", " : "", graph->levels[i].name);
    pm_error_set(err, PM_ERR_USAGE, "there is no level '%s' in the archive; levels: %s", asked,
                 list.len ? list.data : "none");
    pm_buf_release(&list);
    return PM_ERR_USAGE;
}

static bool is_measured(const struct pm_graph *graph, pm_index metric)
{
    for (uint32_t i = 0; i < graph->n_costs; i++)
        if (graph->costs[i].metric == metric && graph->costs[i].value != 0)
            return true;
    return false;
}

/* Code was counted but not timed (mode count): the process has a time even then. */
static bool has_only_counts(const struct report *report)
{
    const struct pm_graph *graph = report->data->graph;
    bool counted = false;
    for (uint32_t i = 0; i < graph->n_costs; i++) {
        const struct pm_cost *cost = &graph->costs[i];
        pm_index noun = pm_graph_first_noun(graph, graph->contexts[cost->context].sentence);
        if (cost->value == 0 || (noun != PM_NONE && report_noun_is(report, noun, "process")))
            continue;
        if (cost->metric == report->time_metric)
            return false;
        counted |= cost->metric == report->calls_metric;
    }
    return counted;
}

/* A metric by its name, or its name without the unit; "calls" and "time" are the usual two. */
static pm_index find_metric(const struct pm_graph *graph, struct pm_str name)
{
    if (pm_str_is(name, "calls"))
        name = PM_STR("n_calls");
    if (pm_str_is(name, "time"))
        name = PM_STR("wall");
    for (pm_index m = 0; m < graph->n_metrics; m++) {
        const char *known = graph->metrics[m].name;
        const char *unit = strrchr(known, '_');
        if (pm_str_is(name, known) ||
            (unit && unit != known &&
             pm_str_eq(name, (struct pm_str){known, (size_t)(unit - known)})))
            return m;
    }
    return PM_NONE;
}

static enum pm_status add_metric(struct report *report, struct pm_str name, struct pm_error *err)
{
    const struct pm_graph *graph = report->data->graph;
    pm_index metric = find_metric(graph, name);
    bool no_times =
        report->time_metric == PM_NONE && pm_graph_find_metric(graph, "wall_ns") == metric;
    if (metric == PM_NONE || no_times || !is_measured(graph, metric)) {
        struct pm_buf list = PM_BUF_INIT(4096);
        for (pm_index m = 0; m < graph->n_metrics; m++)
            if (is_measured(graph, m) &&
                (m == report->time_metric || strcmp(graph->metrics[m].name, "wall_ns") != 0))
                pm_buf_printf(&list, "%s%s", list.len ? ", " : "", graph->metrics[m].name);
        pm_error_set(err, PM_ERR_USAGE, "metric '%.*s' was not measured; measured: %s",
                     (int)name.len, name.p, list.len ? list.data : "nothing");
        pm_buf_release(&list);
        return PM_ERR_USAGE;
    }
    if (metric == report->calls_metric) {
        report->shows_calls = true;
        return PM_OK;
    }
    for (uint32_t i = 0; i < report->n_metrics; i++)
        if (report->metrics[i] == metric)
            return PM_OK;
    if (report->n_metrics == REPORT_MAX_METRICS)
        return pm_error_set(err, PM_ERR_USAGE, "more than %d metrics", REPORT_MAX_METRICS);
    report->metrics[report->n_metrics++] = metric;
    return PM_OK;
}

static bool has_only_processes(const struct report *report)
{
    const struct pm_graph *graph = report->data->graph;
    for (pm_index c = 0; c < graph->n_contexts; c++) {
        pm_index noun = pm_graph_first_noun(graph, graph->contexts[c].sentence);
        if (noun == PM_NONE || !report_noun_is(report, noun, "process"))
            return false;
    }
    return true;
}

static enum pm_status choose_metrics(struct report *report, struct pm_error *err)
{
    const struct pm_graph *graph = report->data->graph;
    report->measured_nothing = has_only_processes(report);
    report->calls_metric = pm_graph_find_metric(graph, "n_calls");
    report->time_metric = pm_graph_find_metric(graph, "wall_ns");
    if (report->time_metric != PM_NONE &&
        (!is_measured(graph, report->time_metric) || has_only_counts(report)))
        report->time_metric = PM_NONE;
    enum pm_status status = PM_OK;
    if (!report->options.metrics) {
        report->shows_calls = report->calls_metric != PM_NONE && !report->measured_nothing;
        if (report->time_metric != PM_NONE)
            report->metrics[report->n_metrics++] = report->time_metric;
    }
    for (const char *p = report->options.metrics; p && status == PM_OK;) {
        size_t len = strcspn(p, ",");
        status = add_metric(report, (struct pm_str){p, len}, err);
        p = p[len] ? p + len + 1 : NULL;
    }
    report->primary = 0; /* of the shown ones the first; n_metrics == 0: calls */
    return status;
}

/* --- destinations: sentences of the level, gone up the where axis --- */

/* Keys of groups in one number: verb, then what the rest counts, then a position. */
enum key_kind { KEY_NOUN, KEY_FILE, KEY_SENTENCE, KEY_OUTSIDE };

static int64_t group_key(enum key_kind kind, pm_index verb, pm_index position)
{
    return (int64_t)((uint64_t)kind << 62 | (uint64_t)(verb & 0x3fffffff) << 32 | position);
}

struct grouping {
    struct report *report;
    struct pm_index_map groups; /* by key */
    struct pm_index_map files;  /* interned file name (its address) to a noun with it */
    struct pm_index_map nouns;  /* by id and parent's id: the first such noun */
    pm_index *same_verb;        /* per verb: the first of that name */
    uint32_t cap;
};

/* What a noun of the level counts as. */
static pm_index climb(const struct report *report, pm_index noun)
{
    const struct pm_graph *graph = report->data->graph;
    for (pm_index up = noun; up != PM_NONE; up = graph->nouns[up].parent) {
        if (report->options.by == REPORT_BY_FILE ? report_noun_is(report, up, "file")
                                                 : report_noun_is_code(report, up))
            return up;
        if (report->options.by == REPORT_BY_LOOP && report_noun_is_loop(report, up))
            return up;
    }
    return noun;
}

static pm_index find_or_add_group(struct grouping *grouping, int64_t key,
                                  const struct report_group *group)
{
    struct report *report = grouping->report;
    pm_index found = pm_index_map_get(&grouping->groups, key);
    if (found != PM_NONE)
        return found;
    if (report->n_groups == grouping->cap) {
        uint32_t cap = grouping->cap ? grouping->cap * 2 : 256;
        struct report_group *grown = pm_realloc_array(report->groups, cap, sizeof *grown);
        if (!grown)
            return PM_NONE;
        report->groups = grown;
        grouping->cap = cap;
    }
    if (!pm_index_map_add(&grouping->groups, key, report->n_groups))
        return PM_NONE;
    report->groups[report->n_groups] = *group;
    return report->n_groups++;
}

static int64_t parent_id(const struct pm_graph *graph, pm_index noun)
{
    pm_index parent = graph->nouns[noun].parent;
    return parent == PM_NONE ? 0 : graph->nouns[parent].id;
}

/* A construct of the source is one, in however many binaries it was compiled. Ids tell, with those
 * of parents, for every program has a main. Machine code is another one in each binary. false:
 * memory ended. */
static bool find_same_noun(struct grouping *grouping, pm_index noun, pm_index *ret_noun)
{
    const struct report *report = grouping->report;
    const struct pm_graph *graph = report->data->graph;
    const struct pm_noun *n = &graph->nouns[noun], *other;
    *ret_noun = noun;
    if (!n->id || !*n->binary || report_noun_is(report, noun, "symbol") ||
        report_noun_is(report, noun, "loopcode"))
        return true;
    uint64_t key = (uint64_t)n->id ^ (uint64_t)parent_id(graph, noun) * 0x9e3779b97f4a7c15u;
    pm_index first = pm_index_map_get(&grouping->nouns, (int64_t)key);
    if (first == PM_NONE)
        return pm_index_map_add(&grouping->nouns, (int64_t)key, noun);
    other = &graph->nouns[first];
    if (n->id == other->id && n->level == other->level &&
        parent_id(graph, noun) == parent_id(graph, first) && !strcmp(n->name, other->name) &&
        !strcmp(n->file, other->file) && n->line_no == other->line_no)
        *ret_noun = first;
    return true;
}

/* Where in the source a sentence leads first, for nouns that state no place themselves. */
static pm_index find_place(const struct pm_graph *graph, pm_index sentence)
{
    enum { MAX_STEPS = 8 };
    for (int step = 0; step < MAX_STEPS; step++) {
        pm_index noun = pm_graph_first_noun(graph, sentence);
        if (noun != PM_NONE && *graph->nouns[noun].file && graph->nouns[noun].line_no)
            return noun;
        if (graph->out_first[sentence] == graph->out_first[sentence + 1])
            break;
        sentence = graph->mappings[graph->out[graph->out_first[sentence]]].destination;
    }
    return PM_NONE;
}

/* The group of a sentence; false: memory ended. *ret_group PM_NONE: not of this level. */
static bool group_sentence(struct grouping *grouping, pm_index sentence, pm_index *ret_group)
{
    struct report *report = grouping->report;
    const struct pm_graph *graph = report->data->graph;
    pm_index noun = pm_graph_first_noun(graph, sentence), verb = graph->sentences[sentence].verb;
    struct report_group group = {.noun = noun, .verb = verb, .place = PM_NONE};
    pm_index climbed = PM_NONE;
    int64_t key;
    *ret_group = PM_NONE;
    if (noun != PM_NONE && report_noun_is(report, noun, "process")) {
        group.is_outside = true;
        if (!report->options.tree && !report->measured_nothing)
            group.noun = PM_NONE;
        key = group_key(KEY_OUTSIDE, 0, group.noun);
    } else if (report->level == PM_NONE || graph->verbs[verb].level != report->level) {
        return true;
    } else if (noun == PM_NONE || graph->sentences[sentence].n_nouns > 1) {
        key = group_key(KEY_SENTENCE, 0, sentence);
    } else {
        climbed = climb(report, noun);
        if (!find_same_noun(grouping, climbed, &group.noun))
            return false;
        const struct pm_noun *n = &graph->nouns[group.noun];
        if (report->options.by == REPORT_BY_FILE && strcmp(n->kind, "file") != 0 &&
            (*n->file || *n->binary)) {
            group.file = *n->file ? n->file : n->binary;
            pm_index first = pm_index_map_get(&grouping->files, (int64_t)(uintptr_t)group.file);
            if (first == PM_NONE &&
                !pm_index_map_add(&grouping->files, (int64_t)(uintptr_t)group.file,
                                  first = group.noun))
                return false;
            key = group_key(KEY_FILE, grouping->same_verb[verb], first);
        } else {
            key = group_key(KEY_NOUN, grouping->same_verb[verb], group.noun);
        }
    }
    *ret_group = find_or_add_group(grouping, key, &group);
    if (*ret_group == PM_NONE)
        return false;
    struct report_group *g = &report->groups[*ret_group];
    if (climbed != PM_NONE &&
        strcmp(graph->nouns[climbed].binary, graph->nouns[g->noun].binary) != 0)
        g->many_binaries = true;
    if (g->place == PM_NONE && climbed == noun && noun != PM_NONE && !*graph->nouns[noun].file)
        g->place = find_place(graph, sentence);
    return true;
}

/* Functions whose loops have rows of their own. */
static void mark_functions_with_loops(struct grouping *grouping)
{
    struct report *report = grouping->report;
    const struct pm_graph *graph = report->data->graph;
    for (uint32_t g = 0; g < report->n_groups; g++) {
        pm_index noun = report->groups[g].noun;
        if (report->groups[g].is_outside || noun == PM_NONE || !report_noun_is_loop(report, noun))
            continue;
        while (noun != PM_NONE && !report_noun_is_code(report, noun))
            noun = graph->nouns[noun].parent;
        if (noun == PM_NONE || !find_same_noun(grouping, noun, &noun))
            continue;
        pm_index function = pm_index_map_get(
            &grouping->groups,
            group_key(KEY_NOUN, grouping->same_verb[report->groups[g].verb], noun));
        if (function != PM_NONE)
            report->groups[function].has_loops = true;
    }
}

static enum pm_status make_groups(struct report *report, struct pm_error *err)
{
    const struct pm_graph *graph = report->data->graph;
    struct grouping grouping = {
        .report = report, .same_verb = pm_alloc_array(graph->n_verbs, sizeof *grouping.same_verb)};
    report->group_of = pm_alloc_array(graph->n_sentences, sizeof *report->group_of);
    bool ok = grouping.same_verb && report->group_of;
    for (pm_index v = 0; ok && v < graph->n_verbs; v++)
        for (pm_index first = 0; first <= v; first++)
            if (!strcmp(graph->verbs[first].name, graph->verbs[v].name)) {
                grouping.same_verb[v] = first;
                break;
            }
    for (pm_index s = 0; ok && s < graph->n_sentences; s++)
        ok = group_sentence(&grouping, s, &report->group_of[s]);
    if (ok && report->options.by == REPORT_BY_LOOP)
        mark_functions_with_loops(&grouping);
    pm_index_map_release(&grouping.groups);
    pm_index_map_release(&grouping.files);
    pm_index_map_release(&grouping.nouns);
    free(grouping.same_verb);
    return ok ? PM_OK : no_memory(err);
}

static enum pm_status make_lift(struct report *report, struct pm_error *err)
{
    const struct pm_graph *graph = report->data->graph;
    pm_index *sources = pm_alloc_array(graph->n_contexts, sizeof *sources);
    if (!sources)
        return no_memory(err);
    for (pm_index c = 0; c < graph->n_contexts; c++)
        sources[c] = graph->contexts[c].sentence;
    struct pm_lift_options options = {report->options.rule, report->group_of, report->n_groups};
    enum pm_status status =
        pm_lift_new(graph, &options, sources, graph->n_contexts, err, &report->lift);
    free(sources);
    return status;
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
    if (row->kind == REPORT_ROW_NOUN && report->groups[row->groups[0]].is_outside)
        row->kind = REPORT_ROW_OUTSIDE;
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

/* Whether calls in a sentence are entries of a loop, which rows of functions and files count apart.
 */
static bool counts_as_entries(const struct report *report, pm_index sentence)
{
    pm_index noun = pm_graph_first_noun(report->data->graph, sentence);
    return report->options.by != REPORT_BY_LOOP && noun != PM_NONE &&
           report_noun_is_loop(report, noun);
}

/* Costs in focus of one metric as samples; the room is for all costs. entries: 0 and 1 choose calls
 * by counts_as_entries, -1 takes all. */
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
        if (entries < 0 || counts_as_entries(report, sentence) == entries)
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
        status = pm_calls_inclusive(graph, report->lift, s->own, err, s->inclusive);
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
    if (status == PM_OK && report->options.bounds)
        status = add_bound_rows(report, s, err);
    for (uint32_t r = 0; r < report->n_rows; r++)
        report->rows[r].id = r;
    return status;
}

/* --- the tree --- */

/* A loop seen as its function, or anything within its file, is no step of its own. */
static enum pm_status make_tree(struct report *report, struct pm_call_tree *ret_tree,
                                struct pm_error *err)
{
    const struct pm_graph *graph = report->data->graph;
    bool *folds = pm_alloc_array(graph->n_contexts, sizeof *folds);
    if (!folds)
        return no_memory(err);
    for (pm_index c = 0; c < graph->n_contexts; c++)
        folds[c] = report->options.by == REPORT_BY_FILE ||
                   counts_as_entries(report, graph->contexts[c].sentence);
    enum pm_status status = pm_call_tree_make(graph, report->lift, folds, err, ret_tree);
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
        if (cost->metric == report->calls_metric) {
            bool entries = counts_as_entries(report, graph->contexts[cost->context].sentence);
            int64_t *n = entries ? &row->n_loop_entries : &row->n_calls;
            overflow |= __builtin_add_overflow(*n, cost->value, n);
        }
        for (uint32_t m = 0; m < report->n_metrics; m++)
            if (cost->metric == report->metrics[m])
                overflow |=
                    !pm_amount_add(&row->values[m].own, graph->metrics[cost->metric].aggregation,
                                   &(struct pm_amount){cost->value, 1});
    }
    for (uint32_t r = report->n_rows; r-- > 0;) {
        struct report_row *row = &report->rows[r];
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
        if (!tree_costs(report, &tree))
            status = overflow_error(err);
    }
    pm_call_tree_release(&tree);
    return status;
}

/* --- sums that the header needs --- */

static void summarise(struct report *report)
{
    const struct pm_graph *graph = report->data->graph;
    pm_index metric = report->n_metrics ? report->metrics[report->primary] : report->calls_metric;
    double all = 0, in_focus = 0;
    for (uint32_t i = 0; i < graph->n_costs; i++) {
        const struct pm_cost *cost = &graph->costs[i];
        uint32_t flags = graph->contexts[cost->context].flags;
        if (flags & PM_CONTEXT_FOLDED && cost->metric == report->calls_metric)
            report->n_folded_calls += cost->value;
        if (cost->metric != metric)
            continue;
        all += (double)cost->value;
        if (report->in_focus[cost->context])
            in_focus += (double)cost->value;
    }
    for (pm_index c = 0; c < graph->n_contexts; c++)
        report->n_folded_contexts += (graph->contexts[c].flags & PM_CONTEXT_FOLDED) != 0;
    report->focus_share_pct = all != 0 ? 100 * in_focus / all : 100;
    for (uint32_t r = 0; r < report->n_rows; r++)
        if (report->rows[r].kind == REPORT_ROW_UNMAPPED)
            report->unmapped_value += (int64_t)report_primary(report, &report->rows[r]);
}

/* Cost on foreign stacks lies within what they interrupted, too. */
static enum pm_status sum_foreign_stacks(struct report *report, struct pm_error *err)
{
    const struct pm_graph *graph = report->data->graph;
    bool *foreign = pm_alloc_array(graph->n_contexts, sizeof *foreign);
    if (!foreign)
        return no_memory(err);
    for (pm_index c = 0; c < graph->n_contexts; c++) {
        pm_index parent = graph->contexts[c].parent;
        foreign[c] = graph->contexts[c].flags & PM_CONTEXT_FOREIGN_STACK ||
                     (parent != PM_NONE && foreign[parent]);
    }
    for (uint32_t i = 0; i < graph->n_costs; i++)
        if (graph->costs[i].metric == report->time_metric && foreign[graph->costs[i].context])
            report->foreign_stack_value += graph->costs[i].value;
    free(foreign);
    return PM_OK;
}

static enum pm_status make_rows(struct report *report, struct pm_error *err)
{
    const struct pm_graph *graph = report->data->graph;
    if (report->options.tree)
        return make_tree_rows(report, err);
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
        choose_level, choose_metrics, report_compensate, make_groups,
        make_lift,    report_focus,   make_rows,         report_arrange,
    };
    enum pm_status status = pm_archive_load(report->options.archive_path, 0, err, &report->data);
    for (size_t i = 0; i < sizeof steps / sizeof *steps && status == PM_OK; i++)
        status = steps[i](report, err);
    if (status == PM_OK)
        status = sum_foreign_stacks(report, err);
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
    free(report->in_focus);
    free(report->rows);
    report_naming_free(report->naming);
    *report = (struct report){0};
}
