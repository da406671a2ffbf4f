/* Annotated source for programs. */
#include "annotation.h"
#include "over_time.h"
#include "mapping/base/json.h"

#include <stdlib.h>

struct page {
    struct pm_json json;
    const struct pm_annotation *a;
    const char *metric;
};

static void put_own(struct page *page, const struct pm_annotated_line *numbers)
{
    const struct pm_annotation *a = page->a;
    char key[160];
    double total = (double)pm_annotation_own(page->a, &page->a->view->total);
    snprintf(key, sizeof key, "own_%s", page->metric);
    pm_json_i64(&page->json, key, numbers->own);
    pm_json_double(&page->json, "share_pct", total != 0 ? 100 * (double)numbers->own / total : 0);
    pm_json_i64(&page->json, "n_samples", numbers->n_samples);
    if (a->waiting != PM_NONE)
        pm_json_i64(&page->json, a->view->data->graph->metrics[a->view->metrics[a->waiting]].name,
                    numbers->waiting_ns);
}

static void put_group(struct page *page, const struct pm_view_row *row)
{
    const struct pm_view *report = page->a->view;
    const struct pm_view_traits *traits = &row->traits;
    struct pm_json *json = &page->json;
    pm_json_object(json, NULL);
    pm_json_array(json, "lines");
    for (uint32_t i = 0; i < row->n_groups; i++) {
        pm_index noun = report->groups[row->groups[i]].noun;
        if (noun == PM_NONE)
            continue;
        pm_json_object(json, NULL);
        pm_json_string(json, "file", report->data->graph->nouns[noun].file);
        pm_json_u64(json, "line_no", report->data->graph->nouns[noun].line_no);
        pm_json_end(json);
    }
    pm_json_end(json);
    pm_json_array(json, "reasons");
    for (int i = 0; i < PM_VIEW_MAX_REASONS && traits->reasons[i]; i++) {
        pm_json_object(json, NULL);
        pm_json_string(json, "reason", traits->reasons[i]);
        pm_json_bool(json, "is_inferred", traits->is_inferred[i]);
        pm_json_end(json);
    }
    pm_json_end(json);
    struct pm_annotated_line numbers = pm_annotation_numbers(page->a, row);
    put_own(page, &numbers);
    pm_json_end(json);
}

static void put_line(struct page *page, uint32_t line_no)
{
    const struct pm_annotation *a = page->a;
    const struct pm_annotated_line *line = &a->lines[line_no];
    struct pm_json *json = &page->json;
    pm_json_object(json, NULL);
    pm_json_u64(json, "line_no", line_no);
    pm_json_string(json, "text", a->texts ? a->texts[line_no] : NULL);
    put_own(page, line);
    if (a->has_inclusive) {
        pm_json_i64(json, "inclusive", line->inclusive);
        pm_json_bool(json, "inclusive_is_at_least", line->is_at_least);
    }
    if (a->knows_code && line->is_statement)
        pm_json_bool(json, "has_code", line->has_code);
    else
        pm_json_null(json, "has_code");
    if (a->shows_arrays)
        pm_json_string(json, "arrays", line->arrays);
    pm_json_end(json);
}

static void put_lines(struct page *page)
{
    const struct pm_annotation *a = page->a;
    bool *shown = pm_annotation_shown_lines(a);
    pm_json_array(&page->json, "lines");
    for (uint32_t line = 1; line <= a->n_lines; line++)
        if (shown && shown[line])
            put_line(page, line);
    pm_json_end(&page->json);
    pm_json_array(&page->json, "groups");
    for (uint32_t g = 0; g < a->n_groups; g++)
        put_group(page, a->groups[g].row);
    pm_json_end(&page->json);
    pm_json_array(&page->json, "loops");
    for (uint32_t i = 0; i < a->n_loops; i++) {
        pm_json_object(&page->json, NULL);
        pm_json_u64(&page->json, "line_no", a->loops[i].line_no);
        show_vectors_json(&a->loops[i].vectors, &page->json);
        pm_json_end(&page->json);
    }
    pm_json_end(&page->json);
    free(shown);
}

static void put_top_line(struct page *page, const struct pm_annotation_top *top)
{
    const struct pm_view *report = page->a->view;
    const struct pm_graph_noun *noun =
        &report->data->graph->nouns[report->groups[top->row->groups[0]].noun];
    pm_json_object(&page->json, NULL);
    pm_json_string(&page->json, "file", noun->file);
    pm_json_u64(&page->json, "line_no", noun->line_no);
    pm_json_string(&page->json, "text", top->text);
    struct pm_annotated_line numbers = pm_annotation_numbers(page->a, top->row);
    put_own(page, &numbers);
    pm_json_end(&page->json);
}

static void put_top(struct page *page)
{
    const struct pm_annotation *a = page->a;
    pm_json_array(&page->json, "lines");
    for (uint32_t i = 0; i < a->n_tops; i++)
        if (a->tops[i].row->kind == PM_VIEW_ROW_NOUN)
            put_top_line(page, &a->tops[i]);
    pm_json_end(&page->json);
    pm_json_array(&page->json, "groups");
    for (uint32_t i = 0; i < a->n_tops; i++)
        if (a->tops[i].row->kind == PM_VIEW_ROW_SET)
            put_group(page, a->tops[i].row);
    pm_json_end(&page->json);
}

static void put_number(struct pm_json *json, const char *key, bool is_known, uint64_t number)
{
    if (is_known)
        pm_json_u64(json, key, number);
    else
        pm_json_null(json, key);
}

void show_annotation_json(struct pm_annotation *a, FILE *out)
{
    const struct pm_view *report = a->view;
    struct page page = {.a = a, .metric = "n_calls"};
    struct pm_json *json = &page.json;
    if (report->n_metrics)
        page.metric = report->data->graph->metrics[report->metrics[report->primary]].name;
    pm_json_init(json, out);
    pm_json_object(json, NULL);
    pm_json_string(json, "format", "perfmap-annotate");
    pm_json_u64(json, "version", 1);
    pm_json_string(json, "archive", report->options.archive_path);
    pm_json_string(json, "file", a->file);
    pm_json_string(json, "source", a->path);
    pm_json_bool(json, "source_is_changed", a->is_changed);
    pm_json_string(json, "function", a->function);
    put_number(json, "first_line_no", a->function, a->first_line_no);
    put_number(json, "last_line_no", a->function && a->last_line_no != UINT32_MAX, a->last_line_no);
    put_number(json, "top", a->top, a->top);
    show_foci_json(json, "focus", report->options.focus);
    show_limits_json(report, json);
    pm_json_double(json, "focus_share_pct", report->focus_share_pct);
    pm_json_string(json, "metric", page.metric);
    pm_json_array(json, "warnings");
    for (int i = 0; i < report->n_warnings; i++)
        pm_json_string(json, NULL, report->warnings[i]);
    pm_json_end(json);
    pm_json_i64(json, "total", pm_annotation_own(a, &report->total));
    pm_json_i64(json, "own", a->own);
    pm_json_i64(json, "shared", a->shared);
    pm_json_i64(json, "unknown_line", a->unknown_line);
    if (a->top)
        put_top(&page);
    else
        put_lines(&page);
    pm_json_end(json);
    (void)pm_json_done(json); /* a failed write shows on the stream */
}
