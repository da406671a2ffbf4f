/* What was active around a cost counts for it (dynamic mapping): at a level above the source, of
 * a program's own words or of array statements, code that maps to nothing there does its work
 * for the innermost sentence of that level on its path.
 *
 * Once groups, lift and focus are made, such contexts take the sentence that they count as.
 * Their calls are not its calls and are left out, as are, at lower levels, those of sentences
 * that only have a meaning further up.
 */
#include "groupings.h"

#include <stdlib.h>

/* From which sentences a way leads to the level. */
static bool *find_reaching(const struct pm_graph *graph, pm_index level)
{
    bool *reaches = pm_alloc_array(graph->n_sentences + 1u, sizeof *reaches);
    pm_index *waiting = pm_alloc_array(graph->n_sentences + 1u, sizeof *waiting);
    uint32_t n = 0;
    for (pm_index s = 0; reaches && waiting && s < graph->n_sentences; s++)
        if (pm_graph_sentence_level(graph, s) == level) {
            reaches[s] = true;
            waiting[n++] = s;
        }
    while (n > 0) {
        pm_index s = waiting[--n];
        for (uint32_t i = graph->in_first[s]; i < graph->in_first[s + 1]; i++) {
            pm_index from = graph->mappings[graph->in[i]].source;
            if (!reaches[from])
                waiting[n++] = from;
            reaches[from] = true;
        }
    }
    if (!waiting) {
        free(reaches);
        reaches = NULL;
    }
    free(waiting);
    return reaches;
}

bool pm_view_lies_above(const struct pm_graph *graph, pm_index level, pm_index other)
{
    for (uint32_t steps = 0; other != PM_NONE && level != PM_NONE && steps < graph->n_levels;
         steps++) {
        level = graph->levels[level].above;
        if (level == other)
            return true;
    }
    return false;
}

/* What an adapter says at level Base: all but running code, and what is known to be done for the
 * source. */
static bool is_said_at_base(const struct pm_graph *graph, pm_index base, pm_index sentence)
{
    return pm_graph_sentence_level(graph, sentence) == base &&
           strcmp(graph->verbs[graph->sentences[sentence].verb].name, "Executes") != 0 &&
           graph->out_first[sentence] == graph->out_first[sentence + 1];
}

/* At level Base, what a sentence of an adapter ({out.txt WriteFile}) costs of its own stands
 * below it, as that of the code around it, which other levels need: the same sentence again,
 * with nothing but such sentences between. */
static bool is_own_of_parent(const struct pm_graph *graph, pm_index base, pm_index context)
{
    pm_index sentence = graph->contexts[context].sentence, c = graph->contexts[context].parent;
    bool is_below = false;
    for (; c != PM_NONE; c = graph->contexts[c].parent, is_below = true) {
        pm_index at = graph->contexts[c].sentence;
        if (at == sentence)
            return is_below;
        bool is_said = is_said_at_base(graph, base, at);
        if (is_below ? !is_said && pm_graph_sentence_level(graph, at) == base : !is_said)
            return false;
    }
    return false;
}

/* Contexts whose parent's sentence stands for them. */
static bool *find_followers(const struct pm_view *view, pm_index source, pm_index base)
{
    const struct pm_graph *graph = view->data->graph;
    bool is_low = view->level == source || view->level == base;
    bool *reaches = is_low ? NULL : find_reaching(graph, view->level);
    bool *follows = pm_alloc_array(graph->n_contexts + 1u, sizeof *follows);
    bool *has_around = pm_alloc_array(graph->n_contexts + 1u, sizeof *has_around);
    bool good = follows && has_around && (reaches || is_low);
    for (pm_index c = 0; good && c < graph->n_contexts; c++) {
        const struct pm_context *context = &graph->contexts[c];
        pm_index parent = context->parent,
                 level = pm_graph_sentence_level(graph, context->sentence);
        bool is_there = reaches && reaches[context->sentence];
        has_around[c] = is_there || (parent != PM_NONE && has_around[parent]);
        follows[c] =
            !is_there && (has_around[c] ||
                          (parent != PM_NONE && pm_view_lies_above(graph, level, view->level)) ||
                          (view->level == base && is_own_of_parent(graph, base, c)) ||
                          (parent != PM_NONE && view->level == source &&
                           is_said_at_base(graph, base, context->sentence)));
    }
    free(reaches);
    free(has_around);
    if (good)
        return follows;
    free(follows);
    return NULL;
}

enum pm_status pm_view_follow_paths(struct pm_view *view, struct pm_error *err)
{
    struct pm_graph *graph = view->data->graph;
    pm_index source = pm_graph_find_level(graph, "Source"),
             base = pm_graph_find_level(graph, "Base");
    enum pm_view_where_axis where = pm_view_grouping(view)->where;
    bool is_of_lift = where == PM_VIEW_WHERE_CODE || where == PM_VIEW_WHERE_DATA;
    if (view->level == PM_NONE || (view->options.tree && !is_of_lift))
        return PM_OK; /* a tree shows them where they are */
    bool *follows = find_followers(view, source, base);
    view->sentence_of_focus =
        pm_alloc_array(graph->n_contexts + 1u, sizeof *view->sentence_of_focus);
    if (!follows || !view->sentence_of_focus) {
        free(follows);
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    }
    for (pm_index c = 0; c < graph->n_contexts; c++)
        view->sentence_of_focus[c] = graph->contexts[c].sentence;
    for (pm_index c = 0; c < graph->n_contexts; c++)
        if (follows[c])
            graph->contexts[c].sentence = graph->contexts[graph->contexts[c].parent].sentence;
    for (uint32_t i = 0; i < graph->n_costs; i++)
        if (graph->costs[i].metric == view->calls_metric && follows[graph->costs[i].context])
            graph->costs[i].value = 0;
    free(follows);
    return PM_OK;
}
