/* How rows are written in a table: names as people say them, and no two rows alike. */
#include "report.h"

#include <stdlib.h>

/* --- names --- */

/* In a tree, a loop below its function, or another loop of it, needs no name: "loop". */
static bool is_loop_of(const struct report_row *row, const struct report_row *parent)
{
    static const char loop_in[] = "loop in ";
    const char *function = row->what + sizeof loop_in - 1, *above = parent->what;
    if (strncmp(row->what, loop_in, sizeof loop_in - 1) != 0)
        return false;
    if (!strncmp(above, loop_in, sizeof loop_in - 1))
        return !strcmp(above + sizeof loop_in - 1, function);
    size_t len = strlen(function);
    return !strncmp(above, function, len) && (!above[len] || above[len] == ','); /* ", inlined" */
}

static struct report_label label_of(struct report *report, const struct report_row *row,
                                    const struct report_row *parent)
{
    static const char outside[] = ", outside its loops", statement[] = "statement ";
    struct pm_arena *arena = &report->arena;
    if (row->kind == REPORT_ROW_RUNNER)
        return (struct report_label){row->what, row->what, 0, row->place, row->place};
    const char *full = report_short_name(arena, row->what), *folder = strrchr(row->place, '/');
    bool of_statements =
        report->options.by == REPORT_BY_STATEMENT || report->options.by == REPORT_BY_LINE;
    if (of_statements && !strncmp(full, statement, strlen(statement)))
        full += strlen(statement); /* in a table of statements */
    const char *brief = full;
    size_t len = strlen(full), n = sizeof outside - 1;
    if (len > n && !strcmp(full + len - n, outside)) {
        const char *rest = pm_arena_strndup(arena, full, len - n + strlen(", outside"));
        brief = rest ? rest : full;
    }
    const char *heap = strstr(brief, REPORT_HEAP_OF);
    if (heap) {
        const char *rest = pm_arena_strndup(arena, brief, (size_t)(heap - brief));
        brief = rest ? rest : full;
    }
    if (parent && is_loop_of(row, parent))
        brief = "loop";
    else if (row->kind != REPORT_ROW_OUTSIDE)
        brief = report_without_parameters(arena, brief);
    bool is_path = folder && *row->place != '{' && *row->place != '(';
    return (struct report_label){full, brief, 0, row->place, is_path ? folder + 1 : row->place};
}

/* --- telling rows apart --- */

/* What may tell a noun from one of its name and place, the plainest first. */
enum difference { BY_OWNER, BY_BINARY, BY_FILE, BY_COLUMN, BY_LINKAGE, BY_ADDRESS, N_DIFFERENCES };

/* "": it has none. */
static void add_difference(const struct report *report, pm_index noun, enum difference which,
                           struct pm_buf *out)
{
    const struct pm_graph *graph = report->data->graph;
    const struct pm_noun *n = &graph->nouns[noun];
    switch (which) {
    case BY_OWNER:
        if (n->parent != PM_NONE)
            pm_buf_printf(out, "in %s", graph->nouns[n->parent].name);
        break;
    case BY_BINARY:
        pm_buf_add_str(out, report_base_name(n->binary));
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
        pm_buf_add_str(out, report->data->addresses[noun]);
    }
}

/* Of a set, of all its members. "": it has none; NULL: memory ended. */
static const char *difference_of(struct report *report, const struct report_row *row,
                                 enum difference which)
{
    struct pm_buf text = PM_BUF_INIT(1 << 16);
    pm_index noun;
    for (uint32_t i = 0; (noun = report_row_noun(report, row, i)) != PM_NONE; i++) {
        if (i && text.len)
            pm_buf_add_str(&text, ", ");
        add_difference(report, noun, which, &text);
        if (row->kind == REPORT_ROW_UNMAPPED)
            break;
    }
    const char *copy =
        text.failed ? NULL : pm_arena_strndup(&report->arena, text.len ? text.data : "", text.len);
    pm_buf_release(&text);
    return copy ? report_printable(&report->arena, copy) : NULL;
}

/* Shown rows that look alike, by position. */
struct alike {
    struct report *report;
    struct report_label *labels;
    const uint32_t *rows;
    uint32_t n;
};

static bool add_to_label(struct alike *alike, uint32_t i, const char *text)
{
    struct report_label *label = &alike->labels[alike->rows[i]];
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
            name.failed ? NULL : pm_arena_strndup(&alike->report->arena, name.data, name.len);
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
    struct report *report = alike->report;
    const char **texts = pm_alloc_array(alike->n, sizeof *texts);
    bool ok = texts != NULL, done = false;
    for (enum difference which = 0; ok && !done && which < N_DIFFERENCES; which++) {
        for (uint32_t i = 0; ok && i < alike->n; i++) {
            texts[i] = difference_of(report, &report->rows[alike->rows[i]], which);
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

static int compare_looks(const struct report *report, const struct report_label *labels, uint32_t a,
                         uint32_t b, bool brief)
{
    const struct report_row *x = &report->rows[a], *y = &report->rows[b];
    if (report->options.tree && x->parent_id != y->parent_id)
        return x->parent_id < y->parent_id ? -1 : 1;
    int place = strcmp(labels[a].place, labels[b].place);
    return place ? place
                 : strcmp(brief ? labels[a].brief : labels[a].full,
                          brief ? labels[b].brief : labels[b].full);
}

struct looks {
    const struct report *report;
    const struct report_label *labels;
    bool brief;
};

static int compare_positions(const void *a_pointer, const void *b_pointer, void *context)
{
    const struct looks *looks = context;
    uint32_t a = *(const uint32_t *)a_pointer, b = *(const uint32_t *)b_pointer;
    int order = compare_looks(looks->report, looks->labels, a, b, looks->brief);
    return order ? order : (a > b) - (a < b);
}

/* Rows whose names in full are equal get what tells them apart; those that are only equal in brief
 * keep their full names. */
static bool tell_all_apart(struct report *report, struct report_label *labels, uint32_t *rows,
                           bool brief)
{
    struct looks looks = {report, labels, brief};
    bool ok = true;
    for (uint32_t i = 0; i < report->n_shown; i++)
        rows[i] = i;
    qsort_r(rows, report->n_shown, sizeof *rows, compare_positions, &looks);
    for (uint32_t i = 0, n; ok && i < report->n_shown; i += n) {
        n = 1;
        while (i + n < report->n_shown &&
               compare_looks(report, labels, rows[i], rows[i + n], brief) == 0)
            n++;
        struct alike alike = {report, labels, rows + i, n};
        if (n > 1 && !brief)
            ok = tell_apart(&alike);
        for (uint32_t k = 0; n > 1 && brief && k < n; k++)
            labels[rows[i + k]].brief = labels[rows[i + k]].full;
    }
    return ok;
}

/* --- names that are cut --- */

struct cuts {
    const struct report *report;
    struct report_label *labels;
    char **texts; /* [n_shown], as they are cut; NULL: it is not */
};

static int compare_cuts(const void *a_pointer, const void *b_pointer, void *context)
{
    const struct cuts *cuts = context;
    uint32_t a = *(const uint32_t *)a_pointer, b = *(const uint32_t *)b_pointer;
    if (!cuts->texts[a] || !cuts->texts[b])
        return (cuts->texts[a] != NULL) - (cuts->texts[b] != NULL);
    int place = strcmp(cuts->labels[a].place, cuts->labels[b].place);
    int text = strcmp(cuts->texts[a], cuts->texts[b]);
    return place ? place : text ? text : (a > b) - (a < b);
}

/* What a name and the one before it have in common, but for a few characters before they differ. */
static size_t common_length(const char *a, const char *b)
{
    enum { KEPT = 6 };
    size_t n = 0;
    while (a[n] && a[n] == b[n])
        n++;
    n = n > KEPT ? n - KEPT : 0;
    while (n > 0 && ((unsigned char)a[n] & 0xc0) == 0x80) /* within a character */
        n--;
    return n;
}

static bool looks_like(const struct cuts *cuts, uint32_t a, uint32_t b)
{
    return cuts->texts[a] && cuts->texts[b] && !strcmp(cuts->texts[a], cuts->texts[b]) &&
           !strcmp(cuts->labels[a].place, cuts->labels[b].place);
}

bool report_tell_cuts_apart(const struct report *report, const struct report_term *term,
                            const int *widths, struct report_label *labels)
{
    uint32_t n = report->n_shown;
    struct cuts cuts = {report, labels, pm_alloc_array((size_t)n + 1, sizeof *cuts.texts)};
    uint32_t *order = pm_alloc_array((size_t)n + 1, sizeof *order);
    bool ok = cuts.texts && order;
    for (uint32_t r = 0; ok && r < n; r++) {
        order[r] = r;
        if (report_width(labels[r].brief) <= widths[r])
            continue;
        size_t len;
        FILE *out = open_memstream(&cuts.texts[r], &len);
        ok = out != NULL;
        if (out) {
            report_put_cut_middle(term, out, labels[r].brief, widths[r]);
            ok = fclose(out) == 0;
        }
    }
    if (ok)
        qsort_r(order, n, sizeof *order, compare_cuts, &cuts);
    for (uint32_t i = 1; ok && i < n; i++) {
        struct report_label *a = &labels[order[i - 1]], *b = &labels[order[i]];
        if (!looks_like(&cuts, order[i - 1], order[i]))
            continue;
        b->n_common = common_length(b->brief, a->brief);
        a->n_common = a->n_common ? a->n_common : b->n_common;
    }
    for (uint32_t r = 0; cuts.texts && r < n; r++)
        free(cuts.texts[r]);
    free(cuts.texts);
    free(order);
    return ok;
}

/* Not a part of the name: it tells nothing apart. */
static bool mark_inferred(struct report *report, const struct report_row *row,
                          struct report_label *label)
{
    static const char mark[] = ", mostly inferred";
    const char **names[] = {&label->full, &label->brief};
    if (!row->traits.is_mostly_inferred || report->options.tree)
        return true;
    for (int k = 0; k < 2; k++) {
        size_t len = strlen(*names[k]);
        char *copy = pm_arena_alloc(&report->arena, len + sizeof mark);
        if (!copy)
            return false;
        memcpy(copy, *names[k], len);
        memcpy(copy + len, mark, sizeof mark);
        *names[k] = copy;
    }
    return true;
}

/* Rows of a tree come depth first: a row's parent is the last one that was less deep. */
struct report_label *report_make_labels(struct report *report)
{
    uint32_t n = report->n_shown, depth = 0;
    uint32_t *path = pm_alloc_array((size_t)n + 1, sizeof *path);
    struct report_label *labels = pm_alloc_array((size_t)n + 1, sizeof *labels);
    bool ok = path && labels;
    for (uint32_t r = 0; ok && r < n; r++) {
        const struct report_row *row = &report->rows[r], *parent = NULL;
        if (report->options.tree) {
            while (depth > 0 && report->rows[path[depth - 1]].depth >= row->depth)
                depth--;
            parent = depth ? &report->rows[path[depth - 1]] : NULL;
            path[depth++] = r;
        }
        labels[r] = label_of(report, row, parent);
    }
    ok = ok && tell_all_apart(report, labels, path, false) &&
         tell_all_apart(report, labels, path, true);
    free(path);
    for (uint32_t r = 0; ok && r < n; r++)
        ok = mark_inferred(report, &report->rows[r], &labels[r]);
    if (!ok) {
        free(labels);
        labels = NULL;
    }
    return labels;
}
