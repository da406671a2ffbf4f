/* Views that tell runners apart: of some of them only, and what each has of a row. Costs are read
 * from the archive again, each of its own thread, so views that do not ask pay nothing. */
#include "axis.h"
#include "groupings.h"

#include "mapping/graph/pattern.h"

#include <fnmatch.h>
#include <stdlib.h>

static enum pm_status no_memory(struct pm_error *err)
{
    return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}

/* --- which runners --- */

/* thread:NAME: the kind, and what its name must fit. NULL: no such kind. */
static const char *name_in(const char *text, enum pm_runner *ret_kind)
{
    size_t len = strcspn(text, ":");
    for (enum pm_runner kind = PM_RUNNER_NONE + 1; text[len] && kind < PM_N_RUNNERS; kind++) {
        const char *word = pm_runner_kind(kind)->word;
        if (strlen(word) == len && !strncmp(word, text, len)) {
            *ret_kind = kind;
            return text + len + 1;
        }
    }
    return NULL;
}

static bool name_fits(const void *pattern, const char *text)
{
    return fnmatch(pattern, text, 0) == 0;
}

static enum pm_status refuse_runner(const char *text, struct pm_error *err)
{
    struct pm_buf kinds = PM_BUF_INIT(1024);
    for (int kind = PM_RUNNER_NONE + 1; kind < PM_N_RUNNERS; kind++) {
        const struct pm_runner_kind *of = pm_runner_kind((enum pm_runner)kind);
        const char *value = of->why_none ? "NUMBER" : "NAME";
        if (kinds.len)
            pm_buf_add_str(&kinds, kind + 1 == PM_N_RUNNERS ? " or " : ", ");
        pm_buf_printf(&kinds, "%s:%s", of->word, value);
    }
    pm_error_set(err, PM_ERR_USAGE, "'%s' must be %s", text, kinds.data ? kinds.data : "a runner");
    pm_buf_release(&kinds);
    return PM_ERR_USAGE;
}

static bool names_noun(const struct pm_view *view, const char *text)
{
    const struct pm_graph *graph = view->data->graph;
    struct pm_pattern pattern = pm_pattern_in(text, graph);
    for (pm_index n = 0; n < graph->n_nouns; n++)
        if (pm_pattern_fits(&pattern, &graph->nouns[n]))
            return true;
    return false;
}

bool pm_view_names_runner(const char *text)
{
    enum pm_runner kind;
    return name_in(text, &kind) != NULL;
}

bool pm_view_add_focus(const char **foci, const char *text)
{
    uint32_t n = 0;
    while (foci[n])
        n++;
    if (n == PM_VIEW_MAX_FOCI)
        return false;
    foci[n] = text;
    return true;
}

void pm_view_add_foci(const char *const *foci, struct pm_buf *out)
{
    for (const char *const *p = foci; *p; p++)
        pm_buf_printf(out, "%s%s", p == foci ? "" : ", ", *p);
}

/* A focus on what ran, where no noun is called so, is what `on` asks for. */
static enum pm_status take_from_focus(struct pm_view *view, struct pm_error *err)
{
    struct pm_view_options *options = &view->options;
    uint32_t n = 0;
    for (uint32_t i = 0; options->focus[i]; i++) {
        const char *focus = options->focus[i];
        if (!pm_view_names_runner(focus) || names_noun(view, focus))
            options->focus[n++] = focus;
        else if (!pm_view_add_focus(options->on, focus))
            return pm_error_set(err, PM_ERR_USAGE, "more than %d foci on what ran",
                                PM_VIEW_MAX_FOCI);
    }
    options->focus[n] = NULL;
    return PM_OK;
}

/* Leaves of the threads those that are called so. */
static enum pm_status keep_those(struct pm_view *view, const char *text, struct pm_error *err)
{
    const struct pm_archive_data *data = view->data;
    enum pm_runner kind;
    const char *name = name_in(text, &kind);
    bool any = false;
    if (!name)
        return refuse_runner(text, err);
    for (uint32_t t = 0; t < data->n_threads; t++) {
        bool fits = pm_runner_fits(data, kind, t, name_fits, name);
        any |= fits;
        view->runs_in[t] &= fits;
    }
    if (any)
        return PM_OK;
    struct pm_buf missing = PM_BUF_INIT(4096);
    pm_runner_add_missing(data, kind, name, &missing);
    pm_error_set(err, PM_ERR_NOT_FOUND, "%s", missing.data ? missing.data : "");
    pm_buf_release(&missing);
    return PM_ERR_NOT_FOUND;
}

static enum pm_status choose_those(struct pm_view *view, struct pm_error *err)
{
    const char *const *on = view->options.on;
    enum pm_status status = PM_OK;
    if (!*on)
        return PM_OK;
    view->runs_in = pm_alloc_array(view->data->n_threads, sizeof *view->runs_in);
    if (!view->runs_in)
        return no_memory(err);
    memset(view->runs_in, 1, view->data->n_threads * sizeof *view->runs_in);
    for (; *on && status == PM_OK; on++)
        status = keep_those(view, *on, err);
    return status;
}

static enum pm_status find_runners(struct pm_view *view, enum pm_runner kind, struct pm_error *err)
{
    enum pm_status status = pm_runners_find(view->data, kind, err, &view->runners);
    if (status != PM_OK)
        return status;
    return pm_runners_refuse_none(&view->runners, kind, err);
}

enum pm_status pm_view_choose_runners(struct pm_view *view, struct pm_error *err)
{
    enum pm_runner rows = pm_view_grouping(view)->runner, parts = view->options.parts;
    enum pm_status status = take_from_focus(view, err);
    if (status != PM_OK)
        return status;
    if (rows && parts)
        return pm_error_set(err, PM_ERR_USAGE, "rows are already %ss: they have no parts",
                            pm_runner_kind(rows)->word);
    if (rows || parts) {
        status = find_runners(view, rows ? rows : parts, err);
        if (status != PM_OK)
            return status;
    }
    return choose_those(view, err);
}

/* --- costs of some only --- */

struct costs {
    struct pm_cost *items;
    uint32_t n, cap;
};

static bool keep_cost(void *context, const struct pm_cost *cost)
{
    struct costs *costs = context;
    struct pm_cost *items = pm_grow_array(costs->items, costs->n, &costs->cap, 1024, sizeof *items);
    if (!items)
        return false;
    costs->items = items;
    costs->items[costs->n++] = *cost;
    return true;
}

enum pm_status pm_view_costs_of(struct pm_view *view, const bool *threads_in, struct pm_error *err,
                                struct pm_cost **ret_costs, uint32_t *ret_n)
{
    struct costs costs = {0};
    enum pm_status status = pm_view_each_cost(view, threads_in, keep_cost, &costs, err);
    if (status != PM_OK) {
        free(costs.items);
        return status;
    }
    *ret_costs = costs.items;
    *ret_n = costs.n;
    return PM_OK;
}

/* What was taken out of the whole run's times, or may be wrong in them, is each runner's in
 * proportion. False: memory ended. */
static bool scale_taken(struct pm_view *view, const struct pm_cost *kept, uint32_t n_kept)
{
    const struct pm_graph *graph = view->data->graph;
    double *of_all = pm_alloc_array(graph->n_contexts, sizeof *of_all);
    double *of_kept = pm_alloc_array(graph->n_contexts, sizeof *of_kept);
    int64_t *taken_ns = pm_alloc_array(graph->n_contexts, sizeof *taken_ns);
    int64_t *timed_ns = pm_alloc_array(graph->n_contexts, sizeof *timed_ns);
    bool good = of_all && of_kept && taken_ns && timed_ns;
    for (uint32_t i = 0; good && i < graph->n_costs; i++)
        if (graph->costs[i].metric == view->wall_metric)
            of_all[graph->costs[i].context] += (double)graph->costs[i].value;
    for (uint32_t i = 0; good && i < n_kept; i++)
        if (kept[i].metric == view->wall_metric)
            of_kept[kept[i].context] += (double)kept[i].value;
    for (pm_index c = 0; good && c < graph->n_contexts; c++) {
        double part = of_all[c] > 0 ? of_kept[c] / of_all[c] : 0;
        taken_ns[c] = (int64_t)((double)view->taken_ns[c] * part);
        timed_ns[c] = (int64_t)((double)view->timed_ns[c] * part);
        view->doubt_ns[c] = (int64_t)((double)view->doubt_ns[c] * part);
        view->boundary_ns[c] = (int64_t)((double)view->boundary_ns[c] * part);
    }
    free(of_all);
    free(of_kept);
    if (!good) {
        free(taken_ns);
        free(timed_ns);
        return false;
    }
    view->taken_of_all_ns = view->taken_ns;
    view->timed_of_all_ns = view->timed_ns;
    view->taken_ns = taken_ns;
    view->timed_ns = timed_ns;
    return true;
}

enum pm_status pm_view_keep_runners(struct pm_view *view, struct pm_error *err)
{
    struct pm_graph *graph = view->data->graph;
    struct pm_cost *kept;
    uint32_t n_kept;
    if (!view->runs_in)
        return PM_OK;
    view->all_values = pm_arena_alloc(&view->arena, graph->n_metrics * sizeof *view->all_values);
    if (graph->n_metrics && !view->all_values)
        return no_memory(err);
    for (uint32_t i = 0; i < graph->n_costs; i++)
        view->all_values[graph->costs[i].metric] += (double)graph->costs[i].value;
    enum pm_status status = pm_view_costs_of(view, view->runs_in, err, &kept, &n_kept);
    if (status != PM_OK)
        return status;
    if (view->taken_ns && !scale_taken(view, kept, n_kept)) {
        free(kept);
        return no_memory(err);
    }
    pm_graph_take_costs(graph, kept, n_kept);
    return PM_OK;
}

/* --- parts of rows --- */

/* Amounts by runner, then by class of the lift (in a tree: by row), then by metric. */
struct parting {
    struct pm_view *view;
    const uint32_t *row_of;
    uint32_t n_cells; /* classes, or rows */
    struct pm_amount *cells;
    struct pm_amount *parts; /* by row, runner, metric */
    bool overflow;
};

static enum pm_aggregation aggregation_of(const struct pm_view *view, uint32_t m)
{
    return view->data->graph->metrics[view->metrics[m]].aggregation;
}

static bool add_to_cell(void *context, const struct pm_cost *cost)
{
    struct parting *p = context;
    const struct pm_view *view = p->view;
    if (cost->metric == view->metrics[view->primary] && cost->value != 0)
        view->axis.has_cost[view->runners.of_thread[cost->thread]] = true;
    if (!view->in_focus[cost->context])
        return true;
    uint32_t cell = p->row_of
                        ? p->row_of[cost->context]
                        : view->lift->class_of[view->data->graph->contexts[cost->context].sentence];
    size_t at = (size_t)view->runners.of_thread[cost->thread] * p->n_cells + cell;
    for (uint32_t m = 0; m < view->n_metrics; m++)
        if (cost->metric == view->metrics[m])
            p->overflow |=
                !pm_amount_add(&p->cells[at * view->n_metrics + m], aggregation_of(view, m),
                               &(struct pm_amount){cost->value, 1});
    return true;
}

/* One runner's amounts of one metric. of_rows: room for rows of the lift. */
static void lift_cells(struct parting *p, uint32_t runner, uint32_t m, struct pm_amount *of_rows)
{
    const struct pm_view *view = p->view;
    const struct pm_amount *cells = p->cells + (size_t)runner * p->n_cells * view->n_metrics + m;
    size_t step = (size_t)view->runners.n * view->n_metrics;
    struct pm_amount *parts = p->parts + (size_t)runner * view->n_metrics + m;
    if (p->row_of) {
        for (uint32_t r = 0; r < p->n_cells; r++)
            if (cells[(size_t)r * view->n_metrics].n > 0)
                parts[r * step] = cells[(size_t)r * view->n_metrics];
        return;
    }
    memset(of_rows, 0, view->lift->n_rows * sizeof *of_rows);
    for (uint32_t c = 0; c < p->n_cells; c++)
        if (cells[(size_t)c * view->n_metrics].n > 0)
            p->overflow |= !pm_lift_divide(view->lift, c, aggregation_of(view, m),
                                           &cells[(size_t)c * view->n_metrics], of_rows);
    for (uint32_t r = 0; r < view->lift->n_rows; r++)
        if (of_rows[r].n > 0) /* most have none, and memory that nobody writes costs none */
            parts[r * step] = of_rows[r];
}

/* p->cells and view->parts are there. */
static enum pm_status make_parts(struct parting *p, struct pm_error *err)
{
    struct pm_view *view = p->view;
    size_t step = (size_t)view->runners.n * view->n_metrics;
    enum pm_status status = pm_view_each_cost(view, view->runs_in, add_to_cell, p, err);
    if (status != PM_OK)
        return status;
    struct pm_amount *of_rows = pm_alloc_array(view->lift->n_rows, sizeof *of_rows);
    if (!of_rows)
        return no_memory(err);
    for (uint32_t k = 0; k < view->runners.n; k++)
        for (uint32_t m = 0; m < view->n_metrics; m++)
            lift_cells(p, k, m, of_rows);
    free(of_rows);
    for (uint32_t r = 0; r < view->n_rows; r++)
        view->rows[r].parts = p->parts + r * step;
    return p->overflow ? pm_error_set(err, PM_ERR_LIMIT, "costs add up to more than 64 bits hold")
                       : PM_OK;
}

enum pm_status pm_view_find_parts(struct pm_view *view, const uint32_t *row_of,
                                  struct pm_error *err)
{
    struct parting p = {
        .view = view, .row_of = row_of, .n_cells = row_of ? view->n_rows : view->lift->n_classes};
    size_t step = (size_t)view->runners.n * view->n_metrics;
    if (view->options.parts && view->n_metrics == 0)
        return pm_error_set(err, PM_ERR_USAGE, "costs over %s need a metric other than n_calls",
                            pm_runner_kind(view->options.parts)->plural);
    if (!view->options.parts || step == 0)
        return PM_OK;
    view->axis.has_cost = pm_arena_alloc(&view->arena, view->runners.n);
    if (!view->axis.has_cost)
        return no_memory(err);
    p.cells = pm_alloc_array(p.n_cells, step * sizeof *p.cells);
    view->parts = p.parts = pm_alloc_array(view->n_rows, step * sizeof *p.parts);
    enum pm_status status = p.cells && p.parts ? make_parts(&p, err) : no_memory(err);
    free(p.cells);
    return status != PM_OK ? status : pm_view_spread_parts(view, err);
}
