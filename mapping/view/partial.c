/* Numbers that are at least what is shown: of code that was not followed, or not timed, all the
 * time.
 *
 * What happens in code that is off, or counted only, counts for the innermost code around it
 * that is followed: the total is right, the code itself has less than its share. What goes by
 * the address (samples, blocks of the heap) finds its code all the same, but not what called it.
 * So with a function f that was left to sampling for a while:
 *
 *     what                                        own        inclusive
 *     CPU time by samples                         right      at least
 *     bytes_written and other counts of words     at least   at least
 *     wall time, when f was timed for a while     at least   at least
 *     wall time, when f was never timed           not known  at least that of the timed ones below
 *
 * In a tree what lies below f is at least, too: meanwhile it stood below f's caller.
 *
 * Where much CPU time was lost that no sample stands for, what was active meanwhile may have had
 * it.
 *
 * Where events were lost (memory or a limit was at its end), of which nobody knows what they
 * were, all is at least.
 */
#include "view.h"

#include "format/pm_adapters.h"
#include "format/pm_mode.h"

#include <stdlib.h>

/* Per noun. */
enum { NOT_FOLLOWED = 1, NOT_TIMED = 2 };

static unsigned char marks_of(enum pm_run_mode mode)
{
    return (unsigned char)((mode < PM_RUN_MODE_ACTIVE ? NOT_FOLLOWED : 0) |
                           (mode < PM_RUN_MODE_EXACT ? NOT_TIMED : 0));
}

/* The least mode of the runs, which all code has of which nothing else is said. */
static enum pm_run_mode least_mode(const struct pm_archive_data *data)
{
    enum pm_run_mode least = PM_RUN_MODE_TRACE, mode;
    for (uint32_t i = 0; i < data->n_executions; i++)
        if (pm_mode_of(data->executions[i].mode, &mode) && mode < least)
            least = mode;
    return least;
}

static bool is_all_the_time(const struct pm_archive_data *data, const struct pm_noun_mode *stay)
{
    const struct pm_process *process = &data->processes[stay->process];
    return stay->until_ns == PM_UNKNOWN &&
           (process->start_ns == PM_UNKNOWN || stay->from_ns <= process->start_ns);
}

static bool has_sleds(const struct pm_view *view, pm_index noun)
{
    return pm_view_noun_is(view, noun, "symbol") || pm_view_noun_is(view, noun, "loopcode");
}

/* Whether the program or an adapter said words of its own: at Base adapters have verbs of
 * theirs, --heap has one. */
static bool has_words(const struct pm_graph *graph)
{
    for (pm_index c = 0; c < graph->n_contexts; c++) {
        pm_index sentence = graph->contexts[c].sentence;
        const char *verb = graph->verbs[graph->sentences[sentence].verb].name;
        const char *level = graph->levels[pm_graph_sentence_level(graph, sentence)].name;
        if (strcmp(level, "Base") != 0 ||
            (strcmp(verb, "Executes") != 0 && strcmp(verb, "Allocates") != 0))
            return true;
    }
    return false;
}

/* Events that got no context, for memory or a limit was at its end: less those that the context
 * above counts at least. Of the others nobody knows where they were: the calls of whole threads,
 * mostly. */
int64_t pm_view_n_lost_events(const struct pm_archive_data *data)
{
    const struct pm_graph *graph = data->graph;
    int64_t n_lost = 0;
    for (uint32_t i = 0; i < data->n_processes; i++)
        if (data->processes[i].n_lost_contexts > 0) /* and is known */
            n_lost += data->processes[i].n_lost_contexts;
    for (uint32_t i = 0; n_lost > 0 && i < graph->n_costs; i++) {
        uint32_t flags = graph->contexts[graph->costs[i].context].flags;
        if (flags & PM_CONTEXT_FOLDED && !(flags & PM_CONTEXT_AMBIENT) &&
            !strcmp(graph->metrics[graph->costs[i].metric].name, "n_calls"))
            n_lost -= graph->costs[i].value;
    }
    return n_lost > 0 ? n_lost : 0;
}

/* CPU time that no sample stands for was spent in its context or in any below: thousands of
 * threads that each end before their first sample, say. Where that is more than a report may be
 * wrong by, all of these lack what they may have had of it. */
enum pm_status pm_view_find_lost(struct pm_view *view, struct pm_error *err)
{
    enum { LEAST_LOST_PCT = 3 };
    const struct pm_graph *graph = view->data->graph;
    double all_ns = 0;
    int64_t most_ns = 0, *lost_ns = pm_alloc_array(graph->n_contexts + 1u, sizeof *lost_ns);
    if (!lost_ns)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    for (uint32_t i = 0; i < graph->n_costs; i++) {
        const struct pm_cost *cost = &graph->costs[i];
        pm_index noun = pm_graph_first_noun(graph, graph->contexts[cost->context].sentence);
        pm_index around = graph->contexts[cost->context].parent;
        if (cost->metric != view->cpu_metric)
            continue;
        all_ns += (double)cost->value;
        if (noun != PM_NONE && around != PM_NONE && pm_view_noun_is(view, noun, "lost"))
            lost_ns[around] += cost->value;
    }
    for (pm_index c = 0; c < graph->n_contexts; c++) { /* those around it come before it */
        lost_ns[c] += graph->contexts[c].parent != PM_NONE ? lost_ns[graph->contexts[c].parent] : 0;
        most_ns = lost_ns[c] > most_ns ? lost_ns[c] : most_ns;
    }
    view->least_lost_ns = (int64_t)(all_ns * LEAST_LOST_PCT / 100);
    if (most_ns > view->least_lost_ns)
        view->lost_ns = lost_ns;
    else
        free(lost_ns);
    return PM_OK;
}

bool pm_view_lacks_samples(const struct pm_view *view, pm_index context, bool inclusive)
{
    const struct pm_graph *graph = view->data->graph;
    pm_index noun = pm_graph_first_noun(graph, graph->contexts[context].sentence),
             at = inclusive ? graph->contexts[context].parent : context;
    return view->lost_ns && at != PM_NONE && view->lost_ns[at] > view->least_lost_ns &&
           !(noun != PM_NONE && pm_view_noun_is(view, noun, "lost"));
}

/* How long constructs of OpenMP wait is not looked at while they are only counted. */
static void find_unmeasured(struct pm_view *view)
{
    const struct pm_archive_data *data = view->data;
    const struct pm_graph *graph = data->graph;
    bool any = false;
    for (uint32_t i = 0; i < data->n_noun_modes && !any; i++) {
        const struct pm_graph_noun *noun = &graph->nouns[data->noun_modes[i].noun];
        any = data->noun_modes[i].mode < PM_RUN_MODE_ACTIVE &&
              !strcmp(graph->levels[noun->level].name, PM_OPENMP_LEVEL);
    }
    for (pm_index m = 0; any && m < graph->n_metrics; m++)
        if (!strcmp(graph->metrics[m].name, "omp_wait_ns"))
            view->unmeasured_metric = m;
}

enum pm_status pm_view_find_partial(struct pm_view *view, struct pm_error *err)
{
    const struct pm_archive_data *data = view->data;
    const struct pm_graph *graph = data->graph;
    view->partial = pm_alloc_array(graph->n_nouns, sizeof *view->partial);
    view->is_placed = pm_alloc_array(graph->n_metrics + 1u, sizeof *view->is_placed);
    if (!view->partial || !view->is_placed)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    view->n_lost_events = pm_view_n_lost_events(data);
    unsigned char others = marks_of(least_mode(data));
    for (pm_index n = 0; n < graph->n_nouns; n++)
        view->partial[n] = has_sleds(view, n) ? others : 0;
    for (uint32_t i = 0; i < data->n_noun_modes; i++)
        if (is_all_the_time(data, &data->noun_modes[i]))
            view->partial[data->noun_modes[i].noun] = 0;
    for (uint32_t i = 0; i < data->n_noun_modes; i++)
        view->partial[data->noun_modes[i].noun] |= marks_of(data->noun_modes[i].mode);
    for (pm_index n = 0; n < graph->n_nouns; n++)
        if (data->bare[n] & PM_BARE_JUMPS)
            view->partial[n] |= NOT_TIMED;
    view->unmeasured_metric = PM_NONE;
    find_unmeasured(view);
    view->has_words = has_words(graph);
    for (pm_index m = 0; m < graph->n_metrics; m++)
        view->has_own_metrics |= strncmp(graph->metrics[m].description, "said by", 7) == 0;
    if (view->cpu_metric != PM_NONE)
        view->is_placed[view->cpu_metric] = true;
    for (uint32_t i = 0; i < graph->n_costs; i++) {
        const struct pm_cost *cost = &graph->costs[i];
        pm_index noun = pm_graph_first_noun(graph, graph->contexts[cost->context].sentence);
        view->is_placed[cost->metric] |=
            cost->value != 0 && noun != PM_NONE && pm_view_noun_is_machine_code(view, noun);
    }
    enum pm_status status = pm_view_find_lost_counts(view, err);
    if (status != PM_OK)
        return status;
    return pm_view_find_lost(view, err);
}

void pm_view_mark_partial(const struct pm_view *view, pm_index noun, struct pm_view_traits *traits)
{
    traits->costs_are_at_least |= noun != PM_NONE && view->partial[noun] & NOT_FOLLOWED;
    traits->times_are_at_least |= noun != PM_NONE && view->partial[noun] & NOT_TIMED;
}

bool pm_view_is_unmeasured(const struct pm_view *view, uint32_t m)
{
    return view->unmeasured_metric == view->metrics[m] && view->unmeasured_metric != PM_NONE;
}

bool pm_view_is_at_least(const struct pm_view *view, const struct pm_view_row *row, uint32_t m,
                         bool inclusive)
{
    const struct pm_view_traits *traits = &row->traits;
    pm_index metric = view->metrics[m];
    if (view->data->graph->metrics[metric].aggregation != PM_SUM)
        return false;
    if (traits->path_is_at_least || traits->data_is_at_least || view->n_lost_events)
        return true;
    if (metric == view->cpu_metric &&
        (inclusive ? traits->inclusive_lacks_samples : traits->own_lacks_samples))
        return true;
    if (pm_view_row_lacks_counts(view, row, m, inclusive) || pm_view_counts_are_cut(view, m) ||
        pm_view_is_unmeasured(view, m))
        return true;
    /* our own times have what has no context; those of flat profiles of others do not */
    bool is_untimed = traits->is_untimed || (pm_view_is_import(view) && traits->costs_are_at_least);
    if (metric == view->wall_metric)
        return traits->times_are_at_least || (inclusive && is_untimed);
    return traits->costs_are_at_least && (inclusive || !view->is_placed[metric]);
}
