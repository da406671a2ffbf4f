/* Work that a clock read may have put on its other side: beside a callee's time, in its caller's,
 * or the other way round (compensate.c). It crosses a beginning or end: what lies within one row,
 * a function's loop or a call of itself, moves nothing of that row.
 *
 *     own         what begins or ends, and its caller, unless both are of the row
 *     inclusive   what begins in the row, or in anything below, with its caller outside
 */
#include "view.h"

#include "../graph/calls.h"

#include <stdlib.h>

static void add_up(int64_t *sum, double ns)
{
    if (ns >= (double)(INT64_MAX / 2) || __builtin_add_overflow(*sum, (int64_t)ns, sum))
        *sum = INT64_MAX;
}

static uint32_t class_of(const struct pm_view *view, pm_index context)
{
    return view->lift->class_of[view->data->graph->contexts[context].sentence];
}

static double share_in(const struct pm_lift *lift, uint32_t class, uint32_t row)
{
    for (uint32_t k = lift->class_first[class]; k < lift->class_first[class + 1]; k++)
        if (lift->parts[k].row == row)
            return lift->parts[k].share;
    return 0;
}

static bool has_time(const struct pm_view *view, pm_index context)
{
    return context != PM_NONE && view->in_focus[context] && view->timed_ns[context] > 0;
}

/* Of rows that a context is in, and the one on the other side is not, or less. */
static void shift_rows(struct pm_view *view, pm_index context, pm_index other, int64_t ns)
{
    const struct pm_lift *lift = view->lift;
    uint32_t class = class_of(view, context);
    for (uint32_t k = lift->class_first[class]; k < lift->class_first[class + 1]; k++) {
        uint32_t row = lift->parts[k].row;
        double beside = other != PM_NONE ? share_in(lift, class_of(view, other), row) : 0;
        if (lift->parts[k].share > beside)
            add_up(&view->rows[row].shift_ns, (lift->parts[k].share - beside) * (double)ns);
    }
}

/* Sums of a context and all below it are what crosses its beginnings and ends. */
static void find_crossings(const struct pm_view *view, int64_t *ret_ns)
{
    uint32_t n = view->data->graph->n_contexts;
    memset(ret_ns, 0, n * sizeof *ret_ns);
    for (pm_index c = 0; c < n; c++) {
        pm_index above = view->timed_above[c];
        if (view->in_focus[c])
            ret_ns[c] += view->boundary_ns[c];
        if (above != PM_NONE && view->in_focus[above])
            ret_ns[above] += view->in_focus[c] ? -view->boundary_ns[c] : view->boundary_ns[c];
    }
}

enum pm_status pm_view_shift_rows(struct pm_view *view, const struct pm_call_nesting *nesting,
                                  int64_t *of_contexts, int64_t *of_rows, struct pm_error *err)
{
    const struct pm_graph *graph = view->data->graph;
    for (pm_index c = 0; c < graph->n_contexts; c++) {
        pm_index above = view->timed_above[c];
        if (view->boundary_ns[c] && has_time(view, c))
            shift_rows(view, c, above, view->boundary_ns[c]);
        if (view->boundary_ns[c] && has_time(view, above))
            shift_rows(view, above, c, view->boundary_ns[c]);
    }
    find_crossings(view, of_contexts);
    enum pm_status status =
        pm_calls_inclusive(graph, view->lift, nesting, of_contexts, err, of_rows);
    if (status != PM_OK)
        return status;
    for (uint32_t r = 0; r < view->lift->n_rows; r++)
        view->rows[r].inclusive_shift_ns = of_rows[r] > 0 ? of_rows[r] : 0;
    return PM_OK;
}

static void shift_node(struct pm_view *view, const uint32_t *node_of, pm_index context,
                       pm_index other, int64_t ns)
{
    if (!has_time(view, context) || node_of[context] == PM_NONE ||
        (other != PM_NONE && node_of[context] == node_of[other]))
        return;
    add_up(&view->rows[node_of[context]].shift_ns, (double)ns);
}

bool pm_view_shift_nodes(struct pm_view *view, const uint32_t *node_of)
{
    uint32_t n = view->data->graph->n_contexts;
    int64_t *of_contexts = pm_alloc_array(n + 1u, sizeof *of_contexts);
    if (!of_contexts)
        return false;
    find_crossings(view, of_contexts);
    for (pm_index c = 0; c < n; c++) {
        pm_index above = view->timed_above[c];
        shift_node(view, node_of, c, above, view->boundary_ns[c]);
        shift_node(view, node_of, above, c, view->boundary_ns[c]);
        if (node_of[c] != PM_NONE)
            view->rows[node_of[c]].inclusive_shift_ns += of_contexts[c];
    }
    for (uint32_t r = view->n_rows; r-- > 0;) { /* children come after parents */
        const struct pm_view_row *row = &view->rows[r];
        if (row->parent_id != PM_NONE)
            view->rows[row->parent_id].inclusive_shift_ns += row->inclusive_shift_ns;
    }
    free(of_contexts);
    return true;
}
