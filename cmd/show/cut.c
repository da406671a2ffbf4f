/* Names that a table has no room for: parameters go first, then the middle of template
 * arguments, and no two look alike. */
#include "show.h"

#include "mapping/base/cxx_name.h"

#include <stdlib.h>

enum { MAX_PARTS = 16, MAX_ALIKE = 64 /* of more, each gets a number */ };

struct cutting {
    const struct pm_view *report;
    const struct show_term *term;
    const int *widths;
    int place_width;
    struct pm_view_label *labels;
    const char *dots;
    int dots_width;
    bool by_letters; /* all rows that can be are bare */
};

/* --- one name --- */

/* The text in exactly as many columns, from its middle. Memory may end: out->failed. */
static void add_cut_middle(const struct cutting *cutting, const char *text, int width,
                           struct pm_buf *out)
{
    char *cut = NULL;
    size_t len;
    FILE *file = open_memstream(&cut, &len);
    if (file)
        show_put_cut_middle(cutting->term, file, text, width);
    if (file && fclose(file) == 0)
        pm_buf_add_str(out, cut);
    else
        out->failed = true;
    free(cut);
}

/* At most so many of the columns at the beginning of the text, or at its end. */
static size_t bytes_of_columns(const char *p, size_t len, int width, bool at_end)
{
    size_t n = 0;
    for (size_t i = 1; i <= len; i++) {
        const char *edge = at_end ? p + len - i : p + i;
        if (i < len && ((unsigned char)*edge & 0xc0) == 0x80)
            continue; /* within a character */
        if (pm_text_width_n(at_end ? edge : p, i) > width)
            break;
        n = i;
    }
    return n;
}

/* "<std::pair<int, Node>, Pool<int>>" in 16 columns: "<std::p…ol<int>>". */
static void add_arguments(const struct cutting *cutting, struct pm_str arguments, int width,
                          struct pm_buf *out)
{
    const char *p = arguments.p + 1;
    size_t len = arguments.len - 2;
    if (pm_text_width_n(p, len) + 2 <= width) {
        pm_buf_add(out, arguments.p, arguments.len);
        return;
    }
    int room = width - 2 - cutting->dots_width, tail = room / 2;
    size_t n_head = bytes_of_columns(p, len, room - tail, false),
           n_tail = bytes_of_columns(p, len, tail, true);
    pm_buf_printf(out, "<%.*s%s", (int)n_head, p, cutting->dots);
    pm_buf_add(out, p + len - n_tail, n_tail + 1);
}

/* A name of C++, whole: what it is made of. n_with: parts with template arguments, of
 * arguments_width in all. */
struct anatomy {
    struct pm_cxx_part parts[MAX_PARTS];
    size_t n, n_with;
    int arguments_width;
};

static void dissect(const char *name, struct anatomy *ret)
{
    ret->n = pm_cxx_parts(name, strlen(name), ret->parts, MAX_PARTS);
    ret->n_with = 0;
    ret->arguments_width = 0;
    for (size_t i = 0; i < ret->n; i++)
        if (ret->parts[i].arguments.len > 2) {
            ret->n_with++;
            ret->arguments_width +=
                pm_text_width_n(ret->parts[i].arguments.p, ret->parts[i].arguments.len);
        }
}

static size_t n_with_from(const struct anatomy *name, size_t first)
{
    size_t n = 0;
    for (size_t i = first; i < name->n; i++)
        n += name->parts[i].arguments.len > 2;
    return n;
}

/* The name from a part on; template arguments share so much room. */
static void add_from(const struct cutting *cutting, const char *p, const struct anatomy *name,
                     size_t first, int room, struct pm_buf *out)
{
    size_t n_left = n_with_from(name, first);
    for (size_t i = first; i < name->n; i++) {
        struct pm_str arguments = name->parts[i].arguments;
        if (arguments.len <= 2)
            continue;
        int has = pm_text_width_n(arguments.p, arguments.len), share = room / (int)n_left--;
        int width = has < share ? has : share;
        pm_buf_add(out, p, (size_t)(arguments.p - p));
        add_arguments(cutting, arguments, width, out);
        room -= width;
        p = arguments.p + arguments.len;
    }
    pm_buf_add_str(out, p);
}

/* Template arguments share what room the names between them leave. When not even `<…>` fits,
 * what the name is a member of goes. false: it has no template arguments. */
static bool add_template(const struct cutting *cutting, const char *text, int width,
                         struct pm_buf *out)
{
    struct anatomy name;
    dissect(text, &name);
    int least = 2 + cutting->dots_width, room = width - pm_text_width(text) + name.arguments_width;
    if (name.n_with == 0)
        return false;
    if (room >= (int)name.n_with * least) {
        add_from(cutting, text, &name, 0, room, out);
        return true;
    }
    bool is_whole = name.parts[0].name.p == text;
    for (size_t first = 0; first < (is_whole ? name.n : 1); first++) {
        const char *start = first ? name.parts[first].name.p : text;
        int n = (int)n_with_from(&name, first), left = 0;
        for (int round = 0; round < 2 && left >= 0; round++) {
            pm_buf_clear(out);
            pm_buf_add_str(out, first ? cutting->dots : "");
            add_from(cutting, start, &name, first, n * least + left, out);
            left = out->failed ? -1 : width - pm_text_width(out->data);
        }
        if (left >= 0)
            return true;
    }
    char *copy = out->failed ? NULL : pm_strndup(out->data, out->len);
    pm_buf_clear(out);
    if (copy)
        add_cut_middle(cutting, copy, width, out);
    out->failed |= !copy;
    free(copy);
    return true;
}

/* The text without its parameters, which tell nothing when they are "(...)", nor does a "const"
 * behind them; to be freed. */
static char *without_parameters(const char *text)
{
    static const char parameters[] = "(...)";
    struct pm_buf out = PM_BUF_INIT(1 << 20);
    const char *at = strstr(text, parameters);
    const char *rest = at ? at + sizeof parameters - 1 : "";
    pm_buf_add(&out, text, at ? (size_t)(at - text) : strlen(text));
    pm_buf_add_str(&out, *rest == ' ' ? "" : rest);
    return pm_buf_take(&out);
}

static void add_cut(const struct cutting *cutting, const char *text, int width, struct pm_buf *out)
{
    char *name = without_parameters(text);
    if (!name)
        out->failed = true;
    else if (pm_text_width(name) <= width)
        pm_buf_add_str(out, name);
    else if (!add_template(cutting, name, width, out))
        add_cut_middle(cutting, name, width, out);
    free(name);
}

static const char *keep(const struct cutting *cutting, struct pm_buf *out)
{
    struct pm_arena *arena = (struct pm_arena *)&cutting->report->arena;
    const char *text =
        out->failed ? NULL : pm_arena_strndup(arena, out->data ? out->data : "", out->len);
    pm_buf_release(out);
    return text;
}

/* In full, in brief, without what a letter says, cut: the first that fits. */
static bool fit(const struct cutting *cutting, uint32_t r)
{
    struct pm_view_label *label = &cutting->labels[r];
    struct pm_buf out = PM_BUF_INIT(1 << 20);
    int width = cutting->widths[r];
    bool only_bare = cutting->by_letters && label->kind_mark;
    label->text = only_bare                              ? NULL
                  : pm_text_width(label->full) <= width  ? label->full
                  : pm_text_width(label->brief) <= width ? label->brief
                                                         : NULL;
    label->is_bare = !label->text && label->kind_mark;
    if (!label->text && pm_text_width(label->bare) <= width)
        label->text = label->bare;
    if (label->text)
        return true;
    add_cut(cutting, label->bare, width, &out);
    label->text = keep(cutting, &out);
    return label->text != NULL;
}

/* --- those that look alike --- */

/* Of a place that does not fit, folders go first. */
static const char *place_shown(const struct cutting *cutting, const struct pm_view_label *label)
{
    return pm_text_width(label->place) > cutting->place_width ? label->base : label->place;
}

static int compare_looks(const void *a_pointer, const void *b_pointer, void *context)
{
    const struct cutting *cutting = context;
    uint32_t a = *(const uint32_t *)a_pointer, b = *(const uint32_t *)b_pointer;
    const struct pm_view_label *x = &cutting->labels[a], *y = &cutting->labels[b];
    int text = strcmp(x->text, y->text),
        place = strcmp(place_shown(cutting, x), place_shown(cutting, y));
    int mark = (x->is_bare ? x->kind_mark : 0) - (y->is_bare ? y->kind_mark : 0);
    int parent = cutting->report->options.tree
                     ? (cutting->report->rows[a].parent_id > cutting->report->rows[b].parent_id) -
                           (cutting->report->rows[a].parent_id < cutting->report->rows[b].parent_id)
                     : 0;
    return parent ? parent : place ? place : text ? text : mark;
}

static int compare_order(const void *a_pointer, const void *b_pointer, void *context)
{
    int looks = compare_looks(a_pointer, b_pointer, context);
    uint32_t a = *(const uint32_t *)a_pointer, b = *(const uint32_t *)b_pointer;
    return looks ? looks : (a > b) - (a < b);
}

/* How much of its beginning a name has in common with all of these, but for a few characters
 * before they differ. */
static size_t common_length(const struct cutting *cutting, const uint32_t *rows, uint32_t n)
{
    enum { KEPT = 4 };
    const char *first = cutting->labels[rows[0]].bare;
    size_t common = strlen(first);
    for (uint32_t i = 1; i < n; i++) {
        const char *other = cutting->labels[rows[i]].bare;
        size_t same = 0;
        while (same < common && first[same] == other[same])
            same++;
        common = same;
    }
    common = common > KEPT ? common - KEPT : 0;
    while (common > 0 && ((unsigned char)first[common] & 0xc0) == 0x80) /* within a character */
        common--;
    return common;
}

/* A few characters of the beginning, and from where it differs. */
static bool cut_where_it_differs(const struct cutting *cutting, uint32_t r, size_t common)
{
    enum { HEAD = 6, ROOM = 18 };
    struct pm_view_label *label = &cutting->labels[r];
    struct pm_buf out = PM_BUF_INIT(1 << 20);
    int width = cutting->widths[r] - cutting->dots_width;
    size_t head = width >= HEAD + ROOM && common > HEAD
                      ? bytes_of_columns(label->bare, common, HEAD, false)
                      : 0;
    pm_buf_add(&out, label->bare, head);
    pm_buf_add_str(&out, common > head ? cutting->dots : "");
    char *cut = NULL;
    size_t len;
    FILE *file = open_memstream(&cut, &len);
    if (file)
        show_put_cut(cutting->term, file, label->bare + common,
                     width - pm_text_width_n(label->bare, head), false, false);
    out.failed |= !file || fclose(file) != 0;
    pm_buf_add_str(&out, out.failed ? "" : cut);
    free(cut);
    label->text = keep(cutting, &out);
    label->is_bare = label->kind_mark;
    return label->text != NULL;
}

/* "parse_the_whole… 2" */
static bool cut_to_number(const struct cutting *cutting, uint32_t r, uint32_t number)
{
    struct pm_view_label *label = &cutting->labels[r];
    struct pm_buf out = PM_BUF_INIT(1 << 20);
    char text[32];
    int width = cutting->widths[r] - snprintf(text, sizeof text, " %u", number);
    add_cut(cutting, label->bare, width > 4 ? width : 4, &out);
    pm_buf_add_str(&out, text);
    label->text = keep(cutting, &out);
    label->is_bare = label->kind_mark;
    return label->text != NULL;
}

/* Rows that look alike, as far as the same text can be: calls f for each such set of the order. */
static uint32_t n_alike(const struct cutting *cutting, const uint32_t *order, uint32_t n)
{
    uint32_t same = 1;
    while (same < n && compare_looks(order, order + same, (void *)cutting) == 0)
        same++;
    return same;
}

/* Of each set of rows that look alike but are named differently. */
static bool tell_apart(const struct cutting *cutting, uint32_t *order, uint32_t n, bool by_number)
{
    bool ok = true;
    qsort_r(order, n, sizeof *order, compare_order, (void *)cutting);
    for (uint32_t i = 0, same; ok && i < n; i += same) {
        same = n_alike(cutting, order + i, n - i);
        if (same == 1 || (!by_number && same > MAX_ALIKE))
            continue;
        size_t common = common_length(cutting, order + i, same);
        for (uint32_t k = 0; ok && k < same; k++)
            ok = by_number ? cut_to_number(cutting, order[i + k], k + 1)
                           : cut_where_it_differs(cutting, order[i + k], common);
    }
    return ok;
}

static bool fit_all(const struct cutting *cutting, uint32_t *order, uint32_t n)
{
    bool ok = true;
    for (uint32_t r = 0; ok && r < n; r++) {
        order[r] = r;
        ok = fit(cutting, r);
    }
    return ok && tell_apart(cutting, order, n, false) && tell_apart(cutting, order, n, true);
}

static bool has_bare(const struct pm_view_label *labels, uint32_t n)
{
    for (uint32_t r = 0; r < n; r++)
        if (labels[r].is_bare)
            return true;
    return false;
}

/* Who reads "o" in one row takes a row without it for something else: one letter makes letters
 * of all such words. */
bool show_fit_labels(struct pm_view *report, const struct show_term *term, const int *widths,
                     int place_width, struct pm_view_label *labels)
{
    uint32_t n = report->n_shown;
    struct cutting cutting = {
        report, term, widths, place_width, labels, term->utf8 ? "…" : "..", term->utf8 ? 1 : 2,
        false};
    uint32_t *order = pm_alloc_array((size_t)n + 1, sizeof *order);
    bool ok = order != NULL && fit_all(&cutting, order, n);
    if (ok && has_bare(labels, n)) {
        cutting.by_letters = true;
        ok = fit_all(&cutting, order, n);
    }
    free(order);
    return ok;
}
