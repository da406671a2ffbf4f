/* Source lines with their costs, for people and for programs. */
#include "annotate.h"
#include "mapping/base/json.h"

#include <stdlib.h>

enum { MARGIN_MOST = 8, ARRAYS_MOST = 24, TAB = 4, TEXT_MIN = 20 };

struct view {
    struct annotation *a;
    struct report_term term;
    FILE *out;
    double divisor, total; /* of the primary metric: of the run, or of the focus */
    const char *unit;
    int decimals, own_width, samples_width, arrays_width, line_width;
};

static const char *color(const struct view *view, const char *code)
{
    return view->term.color ? code : "";
}

static int64_t own_of_row(const struct report *report, const struct report_row *row)
{
    return report->n_metrics ? row->values[report->primary].own.value : row->n_calls;
}

static void choose_unit(struct view *view)
{
    const struct report *report = view->a->report;
    const struct pm_metric *metric =
        report->n_metrics ? &report->data->graph->metrics[report->metrics[report->primary]] : NULL;
    bool is_time = metric && !strcmp(metric->unit, "ns");
    view->total = (double)own_of_row(report, &report->total);
    view->divisor = is_time ? 1e6 : 1;
    view->unit = is_time ? "own ms" : metric ? metric->name : "calls";
    view->decimals = !is_time ? 0 : view->total >= 1e9 ? 2 : 3;
}

static int digits(double value, int decimals)
{
    return snprintf(NULL, 0, "%.*f", decimals, value);
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

static void measure(struct view *view)
{
    const struct annotation *a = view->a;
    view->own_width = larger((int)strlen(view->unit),
                             digits((double)(a->own + a->shared) / view->divisor, view->decimals));
    view->samples_width = a->report->samples_metric == PM_NONE ? 0 : 7;
    view->line_width = larger(4, digits(a->n_lines, 0));
    for (uint32_t i = 1; a->shows_arrays && i <= a->n_lines; i++)
        if (a->lines[i].arrays)
            view->arrays_width = larger(view->arrays_width, report_width(a->lines[i].arrays));
    if (view->arrays_width)
        view->arrays_width =
            larger(6, view->arrays_width > ARRAYS_MOST ? ARRAYS_MOST : view->arrays_width);
}

/* Numbers of a line or a group; what has none has blanks, what has no code at all a dash. */
static void put_numbers(const struct view *view, int64_t own, int64_t n_samples, bool has_cost,
                        bool has_code)
{
    char text[64] = "", share[64] = "", samples[32] = "";
    if (has_cost) {
        double pct = view->total != 0 ? 100 * (double)own / view->total : 0;
        bool few =
            view->samples_width && view->a->report->n_metrics &&
            view->a->report->metrics[view->a->report->primary] == view->a->report->cpu_metric &&
            n_samples < REPORT_FEW_SAMPLES;
        snprintf(text, sizeof text, "%.*f", view->decimals, (double)own / view->divisor);
        snprintf(share, sizeof share, "%s%.1f", few ? "~" : "", pct);
        snprintf(samples, sizeof samples, "%lld", (long long)n_samples);
        fputs(color(view, pct >= 20  ? REPORT_RED
                          : pct >= 5 ? REPORT_YELLOW
                                     : REPORT_GREEN),
              view->out);
    }
    fprintf(view->out, "%*s  %7s", view->own_width, !has_code ? "-" : text, share);
    if (view->samples_width)
        fprintf(view->out, "  %*s", view->samples_width, samples);
    fprintf(view->out, "%s  ", has_cost ? color(view, REPORT_RESET) : "");
}

static void put_arrays(const struct view *view, const char *arrays)
{
    if (!view->arrays_width)
        return;
    report_put_cut(&view->term, view->out, arrays ? arrays : "", view->arrays_width, false, true);
    fputs("  ", view->out);
}

/* The brackets of groups, one column each. opening: the group whose own row this is; NULL: a line's. */
static void put_margin(const struct view *view, uint32_t line_no,
                       const struct annotated_group *opening)
{
    const struct annotation *a = view->a;
    static const char *const utf8[] = {" ", "│", "┌", "├", "└"};
    static const char *const ascii[] = {" ", "|", "+", "+", "+"};
    int marks[MARGIN_MOST] = {0};
    for (uint32_t g = 0; g < a->n_groups; g++) {
        const struct annotated_group *group = &a->groups[g];
        int *mark = &marks[group->column];
        if (group == opening)
            *mark = 2;
        else if (line_no < group->first_line_no || line_no > group->last_line_no ||
                 (opening && line_no == group->first_line_no && group > opening))
            continue;
        else if (opening || !annotation_is_member(a, group, line_no))
            *mark = 1;
        else
            *mark = line_no == group->last_line_no ? 4 : 3;
    }
    for (uint32_t c = 0; c < a->n_columns; c++)
        fputs(view->term.utf8 ? utf8[marks[c]] : ascii[marks[c]], view->out);
    if (a->n_columns)
        fputc(' ', view->out);
}

static int room_for_text(const struct view *view)
{
    if (!view->term.width)
        return 0;
    int used = view->own_width + 2 + 7 + (view->samples_width ? view->samples_width + 2 : 0) + 2 +
               (view->arrays_width ? view->arrays_width + 2 : 0) + (int)view->a->n_columns +
               (view->a->n_columns ? 1 : 0) + view->line_width + 2;
    return larger(TEXT_MIN, view->term.width - used);
}

/* Printable, tabs as blanks. NULL: memory ended. */
static const char *text_of_line(struct annotation *a, uint32_t line_no)
{
    struct pm_buf text = PM_BUF_INIT(1 << 20);
    const char *p = a->texts ? a->texts[line_no] : "";
    for (; *p; p++)
        if (*p == '\t')
            pm_buf_printf(&text, "%*s", TAB - (int)(text.len % TAB), "");
        else
            pm_buf_add_byte(&text, (unsigned char)*p);
    const char *copy = pm_arena_strndup(&a->report->arena, text.len ? text.data : "", text.len);
    pm_buf_release(&text);
    return copy ? report_printable(&a->report->arena, copy) : NULL;
}

/* A group's own row: its cost, and why its lines are one. */
static bool put_group(struct view *view, const struct annotated_group *group)
{
    struct report *report = view->a->report;
    struct report_row *row = (struct report_row *)group->row;
    const struct report_traits *traits = &row->traits;
    report_name_row(report, row);
    struct pm_buf text = PM_BUF_INIT(1 << 16);
    pm_buf_add_str(&text, row->place);
    for (int i = 0; i < REPORT_MAX_REASONS && traits->reasons[i]; i++)
        pm_buf_printf(&text, "%s%s%s", i ? " and " : " ", traits->is_inferred[i] ? "probably " : "",
                      traits->reasons[i]);
    const char *copy = text.failed ? NULL : pm_arena_strndup(&report->arena, text.data, text.len);
    const char *printable = copy ? report_printable(&report->arena, copy) : NULL;
    pm_buf_release(&text);
    if (!printable)
        return false;
    put_numbers(view, own_of_row(report, row), row->n_samples, true, true);
    put_arrays(view, NULL);
    put_margin(view, group->first_line_no, group);
    int room = room_for_text(view) + view->line_width + 2;
    fputs(color(view, REPORT_DIM), view->out);
    report_put_cut(&view->term, view->out, printable,
                   view->term.width ? room : report_width(printable), false, false);
    fprintf(view->out, "%s\n", color(view, REPORT_RESET));
    return true;
}

static bool put_line(struct view *view, uint32_t line_no)
{
    struct annotation *a = view->a;
    const struct annotated_line *line = &a->lines[line_no];
    const char *text = text_of_line(a, line_no);
    if (!text)
        return false;
    bool has_code = !line->is_statement || line->has_code || line->has_cost;
    for (uint32_t g = 0; g < a->n_groups && !has_code; g++)
        has_code = annotation_is_member(a, &a->groups[g], line_no);
    put_numbers(view, line->own, line->n_samples, line->has_cost, has_code);
    put_arrays(view, line->arrays);
    put_margin(view, line_no, NULL);
    fprintf(view->out, "%s%*u%s%s", color(view, REPORT_DIM), view->line_width, line_no,
            color(view, REPORT_RESET), *text ? "  " : "");
    report_put_cut(&view->term, view->out, text,
                   view->term.width ? room_for_text(view) : report_width(text), false, false);
    fputc('\n', view->out);
    return true;
}

static void put_title(const struct view *view)
{
    const struct annotation *a = view->a;
    struct report *report = a->report;
    const char *file = report_printable(&report->arena, a->path ? a->path : a->file);
    double part = (double)(a->own + a->shared);
    if (a->function) {
        const char *function = report_printable(&report->arena, a->function);
        fprintf(view->out, "%s in ", function ? function : "");
    }
    fprintf(view->out, "%s: %.*f of %.*f%s, %.1f %%", file ? file : "", view->decimals,
            part / view->divisor, view->decimals, view->total / view->divisor,
            view->divisor > 1 ? " ms" : "", view->total != 0 ? 100 * part / view->total : 0);
    fputc('\n', view->out);
    if (!a->text)
        fputs("  warning: the source is not to be found: lines without their text\n", view->out);
    else if (a->is_changed)
        fputs("  warning: the source was changed after the run: costs may stand beside other lines "
              "than theirs\n",
              view->out);
    fputc('\n', view->out);
}

static void put_head(const struct view *view)
{
    const struct annotation *a = view->a;
    fprintf(view->out, "%s%*s  share %%", color(view, REPORT_BOLD), view->own_width, view->unit);
    if (view->samples_width)
        fprintf(view->out, "  %*s", view->samples_width, "samples");
    fputs("  ", view->out);
    if (view->arrays_width)
        fprintf(view->out, "%-*s  ", view->arrays_width, "arrays");
    fprintf(view->out, "%*s%*s%s%s\n", (int)a->n_columns + (a->n_columns ? 1 : 0), "",
            view->line_width, "line", a->text ? "  source" : "", color(view, REPORT_RESET));
}

bool annotation_print(struct annotation *a, FILE *out)
{
    struct view view = {.a = a, .term = report_term_of(out, a->report->options.color), .out = out};
    bool *shown = annotation_shown_lines(a);
    bool ok = shown != NULL, folded = false, any = false;
    choose_unit(&view);
    measure(&view);
    report_print_header(a->report, &view.term, out);
    put_title(&view);
    put_head(&view);
    for (uint32_t line = 1; ok && line <= a->n_lines; line++) {
        if (!shown[line]) {
            folded = any;
            continue;
        }
        if (folded)
            fprintf(out, "%s...%s\n", color(&view, REPORT_DIM), color(&view, REPORT_RESET));
        folded = false;
        any = true;
        for (uint32_t g = 0; ok && g < a->n_groups; g++)
            if (a->groups[g].first_line_no == line)
                ok = put_group(&view, &a->groups[g]);
        ok = ok && put_line(&view, line);
    }
    if (ok && !any)
        fputs("no line of it has a cost\n", out);
    free(shown);
    return ok && report_naming_status(a->report, NULL) == PM_OK;
}

/* --- JSON --- */

static void json_group(const struct annotation *a, const struct annotated_group *group,
                       const char *metric, struct pm_json *json)
{
    char key[160];
    const struct report *report = a->report;
    const struct report_traits *traits = &group->row->traits;
    pm_json_object(json, NULL);
    pm_json_array(json, "lines");
    for (uint32_t i = 0; i < group->row->n_groups; i++) {
        pm_index noun = report->groups[group->row->groups[i]].noun;
        if (noun == PM_NONE)
            continue;
        pm_json_object(json, NULL);
        pm_json_string(json, "file", report->data->graph->nouns[noun].file);
        pm_json_u64(json, "line_no", report->data->graph->nouns[noun].line_no);
        pm_json_end(json);
    }
    pm_json_end(json);
    pm_json_array(json, "reasons");
    for (int i = 0; i < REPORT_MAX_REASONS && traits->reasons[i]; i++) {
        pm_json_object(json, NULL);
        pm_json_string(json, "reason", traits->reasons[i]);
        pm_json_bool(json, "is_inferred", traits->is_inferred[i]);
        pm_json_end(json);
    }
    pm_json_end(json);
    snprintf(key, sizeof key, "own_%s", metric);
    pm_json_i64(json, key, own_of_row(report, group->row));
    pm_json_i64(json, "n_samples", group->row->n_samples);
    pm_json_end(json);
}

static void json_line(const struct annotation *a, uint32_t line_no, const char *metric,
                      struct pm_json *json)
{
    char key[160];
    const struct annotated_line *line = &a->lines[line_no];
    pm_json_object(json, NULL);
    pm_json_u64(json, "line_no", line_no);
    pm_json_string(json, "text", a->texts ? a->texts[line_no] : NULL);
    snprintf(key, sizeof key, "own_%s", metric);
    pm_json_i64(json, key, line->own);
    pm_json_i64(json, "n_samples", line->n_samples);
    if (a->knows_code && line->is_statement)
        pm_json_bool(json, "has_code", line->has_code);
    else
        pm_json_null(json, "has_code");
    if (a->shows_arrays)
        pm_json_string(json, "arrays", line->arrays);
    pm_json_end(json);
}

void annotation_print_json(struct annotation *a, FILE *out)
{
    const struct report *report = a->report;
    const char *metric = report->n_metrics
                             ? report->data->graph->metrics[report->metrics[report->primary]].name
                             : "n_calls";
    bool *shown = annotation_shown_lines(a);
    struct pm_json json;
    pm_json_init(&json, out);
    pm_json_object(&json, NULL);
    pm_json_string(&json, "format", "perfmap-annotate");
    pm_json_u64(&json, "version", 1);
    pm_json_string(&json, "archive", report->options.archive_path);
    pm_json_string(&json, "file", a->file);
    pm_json_string(&json, "source", a->path);
    pm_json_bool(&json, "source_is_changed", a->is_changed);
    pm_json_string(&json, "function", a->function);
    pm_json_string(&json, "metric", metric);
    pm_json_array(&json, "warnings");
    for (int i = 0; i < report->n_warnings; i++)
        pm_json_string(&json, NULL, report->warnings[i]);
    pm_json_end(&json);
    pm_json_i64(&json, "total", own_of_row(report, &report->total));
    pm_json_i64(&json, "own", a->own);
    pm_json_i64(&json, "shared", a->shared);
    pm_json_array(&json, "lines");
    for (uint32_t line = 1; line <= a->n_lines; line++)
        if (shown && shown[line])
            json_line(a, line, metric, &json);
    pm_json_end(&json);
    pm_json_array(&json, "groups");
    for (uint32_t g = 0; g < a->n_groups; g++)
        json_group(a, &a->groups[g], metric, &json);
    pm_json_end(&json);
    pm_json_end(&json);
    (void)pm_json_done(&json); /* a failed write shows on the stream */
    free(shown);
}
