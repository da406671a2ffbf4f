/* Phases of the program (pm_begin_process) over time: where costs of any kind of time were within
 * them. When they began and ended is not known closer than costs tell. */
#include "interval.h"

#include <stdlib.h>

enum { MOST_PHASES = 26 }; /* letters */

/* The phases that each context is in, as bits. To be freed; NULL: memory ended. */
static uint32_t *phases_of_contexts(struct pm_view *view)
{
    const struct pm_graph *graph = view->data->graph;
    struct pm_view_over_time *over = &view->over_time;
    uint32_t *in = pm_alloc_array(graph->n_contexts + 1u, sizeof *in);
    pm_index nouns[MOST_PHASES];
    for (pm_index c = 0; in && c < graph->n_contexts; c++) {
        const struct pm_context *context = &graph->contexts[c];
        pm_index noun = pm_graph_first_noun(graph, context->sentence);
        in[c] = context->parent == PM_NONE ? 0 : in[context->parent];
        if (!(context->flags & PM_CONTEXT_AMBIENT) || noun == PM_NONE ||
            !pm_view_noun_is(view, noun, "phase"))
            continue;
        uint32_t at = 0;
        while (at < over->n_phases && nouns[at] != noun)
            at++;
        if (at == MOST_PHASES)
            continue;
        over->n_phases = at == over->n_phases ? at + 1 : over->n_phases;
        nouns[at] = noun;
        in[c] |= 1u << at;
    }
    over->phases = pm_arena_alloc(&view->arena, (over->n_phases + 1u) * sizeof *over->phases);
    for (uint32_t i = 0; over->phases && i < over->n_phases; i++)
        over->phases[i].name = pm_text_printable(&view->arena, graph->nouns[nouns[i]].name);
    return in;
}

struct adding {
    struct pm_view *view;
    const uint32_t *in; /* per context */
};

static bool add_parts(void *context, const struct pm_cost *cost, const int64_t *parts)
{
    struct adding *a = context;
    const struct pm_view *view = a->view;
    const struct pm_view_over_time *over = &view->over_time;
    const char *kind = view->data->graph->metrics[cost->metric].kind;
    if (!a->in[cost->context] || strcmp(kind, "time") != 0)
        return true;
    for (uint32_t p = 0; p < over->n_phases; p++)
        for (uint32_t i = 0; a->in[cost->context] >> p & 1 && i < view->options.over_time; i++)
            over->phases[p].parts[i] += (double)parts[i];
    return true;
}

enum pm_status pm_view_find_phases(struct pm_view *view, struct pm_error *err)
{
    struct pm_view_over_time *over = &view->over_time;
    uint32_t n = view->options.over_time;
    if (n == 0)
        return PM_OK;
    struct adding a = {.view = view, .in = phases_of_contexts(view)};
    int64_t *edges_ns = pm_alloc_array(n + 1u, sizeof *edges_ns);
    bool good = a.in && edges_ns && over->phases;
    for (uint32_t p = 0; good && p < over->n_phases; p++) {
        over->phases[p].parts = pm_arena_alloc(&view->arena, n * sizeof *over->phases[p].parts);
        good = over->phases[p].name && over->phases[p].parts;
    }
    enum pm_status status = good ? PM_OK : pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    if (good && over->n_phases) {
        memcpy(edges_ns, over->edges_ns, (n + 1u) * sizeof *edges_ns);
        edges_ns[0] = view->interval.from_ns; /* open, perhaps */
        edges_ns[n] = view->interval.until_ns;
        status = pm_archive_each_part(view->data, view->runs_in, edges_ns, n, add_parts, &a, err);
    }
    free((void *)a.in);
    free(edges_ns);
    return status;
}
