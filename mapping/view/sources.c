/* The text of the source beside rows of statements and lines. */
#include "annotation.h"
#include "groupings.h"

#include "mapping/base/statement_names.h"

#include <stdlib.h>

struct source {
    const char *file; /* as the archive has it */
    char *path, *text;
    uint32_t *starts, n_lines; /* of lines, in the text */
};

struct sources {
    struct pm_view *view;
    struct source *items;
    uint32_t n, cap;
    bool failed; /* memory ended */
};

static bool find_lines(struct source *source)
{
    uint32_t cap = 0;
    for (const char *p = source->text; p && *p;) {
        uint32_t *starts =
            pm_grow_array(source->starts, source->n_lines, &cap, 1024, sizeof *starts);
        if (!starts)
            return false;
        source->starts = starts;
        source->starts[source->n_lines++] = (uint32_t)(p - source->text);
        const char *end = strchr(p, '\n');
        p = end ? end + 1 : NULL;
    }
    return true;
}

/* A file that was changed after the run has no lines: they may be others. */
static struct source *source_of(struct sources *all, const char *file)
{
    for (uint32_t i = 0; i < all->n; i++)
        if (!strcmp(all->items[i].file, file))
            return &all->items[i];
    struct source *items = pm_grow_array(all->items, all->n, &all->cap, 16, sizeof *items);
    if (!items) {
        all->failed = true;
        return NULL;
    }
    all->items = items;
    struct source *source = &items[all->n++];
    *source = (struct source){.file = file};
    pm_annotation_read_source(all->view, file, &source->path, &source->text);
    if (source->text && !pm_annotation_source_is_changed(all->view, source->path))
        all->failed |= !find_lines(source);
    return source;
}

/* Whether the row's place has a column, for others begin on its line. */
static bool is_told_by_column(const struct pm_view_row *row, const struct pm_graph_noun *noun)
{
    char end[32];
    size_t len = strlen(row->place);
    size_t n = (size_t)snprintf(end, sizeof end, ":%u:%u", noun->line_no, noun->column_no);
    return noun->column_no && n <= len && !strcmp(row->place + len - n, end);
}

/* Without what it is indented by, or what stands before its column; blanks for tabs. NULL: not
 * known. */
static const char *text_of(struct sources *all, const struct pm_view_row *row,
                           const struct pm_graph_noun *noun)
{
    const struct source *source = source_of(all, noun->file);
    if (!source || noun->line_no == 0 || noun->line_no > source->n_lines)
        return NULL;
    const char *p = source->text + source->starts[noun->line_no - 1];
    if (is_told_by_column(row, noun) && strcspn(p, "\r\n") >= noun->column_no)
        p += noun->column_no - 1;
    p += strspn(p, " \t");
    size_t len = strcspn(p, "\r\n");
    while (len && (p[len - 1] == ' ' || p[len - 1] == '\t'))
        len--;
    char *copy = pm_arena_strndup(&all->view->arena, p, len);
    for (char *c = copy; c && *c; c++)
        if (*c == '\t')
            *c = ' ';
    const char *shown = copy ? pm_text_printable(&all->view->arena, copy) : NULL;
    all->failed |= !shown;
    return shown && *shown ? shown : NULL;
}

static const struct pm_graph_noun *noun_with_text(const struct pm_view *view,
                                                  const struct pm_view_row *row)
{
    if (row->kind != PM_VIEW_ROW_NOUN || view->groups[row->groups[0]].noun == PM_NONE)
        return NULL;
    pm_index n = view->groups[row->groups[0]].noun;
    const struct pm_graph_noun *noun = &view->data->graph->nouns[n];
    bool is_frame = !strncmp(noun->name, PM_FRAME_STATEMENT, strlen(PM_FRAME_STATEMENT));
    return pm_view_noun_is_statement(view, n) && !is_frame && *noun->file ? noun : NULL;
}

bool pm_view_shows_sources(const struct pm_view *view)
{
    return pm_view_is_at_source(view) && !view->options.tree && pm_view_grouping(view)->has_text;
}

enum pm_status pm_view_find_sources(struct pm_view *view, struct pm_error *err)
{
    struct sources all = {.view = view};
    for (uint32_t r = 0; r < view->n_shown && pm_view_shows_sources(view); r++) {
        const struct pm_graph_noun *noun = noun_with_text(view, &view->rows[r]);
        view->rows[r].source_text = noun ? text_of(&all, &view->rows[r], noun) : NULL;
    }
    for (uint32_t i = 0; i < all.n; i++) {
        free(all.items[i].path);
        free(all.items[i].text);
        free(all.items[i].starts);
    }
    free(all.items);
    return all.failed ? pm_error_set(err, PM_ERR_MEMORY, "out of memory") : PM_OK;
}
