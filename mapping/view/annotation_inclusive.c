/* What lines cost with all that was inlined there and called from there. Where code was inlined
 * is known. Of a call it is known when one function was active below another, and the machine
 * code of that has calls of it at one place only. */
#include "annotation.h"

#include <stdlib.h>

enum { MAX_LINES = 64 }; /* of one file, on one path */

/* Lines that are active at a context, each once. */
struct active {
    const struct pm_annotation *a;
    uint32_t lines[MAX_LINES], n;
    bool calls_unknown; /* a function of the file called something, nobody knows where */
};

static void add_line(struct active *active, uint32_t line)
{
    for (uint32_t i = 0; i < active->n; i++)
        if (active->lines[i] == line)
            return;
    if (line && line <= active->a->n_lines && active->n < MAX_LINES)
        active->lines[active->n++] = line;
}

static uint32_t line_of_place(const struct pm_annotation *a, pm_index sentence)
{
    pm_index n = pm_graph_first_noun(a->view->data->graph, sentence);
    const struct pm_graph_noun *noun = n == PM_NONE ? NULL : &a->view->data->graph->nouns[n];
    return noun && noun->line_no >= a->first_line_no && noun->line_no <= a->last_line_no &&
                   !strcmp(noun->file, a->file)
               ? noun->line_no
               : 0;
}

static void add_site(struct active *active, const struct pm_call_site *site)
{
    for (uint32_t i = 0; i < site->n; i++)
        add_line(active,
                 line_of_place(active->a, active->a->view->data->call_places[site->first + i]));
}

/* Before code of system headers was made to count for what uses it: the calls as they were. */
static const struct pm_graph *graph_of(const struct pm_view *view)
{
    return view->archive->graph;
}

/* Code that was inlined: its own noun, or that of the code that called a library, has one site.
 * True: of the latter, it has. */
static bool add_inlined(struct active *active, pm_index sentence)
{
    const struct pm_view *view = active->a->view;
    const struct pm_graph *graph = graph_of(view);
    const struct pm_graph_sentence *s = &graph->sentences[sentence];
    bool is_caller_known = false;
    for (uint32_t i = 0; i < s->n_nouns; i++) {
        uint32_t n;
        const struct pm_call_site *sites =
            pm_archive_call_sites(view->data, graph->sentence_nouns[s->first_noun + i], &n);
        if (n && sites->caller == PM_NONE)
            add_site(active, sites);
        is_caller_known = i > 0 && n && sites->caller == PM_NONE;
    }
    return is_caller_known;
}

/* Whether some function of the file is what the symbol's code is of. */
static bool is_of_file(const struct pm_annotation *a, pm_index sentence)
{
    const struct pm_graph *graph = graph_of(a->view);
    for (uint32_t e = graph->out_first[sentence]; e < graph->out_first[sentence + 1]; e++)
        if (line_of_place(a, graph->mappings[graph->out[e]].destination))
            return true;
    return false;
}

static bool is_symbol(const struct pm_view *view, pm_index noun)
{
    return noun != PM_NONE && pm_view_noun_is(view, noun, "symbol");
}

/* The call of one function's symbol by another's: at one place, or at several of which nobody
 * knows which it was. */
static void add_call(struct active *active, pm_index callee, pm_index caller,
                     pm_index caller_sentence)
{
    const struct pm_archive_data *data = active->a->view->data;
    uint32_t n;
    const struct pm_call_site *sites = pm_archive_call_sites(data, callee, &n), *found = NULL;
    bool several = false;
    for (uint32_t i = 0; i < n; i++) {
        if (sites[i].caller != caller)
            continue;
        several |=
            found && (found->n != sites[i].n ||
                      memcmp(data->call_places + found->first, data->call_places + sites[i].first,
                             found->n * sizeof *data->call_places) != 0);
        found = &sites[i];
    }
    if (found && !several)
        add_site(active, found);
    else
        active->calls_unknown |= is_of_file(active->a, caller_sentence);
    for (uint32_t i = 0; several && i < n; i++)
        for (uint32_t k = 0; sites[i].caller == caller && k < sites[i].n; k++) {
            uint32_t line = line_of_place(active->a, data->call_places[sites[i].first + k]);
            if (line && line <= active->a->n_lines)
                active->a->lines[line].is_at_least = true;
        }
}

/* knows_call: of the innermost symbol, if it has no sleds. */
static void add_path(struct active *active, pm_index context, bool knows_call)
{
    const struct pm_view *view = active->a->view;
    const struct pm_graph *graph = graph_of(view);
    pm_index callee = PM_NONE;
    for (pm_index at = context; at != PM_NONE; at = graph->contexts[at].parent) {
        pm_index sentence = graph->contexts[at].sentence,
                 noun = pm_graph_first_noun(graph, sentence);
        if (!is_symbol(view, noun))
            continue;
        bool is_placed = knows_call && graph->contexts[at].flags & PM_CONTEXT_SAMPLED;
        knows_call = false;
        if (callee != PM_NONE)
            add_call(active, callee, noun, sentence);
        callee = is_placed ? PM_NONE : noun;
    }
}

void pm_annotation_add_inclusive(struct pm_annotation *a)
{
    const struct pm_view *view = a->view;
    const struct pm_graph *graph = view->data->graph;
    if (!view->n_metrics || !view->data->n_call_sites || view->options.instance)
        return;
    for (uint32_t i = 0; i < graph->n_costs; i++) {
        const struct pm_cost *cost = &graph->costs[i];
        if (cost->metric != view->metrics[view->primary] || !view->in_focus[cost->context])
            continue;
        struct active active = {.a = a};
        pm_index sentence = graph->contexts[cost->context].sentence;
        uint32_t n_reached;
        const uint32_t *reached = pm_lift_reached(view->lift, sentence, &n_reached);
        for (uint32_t r = 0; r < n_reached; r++)
            add_line(&active, pm_annotation_line_of_group(a, reached[r]));
        bool knows_call = add_inlined(&active, graph_of(view)->contexts[cost->context].sentence);
        add_path(&active, cost->context, knows_call);
        for (uint32_t l = 0; l < active.n; l++)
            a->lines[active.lines[l]].inclusive += cost->value;
        a->unplaced += active.calls_unknown ? cost->value : 0;
    }
    for (uint32_t line = 1; line <= a->n_lines; line++)
        a->has_inclusive |= a->lines[line].inclusive > a->lines[line].own;
}
