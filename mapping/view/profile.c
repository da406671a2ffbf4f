/* From a view's tree to frames, nodes and cells. */
#include "columns.h"
#include "profile.h"

#include "mapping/graph/index_map.h"

#include <stdlib.h>

static enum pm_status no_memory(struct pm_error *err)
{
    return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}

/* Flat rows of another view of the same costs: what a context counts as there. */
struct labels {
    struct pm_view view;
    uint32_t *number_of; /* [lift->n_rows]: of lines, of arrays; PM_NONE: none */
};

struct build {
    struct pm_profile *profile;
    const struct pm_profile_options *options;
    struct labels lines, arrays;
    uint32_t *node_of_id; /* [n_ids]: per row of the tree, where what is left out counts */
    struct pm_intern *keys;
    struct pm_index_map frame_of;  /* by the address of an interned key */
    struct pm_map cell_of;         /* by hash: 1 + the first of a chain */
    uint32_t *next_cell;           /* of a chain, + 1 */
    uint32_t cap_cells, cap_links; /* of cells, and of next_cell */
    size_t cap_values;
    uint32_t value_of_metric[PM_VIEW_MAX_METRICS], samples_at, calls_at; /* PM_NONE */
    bool overflow, failed;                                               /* failed: memory */
};

/* --- values --- */

static uint32_t add_value(struct build *b, const struct pm_profile_value *value)
{
    b->profile->values[b->profile->n_values] = *value;
    return b->profile->n_values++;
}

static bool has_column(const struct pm_view *view, enum pm_view_column_id id)
{
    struct pm_view_column columns[PM_VIEW_MAX_COLUMNS];
    uint32_t n = pm_view_columns(view, columns);
    for (uint32_t i = 0; i < n; i++)
        if (columns[i].id == id)
            return true;
    return false;
}

static void choose_values(struct build *b)
{
    const struct pm_view *tree = &b->profile->tree;
    const struct pm_graph *graph = tree->data->graph;
    b->samples_at = b->calls_at = PM_NONE;
    for (uint32_t m = 0; m < tree->n_metrics; m++) {
        const struct pm_graph_metric *metric = &graph->metrics[tree->metrics[m]];
        bool may_be_more = tree->n_lost_events && pm_view_is_at_least(tree, &tree->total, m, false);
        b->value_of_metric[m] = PM_NONE;
        if (metric->aggregation == PM_SUM)
            b->value_of_metric[m] =
                add_value(b, &(struct pm_profile_value){
                                 metric->name, metric->unit, metric->kind, metric->description,
                                 tree->total.values[m].own.value, may_be_more});
    }
    if (has_column(tree, PM_VIEW_COLUMN_SAMPLES) && tree->total.n_samples)
        b->samples_at =
            add_value(b, &(struct pm_profile_value){"n_samples", "count", "count", "samples",
                                                    tree->total.n_samples, false});
    if (has_column(tree, PM_VIEW_COLUMN_CALLS) && tree->total.n_calls)
        b->calls_at = add_value(
            b, &(struct pm_profile_value){"n_calls", "count", "count", "calls", tree->total.n_calls,
                                          tree->total.traits.calls_are_at_least});
}

/* --- frames --- */

static const char *printable(struct build *b, const char *text)
{
    const char *p = pm_text_printable(&b->profile->arena, text ? text : "");
    b->failed |= !p;
    return p ? p : "";
}

static bool is_word(const struct pm_graph *graph, pm_index sentence)
{
    const char *verb = graph->verbs[graph->sentences[sentence].verb].name,
               *level = graph->levels[pm_graph_sentence_level(graph, sentence)].name;
    bool is_code = !strcmp(verb, "Executes") || !strcmp(verb, "Reads") || !strcmp(verb, "Writes");
    return !is_code || (strcmp(level, "Source") != 0 && strcmp(level, "Base") != 0);
}

static void take_nouns(struct build *b, const pm_index *nouns, uint32_t n,
                       struct pm_profile_frame *frame)
{
    const struct pm_graph *graph = b->profile->tree.data->graph;
    struct pm_profile_noun *taken = pm_arena_alloc(&b->profile->arena, (n + 1) * sizeof *taken);
    b->failed |= !taken;
    for (uint32_t i = 0; taken && i < n; i++)
        taken[i] = (struct pm_profile_noun){printable(b, graph->nouns[nouns[i]].kind),
                                            printable(b, graph->nouns[nouns[i]].name)};
    frame->nouns = taken;
    frame->n_nouns = taken ? n : 0;
}

/* Of a row that is one construct, or a sentence. */
static void fill_from_noun(struct build *b, const struct pm_view_row *row,
                           struct pm_profile_frame *frame)
{
    const struct pm_view *tree = &b->profile->tree;
    const struct pm_graph *graph = tree->data->graph;
    const struct pm_view_group *group = row->n_groups ? &tree->groups[row->groups[0]] : NULL;
    pm_index noun = pm_view_row_noun(tree, row, 0), sentence = row->source, verb = PM_NONE;
    if (group) {
        sentence = group->sentence;
        verb = group->verb;
    }
    if (sentence != PM_NONE)
        verb = graph->sentences[sentence].verb;
    if (group && group->file)
        frame->file = printable(b, group->file);
    if (noun == PM_NONE)
        return;
    const struct pm_graph_noun *n = &graph->nouns[noun];
    pm_index at = !*n->file && group ? group->place : PM_NONE;
    const struct pm_graph_noun *there = at == PM_NONE ? n : &graph->nouns[at];
    frame->kind = group && group->file ? "file" : printable(b, n->kind);
    if (!frame->file) {
        frame->file = printable(b, there->file);
        frame->line_no = there->line_no;
        frame->linkage = printable(b, n->linkage);
        if (!*n->linkage && !strcmp(n->kind, "symbol"))
            frame->linkage = printable(b, n->name);
    }
    frame->level =
        printable(b, graph->levels[verb == PM_NONE ? n->level : graph->verbs[verb].level].name);
    frame->verb = verb == PM_NONE ? NULL : printable(b, graph->verbs[verb].name);
    if (sentence != PM_NONE && is_word(graph, sentence)) {
        const struct pm_graph_sentence *s = &graph->sentences[sentence];
        frame->is_word = true;
        take_nouns(b, graph->sentence_nouns + s->first_noun, s->n_nouns, frame);
    } else if (sentence == PM_NONE && frame->verb && strcmp(frame->level, "Source") != 0 &&
               strcmp(frame->level, "Base") != 0) {
        frame->is_word = true;
        take_nouns(b, &noun, 1, frame);
    }
    frame->is_unmapped = row->kind == PM_VIEW_ROW_UNMAPPED && !frame->is_word;
}

/* What is done together, in one file or in several. */
static void fill_from_set(struct build *b, const struct pm_view_row *row,
                          struct pm_profile_frame *frame)
{
    const struct pm_view *tree = &b->profile->tree;
    const struct pm_graph *graph = tree->data->graph;
    const char *file = NULL;
    for (uint32_t i = 0; i < row->n_groups; i++) {
        pm_index noun = tree->groups[row->groups[i]].noun;
        const char *of = noun == PM_NONE ? "" : graph->nouns[noun].file;
        file = !file || !strcmp(file, of) ? of : "";
    }
    frame->file = printable(b, file);
    frame->kind = "set";
    frame->level = printable(b, tree->level_name);
}

static void fill_frame(struct build *b, const struct pm_view_row *row,
                       struct pm_profile_frame *frame)
{
    const struct pm_view *tree = &b->profile->tree;
    *frame = (struct pm_profile_frame){.name = row->name, .place = row->place};
    if (row->kind == PM_VIEW_ROW_NOUN || row->kind == PM_VIEW_ROW_UNMAPPED)
        fill_from_noun(b, row, frame);
    else if (row->kind == PM_VIEW_ROW_SET)
        fill_from_set(b, row, frame);
    else if (row->kind == PM_VIEW_ROW_OUTSIDE)
        frame->kind = "process";
    else if (row->kind == PM_VIEW_ROW_SPECIAL)
        frame->kind = pm_view_special_word(tree->groups[row->groups[0]].special);
    const char **texts[] = {&frame->name,  &frame->place, &frame->file, &frame->linkage,
                            &frame->level, &frame->kind,  &frame->verb};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        *texts[i] = *texts[i] ? *texts[i] : "";
}

/* The frame that says the same, or a new one. */
static uint32_t find_frame(struct build *b, const struct pm_profile_frame *frame)
{
    struct pm_profile *profile = b->profile;
    struct pm_buf key = PM_BUF_INIT(1 << 24);
    const char *texts[] = {frame->name, frame->place, frame->file, frame->linkage, frame->kind};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        pm_buf_add(&key, texts[i], strlen(texts[i]) + 1);
    pm_buf_printf(&key, "%u", frame->line_no);
    const char *kept = key.failed ? NULL : pm_intern_add(b->keys, key.data, key.len);
    pm_buf_release(&key);
    b->failed |= !kept;
    uint32_t at = kept ? pm_index_map_get(&b->frame_of, (int64_t)(uintptr_t)kept) : 0;
    if (at != PM_NONE)
        return at;
    b->failed |= !pm_index_map_add(&b->frame_of, (int64_t)(uintptr_t)kept, profile->n_frames);
    profile->frames[profile->n_frames] = *frame;
    return profile->n_frames++;
}

static bool make_nodes(struct build *b, uint32_t n_ids)
{
    struct pm_profile *profile = b->profile;
    const struct pm_view *tree = &profile->tree;
    profile->nodes = pm_alloc_array(tree->n_rows, sizeof *profile->nodes);
    profile->frames = pm_alloc_array(tree->n_rows, sizeof *profile->frames);
    b->node_of_id = pm_alloc_array(n_ids, sizeof *b->node_of_id);
    b->keys = pm_intern_new();
    if (!profile->nodes || !profile->frames || !b->node_of_id || !b->keys)
        return false;
    for (uint32_t i = 0; i < n_ids; i++)
        b->node_of_id[i] = PM_NONE;
    for (uint32_t r = 0; r < tree->n_rows && !b->failed; r++) {
        const struct pm_view_row *row = &tree->rows[r];
        struct pm_profile_frame frame;
        fill_frame(b, row, &frame);
        b->node_of_id[row->id] = r;
        profile->nodes[r] = (struct pm_profile_node){
            .parent = row->parent_id == PM_NONE ? PM_NONE : b->node_of_id[row->parent_id],
            .frame = find_frame(b, &frame),
            .row = row};
    }
    profile->n_nodes = tree->n_rows;
    return !b->failed;
}

/* --- labels: lines and arrays --- */

/* What is asked of another view of the same costs: its groups, and what they are called. */
static enum pm_status make_labels(struct build *b, enum pm_view_by by, enum pm_rule rule,
                                  struct labels *labels, struct pm_error *err)
{
    struct pm_view_options options = b->options->view;
    options.level = "source";
    options.by = by;
    options.rule = rule;
    options.tree = options.keeps_nodes = false;
    options.limit = 0;
    memset(options.focus, 0, sizeof options.focus);
    memset(options.on, 0, sizeof options.on);
    labels->view = (struct pm_view){.options = options, .archive = b->profile->data};
    enum pm_status status = pm_view_make(&labels->view, err);
    if (status != PM_OK)
        return status;
    uint32_t n = labels->view.lift->n_rows;
    labels->number_of = pm_alloc_array(n, sizeof *labels->number_of);
    for (uint32_t r = 0; labels->number_of && r < n; r++)
        labels->number_of[r] = PM_NONE;
    return labels->number_of ? PM_OK : no_memory(err);
}

static enum pm_status make_lines(struct build *b, struct pm_error *err)
{
    struct pm_profile *profile = b->profile;
    struct pm_view *view = &b->lines.view;
    if (!(b->options->parts & PM_PROFILE_LINES))
        return PM_OK;
    enum pm_status status = make_labels(b, PM_VIEW_BY_LINE, PM_RULE_SPLIT, &b->lines, err);
    if (status != PM_OK)
        return status;
    profile->lines = pm_alloc_array(view->n_rows, sizeof *profile->lines);
    if (!profile->lines)
        return no_memory(err);
    for (uint32_t r = 0; r < view->n_rows; r++) {
        const struct pm_view_row *row = &view->rows[r];
        pm_index noun =
            row->kind == PM_VIEW_ROW_NOUN ? pm_view_row_noun(view, row, 0) : (pm_index)PM_NONE;
        if (noun == PM_NONE || !view->data->graph->nouns[noun].line_no)
            continue;
        const struct pm_graph_noun *n = &view->data->graph->nouns[noun];
        b->lines.number_of[row->id] = profile->n_lines;
        profile->lines[profile->n_lines++] =
            (struct pm_profile_line){printable(b, n->file), n->line_no};
    }
    return b->failed ? no_memory(err) : PM_OK;
}

static enum pm_status make_arrays(struct build *b, struct pm_error *err)
{
    struct pm_profile *profile = b->profile;
    struct pm_view *view = &b->arrays.view;
    if (!(b->options->parts & PM_PROFILE_ARRAYS))
        return PM_OK;
    enum pm_status status = make_labels(b, PM_VIEW_BY_ARRAY, PM_RULE_MERGE, &b->arrays, err);
    if (status != PM_OK)
        return status;
    profile->arrays = pm_alloc_array(view->n_rows, sizeof *profile->arrays);
    if (!profile->arrays)
        return no_memory(err);
    for (uint32_t r = 0; r < view->n_rows; r++) {
        const struct pm_view_row *row = &view->rows[r];
        if (row->kind != PM_VIEW_ROW_NOUN && row->kind != PM_VIEW_ROW_SET)
            continue;
        b->arrays.number_of[row->id] = profile->n_arrays;
        const char *name = pm_arena_strndup(&profile->arena, row->name, strlen(row->name));
        if (!name)
            return no_memory(err);
        profile->arrays[profile->n_arrays++] = name;
    }
    return PM_OK;
}

/* The class of a context in such a view; PM_NONE: no such view. */
static uint32_t class_of(const struct labels *labels, pm_index context)
{
    const struct pm_view *view = &labels->view;
    return view->lift ? view->lift->class_of[view->data->graph->contexts[context].sentence]
                      : PM_NONE;
}

/* --- cells --- */

static uint64_t hash_of(const struct pm_profile_cell *cell)
{
    uint64_t a = (uint64_t)cell->node << 32 | cell->thread,
             b = (uint64_t)cell->line << 32 | cell->array;
    return (a * 0x9e3779b97f4a7c15u) ^ ((b + (a >> 29)) * 0xff51afd7ed558ccdu);
}

static bool is_same(const struct pm_profile_cell *a, const struct pm_profile_cell *b)
{
    return a->node == b->node && a->thread == b->thread && a->line == b->line &&
           a->array == b->array;
}

/* A new cell without values; PM_NONE: memory. */
static uint32_t append_cell(struct build *b, const struct pm_profile_cell *cell)
{
    struct pm_profile *profile = b->profile;
    uint32_t n = profile->n_cells;
    struct pm_profile_cell *cells =
        pm_grow_array(profile->cells, n, &b->cap_cells, 1024, sizeof *cells);
    if (cells)
        profile->cells = cells;
    uint32_t *links = pm_grow_array(b->next_cell, n, &b->cap_links, 1024, sizeof *links);
    if (links)
        b->next_cell = links;
    size_t n_values = ((size_t)n + 1) * profile->n_values;
    if (n_values > b->cap_values) {
        size_t cap = b->cap_values ? b->cap_values * 2 : (size_t)1024 * PM_PROFILE_MAX_VALUES;
        int64_t *values = pm_realloc_array(profile->cell_values, cap, sizeof *values);
        if (values)
            profile->cell_values = values;
        b->cap_values = values ? cap : b->cap_values;
    }
    if (!cells || !links || n_values > b->cap_values)
        return PM_NONE;
    profile->cells[n] = *cell;
    b->next_cell[n] = 0;
    for (uint32_t v = 0; v < profile->n_values; v++)
        profile->cell_values[(size_t)n * profile->n_values + v] = 0;
    return profile->n_cells++;
}

static bool add_to_cell(struct build *b, const struct pm_profile_cell *cell, uint32_t value,
                        int64_t amount)
{
    struct pm_profile *profile = b->profile;
    uint32_t *head = pm_map_at(&b->cell_of, hash_of(cell));
    uint32_t at = head ? *head : 0;
    while (at && !is_same(&profile->cells[at - 1], cell))
        at = b->next_cell[at - 1];
    if (!at) {
        uint32_t added = head ? append_cell(b, cell) : PM_NONE;
        if (added == PM_NONE)
            return false;
        b->next_cell[added] = *head;
        *head = at = added + 1;
    }
    int64_t *to = &profile->cell_values[(size_t)(at - 1) * profile->n_values + value];
    b->overflow |= __builtin_add_overflow(*to, amount, to);
    return true;
}

/* What was left out of the rows has nothing of its own over all: it counts for what is above. */
static uint32_t node_of(const struct build *b, pm_index context)
{
    const struct pm_view *tree = &b->profile->tree;
    const struct pm_graph *graph = tree->data->graph;
    for (; context != PM_NONE; context = graph->contexts[context].parent) {
        uint32_t id = tree->node_of[context];
        if (id != PM_NONE && b->node_of_id[id] != PM_NONE)
            return b->node_of_id[id];
    }
    return b->profile->n_nodes ? 0 : PM_NONE;
}

static bool take_cost(void *context, const struct pm_cost *cost)
{
    struct build *b = context;
    const struct pm_view *tree = &b->profile->tree;
    if (!tree->in_focus[cost->context] || cost->value == 0)
        return true;
    struct pm_profile_cell cell = {.node = node_of(b, cost->context),
                                   .thread = b->options->parts & PM_PROFILE_THREADS ? cost->thread
                                                                                    : PM_NONE,
                                   .line = class_of(&b->lines, cost->context),
                                   .array = class_of(&b->arrays, cost->context)};
    bool ok = true;
    if (cell.node == PM_NONE)
        return true;
    for (uint32_t m = 0; m < tree->n_metrics && ok; m++)
        if (cost->metric == tree->metrics[m] && b->value_of_metric[m] != PM_NONE)
            ok = add_to_cell(b, &cell, b->value_of_metric[m], cost->value);
    if (ok && cost->metric == tree->samples_metric && b->samples_at != PM_NONE)
        ok = add_to_cell(b, &cell, b->samples_at, cost->value);
    if (ok && cost->metric == tree->calls_metric && b->calls_at != PM_NONE &&
        !pm_view_is_no_call(tree, cost) &&
        !pm_view_counts_as_entries(tree, tree->data->graph->contexts[cost->context].sentence))
        ok = add_to_cell(b, &cell, b->calls_at, cost->value);
    return ok;
}

/* Threads are told apart by reading costs again; else merged ones will do. */
static enum pm_status visit_costs(struct build *b, struct pm_error *err)
{
    struct pm_view *tree = &b->profile->tree;
    const struct pm_graph *graph = tree->data->graph;
    if (b->options->parts & PM_PROFILE_THREADS)
        return pm_view_each_cost(tree, tree->runs_in, take_cost, b, err);
    for (uint32_t i = 0; i < graph->n_costs; i++)
        if (!take_cost(b, &graph->costs[i]))
            return no_memory(err);
    return PM_OK;
}

static enum pm_status take_costs(struct build *b, struct pm_error *err)
{
    enum pm_status status = visit_costs(b, err);
    if (status != PM_OK)
        return status;
    return b->overflow ? pm_error_set(err, PM_ERR_LIMIT, "costs add up to more than 64 bits hold")
                       : PM_OK;
}

/* Classes of lines become lines: a cell of several is divided. n: cells of classes. */
static bool divide_cell(struct build *b, const struct pm_profile_cell *cell, const int64_t *values,
                        struct pm_amount *of_rows)
{
    const struct pm_lift *lift = b->lines.view.lift;
    struct pm_profile_cell to = *cell;
    if (b->arrays.view.lift && cell->array != PM_NONE) {
        const struct pm_lift *arrays = b->arrays.view.lift;
        to.array = b->arrays.number_of[arrays->parts[arrays->class_first[cell->array]].row];
    }
    bool ok = true;
    for (uint32_t v = 0; v < b->profile->n_values && ok; v++) {
        if (!lift || cell->line == PM_NONE) {
            ok = values[v] == 0 || add_to_cell(b, &to, v, values[v]);
            continue;
        }
        uint32_t first = lift->class_first[cell->line], last = lift->class_first[cell->line + 1];
        for (uint32_t p = first; p < last; p++)
            of_rows[lift->parts[p].row] = (struct pm_amount){0};
        b->overflow |=
            !pm_lift_divide(lift, cell->line, PM_SUM, &(struct pm_amount){values[v], 1}, of_rows);
        for (uint32_t p = first; p < last && ok; p++) {
            uint32_t row = lift->parts[p].row;
            to.line = b->lines.number_of[row];
            ok = of_rows[row].value == 0 || add_to_cell(b, &to, v, of_rows[row].value);
            of_rows[row] = (struct pm_amount){0};
        }
    }
    return ok;
}

static enum pm_status divide_cells(struct build *b, struct pm_error *err)
{
    struct pm_profile *profile = b->profile;
    struct pm_profile_cell *cells = profile->cells;
    int64_t *values = profile->cell_values;
    uint32_t n = profile->n_cells;
    if (!b->lines.view.lift && !b->arrays.view.lift)
        return PM_OK;
    struct pm_amount *of_rows =
        pm_alloc_array(b->lines.view.lift ? b->lines.view.lift->n_rows : 1, sizeof *of_rows);
    profile->cells = NULL;
    profile->cell_values = NULL;
    profile->n_cells = b->cap_cells = b->cap_links = 0;
    b->cap_values = 0;
    free(b->next_cell);
    b->next_cell = NULL;
    pm_map_release(&b->cell_of);
    b->cell_of = (struct pm_map){0};
    bool ok = of_rows;
    for (uint32_t i = 0; i < n && ok; i++)
        ok = divide_cell(b, &cells[i], values + (size_t)i * profile->n_values, of_rows);
    free(of_rows);
    free(cells);
    free(values);
    if (ok && b->overflow)
        return pm_error_set(err, PM_ERR_LIMIT, "costs add up to more than 64 bits hold");
    return ok ? PM_OK : no_memory(err);
}

static int compare_cells(const void *a_pointer, const void *b_pointer)
{
    const struct pm_profile_cell *a = a_pointer, *b = b_pointer;
    if (a->node != b->node)
        return a->node < b->node ? -1 : 1;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    return (a->array > b->array) - (a->array < b->array);
}

static void finish_cells(struct pm_profile *profile)
{
    for (uint32_t i = 0; i < profile->n_cells; i++)
        profile->cells[i].values = profile->cell_values + (size_t)i * profile->n_values;
    if (profile->n_cells)
        qsort(profile->cells, profile->n_cells, sizeof *profile->cells, compare_cells);
}

/* --- all of it --- */

/* Ids of rows are smaller: the tree had so many before some were left out. */
static uint32_t n_ids_of(const struct pm_view *tree)
{
    uint32_t n = 0;
    for (pm_index c = 0; c < tree->data->graph->n_contexts; c++)
        if (tree->node_of[c] != PM_NONE && tree->node_of[c] >= n)
            n = tree->node_of[c] + 1;
    for (uint32_t r = 0; r < tree->n_rows; r++)
        if (tree->rows[r].id >= n)
            n = tree->rows[r].id + 1;
    return n;
}

static enum pm_status make_tree(struct build *b, struct pm_error *err)
{
    struct pm_profile *profile = b->profile;
    struct pm_view_options options = b->options->view;
    options.tree = options.keeps_nodes = true;
    options.limit = 0;
    unsigned flags = pm_view_load_flags(&options) | PM_ARCHIVE_LOAD_KEPT;
    enum pm_status status = pm_archive_load(options.archive_path, flags, err, &profile->data);
    if (status != PM_OK)
        return status;
    profile->tree = (struct pm_view){.options = options, .archive = profile->data};
    status = pm_view_make(&profile->tree, err);
    if (status != PM_OK)
        return status;
    choose_values(b);
    return make_nodes(b, n_ids_of(&profile->tree)) ? PM_OK : no_memory(err);
}

static enum pm_status make_cells(struct build *b, struct pm_error *err)
{
    enum pm_status status = take_costs(b, err);
    if (status != PM_OK)
        return status;
    status = divide_cells(b, err);
    if (status != PM_OK)
        return status;
    finish_cells(b->profile);
    return PM_OK;
}

enum pm_status pm_profile_make(const struct pm_profile_options *options, struct pm_error *err,
                               struct pm_profile *profile)
{
    static enum pm_status (*const steps[])(struct build *, struct pm_error *) = {
        make_tree, make_lines, make_arrays, make_cells};
    struct build b = {.profile = profile, .options = options};
    enum pm_status status = PM_OK;
    *profile = (struct pm_profile){0};
    for (size_t i = 0; i < sizeof steps / sizeof *steps && status == PM_OK; i++)
        status = steps[i](&b, err);
    pm_view_release(&b.lines.view);
    pm_view_release(&b.arrays.view);
    free(b.lines.number_of);
    free(b.arrays.number_of);
    free(b.node_of_id);
    free(b.next_cell);
    pm_intern_free(b.keys);
    pm_index_map_release(&b.frame_of);
    pm_map_release(&b.cell_of);
    return status;
}

void pm_profile_release(struct pm_profile *profile)
{
    pm_view_release(&profile->tree);
    pm_archive_data_free(profile->data);
    free(profile->frames);
    free(profile->nodes);
    free(profile->lines);
    free(profile->arrays);
    free(profile->cells);
    free(profile->cell_values);
    pm_arena_release(&profile->arena);
    *profile = (struct pm_profile){0};
}

int64_t *pm_profile_inclusive(const struct pm_profile *profile)
{
    uint32_t n = profile->n_values;
    int64_t *sums = pm_alloc_array((size_t)profile->n_nodes * n + 1, sizeof *sums);
    bool overflow = false;
    for (uint32_t i = 0; sums && i < profile->n_cells; i++) {
        int64_t *to = sums + (size_t)profile->cells[i].node * n;
        for (uint32_t v = 0; v < n; v++)
            overflow |= __builtin_add_overflow(to[v], profile->cells[i].values[v], &to[v]);
    }
    for (uint32_t i = profile->n_nodes; sums && i-- > 0;) {
        uint32_t parent = profile->nodes[i].parent;
        for (uint32_t v = 0; v < n && parent != PM_NONE; v++)
            overflow |=
                __builtin_add_overflow(sums[(size_t)parent * n + v], sums[(size_t)i * n + v],
                                       &sums[(size_t)parent * n + v]);
    }
    if (!overflow)
        return sums;
    free(sums);
    return NULL;
}
