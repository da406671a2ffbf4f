/* The search: foci, from the whole program to its parts. */
#include "search_foci.h"

#include <math.h>
#include <stdlib.h>

const char pm_search_summary_words[] = "sum|mean|min|max|sd";

/* Smaller differences than this part of what a focus' own may be (options.least_pct) are none, of
 * the whole program. */
#define PART_OF_LEAST 0.1

struct searching {
    struct pm_search *search;
    struct pm_comparison *comparison;
    struct search_cells cells;
    struct foci foci;
    struct pm_error *err;
    uint32_t cap_rows;
    uint32_t *heap; /* foci whose parts are not looked for yet, the greatest l1 first */
    uint32_t n_heap, cap_heap;
    struct pm_map seen; /* hash of a set of tuples -> 1 + focus, or PM_NONE: it was pruned */
    double *room;       /* [n_runs][n_runners] */
    /* Of one axis and focus: its parts. bucket_of: per node, 1 + bucket; 0: none. */
    uint32_t *bucket_of, *buckets, *bucket_n, n_buckets;
    uint32_t *child; /* per tuple of the focus */
};

static enum pm_status no_memory(struct pm_error *err)
{
    return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}

/* --- what a set of tuples has --- */

static uint32_t n_runs_of(const struct searching *s, int side)
{
    return s->comparison->sides[side].n_runs;
}

static double speed_of(const struct searching *s, uint32_t run)
{
    uint32_t n_a = n_runs_of(s, PM_COMPARE_A);
    return run < n_a ? s->comparison->sides[PM_COMPARE_A].runs[run].speed
                     : s->comparison->sides[PM_COMPARE_B].runs[run - n_a].speed;
}

/* Of all that the ranks or threads of a run have. */
static double summarise(const struct searching *s, const double *of_runners, uint32_t n_there)
{
    uint32_t n = s->cells.n_runners, n_with = 0;
    double sum = 0, squares = 0, least = INFINITY, most = 0;
    for (uint32_t i = 0; i < n; i++) {
        sum += of_runners[i];
        squares += of_runners[i] * of_runners[i];
        if (of_runners[i] == 0)
            continue;
        n_with++;
        least = fmin(least, of_runners[i]);
        most = fmax(most, of_runners[i]);
    }
    double mean = n_there ? sum / n_there : 0;
    switch (s->search->options.summary) {
    case PM_SEARCH_MEAN:
        return mean;
    case PM_SEARCH_MIN:
        return n_there > n_with || !n_with ? 0 : least;
    case PM_SEARCH_MAX:
        return most;
    case PM_SEARCH_SD:
        return n_there > 1 ? sqrt(fmax(0, squares - mean * mean * n_there) / (n_there - 1)) : 0;
    case PM_SEARCH_SUM:
        break;
    }
    return sum;
}

static bool has_summary(const struct searching *s)
{
    return s->search->options.over && s->search->options.summary != PM_SEARCH_SUM;
}

/* Fills ret_values[n_runs]. What no rank or thread has is in none of the summaries. */
static void values_of(struct searching *s, const uint32_t *tuples, uint32_t n, double *ret_values)
{
    const struct search_cells *cells = &s->cells;
    uint32_t n_runners = has_summary(s) ? cells->n_runners : 1;
    memset(s->room, 0, (size_t)cells->n_runs * n_runners * sizeof *s->room);
    for (uint32_t i = 0; i < n; i++) {
        const struct search_tuple *tuple = &cells->tuples[tuples[i]];
        uint32_t place = tuple->nodes[PM_SEARCH_PLACE], runner = 0;
        if (has_summary(s) && place != PM_NONE)
            runner = cells->axes[PM_SEARCH_PLACE].nodes[place].runner;
        for (uint32_t v = tuple->first; runner != PM_NONE && v < tuple->first + tuple->n; v++)
            s->room[(size_t)cells->values[v].run * n_runners + runner] += cells->values[v].value;
    }
    for (uint32_t run = 0; run < cells->n_runs; run++)
        ret_values[run] = has_summary(s)
                              ? summarise(s, s->room + (size_t)run * n_runners, cells->n_there[run])
                              : s->room[run];
}

/* By how much a part of these can differ at most: the difference where parts add up, else all that
 * both sides have. */
static double most_of(const struct searching *s, const struct search_tuple *tuple)
{
    const struct search_cells *cells = &s->cells;
    double means[2] = {0};
    for (uint32_t v = tuple->first; v < tuple->first + tuple->n; v++) {
        uint32_t run = cells->values[v].run;
        int side = run < n_runs_of(s, PM_COMPARE_A) ? PM_COMPARE_A : PM_COMPARE_B;
        means[side] += cells->values[v].value / speed_of(s, run) / n_runs_of(s, side);
    }
    return has_summary(s) ? means[0] + means[1] : fabs(means[1] - means[0]);
}

/* --- foci --- */

static uint32_t lowest_common(const struct search_axis *axis, uint32_t a, uint32_t b)
{
    while (a != b && a != PM_NONE && b != PM_NONE) {
        if (axis->nodes[a].depth >= axis->nodes[b].depth)
            a = axis->nodes[a].parent;
        else
            b = axis->nodes[b].parent;
    }
    return a == b ? a : (uint32_t)PM_NONE;
}

static uint64_t hash_of_set(const uint32_t *tuples, uint32_t n)
{
    uint64_t hash = n;
    for (uint32_t i = 0; i < n; i++) { /* in any order */
        uint64_t x = (tuples[i] + 1) * 0x9e3779b97f4a7c15u;
        x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9u;
        hash += x ^ x >> 32;
    }
    return hash;
}

static bool fill_cells(struct searching *s, const struct focus *focus, struct pm_compare_row *row)
{
    uint32_t n_runs = s->cells.n_runs, n_a = n_runs_of(s, PM_COMPARE_A);
    struct pm_compare_cell *cells =
        pm_arena_alloc(&s->comparison->arena, (n_runs + 1) * sizeof *cells);
    double *values = pm_alloc_array((size_t)n_runs + 1, sizeof *values);
    if (cells && values)
        values_of(s, focus->tuples, focus->n_tuples, values);
    for (uint32_t i = 0; cells && values && i < n_runs; i++) {
        int side = i < n_a ? PM_COMPARE_A : PM_COMPARE_B;
        const struct pm_compare_run *run = &s->comparison->sides[side].runs[side ? i - n_a : i];
        bool is_few =
            s->comparison->is_sampled && values[i] < PM_VIEW_FEW_SAMPLES * (double)run->period_ns;
        cells[i] = (struct pm_compare_cell){
            values[i], values[i] != 0 ? PM_COMPARE_MEASURED : PM_COMPARE_NO_COST,
            focus->is_at_least[side], is_few && values[i] != 0};
    }
    row->cells[PM_COMPARE_A] = cells;
    row->cells[PM_COMPARE_B] = cells + n_a;
    free(values);
    return cells && values;
}

static bool push(struct searching *s, uint32_t focus)
{
    uint32_t *heap = pm_grow_array(s->heap, s->n_heap, &s->cap_heap, 256, sizeof *heap);
    if (!heap)
        return false;
    s->heap = heap;
    uint32_t at = s->n_heap++;
    for (; at && s->foci.items[heap[(at - 1) / 2]].l1 < s->foci.items[focus].l1; at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = focus;
    return true;
}

static uint32_t pop(struct searching *s)
{
    uint32_t *heap = s->heap, top = heap[0], last = heap[--s->n_heap], at = 0, next;
    const struct focus *items = s->foci.items;
    for (; (next = 2 * at + 1) < s->n_heap; at = next) {
        if (next + 1 < s->n_heap && items[heap[next + 1]].l1 > items[heap[next]].l1)
            next++;
        if (items[heap[next]].l1 <= items[last].l1)
            break;
        heap[at] = heap[next];
    }
    heap[at] = last;
    return top;
}

/* Takes over focus->tuples, in any case. */
static bool add_focus(struct searching *s, struct focus *focus)
{
    struct pm_comparison *c = s->comparison;
    struct focus *items = pm_grow_array(s->foci.items, s->foci.n, &s->foci.cap, 256, sizeof *items);
    if (items)
        s->foci.items = items;
    struct pm_compare_row *rows =
        pm_grow_array(c->rows, c->n_rows, &s->cap_rows, 256, sizeof *rows);
    if (rows)
        c->rows = rows;
    if (!items || !rows) {
        free(focus->tuples);
        return false;
    }
    memcpy(focus->nodes, s->cells.tuples[focus->tuples[0]].nodes, sizeof focus->nodes);
    for (uint32_t i = 1; i < focus->n_tuples; i++)
        for (uint32_t a = 0; a < s->cells.n_axes; a++)
            focus->nodes[a] = lowest_common(&s->cells.axes[a], focus->nodes[a],
                                            s->cells.tuples[focus->tuples[i]].nodes[a]);
    items[s->foci.n++] = *focus;
    rows[c->n_rows] = (struct pm_compare_row){.what = ""};
    return fill_cells(s, focus, &rows[c->n_rows++]) && push(s, s->foci.n - 1);
}

/* Of a set of tuples: a focus, unless it is known, or cannot fail. Takes over `tuples`. */
static bool consider(struct searching *s, uint32_t *tuples, uint32_t n, const bool at_least[2])
{
    struct focus focus = {
        .tuples = tuples, .n_tuples = n, .is_at_least = {at_least[0], at_least[1]}};
    uint32_t *seen = pm_map_at(&s->seen, hash_of_set(tuples, n));
    if (seen && !*seen) {
        for (uint32_t i = 0; i < n; i++)
            focus.l1 += s->cells.tuples[tuples[i]].difference;
        if (focus.l1 > s->search->least && s->foci.n < PM_SEARCH_MOST_FOCI) {
            *seen = s->foci.n + 1;
            return add_focus(s, &focus);
        }
        *seen = PM_NONE;
        s->search->n_pruned += focus.l1 <= s->search->least;
        s->search->n_left += focus.l1 > s->search->least;
    } else if (seen && *seen != PM_NONE) {
        struct focus *same = &s->foci.items[*seen - 1];
        for (int side = 0; side < 2; side++)
            same->is_at_least[side] &= at_least[side];
    }
    free(tuples);
    return seen != NULL;
}

/* --- parts of a focus on one axis --- */

/* The part of the focus' node that a tuple is in; PM_NONE: none, it is the node's own. */
static uint32_t part_of(const struct search_axis *axis, uint32_t of, uint32_t node)
{
    uint32_t depth = of == PM_NONE ? 0 : axis->nodes[of].depth + 1;
    if (node == PM_NONE || axis->nodes[node].depth < depth)
        return PM_NONE;
    while (axis->nodes[node].depth > depth)
        node = axis->nodes[node].parent;
    return node;
}

static void sort_into_parts(struct searching *s, const struct focus *focus, uint32_t a)
{
    s->n_buckets = 0;
    for (uint32_t i = 0; i < focus->n_tuples; i++) {
        uint32_t node = s->cells.tuples[focus->tuples[i]].nodes[a];
        uint32_t part = s->child[i] = part_of(&s->cells.axes[a], focus->nodes[a], node);
        if (part == PM_NONE)
            continue;
        if (!s->bucket_of[part]) {
            s->buckets[s->n_buckets++] = part;
            s->bucket_of[part] = s->n_buckets;
            s->bucket_n[s->n_buckets - 1] = 0;
        }
        s->bucket_n[s->bucket_of[part] - 1]++;
    }
}

static uint32_t *tuples_of_part(const struct searching *s, const uint32_t *tuples,
                                uint32_t n_tuples, uint32_t bucket)
{
    uint32_t *part = pm_alloc_array((size_t)s->bucket_n[bucket] + 1, sizeof *part), n = 0;
    for (uint32_t i = 0; part && i < n_tuples; i++)
        if (s->child[i] == s->buckets[bucket])
            part[n++] = tuples[i];
    return part;
}

static bool look_along(struct searching *s, uint32_t at, uint32_t a)
{
    struct focus focus = s->foci.items[at]; /* they may move */
    bool good = true;
    sort_into_parts(s, &focus, a);
    for (uint32_t b = 0; b < s->n_buckets && good; b++) {
        const struct search_node *node = &s->cells.axes[a].nodes[s->buckets[b]];
        bool at_least[2] = {focus.is_at_least[0] || node->is_at_least[0],
                            focus.is_at_least[1] || node->is_at_least[1]};
        uint32_t *tuples = tuples_of_part(s, focus.tuples, focus.n_tuples, b);
        good = tuples && consider(s, tuples, s->bucket_n[b], at_least);
    }
    for (uint32_t b = 0; b < s->n_buckets; b++)
        s->bucket_of[s->buckets[b]] = 0;
    return good;
}

static bool look_into(struct searching *s, uint32_t at)
{
    bool is_summary = s->search->options.over && !s->search->options.within;
    for (uint32_t a = 0; a < s->cells.n_axes; a++)
        if (!(a == PM_SEARCH_PLACE && is_summary) && !look_along(s, at, a))
            return false;
    free(s->foci.items[at].tuples);
    s->foci.items[at].tuples = NULL;
    return true;
}

/* --- which of them fail --- */

static double threshold_of(const struct searching *s, const struct pm_compare_row *row)
{
    double relative = s->search->options.compare.least_pct / 100 * row->scaled_means[0];
    return fmax(relative, s->search->least);
}

/* Of few runs nobody knows how they vary, but samples do as chance has it at the least. */
static double noise_of(const struct searching *s, const struct pm_compare_row *row)
{
    enum { DEVIATIONS = 3 };
    double variance = 0;
    if (s->comparison->is_judged)
        return isfinite(row->low_pct)
                   ? (row->high_pct - row->low_pct) / 200 * row->scaled_means[PM_COMPARE_A]
                   : 0;
    for (int side = 0; side < 2 && s->comparison->is_sampled; side++) {
        const struct pm_compare_side *of = &s->comparison->sides[side];
        double period_ns = (double)of->runs[0].period_ns;
        bool is_mean = s->search->options.within && side == PM_COMPARE_A;
        double n = (double)of->n_runs * (is_mean ? s->cells.n_runners : 1);
        variance += period_ns * fmax(row->means[side], period_ns) / n;
    }
    return DEVIATIONS * sqrt(variance);
}

static bool is_failed(const struct searching *s, const struct pm_compare_row *row)
{
    bool is_known = !row->is_at_least[0] && !row->is_at_least[1];
    bool differs = s->comparison->is_judged
                       ? row->verdict == PM_VERDICT_LESS || row->verdict == PM_VERDICT_MORE
                       : is_known && fabs(row->difference) > noise_of(s, row);
    return differs && fabs(search_difference(row)) > threshold_of(s, row);
}

/* The first focus is the whole program: it is tested by its ranks, as any total. */
static void judge_whole(struct searching *s)
{
    struct pm_comparison *c = s->comparison;
    if (has_summary(s))
        c->total = c->rows[0];
    c->total.what = "total";
    s->search->whole_fails = s->foci.items[0].is_failed = is_failed(s, &c->total);
}

static enum pm_status judge(struct searching *s)
{
    enum pm_status status = pm_compare_judge_rows(s->comparison, s->err);
    if (status != PM_OK)
        return status;
    for (uint32_t i = 1; i < s->foci.n; i++) {
        s->foci.items[i].noise = noise_of(s, &s->comparison->rows[i]);
        s->foci.items[i].is_failed = is_failed(s, &s->comparison->rows[i]);
        s->search->n_failed += s->foci.items[i].is_failed;
    }
    judge_whole(s);
    return PM_OK;
}

/* --- all of it --- */

static bool make_room(struct searching *s)
{
    size_t n_nodes = 1, n_runners = has_summary(s) ? s->cells.n_runners : 1;
    for (uint32_t a = 0; a < s->cells.n_axes; a++)
        n_nodes = s->cells.axes[a].n_nodes > n_nodes ? s->cells.axes[a].n_nodes : n_nodes;
    s->room = pm_alloc_array(s->cells.n_runs * n_runners + 1, sizeof *s->room);
    s->bucket_of = pm_alloc_array(n_nodes, sizeof *s->bucket_of);
    s->buckets = pm_alloc_array(n_nodes, sizeof *s->buckets);
    s->bucket_n = pm_alloc_array(n_nodes, sizeof *s->bucket_n);
    s->child = pm_alloc_array((size_t)s->cells.n_tuples + 1, sizeof *s->child);
    return s->room && s->bucket_of && s->buckets && s->bucket_n && s->child;
}

/* All cells, and the least difference that counts. */
static bool start(struct searching *s)
{
    uint32_t n = s->cells.n_tuples;
    uint32_t *all = pm_alloc_array((size_t)n + 1, sizeof *all);
    double *values = pm_alloc_array((size_t)s->cells.n_runs + 1, sizeof *values), whole = 0;
    struct focus focus = {.tuples = all, .n_tuples = n, .l1 = INFINITY};
    for (uint32_t i = 0; all && i < n; i++) {
        all[i] = i;
        s->cells.tuples[i].difference = most_of(s, &s->cells.tuples[i]);
        s->search->whole_differences += s->cells.tuples[i].difference;
    }
    if (all && values)
        values_of(s, all, n, values);
    for (uint32_t i = 0; values && i < n_runs_of(s, PM_COMPARE_A); i++)
        whole += values[i] / n_runs_of(s, PM_COMPARE_A);
    free(values);
    s->search->least = s->search->options.compare.least_pct / 100 * PART_OF_LEAST * whole;
    if (all && values && n)
        return add_focus(s, &focus);
    free(all);
    return all && values;
}

static enum pm_status look(struct searching *s)
{
    free(s->comparison->rows);
    s->comparison->rows = NULL;
    s->comparison->n_rows = 0;
    bool good = make_room(s) && start(s);
    while (good && s->n_heap)
        good = look_into(s, pop(s));
    s->search->n_looked_at = s->foci.n;
    s->search->n_cells = s->cells.n_tuples;
    if (!good)
        return no_memory(s->err);
    enum pm_status status = s->foci.n ? judge(s) : PM_OK;
    if (status != PM_OK)
        return status;
    return search_arrange(s->search, &s->cells, &s->foci) ? PM_OK : no_memory(s->err);
}

static enum pm_status visit(void *context, int side, struct pm_view *view,
                            const struct pm_view_key_names *names, struct pm_error *err)
{
    struct searching *s = context;
    s->cells.metric = view->options.metrics; /* as overlays have it */
    return search_cells_read(&s->cells, side, view, names, err);
}

static enum pm_status search(struct searching *s, const struct pm_compare_input inputs[2])
{
    struct pm_search_options *options = &s->search->options;
    options->compare.view.tells_threads = true;
    s->cells.options = options;
    const struct pm_compare_visitor visitor = {visit, s};
    enum pm_status status =
        pm_compare(&options->compare, inputs, &visitor, s->err, &s->search->comparison);
    if (status != PM_OK)
        return status;
    s->comparison = s->search->comparison;
    if (options->over && s->cells.n_runners < 2)
        return pm_error_set(s->err, PM_ERR_NOT_FOUND,
                            "'%s' has fewer than two %s with costs: there is nothing to compare",
                            inputs[PM_COMPARE_A].paths[0], pm_runner_kind(options->over)->plural);
    status = search_cells_join(&s->cells, s->err);
    return status != PM_OK ? status : look(s);
}

enum pm_status pm_search(const struct pm_search_options *options,
                         const struct pm_compare_input inputs[2], struct pm_error *err,
                         struct pm_search **ret)
{
    struct searching s = {.err = err, .search = pm_alloc(sizeof *s.search)};
    if (!s.search)
        return no_memory(err);
    s.search->options = *options;
    enum pm_status status = search(&s, inputs);
    for (uint32_t i = 0; i < s.foci.n; i++)
        free(s.foci.items[i].tuples);
    free(s.foci.items);
    free(s.heap);
    free(s.room);
    free(s.bucket_of);
    free(s.buckets);
    free(s.bucket_n);
    free(s.child);
    pm_map_release(&s.seen);
    search_cells_release(&s.cells);
    if (status != PM_OK)
        pm_search_free(s.search);
    *ret = status != PM_OK ? NULL : s.search;
    return status;
}

void pm_search_free(struct pm_search *search)
{
    if (!search)
        return;
    pm_comparison_free(search->comparison);
    free(search->foci);
    pm_arena_release(&search->arena);
    free(search);
}
