/* The foci that are shown, as a tree. */
#include "search_foci.h"

#include <math.h>
#include <stdlib.h>

/* A part explains a focus that has so much of its difference; or, where what is left is within the
 * threshold, or can be chance, so much. */
#define EXPLAINS 0.9
#define EXPLAINS_MOST 0.5

struct arranging {
    struct pm_search *search;
    const struct search_cells *cells;
    struct foci *foci;
    const struct pm_compare_row *rows;
    uint32_t *order; /* foci; the whole program is none of them */
    uint32_t n;
    uint32_t *shown, n_shown; /* the least sets first */
    bool failed;
};

/* --- which --- */

static bool contains(const struct arranging *a, uint32_t outer, uint32_t inner)
{
    const struct focus *x = &a->foci->items[outer], *y = &a->foci->items[inner];
    if (x->n_tuples <= y->n_tuples)
        return false;
    for (uint32_t i = 0; i < a->cells->n_axes; i++)
        if (!search_lies_in(&a->cells->axes[i], y->nodes[i], x->nodes[i]))
            return false;
    return true;
}

static double difference_of(const struct arranging *a, uint32_t focus)
{
    return search_difference(&a->rows[focus]);
}

static double threshold_of(const struct arranging *a, uint32_t focus)
{
    const struct pm_search *search = a->search;
    return fmax(search->options.compare.least_pct / 100 * a->rows[focus].scaled_means[0],
                search->least);
}

static bool explains(const struct arranging *a, uint32_t part, uint32_t focus)
{
    double whole = difference_of(a, focus), of_part = difference_of(a, part);
    double share = of_part / whole, rest = fabs(whole - of_part);
    double nothing = fmax(threshold_of(a, focus), a->foci->items[focus].noise);
    bool is_all = rest <= (1 - EXPLAINS) * fabs(whole);
    return is_all || (share > EXPLAINS_MOST && rest <= nothing);
}

static int compare_sizes(const void *x_pointer, const void *y_pointer, void *context)
{
    const struct arranging *a = context;
    uint32_t x = *(const uint32_t *)x_pointer, y = *(const uint32_t *)y_pointer;
    uint32_t n_x = a->foci->items[x].n_tuples, n_y = a->foci->items[y].n_tuples;
    if (n_x != n_y)
        return n_x < n_y ? -1 : 1;
    return (x > y) - (x < y);
}

/* Failed ones that no shown part of theirs explains. */
static void choose_failed(struct arranging *a)
{
    for (uint32_t i = 0; i < a->n; i++) {
        struct focus *focus = &a->foci->items[a->order[i]];
        focus->is_shown = focus->is_failed;
        for (uint32_t k = 0; k < a->n_shown && focus->is_shown; k++)
            if (contains(a, a->order[i], a->shown[k]) && explains(a, a->shown[k], a->order[i]))
                focus->is_shown = false;
        a->search->n_folded += focus->is_failed && !focus->is_shown;
        if (focus->is_shown)
            a->shown[a->n_shown++] = a->order[i];
    }
}

/* Parts of it make up for each other: some that are in no shown one yet cost more, some less. */
static void try_compensating(struct arranging *a, uint32_t focus, uint32_t n_failed)
{
    struct focus *of = &a->foci->items[focus];
    bool more = false, less = false;
    if (of->is_failed)
        return;
    for (uint32_t k = 0; k < n_failed; k++)
        if (a->foci->items[a->shown[k]].parent == PM_NONE && contains(a, focus, a->shown[k])) {
            more |= difference_of(a, a->shown[k]) > 0;
            less |= difference_of(a, a->shown[k]) < 0;
        }
    if (!more || !less)
        return;
    of->is_shown = of->is_compensating = true;
    for (uint32_t k = 0; k < n_failed; k++)
        if (a->foci->items[a->shown[k]].parent == PM_NONE && contains(a, focus, a->shown[k]))
            a->foci->items[a->shown[k]].parent = focus;
    a->shown[a->n_shown++] = focus;
}

/* The least shown one around each. */
static void find_parents(struct arranging *a)
{
    qsort_r(a->shown, a->n_shown, sizeof *a->shown, compare_sizes, a);
    for (uint32_t i = 0; i < a->n_shown; i++) {
        uint32_t *parent = &a->foci->items[a->shown[i]].parent;
        *parent = PM_NONE;
        for (uint32_t k = i + 1; k < a->n_shown && *parent == PM_NONE; k++)
            if (contains(a, a->shown[k], a->shown[i]))
                *parent = a->shown[k];
    }
}

/* One that fails does so as well, when what its parts make up for is more than its own. */
static void mark_compensating(struct arranging *a, uint32_t focus)
{
    double more = 0, less = 0;
    for (uint32_t k = 0; k < a->n_shown; k++)
        if (a->foci->items[a->shown[k]].parent == focus) {
            more += fmax(0, difference_of(a, a->shown[k]));
            less += fmax(0, -difference_of(a, a->shown[k]));
        }
    if (fmin(more, less) > fabs(difference_of(a, focus)))
        a->foci->items[focus].is_compensating = true;
}

static void choose(struct arranging *a)
{
    qsort_r(a->order, a->n, sizeof *a->order, compare_sizes, a);
    choose_failed(a);
    find_parents(a);
    for (uint32_t i = 0, n_failed = a->n_shown; i < a->n; i++)
        try_compensating(a, a->order[i], n_failed);
    find_parents(a);
    for (uint32_t i = 0; i < a->n_shown; i++)
        mark_compensating(a, a->shown[i]);
}

static void choose_all(struct arranging *a)
{
    for (uint32_t i = 0; i < a->n; i++) {
        a->shown[a->n_shown++] = a->order[i];
        a->foci->items[a->order[i]].parent = PM_NONE;
    }
}

/* --- in which order --- */

static bool is_about_parts(const struct arranging *a, uint32_t focus)
{
    return a->foci->items[focus].is_compensating && !a->foci->items[focus].is_failed;
}

static int compare_differences(const void *x_pointer, const void *y_pointer, void *context)
{
    const struct arranging *a = context;
    uint32_t i = *(const uint32_t *)x_pointer, k = *(const uint32_t *)y_pointer;
    double x = fabs(difference_of(a, i)), y = fabs(difference_of(a, k));
    /* of those whose parts make up for each other, what they are about */
    x = is_about_parts(a, i) ? a->foci->items[i].l1 : x;
    y = is_about_parts(a, k) ? a->foci->items[k].l1 : y;
    if (x != y)
        return x > y ? -1 : 1;
    return -compare_sizes(x_pointer, y_pointer, context);
}

/* Below a parent, depth first. position: per focus, where it is in the result. */
static uint32_t order_below(const struct arranging *a, uint32_t parent, uint32_t depth,
                            uint32_t *ret_order, uint32_t *ret_depth, uint32_t n)
{
    enum { DEEP = 64 };
    for (uint32_t i = 0; i < a->n_shown; i++) {
        if (a->foci->items[a->shown[i]].parent != parent)
            continue;
        ret_depth[n] = depth < DEEP ? depth : DEEP;
        ret_order[n++] = a->shown[i];
        n = order_below(a, a->shown[i], depth + 1, ret_order, ret_depth, n);
    }
    return n;
}

/* --- what they are called --- */

static void add_name(const struct arranging *a, uint32_t axis, const char *name, struct pm_buf *out)
{
    pm_buf_add_str(out, out->len ? "; " : "");
    if (axis == PM_SEARCH_DATA && *name != '(')
        pm_buf_add_str(out, "data ");
    if (axis >= PM_SEARCH_WORDS)
        pm_buf_printf(out, "%s ", a->cells->axes[axis].name);
    pm_buf_add_str(out, name);
}

static const char *keep(struct arranging *a, const char *text, size_t len)
{
    const char *kept = pm_arena_strndup(&a->search->arena, text ? text : "", len);
    a->failed |= !kept;
    return kept;
}

static const struct search_node *narrowed_node(const struct arranging *a, uint32_t focus,
                                               uint32_t axis)
{
    uint32_t node = a->foci->items[focus].nodes[axis];
    bool is = node != PM_NONE && node != a->foci->items[0].nodes[axis];
    return is ? &a->cells->axes[axis].nodes[node] : NULL;
}

/* Of a place, what tells it and all around it from others: "rank 1, thread worker". */
static void add_place(const struct search_axis *axis, uint32_t node, struct pm_buf *out)
{
    uint32_t path[8], n = 0; /* there are three steps */
    for (; node != PM_NONE && n < 8; node = axis->nodes[node].parent)
        path[n++] = node;
    while (n-- > 0) {
        const struct search_node *of = &axis->nodes[path[n]];
        bool has_others = of->parent == PM_NONE || axis->nodes[of->parent].n_parts > 1;
        if (has_others)
            pm_buf_printf(out, "%s%s", out->len ? ", " : "", of->what);
    }
}

static const char *name_of(struct arranging *a, uint32_t axis, uint32_t node)
{
    const struct search_axis *of = &a->cells->axes[axis];
    struct pm_buf text = PM_BUF_INIT(1 << 20);
    if (axis == PM_SEARCH_PLACE)
        add_place(of, node, &text);
    else
        pm_buf_add_str(&text, of->nodes[node].what);
    a->failed |= text.failed;
    const char *kept = keep(a, text.data, text.len);
    pm_buf_release(&text);
    return kept ? kept : "";
}

/* Are there cells that are only out of the focus for that axis? */
static bool narrows(const struct arranging *a, uint32_t focus, uint32_t axis)
{
    const uint32_t *nodes = a->foci->items[focus].nodes;
    for (uint32_t i = 0; i < a->cells->n_tuples; i++) {
        const uint32_t *of = a->cells->tuples[i].nodes;
        bool is_in = !search_lies_in(&a->cells->axes[axis], of[axis], nodes[axis]);
        for (uint32_t k = 0; k < a->cells->n_axes && is_in; k++)
            is_in = k == axis || search_lies_in(&a->cells->axes[k], of[k], nodes[k]);
        if (is_in)
            return true;
    }
    return false;
}

/* "(no variable)" says something where there is other data only. */
static bool is_said(const struct arranging *a, uint32_t focus, uint32_t axis, const char *name)
{
    return axis != PM_SEARCH_DATA || *name != '(' || narrows(a, focus, axis);
}

/* Places are those of the code, else of the data. */
static void name_focus(struct arranging *a, uint32_t focus, struct pm_search_focus *to,
                       struct pm_compare_row *row)
{
    struct pm_buf text = PM_BUF_INIT(1 << 20);
    row->places[0] = row->places[1] = NULL;
    for (uint32_t i = 0; i < a->cells->n_axes; i++) {
        const struct search_node *node = narrowed_node(a, focus, i);
        if (!node)
            continue;
        const char *place = node->places[1] ? node->places[1] : node->places[0];
        to->names[i] = name_of(a, i, a->foci->items[focus].nodes[i]);
        to->places[i] = keep(a, place, place ? strlen(place) : 0);
        if (is_said(a, focus, i, to->names[i]))
            add_name(a, i, to->names[i], &text);
        for (int side = 0; side < 2 && i < PM_SEARCH_PLACE; side++)
            if (!row->places[side] && node->places[side])
                row->places[side] = keep(a, node->places[side], strlen(node->places[side]));
    }
    row->what = text.len ? keep(a, text.data, text.len) : "all of it";
    a->failed |= text.failed;
    pm_buf_release(&text);
}

/* --- all of it --- */

static void fill_in(struct arranging *a, const uint32_t *order, const uint32_t *depth,
                    uint32_t *position, struct pm_compare_row *rows)
{
    for (uint32_t i = 0; i < a->n_shown && !a->failed; i++) {
        const struct focus *from = &a->foci->items[order[i]];
        struct pm_search_focus *to = &a->search->foci[i];
        position[order[i]] = i;
        rows[i] = a->rows[order[i]];
        to->parent = from->parent == PM_NONE ? (uint32_t)PM_NONE : position[from->parent];
        to->depth = depth[i];
        to->is_failed = from->is_failed;
        to->is_compensating = from->is_compensating;
        to->threshold = threshold_of(a, order[i]);
        to->part_differences = from->l1;
        name_focus(a, order[i], to, &rows[i]);
    }
}

static void find_whole(struct arranging *a)
{
    bool more = false, less = false;
    for (uint32_t i = 0; i < a->n_shown; i++) {
        const struct focus *focus = &a->foci->items[a->shown[i]];
        bool counts = focus->is_failed && focus->parent == PM_NONE;
        more |= counts && difference_of(a, a->shown[i]) > 0;
        less |= counts && difference_of(a, a->shown[i]) < 0;
    }
    a->search->whole_compensates = !a->search->whole_fails && more && less;
}

static bool arrange(struct arranging *a)
{
    uint32_t n = a->foci->n + 1;
    uint32_t *order = pm_alloc_array(n, sizeof *order), *depth = pm_alloc_array(n, sizeof *depth),
             *position = pm_alloc_array(n, sizeof *position);
    struct pm_compare_row *rows = pm_alloc_array(n, sizeof *rows);
    a->search->foci = pm_alloc_array(n, sizeof *a->search->foci);
    a->failed = !order || !depth || !position || !rows || !a->search->foci;
    if (!a->failed) {
        qsort_r(a->shown, a->n_shown, sizeof *a->shown, compare_differences, a);
        a->n_shown = order_below(a, PM_NONE, 0, order, depth, 0);
        fill_in(a, order, depth, position, rows);
    }
    free(order);
    free(depth);
    free(position);
    free(a->search->comparison->rows);
    a->search->comparison->rows = rows;
    a->search->comparison->n_rows = a->failed ? 0 : a->n_shown;
    return !a->failed;
}

bool search_arrange(struct pm_search *search, const struct search_cells *cells, struct foci *foci)
{
    struct arranging a = {.search = search,
                          .cells = cells,
                          .foci = foci,
                          .rows = search->comparison->rows,
                          .order = pm_alloc_array((size_t)foci->n + 1, sizeof *a.order),
                          .shown = pm_alloc_array((size_t)foci->n + 1, sizeof *a.shown)};
    search->n_axes = cells->n_axes;
    for (uint32_t i = 0; i < cells->n_axes; i++)
        search->axes[i] = keep(&a, cells->axes[i].name, strlen(cells->axes[i].name));
    bool good = a.order && a.shown && !a.failed;
    for (uint32_t i = 1; good && i < foci->n; i++)
        a.order[a.n++] = i;
    if (good && search->options.all)
        choose_all(&a);
    else if (good)
        choose(&a);
    if (good)
        find_whole(&a);
    good = good && arrange(&a);
    free(a.order);
    free(a.shown);
    return good;
}
