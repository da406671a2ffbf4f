/* The lines with the most cost, for people. */
#include "annotation.h"

enum { PLACE_MOST = 40, TEXT_MIN = 20 };

static void put_title(const struct annotation_view *view)
{
    const struct pm_annotation *a = view->a;
    double part = (double)(a->own + a->shared);
    const char *of = a->function ? a->function : a->file;
    of = of ? pm_text_printable(&a->view->arena, of) : NULL;
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

static bool put_top(struct annotation_view *view, const struct pm_annotation_top *top,
                    int place_width)
{
    struct pm_annotation *a = view->a;
    const struct pm_view_row *row = top->row;
    bool is_set = row->kind == PM_VIEW_ROW_SET;
    const char *text =
        is_set ? annotation_group_text(a, row) : annotation_text(a, top->text ? top->text : "");
    if (!text)
        return false;
    int width = view->term.width;
    int used = annotation_numbers_width(view);
    struct pm_annotated_line numbers = pm_annotation_numbers(a, row);
    annotation_put_numbers(view, &numbers, true);
    if (!is_set) {
        show_put_cut(&view->term, view->out, row->place, place_width, true, true);
        fputs("  ", view->out);
        used += place_width + 2;
    }
    int room = width - used > TEXT_MIN ? width - used : TEXT_MIN;
    show_put_cut(&view->term, view->out, text, width ? room : pm_text_width(text), false, false);
    fputc('\n', view->out);
    return true;
}

bool show_annotation_top(struct pm_annotation *a, const struct show_look *look, FILE *out)
{
    struct annotation_view view = annotation_view(a, look, out);
    int place_width = 5;
    bool ok = true;
    for (uint32_t i = 0; i < a->n_tops; i++) {
        struct pm_view_row *row = (struct pm_view_row *)a->tops[i].row;
        pm_view_name_row(a->view, row);
        int width = row->kind == PM_VIEW_ROW_SET ? 0 : pm_text_width(row->place);
        place_width = width > place_width ? width : place_width;
    }
    if (view.term.width && place_width > PLACE_MOST)
        place_width = PLACE_MOST;
    show_header(a->view, &view.term, out);
    put_title(&view);
    annotation_put_numbers_head(&view);
    fprintf(out, "%-*s  source%s\n", place_width, "where", annotation_color(&view, SHOW_RESET));
    for (uint32_t i = 0; ok && i < a->n_tops; i++)
        ok = put_top(&view, &a->tops[i], place_width);
    annotation_put_legend(&view);
    return ok && pm_view_naming_status(a->view, NULL) == PM_OK;
}
