/* Work that a clock read may have put on its other side: beside a callee's time, in its caller's,
 * or the other way round (compensate.c). It crosses a beginning or end: what lies within one row,
 * a function's loop or a call of itself, moves nothing of that row.
 *
 *     own         what begins or ends, and its caller, unless both are of the row
 *     inclusive   what begins in the row, or in anything below, with its caller outside
 *
 * What moved is in the time of the other side, so it is no more than that has, or may have. A row
 * lacks at most what its neighbours have, and has too much at most what it has itself.
 */
#include "view.h"

#include "../graph/calls.h"

#include <stdlib.h>

/* Of a row. */
struct shift {
    double lacks_ns; /* that others may have of it */
    double moves_ns; /* that may have come from others */
    double room_ns;  /* what it has, or may have */
};

struct shifting {
    struct pm_view *view;
    const uint32_t *node_of; /* NULL: flat */
    struct shift *shifts;    /* [view->n_rows] */
};

static bool has_time(const struct pm_view *view, pm_index context)
{
    return context != PM_NONE && view->in_focus[context] && view->timed_ns[context] > 0;
}

/* What the context's own time may be. */
static double room_ns(const struct pm_view *view, pm_index context)
{
    return (double)view->timed_ns[context] - (double)view->taken_ns[context] +
           (double)view->doubt_ns[context];
}

static double least(double a, double b)
{
    return a < b ? a : b;
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

static void add_part(struct shift *shift, double part, const struct shift *more)
{
    shift->lacks_ns += part * more->lacks_ns;
    shift->moves_ns += part * more->moves_ns;
    shift->room_ns += part * more->room_ns;
}

/* To the rows that a context is in, and the one on the other side is not, or less. */
static void add_to_rows(struct shifting *s, pm_index context, pm_index other,
                        const struct shift *more)
{
    const struct pm_lift *lift = s->view->lift;
    uint32_t class = class_of(s->view, context);
    for (uint32_t k = lift->class_first[class]; k < lift->class_first[class + 1]; k++) {
        uint32_t row = lift->parts[k].row;
        double beside = other != PM_NONE ? share_in(lift, class_of(s->view, other), row) : 0;
        if (lift->parts[k].share > beside)
            add_part(&s->shifts[row], lift->parts[k].share - beside, more);
    }
}

static void add_to_node(struct shifting *s, pm_index context, pm_index other,
                        const struct shift *more)
{
    uint32_t node = s->node_of[context];
    if (node != PM_NONE && (other == PM_NONE || s->node_of[other] != node))
        add_part(&s->shifts[node], 1, more);
}

static void add(struct shifting *s, pm_index context, pm_index other, const struct shift *more)
{
    if (s->node_of)
        add_to_node(s, context, other, more);
    else
        add_to_rows(s, context, other, more);
}

static void add_side(struct shifting *s, pm_index context, pm_index other, double ns)
{
    const struct shift more = {.lacks_ns = least(ns, room_ns(s->view, other)), .moves_ns = ns};
    if (has_time(s->view, context))
        add(s, context, other, &more);
}

static int64_t shift_ns_of(const struct shift *shift)
{
    double moves_ns = least(shift->moves_ns, shift->room_ns);
    double ns = moves_ns > shift->lacks_ns ? moves_ns : shift->lacks_ns;
    return ns < (double)(INT64_MAX / 2) ? (int64_t)ns : INT64_MAX / 2;
}

/* Of own times. False: memory. */
static bool find_own(struct pm_view *view, const uint32_t *node_of)
{
    struct shifting s = {view, node_of, pm_alloc_array(view->n_rows + 1u, sizeof *s.shifts)};
    if (!s.shifts)
        return false;
    for (pm_index c = 0; c < view->data->graph->n_contexts; c++) {
        pm_index above = view->timed_above[c];
        if (has_time(view, c))
            add(&s, c, PM_NONE, &(struct shift){.room_ns = room_ns(view, c)});
        if (!view->boundary_ns[c] || above == PM_NONE)
            continue;
        add_side(&s, c, above, (double)view->boundary_ns[c]);
        add_side(&s, above, c, (double)view->boundary_ns[c]);
    }
    for (uint32_t r = 0; r < view->n_rows; r++)
        view->rows[r].shift_ns = shift_ns_of(&s.shifts[r]);
    free(s.shifts);
    return true;
}

/* What may cross the beginnings and ends of a context: no more than what is above has, or than it
 * has with all below. */
static int64_t crossing_ns(const struct pm_view *view, pm_index context, double below_ns)
{
    double ns = (double)view->boundary_ns[context];
    double above_ns = room_ns(view, view->timed_above[context]);
    return (int64_t)least(ns, above_ns > below_ns ? above_ns : below_ns);
}

/* Sums of a context and all below it are what crosses its beginnings and ends. below: room. */
static void find_crossings(const struct pm_view *view, double *below, int64_t *ret_ns)
{
    const struct pm_graph *graph = view->data->graph;
    for (pm_index c = 0; c < graph->n_contexts; c++) {
        below[c] = room_ns(view, c);
        ret_ns[c] = 0;
    }
    for (pm_index c = graph->n_contexts; c-- > 0;) /* children come after parents */
        if (graph->contexts[c].parent != PM_NONE)
            below[graph->contexts[c].parent] += below[c];
    for (pm_index c = 0; c < graph->n_contexts; c++) {
        pm_index above = view->timed_above[c];
        if (!view->boundary_ns[c] || above == PM_NONE)
            continue;
        int64_t ns = crossing_ns(view, c, below[c]);
        if (view->in_focus[c])
            ret_ns[c] += ns;
        if (view->in_focus[above])
            ret_ns[above] += view->in_focus[c] ? -ns : ns;
    }
}

enum pm_status pm_view_shift_rows(struct pm_view *view, const struct pm_call_nesting *nesting,
                                  int64_t *of_contexts, int64_t *of_rows, struct pm_error *err)
{
    double *below = pm_alloc_array(view->data->graph->n_contexts + 1u, sizeof *below);
    if (!below || !find_own(view, NULL)) {
        free(below);
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    }
    find_crossings(view, below, of_contexts);
    free(below);
    enum pm_status status =
        pm_calls_inclusive(view->data->graph, view->lift, nesting, of_contexts, err, of_rows);
    if (status != PM_OK)
        return status;
    for (uint32_t r = 0; r < view->lift->n_rows; r++)
        view->rows[r].inclusive_shift_ns = of_rows[r] > 0 ? of_rows[r] : 0;
    return PM_OK;
}

static void sum_up_nodes(struct pm_view *view, const uint32_t *node_of, const int64_t *of_contexts)
{
    for (pm_index c = 0; c < view->data->graph->n_contexts; c++)
        if (node_of[c] != PM_NONE)
            view->rows[node_of[c]].inclusive_shift_ns += of_contexts[c];
    for (uint32_t r = view->n_rows; r-- > 0;) { /* children come after parents */
        const struct pm_view_row *row = &view->rows[r];
        if (row->parent_id != PM_NONE)
            view->rows[row->parent_id].inclusive_shift_ns += row->inclusive_shift_ns;
    }
}

bool pm_view_shift_nodes(struct pm_view *view, const uint32_t *node_of)
{
    uint32_t n = view->data->graph->n_contexts;
    double *below = pm_alloc_array(n + 1u, sizeof *below);
    int64_t *of_contexts = pm_alloc_array(n + 1u, sizeof *of_contexts);
    bool ok = below && of_contexts && find_own(view, node_of);
    if (ok) {
        find_crossings(view, below, of_contexts);
        sum_up_nodes(view, node_of, of_contexts);
    }
    free(below);
    free(of_contexts);
    return ok;
}
