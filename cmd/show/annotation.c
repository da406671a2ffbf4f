/* Source lines with their costs, for people. */
#include "annotation.h"
#include "cells.h"

#include <stdlib.h>

enum { MARGIN_MOST = 8, ARRAYS_MOST = 24, TAB = 4, TEXT_MIN = 20 };

const char *annotation_color(const struct annotation_view *view, const char *code)
{
    return view->term.color ? code : "";
}

static void choose_unit(struct annotation_view *view)
{
    const struct pm_view *report = view->a->view;
    const struct pm_graph_metric *metric =
        report->n_metrics ? &report->data->graph->metrics[report->metrics[report->primary]] : NULL;
    bool is_time = metric && !strcmp(metric->unit, "ns");
    view->total = (double)pm_annotation_own(view->a, &report->total);
    bool is_part = report->options.instance && !report->options.focus[0];
    if (is_part && report->focus_share_pct > 0) /* shares are of the run, as without it */
        view->total *= 100 / report->focus_share_pct;
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

/* Whether any line that may be shown waited. */
static bool has_waiting(const struct pm_annotation *a)
{
    bool has = false;
    if (a->waiting == PM_NONE)
        return false;
    for (uint32_t i = 1; i <= a->n_lines && a->lines; i++)
        has |= i >= a->first_line_no && i <= a->last_line_no && a->lines[i].waiting_ns;
    for (uint32_t g = 0; g < a->n_groups; g++)
        has |= a->groups[g].row->values[a->waiting].own.value != 0;
    for (uint32_t t = 0; t < a->n_tops; t++)
        has |= a->tops[t].row->values[a->waiting].own.value != 0;
    return has;
}

static void measure(struct annotation_view *view)
{
    const struct pm_annotation *a = view->a;
    view->own_width = larger((int)strlen(view->unit),
                             digits((double)(a->own + a->shared) / view->divisor, view->decimals));
    if (a->has_inclusive)
        view->inclusive_width = larger(8, digits(view->total / view->divisor, view->decimals) +
                                              pm_text_width(show_at_least_mark(view->term.utf8)));
    if (has_waiting(a))
        view->waiting_width =
            larger(10, digits((double)a->view->total.values[a->waiting].own.value / view->divisor,
                              view->decimals));
    view->samples_width = a->view->samples_metric == PM_NONE ? 0 : 7;
    view->line_width = larger(4, digits(a->n_lines, 0));
    for (uint32_t i = 1; a->shows_arrays && i <= a->n_lines; i++)
        if (a->lines[i].arrays)
            view->arrays_width = larger(view->arrays_width, pm_text_width(a->lines[i].arrays));
    if (view->arrays_width)
        view->arrays_width =
            larger(6, view->arrays_width > ARRAYS_MOST ? ARRAYS_MOST : view->arrays_width);
}

/* "≥ 12.3": there may be more. */
static void put_inclusive(struct annotation_view *view, const struct pm_annotated_line *numbers)
{
    char text[64] = "";
    bool at_least = numbers->is_at_least && view->inclusive_width;
    if (numbers->inclusive || at_least)
        snprintf(text, sizeof text, "%s%.*f", at_least ? show_at_least_mark(view->term.utf8) : "",
                 view->decimals, (double)numbers->inclusive / view->divisor);
    view->has_at_least |= at_least;
    if (view->inclusive_width)
        fprintf(view->out, "  %*s%s", larger(0, view->inclusive_width - pm_text_width(text)), "",
                text);
}

/* What has no cost has blanks, what has no code at all a dash. */
void annotation_put_numbers(struct annotation_view *view, const struct pm_annotated_line *numbers,
                            bool has_code)
{
    char text[64] = "", share[64] = "", samples[32] = "", waiting[64] = "";
    bool has_cost = numbers->has_cost;
    if (has_cost) {
        int64_t own = numbers->own, n_samples = numbers->n_samples;
        double pct = view->total != 0 ? 100 * (double)own / view->total : 0;
        const struct pm_view *report = view->a->view;
        bool few = view->samples_width && report->n_metrics &&
                   report->metrics[report->primary] == report->cpu_metric &&
                   n_samples < PM_VIEW_FEW_SAMPLES &&
                   (pm_view_has_wall_samples(report) ? own - numbers->waiting_ns : own) > own / 3;
        view->has_few |= few;
        snprintf(text, sizeof text, "%.*f", view->decimals, (double)own / view->divisor);
        snprintf(share, sizeof share, "%s%.1f", few ? "~" : "", pct);
        snprintf(samples, sizeof samples, "%lld", (long long)n_samples);
        if (numbers->waiting_ns)
            snprintf(waiting, sizeof waiting, "%.*f", view->decimals,
                     (double)numbers->waiting_ns / view->divisor);
        fputs(annotation_color(view, pct >= 20  ? SHOW_RED
                                     : pct >= 5 ? SHOW_YELLOW
                                                : SHOW_GREEN),
              view->out);
    }
    view->has_dashes |= !has_code;
    fprintf(view->out, "%*s  %7s", view->own_width, !has_code ? "-" : text, share);
    put_inclusive(view, numbers);
    if (view->waiting_width)
        fprintf(view->out, "  %*s", view->waiting_width, waiting);
    if (view->samples_width)
        fprintf(view->out, "  %*s", view->samples_width, samples);
    fprintf(view->out, "%s  ", has_cost ? annotation_color(view, SHOW_RESET) : "");
}

void annotation_put_numbers_head(const struct annotation_view *view)
{
    fprintf(view->out, "%s%*s  share %%", annotation_color(view, SHOW_BOLD), view->own_width,
            view->unit);
    if (view->inclusive_width)
        fprintf(view->out, "  %*s", view->inclusive_width,
                view->divisor > 1 ? "incl. ms" : "incl.");
    if (view->waiting_width)
        fprintf(view->out, "  %*s", view->waiting_width, "waiting ms");
    if (view->samples_width)
        fprintf(view->out, "  %*s", view->samples_width, "samples");
    fputs("  ", view->out);
}

int annotation_numbers_width(const struct annotation_view *view)
{
    return view->own_width + 2 + 7 + (view->inclusive_width ? view->inclusive_width + 2 : 0) +
           (view->waiting_width ? view->waiting_width + 2 : 0) +
           (view->samples_width ? view->samples_width + 2 : 0) + 2;
}

static void put_arrays(const struct annotation_view *view, const char *arrays)
{
    if (!view->arrays_width)
        return;
    show_put_cut(&view->term, view->out, arrays ? arrays : "", view->arrays_width, false, true);
    fputs("  ", view->out);
}

/* The brackets of groups, one column each. opening: the group whose own row this is; NULL: a
 * line's. */
static void put_margin(const struct annotation_view *view, uint32_t line_no,
                       const struct pm_annotated_group *opening)
{
    const struct pm_annotation *a = view->a;
    static const char *const utf8[] = {" ", "│", "┌", "├", "└"};
    static const char *const ascii[] = {" ", "|", "+", "+", "+"};
    int marks[MARGIN_MOST] = {0};
    for (uint32_t g = 0; g < a->n_groups; g++) {
        const struct pm_annotated_group *group = &a->groups[g];
        int *mark = &marks[group->column];
        if (group == opening)
            *mark = 2;
        else if (line_no < group->first_line_no || line_no > group->last_line_no ||
                 (opening && line_no == group->first_line_no && group > opening))
            continue;
        else if (opening || !pm_annotation_is_member(a, group, line_no))
            *mark = 1;
        else
            *mark = line_no == group->last_line_no ? 4 : 3;
    }
    for (uint32_t c = 0; c < a->n_columns; c++)
        fputs(view->term.utf8 ? utf8[marks[c]] : ascii[marks[c]], view->out);
    if (a->n_columns)
        fputc(' ', view->out);
}

static int room_for_text(const struct annotation_view *view)
{
    if (!view->term.width)
        return 0;
    int used = annotation_numbers_width(view) + (view->arrays_width ? view->arrays_width + 2 : 0) +
               (int)view->a->n_columns + (view->a->n_columns ? 1 : 0) + view->line_width + 2;
    return larger(TEXT_MIN, view->term.width - used);
}

const char *annotation_text(struct pm_annotation *a, const char *line)
{
    struct pm_buf text = PM_BUF_INIT(1 << 20);
    for (const char *p = line; *p; p++)
        if (*p == '\t')
            pm_buf_printf(&text, "%*s", TAB - (int)(text.len % TAB), "");
        else
            pm_buf_add_byte(&text, (unsigned char)*p);
    const char *copy = pm_arena_strndup(&a->view->arena, text.len ? text.data : "", text.len);
    pm_buf_release(&text);
    return copy ? pm_text_printable(&a->view->arena, copy) : NULL;
}

const char *annotation_group_text(struct pm_annotation *a, const struct pm_view_row *row)
{
    struct pm_view *report = a->view;
    const struct pm_view_traits *traits = &row->traits;
    pm_view_name_row(report, (struct pm_view_row *)row);
    struct pm_buf text = PM_BUF_INIT(1 << 16);
    pm_buf_add_str(&text, row->place);
    for (int i = 0; i < PM_VIEW_MAX_REASONS && traits->reasons[i]; i++)
        pm_buf_printf(&text, "%s%s%s", i ? " and " : " ", traits->is_inferred[i] ? "probably " : "",
                      traits->reasons[i]);
    const char *copy = text.failed ? NULL : pm_arena_strndup(&report->arena, text.data, text.len);
    pm_buf_release(&text);
    return copy ? pm_text_printable(&report->arena, copy) : NULL;
}

/* A group's own row: its cost, and why its lines are one. */
static bool put_group(struct annotation_view *view, const struct pm_annotated_group *group)
{
    const struct pm_view_row *row = group->row;
    const char *text = annotation_group_text(view->a, row);
    if (!text)
        return false;
    view->has_brackets = true;
    struct pm_annotated_line numbers = pm_annotation_numbers(view->a, row);
    annotation_put_numbers(view, &numbers, true);
    put_arrays(view, NULL);
    put_margin(view, group->first_line_no, group);
    int room = room_for_text(view) + view->line_width + 2;
    fputs(annotation_color(view, SHOW_DIM), view->out);
    show_put_cut(&view->term, view->out, text, view->term.width ? room : pm_text_width(text), false,
                 false);
    fprintf(view->out, "%s\n", annotation_color(view, SHOW_RESET));
    return true;
}

static bool put_line(struct annotation_view *view, uint32_t line_no)
{
    struct pm_annotation *a = view->a;
    const struct pm_annotated_line *line = &a->lines[line_no];
    const char *text = annotation_text(a, a->texts ? a->texts[line_no] : "");
    if (!text)
        return false;
    bool has_code = !line->is_statement || line->has_code || line->has_cost;
    for (uint32_t g = 0; g < a->n_groups && !has_code; g++)
        has_code = pm_annotation_is_member(a, &a->groups[g], line_no);
    annotation_put_numbers(view, line, has_code);
    put_arrays(view, line->arrays);
    put_margin(view, line_no, NULL);
    fprintf(view->out, "%s%*u%s%s", annotation_color(view, SHOW_DIM), view->line_width, line_no,
            annotation_color(view, SHOW_RESET), *text ? "  " : "");
    show_put_cut(&view->term, view->out, text,
                 view->term.width ? room_for_text(view) : pm_text_width(text), false, false);
    fputc('\n', view->out);
    return true;
}

static void put_title(const struct annotation_view *view)
{
    const struct pm_annotation *a = view->a;
    struct pm_view *report = a->view;
    const char *file = pm_text_printable(&report->arena, a->path ? a->path : a->file);
    double part = (double)(a->own + a->shared);
    if (a->n_instances > 1) {
        const char *asked = pm_text_printable(&report->arena, a->asked);
        fprintf(view->out, "%u instances of %s in ", a->n_instances, asked ? asked : "");
    } else if (a->function) {
        const char *function = pm_text_printable(&report->arena, a->function);
        fprintf(view->out, "%s in ", function ? pm_view_short_name(&report->arena, function) : "");
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

static void put_head(const struct annotation_view *view)
{
    const struct pm_annotation *a = view->a;
    annotation_put_numbers_head(view);
    if (view->arrays_width)
        fprintf(view->out, "%-*s  ", view->arrays_width, "arrays");
    fprintf(view->out, "%*s%*s%s%s\n", (int)a->n_columns + (a->n_columns ? 1 : 0), "",
            view->line_width, "line", a->text ? "  source" : "",
            annotation_color(view, SHOW_RESET));
}

/* Only of the marks that are there. */
void annotation_put_legend(const struct annotation_view *view)
{
    const char *marks[4];
    int n = 0;
    if (view->has_brackets)
        marks[n++] = view->term.utf8 ? "┌├└: the lines share this code, and its cost"
                                     : "+|: the lines share this code, and its cost";
    if (view->has_dashes)
        marks[n++] = "-: no code";
    if (view->has_few)
        marks[n++] = "~: fewer than 10 samples";
    if (view->has_at_least)
        marks[n++] = view->term.utf8 ? "≥: at least, because several lines call it"
                                     : ">=: at least, because several lines call it";
    for (int i = 0; i < n; i++)
        fprintf(view->out, "%s%s", i ? "; " : "\n", marks[i]);
    fputs(n ? "\n" : "", view->out);
    if (view->a->unknown_line)
        fprintf(view->out,
                "%.*f%s in libraries or the kernel, called from here, is at no line: which one is "
                "not known\n",
                view->decimals, (double)view->a->unknown_line / view->divisor,
                view->divisor > 1 ? " ms" : "");
    if (view->a->unplaced)
        fprintf(view->out,
                "%.*f%s of what was called from here is at no line: which one is not known\n",
                view->decimals, (double)view->a->unplaced / view->divisor,
                view->divisor > 1 ? " ms" : "");
}

struct annotation_view annotation_view(struct pm_annotation *a, const struct show_look *look,
                                       FILE *out)
{
    struct annotation_view view = {.a = a, .term = show_term_of(out, look), .out = out};
    choose_unit(&view);
    measure(&view);
    return view;
}

enum { MAX_LOOPS = 12 };

/* What the vectoriser made of loops, as their machine code is. */
static bool put_loops(const struct annotation_view *view)
{
    const struct pm_annotation *a = view->a;
    for (uint32_t i = 0; i < a->n_loops && i < MAX_LOOPS; i++) {
        struct pm_buf text = PM_BUF_INIT(4096);
        bool said = pm_vectors_say(&a->loops[i].vectors, true, &text);
        if (said)
            fprintf(view->out, "%sloop in line %u %s\n", i ? "" : "\n", a->loops[i].line_no,
                    text.data);
        pm_buf_release(&text);
        if (!said)
            return false;
    }
    if (a->n_loops > MAX_LOOPS)
        fprintf(view->out, "and %u more loops: 'perfmap explain', or --json\n",
                a->n_loops - MAX_LOOPS);
    return true;
}

bool show_annotation(struct pm_annotation *a, const struct show_look *look, FILE *out)
{
    struct annotation_view view = annotation_view(a, look, out);
    bool *shown = pm_annotation_shown_lines(a);
    bool ok = shown != NULL, folded = false, any = false;
    show_header(a->view, &view.term, out);
    put_title(&view);
    put_head(&view);
    for (uint32_t line = 1; ok && line <= a->n_lines; line++) {
        if (!shown[line]) {
            folded = any;
            continue;
        }
        if (folded)
            fprintf(out, "%s...%s\n", annotation_color(&view, SHOW_DIM),
                    annotation_color(&view, SHOW_RESET));
        folded = false;
        any = true;
        for (uint32_t g = 0; ok && g < a->n_groups; g++)
            if (a->groups[g].first_line_no == line)
                ok = put_group(&view, &a->groups[g]);
        ok = ok && put_line(&view, line);
    }
    if (ok && !any)
        fputs("no line of it has a cost\n", out);
    annotation_put_legend(&view);
    ok = ok && put_loops(&view);
    free(shown);
    return ok && pm_view_naming_status(a->view, NULL) == PM_OK;
}
