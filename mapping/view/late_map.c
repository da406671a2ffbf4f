#include "late_map.h"

#include "mapping/base/statement_names.h"
#include "mapping/code/binary.h"
#include "mapping/code/blame.h"

#include <stdlib.h>

/* --- binaries --- */

static bool bytes_of_hex(const char *hex, struct pm_buf *bytes)
{
    for (; hex[0] && hex[1]; hex += 2) {
        char digits[3] = {hex[0], hex[1], 0}, *end;
        unsigned long byte = strtoul(digits, &end, 16);
        if (end != digits + 2)
            return false;
        pm_buf_add_byte(bytes, (unsigned char)byte);
    }
    return !*hex && bytes->len && !bytes->failed;
}

/* Is the file the one that ran? Only a build-id tells that long after. */
static bool is_same(const struct pm_binary *binary, struct pm_late_map *item)
{
    struct pm_buf id = PM_BUF_INIT(1 << 10);
    char why[160] = "";
    bool known = bytes_of_hex(binary->build_id, &id);
    enum pm_binary_state state = PM_BINARY_GONE;
    if (known) {
        struct pm_binary_identity identity = {.build_id = {id.data, id.len}};
        state = pm_binary_check(binary->path, &identity, why, sizeof why);
    }
    pm_buf_release(&id);
    const char *text = !known ? "it has no build-id, so whether it is the one that ran is not known"
                       : state == PM_BINARY_CHANGED    ? "it has changed since it ran"
                       : state == PM_BINARY_GONE       ? "it is no longer there"
                       : state == PM_BINARY_UNREADABLE ? why
                                                       : "";
    snprintf(item->problem, sizeof item->problem, "%s", text);
    return known && state == PM_BINARY_SAME;
}

static void open_one(const struct pm_binary *binary, struct pm_late_map *item)
{
    item->path = binary->path;
    if (strcmp(binary->map_state, "read") != 0 && strcmp(binary->map_state, "damaged") != 0)
        return;
    if (!is_same(binary, item))
        return;
    struct pm_error err = PM_ERROR_INIT;
    if (pm_code_map_read_elf(binary->path, &err, &item->map) != PM_OK) {
        item->map = NULL;
        snprintf(item->problem, sizeof item->problem, "%s", pm_error_text(&err));
    }
    pm_error_release(&err);
}

/* --- statements by place --- */

static pm_index function_of(const struct pm_graph *graph, pm_index noun)
{
    return pm_graph_ancestor(graph, noun, "function");
}

static int compare_statements(const void *a_pointer, const void *b_pointer)
{
    const struct pm_late_statement *a = a_pointer, *b = b_pointer;
    if (a->function != b->function)
        return a->function < b->function ? -1 : 1;
    if (a->line_no != b->line_no)
        return a->line_no < b->line_no ? -1 : 1;
    return (a->column_no > b->column_no) - (a->column_no < b->column_no);
}

static enum pm_status list_statements(struct pm_late_maps *maps, struct pm_error *err)
{
    const struct pm_graph *graph = maps->data->graph;
    maps->statements = pm_alloc_array(graph->n_nouns, sizeof *maps->statements);
    if (!maps->statements)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    for (pm_index n = 0; n < graph->n_nouns; n++) {
        const struct pm_graph_noun *noun = &graph->nouns[n];
        pm_index function = strcmp(noun->kind, "statement") ? PM_NONE : function_of(graph, n);
        if (function != PM_NONE && noun->line_no)
            maps->statements[maps->n_statements++] = (struct pm_late_statement){
                (pm_id)graph->nouns[function].id, noun->line_no, noun->column_no, n};
    }
    qsort(maps->statements, maps->n_statements, sizeof *maps->statements, compare_statements);
    return PM_OK;
}

enum pm_status pm_late_maps_open(struct pm_late_maps *maps, const struct pm_archive_data *data,
                                 struct pm_error *err)
{
    *maps = (struct pm_late_maps){.data = data,
                                  .items = pm_alloc_array(data->n_binaries, sizeof *maps->items)};
    if (!maps->items)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    for (uint32_t b = 0; b < data->n_binaries; b++)
        open_one(&data->binaries[b], &maps->items[b]);
    return list_statements(maps, err);
}

void pm_late_maps_release(struct pm_late_maps *maps)
{
    for (uint32_t b = 0; maps->items && b < maps->data->n_binaries; b++)
        pm_code_map_free(maps->items[b].map);
    free(maps->items);
    free(maps->statements);
    *maps = (struct pm_late_maps){0};
}

static bool is_frame(const struct pm_graph_noun *noun)
{
    return strncmp(noun->name, PM_FRAME_STATEMENT, strlen(PM_FRAME_STATEMENT)) == 0;
}

/* Position of the first statement that is behind the key. */
static size_t upper_bound(const struct pm_late_maps *maps, const struct pm_late_statement *key)
{
    size_t low = 0, high = maps->n_statements;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_statements(&maps->statements[middle], key) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* What enters and leaves the function, which stands at its place; PM_NONE: nothing was measured
 * there. */
static pm_index frame_of(const struct pm_late_maps *maps, const struct pm_graph_noun *function)
{
    struct pm_late_statement key = {(pm_id)function->id, function->line_no, function->column_no,
                                    PM_NONE};
    for (size_t i = upper_bound(maps, &key);
         i-- > 0 && compare_statements(&maps->statements[i], &key) == 0;)
        if (is_frame(&maps->data->graph->nouns[maps->statements[i].noun]))
            return maps->statements[i].noun;
    return PM_NONE;
}

/* The statement, when it is not over at the place; in the function's last line its exit (as
 * mapping/collect/places.c). */
static pm_index unless_over(const struct pm_late_maps *maps, pm_index statement,
                            const struct pm_code_place *place)
{
    const struct pm_graph *graph = maps->data->graph;
    const struct pm_graph_noun *noun = &graph->nouns[statement];
    const struct pm_graph_noun *function = &graph->nouns[function_of(graph, statement)];
    uint32_t end = noun->end_line_no ? noun->end_line_no : noun->line_no;
    if (is_frame(noun) || end >= place->line_no)
        return statement;
    return function->end_line_no == place->line_no ? frame_of(maps, function) : PM_NONE;
}

/* The last one that begins at or before the place. Without a column: the first of its line. */
pm_index pm_late_maps_statement(const struct pm_late_maps *maps, const struct pm_code_place *place)
{
    if (!place->line_no)
        return PM_NONE;
    struct pm_late_statement key = {place->function, place->line_no, place->column_no, PM_NONE};
    size_t low = upper_bound(maps, &key);
    const struct pm_late_statement *next = low < maps->n_statements ? &maps->statements[low] : NULL;
    if (!place->column_no && next && next->function == place->function &&
        next->line_no == place->line_no)
        return next->noun;
    if (low == 0 || maps->statements[low - 1].function != place->function)
        return PM_NONE;
    return unless_over(maps, maps->statements[low - 1].noun, place);
}

bool *pm_late_maps_with_code(const struct pm_late_maps *maps)
{
    bool *has = pm_alloc_array(maps->data->graph->n_nouns, sizeof *has);
    for (uint32_t b = 0; has && b < maps->data->n_binaries; b++) {
        size_t n = 0;
        const struct pm_code_range *ranges =
            maps->items[b].map ? pm_code_map_ranges(maps->items[b].map, &n) : NULL;
        for (size_t i = 0; i < n; i++) {
            const struct pm_code_tuple *tuple = ranges[i].tuple;
            pm_index statement = pm_late_maps_statement(maps, &tuple->place);
            if (statement != PM_NONE)
                has[statement] = true;
            /* A call that was inlined has its code where it was inlined from. */
            for (const struct pm_code_site *site = tuple->site; site; site = site->parent)
                if ((statement = pm_late_maps_statement(maps, &site->call)) != PM_NONE)
                    has[statement] = true;
            for (uint32_t k = 0; k < tuple->n_also; k++)
                if ((statement = pm_late_maps_statement(maps, &tuple->also[k].place)) != PM_NONE)
                    has[statement] = true;
        }
    }
    /* A construct that was compiled into several binaries has a noun for each. */
    for (int back = 0; has && back < 2; back++)
        for (size_t i = 1; i < maps->n_statements; i++) {
            size_t at = back ? maps->n_statements - i : i, other = back ? at - 1 : at;
            const struct pm_late_statement *a = &maps->statements[at - 1],
                                           *b = &maps->statements[at];
            if (compare_statements(a, b) == 0)
                has[maps->statements[other].noun] |= has[(back ? b : a)->noun];
        }
    return has;
}

bool pm_late_maps_cover(const struct pm_late_maps *maps, pm_index noun)
{
    const struct pm_graph *graph = maps->data->graph;
    for (uint32_t b = 0; b < maps->data->n_binaries; b++)
        if (maps->items[b].map && !strcmp(graph->nouns[noun].binary, maps->items[b].path))
            return true;
    return false;
}

/* --- vectors --- */

static int compare_loops(const void *a_pointer, const void *b_pointer)
{
    const struct pm_late_loop *a = a_pointer, *b = b_pointer;
    return (a->id > b->id) - (a->id < b->id);
}

struct pm_blame *pm_late_map_code(const struct pm_late_map *map)
{
    struct pm_error err = PM_ERROR_INIT;
    struct pm_blame *blame = NULL;
    if (pm_blame_open(map->path, &err, &blame) != PM_OK)
        blame = NULL;
    pm_error_release(&err);
    return blame;
}

static void count_in(const struct pm_late_map *map, struct pm_late_loop *loops, uint32_t n)
{
    size_t n_ranges = 0;
    const struct pm_code_range *ranges = pm_code_map_ranges(map->map, &n_ranges);
    struct pm_blame *blame = pm_late_map_code(map);
    for (size_t i = 0; blame && i < n_ranges; i++) {
        struct pm_late_loop key = {.id = ranges[i].tuple->loop};
        struct pm_late_loop *loop = key.id && ranges[i].tuple->kind != PM_MAP_PADDING
                                        ? bsearch(&key, loops, n, sizeof key, compare_loops)
                                        : NULL;
        if (loop)
            (void)pm_blame_visit(blame, ranges[i].address, ranges[i].size_bytes, pm_vectors_count,
                                 &loop->vectors);
    }
    pm_blame_free(blame);
}

void pm_late_maps_count_vectors(const struct pm_late_maps *maps, struct pm_late_loop *loops,
                                uint32_t n)
{
    if (n)
        qsort(loops, n, sizeof *loops, compare_loops);
    for (uint32_t b = 0; n && b < maps->data->n_binaries; b++)
        if (maps->items[b].map)
            count_in(&maps->items[b], loops, n);
}
