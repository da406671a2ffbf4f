/* Which rows of a report are shown, and in which order. */
#include "columns.h"
#include "interval.h"

#include <math.h>
#include <stdlib.h>

static enum pm_status no_memory(struct pm_error *err)
{
    return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}

double pm_view_primary(const struct pm_view *view, const struct pm_view_row *row)
{
    if (view->n_metrics == 0)
        return (double)row->n_calls;
    const struct pm_view_value *value = &row->values[view->primary];
    bool average =
        view->data->graph->metrics[view->metrics[view->primary]].aggregation == PM_AVERAGE;
    return average && value->own.n > 0 ? (double)value->own.value / value->own.n
                                       : (double)value->own.value;
}

double pm_view_share_pct(const struct pm_view *view, const struct pm_view_row *row)
{
    if (view->n_metrics &&
        view->data->graph->metrics[view->metrics[view->primary]].aggregation != PM_SUM)
        return NAN;
    if (row->traits.is_untimed && !view->options.tree && view->n_metrics &&
        view->metrics[view->primary] == view->wall_metric && pm_view_primary(view, row) == 0)
        return NAN; /* not known */
    double total = pm_view_primary(view, &view->total);
    double part = view->options.tree && view->n_metrics && row != &view->rest && row != &view->total
                      ? (double)row->values[view->primary].inclusive
                      : pm_view_primary(view, row);
    return total != 0 ? 100 * part / total : 0;
}

static double sort_key(const struct pm_view *view, const struct pm_view_row *row,
                       enum pm_view_sort sort)
{
    switch (sort) {
    case PM_VIEW_SORT_INCLUSIVE:
        return view->n_metrics ? (double)row->values[view->primary].inclusive
                               : (double)row->n_calls;
    case PM_VIEW_SORT_CALLS:
        return (double)row->n_calls;
    case PM_VIEW_SORT_NAME:
    case PM_VIEW_SORT_PLACE:
        return 0;
    default:
        return pm_view_primary(view, row);
    }
}

/* Files by name, then lines by number. */
static int compare_places(const char *a, const char *b)
{
    return strverscmp(a, b);
}

enum pm_view_sort pm_view_effective_sort(const struct pm_view *view)
{
    if (view->options.sort != PM_VIEW_SORT_DEFAULT)
        return view->options.sort;
    return view->options.tree ? PM_VIEW_SORT_INCLUSIVE : PM_VIEW_SORT_OWN;
}

/* Greatest first; equal ones by inclusive cost, calls, place and name, so that the order is always
 * the same. Positions in view->rows, so that a row that is named for it stays named. */
static int compare_rows(const void *a_pointer, const void *b_pointer, void *context)
{
    struct pm_view *view = context;
    struct pm_view_row *a = &view->rows[*(const uint32_t *)a_pointer],
                       *b = &view->rows[*(const uint32_t *)b_pointer];
    enum pm_view_sort sort = pm_view_effective_sort(view);
    const enum pm_view_sort order[] = {sort, PM_VIEW_SORT_OWN, PM_VIEW_SORT_INCLUSIVE,
                                       PM_VIEW_SORT_CALLS};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        bool by_text = order[i] == PM_VIEW_SORT_NAME || order[i] == PM_VIEW_SORT_PLACE;
        double x = sort_key(view, a, order[i]), y = sort_key(view, b, order[i]);
        if (!by_text && x != y)
            return x < y ? 1 : -1;
        if (!by_text)
            continue;
        pm_view_name_row(view, a);
        pm_view_name_row(view, b);
        int difference = order[i] == PM_VIEW_SORT_NAME ? strcmp(a->what, b->what)
                                                       : compare_places(a->place, b->place);
        if (difference)
            return difference;
    }
    pm_view_name_row(view, a);
    pm_view_name_row(view, b);
    int by_place = compare_places(a->place, b->place), by_name = strcmp(a->what, b->what);
    return by_place ? by_place : by_name ? by_name : (a->id > b->id) - (a->id < b->id);
}

static bool sort_rows(struct pm_view *view)
{
    uint32_t n = view->n_rows;
    uint32_t *order = pm_alloc_array(n, sizeof *order);
    struct pm_view_row *sorted = pm_alloc_array(n, sizeof *sorted);
    bool ok = order && sorted;
    if (ok) {
        for (uint32_t i = 0; i < n; i++)
            order[i] = i;
        qsort_r(order, n, sizeof *order, compare_rows, view);
        for (uint32_t i = 0; i < n; i++)
            sorted[i] = view->rows[order[i]];
        memcpy(view->rows, sorted, n * sizeof *sorted);
    }
    free(order);
    free(sorted);
    return ok;
}

/* By statement, array and variable neither calls nor what lies below the others say anything.
 * With a focus, what was only active around it is not listed (the tree shows the way down to
 * it).
 */
static bool row_says_something(const struct pm_view *view, const struct pm_view_row *row)
{
    bool is_fine = pm_view_is_fine(view) && !view->options.tree;
    bool counts_inclusive = view->options.tree || (!view->options.focus[0] && !is_fine &&
                                                   row->kind != PM_VIEW_ROW_OUTSIDE);
    bool says = (!is_fine || view->shows_calls) && (row->n_calls || row->n_loop_entries);
    /* It may have been called: nobody knows how often. */
    says |= !pm_view_has_interval(view) && counts_inclusive && !view->options.tree &&
            row->kind == PM_VIEW_ROW_NOUN && row->traits.is_inlined &&
            row->traits.calls_are_unknown;
    for (uint32_t i = 0; row->over_time && i < view->options.over_time && !says; i++)
        says = row->over_time[i] != 0;
    for (uint32_t m = 0; m < view->n_metrics && !says; m++)
        says = row->values[m].own.value || (counts_inclusive && row->values[m].inclusive) ||
               (row->has_bounds && row->values[m].bounds.at_most);
    return says;
}

static bool add_to(const struct pm_view *view, struct pm_view_row *sum,
                   const struct pm_view_row *row)
{
    bool ok = pm_view_add_numbers(sum, row);
    sum->traits.calls_are_at_least |= row->traits.calls_are_at_least;
    sum->traits.entries_are_at_least |= row->traits.entries_are_at_least;
    for (uint32_t m = 0; m < view->n_metrics && ok; m++)
        ok = pm_amount_add(&sum->values[m].own,
                           view->data->graph->metrics[view->metrics[m]].aggregation,
                           &row->values[m].own);
    return ok;
}

/* What moves between rows is no doubt of the total; of the rest it is at most that of its rows. */
static bool add_to_rest(const struct pm_view *view, struct pm_view_row *rest,
                        const struct pm_view_row *row)
{
    if (__builtin_add_overflow(rest->shift_ns, row->shift_ns, &rest->shift_ns))
        rest->shift_ns = INT64_MAX;
    return add_to(view, rest, row);
}

static void drop_rows(struct pm_view *view, const bool *keep)
{
    uint32_t n = 0;
    for (uint32_t r = 0; r < view->n_rows; r++)
        if (keep[r])
            view->rows[n++] = view->rows[r];
    view->n_rows = n;
}

/* Tree: the order of printing. Children lists are made from rows sorted among each other, then
 * walked depth first. Rows keep their ids; the rows below a limit are those with the greatest key
 * in their subtree, so that a row's parents are always with it. */
struct shown {
    uint32_t row; /* position in sorted order */
    uint32_t depth, order;
    double key;
};

static int compare_shown(const void *a_pointer, const void *b_pointer)
{
    const struct shown *a = a_pointer, *b = b_pointer;
    if (a->key != b->key)
        return a->key < b->key ? 1 : -1;
    if (a->depth != b->depth)
        return a->depth < b->depth ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

struct tree_order {
    uint32_t *position;     /* by id: position in sorted order */
    uint32_t *first, *next; /* by sorted position: children in order; + 1, 0 none */
    uint32_t *depth_first;  /* sorted positions in the order of printing */
    struct shown *shown;    /* by order of printing, then by key */
    bool *is_shown;         /* by order of printing */
    struct pm_view_row *ordered;
};

static void order_depth_first(const struct pm_view *view, struct tree_order *t)
{
    uint32_t n = view->n_rows, top = 0, at, n_done = 0;
    for (uint32_t i = 0; i < n; i++)
        t->position[view->rows[i].id] = i;
    for (uint32_t i = n; i-- > 0;) {
        uint32_t *head = view->rows[i].parent_id == PM_NONE
                             ? &top
                             : &t->first[t->position[view->rows[i].parent_id]];
        t->next[i] = *head;
        *head = i + 1;
    }
    for (at = top; at;) {
        t->depth_first[n_done++] = at - 1;
        if (t->first[at - 1]) {
            at = t->first[at - 1];
            continue;
        }
        while (at && !t->next[at - 1]) {
            uint32_t parent = view->rows[at - 1].parent_id;
            at = parent == PM_NONE ? 0 : t->position[parent] + 1;
        }
        at = at ? t->next[at - 1] : 0;
    }
    PM_ASSERT(n_done == n);
}

static void order_tree(struct pm_view *view, struct tree_order *t)
{
    uint32_t n = view->n_rows;
    order_depth_first(view, t);
    for (uint32_t i = 0; i < n; i++) {
        const struct pm_view_row *row = &view->rows[t->depth_first[i]];
        double key =
            view->n_metrics ? (double)row->values[view->primary].inclusive : (double)row->n_calls;
        t->shown[i] = (struct shown){t->depth_first[i], row->depth, i, key};
        t->position[row->id] = i; /* from here on: order of printing */
    }
    for (uint32_t i = n; i-- > 0;) {
        uint32_t parent = view->rows[t->depth_first[i]].parent_id;
        if (parent != PM_NONE && t->shown[t->position[parent]].key < t->shown[i].key)
            t->shown[t->position[parent]].key = t->shown[i].key;
    }
    qsort(t->shown, n, sizeof *t->shown, compare_shown);
    for (uint32_t i = 0; i < view->n_shown; i++)
        t->is_shown[t->shown[i].order] = true;
    uint32_t n_placed = 0;
    for (int pass = 1; pass >= 0; pass--)
        for (uint32_t i = 0; i < n; i++)
            if (t->is_shown[i] == (pass == 1))
                t->ordered[n_placed++] = view->rows[t->depth_first[i]];
    memcpy(view->rows, t->ordered, n * sizeof *view->rows);
}

static void mark_last_children(struct pm_view *view, uint32_t *seen, uint32_t n_ids)
{
    memset(seen, 0, n_ids * sizeof *seen);
    bool top_seen = false;
    for (uint32_t i = view->n_shown; i-- > 0;) {
        struct pm_view_row *row = &view->rows[i];
        row->last_child = row->parent_id == PM_NONE ? !top_seen : !seen[row->parent_id];
        if (row->parent_id == PM_NONE)
            top_seen = true;
        else
            seen[row->parent_id] = 1;
    }
}

static enum pm_status arrange_tree(struct pm_view *view, uint32_t n_ids, struct pm_error *err)
{
    uint32_t n = view->n_rows;
    struct tree_order t = {
        .position = pm_alloc_array(n_ids, sizeof *t.position),
        .first = pm_alloc_array(n, sizeof *t.first),
        .next = pm_alloc_array(n, sizeof *t.next),
        .depth_first = pm_alloc_array(n, sizeof *t.depth_first),
        .shown = pm_alloc_array(n, sizeof *t.shown),
        .is_shown = pm_alloc_array(n, sizeof *t.is_shown),
        .ordered = pm_alloc_array(n, sizeof *t.ordered),
    };
    bool ok =
        t.position && t.first && t.next && t.depth_first && t.shown && t.is_shown && t.ordered;
    if (ok) {
        order_tree(view, &t);
        mark_last_children(view, t.position, n_ids);
    }
    void *arrays[] = {t.position, t.first, t.next, t.depth_first, t.shown, t.is_shown, t.ordered};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    return ok ? PM_OK : no_memory(err);
}

void pm_view_show_fewer(struct pm_view *view, uint32_t n)
{
    for (; view->n_shown > n; view->n_shown--) /* the total holds them already */
        PM_ASSERT(add_to_rest(view, &view->rest, &view->rows[view->n_shown - 1]));
    if (!pm_view_sum_over_time(view))
        view->rest.over_time = NULL;
}

/* Drops rows without any number (tree: and without any below), sorts, limits and names. */
enum pm_status pm_view_arrange(struct pm_view *view, struct pm_error *err)
{
    uint32_t n_ids = view->n_rows;
    bool *keep = pm_alloc_array(view->n_rows, sizeof *keep);
    if (!keep)
        return no_memory(err);
    for (uint32_t r = view->n_rows; r-- > 0;) {
        keep[r] |= view->options.keeps_rows || row_says_something(view, &view->rows[r]);
        if (keep[r] && view->rows[r].parent_id != PM_NONE)
            keep[view->rows[r].parent_id] = true;
    }
    drop_rows(view, keep);
    free(keep);
    enum pm_status status = pm_view_naming_start(view, err);
    if (status == PM_OK && !sort_rows(view))
        status = no_memory(err);
    if (status != PM_OK)
        return status;
    view->n_shown = view->options.limit && view->options.limit < view->n_rows
                        ? (uint32_t)view->options.limit
                        : view->n_rows;
    if (view->options.tree)
        status = arrange_tree(view, n_ids, err);
    for (uint32_t r = 0; status == PM_OK && r < view->n_shown; r++)
        pm_view_name_row(view, &view->rows[r]);
    if (status == PM_OK)
        status = pm_view_naming_status(view, err);
    bool ok = true;
    for (uint32_t r = 0; r < view->n_rows && ok; r++)
        ok = add_to(view, &view->total, &view->rows[r]) &&
             (r < view->n_shown || add_to_rest(view, &view->rest, &view->rows[r]));
    if (status == PM_OK && !ok)
        status = pm_error_set(err, PM_ERR_LIMIT, "costs add up to more than 64 bits hold");
    if (status != PM_OK)
        return status;
    return pm_view_sum_over_time(view) ? PM_OK : no_memory(err);
}
