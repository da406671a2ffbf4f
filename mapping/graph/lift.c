#include "lift.h"

#include "../base/str.h"
#include "sets.h"

#include <math.h>
#include <stdlib.h>

/* The walk that finds D(s): Tarjan's strongly connected components ("Depth-first search and linear
 * graph algorithms", 1972) with the recursion unrolled. Components come out with all that they lead
 * to before them, so a component's set is the union of sets already there. */
struct pm_lift_private {
    const struct pm_graph *graph;
    const pm_index *destination_of;
    const bool *leaves_out;
    const double *destination_weights;
    uint32_t n_destinations;
    enum pm_rule rule;
    struct pm_sets sets; /* sets of destinations */
    /* split: [set, shares of its members as pairs of words]; 0: equal shares */
    struct pm_sets spreads;
    uint32_t *set_of;      /* per sentence; PM_NONE: not reached */
    uint32_t *spread_of;   /* split: per sentence */
    unsigned char *stated; /* split: per sentence: some mapping on its ways has a stated weight */
    pm_index *sources;     /* distinct, in order */
    uint32_t n_sources;
    /* scratch */
    uint32_t *mark; /* per destination: equals `stamp` when it is in the union that is being made */
    uint32_t *union_members;
    uint32_t *set_mark; /* per set, as far as it reaches */
    double *share;      /* split: per destination */
    uint32_t stamp, n_set_mark, cap_spread;
    uint32_t *spread_words;
};

struct frame {
    pm_index node;
    uint32_t edge; /* next of graph->out */
};

struct walk {
    uint32_t *order, *low; /* order of discovery from 1; lowest order reached */
    pm_index *stack;       /* nodes whose component is open */
    struct frame *frames;
    uint32_t n_found, n_stack, n_frames;
};

void pm_lift_at_level(const struct pm_graph *graph, pm_index level, pm_index *ret_destination_of)
{
    for (pm_index s = 0; s < graph->n_sentences; s++)
        ret_destination_of[s] = pm_graph_sentence_level(graph, s) == level ? s : PM_NONE;
}

/* The mapping at position e of graph->out; NULL: it is not followed. */
static const struct pm_mapping *followed(const struct pm_lift_private *own, uint32_t e)
{
    uint32_t mapping = own->graph->out[e];
    return own->leaves_out && own->leaves_out[mapping] ? NULL : &own->graph->mappings[mapping];
}

static int compare_u32(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The set marks grow with the sets; 0 is no stamp. */
static bool mark_set(struct pm_lift_private *own, uint32_t set, bool *ret_new)
{
    if (set >= own->n_set_mark) {
        uint32_t n = own->n_set_mark ? own->n_set_mark : 256;
        while (n <= set)
            n *= 2;
        uint32_t *grown = pm_realloc_array(own->set_mark, n, sizeof *grown);
        if (!grown)
            return false;
        memset(grown + own->n_set_mark, 0, (n - own->n_set_mark) * sizeof *grown);
        own->set_mark = grown;
        own->n_set_mark = n;
    }
    *ret_new = own->set_mark[set] != own->stamp;
    own->set_mark[set] = own->stamp;
    return true;
}

/* The union of the sets that the component's mappings lead to. Mostly one set, which is then the
 * answer itself. */
static uint32_t component_set(struct pm_lift_private *own, const pm_index *nodes, uint32_t n_nodes)
{
    const struct pm_graph *graph = own->graph;
    uint32_t only = 0, n_sets = 0, n_members = 0;
    own->stamp++;
    for (uint32_t i = 0; i < n_nodes; i++)
        for (uint32_t e = graph->out_first[nodes[i]]; e < graph->out_first[nodes[i] + 1]; e++) {
            const struct pm_mapping *m = followed(own, e);
            uint32_t set = m ? own->set_of[m->destination] : 0, n;
            bool is_new;
            if (set == PM_NONE || set == 0) /* within the component, or a dead end */
                continue;
            if (!mark_set(own, set, &is_new))
                return PM_SETS_FAILED;
            if (!is_new)
                continue;
            only = set;
            n_sets++;
            const uint32_t *members = pm_sets_members(&own->sets, set, &n);
            for (uint32_t k = 0; k < n; k++)
                if (own->mark[members[k]] != own->stamp) {
                    own->mark[members[k]] = own->stamp;
                    own->union_members[n_members++] = members[k];
                }
        }
    if (n_sets <= 1)
        return only;
    qsort(own->union_members, n_members, sizeof *own->union_members, compare_u32);
    return pm_sets_add(&own->sets, own->union_members, n_members);
}

/* Adds `amount` of what flows into `node` to the shares of its destinations. */
static void flow(struct pm_lift_private *own, pm_index node, double amount)
{
    uint32_t n, n_words;
    const uint32_t *members = pm_sets_members(&own->sets, own->set_of[node], &n);
    const uint32_t *words = pm_sets_members(&own->spreads, own->spread_of[node], &n_words);
    for (uint32_t k = 0; k < n; k++) {
        double part = 1.0 / n;
        if (own->spread_of[node])
            memcpy(&part, words + 1 + 2 * k, sizeof part);
        own->share[members[k]] += amount * part;
    }
}

/* Shares of a component's destinations: 0 (equal) unless some mapping on the ways has a stated
 * weight. */
static uint32_t component_spread(struct pm_lift_private *own, const pm_index *nodes,
                                 uint32_t n_nodes, uint32_t set)
{
    const struct pm_graph *graph = own->graph;
    uint32_t n;
    const uint32_t *members = pm_sets_members(&own->sets, set, &n);
    if (n <= 1 || !own->stated[nodes[0]])
        return 0;
    double largest = 0, total = 0;
    for (int pass = 0; pass < 3; pass++) /* largest weight; total of weights relative to it; flow */
        for (uint32_t i = 0; i < n_nodes; i++)
            for (uint32_t e = graph->out_first[nodes[i]]; e < graph->out_first[nodes[i] + 1]; e++) {
                const struct pm_mapping *m = followed(own, e);
                uint32_t to = m ? own->set_of[m->destination] : 0;
                if (to == PM_NONE || to == 0)
                    continue;
                double weight = m->weight > 0 ? m->weight : 1;
                if (pass == 0)
                    largest = weight > largest ? weight : largest;
                else if (pass == 1)
                    total += weight / largest;
                else
                    flow(own, m->destination, weight / largest / total);
            }
    uint32_t n_words = 1 + 2 * n;
    if (n_words > own->cap_spread) {
        uint32_t *grown = pm_realloc_array(own->spread_words, n_words, sizeof *grown);
        if (!grown)
            return PM_SETS_FAILED;
        own->spread_words = grown;
        own->cap_spread = n_words;
    }
    own->spread_words[0] = set;
    for (uint32_t k = 0; k < n; k++) {
        memcpy(own->spread_words + 1 + 2 * k, &own->share[members[k]], sizeof(double));
        own->share[members[k]] = 0;
    }
    return pm_sets_add(&own->spreads, own->spread_words, n_words);
}

/* Whether a mapping that leads on, from the component or from where it leads, has a stated weight.
 */
static bool component_stated(const struct pm_lift_private *own, const pm_index *nodes,
                             uint32_t n_nodes)
{
    const struct pm_graph *graph = own->graph;
    for (uint32_t i = 0; i < n_nodes; i++)
        for (uint32_t e = graph->out_first[nodes[i]]; e < graph->out_first[nodes[i] + 1]; e++) {
            const struct pm_mapping *m = followed(own, e);
            uint32_t to = m ? own->set_of[m->destination] : 0;
            if (to != PM_NONE && to != 0 && (m->weight > 0 || own->stated[m->destination]))
                return true;
        }
    return false;
}

static bool finish_component(struct pm_lift_private *own, const pm_index *nodes, uint32_t n_nodes)
{
    uint32_t set = component_set(own, nodes, n_nodes), spread = 0;
    if (set == PM_SETS_FAILED)
        return false;
    if (own->rule == PM_RULE_SPLIT && !own->destination_weights) {
        bool stated = component_stated(own, nodes, n_nodes);
        for (uint32_t i = 0; i < n_nodes; i++)
            own->stated[nodes[i]] = stated;
        spread = component_spread(own, nodes, n_nodes, set);
        if (spread == PM_SETS_FAILED)
            return false;
    }
    for (uint32_t i = 0; i < n_nodes; i++) {
        own->set_of[nodes[i]] = set;
        if (own->spread_of)
            own->spread_of[nodes[i]] = spread;
    }
    return true;
}

static void discover(struct walk *walk, const struct pm_graph *graph, pm_index node)
{
    walk->order[node] = walk->low[node] = ++walk->n_found;
    walk->stack[walk->n_stack++] = node;
    walk->frames[walk->n_frames++] = (struct frame){node, graph->out_first[node]};
}

/* Gives a destination its set of one, without walking on. False: `node` is none, or memory ended
 * (then failed is set). */
static bool arrive(struct pm_lift_private *own, pm_index node, bool *failed)
{
    uint32_t destination = own->destination_of[node];
    if (destination == PM_NONE)
        return false;
    PM_ASSERT(destination < own->n_destinations);
    own->set_of[node] = pm_sets_add(&own->sets, &destination, 1);
    *failed = own->set_of[node] == PM_SETS_FAILED;
    return !*failed;
}

static bool walk_from(struct pm_lift_private *own, struct walk *walk, pm_index start)
{
    const struct pm_graph *graph = own->graph;
    bool failed = false;
    if (own->set_of[start] != PM_NONE || arrive(own, start, &failed))
        return true;
    if (failed)
        return false;
    discover(walk, graph, start);
    while (walk->n_frames) {
        struct frame *frame = &walk->frames[walk->n_frames - 1];
        pm_index node = frame->node;
        if (frame->edge < graph->out_first[node + 1]) {
            const struct pm_mapping *m = followed(own, frame->edge++);
            if (!m)
                continue;
            pm_index to = m->destination;
            if (own->set_of[to] != PM_NONE || arrive(own, to, &failed))
                continue;
            if (failed)
                return false;
            if (!walk->order[to])
                discover(walk, graph, to);
            else if (walk->order[to] < walk->low[node])
                walk->low[node] = walk->order[to];
            continue;
        }
        walk->n_frames--;
        if (walk->n_frames) {
            pm_index parent = walk->frames[walk->n_frames - 1].node;
            if (walk->low[node] < walk->low[parent])
                walk->low[parent] = walk->low[node];
        }
        if (walk->low[node] != walk->order[node])
            continue;
        uint32_t top = walk->n_stack;
        while (walk->stack[--walk->n_stack] != node)
            ;
        if (!finish_component(own, walk->stack + walk->n_stack, top - walk->n_stack))
            return false;
    }
    return true;
}

/* Fills sources, set_of and spread_of. */
static bool reach_all(struct pm_lift_private *own, const pm_index *sources, size_t n_sources)
{
    uint32_t n = own->graph->n_sentences;
    struct walk walk = {
        .order = pm_alloc_array(n, sizeof *walk.order),
        .low = pm_alloc_array(n, sizeof *walk.low),
        .stack = pm_alloc_array(n, sizeof *walk.stack),
        .frames = pm_alloc_array(n, sizeof *walk.frames),
    };
    unsigned char *is_source = pm_alloc_array(n, 1);
    bool ok = walk.order && walk.low && walk.stack && walk.frames && is_source;
    for (size_t i = 0; ok && i < n_sources; i++) {
        PM_ASSERT(sources[i] < n);
        if (is_source[sources[i]])
            continue;
        is_source[sources[i]] = 1;
        own->sources[own->n_sources++] = sources[i];
        ok = walk_from(own, &walk, sources[i]);
    }
    free(walk.order);
    free(walk.low);
    free(walk.stack);
    free(walk.frames);
    free(is_source);
    return ok;
}

/* --- rows and classes --- */

/* A row for the set (0: unmapped, under source), its members appended to lift->destinations at
 * *n_used. */
static uint32_t add_row(struct pm_lift *lift, pm_index source, const uint32_t *members, uint32_t n,
                        uint32_t *n_used)
{
    lift->rows[lift->n_rows] = (struct pm_lift_row){n ? PM_NONE : source, *n_used, n};
    if (n)
        memcpy(lift->destinations + *n_used, members, n * sizeof *members);
    *n_used += n;
    return lift->n_rows++;
}

static void add_class(struct pm_lift *lift, const struct pm_lift_part *parts, uint32_t n)
{
    uint32_t first = lift->class_first[lift->n_classes];
    if (n)
        memcpy(lift->parts + first, parts, n * sizeof *parts);
    lift->class_first[++lift->n_classes] = first + n;
}

static uint32_t find_root(uint32_t *up, uint32_t i)
{
    while (up[i] != i)
        i = up[i] = up[up[i]];
    return i;
}

/* closed: rewrites the sources' sets into the closed ones (unions of all that overlap). `up` starts
 * as the identity. */
static bool close_sets(struct pm_lift_private *own, uint32_t *up, uint32_t *closed_of_set)
{
    uint32_t n_sets = own->sets.n, n, n_all = 0;
    for (uint32_t i = 0; i < own->n_sources; i++) {
        const uint32_t *members = pm_sets_members(&own->sets, own->set_of[own->sources[i]], &n);
        for (uint32_t k = 0; k < n; k++) {
            up[find_root(up, members[k])] = find_root(up, members[0]);
            if (own->mark[members[k]] != UINT32_MAX) { /* stamps never get there */
                own->mark[members[k]] = UINT32_MAX;
                own->union_members[n_all++] = members[k];
            }
        }
    }
    qsort(own->union_members, n_all, sizeof *own->union_members, compare_u32);
    /* Lists by root: a counting sort that keeps members rising. */
    uint32_t *start = pm_alloc_array((size_t)own->n_destinations + 2, sizeof *start);
    uint32_t *list = pm_alloc_array(n_all, sizeof *list);
    uint32_t *set_of_root = pm_alloc_array(own->n_destinations, sizeof *set_of_root);
    bool ok = start && list && set_of_root;
    for (uint32_t k = 0; ok && k < n_all; k++)
        start[find_root(up, own->union_members[k]) + 2]++;
    for (uint32_t d = 0; ok && d < own->n_destinations; d++)
        start[d + 2] += start[d + 1];
    for (uint32_t k = 0; ok && k < n_all; k++)
        list[start[find_root(up, own->union_members[k]) + 1]++] = own->union_members[k];
    for (uint32_t i = 0; ok && i < own->n_sources; i++) {
        uint32_t set = own->set_of[own->sources[i]];
        if (set == 0 || set >= n_sets || closed_of_set[set])
            continue;
        uint32_t root = find_root(up, *pm_sets_members(&own->sets, set, &n));
        if (!set_of_root[root])
            set_of_root[root] =
                pm_sets_add(&own->sets, list + start[root], start[root + 1] - start[root]);
        closed_of_set[set] = set_of_root[root];
        ok = closed_of_set[set] != PM_SETS_FAILED;
    }
    free(set_of_root);
    free(start);
    free(list);
    return ok;
}

/* merge and closed: a class is a row. row_of_set[closed_of_set ? closed_of_set[set] : set]: row
 * + 1. */
static void make_merged_rows(struct pm_lift *lift, uint32_t *row_of_set,
                             const uint32_t *closed_of_set)
{
    struct pm_lift_private *own = lift->own;
    uint32_t n_used = 0, n;
    for (uint32_t i = 0; i < own->n_sources; i++) {
        pm_index source = own->sources[i];
        uint32_t set = own->set_of[source];
        if (closed_of_set)
            set = closed_of_set[set];
        uint32_t row = set ? row_of_set[set] : 0;
        if (!row) {
            const uint32_t *members = pm_sets_members(&own->sets, set, &n);
            row = add_row(lift, source, members, n, &n_used) + 1;
            add_class(lift, &(struct pm_lift_part){row - 1, 1}, 1);
            if (set)
                row_of_set[set] = row;
        }
        lift->class_of[source] = row - 1;
    }
}

/* Shares of a set's members by weights of the destinations; left as they are (equal) when all
 * are 0. */
static void share_by_destinations(const struct pm_lift_private *own, const uint32_t *members,
                                  uint32_t n, struct pm_lift_part *parts)
{
    double largest = 0, total = 0;
    for (uint32_t k = 0; k < n; k++)
        largest = fmax(largest, own->destination_weights[members[k]]);
    for (uint32_t k = 0; k < n && largest > 0; k++)
        total += own->destination_weights[members[k]] / largest;
    for (uint32_t k = 0; k < n && largest > 0; k++)
        parts[k].share = own->destination_weights[members[k]] / largest / total;
}

/* split: rows are destinations, classes are pairs of set and spread. Equal shares: class_of_set,
 * others: class_of_spread (+ 1). */
static void make_split_rows(struct pm_lift *lift, uint32_t *row_of_destination,
                            uint32_t *class_of_set, uint32_t *class_of_spread,
                            struct pm_lift_part *scratch)
{
    struct pm_lift_private *own = lift->own;
    uint32_t n_used = 0, n;
    for (uint32_t i = 0; i < own->n_sources; i++) {
        pm_index source = own->sources[i];
        uint32_t set = own->set_of[source], spread = own->spread_of[source];
        if (!set) {
            add_class(lift, &(struct pm_lift_part){add_row(lift, source, NULL, 0, &n_used), 1}, 1);
            lift->class_of[source] = lift->n_classes - 1;
            continue;
        }
        uint32_t *known = spread ? &class_of_spread[spread] : &class_of_set[set];
        if (!*known) {
            const uint32_t *members = pm_sets_members(&own->sets, set, &n);
            const uint32_t *words = own->spreads.words + own->spreads.first[spread];
            for (uint32_t k = 0; k < n; k++) {
                uint32_t *row = &row_of_destination[members[k]];
                if (!*row)
                    *row = add_row(lift, source, members + k, 1, &n_used) + 1;
                scratch[k] = (struct pm_lift_part){*row - 1, 1.0 / n};
                if (spread)
                    memcpy(&scratch[k].share, words + 1 + 2 * k, sizeof(double));
            }
            if (own->destination_weights)
                share_by_destinations(own, members, n, scratch);
            add_class(lift, scratch, n);
            *known = lift->n_classes;
        }
        lift->class_of[source] = *known - 1;
    }
}

/* Largest sizes are known: rows and classes are at most the sources (split: plus destinations),
 * members and parts the sizes of the distinct sets and spreads. */
static bool make_rows(struct pm_lift *lift)
{
    struct pm_lift_private *own = lift->own;
    bool split = own->rule == PM_RULE_SPLIT, ok = true;
    uint32_t *closed = NULL, *up = NULL;
    if (own->rule == PM_RULE_CLOSED) {
        closed = pm_alloc_array(own->sets.n, sizeof *closed);
        up = pm_alloc_array(own->n_destinations, sizeof *up);
        for (uint32_t i = 0; up && i < own->n_destinations; i++)
            up[i] = i;
        ok = closed && up && close_sets(own, up, closed);
    }
    size_t n_rows = (size_t)own->n_sources + (split ? own->n_destinations : 0);
    size_t n_members =
        (size_t)own->sets.n_words + own->n_sources + (split ? own->n_destinations : 0);
    size_t n_parts = (size_t)own->sets.n_words + own->spreads.n_words + own->n_sources;
    uint32_t *by_set = pm_alloc_array(own->sets.n, sizeof *by_set);
    uint32_t *by_spread = pm_alloc_array(own->spreads.n, sizeof *by_spread);
    uint32_t *by_destination =
        pm_alloc_array(split ? own->n_destinations : 0, sizeof *by_destination);
    struct pm_lift_part *scratch = pm_alloc_array(split ? own->n_destinations : 0, sizeof *scratch);
    lift->rows = pm_alloc_array(n_rows, sizeof *lift->rows);
    lift->destinations = pm_alloc_array(n_members, sizeof *lift->destinations);
    lift->class_first = pm_alloc_array((size_t)own->n_sources + 1, sizeof *lift->class_first);
    lift->parts = pm_alloc_array(n_parts, sizeof *lift->parts);
    lift->class_of = pm_alloc_array(own->graph->n_sentences, sizeof *lift->class_of);
    ok = ok && by_set && by_spread && by_destination && scratch && lift->rows &&
         lift->destinations && lift->class_first && lift->parts && lift->class_of;
    if (ok) {
        memset(lift->class_of, 0xff, (size_t)own->graph->n_sentences * sizeof *lift->class_of);
        if (split)
            make_split_rows(lift, by_destination, by_set, by_spread, scratch);
        else
            make_merged_rows(lift, by_set, closed);
    }
    free(closed);
    free(up);
    free(by_set);
    free(by_spread);
    free(by_destination);
    free(scratch);
    return ok;
}

enum pm_status pm_lift_new(const struct pm_graph *graph, const struct pm_lift_options *options,
                           const pm_index *sources, size_t n_sources, struct pm_error *err,
                           struct pm_lift **ret_lift)
{
    PM_ASSERT(graph->out_first); /* sealed */
    struct pm_lift *lift = pm_alloc(sizeof *lift);
    struct pm_lift_private *own = lift ? lift->own = pm_alloc(sizeof *own) : NULL;
    bool ok = false;
    if (!own)
        goto out;
    bool split = options->rule == PM_RULE_SPLIT;
    own->graph = graph;
    own->destination_of = options->destination_of;
    own->leaves_out = options->leaves_out;
    own->destination_weights = options->destination_weights;
    own->n_destinations = options->n_destinations;
    own->rule = options->rule;
    own->set_of = pm_alloc_array(graph->n_sentences, sizeof *own->set_of);
    own->sources = pm_alloc_array(n_sources < graph->n_sentences ? n_sources : graph->n_sentences,
                                  sizeof *own->sources);
    own->mark = pm_alloc_array(own->n_destinations, sizeof *own->mark);
    own->union_members = pm_alloc_array(own->n_destinations, sizeof *own->union_members);
    own->spread_of = split ? pm_alloc_array(graph->n_sentences, sizeof *own->spread_of) : NULL;
    own->stated = split ? pm_alloc_array(graph->n_sentences, 1) : NULL;
    own->share = split ? pm_alloc_array(own->n_destinations, sizeof *own->share) : NULL;
    if (!pm_sets_init(&own->sets) || !pm_sets_init(&own->spreads) || !own->set_of ||
        !own->sources || !own->mark || !own->union_members ||
        (split && (!own->spread_of || !own->stated || !own->share)))
        goto out;
    memset(own->set_of, 0xff, (size_t)graph->n_sentences * sizeof *own->set_of);
    ok = reach_all(own, sources, n_sources) && make_rows(lift);
out:
    if (ok) {
        own->destination_of = NULL;
        own->leaves_out = NULL;
        own->destination_weights = NULL;
        *ret_lift = lift;
        return PM_OK;
    }
    bool at_limit = own && (own->sets.at_limit || own->spreads.at_limit);
    pm_lift_free(lift);
    if (at_limit)
        return pm_error_set(
            err, PM_ERR_LIMIT,
            "the mapping graph is too complex: its sets of destinations have more than %d members",
            PM_SETS_MAX_WORDS);
    return pm_error_set(err, PM_ERR_MEMORY, "out of memory for lifting costs of %zu sentences",
                        n_sources);
}

void pm_lift_free(struct pm_lift *lift)
{
    if (!lift)
        return;
    struct pm_lift_private *own = lift->own;
    if (own) {
        pm_sets_release(&own->sets);
        pm_sets_release(&own->spreads);
        void *arrays[] = {own->set_of, own->spread_of,     own->sources,
                          own->mark,   own->union_members, own->set_mark,
                          own->share,  own->spread_words,  own->stated};
        for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
            free(arrays[i]);
    }
    free(own);
    free(lift->rows);
    free(lift->destinations);
    free(lift->class_of);
    free(lift->class_first);
    free(lift->parts);
    free(lift);
}

const uint32_t *pm_lift_reached(const struct pm_lift *lift, pm_index source, uint32_t *ret_n)
{
    PM_ASSERT(lift->class_of[source] != PM_NONE);
    return pm_sets_members(&lift->own->sets, lift->own->set_of[source], ret_n);
}

/* --- costs --- */

bool pm_amount_add(struct pm_amount *a, enum pm_aggregation aggregation, const struct pm_amount *b)
{
    if (b->n == 0)
        return true;
    bool first = a->n == 0;
    a->n += b->n;
    switch (aggregation) {
    case PM_SUM:
    case PM_AVERAGE:
        return !__builtin_add_overflow(a->value, b->value, &a->value);
    case PM_MINIMUM:
        a->value = first || b->value < a->value ? b->value : a->value;
        return true;
    case PM_MAXIMUM:
        a->value = first || b->value > a->value ? b->value : a->value;
        return true;
    }
    return true;
}

/* Whole units: each part ends at the rounded running share
 * of the whole, and the last at the whole, so the parts are within one unit of their shares and add
 * up exactly. */
bool pm_lift_divide(const struct pm_lift *lift, uint32_t class, enum pm_aggregation aggregation,
                    const struct pm_amount *whole, struct pm_amount *ret_amounts)
{
    const struct pm_lift_part *parts = lift->parts + lift->class_first[class];
    uint32_t n_parts = lift->class_first[class + 1] - lift->class_first[class];
    bool divisible = aggregation == PM_SUM || aggregation == PM_AVERAGE;
    double running = 0;
    int64_t before = 0;
    while (n_parts > 1 &&
           parts[n_parts - 1].share == 0) /* the last one takes what rounding leaves */
        n_parts--;
    for (uint32_t k = 0; k < n_parts; k++) {
        struct pm_amount part = *whole;
        if (divisible && n_parts > 1) {
            running += parts[k].share;
            int64_t here = k + 1 == n_parts
                               ? whole->value
                               : (int64_t)llroundl((long double)whole->value * fminl(running, 1));
            part.value = here - before;
            part.n = whole->n * parts[k].share;
            before = here;
        }
        if (!pm_amount_add(&ret_amounts[parts[k].row], aggregation, &part))
            return false;
    }
    return true;
}

enum pm_status pm_lift_costs(const struct pm_lift *lift, enum pm_aggregation aggregation,
                             const struct pm_lift_sample *samples, size_t n_samples,
                             struct pm_error *err, struct pm_amount *ret_amounts)
{
    struct pm_amount *of_class = pm_alloc_array(lift->n_classes, sizeof *of_class);
    if (!of_class)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory for lifting %zu costs", n_samples);
    memset(ret_amounts, 0, lift->n_rows * sizeof *ret_amounts);
    bool ok = true;
    for (size_t i = 0; ok && i < n_samples; i++) {
        uint32_t class = lift->class_of[samples[i].sentence];
        PM_ASSERT(class != PM_NONE);
        ok = pm_amount_add(&of_class[class], aggregation, &(struct pm_amount){samples[i].value, 1});
    }
    for (uint32_t c = 0; ok && c < lift->n_classes; c++)
        if (of_class[c].n > 0)
            ok = pm_lift_divide(lift, c, aggregation, &of_class[c], ret_amounts);
    free(of_class);
    return ok ? PM_OK : pm_error_set(err, PM_ERR_LIMIT, "costs add up to more than 64 bits hold");
}

enum pm_status pm_lift_bounds(const struct pm_lift *lift, const struct pm_lift_sample *samples,
                              size_t n_samples, struct pm_error *err, struct pm_bounds *ret_bounds)
{
    const struct pm_lift_private *own = lift->own;
    int64_t *of_set = pm_alloc_array(own->sets.n, sizeof *of_set);
    if (!of_set)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory for bounds of %zu costs", n_samples);
    memset(ret_bounds, 0, own->n_destinations * sizeof *ret_bounds);
    bool overflow = false;
    for (size_t i = 0; i < n_samples; i++) {
        uint32_t set = own->set_of[samples[i].sentence];
        PM_ASSERT(set != PM_NONE);
        overflow |= __builtin_add_overflow(of_set[set], samples[i].value, &of_set[set]);
    }
    for (uint32_t set = 1; set < own->sets.n; set++) {
        uint32_t n;
        const uint32_t *members = pm_sets_members(&own->sets, set, &n);
        for (uint32_t k = 0; of_set[set] && k < n; k++) {
            struct pm_bounds *b = &ret_bounds[members[k]];
            overflow |= __builtin_add_overflow(b->at_most, of_set[set], &b->at_most);
            if (n == 1)
                b->at_least = of_set[set];
        }
    }
    free(of_set);
    return overflow ? pm_error_set(err, PM_ERR_LIMIT, "costs add up to more than 64 bits hold")
                    : PM_OK;
}

uint32_t pm_lift_down(const struct pm_graph *graph, pm_index sentence, pm_index *ret_sentences)
{
    unsigned char *seen = pm_alloc_array(graph->n_sentences, 1);
    if (!seen)
        return PM_NONE;
    uint32_t n = 0;
    ret_sentences[n++] = sentence;
    seen[sentence] = 1;
    for (uint32_t at = 0; at < n; at++)
        for (uint32_t e = graph->in_first[ret_sentences[at]];
             e < graph->in_first[ret_sentences[at] + 1]; e++) {
            pm_index from = graph->mappings[graph->in[e]].source;
            if (!seen[from]) {
                seen[from] = 1;
                ret_sentences[n++] = from;
            }
        }
    free(seen);
    return n;
}
