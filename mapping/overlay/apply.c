/* An overlay in a graph: which nouns are matched, and what maps to them. */
#include "overlay.h"

#include "mapping/base/map.h"
#include "mapping/graph/pattern.h"

#include <stdlib.h>

/* What xxhash is for strings elsewhere; names of one archive. */
#include "format/pm_id.h"

struct matched {
    pm_index *nouns;
    uint32_t n, cap;
};

struct applying {
    const struct pm_overlay *overlay;
    struct pm_graph *graph;
    struct pm_error *err;
    struct pm_overlay_use *use;
    uint32_t n_nouns, n_sentences; /* of the graph, before */
    struct matched *matched;       /* per noun of the overlay */
    uint32_t *owner;               /* per noun of the graph: of the overlay; PM_NONE */
    bool *inside;            /* per noun of the graph: matched by what is above, or within it */
    pm_index *made;          /* per noun of the overlay: in the graph; PM_NONE: dropped */
    struct pm_map by_name;   /* of exact:NAME: hash -> 1 + noun */
    uint32_t *next;          /* the next one of that name, 1 + */
    pm_index *verb_of;       /* per verb of the graph: the same of the level; PM_NONE */
    struct pm_map sentences; /* noun of the overlay and verb -> 1 + sentence */
    pm_index level;
    bool failed;
};

enum { MOST_STEPS = 64 }; /* up a where axis; damaged archives may have more */

static enum pm_status no_memory(struct pm_error *err)
{
    return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}

/* --- names, letter by letter --- */

static uint64_t hash_of(const char *name)
{
    return XXH64(name, strlen(name), 0);
}

static const char *linker_name(const struct pm_graph_noun *noun)
{
    return *noun->linkage ? noun->linkage : noun->name;
}

static bool index_names(struct applying *a)
{
    for (pm_index n = a->n_nouns; n-- > 0;) {
        uint32_t *at = pm_map_at(&a->by_name, hash_of(linker_name(&a->graph->nouns[n])));
        if (!at)
            return false;
        a->next[n] = *at;
        *at = n + 1;
    }
    return true;
}

/* --- matching --- */

static void add_match(struct applying *a, uint32_t node, pm_index noun)
{
    struct matched *to = &a->matched[node];
    pm_index *nouns = pm_grow_array(to->nouns, to->n, &to->cap, 4, sizeof *nouns);
    a->failed |= !nouns;
    if (!nouns)
        return;
    to->nouns = nouns;
    nouns[to->n++] = noun;
}

/* Right below what is around it, or further down: with `right_below` only the former. */
static bool may_match(const struct applying *a, pm_index noun, bool has_outer, bool right_below)
{
    pm_index parent = a->graph->nouns[noun].parent;
    if (!has_outer)
        return true;
    return right_below ? parent != PM_NONE && a->inside[parent] : a->inside[noun];
}

static void match_exactly(struct applying *a, uint32_t node, const char *name, bool has_outer,
                          bool right_below)
{
    uint32_t at = pm_map_get(&a->by_name, hash_of(name));
    for (; at; at = a->next[at - 1])
        if (may_match(a, at - 1, has_outer, right_below) &&
            !strcmp(linker_name(&a->graph->nouns[at - 1]), name))
            add_match(a, node, at - 1);
}

static void match_pattern(struct applying *a, uint32_t node, const char *text, bool has_outer,
                          bool right_below)
{
    if (!strncmp(text, "exact:", 6)) {
        match_exactly(a, node, text + 6, has_outer, right_below);
        return;
    }
    struct pm_pattern pattern = pm_pattern_in(text, a->graph);
    for (pm_index n = 0; n < a->n_nouns && !a->failed; n++)
        if (may_match(a, n, has_outer, right_below) &&
            pm_pattern_fits(&pattern, &a->graph->nouns[n]))
            add_match(a, node, n);
}

/* The nearest around it that has patterns; PM_NONE: anything may match. */
static uint32_t outer_of(const struct pm_overlay *overlay, uint32_t node)
{
    uint32_t up = overlay->nouns[node].parent;
    while (up != PM_NONE && !overlay->nouns[up].n_patterns)
        up = overlay->nouns[up].parent;
    return up;
}

/* inside: what the outer one matches, and all that lies in that. */
static void find_inside(struct applying *a, uint32_t outer)
{
    memset(a->inside, 0, a->n_nouns * sizeof *a->inside);
    for (uint32_t i = 0; i < a->matched[outer].n; i++)
        a->inside[a->matched[outer].nouns[i]] = true;
    for (pm_index n = 0; n < a->n_nouns; n++) {
        pm_index up = n;
        for (int steps = 0; up != PM_NONE && !a->inside[up] && steps < MOST_STEPS; steps++)
            up = a->graph->nouns[up].parent;
        if (up != PM_NONE && a->inside[up])
            a->inside[n] = true;
    }
}

static void match_all(struct applying *a, uint32_t node, bool has_outer, bool right_below)
{
    const struct pm_overlay_noun *noun = &a->overlay->nouns[node];
    for (uint32_t i = 0; i < noun->n_patterns; i++)
        match_pattern(a, node, a->overlay->patterns[noun->first_pattern + i], has_outer,
                      right_below);
}

/* First what lies right below the match of what is above; levels that the archive has in between
 * are bridged. */
static void match_nodes(struct applying *a)
{
    uint32_t last_outer = PM_NONE;
    for (uint32_t node = 0; node < a->overlay->n_nouns && !a->failed; node++) {
        uint32_t outer = outer_of(a->overlay, node);
        if (!a->overlay->nouns[node].n_patterns)
            continue;
        if (outer == PM_NONE) {
            match_all(a, node, false, false);
            continue;
        }
        if (outer != last_outer)
            find_inside(a, outer);
        last_outer = outer;
        match_all(a, node, true, true);
        if (!a->matched[node].n)
            match_all(a, node, true, false);
    }
}

/* A noun that several match is of the deepest, and of those of one depth of the first. */
static void find_owners(struct applying *a)
{
    const struct pm_overlay_noun *nodes = a->overlay->nouns;
    for (pm_index n = 0; n < a->n_nouns; n++)
        a->owner[n] = PM_NONE;
    for (uint32_t node = 0; node < a->overlay->n_nouns; node++)
        for (uint32_t i = 0; i < a->matched[node].n; i++) {
            uint32_t *owner = &a->owner[a->matched[node].nouns[i]];
            if (*owner == PM_NONE || nodes[*owner].depth < nodes[node].depth)
                *owner = node;
        }
}

/* --- nouns of the new level --- */

static void count_use(struct applying *a)
{
    for (uint32_t node = 0; node < a->overlay->n_nouns; node++) {
        const struct pm_overlay_noun *noun = &a->overlay->nouns[node];
        bool is_there = a->matched[node].n > 0;
        a->use->n_matched += is_there;
        if (is_there || !noun->n_patterns)
            continue;
        if (!a->use->n_dropped++)
            a->use->first_dropped = noun->name;
    }
}

/* What matches, and what that lies in. */
static pm_index make_noun(struct applying *a, uint32_t node)
{
    const struct pm_overlay_noun *from = &a->overlay->nouns[node];
    if (a->made[node] != PM_NONE)
        return a->made[node];
    const struct pm_graph_noun noun = {
        .name = from->name,
        .kind = from->kind,
        .level = a->level,
        .parent = from->parent == PM_NONE ? (pm_index)PM_NONE : make_noun(a, from->parent)};
    return a->made[node] = pm_graph_noun(a->graph, &noun);
}

/* --- mappings --- */

/* Data is of what the data around it is of. It is no part of a function: others use its variables,
 * too. */
static uint32_t owner_of(const struct applying *a, pm_index noun)
{
    bool is_data = pm_noun_is_data(&a->graph->nouns[noun]);
    for (int steps = 0; noun != PM_NONE && steps < MOST_STEPS; steps++) {
        const struct pm_graph_noun *at = &a->graph->nouns[noun];
        if (is_data && !pm_noun_is_data(at) && strcmp(at->kind, "type") != 0)
            return PM_NONE;
        if (a->owner[noun] != PM_NONE)
            return a->owner[noun];
        noun = at->parent;
    }
    return PM_NONE;
}

/* One for each noun and verb. */
static pm_index sentence_of(struct applying *a, uint32_t node, pm_index verb)
{
    uint32_t *at = pm_map_at(&a->sentences, (uint64_t)node << 32 | verb);
    pm_index noun = make_noun(a, node);
    a->failed |= !at || noun == PM_NONE;
    if (a->failed)
        return PM_NONE;
    if (!*at) {
        pm_index sentence = pm_graph_sentence(a->graph, verb, &noun, 1);
        a->failed |= sentence == PM_NONE;
        *at = sentence + 1;
    }
    return *at - 1;
}

/* Code that is known to implement something is that: what was inlined into a function that matches
 * need not be of it. */
static bool is_explained(const struct pm_graph *graph, pm_index sentence)
{
    pm_index level = pm_graph_sentence_level(graph, sentence);
    for (uint32_t e = graph->out_first[sentence]; e < graph->out_first[sentence + 1]; e++)
        if (pm_graph_sentence_level(graph, graph->mappings[graph->out[e]].destination) != level)
            return true;
    return false;
}

static void map_sentence(struct applying *a, pm_index sentence)
{
    struct pm_graph *graph = a->graph;
    const struct pm_graph_sentence from = graph->sentences[sentence];
    uint32_t owner = PM_NONE;
    for (uint32_t i = 0; i < from.n_nouns && owner == PM_NONE; i++)
        owner = owner_of(a, graph->sentence_nouns[from.first_noun + i]);
    if (owner == PM_NONE)
        return;
    pm_index verb = a->verb_of[from.verb];
    if (verb == PM_NONE)
        verb = a->verb_of[from.verb] = pm_graph_verb(graph, graph->verbs[from.verb].name, a->level);
    a->failed |= verb == PM_NONE;
    pm_index to = a->failed ? (pm_index)PM_NONE : sentence_of(a, owner, verb);
    a->failed |= to == PM_NONE || pm_graph_mapping(graph, sentence, to, 0, "user") == PM_NONE;
}

static bool map_sentences(struct applying *a)
{
    bool *is_left_out = pm_alloc_array((size_t)a->n_sentences + 1, sizeof *is_left_out);
    if (!is_left_out)
        return false;
    pm_index source = pm_graph_find_level(a->graph, "Source");
    for (pm_index s = 0; s < a->n_sentences; s++)
        is_left_out[s] =
            pm_graph_sentence_level(a->graph, s) != source && is_explained(a->graph, s);
    for (pm_index s = 0; s < a->n_sentences && !a->failed; s++)
        if (!is_left_out[s])
            map_sentence(a, s);
    free(is_left_out);
    return !a->failed;
}

/* --- all of it --- */

static bool make_room(struct applying *a)
{
    uint32_t n = a->overlay->n_nouns;
    a->matched = pm_alloc_array(n, sizeof *a->matched);
    a->made = pm_alloc_array(n, sizeof *a->made);
    a->owner = pm_alloc_array((size_t)a->n_nouns + 1, sizeof *a->owner);
    a->inside = pm_alloc_array((size_t)a->n_nouns + 1, sizeof *a->inside);
    a->next = pm_alloc_array((size_t)a->n_nouns + 1, sizeof *a->next);
    a->verb_of = pm_alloc_array((size_t)a->graph->n_verbs + 1, sizeof *a->verb_of);
    for (uint32_t i = 0; a->made && i < n; i++)
        a->made[i] = PM_NONE;
    for (uint32_t i = 0; a->verb_of && i < a->graph->n_verbs; i++)
        a->verb_of[i] = PM_NONE;
    return a->verb_of && a->matched && a->made && a->owner && a->inside && a->next;
}

/* Above all that there is, so that what was called by something that matches counts for it. */
static pm_index highest_level(const struct pm_graph *graph)
{
    pm_index highest = pm_graph_find_level(graph, "Source");
    for (pm_index l = 0; l < graph->n_levels; l++)
        if (highest != PM_NONE && graph->levels[l].above == highest)
            highest = l; /* an overlay of before, or words */
    return highest;
}

static enum pm_status apply(struct applying *a)
{
    if (!make_room(a) || !index_names(a))
        return no_memory(a->err);
    match_nodes(a);
    if (a->failed)
        return no_memory(a->err);
    count_use(a);
    if (!a->use->n_matched)
        return pm_error_set(a->err, PM_ERR_NOT_FOUND,
                            "overlay '%s': no pattern matches anything in the archive, '%s' for "
                            "one",
                            a->overlay->name, a->overlay->patterns[0]);
    find_owners(a);
    pm_index above = highest_level(a->graph);
    a->level = pm_graph_level(a->graph, a->overlay->level);
    if (a->level == PM_NONE)
        return no_memory(a->err);
    a->graph->levels[a->level].above = above;
    return map_sentences(a) && pm_graph_seal(a->graph) ? PM_OK : no_memory(a->err);
}

enum pm_status pm_overlay_apply(const struct pm_overlay *overlay, struct pm_graph *graph,
                                struct pm_error *err, struct pm_overlay_use *ret_use)
{
    struct applying a = {.overlay = overlay,
                         .graph = graph,
                         .err = err,
                         .use = ret_use,
                         .n_nouns = graph->n_nouns,
                         .n_sentences = graph->n_sentences};
    *ret_use = (struct pm_overlay_use){0};
    if (pm_graph_find_level(graph, overlay->level) != PM_NONE)
        return pm_error_set(err, PM_ERR_USAGE,
                            "overlay '%s': the archive has a level '%s' already: choose another "
                            "name",
                            overlay->name, overlay->level);
    enum pm_status status = apply(&a);
    for (uint32_t i = 0; a.matched && i < overlay->n_nouns; i++)
        free(a.matched[i].nouns);
    free(a.matched);
    free(a.made);
    free(a.owner);
    free(a.inside);
    free(a.next);
    free(a.verb_of);
    pm_map_release(&a.by_name);
    pm_map_release(&a.sentences);
    return status;
}
