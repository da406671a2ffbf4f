/* How the lines of mapping/view/annotation.h are shown.
 *
 *     show_annotation(&annotation, &look, stdout); // annotation.c
 *     show_annotation_top(&annotation, &look, stdout); // annotation_top.c: with .top
 *     show_annotation_json(&annotation, stdout);   // annotation_json.c
 */
#ifndef PM_SHOW_ANNOTATION_H
#define PM_SHOW_ANNOTATION_H

#include "show.h"

#include "mapping/view/annotation.h"

/* annotation.c: how the numbers are shown. */
struct annotation_view {
    struct pm_annotation *a;
    struct show_term term;
    FILE *out;
    double divisor, total; /* of the primary metric: of the run, or of the focus */
    const char *unit;
    int decimals, own_width, inclusive_width, waiting_width, samples_width, arrays_width,
        line_width;
    bool has_at_least, has_few, has_brackets, has_dashes; /* marks that were printed */
};
struct annotation_view annotation_view(struct pm_annotation *annotation,
                                       const struct show_look *look, FILE *out);
const char *annotation_color(const struct annotation_view *view, const char *code);
/* What stands before a line. NULL: nothing, for it has no cost. */
void annotation_put_numbers(struct annotation_view *view, const struct pm_annotated_line *numbers,
                            bool has_code);
int annotation_numbers_width(const struct annotation_view *view);
void annotation_put_numbers_head(const struct annotation_view *view);
/* Tabs as blanks, printable. NULL: memory ended. */
const char *annotation_text(struct pm_annotation *annotation, const char *line);
/* "{heat.c:42, heat.c:43} vectorised together". NULL: memory ended. */
const char *annotation_group_text(struct pm_annotation *annotation, const struct pm_view_row *row);
void annotation_put_legend(const struct annotation_view *view);

/* false: memory ended */
bool show_annotation_top(struct pm_annotation *annotation, const struct show_look *look, FILE *out);
bool show_annotation(struct pm_annotation *annotation, const struct show_look *look, FILE *out);
void show_annotation_json(struct pm_annotation *annotation, FILE *out);

#endif
