/* Which mappings a view follows.
 *
 * Code maps to several kinds of constructs at once: to its statement, its loop, the arrays it
 * touches. A view by arrays follows the ways to arrays, and those to the others only where no
 * array is to be had, so that a row is a set of arrays and not of an array and a loop. So each
 * sentence gets a rank: the best kind of construct that some way from it leads to; ways to
 * lesser ones are left out.
 */
#include "groupings.h"

#include "mapping/base/reasons.h"
#include "mapping/base/statement_names.h"

#include <stdlib.h>

enum rank { RANK_NONE, RANK_ANY, RANK_BLOCK, RANK_BETTER, RANK_REGION, RANK_WANTED };

static bool is_one_of(const char *kind, const char *const *kinds)
{
    for (; *kinds; kinds++)
        if (!strcmp(kind, *kinds))
            return true;
    return false;
}

bool pm_view_noun_is_statement(const struct pm_view *view, pm_index noun)
{
    static const char *const kinds[] = {"statement", "region", "line", NULL};
    return is_one_of(view->data->graph->nouns[noun].kind, kinds);
}

bool pm_view_is_unknown_line(const struct pm_view *view, pm_index noun)
{
    return !strncmp(view->data->graph->nouns[noun].name, PM_UNKNOWN_LINE_STATEMENT,
                    strlen(PM_UNKNOWN_LINE_STATEMENT));
}

bool pm_view_noun_is_object(const struct pm_view *view, pm_index noun)
{
    return pm_noun_is_data(&view->data->graph->nouns[noun]);
}

bool pm_view_noun_is_array(const struct pm_view *view, pm_index noun)
{
    return pm_noun_is_array(&view->data->graph->nouns[noun]);
}

bool pm_view_noun_is_machine_code(const struct pm_view *view, pm_index noun)
{
    static const char *const kinds[] = {"code", "kernel", "perfmap", "lost", "unsampled", NULL};
    return is_one_of(view->data->graph->nouns[noun].kind, kinds);
}

bool pm_view_noun_is_of_unknown_data(const struct pm_view *view, pm_index noun)
{
    return !strcmp(view->data->graph->nouns[noun].type, PM_CODE_OF_UNKNOWN_DATA);
}

bool pm_view_is_at_source(const struct pm_view *view)
{
    return !strcmp(view->level_name, "Source");
}

/* What arriving at a sentence of the level is worth. Nouns of kinds that are not ours (a user's
 * PIF) are as good as any. */
static enum rank rank_of_kind(const struct pm_view *view, pm_index sentence, const char *reason)
{
    const struct pm_view_grouping *grouping = pm_view_grouping(view);
    pm_index noun = pm_graph_first_noun(view->data->graph, sentence);
    if (noun == PM_NONE ||
        !pm_view_is_at_source(view)) /* levels above have no kinds to choose from */
        return RANK_WANTED;
    if (grouping->is_object && grouping->is_object(view, noun))
        return RANK_WANTED;
    if (grouping->is_object) /* of a line by debug information what it touches is not known */
        return pm_view_noun_is(view, noun, "line") ? RANK_BLOCK : RANK_ANY;
    if (pm_view_noun_is_object(view, noun))
        return RANK_ANY;
    if (pm_view_noun_is(view, noun,
                        "region")) /* beside a statement, a loop, or in place of a function */
        return RANK_REGION;
    if (pm_view_noun_is_statement(view,
                                  noun)) /* a loop that was fused is known by its statements only */
        return grouping->nests && !*reason ? RANK_BLOCK : RANK_WANTED;
    if (pm_view_noun_is_loop(view, noun))
        return grouping->nests ? RANK_WANTED : RANK_BETTER;
    if (pm_view_noun_is_code(view, noun))
        return grouping->nests ? RANK_BETTER : RANK_BLOCK;
    return RANK_WANTED;
}

static bool is_of_level(const struct pm_view *view, pm_index sentence)
{
    return view->level != PM_NONE &&
           pm_graph_sentence_level(view->data->graph, sentence) == view->level;
}

/* Functions with equal code are one: then another function, or what is known of its statements,
 * is implemented by the code, too. */
static bool is_known_by_statements(const struct pm_view *view, const struct pm_mapping *mapping,
                                   pm_index function)
{
    const struct pm_graph *graph = view->data->graph;
    for (uint32_t e = graph->out_first[mapping->source]; e < graph->out_first[mapping->source + 1];
         e++) {
        const struct pm_mapping *other = &graph->mappings[graph->out[e]];
        pm_index noun = pm_graph_first_noun(graph, other->destination);
        if (!*other->reason || noun == PM_NONE || !pm_view_noun_is_statement(view, noun))
            continue;
        if (pm_graph_ancestor(graph, noun, "function") == function)
            return true;
    }
    return false;
}

struct ways {
    const struct pm_view *view;
    unsigned char *rank;
    bool *is_sure; /* the sentence leads to what is wanted, and not perhaps only */
};

/* Code that is perhaps for an array is perhaps for a lone object: a method that is called for
 * elements and for locals. Its row has both. */
static bool may_be_for_other(const struct ways *ways, const struct pm_mapping *mapping,
                             pm_index noun)
{
    return !strcmp(mapping->origin, "possible") && noun != PM_NONE &&
           !ways->is_sure[mapping->source] && pm_view_noun_is_object(ways->view, noun);
}

static enum rank rank_of_mapping(const struct ways *ways, uint32_t m)
{
    const struct pm_view *view = ways->view;
    const struct pm_graph *graph = view->data->graph;
    const struct pm_mapping *mapping = &graph->mappings[m];
    if (!is_of_level(view, mapping->destination))
        return (enum rank)ways->rank[mapping->destination];
    pm_index noun = pm_graph_first_noun(graph, mapping->destination);
    bool by_object = pm_view_grouping(view)->is_object;
    if (by_object && pm_view_is_at_source(view) && may_be_for_other(ways, mapping, noun))
        return RANK_WANTED;
    if (!by_object && *mapping->reason && noun != PM_NONE && pm_view_noun_is_code(view, noun) &&
        !is_known_by_statements(view, mapping, noun))
        return RANK_WANTED;
    return rank_of_kind(view, mapping->destination, mapping->reason);
}

/* Backwards from the best constructs, then from lesser ones: each sentence is met first by its
 * best. */
static void spread_rank(const struct ways *ways, enum rank wanted, pm_index *queue)
{
    const struct pm_view *view = ways->view;
    const struct pm_graph *graph = view->data->graph;
    unsigned char *rank = ways->rank;
    uint32_t n = 0;
    for (uint32_t m = 0; m < graph->n_mappings; m++) {
        pm_index source = graph->mappings[m].source;
        if (!rank[source] && !is_of_level(view, source) &&
            is_of_level(view, graph->mappings[m].destination) &&
            rank_of_mapping(ways, m) == wanted) {
            rank[source] = (unsigned char)wanted;
            queue[n++] = source;
        }
    }
    for (uint32_t at = 0; at < n; at++)
        for (uint32_t e = graph->in_first[queue[at]]; e < graph->in_first[queue[at] + 1]; e++) {
            pm_index source = graph->mappings[graph->in[e]].source;
            if (!rank[source] && !is_of_level(view, source)) {
                rank[source] = (unsigned char)wanted;
                queue[n++] = source;
            }
        }
}

/* Code of which it is not known what it touches does not touch nothing: it is no code of what
 * called it, by object. */
static void drop_unknown_data(const struct pm_view *view, unsigned char *rank)
{
    const struct pm_graph *graph = view->data->graph;
    if (!pm_view_grouping(view)->is_object || !pm_view_is_at_source(view))
        return;
    for (pm_index s = 0; s < graph->n_sentences; s++) {
        pm_index noun = pm_graph_first_noun(graph, s);
        if (noun != PM_NONE && rank[s] < RANK_WANTED && pm_view_noun_is_of_unknown_data(view, noun))
            rank[s] = RANK_NONE;
    }
}

static void find_sure(const struct ways *ways)
{
    const struct pm_view_grouping *grouping = pm_view_grouping(ways->view);
    const struct pm_graph *graph = ways->view->data->graph;
    for (uint32_t m = 0; m < graph->n_mappings && grouping->is_object; m++) {
        const struct pm_mapping *mapping = &graph->mappings[m];
        pm_index noun = pm_graph_first_noun(graph, mapping->destination);
        ways->is_sure[mapping->source] |= noun != PM_NONE && strcmp(mapping->origin, "possible") &&
                                          grouping->is_object(ways->view, noun);
    }
}

static void find_ways(struct pm_view *view, const struct ways *ways, pm_index *queue)
{
    const struct pm_graph *graph = view->data->graph;
    find_sure(ways);
    for (enum rank wanted = RANK_WANTED; wanted > RANK_NONE; wanted--)
        spread_rank(ways, wanted, queue);
    drop_unknown_data(view, ways->rank);
    for (uint32_t m = 0; m < graph->n_mappings; m++)
        view->leaves_out[m] =
            rank_of_mapping(ways, m) < (enum rank)ways->rank[graph->mappings[m].source];
}

enum pm_status pm_view_find_ways(struct pm_view *view, struct pm_error *err,
                                 unsigned char **ret_rank)
{
    const struct pm_graph *graph = view->data->graph;
    struct ways ways = {view, pm_alloc_array(graph->n_sentences, 1),
                        pm_alloc_array(graph->n_sentences + 1u, sizeof *ways.is_sure)};
    pm_index *queue = pm_alloc_array(graph->n_sentences, sizeof *queue);
    view->leaves_out = pm_alloc_array(graph->n_mappings, sizeof *view->leaves_out);
    bool ok = ways.rank && ways.is_sure && queue && view->leaves_out;
    if (ok)
        find_ways(view, &ways, queue);
    free(queue);
    free(ways.is_sure);
    if (!ok) {
        free(ways.rank);
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    }
    *ret_rank = ways.rank;
    return PM_OK;
}

/* --- what may be --- */

enum pm_status pm_view_drop_guesses(struct pm_view *view, struct pm_error *err)
{
    struct pm_graph *graph = view->data->graph;
    uint32_t n_kept = 0;
    for (uint32_t m = 0; m < graph->n_mappings; m++)
        if (strcmp(graph->mappings[m].reason, PM_REASON_MAY_SERVE) != 0 &&
            strcmp(graph->mappings[m].reason, PM_REASON_CALLED) != 0)
            graph->mappings[n_kept++] = graph->mappings[m];
    bool any = n_kept < graph->n_mappings;
    graph->n_mappings = n_kept;
    if (any && !pm_graph_seal(graph))
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    return PM_OK;
}
