/* What each line of a source file costs: from the rows of a report by line. */
#include "annotate.h"
#include "late_map.h"

#include <stdlib.h>
#include <sys/stat.h>

enum { MAX_SOURCE_BYTES = 1 << 26, MAX_LINES = 1 << 24, MAX_ARRAYS = 4 };

static enum pm_status no_memory(struct pm_error *err)
{
    return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}

static const struct pm_noun *noun_of_group(const struct report *report, uint32_t group)
{
    pm_index noun = report->groups[group].noun;
    return noun == PM_NONE ? NULL : &report->data->graph->nouns[noun];
}

uint32_t annotation_line_of_group(const struct annotation *a, uint32_t group)
{
    const struct pm_noun *noun = noun_of_group(a->report, group);
    if (!noun || a->report->groups[group].special || noun->level != a->report->level ||
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

void annotation_read_source(const struct report *report, const char *file, char **ret_path,
                            char **ret_text)
{
    const struct pm_archive_data *data = report->data;
    const struct pm_graph *graph = data->graph;
    const char *path = "";
    *ret_path = *ret_text = NULL;
    for (pm_index n = 0; n < graph->n_nouns && !*path; n++)
        if (report_noun_is(report, n, "file") &&
            (!strcmp(graph->nouns[n].file, file) || !strcmp(graph->nouns[n].name, file)))
            path = data->paths[n];
    const char *cwd = *file == '/' ? "" : data->executions[0].cwd;
    if (!try_source("", path, ret_path, ret_text) && !try_source(cwd, file, ret_path, ret_text))
        (void)try_source("", file, ret_path, ret_text);
}

bool annotation_source_is_changed(const struct report *report, const char *path)
{
    struct stat st;
    int64_t start_ns = report->data->executions[0].start_realtime_ns;
    return path && start_ns != PM_UNKNOWN && stat(path, &st) == 0 &&
           st.st_mtim.tv_sec > start_ns / 1000000000;
}

/* Cuts the text into lines; there are at least as many as have costs. */
static bool make_lines(struct annotation *a)
{
    uint32_t n = 0;
    for (const char *p = a->text; p && *p; n++) {
        const char *end = strchr(p, '\n');
        p = end ? end + 1 : p + strlen(p);
    }
    const struct report *report = a->report;
    uint32_t n_text = n;
    for (uint32_t g = 0; g < report->n_groups; g++)
        if (annotation_line_of_group(a, g) > n)
            n = annotation_line_of_group(a, g);
    const struct pm_archive_data *data = report->data;
    for (uint32_t i = 0; i < data->n_call_places && !a->text; i++) {
        pm_index noun = pm_graph_first_noun(data->graph, data->call_places[i]);
        const struct pm_noun *place = noun == PM_NONE ? NULL : &data->graph->nouns[noun];
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
    const struct annotated_group *a = a_pointer, *b = b_pointer;
    if (a->first_line_no != b->first_line_no)
        return a->first_line_no < b->first_line_no ? -1 : 1;
    if (a->last_line_no != b->last_line_no)
        return a->last_line_no > b->last_line_no ? -1 : 1;
    return (a->row->id > b->row->id) - (a->row->id < b->row->id);
}

static void add_group(struct annotation *a, const struct report_row *row)
{
    struct annotated_group group = {row, UINT32_MAX, 0, 0};
    for (uint32_t i = 0; i < row->n_groups; i++) {
        uint32_t line = annotation_line_of_group(a, row->groups[i]);
        if (line && line < group.first_line_no)
            group.first_line_no = line;
        if (line > group.last_line_no)
            group.last_line_no = line;
    }
    if (!group.last_line_no)
        return;
    a->groups[a->n_groups++] = group;
    if (a->report->n_metrics)
        a->shared += row->values[a->report->primary].own.value;
}

static void add_line(struct annotation *a, const struct report_row *row)
{
    uint32_t line = annotation_line_of_group(a, row->groups[0]);
    if (!line)
        return;
    struct annotated_line numbers = annotation_numbers(a, row);
    a->lines[line].own += numbers.own;
    a->lines[line].n_samples += numbers.n_samples;
    a->lines[line].waiting_ns += numbers.waiting_ns;
    a->lines[line].has_cost |= numbers.has_cost;
    a->own += numbers.own;
}

/* Brackets that overlap stand side by side. */
static void place_groups(struct annotation *a)
{
    enum { MAX_COLUMNS = 8 };
    uint32_t free_from[MAX_COLUMNS] = {0};
    qsort(a->groups, a->n_groups, sizeof *a->groups, compare_groups);
    for (uint32_t g = 0; g < a->n_groups; g++) {
        struct annotated_group *group = &a->groups[g];
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

static bool add_costs(struct annotation *a)
{
    const struct report *report = a->report;
    a->groups = pm_alloc_array(report->n_rows, sizeof *a->groups);
    if (!a->groups)
        return false;
    for (uint32_t r = 0; r < report->n_rows; r++) {
        const struct report_row *row = &report->rows[r];
        if (row->kind == REPORT_ROW_NOUN)
            add_line(a, row);
        else if (row->kind == REPORT_ROW_SET)
            add_group(a, row);
    }
    place_groups(a);
    return true;
}

bool annotation_is_member(const struct annotation *a, const struct annotated_group *group,
                          uint32_t line_no)
{
    for (uint32_t i = 0; i < group->row->n_groups; i++)
        if (annotation_line_of_group(a, group->row->groups[i]) == line_no)
            return true;
    return false;
}

/* --- statements without code --- */

static enum pm_status find_code(struct annotation *a, struct pm_error *err)
{
    const struct report *report = a->report;
    const struct pm_graph *graph = report->data->graph;
    struct late_maps maps;
    enum pm_status status = late_maps_open(&maps, report->data, err);
    bool *has_code = status == PM_OK ? late_maps_with_code(&maps) : NULL;
    if (status == PM_OK && !has_code)
        status = no_memory(err);
    for (pm_index n = 0; status == PM_OK && n < graph->n_nouns; n++) {
        const struct pm_noun *noun = &graph->nouns[n];
        if (strcmp(noun->kind, "statement") != 0 || strcmp(noun->file, a->file) != 0 ||
            noun->line_no > a->n_lines)
            continue;
        struct annotated_line *line = &a->lines[noun->line_no];
        bool covered = late_maps_cover(&maps, n);
        a->knows_code |= covered;
        line->is_statement = true;
        line->has_code |= !covered || has_code[n];
    }
    free(has_code);
    late_maps_release(&maps);
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
static bool touches_of_cost(const struct annotation *a, const struct pm_cost *cost,
                            struct touch **touches, size_t *n, size_t *cap)
{
    const struct report *report = a->report;
    const struct pm_graph *graph = report->data->graph;
    pm_index sentence = graph->contexts[cost->context].sentence;
    uint32_t n_reached;
    const uint32_t *reached = pm_lift_reached(report->lift, sentence, &n_reached);
    for (uint32_t e = graph->out_first[sentence]; e < graph->out_first[sentence + 1]; e++) {
        pm_index noun = pm_graph_first_noun(graph, graph->mappings[graph->out[e]].destination);
        if (noun == PM_NONE || !report_noun_is_array(report, noun))
            continue;
        for (uint32_t i = 0; i < n_reached; i++) {
            uint32_t line = annotation_line_of_group(a, reached[i]);
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

static bool name_arrays(struct annotation *a, const struct touch *touches, size_t n)
{
    struct pm_buf text = PM_BUF_INIT(1 << 16);
    for (size_t i = 0; i < n;) {
        uint32_t line = touches[i].line_no, k = 0;
        pm_buf_clear(&text);
        for (; i < n && touches[i].line_no == line; i++, k++)
            if (k < MAX_ARRAYS)
                pm_buf_printf(&text, "%s%s", k ? ", " : "",
                              last_part(a->report->data->graph->nouns[touches[i].noun].name));
        if (k > MAX_ARRAYS)
            pm_buf_printf(&text, ", %u more", k - MAX_ARRAYS);
        const char *copy =
            text.failed ? NULL : pm_arena_strndup(&a->report->arena, text.data, text.len);
        a->lines[line].arrays = copy ? report_printable(&a->report->arena, copy) : NULL;
        if (!a->lines[line].arrays) {
            pm_buf_release(&text);
            return false;
        }
    }
    pm_buf_release(&text);
    return true;
}

static bool find_arrays(struct annotation *a)
{
    const struct report *report = a->report;
    const struct pm_graph *graph = report->data->graph;
    struct touch *touches = NULL;
    size_t n = 0, cap = 0, n_merged = 0;
    bool ok = true;
    for (uint32_t i = 0; ok && i < graph->n_costs; i++)
        if (report->n_metrics && graph->costs[i].metric == report->metrics[report->primary] &&
            report->in_focus[graph->costs[i].context])
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

static uint32_t find_waiting(const struct report *report)
{
    for (uint32_t m = 0; m < report->n_metrics; m++) {
        const char *word = report_off_cpu_word(report, m);
        if (word && strcmp(word, "preempted") != 0)
            return m;
    }
    return PM_NONE;
}

struct annotated_line annotation_numbers(const struct annotation *a, const struct report_row *row)
{
    const struct report *report = a->report;
    struct annotated_line numbers = {.n_samples = row->n_samples};
    numbers.own = report->n_metrics ? row->values[report->primary].own.value : row->n_calls;
    if (a->waiting != PM_NONE)
        numbers.waiting_ns = row->values[a->waiting].own.value;
    numbers.has_cost = numbers.own != 0 || numbers.waiting_ns != 0;
    return numbers;
}

enum pm_status annotation_collect(struct annotation *a, struct pm_error *err)
{
    a->waiting = find_waiting(a->report);
    if (a->top)
        return annotation_find_top(a) ? PM_OK : no_memory(err);
    annotation_read_source(a->report, a->file, &a->path, &a->text);
    a->is_changed = annotation_source_is_changed(a->report, a->path);
    if (!make_lines(a) || !add_costs(a))
        return no_memory(err);
    annotation_add_inclusive(a);
    enum pm_status status = find_code(a, err);
    if (status == PM_OK && a->shows_arrays && !find_arrays(a))
        status = no_memory(err);
    return status;
}

void annotation_release(struct annotation *a)
{
    free(a->lines);
    free(a->groups);
    free(a->path);
    free(a->text);
    free(a->texts);
    annotation_release_top(a);
}

bool *annotation_shown_lines(const struct annotation *a)
{
    bool *shown = pm_alloc_array((size_t)a->n_lines + 2, sizeof *shown);
    if (!shown)
        return NULL;
    for (uint32_t line = 1; line <= a->n_lines; line++) {
        if (line < a->first_line_no || line > a->last_line_no)
            continue;
        bool counts = a->lines[line].has_cost || a->lines[line].inclusive;
        for (uint32_t g = 0; g < a->n_groups && !counts; g++)
            counts = annotation_is_member(a, &a->groups[g], line);
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
