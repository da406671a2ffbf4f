/* What sentences count as in a report: groups of the constructs of the level, and the lift to
 * them. */
#include "groupings.h"

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
    struct pm_view *view;
    struct pm_index_map groups; /* by key */
    struct pm_index_map files;  /* interned file name (its address) to a noun with it */
    struct pm_view_same_nouns same;
    pm_index *same_verb; /* per verb: the first of that name */
    uint32_t cap;
};

/* What a noun of the level counts as. */
static pm_index climb(const struct pm_view *view, pm_index noun)
{
    const struct pm_view_grouping *grouping = pm_view_grouping(view);
    bool is_ours = pm_view_is_at_source(view) || !strcmp(view->level_name, "Base");
    if (grouping->key != PM_VIEW_GROUP_BY_OPERATION &&
        (grouping->is_object || !is_ours)) /* of other levels each sentence is a row: {a Sum} */
        return noun;
    for (pm_index up = noun; up != PM_NONE; up = view->data->graph->nouns[up].parent)
        if (grouping->ends_at(view, up))
            return up;
    return noun;
}

static pm_index find_or_add_group(struct grouping *grouping, int64_t key,
                                  const struct pm_view_group *group)
{
    struct pm_view *view = grouping->view;
    pm_index found = pm_index_map_get(&grouping->groups, key);
    if (found != PM_NONE)
        return found;
    if (view->n_groups == grouping->cap) {
        uint32_t cap = grouping->cap ? grouping->cap * 2 : 256;
        struct pm_view_group *grown = pm_realloc_array(view->groups, cap, sizeof *grown);
        if (!grown)
            return PM_NONE;
        view->groups = grown;
        grouping->cap = cap;
    }
    if (!pm_index_map_add(&grouping->groups, key, view->n_groups))
        return PM_NONE;
    view->groups[view->n_groups] = *group;
    return view->n_groups++;
}

static int64_t parent_id(const struct pm_graph *graph, pm_index noun)
{
    pm_index parent = graph->nouns[noun].parent;
    return parent == PM_NONE ? 0 : graph->nouns[parent].id;
}

/* Ids tell, with those of parents, for every program has a main. Machine code is another one in
 * each binary. */
bool pm_view_find_same_noun(const struct pm_view *view, struct pm_view_same_nouns *same,
                            pm_index noun, pm_index *ret_noun)
{
    const struct pm_graph *graph = view->data->graph;
    const struct pm_graph_noun *n = &graph->nouns[noun], *other;
    *ret_noun = noun;
    if (!n->id || !*n->binary || pm_view_noun_is(view, noun, "symbol") ||
        pm_view_noun_is(view, noun, "loopcode") || pm_view_noun_is(view, noun, "inline") ||
        pm_view_noun_is_machine_code(view, noun))
        return true;
    uint64_t key = (uint64_t)n->id ^ (uint64_t)parent_id(graph, noun) * 0x9e3779b97f4a7c15u;
    pm_index first = pm_index_map_get(&same->nouns, (int64_t)key);
    if (first == PM_NONE)
        return pm_index_map_add(&same->nouns, (int64_t)key, noun);
    other = &graph->nouns[first];
    if (n->id == other->id && n->level == other->level &&
        parent_id(graph, noun) == parent_id(graph, first) && !strcmp(n->name, other->name) &&
        !strcmp(n->file, other->file) && n->line_no == other->line_no)
        *ret_noun = first;
    return true;
}

pm_index pm_view_find_place(const struct pm_view *view, pm_index sentence)
{
    enum { MAX_STEPS = 8 };
    const struct pm_graph *graph = view->data->graph;
    for (int step = 0; step < MAX_STEPS; step++) {
        pm_index noun = pm_graph_first_noun(graph, sentence);
        if (step > 0 && noun != PM_NONE && *graph->nouns[noun].file && graph->nouns[noun].line_no)
            return noun;
        pm_index next = PM_NONE;
        int best = -1; /* its own statement, one that it implements too, anything */
        for (uint32_t e = graph->out_first[sentence]; e < graph->out_first[sentence + 1]; e++) {
            const struct pm_mapping *m = &graph->mappings[graph->out[e]];
            pm_index to = pm_graph_first_noun(graph, m->destination);
            bool is_statement = to != PM_NONE && pm_view_noun_is_statement(view, to);
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

const char *pm_view_special_word(enum pm_view_special special)
{
    static const char *const words[] = {
        [PM_VIEW_ORDINARY] = "",
        [PM_VIEW_OUTSIDE] = "outside",
        [PM_VIEW_KERNEL] = "kernel",
        [PM_VIEW_PERFMAP] = "perfmap",
        [PM_VIEW_NOT_LOCATED] = "not located",
        [PM_VIEW_NOT_SAMPLED] = "not sampled",
        [PM_VIEW_NO_OBJECT] = "no object",
        [PM_VIEW_OBJECT_NOT_KNOWN] = "object not known",
    };
    return words[special];
}

/* What stands for no noun of the level. rank: 0 when no way leads from the sentence to the
 * level. */
static enum pm_view_special special_of(const struct pm_view *view, pm_index sentence,
                                       unsigned char rank)
{
    const struct pm_graph *graph = view->data->graph;
    pm_index noun = pm_graph_first_noun(graph, sentence);
    const struct pm_view_grouping *grouping = pm_view_grouping(view);
    bool is_here =
        view->level != PM_NONE && pm_graph_sentence_level(graph, sentence) == view->level;
    if (noun == PM_NONE)
        return PM_VIEW_ORDINARY;
    if (pm_view_noun_is(view, noun, "process"))
        return PM_VIEW_OUTSIDE;
    if (pm_view_noun_is(view, noun, "kernel") &&
        (is_here ? graph->sentences[sentence].n_nouns == 1 : !rank))
        return PM_VIEW_KERNEL;
    if (pm_view_noun_is(view, noun, "perfmap") && (is_here || !rank))
        return PM_VIEW_PERFMAP;
    if (pm_view_noun_is(view, noun, "lost") && (is_here || !rank))
        return PM_VIEW_NOT_LOCATED;
    if (pm_view_noun_is(view, noun, "unsampled") && (is_here || !rank))
        return PM_VIEW_NOT_SAMPLED;
    if (pm_view_is_at_source(view) && grouping->is_object && !is_here && !rank &&
        pm_view_noun_is_of_unknown_data(view, noun))
        return PM_VIEW_OBJECT_NOT_KNOWN;
    if (!is_here || pm_view_noun_is_machine_code(view, noun) ||
        pm_view_noun_is(view, noun, "symbol") || pm_view_noun_is(view, noun, "loopcode"))
        return PM_VIEW_ORDINARY;
    if (!pm_view_is_at_source(view))
        return PM_VIEW_ORDINARY;
    if (!grouping->is_object || grouping->is_object(view, noun))
        return PM_VIEW_ORDINARY;
    return pm_view_noun_is(view, noun, "line") ? PM_VIEW_OBJECT_NOT_KNOWN : PM_VIEW_NO_OBJECT;
}

/* The first noun that was met with that file; PM_NONE: memory ended. */
static pm_index first_of_file(struct grouping *grouping, const char *file, pm_index noun)
{
    pm_index first = pm_index_map_get(&grouping->files, (int64_t)(uintptr_t)file);
    if (first == PM_NONE && pm_index_map_add(&grouping->files, (int64_t)(uintptr_t)file, noun))
        first = noun;
    return first;
}

/* The key of a noun of the level that was climbed to, and what the group then is; false: memory
 * ended. */
static bool key_of_noun(struct grouping *grouping, pm_index climbed, struct pm_view_group *group,
                        int64_t *ret_key)
{
    const struct pm_view *view = grouping->view;
    if (!pm_view_find_same_noun(grouping->view, &grouping->same, climbed, &group->noun))
        return false;
    const struct pm_graph_noun *n = &view->data->graph->nouns[group->noun];
    pm_index verb = grouping->same_verb[group->verb], first;
    enum pm_view_group_key key = pm_view_grouping(view)->key;
    if (key == PM_VIEW_GROUP_BY_FILE && strcmp(n->kind, "file") != 0 && (*n->file || *n->binary)) {
        group->file = *n->file ? n->file : n->binary;
        first = first_of_file(grouping, group->file, group->noun);
        *ret_key = group_key(KEY_FILE, verb, first);
        return first != PM_NONE;
    }
    if (key == PM_VIEW_GROUP_BY_LINE && *n->file && n->line_no) {
        first = first_of_file(grouping, n->file, group->noun);
        *ret_key =
            (int64_t)((uint64_t)KEY_LINE << 61 | (uint64_t)(first & 0x1fffffff) << 32 | n->line_no);
        return first != PM_NONE;
    }
    /* How an object is accessed does not make two rows of it. */
    const char *name = view->data->graph->verbs[group->verb].name;
    bool accesses = pm_view_noun_is_object(view, climbed) &&
                    (!strcmp(name, "Reads") || !strcmp(name, "Writes"));
    *ret_key = group_key(KEY_NOUN, accesses ? 0x1fffffff : verb, group->noun);
    return true;
}

/* The group of a sentence; false: memory ended. *ret_group PM_NONE: not of this level. */
static bool group_sentence(struct grouping *grouping, pm_index sentence, unsigned char rank,
                           pm_index *ret_group)
{
    struct pm_view *view = grouping->view;
    const struct pm_graph *graph = view->data->graph;
    pm_index noun = pm_graph_first_noun(graph, sentence), verb = graph->sentences[sentence].verb;
    struct pm_view_group group = {
        .noun = noun, .verb = verb, .place = PM_NONE, .sentence = PM_NONE};
    pm_index climbed = PM_NONE;
    int64_t key;
    const struct pm_view_grouping *by = pm_view_grouping(view);
    group.special = special_of(view, sentence, rank);
    *ret_group = PM_NONE;
    if (group.special != PM_VIEW_ORDINARY) {
        bool own_row = group.special == PM_VIEW_OUTSIDE &&
                       ((view->options.tree && !by->where) || view->measured_nothing);
        group.noun = own_row ? noun : PM_NONE;
        key = group_key(KEY_SPECIAL, group.special, group.noun);
    } else if (view->level == PM_NONE || graph->verbs[verb].level != view->level) {
        return true;
    } else if (noun == PM_NONE ||
               (graph->sentences[sentence].n_nouns > 1 && by->key != PM_VIEW_GROUP_BY_OPERATION &&
                !(by->by_callee && pm_view_noun_is_machine_code(view, noun)))) {
        key = group_key(KEY_SENTENCE, 0, sentence);
        group.sentence = sentence;
    } else {
        climbed = climb(view, noun);
        if (!key_of_noun(grouping, climbed, &group, &key))
            return false;
    }
    *ret_group = find_or_add_group(grouping, key, &group);
    if (*ret_group == PM_NONE)
        return false;
    struct pm_view_group *g = &view->groups[*ret_group];
    if (by->key == PM_VIEW_GROUP_BY_LINE && climbed != PM_NONE && g->noun != PM_NONE &&
        pm_view_noun_is_statement(view, climbed) && !pm_view_noun_is_statement(view, g->noun))
        g->noun = climbed; /* rather than the function or loop that begins there */
    if (climbed != PM_NONE &&
        strcmp(graph->nouns[climbed].binary, graph->nouns[g->noun].binary) != 0)
        g->many_binaries = true;
    if (g->place == PM_NONE && group.special == PM_VIEW_ORDINARY && noun != PM_NONE &&
        (climbed == noun || group.sentence != PM_NONE) && !*graph->nouns[noun].file)
        g->place = pm_view_find_place(view, sentence);
    return true;
}

/* Functions whose loops have rows of their own. */
static void mark_functions_with_loops(struct grouping *grouping)
{
    struct pm_view *view = grouping->view;
    const struct pm_graph *graph = view->data->graph;
    for (uint32_t g = 0; g < view->n_groups; g++) {
        pm_index noun = view->groups[g].noun;
        if (view->groups[g].special || noun == PM_NONE || !pm_view_noun_is_loop(view, noun))
            continue;
        while (noun != PM_NONE && !pm_view_noun_is_code(view, noun))
            noun = graph->nouns[noun].parent;
        if (noun == PM_NONE ||
            !pm_view_find_same_noun(grouping->view, &grouping->same, noun, &noun))
            continue;
        pm_index function =
            pm_index_map_get(&grouping->groups,
                             group_key(KEY_NOUN, grouping->same_verb[view->groups[g].verb], noun));
        if (function != PM_NONE)
            view->groups[function].has_loops = true;
    }
}

/* Damaged archives may have a construct that lies in itself. */
static bool lies_in(const struct pm_view *view, uint32_t group, uint32_t outer)
{
    while (group != PM_NONE && group != outer)
        group = view->around[group];
    return group != PM_NONE;
}

/* What each loop lies in: the next loop or function up the where axis that has a group. false:
 * memory ended. */
static bool find_around(struct grouping *grouping)
{
    struct pm_view *view = grouping->view;
    const struct pm_graph *graph = view->data->graph;
    view->around = pm_alloc_array(view->n_groups, sizeof *view->around);
    for (uint32_t g = 0; view->around && g < view->n_groups; g++)
        view->around[g] = PM_NONE;
    for (uint32_t g = 0; view->around && g < view->n_groups; g++) {
        const struct pm_view_group *of = &view->groups[g];
        pm_index up = of->noun;
        if (of->special || of->sentence != PM_NONE || up == PM_NONE)
            continue;
        while (view->around[g] == PM_NONE && !pm_view_noun_is_code(view, up) &&
               (up = graph->nouns[up].parent) != PM_NONE) {
            struct pm_view_group group = {.noun = up, .verb = of->verb};
            int64_t key;
            if (!pm_view_grouping(view)->ends_at(view, up))
                continue;
            if (!key_of_noun(grouping, up, &group, &key))
                return false;
            uint32_t found = pm_index_map_get(&grouping->groups, key);
            if (found != PM_NONE && !lies_in(view, found, g))
                view->around[g] = found;
        }
    }
    return view->around != NULL;
}

enum pm_status pm_view_make_groups(struct pm_view *view, struct pm_error *err)
{
    const struct pm_graph *graph = view->data->graph;
    struct grouping grouping = {
        .view = view, .same_verb = pm_alloc_array(graph->n_verbs, sizeof *grouping.same_verb)};
    view->group_of = pm_alloc_array(graph->n_sentences, sizeof *view->group_of);
    unsigned char *rank = NULL;
    if (pm_view_find_ways(view, err, &rank) != PM_OK) {
        free(grouping.same_verb);
        return PM_ERR_MEMORY;
    }
    bool ok = grouping.same_verb && view->group_of;
    for (pm_index v = 0; ok && v < graph->n_verbs; v++)
        for (pm_index first = 0; first <= v; first++)
            if (!strcmp(graph->verbs[first].name, graph->verbs[v].name)) {
                grouping.same_verb[v] = first;
                break;
            }
    for (pm_index s = 0; ok && s < graph->n_sentences; s++)
        ok = group_sentence(&grouping, s, rank[s], &view->group_of[s]);
    if (ok && pm_view_grouping(view)->nests) {
        mark_functions_with_loops(&grouping);
        ok = !pm_view_is_at_source(view) || find_around(&grouping);
    }
    pm_index_map_release(&grouping.groups);
    pm_index_map_release(&grouping.files);
    pm_index_map_release(&grouping.same.nouns);
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

/* Splitting by instruction counts: each construct weighs as many instructions as were counted in
 * code that is its own alone, or, when none were counted, as many bytes as such code (of what
 * has costs) is long. */
static enum pm_status weigh_destinations(struct pm_view *view, const struct pm_lift *lift,
                                         double *weights, struct pm_error *err)
{
    const struct pm_graph *graph = view->data->graph;
    pm_index metric = pm_graph_find_metric(graph, "instructions");
    view->split_by_size = metric == PM_NONE || !pm_view_is_measured(graph, metric);
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
        if (!view->split_by_size && graph->costs[i].metric == metric)
            weights[*reached] += (double)graph->costs[i].value;
        else if (view->split_by_size && !seen[sentence] && noun != PM_NONE)
            weights[*reached] += (double)size_of_ranges(view->data->addresses[noun]);
        seen[sentence] = true;
    }
    free(seen);
    for (uint32_t g = 0; g < view->n_groups; g++)
        weights[g] = weights[g] > 0 ? weights[g] : 0;
    return PM_OK;
}

/* Loops around others have rows even where nothing was measured for themselves. false: memory
 * ended. */
static bool add_outer_loops(const struct pm_view *view, pm_index *sources, uint32_t *n)
{
    const struct pm_graph *graph = view->data->graph;
    bool *is_outer = pm_alloc_array(view->n_groups, sizeof *is_outer);
    if (!view->around || !is_outer) {
        free(is_outer);
        return !view->around;
    }
    for (uint32_t g = 0; g < view->n_groups; g++)
        if (view->around[g] != PM_NONE)
            is_outer[view->around[g]] = true;
    for (pm_index s = 0; s < graph->n_sentences; s++) {
        uint32_t g = view->group_of[s];
        if (g == PM_NONE || !is_outer[g])
            continue;
        is_outer[g] = false;
        sources[(*n)++] = s;
    }
    free(is_outer);
    return true;
}

enum pm_status pm_view_make_lift(struct pm_view *view, struct pm_error *err)
{
    const struct pm_graph *graph = view->data->graph;
    enum pm_view_split split = view->options.split;
    pm_index *sources = pm_alloc_array((size_t)graph->n_contexts + view->n_groups, sizeof *sources);
    double *weights = pm_alloc_array(view->n_groups, sizeof *weights);
    enum pm_status status = sources && weights ? PM_OK : no_memory(err);
    for (pm_index c = 0; status == PM_OK && c < graph->n_contexts; c++)
        sources[c] = graph->contexts[c].sentence;
    uint32_t n_sources = graph->n_contexts;
    if (status == PM_OK && !add_outer_loops(view, sources, &n_sources))
        status = no_memory(err);
    struct pm_lift_options options = {.rule = PM_RULE_MERGE,
                                      .destination_of = view->group_of,
                                      .n_destinations = view->n_groups,
                                      .leaves_out = view->leaves_out};
    struct pm_lift *alone = NULL;
    if (status == PM_OK && view->options.rule == PM_RULE_SPLIT &&
        split == PM_VIEW_SPLIT_INSTRUCTIONS) {
        status = pm_lift_new(graph, &options, sources, n_sources, err, &alone);
        if (status == PM_OK)
            status = weigh_destinations(view, alone, weights, err);
        pm_lift_free(alone);
    }
    options.rule = view->options.rule;
    options.destination_weights =
        split == PM_VIEW_SPLIT_WEIGHTS ? NULL : weights; /* equal: all are 0 */
    if (status == PM_OK)
        status = pm_lift_new(graph, &options, sources, n_sources, err, &view->lift);
    free(sources);
    free(weights);
    return status;
}
