/* How rows are written in a table: names as people say them, and no two rows alike. */
#include "groupings.h"

#include <stdlib.h>

/* --- letters --- */

static const struct {
    char letter;
    const char *meaning;
} marks[] = {{'l', "loop in"},    {'o', "outside its loops"},
             {'i', "inlined"},    {'?', "mostly inferred, not certain"},
             {'s', "by samples"}, {'c', "counted, callers not known"}};

const char pm_view_mark_letters[] = "loi?sc";

const char *pm_view_mark_meaning(char letter)
{
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (marks[i].letter == letter)
            return marks[i].meaning;
    return NULL;
}

static void add_marks(const struct pm_view *view, const struct pm_view_row *row,
                      struct pm_view_label *label)
{
    const struct pm_view_traits *traits = &row->traits;
    bool tree = view->options.tree;
    char *p = label->marks;
    if (traits->is_inlined)
        *p++ = 'i';
    if (traits->is_mostly_inferred && !tree)
        *p++ = '?';
    if (traits->is_sampled && tree)
        *p++ = 's';
    if (traits->is_counted && tree)
        *p++ = 'c';
}

/* --- names --- */

static const char loop_in[] = "loop in ", outside[] = ", outside its loops";

/* In a tree, a loop below its function, or another loop of it, needs no name: "loop". */
static bool is_loop_of(const struct pm_view_row *row, const struct pm_view_row *parent)
{
    const char *function = row->name + sizeof loop_in - 1, *above = parent->name;
    if (strncmp(row->name, loop_in, sizeof loop_in - 1) != 0)
        return false;
    if (!strncmp(above, loop_in, sizeof loop_in - 1))
        return !strcmp(above + sizeof loop_in - 1, function);
    size_t len = strlen(function);
    return !strncmp(above, function, len) && (!above[len] || above[len] == ','); /* ", inlined" */
}

/* Its last len bytes are other ones; the text itself when memory ended. */
static const char *with_end(struct pm_view *view, const char *text, size_t len, const char *end)
{
    size_t kept = strlen(text) - len, n = strlen(end);
    char *copy = pm_arena_alloc(&view->arena, kept + n + 1);
    if (!copy)
        return text;
    memcpy(copy, text, kept);
    memcpy(copy + kept, end, n + 1);
    return copy;
}

static bool ends_in(const char *text, const char *end)
{
    size_t len = strlen(text), n = strlen(end);
    return len > n && !strcmp(text + len - n, end);
}

static void make_bare(struct pm_view *view, const struct pm_view_row *row,
                      struct pm_view_label *label)
{
    label->bare = label->brief;
    if (row->kind == PM_VIEW_ROW_RUNNER || row->kind == PM_VIEW_ROW_BRANCH)
        return;
    if (!strncmp(label->brief, loop_in, sizeof loop_in - 1)) {
        label->bare += sizeof loop_in - 1;
        label->kind_mark = 'l';
    } else if (ends_in(label->brief, outside)) {
        label->bare = with_end(view, label->brief, sizeof outside - 1, "");
        label->kind_mark = 'o';
    }
}

static struct pm_view_label label_of(struct pm_view *view, const struct pm_view_row *row,
                                     const struct pm_view_row *parent)
{
    static const char statement[] = "statement ";
    struct pm_arena *arena = &view->arena;
    struct pm_view_label label = {.place = row->place, .base = row->place};
    if (row->kind == PM_VIEW_ROW_RUNNER || row->kind == PM_VIEW_ROW_BRANCH) {
        label.full = label.brief = row->name;
        return label;
    }
    const char *full = pm_view_short_name(arena, row->name), *folder = strrchr(row->place, '/');
    if (pm_view_grouping(view)->has_text && !strncmp(full, statement, strlen(statement)))
        full += strlen(statement); /* in a table of statements */
    const char *brief = full, *heap = strstr(brief, PM_VIEW_HEAP_OF);
    if (heap)
        brief = with_end(view, brief, strlen(heap), "");
    if (parent && is_loop_of(row, parent))
        brief = "loop";
    else if (row->kind != PM_VIEW_ROW_OUTSIDE)
        brief = pm_view_without_parameters(arena, brief);
    bool is_path = folder && *row->place != '{' && *row->place != '(';
    label.full = full;
    label.brief = brief;
    label.base = is_path ? folder + 1 : row->place;
    add_marks(view, row, &label);
    return label;
}

/* --- telling rows apart --- */

/* What may tell a noun from one of its name and place, the plainest first. */
enum difference { BY_OWNER, BY_BINARY, BY_FILE, BY_COLUMN, BY_LINKAGE, BY_ADDRESS, N_DIFFERENCES };

/* "": it has none. */
static void add_difference(const struct pm_view *view, pm_index noun, enum difference which,
                           struct pm_buf *out)
{
    const struct pm_graph *graph = view->data->graph;
    const struct pm_graph_noun *n = &graph->nouns[noun];
    switch (which) {
    case BY_OWNER:
        if (n->parent != PM_NONE)
            pm_buf_printf(out, "in %s", graph->nouns[n->parent].name);
        break;
    case BY_BINARY:
        pm_buf_add_str(out, pm_view_base_name(n->binary));
        break;
    case BY_FILE:
        pm_buf_add_str(out, n->file);
        break;
    case BY_COLUMN:
        if (n->column_no)
            pm_buf_printf(out, "column %u", n->column_no);
        break;
    case BY_LINKAGE:
        pm_buf_add_str(out, n->linkage);
        break;
    default:
        pm_buf_add_str(out, view->data->addresses[noun]);
    }
}

/* Of a set, of all its members. "": it has none; NULL: memory ended. */
static const char *difference_of(struct pm_view *view, const struct pm_view_row *row,
                                 enum difference which)
{
    struct pm_buf text = PM_BUF_INIT(1 << 16);
    pm_index noun;
    for (uint32_t i = 0; (noun = pm_view_row_noun(view, row, i)) != PM_NONE; i++) {
        if (i && text.len)
            pm_buf_add_str(&text, ", ");
        add_difference(view, noun, which, &text);
        if (row->kind == PM_VIEW_ROW_UNMAPPED)
            break;
    }
    const char *copy =
        text.failed ? NULL : pm_arena_strndup(&view->arena, text.len ? text.data : "", text.len);
    pm_buf_release(&text);
    return copy ? pm_text_printable(&view->arena, copy) : NULL;
}

/* Shown rows that look alike, by position. */
struct alike {
    struct pm_view *view;
    struct pm_view_label *labels;
    const uint32_t *rows;
    uint32_t n;
};

static bool add_to_label(struct alike *alike, uint32_t i, const char *text)
{
    struct pm_view_label *label = &alike->labels[alike->rows[i]];
    const char **names[] = {&label->full, &label->brief};
    bool is_same = label->full == label->brief;
    for (int k = 0; k < 2; k++) {
        struct pm_buf name = PM_BUF_INIT(1 << 20);
        if (k == 1 && is_same) {
            label->brief = label->full;
            break;
        }
        pm_buf_printf(&name, "%s (%s)", *names[k], text);
        const char *copy =
            name.failed ? NULL : pm_arena_strndup(&alike->view->arena, name.data, name.len);
        pm_buf_release(&name);
        if (!copy)
            return false;
        *names[k] = copy;
    }
    return true;
}

/* Whether it is known of all and no two have the same. */
static bool tells_apart(const struct alike *alike, const char *const *texts)
{
    for (uint32_t i = 0; i < alike->n; i++)
        for (uint32_t k = 0; k <= i; k++)
            if (!*texts[i] || (k < i && !strcmp(texts[i], texts[k])))
                return false;
    return true;
}

static bool tell_apart(struct alike *alike)
{
    struct pm_view *view = alike->view;
    const char **texts = pm_alloc_array(alike->n, sizeof *texts);
    bool ok = texts != NULL, done = false;
    for (enum difference which = 0; ok && !done && which < N_DIFFERENCES; which++) {
        for (uint32_t i = 0; ok && i < alike->n; i++) {
            texts[i] = difference_of(view, &view->rows[alike->rows[i]], which);
            ok = texts[i] != NULL;
        }
        done = ok && tells_apart(alike, texts);
    }
    for (uint32_t i = 0; ok && i < alike->n; i++) {
        char number[32];
        snprintf(number, sizeof number, "%u of %u", i + 1, alike->n);
        ok = add_to_label(alike, i, done ? texts[i] : number);
    }
    free(texts);
    return ok;
}

static int compare_looks(const struct pm_view *view, const struct pm_view_label *labels, uint32_t a,
                         uint32_t b, bool brief)
{
    const struct pm_view_row *x = &view->rows[a], *y = &view->rows[b];
    if (view->options.tree && x->parent_id != y->parent_id)
        return x->parent_id < y->parent_id ? -1 : 1;
    int place = strcmp(labels[a].place, labels[b].place);
    return place ? place
                 : strcmp(brief ? labels[a].brief : labels[a].full,
                          brief ? labels[b].brief : labels[b].full);
}

struct looks {
    const struct pm_view *view;
    const struct pm_view_label *labels;
    bool brief;
};

static int compare_positions(const void *a_pointer, const void *b_pointer, void *context)
{
    const struct looks *looks = context;
    uint32_t a = *(const uint32_t *)a_pointer, b = *(const uint32_t *)b_pointer;
    int order = compare_looks(looks->view, looks->labels, a, b, looks->brief);
    return order ? order : (a > b) - (a < b);
}

/* Rows whose names in full are equal get what tells them apart; those that are only equal in brief
 * keep their full names. */
static bool tell_all_apart(struct pm_view *view, struct pm_view_label *labels, uint32_t *rows,
                           bool brief)
{
    struct looks looks = {view, labels, brief};
    bool ok = true;
    for (uint32_t i = 0; i < view->n_shown; i++)
        rows[i] = i;
    qsort_r(rows, view->n_shown, sizeof *rows, compare_positions, &looks);
    for (uint32_t i = 0, n; ok && i < view->n_shown; i += n) {
        n = 1;
        while (i + n < view->n_shown &&
               compare_looks(view, labels, rows[i], rows[i + n], brief) == 0)
            n++;
        struct alike alike = {view, labels, rows + i, n};
        if (n > 1 && !brief)
            ok = tell_apart(&alike);
        for (uint32_t k = 0; n > 1 && brief && k < n; k++)
            labels[rows[i + k]].brief = labels[rows[i + k]].full;
    }
    return ok;
}

/* Rows of a tree come depth first: a row's parent is the last one that was less deep. */
struct pm_view_label *pm_view_make_labels(struct pm_view *view)
{
    uint32_t n = view->n_shown, depth = 0;
    uint32_t *path = pm_alloc_array((size_t)n + 1, sizeof *path);
    struct pm_view_label *labels = pm_alloc_array((size_t)n + 1, sizeof *labels);
    bool ok = path && labels;
    for (uint32_t r = 0; ok && r < n; r++) {
        const struct pm_view_row *row = &view->rows[r], *parent = NULL;
        if (view->options.tree) {
            while (depth > 0 && view->rows[path[depth - 1]].depth >= row->depth)
                depth--;
            parent = depth ? &view->rows[path[depth - 1]] : NULL;
            path[depth++] = r;
        }
        labels[r] = label_of(view, row, parent);
    }
    ok =
        ok && tell_all_apart(view, labels, path, false) && tell_all_apart(view, labels, path, true);
    free(path);
    for (uint32_t r = 0; ok && r < n; r++)
        make_bare(view, &view->rows[r], &labels[r]);
    if (!ok) {
        free(labels);
        labels = NULL;
    }
    return labels;
}
