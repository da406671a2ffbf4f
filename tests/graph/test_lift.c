#include "mapping/base/str.h"
#include "mapping/graph/calls.h"
#include "mapping/graph/lift.h"
#include "plain.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

/* --- random mapping graphs against the plain model --- */

static uint64_t random_state;

static uint32_t random_below(uint32_t n)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((random_state >> 33) % n);
}

struct world {
    struct plain plain;
    struct pm_graph *graph;
    struct pm_lift_sample samples[24];
    size_t n_samples;
    bool measured[PLAIN_MAX];
    bool leaves_out[3 * PLAIN_MAX]; /* per mapping; the plain model has no such edge at all */
    pm_index sources[24];
};

/* Sentences on three levels; the destinations are those of the top level, some of which count as
 * one. Edges go anywhere: up, down, sideways, to themselves. */
static void make_world(struct world *w)
{
    static const double weights[] = {0, 0, 0, 1, 2, 0.5, 0.125, 7};
    memset(w, 0, sizeof *w);
    struct plain *p = &w->plain;
    p->n = 1 + random_below(PLAIN_MAX - 4);
    w->graph = pm_graph_new();
    pm_index verbs[3];
    for (int i = 0; i < 3; i++)
        verbs[i] = pm_graph_verb(w->graph, "Executes",
                                 pm_graph_level(w->graph, i == 0   ? "Base"
                                                          : i == 1 ? "Middle"
                                                                   : "Top"));
    bool grouped = random_below(4) == 0;
    for (uint32_t s = 0; s < p->n; s++) {
        uint32_t level = random_below(3);
        assert_int_equal(pm_graph_sentence(w->graph, verbs[level], NULL, 0), s);
        p->destination_of[s] = level == 2 ? (grouped ? random_below(PLAIN_MAX) : s) : PM_NONE;
    }
    uint32_t n_edges = random_below(3 * p->n + 1);
    bool weighted = random_below(2), leaves_out = random_below(2);
    p->weighs_destinations = random_below(3) == 0;
    for (uint32_t d = 0; d < PLAIN_MAX; d++)
        p->weight_of_destination[d] = random_below(3) ? random_below(1000) : 0;
    for (uint32_t i = 0; i < n_edges; i++) {
        uint32_t from = random_below(p->n), to = random_below(p->n);
        if (p->edge[from][to])
            continue;
        double weight = weighted ? weights[random_below(8)] : 0;
        pm_index mapping = pm_graph_mapping(w->graph, from, to, weight, "run");
        w->leaves_out[mapping] = leaves_out && random_below(3) == 0;
        if (w->leaves_out[mapping])
            continue;
        p->edge[from][to] = true;
        p->weight[from][to] = weight;
    }
    assert_true(pm_graph_seal(w->graph));
    plain_reach(p);
    for (w->n_samples = random_below(24); w->n_samples && !w->samples[w->n_samples - 1].value;)
        for (size_t i = 0; i < w->n_samples; i++) {
            w->samples[i] = (struct pm_lift_sample){
                random_below(p->n), 1 + random_below(random_below(2) ? 4 : 1000000)};
            w->sources[i] = w->samples[i].sentence;
            w->measured[w->samples[i].sentence] = true;
        }
    plain_close(p, w->measured);
    for (uint32_t s = 0; s < p->n; s++)
        if (p->weighs_destinations)
            plain_share_by_destinations(p, s, p->share[s]);
        else
            plain_share(p, s, 1, p->share[s]);
}

static void total_is_kept(const struct world *w, const struct pm_lift *lift,
                          enum pm_aggregation aggregation)
{
    struct pm_amount rows[PLAIN_MAX + 24], before = {0}, after = {0};
    assert_int_equal(pm_lift_costs(lift, aggregation, w->samples, w->n_samples, NULL, rows), PM_OK);
    for (size_t i = 0; i < w->n_samples; i++)
        assert_true(
            pm_amount_add(&before, aggregation, &(struct pm_amount){w->samples[i].value, 1}));
    for (uint32_t r = 0; r < lift->n_rows; r++)
        assert_true(pm_amount_add(&after, aggregation, &rows[r]));
    assert_int_equal(before.value, after.value);
    assert_true(aggregation == PM_MINIMUM || aggregation == PM_MAXIMUM ||
                fabs(before.n - after.n) < 1e-9);
}

static uint32_t row_of(const struct pm_lift *lift, pm_index sentence)
{
    return lift->parts[lift->class_first[lift->class_of[sentence]]].row;
}

/* merge and closed: the row of each source holds exactly its set, equal sets and only these share a
 * row, and amounts are sums. */
static void check_merged(const struct world *w, const struct pm_lift *lift, bool (*set)[PLAIN_MAX])
{
    struct pm_amount rows[PLAIN_MAX + 24];
    int64_t expected[PLAIN_MAX + 24] = {0};
    assert_int_equal(pm_lift_costs(lift, PM_SUM, w->samples, w->n_samples, NULL, rows), PM_OK);
    for (size_t i = 0; i < w->n_samples; i++) {
        pm_index s = w->samples[i].sentence;
        const struct pm_lift_row *row = &lift->rows[row_of(lift, s)];
        bool in_row[PLAIN_MAX] = {0};
        for (uint32_t k = 0; k < row->n_destinations; k++) {
            in_row[lift->destinations[row->first_destination + k]] = true;
            assert_true(k == 0 || lift->destinations[row->first_destination + k - 1] <
                                      lift->destinations[row->first_destination + k]);
        }
        assert_memory_equal(in_row, set[s], sizeof in_row);
        assert_int_equal(row->source, row->n_destinations ? PM_NONE : s);
        expected[row_of(lift, s)] += w->samples[i].value;
        for (size_t k = 0; k < i; k++) {
            pm_index other = w->samples[k].sentence;
            bool same_set = row->n_destinations && !memcmp(set[s], set[other], sizeof set[s]);
            assert_int_equal(row_of(lift, s) == row_of(lift, other), s == other || same_set);
        }
    }
    for (uint32_t r = 0; r < lift->n_rows; r++)
        assert_int_equal(rows[r].value, expected[r]);
}

/* split: each class rounds to whole units once. */
static void check_split(const struct world *w, const struct pm_lift *lift)
{
    struct pm_amount rows[PLAIN_MAX + 24];
    struct pm_bounds bounds[PLAIN_MAX];
    double expected[PLAIN_MAX] = {0}, unmapped[PLAIN_MAX] = {0};
    int64_t at_least[PLAIN_MAX] = {0}, at_most[PLAIN_MAX] = {0};
    assert_int_equal(pm_lift_costs(lift, PM_SUM, w->samples, w->n_samples, NULL, rows), PM_OK);
    assert_int_equal(pm_lift_bounds(lift, w->samples, w->n_samples, NULL, bounds), PM_OK);
    for (size_t i = 0; i < w->n_samples; i++) {
        pm_index s = w->samples[i].sentence;
        int64_t value = w->samples[i].value;
        uint32_t n = plain_n_reached(&w->plain, s);
        unmapped[s] += n ? 0 : (double)value;
        for (uint32_t d = 0; d < PLAIN_MAX; d++) {
            expected[d] += w->plain.share[s][d] * (double)value;
            at_least[d] += n == 1 && w->plain.reaches[s][d] ? value : 0;
            at_most[d] += w->plain.reaches[s][d] ? value : 0;
        }
    }
    for (uint32_t d = 0; d < PLAIN_MAX; d++) {
        assert_int_equal(bounds[d].at_least, at_least[d]);
        assert_int_equal(bounds[d].at_most, at_most[d]);
    }
    for (uint32_t r = 0; r < lift->n_rows; r++) {
        const struct pm_lift_row *row = &lift->rows[r];
        if (!row->n_destinations) {
            assert_int_equal(rows[r].value, (int64_t)unmapped[row->source]);
            continue;
        }
        assert_int_equal(row->n_destinations, 1);
        uint32_t d = lift->destinations[row->first_destination];
        assert_true(fabs((double)rows[r].value - expected[d]) <= lift->n_classes + 1e-3);
        assert_in_range(rows[r].value, bounds[d].at_least, bounds[d].at_most);
    }
}

/* Random calling-context trees over the world's sentences: inclusive sums by definition, path by
 * path. */
static void check_inclusive(struct world *w, const struct pm_lift *lift)
{
    struct pm_graph *graph = w->graph;
    int64_t own[12], got[PLAIN_MAX + 24];
    uint32_t around[PLAIN_MAX + 24];
    bool is_function[PLAIN_MAX + 24] = {0}, nests = random_below(2);
    long double expected[PLAIN_MAX + 24] = {0};
    const struct pm_call_nesting nesting = {around, is_function};
    for (uint32_t r = 0; r < lift->n_rows; r++) /* as many lie in none */
        around[r] = nests && r && random_below(2) ? random_below(r) : PM_NONE;
    graph->n_contexts = 0;
    for (pm_index c = 0; c < (w->n_samples ? 1 + random_below(12) : 0); c++) {
        pm_index parent = c && random_below(8) ? random_below(c) : PM_NONE;
        pm_graph_context(graph, parent,
                         random_below(10) ? w->sources[random_below((uint32_t)w->n_samples)]
                                          : random_below(w->plain.n),
                         0);
    }
    for (pm_index c = 0; c < graph->n_contexts; c++) {
        double largest[PLAIN_MAX + 24] = {0};
        own[c] = random_below(1000);
        for (pm_index up = c; up != PM_NONE; up = graph->contexts[up].parent) {
            double share[PLAIN_MAX + 24] = {0};
            uint32_t class = lift->class_of[graph->contexts[up].sentence];
            for (uint32_t k = class == PM_NONE ? 1 : lift->class_first[class];
                 class != PM_NONE && k < lift->class_first[class + 1]; k++)
                for (uint32_t row = lift->parts[k].row; row != PM_NONE; row = around[row])
                    share[row] += lift->parts[k].share;
            for (uint32_t r = 0; r < lift->n_rows; r++)
                largest[r] = fmax(largest[r], share[r]);
        }
        for (uint32_t r = 0; r < lift->n_rows; r++)
            expected[r] += (long double)largest[r] * own[c];
    }
    assert_int_equal(pm_calls_inclusive(graph, lift, nests ? &nesting : NULL, own, NULL, got),
                     PM_OK);
    for (uint32_t r = 0; r < lift->n_rows; r++)
        assert_true(fabsl(expected[r] - got[r]) <= 0.5001L);
}

/* The path of rows to a context, innermost last, without the steps that fold. */
static uint32_t plain_path(const struct pm_graph *graph, const struct pm_lift *lift,
                           const bool *folds, pm_index context, uint32_t *ret_path)
{
    pm_index chain[12];
    uint32_t n_chain = 0, n = 0;
    for (; context != PM_NONE; context = graph->contexts[context].parent)
        chain[n_chain++] = context;
    while (n_chain--) {
        pm_index c = chain[n_chain];
        if (lift->class_of[graph->contexts[c].sentence] == PM_NONE)
            continue;
        uint32_t row = row_of(lift, graph->contexts[c].sentence);
        if (!(n && folds[c] && ret_path[n - 1] == row))
            ret_path[n++] = row;
    }
    return n;
}

/* Two contexts are one node of the lifted tree if and only if their paths of rows are equal. */
static void check_tree(const struct world *w, const struct pm_lift *lift)
{
    const struct pm_graph *graph = w->graph;
    bool folds[12];
    uint32_t paths[12][12], lengths[12];
    struct pm_call_tree tree;
    for (pm_index c = 0; c < graph->n_contexts; c++)
        folds[c] = random_below(2);
    assert_int_equal(pm_call_tree_make(graph, lift, NULL, folds, NULL, &tree), PM_OK);
    for (pm_index c = 0; c < graph->n_contexts; c++) {
        uint32_t n = lengths[c] = plain_path(graph, lift, folds, c, paths[c]),
                 node = tree.node_of[c];
        for (uint32_t i = n; i-- > 0; node = tree.nodes[node].parent) {
            assert_int_equal(tree.nodes[node].row, paths[c][i]);
            assert_int_equal(tree.nodes[node].depth, i);
        }
        assert_int_equal(node, PM_NONE);
        for (pm_index other = 0; other < c; other++) {
            bool same =
                lengths[other] == n && !memcmp(paths[other], paths[c], n * sizeof *paths[c]);
            assert_int_equal(same, tree.node_of[other] == tree.node_of[c]);
        }
    }
    pm_call_tree_release(&tree);
}

static void lifting_agrees_with_the_plain_model(void **state)
{
    (void)state;
    static const enum pm_rule rules[] = {PM_RULE_MERGE, PM_RULE_CLOSED, PM_RULE_SPLIT};
    random_state = 20260101;
    for (int i = 0; i < 200000; i++) {
        struct world w;
        make_world(&w);
        for (int r = 0; r < 3; r++) {
            struct pm_lift_options options = {
                rules[r], w.plain.destination_of, PLAIN_MAX, w.leaves_out,
                w.plain.weighs_destinations ? w.plain.weight_of_destination : NULL};
            struct pm_lift *lift;
            assert_int_equal(pm_lift_new(w.graph, &options, w.sources, w.n_samples, NULL, &lift),
                             PM_OK);
            for (size_t k = 0; k < w.n_samples; k++) {
                uint32_t n;
                const uint32_t *reached = pm_lift_reached(lift, w.sources[k], &n);
                assert_int_equal(n, plain_n_reached(&w.plain, w.sources[k]));
                for (uint32_t m = 0; m < n; m++)
                    assert_true(w.plain.reaches[w.sources[k]][reached[m]]);
            }
            for (enum pm_aggregation a = PM_SUM; a <= PM_MAXIMUM; a++)
                total_is_kept(&w, lift, a);
            if (rules[r] == PM_RULE_SPLIT)
                check_split(&w, lift);
            else
                check_merged(&w, lift,
                             rules[r] == PM_RULE_MERGE ? w.plain.reaches : w.plain.closed);
            check_inclusive(&w, lift);
            if (rules[r] != PM_RULE_SPLIT)
                check_tree(&w, lift);
            pm_lift_free(lift);
        }
        pm_graph_free(w.graph);
    }
}

/* --- the paper's cases --- */

struct paper {
    struct pm_graph *graph;
    pm_index *destination_of;
    pm_index base[8], line[8];
};

static void paper_begin(struct paper *paper, int n_base, int n_lines)
{
    static const char *const lines[] = {"line1", "line2", "line3", "line4", "line5"};
    struct pm_graph *graph = paper->graph = pm_graph_new();
    pm_index base = pm_graph_level(graph, "Base"), source = pm_graph_level(graph, "CM Fortran");
    pm_index cpu = pm_graph_verb(graph, "CPU Utilization", base),
             executes = pm_graph_verb(graph, "Executes", source);
    for (int i = 0; i < n_base; i++) {
        pm_index noun = pm_graph_noun(
            graph,
            &(struct pm_graph_noun){.name = "cmpe_corr_6_", .level = base, .parent = PM_NONE});
        paper->base[i] = pm_graph_sentence(graph, cpu, &noun, 1);
    }
    for (int i = 0; i < n_lines; i++) {
        pm_index noun = pm_graph_noun(
            graph, &(struct pm_graph_noun){.name = lines[i], .level = source, .parent = PM_NONE});
        paper->line[i] = pm_graph_sentence(graph, executes, &noun, 1);
    }
}

/* Amounts of rows in the order of their first source; unused ones are -1. */
static void paper_lift(struct paper *paper, enum pm_rule rule, enum pm_aggregation aggregation,
                       const struct pm_lift_sample *samples, size_t n_samples, double *ret_values,
                       uint32_t *ret_n_rows)
{
    struct pm_graph *graph = paper->graph;
    assert_true(pm_graph_seal(graph));
    pm_index *destination_of = calloc(graph->n_sentences, sizeof *destination_of), sources[8];
    pm_lift_at_level(graph, pm_graph_find_level(graph, "CM Fortran"), destination_of);
    for (size_t i = 0; i < n_samples; i++)
        sources[i] = samples[i].sentence;
    struct pm_lift *lift;
    struct pm_amount rows[8];
    struct pm_lift_options options = {
        .rule = rule, .destination_of = destination_of, .n_destinations = graph->n_sentences};
    assert_int_equal(pm_lift_new(graph, &options, sources, n_samples, NULL, &lift), PM_OK);
    assert_int_equal(pm_lift_costs(lift, aggregation, samples, n_samples, NULL, rows), PM_OK);
    *ret_n_rows = lift->n_rows;
    for (uint32_t r = 0; r < lift->n_rows; r++)
        ret_values[r] =
            aggregation == PM_AVERAGE ? (double)rows[r].value / rows[r].n : (double)rows[r].value;
    pm_lift_free(lift);
    free(destination_of);
}

static void many_sources_of_one_destination_are_aggregated(void **state)
{
    (void)state;
    struct paper p;
    double values[8];
    uint32_t n;
    paper_begin(&p, 2, 1);
    pm_graph_mapping(p.graph, p.base[0], p.line[0], 0, "compiler");
    pm_graph_mapping(p.graph, p.base[1], p.line[0], 0, "compiler");
    struct pm_lift_sample samples[] = {{p.base[0], 30}, {p.base[1], 50}};
    paper_lift(&p, PM_RULE_MERGE, PM_SUM, samples, 2, values, &n);
    assert_int_equal(n, 1);
    assert_true(values[0] == 80);
    paper_lift(&p, PM_RULE_MERGE, PM_AVERAGE, samples, 2, values, &n);
    assert_true(n == 1 && values[0] == 40);
    pm_graph_free(p.graph);
}

/* "cmpe_corr_6_ implements lines 1160 and 1161": their row is one, or each has half. */
static void one_source_of_many_destinations_is_merged_or_split(void **state)
{
    (void)state;
    struct paper p;
    double values[8];
    uint32_t n;
    paper_begin(&p, 1, 2);
    pm_graph_mapping(p.graph, p.base[0], p.line[0], 0, "compiler");
    pm_graph_mapping(p.graph, p.base[0], p.line[1], 0, "compiler");
    struct pm_lift_sample samples[] = {{p.base[0], 101}};
    paper_lift(&p, PM_RULE_MERGE, PM_SUM, samples, 1, values, &n);
    assert_true(n == 1 && values[0] == 101);
    paper_lift(&p, PM_RULE_SPLIT, PM_SUM, samples, 1, values, &n);
    assert_true(n == 2 && values[0] + values[1] == 101 && fabs(values[0] - values[1]) == 1);
    pm_graph_free(p.graph);
}

/* Sources 0 -> {1, 2}, 1 -> {2, 3}: two rows merged, one row closed, three split. */
static void many_to_many_is_one_row_when_closed(void **state)
{
    (void)state;
    struct paper p;
    double values[8];
    uint32_t n;
    paper_begin(&p, 2, 3);
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++)
            pm_graph_mapping(p.graph, p.base[i], p.line[i + k], 0, "compiler");
    struct pm_lift_sample samples[] = {{p.base[0], 10}, {p.base[1], 20}};
    paper_lift(&p, PM_RULE_MERGE, PM_SUM, samples, 2, values, &n);
    assert_true(n == 2 && values[0] == 10 && values[1] == 20);
    paper_lift(&p, PM_RULE_CLOSED, PM_SUM, samples, 2, values, &n);
    assert_true(n == 1 && values[0] == 30);
    paper_lift(&p, PM_RULE_SPLIT, PM_SUM, samples, 2, values, &n);
    assert_true(n == 3 && values[0] == 5 && values[1] == 15 && values[2] == 10);
    pm_graph_free(p.graph);
}

static void stated_weights_divide_in_proportion(void **state)
{
    (void)state;
    struct paper p;
    double values[8];
    uint32_t n;
    paper_begin(&p, 1, 2);
    pm_graph_mapping(p.graph, p.base[0], p.line[0], 3, "user");
    pm_graph_mapping(p.graph, p.base[0], p.line[1], 0, "user"); /* not stated: 1 */
    struct pm_lift_sample samples[] = {{p.base[0], 1000}};
    paper_lift(&p, PM_RULE_SPLIT, PM_SUM, samples, 1, values, &n);
    assert_true(n == 2 && values[0] == 750 && values[1] == 250);
    pm_graph_free(p.graph);
}

static void what_maps_to_nothing_keeps_its_own_row(void **state)
{
    (void)state;
    static const enum pm_rule rules[] = {PM_RULE_MERGE, PM_RULE_CLOSED, PM_RULE_SPLIT};
    struct paper p;
    double values[8];
    uint32_t n;
    paper_begin(&p, 3, 1);
    pm_graph_mapping(p.graph, p.base[0], p.line[0], 0, "compiler");
    struct pm_lift_sample samples[] = {{p.base[0], 1}, {p.base[1], 2}, {p.base[2], 4}};
    for (int i = 0; i < 3; i++) {
        paper_lift(&p, rules[i], PM_SUM, samples, 3, values, &n);
        assert_true(n == 3 && values[0] == 1 && values[1] == 2 && values[2] == 4);
    }
    pm_graph_free(p.graph);
}

static void the_graph_serves_downward(void **state)
{
    (void)state;
    struct paper p;
    paper_begin(&p, 3, 2);
    pm_graph_mapping(p.graph, p.base[0], p.base[1], 0, "run");
    pm_graph_mapping(p.graph, p.base[1], p.line[0], 0, "compiler");
    pm_graph_mapping(p.graph, p.base[1], p.base[0], 0, "run"); /* a circle */
    pm_graph_mapping(p.graph, p.base[2], p.line[1], 0, "compiler");
    assert_true(pm_graph_seal(p.graph));
    pm_index found[8];
    assert_int_equal(pm_lift_down(p.graph, p.line[0], found), 3);
    assert_int_equal(found[0], p.line[0]);
    assert_int_equal(found[1], p.base[1]);
    assert_int_equal(found[2], p.base[0]);
    pm_graph_free(p.graph);
}

static void sums_that_leave_64_bits_are_an_error(void **state)
{
    (void)state;
    struct paper p;
    paper_begin(&p, 1, 1);
    pm_graph_mapping(p.graph, p.base[0], p.line[0], 0, "compiler");
    assert_true(pm_graph_seal(p.graph));
    pm_index destination_of[2];
    pm_lift_at_level(p.graph, 1, destination_of);
    struct pm_lift *lift;
    struct pm_lift_options options = {
        .rule = PM_RULE_MERGE, .destination_of = destination_of, .n_destinations = 2};
    assert_int_equal(pm_lift_new(p.graph, &options, p.base, 1, NULL, &lift), PM_OK);
    struct pm_lift_sample samples[] = {{p.base[0], INT64_MAX}, {p.base[0], 1}};
    struct pm_amount rows[2];
    struct pm_bounds bounds[2];
    assert_int_equal(pm_lift_costs(lift, PM_SUM, samples, 2, NULL, rows), PM_ERR_LIMIT);
    assert_int_equal(pm_lift_costs(lift, PM_MAXIMUM, samples, 2, NULL, rows), PM_OK);
    assert_int_equal(pm_lift_bounds(lift, samples, 2, NULL, bounds), PM_ERR_LIMIT);
    pm_lift_free(lift);
    pm_graph_free(p.graph);
}

/* --- calls --- */

static bool *no_folds(const struct pm_graph *graph)
{
    return calloc(graph->n_contexts + 1, sizeof(bool));
}

/* main -> f -> f -> g, costs 1, 2, 4, 8: f's inclusive cost is that of its outermost call. */
static void recursion_counts_once(void **state)
{
    (void)state;
    struct paper p;
    paper_begin(&p, 3, 3);
    for (int i = 0; i < 3; i++)
        pm_graph_mapping(p.graph, p.base[i], p.line[i], 0, "compiler");
    static const int path[] = {0, 1, 1, 2};
    for (pm_index c = 0; c < 4; c++)
        pm_graph_context(p.graph, c ? c - 1 : PM_NONE, p.base[path[c]], 0);
    assert_true(pm_graph_seal(p.graph));
    pm_index destination_of[6];
    pm_lift_at_level(p.graph, 1, destination_of);
    struct pm_lift_options options = {
        .rule = PM_RULE_MERGE, .destination_of = destination_of, .n_destinations = 6};
    struct pm_lift *lift;
    assert_int_equal(pm_lift_new(p.graph, &options, p.base, 3, NULL, &lift), PM_OK);
    int64_t own[] = {1, 2, 4, 8}, inclusive[3];
    assert_int_equal(pm_calls_inclusive(p.graph, lift, NULL, own, NULL, inclusive), PM_OK);
    assert_int_equal(inclusive[0], 15);
    assert_int_equal(inclusive[1], 14);
    assert_int_equal(inclusive[2], 8);
    struct pm_call_tree tree;
    bool *folds = no_folds(p.graph);
    assert_int_equal(pm_call_tree_make(p.graph, lift, NULL, folds, NULL, &tree), PM_OK);
    assert_int_equal(tree.n_nodes, 4);
    assert_int_equal(tree.nodes[3].depth, 3);
    pm_call_tree_release(&tree);
    folds[2] = true; /* the inner f is a part of the outer one, not a call */
    assert_int_equal(pm_call_tree_make(p.graph, lift, NULL, folds, NULL, &tree), PM_OK);
    assert_int_equal(tree.n_nodes, 3);
    assert_int_equal(tree.node_of[2], tree.node_of[1]);
    pm_call_tree_release(&tree);
    free(folds);
    pm_lift_free(lift);
    pm_graph_free(p.graph);
}

/* main, then a loop, inner loops of which only code is known: the middle one has no context at
 * all. A call in between begins anew; what was inlined into a loop lies in it. */
static void loops_around_others_are_on_the_path(void **state)
{
    (void)state;
    enum { MAIN, OUTER, MIDDLE, INNER, CALLED, N };
    enum { N_CONTEXTS = 9, INLINED = 7 };
    static const int sentences[N_CONTEXTS] = {MAIN,   OUTER, INNER,  CALLED, INNER,
                                              MIDDLE, INNER, CALLED, INNER};
    static const pm_index parents[N_CONTEXTS] = {PM_NONE, 0, 1, 1, 3, 1, 0, 1, INLINED};
    struct paper p;
    paper_begin(&p, N, N);
    for (int i = 0; i < N; i++)
        pm_graph_mapping(p.graph, p.base[i], p.line[i], 0, "compiler");
    for (pm_index c = 0; c < N_CONTEXTS; c++)
        pm_graph_context(p.graph, parents[c], p.base[sentences[c]],
                         c == INLINED ? PM_CONTEXT_INLINED : 0);
    assert_true(pm_graph_seal(p.graph));
    pm_index destination_of[2 * N];
    pm_lift_at_level(p.graph, 1, destination_of);
    struct pm_lift_options options = {
        .rule = PM_RULE_MERGE, .destination_of = destination_of, .n_destinations = 2 * N};
    struct pm_lift *lift;
    assert_int_equal(pm_lift_new(p.graph, &options, p.base, N, NULL, &lift), PM_OK);
    uint32_t row[N], around[N];
    bool is_function[N] = {0};
    for (int i = 0; i < N; i++)
        row[i] = row_of(lift, p.base[i]);
    for (int i = 0; i < N; i++)
        around[row[i]] = i > MAIN && i < CALLED ? row[i - 1] : PM_NONE;
    is_function[row[MAIN]] = is_function[row[CALLED]] = true;
    const struct pm_call_nesting nesting = {around, is_function};
    int64_t own[N_CONTEXTS] = {1, 2, 4, 8, 16, 32, 64}, inclusive[N];
    assert_int_equal(pm_calls_inclusive(p.graph, lift, &nesting, own, NULL, inclusive), PM_OK);
    assert_int_equal(inclusive[row[MAIN]], 127);
    assert_int_equal(inclusive[row[OUTER]], 126);
    assert_int_equal(inclusive[row[MIDDLE]], 116);
    assert_int_equal(inclusive[row[INNER]], 84);
    assert_int_equal(inclusive[row[CALLED]], 24);
    struct pm_call_tree tree;
    bool *folds = no_folds(p.graph);
    assert_int_equal(pm_call_tree_make(p.graph, lift, &nesting, folds, NULL, &tree), PM_OK);
    static const int paths[N_CONTEXTS][6] = {{MAIN, N},
                                             {MAIN, OUTER, N},
                                             {MAIN, OUTER, MIDDLE, INNER, N},
                                             {MAIN, OUTER, CALLED, N},
                                             {MAIN, OUTER, CALLED, MIDDLE, INNER, N},
                                             {MAIN, OUTER, MIDDLE, N},
                                             {MAIN, OUTER, MIDDLE, INNER, N},
                                             {MAIN, OUTER, CALLED, N},
                                             {MAIN, OUTER, MIDDLE, INNER, N}};
    for (pm_index c = 0; c < N_CONTEXTS; c++) {
        uint32_t node = tree.node_of[c], n = 0;
        while (paths[c][n] != N)
            n++;
        assert_int_equal(tree.nodes[node].depth, n - 1);
        for (; n-- > 0; node = tree.nodes[node].parent)
            assert_int_equal(tree.nodes[node].row, row[paths[c][n]]);
        assert_int_equal(node, PM_NONE);
    }
    assert_int_equal(tree.node_of[2], tree.node_of[6]);
    pm_call_tree_release(&tree);
    free(folds);
    pm_lift_free(lift);
    pm_graph_free(p.graph);
}

/* --- memory --- */

static enum pm_status build_and_lift(void)
{
    struct pm_graph *graph = pm_graph_new();
    if (!graph)
        return PM_ERR_MEMORY;
    pm_index level[2] = {pm_graph_level(graph, "Base"), PM_NONE};
    level[1] = graph->failed ? PM_NONE : pm_graph_level(graph, "Source");
    pm_index verb[2] = {PM_NONE, PM_NONE};
    enum pm_status status = PM_ERR_MEMORY;
    struct pm_lift *lift = NULL;
    pm_index destination_of[4], sources[] = {0, 1};
    for (int i = 0; i < 2 && !graph->failed; i++)
        verb[i] = pm_graph_verb(graph, "Executes", level[i]);
    for (int i = 0; i < 4 && !graph->failed; i++)
        pm_graph_sentence(graph, verb[i / 2], NULL, 0);
    for (int i = 0; i < 4 && !graph->failed; i++)
        pm_graph_mapping(graph, (pm_index)i / 2, 2 + (pm_index)i % 2, i, "compiler");
    for (int i = 0; i < 3 && !graph->failed; i++)
        pm_graph_context(graph, i ? 0 : PM_NONE, (pm_index)i / 2, 0);
    if (pm_graph_seal(graph)) {
        pm_lift_at_level(graph, level[1], destination_of);
        struct pm_lift_options options = {
            .rule = PM_RULE_SPLIT, .destination_of = destination_of, .n_destinations = 4};
        status = pm_lift_new(graph, &options, sources, 2, NULL, &lift);
    }
    struct pm_amount rows[4];
    struct pm_bounds bounds[4];
    int64_t own[3] = {1, 2, 3}, inclusive[4];
    struct pm_lift_sample samples[] = {{0, 5}, {1, 7}};
    if (status == PM_OK)
        status = pm_lift_costs(lift, PM_SUM, samples, 2, NULL, rows);
    if (status == PM_OK)
        status = pm_lift_bounds(lift, samples, 2, NULL, bounds);
    if (status == PM_OK)
        status = pm_calls_inclusive(graph, lift, NULL, own, NULL, inclusive);
    pm_lift_free(lift);
    pm_graph_free(graph);
    return status;
}

static void every_failing_allocation_is_reported(void **state)
{
    (void)state;
    int n = 1;
    for (;; n++) {
        pm_alloc_fail_at(n);
        enum pm_status status = build_and_lift();
        if (pm_alloc_fail_pending())
            break;
        assert_int_equal(status, PM_ERR_MEMORY);
    }
    pm_alloc_fail_at(0);
    assert_true(n > 20);
    assert_int_equal(build_and_lift(), PM_OK);
}

/* A million mappings in chains, circles and stars: what must not become quadratic. */
static void a_million_mappings_are_lifted(void **state)
{
    (void)state;
    enum { SOURCES = 300000, DESTINATIONS = 20000, EDGES = 1000000 };
    struct pm_graph *graph = pm_graph_new();
    pm_index verb[2] = {pm_graph_verb(graph, "Executes", pm_graph_level(graph, "Base")),
                        pm_graph_verb(graph, "Executes", pm_graph_level(graph, "Source"))};
    for (int i = 0; i < SOURCES + DESTINATIONS; i++)
        pm_graph_sentence(graph, verb[i >= SOURCES], NULL, 0);
    random_state = 7;
    for (int i = 0; i < EDGES; i++) {
        pm_index from = random_below(SOURCES);
        bool on = from % 16 && i % 4; /* mostly on to a neighbour, in blocks of 16 */
        pm_graph_mapping(graph, from,
                         on ? from / 16 * 16 + random_below(16)
                            : SOURCES + random_below(DESTINATIONS),
                         i % 3, "run");
    }
    assert_true(pm_graph_seal(graph));
    pm_index *destination_of = calloc(graph->n_sentences, sizeof *destination_of),
             *sources = calloc(SOURCES, sizeof *sources);
    struct pm_lift_sample *samples = calloc(SOURCES, sizeof *samples);
    int64_t total = 0, sum = 0;
    for (pm_index s = 0; s < SOURCES; s++) {
        sources[s] = s;
        samples[s] = (struct pm_lift_sample){s, s};
        total += s;
    }
    pm_lift_at_level(graph, 1, destination_of);
    for (enum pm_rule rule = PM_RULE_MERGE; rule <= PM_RULE_SPLIT; rule++) {
        struct pm_lift_options options = {
            .rule = rule, .destination_of = destination_of, .n_destinations = graph->n_sentences};
        struct pm_lift *lift;
        assert_int_equal(pm_lift_new(graph, &options, sources, SOURCES, NULL, &lift), PM_OK);
        struct pm_amount *rows = calloc(lift->n_rows, sizeof *rows);
        assert_int_equal(pm_lift_costs(lift, PM_SUM, samples, SOURCES, NULL, rows), PM_OK);
        sum = 0;
        for (uint32_t r = 0; r < lift->n_rows; r++)
            sum += rows[r].value;
        assert_int_equal(sum, total);
        free(rows);
        pm_lift_free(lift);
    }
    free(destination_of);
    free(sources);
    free(samples);
    pm_graph_free(graph);
}

/* A chain as long as the graph must not use the call stack. */
static void a_long_chain_is_walked_without_recursion(void **state)
{
    (void)state;
    enum { N = 400000 };
    struct pm_graph *graph = pm_graph_new();
    pm_index verb[2] = {pm_graph_verb(graph, "Executes", pm_graph_level(graph, "Base")),
                        pm_graph_verb(graph, "Executes", pm_graph_level(graph, "Source"))};
    pm_index *destination_of = calloc(N, sizeof *destination_of), source = 0;
    int64_t *own = calloc(N, sizeof *own);
    for (pm_index i = 0; i < N; i++) {
        pm_graph_sentence(graph, verb[i == N - 1], NULL, 0);
        if (i)
            pm_graph_mapping(graph, i - 1, i, 0, "run");
        pm_graph_context(graph, i ? i - 1 : PM_NONE, 0, 0);
        own[i] = 1;
    }
    assert_true(pm_graph_seal(graph));
    pm_lift_at_level(graph, 1, destination_of);
    struct pm_lift_options options = {
        .rule = PM_RULE_MERGE, .destination_of = destination_of, .n_destinations = N};
    struct pm_lift *lift;
    assert_int_equal(pm_lift_new(graph, &options, &source, 1, NULL, &lift), PM_OK);
    assert_int_equal(lift->n_rows, 1);
    assert_int_equal(lift->destinations[lift->rows[0].first_destination], N - 1);
    int64_t inclusive;
    assert_int_equal(pm_calls_inclusive(graph, lift, NULL, own, NULL, &inclusive), PM_OK);
    assert_int_equal(inclusive, N);
    free(destination_of);
    free(own);
    pm_lift_free(lift);
    pm_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lifting_agrees_with_the_plain_model),
        cmocka_unit_test(many_sources_of_one_destination_are_aggregated),
        cmocka_unit_test(one_source_of_many_destinations_is_merged_or_split),
        cmocka_unit_test(many_to_many_is_one_row_when_closed),
        cmocka_unit_test(stated_weights_divide_in_proportion),
        cmocka_unit_test(what_maps_to_nothing_keeps_its_own_row),
        cmocka_unit_test(the_graph_serves_downward),
        cmocka_unit_test(sums_that_leave_64_bits_are_an_error),
        cmocka_unit_test(recursion_counts_once),
        cmocka_unit_test(loops_around_others_are_on_the_path),
        cmocka_unit_test(every_failing_allocation_is_reported),
        cmocka_unit_test(a_million_mappings_are_lifted),
        cmocka_unit_test(a_long_chain_is_walked_without_recursion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
