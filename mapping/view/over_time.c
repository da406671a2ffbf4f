/* Rows over time: what each has of one metric in equal parts of the run, or of the interval that is
 * asked for. A row's parts add up to what it has, but for what has no time. */
#include "groupings.h"
#include "interval.h"

#include <stdlib.h>

enum { MOST_CELLS = 1 << 27 }; /* 1 GiB */

static enum pm_status no_memory(struct pm_error *err)
{
    return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}

static bool has_times(const struct pm_view *view, pm_index metric)
{
    return metric != PM_NONE && view->data->has_times && view->data->has_times[metric] &&
           view->data->graph->metrics[metric].aggregation == PM_SUM;
}

enum pm_status pm_view_choose_over_time(struct pm_view *view, struct pm_error *err)
{
    struct pm_view_over_time *over = &view->over_time;
    uint32_t n = view->options.over_time;
    over->metric = PM_NONE;
    if (n == 0)
        return PM_OK;
    pm_index primary = view->n_metrics ? view->metrics[view->primary] : view->calls_metric;
    if (primary == view->wall_metric && has_times(view, view->cpu_metric))
        over->metric = view->cpu_metric;
    if (has_times(view, primary))
        over->metric = primary;
    over->edges_ns = pm_arena_alloc(&view->arena, (n + 1u) * sizeof *over->edges_ns);
    if (!over->edges_ns)
        return no_memory(err);
    struct pm_time_span shown = pm_view_shown_interval(view);
    for (uint32_t i = 0; i <= n; i++)
        over->edges_ns[i] =
            shown.from_ns + (int64_t)((double)(shown.until_ns - shown.from_ns) * i / n);
    return PM_OK;
}

/* --- adding up --- */

struct adding {
    struct pm_view *view;
    const uint32_t *row_of;        /* per context; or: */
    const uint32_t *row_of_thread; /* neither: cells are classes of the lift */
    pm_index waits[3];             /* metrics whose costs view->wait_of has moved */
    uint32_t n_parts;
    int64_t *cells; /* by row or class, then part */
    bool overflow;
};

/* A row, or a class of the lift. */
static uint32_t cell_of(const struct adding *a, const struct pm_cost *cost, pm_index context)
{
    const struct pm_view *view = a->view;
    if (a->row_of_thread)
        return a->row_of_thread[cost->thread];
    if (a->row_of)
        return a->row_of[context];
    return view->lift->class_of[view->data->graph->contexts[context].sentence];
}

static bool add_parts(void *context, const struct pm_cost *cost, const int64_t *parts)
{
    struct adding *a = context;
    const struct pm_view *view = a->view;
    pm_index at = cost->context;
    if (cost->metric != view->over_time.metric)
        return true;
    for (int i = 0; i < 3; i++)
        if (view->wait_of && cost->metric == a->waits[i])
            at = view->wait_of[at];
    if (!view->in_focus[at])
        return true;
    int64_t *cells = a->cells + (size_t)cell_of(a, cost, at) * a->n_parts;
    for (uint32_t i = 0; i < a->n_parts; i++)
        a->overflow |= __builtin_add_overflow(cells[i], parts[i], &cells[i]);
    return true;
}

/* Divided as the whole is. What is up to the end of each part is, so that rounding adds up, too. */
static bool divide(struct adding *a, int64_t *of_rows)
{
    const struct pm_view *view = a->view;
    const struct pm_lift *lift = view->lift;
    struct pm_amount *so_far = pm_alloc_array(lift->n_rows + 1u, sizeof *so_far);
    struct pm_amount *before = pm_alloc_array(lift->n_rows + 1u, sizeof *before);
    bool good = so_far && before;
    for (uint32_t c = 0; good && c < lift->n_classes; c++) {
        struct pm_amount sum = {0, 1};
        uint32_t first = lift->class_first[c], end = lift->class_first[c + 1];
        for (uint32_t i = 0; i < a->n_parts && good; i++) {
            int64_t part = a->cells[(size_t)c * a->n_parts + i];
            if (part == 0)
                continue;
            sum.value += part;
            for (uint32_t k = first; k < end; k++)
                so_far[lift->parts[k].row] = (struct pm_amount){0};
            good = pm_lift_divide(lift, c, PM_SUM, &sum, so_far);
            for (uint32_t k = first; k < end; k++) {
                uint32_t row = lift->parts[k].row;
                of_rows[(size_t)row * a->n_parts + i] += so_far[row].value - before[row].value;
                before[row] = so_far[row];
            }
        }
        for (uint32_t k = first; k < end; k++)
            before[lift->parts[k].row] = (struct pm_amount){0};
    }
    free(so_far);
    free(before);
    return good;
}

static void give_rows(struct pm_view *view, int64_t *cells, uint32_t n_cells)
{
    view->over_time.cells = cells;
    for (uint32_t r = 0; r < view->n_rows && r < n_cells; r++)
        view->rows[r].over_time = cells + (size_t)r * view->options.over_time;
}

/* Rows are behind those that they are below. */
static bool add_inclusive(struct adding *a)
{
    struct pm_view *view = a->view;
    uint32_t n = a->n_parts;
    int64_t *cells = pm_alloc_array((size_t)view->n_rows * n + 1, sizeof *cells);
    if (!cells)
        return false;
    view->over_time.inclusive_cells = cells;
    memcpy(cells, a->cells, (size_t)view->n_rows * n * sizeof *cells);
    for (uint32_t r = view->n_rows; r-- > 0;) {
        uint32_t parent = view->rows[r].parent_id;
        view->rows[r].over_time_inclusive = cells + (size_t)r * n;
        for (uint32_t i = 0; i < n && parent != PM_NONE; i++)
            a->overflow |=
                __builtin_add_overflow(cells[(size_t)parent * n + i], cells[(size_t)r * n + i],
                                       &cells[(size_t)parent * n + i]);
    }
    return true;
}

static enum pm_status make_rows(struct adding *a, struct pm_error *err)
{
    struct pm_view *view = a->view;
    bool is_lift = !a->row_of && !a->row_of_thread;
    if (is_lift) {
        size_t n = (size_t)view->lift->n_rows * a->n_parts;
        int64_t *of_rows = pm_alloc_array(n + 1, sizeof *of_rows);
        bool good = of_rows && divide(a, of_rows);
        free(a->cells);
        a->cells = of_rows;
        if (!good)
            return no_memory(err);
    }
    bool is_tree = view->options.tree || pm_view_grouping(view)->where;
    if (is_tree && !add_inclusive(a))
        return no_memory(err);
    give_rows(view, a->cells, is_lift ? view->lift->n_rows : view->n_rows);
    a->cells = NULL;
    return a->overflow ? pm_error_set(err, PM_ERR_LIMIT, "costs add up to more than 64 bits hold")
                       : PM_OK;
}

static enum pm_status find(struct pm_view *view, const uint32_t *row_of,
                           const uint32_t *row_of_thread, struct pm_error *err)
{
    const struct pm_graph *graph = view->data->graph;
    const struct pm_view_over_time *over = &view->over_time;
    struct adding a = {.view = view,
                       .row_of = row_of,
                       .row_of_thread = row_of_thread,
                       .waits = {pm_graph_find_metric(graph, "waiting_ns"),
                                 pm_graph_find_metric(graph, "preempted_ns"),
                                 pm_graph_find_metric(graph, "off_cpu_ns")},
                       .n_parts = view->options.over_time};
    if (a.n_parts == 0 || over->metric == PM_NONE)
        return PM_OK;
    size_t n_cells = row_of || row_of_thread ? view->n_rows : view->lift->n_classes;
    if ((n_cells + view->n_rows) * a.n_parts > MOST_CELLS)
        return pm_error_set(err, PM_ERR_LIMIT, "%zu rows over time: ask for fewer parts", n_cells);
    a.cells = pm_alloc_array(n_cells * a.n_parts + 1, sizeof *a.cells);
    int64_t *edges_ns = pm_alloc_array(a.n_parts + 1u, sizeof *edges_ns);
    enum pm_status status = a.cells && edges_ns ? PM_OK : no_memory(err);
    if (status != PM_OK)
        goto out;
    memcpy(edges_ns, over->edges_ns, (a.n_parts + 1u) * sizeof *edges_ns);
    edges_ns[0] = view->interval.from_ns; /* open, perhaps */
    edges_ns[a.n_parts] = view->interval.until_ns;
    status =
        pm_archive_each_part(view->data, view->runs_in, edges_ns, a.n_parts, add_parts, &a, err);
    if (status != PM_OK)
        goto out;
    status = make_rows(&a, err);
out:
    free(a.cells);
    free(edges_ns);
    return status;
}

enum pm_status pm_view_find_over_time(struct pm_view *view, const uint32_t *row_of,
                                      struct pm_error *err)
{
    return find(view, row_of, NULL, err);
}

enum pm_status pm_view_find_over_time_of_threads(struct pm_view *view, const uint32_t *row_of,
                                                 struct pm_error *err)
{
    return find(view, NULL, row_of, err);
}

/* --- sums --- */

static const int64_t *sum_of(struct pm_view *view, uint32_t first, uint32_t end)
{
    uint32_t n = view->options.over_time;
    int64_t *sum = pm_arena_alloc(&view->arena, n * sizeof *sum);
    for (uint32_t r = first; sum && r < end; r++)
        for (uint32_t i = 0; i < n && view->rows[r].over_time; i++)
            sum[i] = (int64_t)((uint64_t)sum[i] + (uint64_t)view->rows[r].over_time[i]);
    return sum;
}

bool pm_view_sum_over_time(struct pm_view *view)
{
    if (!view->options.over_time || view->over_time.metric == PM_NONE)
        return true;
    view->total.over_time = sum_of(view, 0, view->n_rows);
    view->rest.over_time = sum_of(view, view->n_shown, view->n_rows);
    return view->total.over_time && view->rest.over_time;
}
