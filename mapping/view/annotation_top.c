/* The lines with the most cost, of one file or function or of all. */
#include "annotation.h"

#include <stdlib.h>

/* --- text --- */

/* A source file whose lines are quoted. */
struct pm_annotation_source {
    const char *file; /* the archive's */
    char *path, *text;
};

static struct pm_annotation_source *source_of(struct pm_annotation *a, const char *file)
{
    for (uint32_t i = 0; i < a->n_sources; i++)
        if (!strcmp(a->sources[i].file, file))
            return &a->sources[i];
    struct pm_annotation_source *source = &a->sources[a->n_sources++];
    source->file = file;
    pm_annotation_read_source(a->view, file, &source->path, &source->text);
    a->is_changed |= pm_annotation_source_is_changed(a->view, source->path);
    return source;
}

/* Without what it is indented by, in the arena. NULL: there is no such text. */
static const char *text_of(struct pm_annotation *a, const struct pm_graph_noun *noun)
{
    const char *p = source_of(a, noun->file)->text;
    for (uint32_t line = 1; p && line < noun->line_no; line++) {
        p = strchr(p, '\n');
        p = p ? p + 1 : NULL;
    }
    if (!p)
        return NULL;
    p += strspn(p, " \t");
    return pm_arena_strndup(&a->view->arena, p, strcspn(p, "\r\n"));
}

/* --- rows --- */

static bool has_line_here(const struct pm_annotation *a, const struct pm_view_row *row)
{
    for (uint32_t i = 0; i < row->n_groups; i++)
        if (pm_annotation_line_of_group(a, row->groups[i]))
            return true;
    return false;
}

bool pm_annotation_find_top(struct pm_annotation *a)
{
    const struct pm_view *view = a->view;
    size_t most = a->top < view->n_rows ? a->top : view->n_rows;
    a->tops = pm_alloc_array(most, sizeof *a->tops);
    a->sources = pm_alloc_array(most, sizeof *a->sources);
    if (!a->tops || !a->sources)
        return false;
    for (uint32_t r = 0; r < view->n_rows && a->n_tops < most; r++) {
        const struct pm_view_row *row = &view->rows[r]; /* in the order of costs */
        bool is_line = row->kind == PM_VIEW_ROW_NOUN;
        struct pm_annotated_line numbers = pm_annotation_numbers(a, row);
        if (!numbers.has_cost || (!is_line && row->kind != PM_VIEW_ROW_SET) ||
            !has_line_here(a, row))
            continue;
        const struct pm_graph_noun *noun =
            &view->data->graph->nouns[view->groups[row->groups[0]].noun];
        a->tops[a->n_tops++] = (struct pm_annotation_top){row, is_line ? text_of(a, noun) : NULL};
        *(is_line ? &a->own : &a->shared) += numbers.own;
    }
    return true;
}

void pm_annotation_release_top(struct pm_annotation *a)
{
    for (uint32_t i = 0; i < a->n_sources; i++) {
        free(a->sources[i].path);
        free(a->sources[i].text);
    }
    free(a->sources);
    free(a->tops);
}
