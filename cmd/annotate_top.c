/* The lines with the most cost, of one file or function or of all. */
#include "annotate.h"

#include <stdlib.h>

enum { PLACE_MOST = 40, TEXT_MIN = 20 };

/* --- text --- */

/* A source file whose lines are quoted. */
struct annotation_source {
    const char *file; /* the archive's */
    char *path, *text;
};

static struct annotation_source *source_of(struct annotation *a, const char *file)
{
    for (uint32_t i = 0; i < a->n_sources; i++)
        if (!strcmp(a->sources[i].file, file))
            return &a->sources[i];
    struct annotation_source *source = &a->sources[a->n_sources++];
    source->file = file;
    annotation_read_source(a->report, file, &source->path, &source->text);
    a->is_changed |= annotation_source_is_changed(a->report, source->path);
    return source;
}

/* Without what it is indented by, in the arena. NULL: there is no such text. */
static const char *text_of(struct annotation *a, const struct pm_noun *noun)
{
    const char *p = source_of(a, noun->file)->text;
    for (uint32_t line = 1; p && line < noun->line_no; line++) {
        p = strchr(p, '\n');
        p = p ? p + 1 : NULL;
    }
    if (!p)
        return NULL;
    p += strspn(p, " \t");
    return pm_arena_strndup(&a->report->arena, p, strcspn(p, "\r\n"));
}

/* --- rows --- */

static bool has_line_here(const struct annotation *a, const struct report_row *row)
{
    for (uint32_t i = 0; i < row->n_groups; i++)
        if (annotation_line_of_group(a, row->groups[i]))
            return true;
    return false;
}

bool annotation_find_top(struct annotation *a)
{
    const struct report *report = a->report;
    size_t most = a->top < report->n_rows ? a->top : report->n_rows;
    a->tops = pm_alloc_array(most, sizeof *a->tops);
    a->sources = pm_alloc_array(most, sizeof *a->sources);
    if (!a->tops || !a->sources)
        return false;
    for (uint32_t r = 0; r < report->n_rows && a->n_tops < most; r++) {
        const struct report_row *row = &report->rows[r]; /* in the order of costs */
        bool is_line = row->kind == REPORT_ROW_NOUN;
        struct annotated_line numbers = annotation_numbers(a, row);
        if (!numbers.has_cost || (!is_line && row->kind != REPORT_ROW_SET) ||
            !has_line_here(a, row))
            continue;
        const struct pm_noun *noun =
            &report->data->graph->nouns[report->groups[row->groups[0]].noun];
        a->tops[a->n_tops++] = (struct annotation_top){row, is_line ? text_of(a, noun) : NULL};
        *(is_line ? &a->own : &a->shared) += numbers.own;
    }
    return true;
}

void annotation_release_top(struct annotation *a)
{
    for (uint32_t i = 0; i < a->n_sources; i++) {
        free(a->sources[i].path);
        free(a->sources[i].text);
    }
    free(a->sources);
    free(a->tops);
}

/* --- for people --- */

static void put_title(const struct annotation_view *view)
{
    const struct annotation *a = view->a;
    double part = (double)(a->own + a->shared);
    const char *of = a->function ? a->function : a->file;
    of = of ? report_printable(&a->report->arena, of) : NULL;
    char number[32] = "";
    if (a->n_tops != 1)
        snprintf(number, sizeof number, "%u ", a->n_tops);
    fprintf(view->out, "the %shottest line%s%s%s: %.*f of %.*f%s, %.1f %%\n", number,
            a->n_tops == 1 ? "" : "s", of ? " of " : "", of ? of : "", view->decimals,
            part / view->divisor, view->decimals, view->total / view->divisor,
            view->divisor > 1 ? " ms" : "", view->total != 0 ? 100 * part / view->total : 0);
    if (a->is_changed)
        fputs("  warning: the source was changed after the run: costs may stand beside other lines "
              "than theirs\n",
              view->out);
    fputc('\n', view->out);
}

static bool put_top(struct annotation_view *view, const struct annotation_top *top, int place_width)
{
    struct annotation *a = view->a;
    const struct report_row *row = top->row;
    bool is_set = row->kind == REPORT_ROW_SET;
    const char *text =
        is_set ? annotation_group_text(a, row) : annotation_text(a, top->text ? top->text : "");
    if (!text)
        return false;
    int width = view->term.width;
    int used = annotation_numbers_width(view);
    struct annotated_line numbers = annotation_numbers(a, row);
    annotation_put_numbers(view, &numbers, true);
    if (!is_set) {
        report_put_cut(&view->term, view->out, row->place, place_width, true, true);
        fputs("  ", view->out);
        used += place_width + 2;
    }
    int room = width - used > TEXT_MIN ? width - used : TEXT_MIN;
    report_put_cut(&view->term, view->out, text, width ? room : report_width(text), false, false);
    fputc('\n', view->out);
    return true;
}

bool annotation_print_top(struct annotation *a, FILE *out)
{
    struct annotation_view view = annotation_view(a, out);
    int place_width = 5;
    bool ok = true;
    for (uint32_t i = 0; i < a->n_tops; i++) {
        struct report_row *row = (struct report_row *)a->tops[i].row;
        report_name_row(a->report, row);
        int width = row->kind == REPORT_ROW_SET ? 0 : report_width(row->place);
        place_width = width > place_width ? width : place_width;
    }
    if (view.term.width && place_width > PLACE_MOST)
        place_width = PLACE_MOST;
    report_print_header(a->report, &view.term, out);
    put_title(&view);
    annotation_put_numbers_head(&view);
    fprintf(out, "%-*s  source%s\n", place_width, "where", annotation_color(&view, REPORT_RESET));
    for (uint32_t i = 0; ok && i < a->n_tops; i++)
        ok = put_top(&view, &a->tops[i], place_width);
    annotation_put_legend(&view);
    return ok && report_naming_status(a->report, NULL) == PM_OK;
}
