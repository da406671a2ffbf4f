/* What sentences count as in a report: groups of the constructs of the level, and the lift to them. */
#include "report.h"

#include "mapping/graph/index_map.h"

#include <stdlib.h>

static enum pm_status no_memory(struct pm_error *err)
{
    return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}

/* --- destinations: sentences of the level, gone up the where axis --- */

/* Keys of groups in one number: verb, then what the rest counts, then a position. */
enum key_kind { KEY_NOUN, KEY_FILE, KEY_SENTENCE, KEY_SPECIAL, KEY_LINE };

static int64_t group_key(enum key_kind kind, pm_index verb, pm_index position)
{
    return (int64_t)((uint64_t)kind << 61 | (uint64_t)(verb & 0x1fffffff) << 32 | position);
}

struct grouping {
    struct report *report;
    struct pm_index_map groups; /* by key */
    struct pm_index_map files;  /* interned file name (its address) to a noun with it */
    struct pm_index_map nouns;  /* by id and parent's id: the first such noun */
    pm_index *same_verb;        /* per verb: the first of that name */
    uint32_t cap;
};

/* Whether going up the where axis ends here. */
static bool is_top(const struct report *report, pm_index noun)
{
    enum report_by by = report->options.by;
    if (by == REPORT_BY_FILE)
        return report_noun_is(report, noun, "file");
    if (report_noun_is_code(report, noun))
        return true;
    if (by == REPORT_BY_FUNCTION)
        return false;
    return report_noun_is_loop(report, noun) || report_noun_is(report, noun, "region") ||
           report_noun_is_machine_code(report, noun) || report_noun_is(report, noun, "inline") ||
           ((by == REPORT_BY_STATEMENT || by == REPORT_BY_LINE) &&
            report_noun_is_statement(report, noun));
}

/* What a noun of the level counts as. */
static pm_index climb(const struct report *report, pm_index noun)
{
    bool by_object =
        report->options.by == REPORT_BY_ARRAY || report->options.by == REPORT_BY_VARIABLE;
    bool is_ours = report_is_at_source(report) || !strcmp(report->level_name, "Base");
    if (by_object || !is_ours) /* of other levels each sentence is a row: {a Sum} */
        return noun;
    for (pm_index up = noun; up != PM_NONE; up = report->data->graph->nouns[up].parent)
        if (is_top(report, up))
            return up;
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
        report_noun_is(report, noun, "loopcode") || report_noun_is(report, noun, "inline") ||
        report_noun_is_machine_code(report, noun))
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

pm_index report_find_place(const struct report *report, pm_index sentence)
{
    enum { MAX_STEPS = 8 };
    const struct pm_graph *graph = report->data->graph;
    for (int step = 0; step < MAX_STEPS; step++) {
        pm_index noun = pm_graph_first_noun(graph, sentence);
        if (step > 0 && noun != PM_NONE && *graph->nouns[noun].file && graph->nouns[noun].line_no)
            return noun;
        pm_index next = PM_NONE;
        int best = -1; /* its own statement, one that it implements too, anything */
        for (uint32_t e = graph->out_first[sentence]; e < graph->out_first[sentence + 1]; e++) {
            const struct pm_mapping *m = &graph->mappings[graph->out[e]];
            pm_index to = pm_graph_first_noun(graph, m->destination);
            bool is_statement = to != PM_NONE && report_noun_is_statement(report, to);
            int rank = !is_statement ? 0 : *m->reason ? 1 : 2;
            if (rank > best) {
                best = rank;
                next = m->destination;
            }
        }
        if (next == PM_NONE)
            break;
        sentence = next;
    }
    return PM_NONE;
}

/* What stands for no noun of the level. rank: 0 when no way leads from the sentence to the level. */
static enum report_special special_of(const struct report *report, pm_index sentence,
                                      unsigned char rank)
{
    const struct pm_graph *graph = report->data->graph;
    pm_index noun = pm_graph_first_noun(graph, sentence);
    enum report_by by = report->options.by;
    bool is_here =
        report->level != PM_NONE && pm_graph_sentence_level(graph, sentence) == report->level;
    if (noun == PM_NONE)
        return REPORT_ORDINARY;
    if (report_noun_is(report, noun, "process"))
        return REPORT_OUTSIDE;
    if (report_noun_is(report, noun, "kernel") &&
        (is_here ? graph->sentences[sentence].n_nouns == 1 : !rank))
        return REPORT_KERNEL;
    if (report_noun_is(report, noun, "perfmap") && (is_here || !rank))
        return REPORT_PERFMAP;
    if (report_noun_is(report, noun, "lost") && (is_here || !rank))
        return REPORT_NOT_LOCATED;
    if (!is_here || report_noun_is_machine_code(report, noun) ||
        report_noun_is(report, noun, "symbol") || report_noun_is(report, noun, "loopcode"))
        return REPORT_ORDINARY;
    if (!report_is_at_source(report))
        return REPORT_ORDINARY;
    if ((by == REPORT_BY_ARRAY && !report_noun_is_array(report, noun)) ||
        (by == REPORT_BY_VARIABLE && !report_noun_is_object(report, noun)))
        return REPORT_NO_OBJECT;
    return REPORT_ORDINARY;
}

/* The first noun that was met with that file; PM_NONE: memory ended. */
static pm_index first_of_file(struct grouping *grouping, const char *file, pm_index noun)
{
    pm_index first = pm_index_map_get(&grouping->files, (int64_t)(uintptr_t)file);
    if (first == PM_NONE && pm_index_map_add(&grouping->files, (int64_t)(uintptr_t)file, noun))
        first = noun;
    return first;
}

/* The key of a noun of the level that was climbed to, and what the group then is; false: memory ended. */
static bool key_of_noun(struct grouping *grouping, pm_index climbed, struct report_group *group,
                        int64_t *ret_key)
{
    const struct report *report = grouping->report;
    if (!find_same_noun(grouping, climbed, &group->noun))
        return false;
    const struct pm_noun *n = &report->data->graph->nouns[group->noun];
    pm_index verb = grouping->same_verb[group->verb], first;
    if (report->options.by == REPORT_BY_FILE && strcmp(n->kind, "file") != 0 &&
        (*n->file || *n->binary)) {
        group->file = *n->file ? n->file : n->binary;
        first = first_of_file(grouping, group->file, group->noun);
        *ret_key = group_key(KEY_FILE, verb, first);
        return first != PM_NONE;
    }
    if (report->options.by == REPORT_BY_LINE && *n->file && n->line_no) {
        first = first_of_file(grouping, n->file, group->noun);
        *ret_key =
            (int64_t)((uint64_t)KEY_LINE << 61 | (uint64_t)(first & 0x1fffffff) << 32 | n->line_no);
        return first != PM_NONE;
    }
    /* How an object is accessed does not make two rows of it. */
    const char *name = report->data->graph->verbs[group->verb].name;
    bool accesses = report_noun_is_object(report, climbed) &&
                    (!strcmp(name, "Reads") || !strcmp(name, "Writes"));
    *ret_key = group_key(KEY_NOUN, accesses ? 0x1fffffff : verb, group->noun);
    return true;
}

/* The group of a sentence; false: memory ended. *ret_group PM_NONE: not of this level. */
static bool group_sentence(struct grouping *grouping, pm_index sentence, unsigned char rank,
                           pm_index *ret_group)
{
    struct report *report = grouping->report;
    const struct pm_graph *graph = report->data->graph;
    pm_index noun = pm_graph_first_noun(graph, sentence), verb = graph->sentences[sentence].verb;
    struct report_group group = {.noun = noun, .verb = verb, .place = PM_NONE, .sentence = PM_NONE};
    pm_index climbed = PM_NONE;
    int64_t key;
    bool by_callee =
        report->options.by == REPORT_BY_FUNCTION || report->options.by == REPORT_BY_FILE;
    group.special = special_of(report, sentence, rank);
    *ret_group = PM_NONE;
    if (group.special != REPORT_ORDINARY) {
        bool own_row =
            group.special == REPORT_OUTSIDE && (report->options.tree || report->measured_nothing);
        group.noun = own_row ? noun : PM_NONE;
        key = group_key(KEY_SPECIAL, group.special, group.noun);
    } else if (report->level == PM_NONE || graph->verbs[verb].level != report->level) {
        return true;
    } else if (noun == PM_NONE || (graph->sentences[sentence].n_nouns > 1 &&
                                   !(by_callee && report_noun_is_machine_code(report, noun)))) {
        key = group_key(KEY_SENTENCE, 0, sentence);
        group.sentence = sentence;
    } else {
        climbed = climb(report, noun);
        if (!key_of_noun(grouping, climbed, &group, &key))
            return false;
    }
    *ret_group = find_or_add_group(grouping, key, &group);
    if (*ret_group == PM_NONE)
        return false;
    struct report_group *g = &report->groups[*ret_group];
    if (report->options.by == REPORT_BY_LINE && climbed != PM_NONE && g->noun != PM_NONE &&
        report_noun_is_statement(report, climbed) && !report_noun_is_statement(report, g->noun))
        g->noun = climbed; /* rather than the function or loop that begins there */
    if (climbed != PM_NONE &&
        strcmp(graph->nouns[climbed].binary, graph->nouns[g->noun].binary) != 0)
        g->many_binaries = true;
    if (g->place == PM_NONE && group.special == REPORT_ORDINARY && noun != PM_NONE &&
        (climbed == noun || group.sentence != PM_NONE) && !*graph->nouns[noun].file)
        g->place = report_find_place(report, sentence);
    return true;
}

/* Functions whose loops have rows of their own. */
static void mark_functions_with_loops(struct grouping *grouping)
{
    struct report *report = grouping->report;
    const struct pm_graph *graph = report->data->graph;
    for (uint32_t g = 0; g < report->n_groups; g++) {
        pm_index noun = report->groups[g].noun;
        if (report->groups[g].special || noun == PM_NONE || !report_noun_is_loop(report, noun))
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

/* Damaged archives may have a construct that lies in itself. */
static bool lies_in(const struct report *report, uint32_t group, uint32_t outer)
{
    while (group != PM_NONE && group != outer)
        group = report->around[group];
    return group != PM_NONE;
}

/* What each loop lies in: the next loop or function up the where axis that has a group. false: memory ended. */
static bool find_around(struct grouping *grouping)
{
    struct report *report = grouping->report;
    const struct pm_graph *graph = report->data->graph;
    report->around = pm_alloc_array(report->n_groups, sizeof *report->around);
    for (uint32_t g = 0; report->around && g < report->n_groups; g++)
        report->around[g] = PM_NONE;
    for (uint32_t g = 0; report->around && g < report->n_groups; g++) {
        const struct report_group *of = &report->groups[g];
        pm_index up = of->noun;
        if (of->special || of->sentence != PM_NONE || up == PM_NONE)
            continue;
        while (report->around[g] == PM_NONE && !report_noun_is_code(report, up) &&
               (up = graph->nouns[up].parent) != PM_NONE) {
            struct report_group group = {.noun = up, .verb = of->verb};
            int64_t key;
            if (!is_top(report, up))
                continue;
            if (!key_of_noun(grouping, up, &group, &key))
                return false;
            uint32_t found = pm_index_map_get(&grouping->groups, key);
            if (found != PM_NONE && !lies_in(report, found, g))
                report->around[g] = found;
        }
    }
    return report->around != NULL;
}

enum pm_status report_make_groups(struct report *report, struct pm_error *err)
{
    const struct pm_graph *graph = report->data->graph;
    struct grouping grouping = {
        .report = report, .same_verb = pm_alloc_array(graph->n_verbs, sizeof *grouping.same_verb)};
    report->group_of = pm_alloc_array(graph->n_sentences, sizeof *report->group_of);
    unsigned char *rank = NULL;
    if (report_find_ways(report, err, &rank) != PM_OK) {
        free(grouping.same_verb);
        return PM_ERR_MEMORY;
    }
    bool ok = grouping.same_verb && report->group_of;
    for (pm_index v = 0; ok && v < graph->n_verbs; v++)
        for (pm_index first = 0; first <= v; first++)
            if (!strcmp(graph->verbs[first].name, graph->verbs[v].name)) {
                grouping.same_verb[v] = first;
                break;
            }
    for (pm_index s = 0; ok && s < graph->n_sentences; s++)
        ok = group_sentence(&grouping, s, rank[s], &report->group_of[s]);
    if (ok && report->options.by == REPORT_BY_LOOP) {
        mark_functions_with_loops(&grouping);
        ok = !report_is_at_source(report) || find_around(&grouping);
    }
    pm_index_map_release(&grouping.groups);
    pm_index_map_release(&grouping.files);
    pm_index_map_release(&grouping.nouns);
    free(grouping.same_verb);
    free(rank);
    return ok ? PM_OK : no_memory(err);
}

/* --- the lift --- */

/* Bytes of the ranges "0x10-0x20,0x30-0x34". What is not so counts nothing. */
static uint64_t size_of_ranges(const char *ranges)
{
    uint64_t sum = 0;
    for (const char *p = ranges; *p;) {
        char *end;
        uint64_t low = strtoull(p, &end, 16);
        if (end == p || *end != '-')
            return sum;
        p = end + 1;
        uint64_t high = strtoull(p, &end, 16);
        if (end == p)
            return sum;
        sum += high > low ? high - low : 0;
        p = end + strspn(end, ", ");
    }
    return sum;
}

/* Splitting by instruction counts: each construct weighs as many instructions as were counted in code that is its own alone, or, when
 * none were counted, as many bytes as such code (of what has costs) is long. */
static enum pm_status weigh_destinations(struct report *report, const struct pm_lift *lift,
                                         double *weights, struct pm_error *err)
{
    const struct pm_graph *graph = report->data->graph;
    pm_index metric = pm_graph_find_metric(graph, "instructions");
    report->split_by_size = metric == PM_NONE || !report_is_measured(graph, metric);
    bool *seen = pm_alloc_array(graph->n_sentences, sizeof *seen);
    if (!seen)
        return no_memory(err);
    for (uint32_t i = 0; i < graph->n_costs; i++) {
        pm_index sentence = graph->contexts[graph->costs[i].context].sentence;
        uint32_t n;
        const uint32_t *reached = pm_lift_reached(lift, sentence, &n);
        pm_index noun = pm_graph_first_noun(graph, sentence);
        if (n != 1)
            continue;
        if (!report->split_by_size && graph->costs[i].metric == metric)
            weights[*reached] += (double)graph->costs[i].value;
        else if (report->split_by_size && !seen[sentence] && noun != PM_NONE)
            weights[*reached] += (double)size_of_ranges(report->data->addresses[noun]);
        seen[sentence] = true;
    }
    free(seen);
    for (uint32_t g = 0; g < report->n_groups; g++)
        weights[g] = weights[g] > 0 ? weights[g] : 0;
    return PM_OK;
}

/* Loops around others have rows even where nothing was measured for themselves. false: memory ended. */
static bool add_outer_loops(const struct report *report, pm_index *sources, uint32_t *n)
{
    const struct pm_graph *graph = report->data->graph;
    bool *is_outer = pm_alloc_array(report->n_groups, sizeof *is_outer);
    if (!report->around || !is_outer) {
        free(is_outer);
        return !report->around;
    }
    for (uint32_t g = 0; g < report->n_groups; g++)
        if (report->around[g] != PM_NONE)
            is_outer[report->around[g]] = true;
    for (pm_index s = 0; s < graph->n_sentences; s++) {
        uint32_t g = report->group_of[s];
        if (g == PM_NONE || !is_outer[g])
            continue;
        is_outer[g] = false;
        sources[(*n)++] = s;
    }
    free(is_outer);
    return true;
}

enum pm_status report_make_lift(struct report *report, struct pm_error *err)
{
    const struct pm_graph *graph = report->data->graph;
    enum report_split split = report->options.split;
    pm_index *sources =
        pm_alloc_array((size_t)graph->n_contexts + report->n_groups, sizeof *sources);
    double *weights = pm_alloc_array(report->n_groups, sizeof *weights);
    enum pm_status status = sources && weights ? PM_OK : no_memory(err);
    for (pm_index c = 0; status == PM_OK && c < graph->n_contexts; c++)
        sources[c] = graph->contexts[c].sentence;
    uint32_t n_sources = graph->n_contexts;
    if (status == PM_OK && !add_outer_loops(report, sources, &n_sources))
        status = no_memory(err);
    struct pm_lift_options options = {.rule = PM_RULE_MERGE,
                                      .destination_of = report->group_of,
                                      .n_destinations = report->n_groups,
                                      .leaves_out = report->leaves_out};
    struct pm_lift *alone = NULL;
    if (status == PM_OK && report->options.rule == PM_RULE_SPLIT &&
        split == REPORT_SPLIT_INSTRUCTIONS) {
        status = pm_lift_new(graph, &options, sources, n_sources, err, &alone);
        if (status == PM_OK)
            status = weigh_destinations(report, alone, weights, err);
        pm_lift_free(alone);
    }
    options.rule = report->options.rule;
    options.destination_weights =
        split == REPORT_SPLIT_WEIGHTS ? NULL : weights; /* equal: all are 0 */
    if (status == PM_OK)
        status = pm_lift_new(graph, &options, sources, n_sources, err, &report->lift);
    free(sources);
    free(weights);
    return status;
}
