/* Which rows of a report are shown, and in which order. */
#include "report.h"

#include <math.h>
#include <stdlib.h>

static enum pm_status no_memory(struct pm_error *err)
{
    return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}

double report_primary(const struct report *report, const struct report_row *row)
{
    if (report->n_metrics == 0)
        return (double)row->n_calls;
    const struct report_value *value = &row->values[report->primary];
    bool average =
        report->data->graph->metrics[report->metrics[report->primary]].aggregation == PM_AVERAGE;
    return average && value->own.n > 0 ? (double)value->own.value / value->own.n
                                       : (double)value->own.value;
}

double report_share_pct(const struct report *report, const struct report_row *row)
{
    if (report->n_metrics &&
        report->data->graph->metrics[report->metrics[report->primary]].aggregation != PM_SUM)
        return NAN;
    double total = report_primary(report, &report->total);
    double part =
        report->options.tree && report->n_metrics && row != &report->rest && row != &report->total
            ? (double)row->values[report->primary].inclusive
            : report_primary(report, row);
    return total != 0 ? 100 * part / total : 0;
}

static double sort_key(const struct report *report, const struct report_row *row,
                       enum report_sort sort)
{
    switch (sort) {
    case REPORT_SORT_INCLUSIVE:
        return report->n_metrics ? (double)row->values[report->primary].inclusive
                                 : (double)row->n_calls;
    case REPORT_SORT_CALLS:
        return (double)row->n_calls;
    case REPORT_SORT_NAME:
    case REPORT_SORT_PLACE:
        return 0;
    default:
        return report_primary(report, row);
    }
}

/* Files by name, then lines by number. */
static int compare_places(const char *a, const char *b)
{
    return strverscmp(a, b);
}

enum report_sort report_effective_sort(const struct report *report)
{
    if (report->options.sort != REPORT_SORT_DEFAULT)
        return report->options.sort;
    return report->options.tree ? REPORT_SORT_INCLUSIVE : REPORT_SORT_OWN;
}

/* Greatest first; equal ones by inclusive cost, calls, place and name, so that the order is always
 * the same. Positions in report->rows, so that a row that is named for it stays named. */
static int compare_rows(const void *a_pointer, const void *b_pointer, void *context)
{
    struct report *report = context;
    struct report_row *a = &report->rows[*(const uint32_t *)a_pointer],
                      *b = &report->rows[*(const uint32_t *)b_pointer];
    enum report_sort sort = report_effective_sort(report);
    const enum report_sort order[] = {sort, REPORT_SORT_OWN, REPORT_SORT_INCLUSIVE,
                                      REPORT_SORT_CALLS};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        bool by_text = order[i] == REPORT_SORT_NAME || order[i] == REPORT_SORT_PLACE;
        double x = sort_key(report, a, order[i]), y = sort_key(report, b, order[i]);
        if (!by_text && x != y)
            return x < y ? 1 : -1;
        if (!by_text)
            continue;
        report_name_row(report, a);
        report_name_row(report, b);
        int difference = order[i] == REPORT_SORT_NAME ? strcmp(a->what, b->what)
                                                      : compare_places(a->place, b->place);
        if (difference)
            return difference;
    }
    report_name_row(report, a);
    report_name_row(report, b);
    int by_place = compare_places(a->place, b->place), by_name = strcmp(a->what, b->what);
    return by_place ? by_place : by_name ? by_name : (a->id > b->id) - (a->id < b->id);
}

static bool sort_rows(struct report *report)
{
    uint32_t n = report->n_rows;
    uint32_t *order = pm_alloc_array(n, sizeof *order);
    struct report_row *sorted = pm_alloc_array(n, sizeof *sorted);
    bool ok = order && sorted;
    if (ok) {
        for (uint32_t i = 0; i < n; i++)
            order[i] = i;
        qsort_r(order, n, sizeof *order, compare_rows, report);
        for (uint32_t i = 0; i < n; i++)
            sorted[i] = report->rows[order[i]];
        memcpy(report->rows, sorted, n * sizeof *sorted);
    }
    free(order);
    free(sorted);
    return ok;
}

/* By statement, array and variable neither calls nor what lies below the others say anything. With a focus, what was only active around it is not listed (the tree shows the way down to it).
 */
static bool row_says_something(const struct report *report, const struct report_row *row)
{
    bool is_fine = report_is_fine(report) && !report->options.tree;
    bool counts_inclusive = report->options.tree ||
                            (!report->options.focus && !is_fine && row->kind != REPORT_ROW_OUTSIDE);
    bool says = (!is_fine || report->shows_calls) && (row->n_calls || row->n_loop_entries);
    for (uint32_t m = 0; m < report->n_metrics && !says; m++)
        says = row->values[m].own.value || (counts_inclusive && row->values[m].inclusive) ||
               (row->has_bounds && row->values[m].bounds.at_most);
    return says;
}

static bool add_to(const struct report *report, struct report_row *sum,
                   const struct report_row *row)
{
    bool ok =
        !__builtin_add_overflow(sum->n_calls, row->n_calls, &sum->n_calls) &&
        !__builtin_add_overflow(sum->n_loop_entries, row->n_loop_entries, &sum->n_loop_entries) &&
        !__builtin_add_overflow(sum->n_samples, row->n_samples, &sum->n_samples) &&
        !__builtin_add_overflow(sum->taken_out_ns, row->taken_out_ns, &sum->taken_out_ns);
    sum->traits.calls_are_at_least |= row->traits.calls_are_at_least;
    sum->traits.entries_are_at_least |= row->traits.entries_are_at_least;
    for (uint32_t m = 0; m < report->n_metrics && ok; m++)
        ok = pm_amount_add(&sum->values[m].own,
                           report->data->graph->metrics[report->metrics[m]].aggregation,
                           &row->values[m].own);
    return ok;
}

static void drop_rows(struct report *report, const bool *keep)
{
    uint32_t n = 0;
    for (uint32_t r = 0; r < report->n_rows; r++)
        if (keep[r])
            report->rows[n++] = report->rows[r];
    report->n_rows = n;
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
    struct report_row *ordered;
};

static void order_depth_first(const struct report *report, struct tree_order *t)
{
    uint32_t n = report->n_rows, top = 0, at, n_done = 0;
    for (uint32_t i = 0; i < n; i++)
        t->position[report->rows[i].id] = i;
    for (uint32_t i = n; i-- > 0;) {
        uint32_t *head = report->rows[i].parent_id == PM_NONE
                             ? &top
                             : &t->first[t->position[report->rows[i].parent_id]];
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
            uint32_t parent = report->rows[at - 1].parent_id;
            at = parent == PM_NONE ? 0 : t->position[parent] + 1;
        }
        at = at ? t->next[at - 1] : 0;
    }
    PM_ASSERT(n_done == n);
}

static void order_tree(struct report *report, struct tree_order *t)
{
    uint32_t n = report->n_rows;
    order_depth_first(report, t);
    for (uint32_t i = 0; i < n; i++) {
        const struct report_row *row = &report->rows[t->depth_first[i]];
        double key = report->n_metrics ? (double)row->values[report->primary].inclusive
                                       : (double)row->n_calls;
        t->shown[i] = (struct shown){t->depth_first[i], row->depth, i, key};
        t->position[row->id] = i; /* from here on: order of printing */
    }
    for (uint32_t i = n; i-- > 0;) {
        uint32_t parent = report->rows[t->depth_first[i]].parent_id;
        if (parent != PM_NONE && t->shown[t->position[parent]].key < t->shown[i].key)
            t->shown[t->position[parent]].key = t->shown[i].key;
    }
    qsort(t->shown, n, sizeof *t->shown, compare_shown);
    for (uint32_t i = 0; i < report->n_shown; i++)
        t->is_shown[t->shown[i].order] = true;
    uint32_t n_placed = 0;
    for (int pass = 1; pass >= 0; pass--)
        for (uint32_t i = 0; i < n; i++)
            if (t->is_shown[i] == (pass == 1))
                t->ordered[n_placed++] = report->rows[t->depth_first[i]];
    memcpy(report->rows, t->ordered, n * sizeof *report->rows);
}

static void mark_last_children(struct report *report, uint32_t *seen, uint32_t n_ids)
{
    memset(seen, 0, n_ids * sizeof *seen);
    bool top_seen = false;
    for (uint32_t i = report->n_shown; i-- > 0;) {
        struct report_row *row = &report->rows[i];
        row->last_child = row->parent_id == PM_NONE ? !top_seen : !seen[row->parent_id];
        if (row->parent_id == PM_NONE)
            top_seen = true;
        else
            seen[row->parent_id] = 1;
    }
}

static enum pm_status arrange_tree(struct report *report, uint32_t n_ids, struct pm_error *err)
{
    uint32_t n = report->n_rows;
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
        order_tree(report, &t);
        mark_last_children(report, t.position, n_ids);
    }
    void *arrays[] = {t.position, t.first, t.next, t.depth_first, t.shown, t.is_shown, t.ordered};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    return ok ? PM_OK : no_memory(err);
}

void report_show_fewer(struct report *report, uint32_t n)
{
    for (; report->n_shown > n; report->n_shown--) /* the total holds them already */
        PM_ASSERT(add_to(report, &report->rest, &report->rows[report->n_shown - 1]));
}

/* Drops rows without any number (tree: and without any below), sorts, limits and names. */
enum pm_status report_arrange(struct report *report, struct pm_error *err)
{
    uint32_t n_ids = report->n_rows;
    bool *keep = pm_alloc_array(report->n_rows, sizeof *keep);
    if (!keep)
        return no_memory(err);
    for (uint32_t r = report->n_rows; r-- > 0;) {
        keep[r] |= row_says_something(report, &report->rows[r]);
        if (keep[r] && report->rows[r].parent_id != PM_NONE)
            keep[report->rows[r].parent_id] = true;
    }
    drop_rows(report, keep);
    free(keep);
    enum pm_status status = report_naming_start(report, err);
    if (status == PM_OK && !sort_rows(report))
        status = no_memory(err);
    if (status != PM_OK)
        return status;
    report->n_shown = report->options.limit && report->options.limit < report->n_rows
                          ? (uint32_t)report->options.limit
                          : report->n_rows;
    if (report->options.tree)
        status = arrange_tree(report, n_ids, err);
    for (uint32_t r = 0; status == PM_OK && r < report->n_shown; r++)
        report_name_row(report, &report->rows[r]);
    if (status == PM_OK)
        status = report_naming_status(report, err);
    bool ok = true;
    for (uint32_t r = 0; r < report->n_rows && ok; r++)
        ok = add_to(report, &report->total, &report->rows[r]) &&
             (r < report->n_shown || add_to(report, &report->rest, &report->rows[r]));
    if (status == PM_OK && !ok)
        status = pm_error_set(err, PM_ERR_LIMIT, "costs add up to more than 64 bits hold");
    return status;
}
