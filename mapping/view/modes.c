/* Nouns that were in another mode than the program: which, for how long, and what is therefore
 * not known of them. */
#include "view.h"

#include "format/pm_mode.h"

#include <stdlib.h>

static bool is_timed_mode(const char *word)
{
    enum pm_run_mode mode;
    return pm_mode_of(word, &mode) && mode >= PM_RUN_MODE_EXACT;
}

bool pm_view_is_timed_run(const struct pm_view *view)
{
    for (uint32_t i = 0; i < view->data->n_executions; i++)
        if (!is_timed_mode(view->data->executions[i].mode))
            return false;
    return true;
}

static bool has_sleds_of_code(const struct pm_view *view, pm_index noun)
{
    return pm_view_noun_is(view, noun, "symbol") || pm_view_noun_is(view, noun, "loopcode");
}

/* --- what is known of a noun --- */

enum { HAS_TIME = 1, MARKED_UNTIMED = 2 };

/* A noun without a time was not timed, unless all that was not otherwise marked was. */
enum pm_status pm_view_find_untimed(struct pm_view *view, struct pm_error *err)
{
    const struct pm_archive_data *data = view->data;
    const struct pm_graph *graph = data->graph;
    unsigned char *marks = pm_alloc_array(graph->n_nouns, sizeof *marks);
    view->is_untimed = pm_alloc_array(graph->n_nouns, sizeof *view->is_untimed);
    if (!marks || !view->is_untimed) {
        free(marks);
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    }
    pm_index wall = pm_graph_find_metric(graph, "wall_ns");
    for (uint32_t i = 0; i < graph->n_costs; i++) {
        pm_index noun =
            pm_graph_first_noun(graph, graph->contexts[graph->costs[i].context].sentence);
        if (graph->costs[i].metric == wall && graph->costs[i].value > 0 && noun != PM_NONE)
            marks[noun] |= HAS_TIME;
    }
    for (uint32_t i = 0; i < data->n_noun_modes; i++)
        if (data->noun_modes[i].mode < PM_RUN_MODE_EXACT)
            marks[data->noun_modes[i].noun] |= MARKED_UNTIMED;
    bool timed_run = pm_view_is_timed_run(view);
    for (pm_index n = 0; n < graph->n_nouns; n++)
        view->is_untimed[n] = !(marks[n] & HAS_TIME) && (!timed_run || marks[n] & MARKED_UNTIMED);
    free(marks);
    return PM_OK;
}

bool pm_view_is_untimed(const struct pm_view *view, pm_index context)
{
    const struct pm_graph *graph = view->data->graph;
    pm_index noun = pm_graph_first_noun(graph, graph->contexts[context].sentence);
    return graph->contexts[context].parent != PM_NONE &&
           (noun == PM_NONE || view->is_untimed[noun] ||
            graph->contexts[context].flags & (PM_CONTEXT_INLINED | PM_CONTEXT_SAMPLED));
}

bool pm_view_noun_lacks_sleds(const struct pm_view *view, pm_index noun)
{
    const struct pm_graph *graph = view->data->graph;
    bool is_code = pm_view_noun_is(view, noun, "function") || pm_view_noun_is(view, noun, "loop");
    if (!is_code || view->data->bare[noun] & PM_BARE_OF_CALLS)
        return is_code;
    for (uint32_t m = 0; m < graph->n_mappings; m++) {
        pm_index from = pm_graph_first_noun(graph, graph->mappings[m].source);
        if (pm_graph_first_noun(graph, graph->mappings[m].destination) == noun && from != PM_NONE &&
            has_sleds_of_code(view, from))
            return false;
    }
    return true;
}

bool pm_view_is_only_sampled(const struct pm_view *view, pm_index context)
{
    const struct pm_graph *graph = view->data->graph;
    pm_index noun = pm_graph_first_noun(graph, graph->contexts[context].sentence);
    return noun != PM_NONE &&
           (pm_view_noun_is_machine_code(view, noun) ||
            graph->contexts[context].flags & (PM_CONTEXT_INLINED | PM_CONTEXT_SAMPLED));
}

bool pm_view_is_untimed_code(const struct pm_view *view, pm_index context)
{
    const struct pm_graph *graph = view->data->graph;
    pm_index noun = pm_graph_first_noun(graph, graph->contexts[context].sentence);
    return noun != PM_NONE && has_sleds_of_code(view, noun) && view->is_untimed[noun];
}

bool pm_view_is_much_sampled(const struct pm_view *view, double sampled_ns, double wall_ns)
{
    enum { LEAST_PCT = 3, LEAST_PARTS = 5 };
    const struct pm_graph *graph = view->data->graph;
    double all_ns = 0;
    for (uint32_t i = 0; i < graph->n_costs; i++)
        all_ns += graph->costs[i].metric == view->cpu_metric ? (double)graph->costs[i].value : 0;
    return sampled_ns > 0 &&
           (100 * sampled_ns > LEAST_PCT * all_ns || LEAST_PARTS * sampled_ns > wall_ns);
}

/* Does it lie below something timed of the focus? */
static bool is_timed_around(const struct pm_view *view, pm_index context)
{
    const struct pm_context *contexts = view->data->graph->contexts;
    pm_index up = contexts[context].parent;
    while (up != PM_NONE && pm_view_is_only_sampled(view, up))
        up = contexts[up].parent;
    return up != PM_NONE && view->in_focus[up];
}

/* Of the focus: without what lies below something timed of it. */
static bool is_much_of_focus(const struct pm_view *view)
{
    const struct pm_graph *graph = view->data->graph;
    double sampled_ns = 0, wall_ns = 0;
    for (uint32_t i = 0; i < graph->n_costs; i++) {
        const struct pm_cost *cost = &graph->costs[i];
        if (!view->in_focus[cost->context])
            continue;
        if (cost->metric == view->wall_metric)
            wall_ns += (double)cost->value;
        if (cost->metric == view->cpu_metric && pm_view_is_only_sampled(view, cost->context) &&
            !is_timed_around(view, cost->context))
            sampled_ns += (double)cost->value;
    }
    return pm_view_is_much_sampled(view, sampled_ns, wall_ns);
}

enum pm_status pm_view_choose_time_of_focus(struct pm_view *view, struct pm_error *err)
{
    bool is_wall = view->n_metrics && view->metrics[view->primary] == view->wall_metric;
    if (!view->options.focus[0] || view->options.metrics || !is_wall || view->cpu_metric == PM_NONE)
        return PM_OK;
    enum pm_status status = pm_view_focus(view, err);
    if (status != PM_OK)
        return status;
    bool is_much = is_much_of_focus(view);
    free(view->in_focus);
    view->in_focus = NULL;
    if (!is_much)
        return PM_OK;
    view->asks_fine = true;
    view->n_metrics = 0;
    return pm_view_choose_metrics(view, err);
}

/* --- all of them, by noun --- */

static int compare_modes(const void *a, const void *b)
{
    const struct pm_noun_mode *x = a, *y = b;
    if (x->mode != y->mode)
        return x->mode < y->mode ? -1 : 1;
    if (x->is_asked != y->is_asked)
        return x->is_asked ? 1 : -1;
    if (x->noun != y->noun)
        return x->noun < y->noun ? -1 : 1;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

/* By mode and reason, what had most calls before first. */
static int compare_stays(const void *a, const void *b)
{
    const struct pm_view_stay *x = a, *y = b;
    if (x->mode != y->mode)
        return x->mode < y->mode ? -1 : 1;
    if (x->is_asked != y->is_asked)
        return x->is_asked ? 1 : -1;
    if (x->n_events != y->n_events)
        return x->n_events > y->n_events ? -1 : 1;
    return (x->noun > y->noun) - (x->noun < y->noun);
}

static void add_stay(struct pm_view_stay *stay, const struct pm_noun_mode *m, bool same_process,
                     const struct pm_process *process)
{
    bool known = process->start_ns != PM_UNKNOWN && process->end_ns != PM_UNKNOWN;
    int64_t until_ns = m->until_ns != PM_UNKNOWN ? m->until_ns
                       : known                   ? process->end_ns
                                                 : m->from_ns;
    stay->from_ns = m->from_ns < stay->from_ns ? m->from_ns : stay->from_ns;
    if (m->until_ns == PM_UNKNOWN || stay->until_ns == PM_UNKNOWN)
        stay->until_ns = PM_UNKNOWN;
    else
        stay->until_ns = m->until_ns > stay->until_ns ? m->until_ns : stay->until_ns;
    stay->n_events = m->n_events > stay->n_events ? m->n_events : stay->n_events;
    stay->in_ns += (double)until_ns - (double)m->from_ns;
    if (!same_process && known)
        stay->of_ns += (double)process->end_ns - (double)process->start_ns;
}

struct pm_view_stays pm_view_find_stays(const struct pm_view *view)
{
    const struct pm_archive_data *data = view->data;
    struct pm_view_stays stays = {NULL, 0};
    uint32_t n = data->n_noun_modes;
    struct pm_noun_mode *modes = n ? pm_alloc_array(n, sizeof *modes) : NULL;
    if (modes)
        stays.items = pm_alloc_array(n, sizeof *stays.items);
    if (!stays.items) {
        free(modes);
        return stays;
    }
    memcpy(modes, data->noun_modes, n * sizeof *modes);
    qsort(modes, n, sizeof *modes, compare_modes);
    for (uint32_t i = 0; i < n; i++) {
        const struct pm_noun_mode *m = &modes[i], *before = i ? &modes[i - 1] : NULL;
        bool same = before && before->noun == m->noun && before->mode == m->mode &&
                    before->is_asked == m->is_asked;
        if (!same)
            stays.items[stays.n++] = (struct pm_view_stay){.noun = m->noun,
                                                           .mode = m->mode,
                                                           .is_asked = m->is_asked,
                                                           .from_ns = m->from_ns,
                                                           .until_ns = m->until_ns};
        add_stay(&stays.items[stays.n - 1], m, same && before->process == m->process,
                 &data->processes[m->process]);
    }
    free(modes);
    qsort(stays.items, stays.n, sizeof *stays.items, compare_stays);
    return stays;
}

static uint32_t n_stays(const struct pm_view_stays *stays, enum pm_run_mode mode, bool is_asked)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < stays->n; i++)
        n += stays->items[i].mode == mode && stays->items[i].is_asked == is_asked;
    return n;
}

uint32_t pm_view_n_nouns_in(const struct pm_view *view, enum pm_run_mode mode, bool is_asked)
{
    struct pm_view_stays stays = pm_view_find_stays(view);
    uint32_t n = n_stays(&stays, mode, is_asked);
    free(stays.items);
    return n;
}

/* --- names --- */

pm_index pm_view_noun_in_source(const struct pm_view *view, pm_index noun)
{
    const struct pm_graph *graph = view->data->graph;
    for (pm_index s = 0; s < graph->n_sentences; s++) {
        if (pm_graph_first_noun(graph, s) != noun || graph->sentences[s].n_nouns != 1)
            continue;
        for (uint32_t e = graph->out_first[s]; e < graph->out_first[s + 1]; e++) {
            pm_index to = pm_graph_first_noun(graph, graph->mappings[graph->out[e]].destination);
            if (to != PM_NONE &&
                (pm_view_noun_is(view, to, "function") || pm_view_noun_is(view, to, "loop")))
                return to;
        }
    }
    return noun;
}

/* Arena memory; NULL: it ended. */
const char *pm_view_noun_name(struct pm_view *view, pm_index noun)
{
    const struct pm_graph_noun *n = &view->data->graph->nouns[pm_view_noun_in_source(view, noun)];
    struct pm_buf text = PM_BUF_INIT(1 << 16);
    const char *slash = strrchr(n->name, '/');
    if (!strcmp(n->kind, "loop") && n->line_no)
        pm_buf_printf(&text, "loop %s:%u", pm_view_short_file(view, n->file), n->line_no);
    else if (!strcmp(n->kind, "loopcode") && slash)
        pm_buf_printf(&text, "loop %s", slash + 1);
    else
        pm_buf_add_str(&text, pm_view_without_parameters(&view->arena, n->name));
    const char *name =
        text.failed ? NULL : pm_arena_strndup(&view->arena, text.data ? text.data : "", text.len);
    pm_buf_release(&text);
    return name ? pm_text_printable(&view->arena, name) : NULL;
}

/* --- the header's line --- */

/* "budget: 482 functions or loops not followed all the time (≥), 145 only counted at times, 2
 * in modes as asked (--modes)" */
char *pm_view_modes_line(struct pm_view *view, bool utf8)
{
    static const struct {
        enum pm_run_mode mode;
        const char *done;
    } steps[] = {{PM_RUN_MODE_OFF, "not followed all the time"},
                 {PM_RUN_MODE_COUNT, "only counted at times"},
                 {PM_RUN_MODE_ACTIVE, "not timed all the time"}};
    struct pm_view_stays stays = pm_view_find_stays(view);
    struct pm_buf out = PM_BUF_INIT(1 << 16);
    uint32_t n_asked = 0;
    for (uint32_t i = 0; i < stays.n; i++)
        n_asked += stays.items[i].is_asked;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        uint32_t n = n_stays(&stays, steps[i].mode, false);
        if (n)
            pm_buf_printf(&out, "%s%u%s %s%s", out.len ? ", " : "budget: ", n,
                          out.len  ? ""
                          : n == 1 ? " function or loop"
                                   : " functions or loops",
                          steps[i].done,
                          steps[i].mode != PM_RUN_MODE_OFF ? ""
                          : utf8                           ? " (≥)"
                                                           : " (>=)");
    }
    if (n_asked)
        pm_buf_printf(&out, "%s%u%s in modes as asked", out.len ? ", " : "", n_asked,
                      out.len        ? ""
                      : n_asked == 1 ? " function or loop"
                                     : " functions or loops");
    if (out.len > 0)
        pm_buf_add_str(&out, " (--modes)");
    free(stays.items);
    return pm_buf_take(&out);
}
