/* The table of several sides; docs/diff.md explains it. */
#include "sides.h"

#include "cells.h"
#include "diff.h"
#include "show.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

enum { TEXT_BYTES = 64, GAP = 2 };

/* Of a row: A's amount, then the amount, the change and the verdict's mark of each other side. */
enum { AMOUNT, CHANGE, MARK, N_OF_COLUMN };

struct sides_table {
    const struct show_sides *sides;
    struct show_term term;
    FILE *out;
    struct show_scale scale;
    struct show_diff_rows shown;
    uint32_t n_lines, n_numbers; /* per line */
    char (*numbers)[TEXT_BYTES]; /* [n_lines][n_numbers]; the first is that of headings */
    const char **names, **places;
    int *widths; /* [n_numbers] */
    int what_width, place_width;
    struct pm_arena arena;
};

/* --- order --- */

/* Which of the columns differs most. */
static double largest(const struct show_sides *sides, uint32_t r, bool own)
{
    double most = 0;
    for (uint32_t i = 0; i < sides->n_columns; i++) {
        const struct pm_compare_row *row = &sides->columns[i].rows[r];
        double by = own ? row->own_difference : row->difference;
        if (!isnan(by) && fabs(by) > fabs(most))
            most = by;
    }
    return most;
}

struct place {
    double difference, size;
    uint32_t row;
};

static int compare_places(const void *a_pointer, const void *b_pointer)
{
    const struct place *a = a_pointer, *b = b_pointer;
    if (fabs(a->difference) != fabs(b->difference))
        return fabs(a->difference) > fabs(b->difference) ? -1 : 1;
    if (a->size != b->size)
        return a->size > b->size ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

static void reorder(struct pm_compare_row *rows, const struct place *places, uint32_t n,
                    struct pm_compare_row *room)
{
    for (uint32_t r = 0; r < n; r++)
        room[r] = rows[places[r].row];
    memcpy(rows, room, n * sizeof *rows);
}

bool show_sides_order(struct show_sides *sides)
{
    struct pm_comparison *whole = sides->whole;
    uint32_t n = whole->n_rows;
    struct place *places = pm_alloc_array((size_t)n + 1, sizeof *places);
    struct pm_compare_row *room = pm_alloc_array((size_t)n + 1, sizeof *room);
    bool good = places && room;
    for (uint32_t r = 0; good && r < n; r++) {
        whole->rows[r].difference = largest(sides, r, false);
        whole->rows[r].own_difference = largest(sides, r, true);
        places[r] = (struct place){whole->rows[r].difference, whole->rows[r].means[0], r};
    }
    if (good && n && !whole->is_tree) {
        qsort(places, n, sizeof *places, compare_places);
        reorder(whole->rows, places, n, room);
        for (uint32_t i = 0; i < sides->n_columns; i++)
            reorder(sides->columns[i].rows, places, n, room);
    }
    free(places);
    free(room);
    return good;
}

/* --- texts --- */

static char *number_at(const struct sides_table *t, uint32_t line, uint32_t column)
{
    return t->numbers[(size_t)line * t->n_numbers + column];
}

static void put_amount(const struct sides_table *t, const struct pm_compare_row *row, int side,
                       char *ret)
{
    if (row->states[side] == PM_COMPARE_ABSENT) {
        snprintf(ret, TEXT_BYTES, "-"); /* not in this build */
        return;
    }
    if (isnan(row->means[side]))
        return;
    const char *mark = row->is_at_least[side] ? show_at_least_mark(t->term.utf8) : "";
    const char *doubt = row->is_uncertain[side] ? "~" : "";
    snprintf(ret, TEXT_BYTES, "%s%s%.*f", mark, doubt, t->scale.decimals,
             row->means[side] / t->scale.divisor);
}

static const char *mark_of(const struct sides_table *t, const struct pm_compare_row *row)
{
    switch (row->verdict) {
    case PM_VERDICT_MORE:
        return t->term.utf8 ? "▲" : "^";
    case PM_VERDICT_LESS:
        return t->term.utf8 ? "▼" : "v";
    case PM_VERDICT_SAME:
        return "=";
    case PM_VERDICT_CANNOT_TELL:
        return "?";
    default:
        return "";
    }
}

static void put_column(const struct sides_table *t, uint32_t line, uint32_t i,
                       const struct pm_compare_row *row)
{
    uint32_t at = 1 + i * N_OF_COLUMN;
    put_amount(t, row, 1, number_at(t, line, at + AMOUNT));
    if (!isnan(row->change_pct))
        snprintf(number_at(t, line, at + CHANGE), TEXT_BYTES, "%+.1f %%", row->change_pct);
    else if (row->states[0] == PM_COMPARE_ABSENT && row->states[1] != PM_COMPARE_ABSENT)
        snprintf(number_at(t, line, at + CHANGE), TEXT_BYTES, "new");
    snprintf(number_at(t, line, at + MARK), TEXT_BYTES, "%s", mark_of(t, row));
}

static void put_headings(const struct sides_table *t)
{
    const char *unit = t->scale.unit, *blank = *unit ? " " : "";
    snprintf(number_at(t, 0, 0), TEXT_BYTES, "A%s%s", blank, unit);
    for (uint32_t i = 0; i < t->sides->n_columns; i++) {
        uint32_t at = 1 + i * N_OF_COLUMN;
        snprintf(number_at(t, 0, at + AMOUNT), TEXT_BYTES, "%c%s%s", (int)('B' + i), blank, unit);
        snprintf(number_at(t, 0, at + CHANGE), TEXT_BYTES, "change");
    }
}

/* In A, and where A has none in the first that has one. */
static const char *place_of(const struct pm_compare_row *row)
{
    const char *place = row->places[0] ? row->places[0] : row->places[1];
    return place ? place : "";
}

static const char *what_of(struct sides_table *t, uint32_t r)
{
    const struct pm_compare_row *row = &t->sides->whole->rows[r];
    if (!t->sides->whole->is_tree)
        return row->what;
    bool is_holder = t->shown.is_holder[r];
    const char *place = place_of(row), *line = *place == '{' ? NULL : strrchr(place, ':');
    struct pm_buf text = PM_BUF_INIT(1 << 20);
    pm_buf_printf(&text, "%*s%s%s", 2 * (int)row->depth, "", is_holder ? "[" : "", row->what);
    if (line) /* places take the room of names */
        pm_buf_printf(&text, " %s", line);
    if (is_holder)
        pm_buf_add_byte(&text, ']');
    const char *kept = text.failed ? NULL : pm_arena_strndup(&t->arena, text.data, text.len);
    pm_buf_release(&text);
    return kept;
}

static void put_row(struct sides_table *t, uint32_t line, uint32_t r)
{
    const struct show_sides *sides = t->sides;
    const struct pm_compare_row *row = &sides->whole->rows[r];
    put_amount(t, row, 0, number_at(t, line, 0));
    for (uint32_t i = 0; i < sides->n_columns; i++)
        put_column(t, line, i, &sides->columns[i].rows[r]);
    t->names[line] = what_of(t, r);
    t->places[line] = sides->whole->is_tree ? "" : place_of(row);
}

static bool make_texts(struct sides_table *t)
{
    const struct show_sides *sides = t->sides;
    t->n_numbers = 1 + sides->n_columns * N_OF_COLUMN;
    t->n_lines = t->shown.n + 2;
    t->numbers = pm_alloc_array((size_t)t->n_lines * t->n_numbers, sizeof *t->numbers);
    t->names = pm_alloc_array(t->n_lines, sizeof *t->names);
    t->places = pm_alloc_array(t->n_lines, sizeof *t->places);
    t->widths = pm_alloc_array(t->n_numbers, sizeof *t->widths);
    if (!t->numbers || !t->names || !t->places || !t->widths)
        return false;
    put_headings(t);
    t->names[0] = sides->whole->is_tree ? "call path" : "what";
    t->places[0] = sides->whole->is_tree ? "" : "where in A";
    bool good = true;
    for (uint32_t i = 0; i < t->shown.n; i++) {
        put_row(t, i + 1, t->shown.rows[i]);
        good &= t->names[i + 1] != NULL;
    }
    uint32_t last = t->n_lines - 1;
    put_amount(t, &sides->whole->total, 0, number_at(t, last, 0));
    for (uint32_t i = 0; i < sides->n_columns; i++)
        put_column(t, last, i, &sides->columns[i].total);
    t->names[last] = "total";
    t->places[last] = "";
    return good;
}

/* --- widths --- */

static void widen(int *width, const char *text)
{
    int wide = pm_text_width(text);
    *width = wide > *width ? wide : *width;
}

/* Long names make room for places; numbers are never cut. */
static void find_widths(struct sides_table *t)
{
    enum { WHAT_LEAST = 24, WHAT_MOST = 44, PLACE_LEAST = 10 };
    int room = t->term.width ? t->term.width : INT_MAX;
    for (uint32_t line = 0; line < t->n_lines; line++) {
        for (uint32_t k = 0; k < t->n_numbers; k++)
            widen(&t->widths[k], number_at(t, line, k));
        widen(&t->what_width, t->names[line]);
        widen(&t->place_width, t->places[line]);
    }
    for (uint32_t k = 0; k < t->n_numbers; k++)
        room -= t->widths[k] ? t->widths[k] + GAP : 0;
    if (!t->term.width)
        return;
    int left = room - (t->what_width < WHAT_MOST ? t->what_width : WHAT_MOST) - GAP;
    if (t->place_width > left)
        t->place_width = left < PLACE_LEAST ? 0 : left;
    if (t->place_width)
        room -= t->place_width + GAP;
    if (t->what_width > room)
        t->what_width = room > WHAT_LEAST ? room : WHAT_LEAST;
}

/* --- printing --- */

static const char *color_of(const struct sides_table *t, const char *mark)
{
    if (!t->term.color)
        return "";
    if (!strcmp(mark, "▲") || !strcmp(mark, "^"))
        return SHOW_RED;
    return !strcmp(mark, "▼") || !strcmp(mark, "v") ? SHOW_GREEN : "";
}

static void put_line(const struct sides_table *t, uint32_t line)
{
    for (uint32_t k = 0; k < t->n_numbers; k++) {
        const char *text = number_at(t, line, k);
        bool is_mark = k && (k - 1) % N_OF_COLUMN == MARK;
        const char *color = is_mark ? color_of(t, text) : "";
        if (t->widths[k])
            fprintf(t->out, "%*s%s%s%s%*s", t->widths[k] - pm_text_width(text), "", color, text,
                    *color ? SHOW_RESET : "", GAP, "");
    }
    if (t->place_width) {
        show_put_cut(&t->term, t->out, t->places[line], t->place_width, true, true);
        fprintf(t->out, "%*s", GAP, "");
    }
    show_put_cut_middle(&t->term, t->out, t->names[line], t->what_width);
    fputc('\n', t->out);
}

static void put_rule(const struct sides_table *t)
{
    int width = t->what_width + (t->place_width ? t->place_width + GAP : 0);
    for (uint32_t k = 0; k < t->n_numbers; k++)
        width += t->widths[k] ? t->widths[k] + GAP : 0;
    for (int i = 0; i < width; i++)
        fputs(t->term.utf8 ? "─" : "-", t->out);
    fputc('\n', t->out);
}

static void put_side(const struct sides_table *t, char letter, const struct pm_compare_side *side)
{
    const char *bold = t->term.color ? SHOW_BOLD : "";
    struct pm_buf text = PM_BUF_INIT(1 << 16);
    pm_buf_add_printable(&text, side->runs[0].path, strlen(side->runs[0].path));
    if (side->n_runs > 1)
        pm_buf_printf(&text, " and %u more", side->n_runs - 1);
    pm_buf_add_str(&text, t->term.utf8 ? " · " : ", ");
    pm_buf_add_printable(&text, side->runs[0].command, strlen(side->runs[0].command));
    pm_buf_add_byte(&text, 0);
    fprintf(t->out, "%s%c%s  ", bold, letter, *bold ? SHOW_RESET : "");
    if (!text.failed)
        show_put_cut_middle(&t->term, t->out, text.data, t->term.width ? t->term.width - 3 : 160);
    fputc('\n', t->out);
    pm_buf_release(&text);
}

static void put_head(const struct sides_table *t)
{
    const struct pm_comparison *c = t->sides->whole;
    put_side(t, 'A', &c->sides[0]);
    for (uint32_t i = 0; i < t->sides->n_columns; i++)
        put_side(t, (char)('B' + i), &t->sides->columns[i].sides[1]);
    for (uint32_t i = 0; i < c->n_notes; i++)
        show_put_wrapped(&t->term, t->out, "  note: ", c->notes[i]);
    const char *paths = c->is_tree ? "call paths of " : "";
    const char *inclusive = c->is_inclusive ? "inclusive " : "";
    fprintf(t->out, "\n%s level, %s%s, %s%s; changes are of A\n\n", c->level_name, paths,
            pm_view_by_prose(c->options.view.by), inclusive, show_diff_metric(c));
}

static void put_hints(const struct sides_table *t)
{
    const struct pm_comparison *whole = t->sides->whole;
    char text[256];
    bool judged = false;
    for (uint32_t i = 0; i < t->sides->n_columns; i++)
        judged |= t->sides->columns[i].is_judged;
    const char *more = t->term.utf8 ? "▲" : "^";
    const char *less = t->term.utf8 ? "▼" : "v";
    snprintf(text, sizeof text,
             "%s more than A, and no noise; %s less; = the same within %g %%; ? cannot tell", more,
             less, whole->options.least_pct);
    show_put_wrapped(&t->term, t->out, "", judged ? text : show_diff_few_runs);
    if (t->shown.n < whole->n_rows) {
        snprintf(text, sizeof text, "(%u more rows: --limit 0)", whole->n_rows - t->shown.n);
        show_put_wrapped(&t->term, t->out, "", text);
    }
}

bool show_sides_table(const struct show_sides *sides, uint64_t limit, const struct show_look *look,
                      FILE *out)
{
    struct sides_table t = {.sides = sides, .term = show_term_of(out, look), .out = out};
    if (!show_diff_choose(sides->whole, limit, &t.shown))
        return false;
    double most = sides->whole->total.means[0];
    for (uint32_t i = 0; i < sides->n_columns; i++)
        most = fmax(most, sides->columns[i].total.means[1]);
    t.scale = show_scale_of(&sides->whole->metric, most, t.term.utf8);
    bool good = make_texts(&t);
    if (good) {
        find_widths(&t);
        put_head(&t);
        put_line(&t, 0);
        put_rule(&t);
        for (uint32_t line = 1; line + 1 < t.n_lines; line++)
            put_line(&t, line);
        put_rule(&t);
        put_line(&t, t.n_lines - 1);
        put_hints(&t);
    }
    free(t.numbers);
    free(t.names);
    free(t.places);
    free(t.widths);
    show_diff_rows_release(&t.shown);
    pm_arena_release(&t.arena);
    return good;
}
