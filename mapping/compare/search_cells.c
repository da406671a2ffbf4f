/* From a view of a run to its cells. */
#include "search_cells.h"

#include "format/pm_id.h"
#include "mapping/view/columns.h"

#include <stdlib.h>

/* What is read of one run. */
struct reading {
    struct search_cells *cells;
    struct pm_view *view; /* by loop: its costs are read */
    const struct pm_view_key_names *names;
    struct pm_error *err;
    int side;
    pm_index metric;
    uint32_t *node_of[PM_SEARCH_MAX_AXES]; /* per context, of places per thread; NULL: no such */
    double *of_tuple;                      /* [cap] */
    uint32_t cap;
};

static enum pm_status no_memory(struct pm_error *err)
{
    return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}

/* --- nodes --- */

uint32_t search_node_at(struct search_axis *axis, uint64_t key, uint32_t parent)
{
    uint32_t *at = pm_map_at(&axis->node_of, key);
    if (!at)
        return PM_NONE;
    if (*at)
        return *at - 1;
    struct search_node *nodes =
        pm_grow_array(axis->nodes, axis->n_nodes, &axis->cap, 256, sizeof *nodes);
    if (!nodes)
        return PM_NONE;
    axis->nodes = nodes;
    nodes[axis->n_nodes] =
        (struct search_node){.parent = parent,
                             .depth = parent == PM_NONE ? 0 : nodes[parent].depth + 1,
                             .runner = PM_NONE};
    if (parent != PM_NONE)
        nodes[parent].n_parts++;
    *at = axis->n_nodes + 1;
    return axis->n_nodes++;
}

static const char *keep(struct search_cells *cells, const char *text)
{
    return text ? pm_arena_strndup(&cells->arena, text, strlen(text)) : "";
}

static bool name_node(struct search_cells *cells, int side, struct pm_view *view,
                      struct pm_view_row *row, struct search_node *node)
{
    if (node->places[side])
        return true;
    pm_view_name_row(view, row);
    node->what = keep(cells, row->what);
    node->places[side] = keep(cells, row->place);
    return node->what && node->places[side];
}

static bool is_at_least(const struct pm_view *view, const struct pm_view_row *row)
{
    bool counts = view->primary == view->n_metrics;
    struct pm_view_column column = {.id = counts ? PM_VIEW_COLUMN_CALLS : PM_VIEW_COLUMN_OWN,
                                    .metric = view->primary};
    return pm_view_number_of(view, &column, row, PM_VIEW_PART_ROW).is_at_least;
}

/* Of words, what no word stands for is nowhere; of code it is a place as others. */
static bool is_nowhere(uint32_t axis, const struct pm_view_row *row)
{
    return axis >= PM_SEARCH_WORDS && row->kind != PM_VIEW_ROW_NOUN && row->kind != PM_VIEW_ROW_SET;
}

/* Rows come depth first. node_at: per row. */
static bool make_nodes(struct reading *r, uint32_t axis, struct pm_view *view,
                       const struct pm_view_keys *keys, const uint32_t *position,
                       uint32_t *ret_node_at)
{
    struct search_axis *to = &r->cells->axes[axis];
    for (uint32_t i = 0; i < view->n_rows; i++) {
        struct pm_view_row *row = &view->rows[i];
        uint32_t parent =
            row->parent_id == PM_NONE ? (uint32_t)PM_NONE : ret_node_at[position[row->parent_id]];
        ret_node_at[i] = PM_NONE;
        if (is_nowhere(axis, row))
            continue;
        uint32_t node = ret_node_at[i] = search_node_at(to, keys->items[i].hash, parent);
        if (node == PM_NONE || !name_node(r->cells, r->side, view, row, &to->nodes[node]))
            return false;
        bool marks = is_at_least(view, row);
        for (; marks && node != PM_NONE; node = to->nodes[node].parent)
            to->nodes[node].is_at_least[r->side] = true;
    }
    return true;
}

/* position, node_at: room for all ids and rows. */
static bool place_contexts(struct reading *r, uint32_t axis, struct pm_view *view,
                           const struct pm_view_keys *keys, uint32_t *position, uint32_t *node_at)
{
    uint32_t n = view->data->graph->n_contexts;
    uint32_t *node_of = r->node_of[axis] = pm_alloc_array((size_t)n + 1, sizeof *node_of);
    if (!position || !node_at || !node_of)
        return false;
    for (uint32_t i = 0; i < view->n_rows; i++)
        position[view->rows[i].id] = i;
    if (!make_nodes(r, axis, view, keys, position, node_at))
        return false;
    for (uint32_t c = 0; c < n; c++)
        node_of[c] = node_at[position[view->node_of[c]]];
    return true;
}

static enum pm_status read_axis_of(struct reading *r, uint32_t axis, struct pm_view *view)
{
    struct pm_view_keys keys = {0};
    enum pm_status status = pm_view_make(view, r->err);
    if (status != PM_OK)
        return status;
    status = pm_view_keys_make(view, r->names, r->err, &keys);
    if (status != PM_OK)
        return status;
    uint32_t *position = pm_alloc_array((size_t)view->n_rows + 1, sizeof *position);
    uint32_t *node_at = pm_alloc_array((size_t)view->n_rows + 1, sizeof *node_at);
    bool good = place_contexts(r, axis, view, &keys, position, node_at);
    free(position);
    free(node_at);
    pm_view_keys_release(&keys);
    return good ? pm_view_naming_status(view, r->err) : no_memory(r->err);
}

static enum pm_status read_axis(struct reading *r, uint32_t axis, enum pm_view_by by,
                                const char *level)
{
    struct pm_view view = {.options = r->view->options, .archive = r->view->archive};
    view.options.by = by;
    view.options.level = level;
    view.options.keeps_rows = view.options.keeps_nodes = true;
    view.options.has_statements = strcmp(r->cells->metric, "n_calls") != 0;
    enum pm_status status = read_axis_of(r, axis, &view);
    pm_view_release(&view);
    r->cells->axes[axis].n_runs++;
    return status;
}

/* --- which axes --- */

/* PM_NONE: there are as many as there may be. */
static uint32_t axis_of_words(struct search_cells *cells, const char *level)
{
    for (uint32_t i = PM_SEARCH_WORDS; i < cells->n_axes; i++)
        if (!strcmp(cells->axes[i].name, level))
            return i;
    if (cells->n_axes == PM_SEARCH_MAX_AXES)
        return PM_NONE;
    cells->axes[cells->n_axes].name = keep(cells, level);
    return cells->n_axes++;
}

static enum pm_status read_words(struct reading *r)
{
    const struct pm_graph *graph = r->view->data->graph;
    for (pm_index l = 0; l < graph->n_levels; l++) {
        const char *name = graph->levels[l].name;
        if (!strcmp(name, "Base") || !strcmp(name, "Source"))
            continue;
        uint32_t axis = axis_of_words(r->cells, name);
        if (axis == PM_NONE)
            continue;
        if (!r->cells->axes[axis].name)
            return no_memory(r->err);
        enum pm_status status = read_axis(r, axis, PM_VIEW_BY_CODE, name);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

static enum pm_status read_places(struct reading *r)
{
    const struct pm_archive_data *data = r->view->data;
    uint32_t *node_of = pm_alloc_array((size_t)data->n_threads + 1, sizeof *node_of);
    r->node_of[PM_SEARCH_PLACE] = node_of;
    r->cells->axes[PM_SEARCH_PLACE].n_runs++;
    bool good = node_of && search_places_find(r->cells, r->side, data, node_of);
    return good ? PM_OK : no_memory(r->err);
}

static enum pm_status read_axes(struct reading *r)
{
    static const char *const names[] = {"code", "data", "place"};
    for (uint32_t i = 0; i < PM_SEARCH_WORDS; i++)
        r->cells->axes[i].name = names[i];
    if (r->cells->n_axes < PM_SEARCH_WORDS)
        r->cells->n_axes = PM_SEARCH_WORDS;
    enum pm_status status = read_axis(r, PM_SEARCH_CODE, PM_VIEW_BY_CODE, "source");
    status = status != PM_OK ? status : read_axis(r, PM_SEARCH_DATA, PM_VIEW_BY_DATA, "source");
    status = status != PM_OK ? status : read_places(r);
    return status != PM_OK ? status : read_words(r);
}

/* --- tuples --- */

static uint64_t hash_of(const uint32_t nodes[PM_SEARCH_MAX_AXES])
{
    return XXH64(nodes, PM_SEARCH_MAX_AXES * sizeof *nodes, 0);
}

/* PM_NONE: memory ended. */
static uint32_t tuple_at(struct search_cells *cells, const uint32_t nodes[PM_SEARCH_MAX_AXES])
{
    uint32_t *at = pm_map_at(&cells->tuple_of, hash_of(nodes));
    if (!at)
        return PM_NONE;
    if (*at)
        return *at - 1;
    struct search_tuple *tuples =
        pm_grow_array(cells->tuples, cells->n_tuples, &cells->cap_tuples, 1024, sizeof *tuples);
    if (!tuples)
        return PM_NONE;
    cells->tuples = tuples;
    tuples[cells->n_tuples] = (struct search_tuple){0};
    memcpy(tuples[cells->n_tuples].nodes, nodes, PM_SEARCH_MAX_AXES * sizeof *nodes);
    *at = cells->n_tuples + 1;
    return cells->n_tuples++;
}

static bool add_to_tuple(struct reading *r, const uint32_t nodes[PM_SEARCH_MAX_AXES], double value)
{
    uint32_t tuple = tuple_at(r->cells, nodes);
    if (tuple == PM_NONE)
        return false;
    if (tuple >= r->cap) {
        uint32_t cap = r->cells->cap_tuples;
        double *grown = pm_realloc_array(r->of_tuple, cap, sizeof *grown);
        if (!grown)
            return false;
        memset(grown + r->cap, 0, (cap - r->cap) * sizeof *grown);
        r->of_tuple = grown;
        r->cap = cap;
    }
    r->of_tuple[tuple] += value;
    return true;
}

/* Calls of code that counts for what is around it are none of that. */
static bool is_left_out(const struct reading *r, const struct pm_cost *cost)
{
    const struct pm_view *view = r->view;
    if (cost->metric != r->metric || !cost->value || !view->in_focus[cost->context])
        return true;
    if (cost->metric != view->calls_metric)
        return false;
    const pm_index *before = view->sentence_of_focus;
    bool follows =
        before && before[cost->context] != view->data->graph->contexts[cost->context].sentence;
    return follows || pm_view_is_no_call(view, cost);
}

static bool take_cost(void *context, const struct pm_cost *cost)
{
    struct reading *r = context;
    uint32_t nodes[PM_SEARCH_MAX_AXES];
    if (is_left_out(r, cost))
        return true;
    for (uint32_t i = 0; i < PM_SEARCH_MAX_AXES; i++) {
        uint32_t of = i == PM_SEARCH_PLACE ? cost->thread : cost->context;
        nodes[i] = r->node_of[i] ? r->node_of[i][of] : (uint32_t)PM_NONE;
    }
    return add_to_tuple(r, nodes, (double)cost->value);
}

/* --- ranks or threads of one run --- */

static uint32_t runner_of(const struct search_cells *cells, uint32_t tuple)
{
    uint32_t place = cells->tuples[tuple].nodes[PM_SEARCH_PLACE];
    return place == PM_NONE ? (uint32_t)PM_NONE : cells->axes[PM_SEARCH_PLACE].nodes[place].runner;
}

/* Those of the run: all ranks that there are, and threads that have a part of the metric.
 * ret_there: [n_runners]. */
static uint32_t find_there(const struct reading *r, bool *ret_there)
{
    const struct search_axis *places = &r->cells->axes[PM_SEARCH_PLACE];
    uint32_t n = 0;
    for (uint32_t t = 0; r->cells->options->over == PM_RUNNER_RANK && t < r->view->data->n_threads;
         t++) {
        uint32_t runner = places->nodes[r->node_of[PM_SEARCH_PLACE][t]].runner;
        if (runner != PM_NONE)
            ret_there[runner] = true;
    }
    for (uint32_t i = 0; i < r->cells->n_tuples && i < r->cap; i++) {
        uint32_t runner = runner_of(r->cells, i);
        if (r->of_tuple[i] != 0 && runner != PM_NONE)
            ret_there[runner] = true;
    }
    for (uint32_t i = 0; i < r->cells->n_runners; i++)
        n += ret_there[i];
    return n;
}

/* In place of what each has, the mean over all of them. */
static bool spread_out(struct reading *r, const bool *there, uint32_t n_there)
{
    const struct search_axis *places = &r->cells->axes[PM_SEARCH_PLACE];
    uint32_t n = r->cells->n_tuples < r->cap ? r->cells->n_tuples : r->cap;
    double *of_tuple = r->of_tuple;
    bool good = true;
    r->of_tuple = NULL;
    r->cap = 0;
    for (uint32_t i = 0; i < n && good; i++) {
        uint32_t nodes[PM_SEARCH_MAX_AXES];
        memcpy(nodes, r->cells->tuples[i].nodes, sizeof nodes);
        if (of_tuple[i] == 0)
            continue;
        if (runner_of(r->cells, i) == PM_NONE) {
            good = add_to_tuple(r, nodes, of_tuple[i]);
            continue;
        }
        for (uint32_t p = 0; p < places->n_nodes && good; p++) {
            nodes[PM_SEARCH_PLACE] = p;
            if (places->nodes[p].runner != PM_NONE && there[places->nodes[p].runner])
                good = add_to_tuple(r, nodes, of_tuple[i] / n_there);
        }
    }
    free(of_tuple);
    return good;
}

/* Of a comparison within runs, A is the mean. */
static bool take_runners(struct reading *r)
{
    struct search_cells *cells = r->cells;
    uint32_t *n_there =
        pm_grow_array(cells->n_there, cells->n_runs, &cells->cap_runs, 16, sizeof *n_there);
    bool *there = pm_alloc_array((size_t)cells->n_runners + 1, sizeof *there);
    if (n_there)
        cells->n_there = n_there;
    bool good = n_there && there;
    if (good)
        n_there[cells->n_runs] = find_there(r, there);
    if (good && cells->options->within && r->side == PM_COMPARE_A)
        good = spread_out(r, there, n_there[cells->n_runs]);
    free(there);
    return good;
}

/* --- a run --- */

static bool keep_values(struct reading *r)
{
    struct search_cells *cells = r->cells;
    for (uint32_t i = 0; i < cells->n_tuples && i < r->cap; i++) {
        if (r->of_tuple[i] == 0)
            continue;
        struct search_value *values =
            pm_grow_array(cells->values, cells->n_values, &cells->cap_values, 4096, sizeof *values);
        if (!values)
            return false;
        cells->values = values;
        values[cells->n_values++] = (struct search_value){i, cells->n_runs, r->of_tuple[i]};
    }
    return true;
}

static enum pm_status read_costs(struct reading *r)
{
    enum pm_status status = pm_view_each_cost(r->view, r->view->runs_in, take_cost, r, r->err);
    if (status != PM_OK)
        return status;
    if (!take_runners(r) || !keep_values(r))
        return no_memory(r->err);
    r->cells->n_runs++;
    return PM_OK;
}

enum pm_status search_cells_read(struct search_cells *cells, int side, struct pm_view *view,
                                 const struct pm_view_key_names *names, struct pm_error *err)
{
    struct reading r = {.cells = cells, .view = view, .names = names, .err = err, .side = side};
    r.metric = pm_graph_find_metric(view->data->graph, cells->metric);
    if (r.metric == PM_NONE || view->data->graph->metrics[r.metric].aggregation != PM_SUM)
        return pm_error_set(err, PM_ERR_USAGE,
                            "'%s' cannot be added up, so its parts cannot be searched",
                            cells->metric);
    enum pm_status status = read_axes(&r);
    status = status != PM_OK ? status : read_costs(&r);
    for (uint32_t i = 0; i < PM_SEARCH_MAX_AXES; i++)
        free(r.node_of[i]);
    free(r.of_tuple);
    return status;
}

/* --- all runs --- */

/* What was not said in some run is not known there, and none. */
static void leave_out_axes(struct search_cells *cells)
{
    for (uint32_t a = PM_SEARCH_WORDS; a < cells->n_axes; a++)
        for (uint32_t i = 0; cells->axes[a].n_runs < cells->n_runs && i < cells->n_tuples; i++)
            cells->tuples[i].nodes[a] = PM_NONE;
}

enum pm_status search_cells_join(struct search_cells *cells, struct pm_error *err)
{
    struct search_value *sorted = pm_alloc_array((size_t)cells->n_values + 1, sizeof *sorted);
    uint32_t first = 0;
    if (!sorted)
        return no_memory(err);
    leave_out_axes(cells);
    for (uint32_t i = 0; i < cells->n_values; i++)
        cells->tuples[cells->values[i].tuple].n++;
    for (uint32_t i = 0; i < cells->n_tuples; i++) {
        cells->tuples[i].first = first;
        first += cells->tuples[i].n;
        cells->tuples[i].n = 0;
    }
    for (uint32_t i = 0; i < cells->n_values; i++) {
        struct search_tuple *tuple = &cells->tuples[cells->values[i].tuple];
        sorted[tuple->first + tuple->n++] = cells->values[i];
    }
    free(cells->values);
    cells->values = sorted;
    return PM_OK;
}

void search_cells_release(struct search_cells *cells)
{
    for (uint32_t i = 0; i < PM_SEARCH_MAX_AXES; i++) {
        free(cells->axes[i].nodes);
        pm_map_release(&cells->axes[i].node_of);
    }
    free(cells->tuples);
    free(cells->values);
    free(cells->n_there);
    pm_map_release(&cells->tuple_of);
    pm_arena_release(&cells->arena);
}
