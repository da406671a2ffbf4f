/* What each line of a source file costs: from the rows of a report by line. */
#include "annotation.h"
#include "late_map.h"

#include <stdlib.h>
#include <sys/stat.h>

enum { MAX_SOURCE_BYTES = 1 << 26, MAX_LINES = 1 << 24, MAX_ARRAYS = 4 };

static enum pm_status no_memory(struct pm_error *err)
{
    return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}

static const struct pm_graph_noun *noun_of_group(const struct pm_view *view, uint32_t group)
{
    pm_index noun = view->groups[group].noun;
    return noun == PM_NONE ? NULL : &view->data->graph->nouns[noun];
}

uint32_t pm_annotation_line_of_group(const struct pm_annotation *a, uint32_t group)
{
    const struct pm_graph_noun *noun = noun_of_group(a->view, group);
    if (!noun || a->view->groups[group].special || noun->level != a->view->level ||
        (a->file && strcmp(noun->file, a->file) != 0) || noun->line_no < a->first_line_no ||
        noun->line_no > a->last_line_no || noun->line_no > MAX_LINES)
        return 0;
    return noun->line_no;
}

/* --- the source's text --- */

static bool try_source(const char *folder, const char *name, char **ret_path, char **ret_text)
{
    struct pm_buf path = PM_BUF_INIT(1 << 16);
    size_t len;
    pm_buf_printf(&path, "%s%s%s", folder, *folder ? "/" : "", name);
    bool found = path.data && *name &&
                 pm_file_read(path.data, MAX_SOURCE_BYTES, NULL, ret_text, &len) == PM_OK;
    if (found && memchr(*ret_text, 0, len)) { /* not text */
        free(*ret_text);
        *ret_text = NULL;
        found = false;
    }
    if (found)
        *ret_path = pm_buf_take(&path);
    pm_buf_release(&path);
    return found;
}

void pm_annotation_read_source(const struct pm_view *view, const char *file, char **ret_path,
                               char **ret_text)
{
    const struct pm_archive_data *data = view->data;
    const struct pm_graph *graph = data->graph;
    const char *path = "";
    *ret_path = *ret_text = NULL;
    for (pm_index n = 0; n < graph->n_nouns && !*path; n++)
        if (pm_view_noun_is(view, n, "file") &&
            (!strcmp(graph->nouns[n].file, file) || !strcmp(graph->nouns[n].name, file)))
            path = data->paths[n];
    const char *cwd = *file == '/' ? "" : data->executions[0].cwd;
    if (!try_source("", path, ret_path, ret_text) && !try_source(cwd, file, ret_path, ret_text))
        (void)try_source("", file, ret_path, ret_text);
}

bool pm_annotation_source_is_changed(const struct pm_view *view, const char *path)
{
    struct stat st;
    int64_t start_ns = view->data->executions[0].start_realtime_ns;
    return path && start_ns != PM_UNKNOWN && stat(path, &st) == 0 &&
           st.st_mtim.tv_sec > start_ns / 1000000000;
}

/* Cuts the text into lines; there are at least as many as have costs. */
static bool make_lines(struct pm_annotation *a)
{
    uint32_t n = 0;
    for (const char *p = a->text; p && *p; n++) {
        const char *end = strchr(p, '\n');
        p = end ? end + 1 : p + strlen(p);
    }
    const struct pm_view *view = a->view;
    uint32_t n_text = n;
    for (uint32_t g = 0; g < view->n_groups; g++)
        if (pm_annotation_line_of_group(a, g) > n)
            n = pm_annotation_line_of_group(a, g);
    const struct pm_archive_data *data = view->data;
    for (uint32_t i = 0; i < data->n_call_places && !a->text; i++) {
        pm_index noun = pm_graph_first_noun(data->graph, data->call_places[i]);
        const struct pm_graph_noun *place = noun == PM_NONE ? NULL : &data->graph->nouns[noun];
        if (place && !strcmp(place->file, a->file) && place->line_no > n &&
            place->line_no <= a->last_line_no && place->line_no <= MAX_LINES)
            n = place->line_no;
    }
    if (n > n_text && a->text) /* costs beyond its end: it is another text by now */
        a->is_changed = true;
    a->n_lines = n;
    a->lines = pm_alloc_array((size_t)n + 2, sizeof *a->lines);
    a->texts = a->text ? pm_alloc_array((size_t)n + 2, sizeof *a->texts) : NULL;
    if (!a->lines || (a->text && !a->texts))
        return false;
    char *p = a->text;
    for (uint32_t i = 1; a->text && i <= n; i++) {
        a->texts[i] = i <= n_text ? p : "";
        char *end = i <= n_text ? strchr(p, '\n') : NULL;
        if (end) {
            *end = 0;
            if (end > p && end[-1] == '\r')
                end[-1] = 0;
            p = end + 1;
        }
    }
    return true;
}

/* --- costs --- */

static int compare_groups(const void *a_pointer, const void *b_pointer)
{
    const struct pm_annotated_group *a = a_pointer, *b = b_pointer;
    if (a->first_line_no != b->first_line_no)
        return a->first_line_no < b->first_line_no ? -1 : 1;
    if (a->last_line_no != b->last_line_no)
        return a->last_line_no > b->last_line_no ? -1 : 1;
    return (a->row->id > b->row->id) - (a->row->id < b->row->id);
}

static void add_group(struct pm_annotation *a, const struct pm_view_row *row)
{
    struct pm_annotated_group group = {row, UINT32_MAX, 0, 0};
    for (uint32_t i = 0; i < row->n_groups; i++) {
        uint32_t line = pm_annotation_line_of_group(a, row->groups[i]);
        if (line && line < group.first_line_no)
            group.first_line_no = line;
        if (line > group.last_line_no)
            group.last_line_no = line;
    }
    if (!group.last_line_no)
        return;
    a->groups[a->n_groups++] = group;
    if (a->view->n_metrics)
        a->shared += row->values[a->view->primary].own.value;
}

static void add_line(struct pm_annotation *a, const struct pm_view_row *row)
{
    uint32_t line = pm_annotation_line_of_group(a, row->groups[0]);
    if (!line)
        return;
    struct pm_annotated_line numbers = pm_annotation_numbers(a, row);
    a->lines[line].own += numbers.own;
    a->lines[line].n_samples += numbers.n_samples;
    a->lines[line].waiting_ns += numbers.waiting_ns;
    a->lines[line].has_cost |= numbers.has_cost;
    a->own += numbers.own;
}

/* Brackets that overlap stand side by side. */
static void place_groups(struct pm_annotation *a)
{
    enum { MAX_COLUMNS = 8 };
    uint32_t free_from[MAX_COLUMNS] = {0};
    qsort(a->groups, a->n_groups, sizeof *a->groups, compare_groups);
    for (uint32_t g = 0; g < a->n_groups; g++) {
        struct pm_annotated_group *group = &a->groups[g];
        uint32_t column = 0;
        while (column < MAX_COLUMNS - 1 && free_from[column] > group->first_line_no)
            column++;
        group->column = column;
        if (free_from[column] <= group->last_line_no)
            free_from[column] = group->last_line_no + 1;
        if (column >= a->n_columns)
            a->n_columns = column + 1;
    }
}

/* What was called at a line that is not known, in a function that is asked for. */
static bool is_unknown_line(const struct pm_annotation *a, const struct pm_view_row *row)
{
    const struct pm_view *view = a->view;
    const struct pm_graph_noun *noun = noun_of_group(view, row->groups[0]);
    if (!noun || noun->line_no || view->groups[row->groups[0]].special ||
        !pm_view_is_unknown_line(view, view->groups[row->groups[0]].noun) ||
        (a->file && strcmp(noun->file, a->file) != 0))
        return false;
    pm_index function =
        pm_graph_ancestor(view->data->graph, view->groups[row->groups[0]].noun, "function");
    uint32_t line = function == PM_NONE ? 0 : view->data->graph->nouns[function].line_no;
    return line >= a->first_line_no && line <= a->last_line_no;
}

int64_t pm_annotation_own(const struct pm_annotation *a, const struct pm_view_row *row)
{
    const struct pm_view *view = a->view;
    return view->n_metrics ? row->values[view->primary].own.value : row->n_calls;
}

static bool add_costs(struct pm_annotation *a)
{
    const struct pm_view *view = a->view;
    a->groups = pm_alloc_array(view->n_rows, sizeof *a->groups);
    if (!a->groups)
        return false;
    for (uint32_t r = 0; r < view->n_rows; r++) {
        const struct pm_view_row *row = &view->rows[r];
        if (row->kind == PM_VIEW_ROW_NOUN && is_unknown_line(a, row))
            a->unknown_line += pm_annotation_own(a, row);
        else if (row->kind == PM_VIEW_ROW_NOUN)
            add_line(a, row);
        else if (row->kind == PM_VIEW_ROW_SET)
            add_group(a, row);
    }
    a->own += a->unknown_line;
    place_groups(a);
    return true;
}

bool pm_annotation_is_member(const struct pm_annotation *a, const struct pm_annotated_group *group,
                             uint32_t line_no)
{
    for (uint32_t i = 0; i < group->row->n_groups; i++)
        if (pm_annotation_line_of_group(a, group->row->groups[i]) == line_no)
            return true;
    return false;
}

/* --- loops --- */

static int compare_lines(const void *a_pointer, const void *b_pointer)
{
    const struct pm_late_loop *a = a_pointer, *b = b_pointer;
    return (a->line_no > b->line_no) - (a->line_no < b->line_no);
}

static bool has_costs(const struct pm_annotation *a, const struct pm_graph_noun *loop)
{
    for (uint32_t line = loop->line_no; line <= loop->end_line_no && line <= a->n_lines; line++)
        if (a->lines[line].has_cost)
            return true;
    for (uint32_t g = 0; g < a->n_groups; g++)
        if (a->groups[g].last_line_no >= loop->line_no &&
            a->groups[g].first_line_no <= loop->end_line_no)
            return true;
    return false;
}

/* Loops with costs in or around them; those that compute on no numbers are left out: a loop
 * around others, say. */
static bool find_loops(struct pm_annotation *a, const struct pm_late_maps *maps)
{
    const struct pm_graph *graph = a->view->data->graph;
    uint32_t n = 0;
    a->loops = pm_alloc_array((size_t)graph->n_nouns + 1, sizeof *a->loops);
    if (!a->loops)
        return false;
    for (pm_index i = 0; i < graph->n_nouns; i++) {
        const struct pm_graph_noun *noun = &graph->nouns[i];
        if (!strcmp(noun->kind, "loop") && noun->id && !strcmp(noun->file, a->file) &&
            noun->line_no >= a->first_line_no && noun->line_no <= a->last_line_no &&
            has_costs(a, noun))
            a->loops[n++] = (struct pm_late_loop){.id = (pm_id)noun->id, .line_no = noun->line_no};
    }
    pm_late_maps_count_vectors(maps, a->loops, n);
    for (uint32_t i = 0; i < n; i++)
        if (a->loops[i].vectors.n_vector || a->loops[i].vectors.n_scalar)
            a->loops[a->n_loops++] = a->loops[i];
    if (a->n_loops)
        qsort(a->loops, a->n_loops, sizeof *a->loops, compare_lines);
    return true;
}

/* --- statements without code --- */

static enum pm_status find_code(struct pm_annotation *a, struct pm_error *err)
{
    const struct pm_view *view = a->view;
    const struct pm_graph *graph = view->data->graph;
    struct pm_late_maps maps;
    enum pm_status status = pm_late_maps_open(&maps, view->data, err);
    bool *has_code = status == PM_OK ? pm_late_maps_with_code(&maps) : NULL;
    if (status == PM_OK && !has_code)
        status = no_memory(err);
    for (pm_index n = 0; status == PM_OK && n < graph->n_nouns; n++) {
        const struct pm_graph_noun *noun = &graph->nouns[n];
        if (strcmp(noun->kind, "statement") != 0 || strcmp(noun->file, a->file) != 0 ||
            noun->line_no > a->n_lines)
            continue;
        struct pm_annotated_line *line = &a->lines[noun->line_no];
        bool covered = pm_late_maps_cover(&maps, n);
        a->knows_code |= covered;
        line->is_statement = true;
        line->has_code |= !covered || has_code[n];
    }
    if (status == PM_OK && !find_loops(a, &maps))
        status = no_memory(err);
    free(has_code);
    pm_late_maps_release(&maps);
    return status;
}

/* --- arrays --- */

struct touch {
    uint32_t line_no;
    pm_index noun;
    int64_t value;
};

static int compare_touches(const void *a_pointer, const void *b_pointer)
{
    const struct touch *a = a_pointer, *b = b_pointer;
    if (a->line_no != b->line_no)
        return a->line_no < b->line_no ? -1 : 1;
    return (a->noun > b->noun) - (a->noun < b->noun);
}

static int compare_touch_values(const void *a_pointer, const void *b_pointer)
{
    const struct touch *a = a_pointer, *b = b_pointer;
    if (a->line_no != b->line_no)
        return a->line_no < b->line_no ? -1 : 1;
    if (a->value != b->value)
        return a->value < b->value ? 1 : -1;
    return (a->noun > b->noun) - (a->noun < b->noun);
}

/* What the code of a cost touches, for each line that it implements. */
static bool touches_of_cost(const struct pm_annotation *a, const struct pm_cost *cost,
                            struct touch **touches, size_t *n, size_t *cap)
{
    const struct pm_view *view = a->view;
    const struct pm_graph *graph = view->data->graph;
    pm_index sentence = graph->contexts[cost->context].sentence;
    uint32_t n_reached;
    const uint32_t *reached = pm_lift_reached(view->lift, sentence, &n_reached);
    for (uint32_t e = graph->out_first[sentence]; e < graph->out_first[sentence + 1]; e++) {
        pm_index noun = pm_graph_first_noun(graph, graph->mappings[graph->out[e]].destination);
        if (noun == PM_NONE || !pm_view_noun_is_array(view, noun))
            continue;
        for (uint32_t i = 0; i < n_reached; i++) {
            uint32_t line = pm_annotation_line_of_group(a, reached[i]);
            if (!line)
                continue;
            if (*n == *cap) {
                size_t larger = *cap ? *cap * 2 : 256;
                struct touch *grown = pm_realloc_array(*touches, larger, sizeof *grown);
                if (!grown)
                    return false;
                *touches = grown;
                *cap = larger;
            }
            (*touches)[(*n)++] = (struct touch){line, noun, cost->value};
        }
    }
    return true;
}

/* sweep::u is u in the text of sweep. */
static const char *last_part(const char *name)
{
    for (const char *p; (p = strstr(name, "::"));)
        name = p + 2;
    return name;
}

static bool name_arrays(struct pm_annotation *a, const struct touch *touches, size_t n)
{
    struct pm_buf text = PM_BUF_INIT(1 << 16);
    for (size_t i = 0; i < n;) {
        uint32_t line = touches[i].line_no, k = 0;
        pm_buf_clear(&text);
        for (; i < n && touches[i].line_no == line; i++, k++)
            if (k < MAX_ARRAYS)
                pm_buf_printf(&text, "%s%s", k ? ", " : "",
                              last_part(a->view->data->graph->nouns[touches[i].noun].name));
        if (k > MAX_ARRAYS)
            pm_buf_printf(&text, ", %u more", k - MAX_ARRAYS);
        const char *copy =
            text.failed ? NULL : pm_arena_strndup(&a->view->arena, text.data, text.len);
        a->lines[line].arrays = copy ? pm_text_printable(&a->view->arena, copy) : NULL;
        if (!a->lines[line].arrays) {
            pm_buf_release(&text);
            return false;
        }
    }
    pm_buf_release(&text);
    return true;
}

static bool find_arrays(struct pm_annotation *a)
{
    const struct pm_view *view = a->view;
    const struct pm_graph *graph = view->data->graph;
    struct touch *touches = NULL;
    size_t n = 0, cap = 0, n_merged = 0;
    bool ok = true;
    for (uint32_t i = 0; ok && i < graph->n_costs; i++)
        if (view->n_metrics && graph->costs[i].metric == view->metrics[view->primary] &&
            view->in_focus[graph->costs[i].context])
            ok = touches_of_cost(a, &graph->costs[i], &touches, &n, &cap);
    if (ok && n) {
        qsort(touches, n, sizeof *touches, compare_touches);
        for (size_t i = 1; i < n; i++) /* reading and writing is one; costs add up */
            if (compare_touches(&touches[n_merged], &touches[i]) == 0)
                touches[n_merged].value += touches[i].value;
            else
                touches[++n_merged] = touches[i];
        qsort(touches, n_merged + 1, sizeof *touches, compare_touch_values);
        ok = name_arrays(a, touches, n_merged + 1);
    }
    free(touches);
    return ok;
}

/* --- all of it --- */

static uint32_t find_waiting(const struct pm_view *view)
{
    for (uint32_t m = 0; m < view->n_metrics; m++) {
        const char *word = pm_view_off_cpu_word(view, m);
        if (word && strcmp(word, "preempted") != 0)
            return m;
    }
    return PM_NONE;
}

struct pm_annotated_line pm_annotation_numbers(const struct pm_annotation *a,
                                               const struct pm_view_row *row)
{
    const struct pm_view *view = a->view;
    struct pm_annotated_line numbers = {.n_samples = row->n_samples};
    numbers.own = view->n_metrics ? row->values[view->primary].own.value : row->n_calls;
    if (a->waiting != PM_NONE)
        numbers.waiting_ns = row->values[a->waiting].own.value;
    numbers.has_cost = numbers.own != 0 || numbers.waiting_ns != 0;
    return numbers;
}

enum pm_status pm_annotation_collect(struct pm_annotation *a, struct pm_error *err)
{
    a->waiting = find_waiting(a->view);
    if (a->top)
        return pm_annotation_find_top(a) ? PM_OK : no_memory(err);
    pm_annotation_read_source(a->view, a->file, &a->path, &a->text);
    a->is_changed = pm_annotation_source_is_changed(a->view, a->path);
    if (!make_lines(a) || !add_costs(a))
        return no_memory(err);
    pm_annotation_add_inclusive(a);
    enum pm_status status = find_code(a, err);
    if (status == PM_OK && a->shows_arrays && !find_arrays(a))
        status = no_memory(err);
    return status;
}

void pm_annotation_release(struct pm_annotation *a)
{
    free(a->lines);
    free(a->groups);
    free(a->loops);
    free(a->path);
    free(a->text);
    free(a->texts);
    pm_annotation_release_top(a);
}

bool *pm_annotation_shown_lines(const struct pm_annotation *a)
{
    bool *shown = pm_alloc_array((size_t)a->n_lines + 2, sizeof *shown);
    if (!shown)
        return NULL;
    for (uint32_t line = 1; line <= a->n_lines; line++) {
        if (line < a->first_line_no || line > a->last_line_no)
            continue;
        bool counts = a->lines[line].has_cost || a->lines[line].inclusive;
        for (uint32_t g = 0; g < a->n_groups && !counts; g++)
            counts = pm_annotation_is_member(a, &a->groups[g], line);
        if (a->all)
            shown[line] = true;
        for (uint64_t d = 0; counts && d <= (a->text ? a->context : 0); d++) {
            if (line > d && line - d >= a->first_line_no)
                shown[line - d] = true;
            if (line + d <= a->n_lines && line + d <= a->last_line_no)
                shown[line + d] = true;
        }
    }
    return shown;
}
