/* The table of a comparison: docs/diff.md explains it. */
#include "diff.h"

#include "cells.h"
#include "show.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

enum { TEXT_BYTES = 64, GAP = 2 };

enum column { A, B, DIFFERENCE, OWN, CHANGE, INTERVAL, VERDICT, PLACE, WHAT, N_COLUMNS };

struct texts {
    char numbers[PLACE][TEXT_BYTES];
    const char *place, *what;
    const char *what_at; /* of a tree: with its line, for where there is no room for places */
};

struct table {
    const struct pm_comparison *c;
    const struct show_diff_options *options;
    struct show_term term;
    FILE *out;
    struct show_scale scale;
    struct show_diff_rows shown;
    struct texts *texts; /* of the rows that are shown, the rest, the total */
    uint32_t n_texts;
    int widths[N_COLUMNS];
    char headings[N_COLUMNS][TEXT_BYTES];
    struct pm_arena arena;
};

/* --- texts of cells --- */

static void put_number(const struct table *t, double value, bool is_at_least, bool is_uncertain,
                       bool has_sign, char ret[TEXT_BYTES])
{
    if (isnan(value))
        return;
    const char *mark = is_at_least ? show_at_least_mark(t->term.utf8) : "";
    const char *doubt = is_uncertain ? "~" : "";
    const char *sign = has_sign && value > 0 ? "+" : "";
    double shown = value / t->scale.divisor, least = pow(10, -t->scale.decimals);
    if (t->scale.decimals && value != 0 && fabs(shown) < least / 2) { /* it is not 0 */
        sign = value < 0 ? "> -" : "< ";
        shown = least;
    }
    snprintf(ret, TEXT_BYTES, "%s%s%s%.*f", mark, doubt, sign, t->scale.decimals, shown);
}

static void put_amount(const struct table *t, const struct pm_compare_row *row, int side,
                       char ret[TEXT_BYTES])
{
    if (row->states[side] == PM_COMPARE_ABSENT)
        snprintf(ret, TEXT_BYTES, "-"); /* not in this build */
    else
        put_number(t, row->means[side], row->is_at_least[side], row->is_uncertain[side], false,
                   ret);
}

static void put_change(const struct pm_compare_row *row, char ret[TEXT_BYTES])
{
    if (row->states[0] == PM_COMPARE_ABSENT)
        snprintf(ret, TEXT_BYTES, "new");
    else if (row->states[1] == PM_COMPARE_ABSENT)
        snprintf(ret, TEXT_BYTES, "gone");
    else if (!isnan(row->change_pct))
        snprintf(ret, TEXT_BYTES, "%+.1f %%", row->change_pct);
}

static void put_interval(const struct pm_compare_row *row, char ret[TEXT_BYTES])
{
    if (isfinite(row->low_pct) && isfinite(row->high_pct))
        snprintf(ret, TEXT_BYTES, "[%+.1f, %+.1f]", row->low_pct, row->high_pct);
}

static void put_verdict(const struct table *t, const struct pm_compare_row *row,
                        char ret[TEXT_BYTES])
{
    const char *word = pm_verdict_word(row->verdict, &t->c->metric);
    if (row->verdict == PM_VERDICT_CANNOT_TELL && isfinite(row->seen_pct))
        snprintf(ret, TEXT_BYTES, "%s (< %.0f %%)", word, ceil(row->seen_pct));
    else
        snprintf(ret, TEXT_BYTES, "%s", word);
}

/* "heat.c:22 -> :27", and one place where both are equal. */
static const char *place_of(struct table *t, const struct pm_compare_row *row)
{
    const char *a = row->places[0], *b = row->places[1];
    const char *arrow = t->term.utf8 ? "→" : "->";
    if (!a && !b)
        return "";
    if (!a || !b || !strcmp(a, b))
        return a ? a : b;
    const char *line = strrchr(b, ':');
    bool same_file = line && *b != '{' && !strncmp(a, b, (size_t)(line - b) + 1);
    struct pm_buf text = PM_BUF_INIT(1 << 20);
    pm_buf_printf(&text, "%s %s %s", a, arrow, same_file ? line : b);
    const char *kept = text.failed ? NULL : pm_arena_strndup(&t->arena, text.data, text.len);
    pm_buf_release(&text);
    return kept;
}

static bool add_texts(struct table *t, const struct pm_compare_row *row, const char *what)
{
    struct texts *texts = &t->texts[t->n_texts++];
    put_amount(t, row, 0, texts->numbers[A]);
    put_amount(t, row, 1, texts->numbers[B]);
    put_number(t, row->difference, false, false, true, texts->numbers[DIFFERENCE]);
    if (t->c->is_inclusive && row != &t->c->total)
        put_number(t, row->own_difference, false, false, true, texts->numbers[OWN]);
    put_change(row, texts->numbers[CHANGE]);
    put_interval(row, texts->numbers[INTERVAL]);
    put_verdict(t, row, texts->numbers[VERDICT]);
    texts->place = place_of(t, row);
    texts->what = what;
    return texts->place && what;
}

/* --- rows that are not shown --- */

static double plus(double sum, double value)
{
    return isnan(value) ? sum : sum + value;
}

static struct pm_compare_row rest_of(const struct table *t)
{
    struct pm_compare_row rest = {
        .change_pct = NAN, .low_pct = NAN, .high_pct = NAN, .seen_pct = NAN};
    if (t->c->is_inclusive) { /* which do not add up */
        rest.means[0] = rest.means[1] = rest.difference = rest.own_difference = NAN;
        return rest;
    }
    for (uint32_t r = t->shown.n; r < t->c->n_rows; r++)
        for (int side = 0; side < 2; side++)
            rest.means[side] = plus(rest.means[side], t->c->rows[r].means[side]);
    rest.difference = rest.means[1] - rest.means[0];
    if (rest.means[0] > 0)
        rest.change_pct = 100 * rest.difference / rest.means[0];
    return rest;
}

static bool add_rest(struct table *t)
{
    uint32_t n = t->c->n_rows - t->shown.n;
    char what[TEXT_BYTES];
    struct pm_compare_row rest = rest_of(t);
    if (!n)
        return true;
    snprintf(what, sizeof what, "(%u more row%s: --limit 0)", n, n == 1 ? "" : "s");
    return add_texts(t, &rest, pm_arena_strndup(&t->arena, what, strlen(what)));
}

static const struct pm_compare_row *row_at(const struct table *t, uint32_t i)
{
    return &t->c->rows[t->shown.rows[i]];
}

/* Of a tree: indented, and in brackets where it is shown for what lies in it. "relax, ~ sweep
 * before": it was renamed, likely. */
static const char *what_of(struct table *t, uint32_t i, const char *line)
{
    const struct pm_compare_row *row = row_at(t, i);
    bool is_holder = t->shown.is_holder[t->shown.rows[i]];
    if (!t->c->is_tree && !row->was && !row->joined)
        return row->what;
    struct pm_buf text = PM_BUF_INIT(1 << 20);
    int indent = t->c->is_tree ? 2 * (int)row->depth : 0;
    pm_buf_printf(&text, "%*s%s%s%s", indent, "", is_holder ? "[" : "", row->what, line);
    if (row->was) {
        pm_buf_add_str(&text, row->is_likely ? ", ~ " : ", ");
        pm_buf_add_printable(&text, row->was, strlen(row->was));
        pm_buf_add_str(&text, " before");
    }
    if (row->joined && *row->joined)
        pm_buf_printf(&text, "; %s", row->joined);
    if (is_holder)
        pm_buf_add_byte(&text, ']');
    const char *kept = text.failed ? NULL : pm_arena_strndup(&t->arena, text.data, text.len);
    pm_buf_release(&text);
    return kept;
}

/* " :21" of the place that B has, where it has one; NULL: memory. */
static const char *line_of(struct table *t, const struct pm_compare_row *row)
{
    const char *place = row->places[1] ? row->places[1] : row->places[0];
    const char *line = place && *place != '{' ? strrchr(place, ':') : NULL;
    char text[TEXT_BYTES];
    if (!line)
        return "";
    snprintf(text, sizeof text, " %s", line);
    return pm_arena_strndup(&t->arena, text, strlen(text));
}

static bool add_row(struct table *t, uint32_t i)
{
    if (!add_texts(t, row_at(t, i), what_of(t, i, "")))
        return false;
    const char *line = line_of(t, row_at(t, i));
    const char *what_at = line ? what_of(t, i, line) : NULL;
    t->texts[t->n_texts - 1].what_at = what_at;
    return what_at != NULL;
}

static bool make_texts(struct table *t)
{
    t->texts = pm_alloc_array((size_t)t->shown.n + 2, sizeof *t->texts);
    bool good = t->texts != NULL;
    for (uint32_t i = 0; good && i < t->shown.n; i++)
        good = add_row(t, i);
    good = good && add_rest(t) && add_texts(t, &t->c->total, t->c->total.what);
    return good;
}

/* --- columns --- */

static void name_columns(struct table *t)
{
    const char *unit = t->scale.unit, *blank = *unit ? " " : "";
    const char *delta = t->term.utf8 ? "Δ" : "diff";
    snprintf(t->headings[A], TEXT_BYTES, "A%s%s", blank, unit);
    snprintf(t->headings[B], TEXT_BYTES, "B%s%s", blank, unit);
    snprintf(t->headings[OWN], TEXT_BYTES, "%s own", delta);
    snprintf(t->headings[DIFFERENCE], TEXT_BYTES, "%s%s%s", delta, blank, unit);
    snprintf(t->headings[CHANGE], TEXT_BYTES, "change");
    snprintf(t->headings[INTERVAL], TEXT_BYTES, "95 %% interval");
    snprintf(t->headings[VERDICT], TEXT_BYTES, "verdict");
    snprintf(t->headings[PLACE], TEXT_BYTES, "where");
    snprintf(t->headings[WHAT], TEXT_BYTES, t->c->is_tree ? "call path" : "what");
}

static void widen(int *width, const char *text)
{
    int wide = pm_text_width(text);
    *width = wide > *width ? wide : *width;
}

/* What is left for places and names when the numbers have what they need. */
static int room_of(const struct table *t)
{
    int room = t->term.width ? t->term.width : INT_MAX;
    for (int k = A; k < PLACE; k++)
        room -= t->widths[k] ? t->widths[k] + GAP : 0;
    return t->widths[PLACE] ? room : room + GAP; /* nothing stands where no place does */
}

/* "cannot tell" for "cannot tell (< 20 %)". */
static void shorten_verdicts(struct table *t)
{
    t->widths[VERDICT] = pm_text_width(t->headings[VERDICT]);
    for (uint32_t i = 0; i < t->n_texts; i++) {
        t->texts[i].numbers[VERDICT][strcspn(t->texts[i].numbers[VERDICT], "(")] = 0;
        widen(&t->widths[VERDICT], t->texts[i].numbers[VERDICT]);
    }
}

static void put_lines_to_names(struct table *t)
{
    t->widths[PLACE] = 0;
    for (uint32_t i = 0; i < t->shown.n; i++) {
        t->texts[i].what = t->texts[i].what_at;
        widen(&t->widths[WHAT], t->texts[i].what);
    }
}

/* Names of a tree need room for what they lie in, and say more than places. */
static void fit_tree(struct table *t, int wanted)
{
    enum { PLACE_LEAST_OF_TREE = 14, NAMES_LEAST_OF_TREE = 30 };
    if (room_of(t) < wanted && t->widths[VERDICT])
        shorten_verdicts(t);
    int left = room_of(t) - t->widths[WHAT] - GAP;
    if (t->widths[PLACE] > left && left < PLACE_LEAST_OF_TREE)
        put_lines_to_names(t);
    else if (t->widths[PLACE] > left)
        t->widths[PLACE] = left;
    if (room_of(t) < t->widths[WHAT] && room_of(t) < NAMES_LEAST_OF_TREE)
        t->widths[CHANGE] = 0;
}

/* The interval goes first; then places and names share the room. */
static void fit(struct table *t)
{
    enum { NAMES_LEAST = 50, PLACE_LEAST = 8 };
    if (t->term.whole)
        return;
    if (!t->term.width && t->widths[PLACE] > SHOW_PLACE_MOST)
        t->widths[PLACE] = SHOW_PLACE_MOST;
    int wanted = t->widths[PLACE] + GAP + t->widths[WHAT];
    if (room_of(t) < wanted && room_of(t) < NAMES_LEAST)
        t->widths[INTERVAL] = 0;
    if (t->c->is_tree && t->term.width)
        fit_tree(t, wanted);
    wanted = t->widths[PLACE] + GAP + t->widths[WHAT];
    int room = room_of(t);
    if (room >= wanted)
        return;
    int half = room / 2 > PLACE_LEAST ? room / 2 : PLACE_LEAST;
    t->widths[PLACE] = t->widths[PLACE] > half ? half : t->widths[PLACE];
    int most = t->term.width ? room - t->widths[PLACE] - GAP : SHOW_NAME_MOST;
    t->widths[WHAT] = t->widths[WHAT] > most ? most : t->widths[WHAT];
}

static void find_widths(struct table *t)
{
    for (uint32_t i = 0; i < t->n_texts; i++) {
        for (int k = A; k < PLACE; k++)
            widen(&t->widths[k], t->texts[i].numbers[k]);
        widen(&t->widths[PLACE], t->texts[i].place);
        widen(&t->widths[WHAT], t->texts[i].what);
    }
    for (int k = A; k < N_COLUMNS; k++)
        if (t->widths[k])
            widen(&t->widths[k], t->headings[k]);
    fit(t);
}

static const char *color_of(const struct table *t, const struct pm_compare_row *row)
{
    if (!t->term.color || !row)
        return "";
    if (row->verdict == PM_VERDICT_MORE)
        return SHOW_RED;
    if (row->verdict == PM_VERDICT_LESS)
        return SHOW_GREEN;
    bool is_holder = row != &t->c->total && t->shown.is_holder[row - t->c->rows];
    return t->c->is_tree && (is_holder || pm_compare_is_of_one_side(row)) ? SHOW_DIM : "";
}

static void put_line(const struct table *t, const struct texts *texts, const char *color)
{
    for (int k = A; k < PLACE; k++) {
        const char *text = texts->numbers[k], *reset = *color ? SHOW_RESET : "";
        int pad = t->widths[k] - pm_text_width(text);
        int left = k == VERDICT ? 0 : pad;
        if (t->widths[k])
            fprintf(t->out, "%*s%s%s%s%*s  ", left, "", color, text, reset, pad - left, "");
    }
    if (t->widths[PLACE]) {
        show_put_cut(&t->term, t->out, texts->place, t->widths[PLACE], true, true);
        fputs("  ", t->out);
    }
    bool is_dim = !strcmp(color, SHOW_DIM); /* other colours are of numbers */
    fputs(is_dim ? SHOW_DIM : "", t->out);
    show_put_cut_middle(&t->term, t->out, texts->what, t->widths[WHAT]);
    fputs(is_dim ? SHOW_RESET "\n" : "\n", t->out);
}

static void put_rule(const struct table *t)
{
    int width = -2;
    for (int k = A; k < N_COLUMNS; k++)
        width += t->widths[k] ? t->widths[k] + 2 : 0;
    for (int i = 0; i < width; i++)
        fputs(t->term.utf8 ? "─" : "-", t->out);
    fputc('\n', t->out);
}

static void put_headings(const struct table *t)
{
    struct texts texts = {.place = t->headings[PLACE], .what = t->headings[WHAT]};
    for (int k = A; k < PLACE; k++)
        if (t->widths[k])
            memcpy(texts.numbers[k], t->headings[k], TEXT_BYTES);
    put_line(t, &texts, "");
    put_rule(t);
}

static void put_rows(const struct table *t)
{
    for (uint32_t i = 0; i + 1 < t->n_texts; i++)
        put_line(t, &t->texts[i], color_of(t, i < t->shown.n ? row_at(t, i) : NULL));
    put_rule(t);
    put_line(t, &t->texts[t->n_texts - 1], color_of(t, &t->c->total));
}

/* --- above and below it --- */

static void put_side(const struct table *t, int side)
{
    const struct pm_compare_side *of = &t->c->sides[side];
    const char *bold = t->term.color ? SHOW_BOLD : "";
    const char *plain = t->term.color ? SHOW_RESET : "";
    fprintf(t->out, "%s%c%s  ", bold, "AB"[side], plain);
    struct pm_buf text = PM_BUF_INIT(1 << 16);
    pm_buf_add_printable(&text, of->runs[0].path, strlen(of->runs[0].path));
    if (of->n_runs > 1)
        pm_buf_printf(&text, " and %u more", of->n_runs - 1);
    pm_buf_add_str(&text, t->term.utf8 ? " · " : ", ");
    pm_buf_add_printable(&text, of->runs[0].command, strlen(of->runs[0].command));
    pm_buf_add_byte(&text, 0);
    if (!text.failed)
        show_put_cut_middle(&t->term, t->out, text.data, t->term.width ? t->term.width - 3 : 160);
    fputc('\n', t->out);
    pm_buf_release(&text);
}

const char show_diff_few_runs[] =
    "with fewer than 4 runs on each side nobody knows what is noise: differences are shown, and "
    "nothing is said of them";

static void put_notes(const struct table *t)
{
    for (uint32_t i = 0; i < t->c->n_notes; i++)
        show_put_wrapped(&t->term, t->out, "  note: ", t->c->notes[i]);
    const char *few = t->options->few_runs;
    if (!t->c->is_judged)
        show_put_wrapped(&t->term, t->out, "  note: ", few ? few : show_diff_few_runs);
    if (t->c->n_fine) {
        char text[160];
        snprintf(text, sizeof text,
                 "%u builds: of what lies in functions of one name, %u of %u constructs were found "
                 "again",
                 t->c->n_builds, t->c->n_matched, t->c->n_fine);
        show_put_wrapped(&t->term, t->out, "  ", text);
    }
}

const char *show_diff_metric(const struct pm_comparison *comparison)
{
    return comparison->is_sampled ? "CPU time by samples" : comparison->metric.name;
}

static void put_head(const struct table *t)
{
    const struct pm_comparison *c = t->c;
    put_side(t, 0);
    put_side(t, 1);
    put_notes(t);
    if (t->options->heading) {
        fputc('\n', t->out);
        if (*t->options->heading) {
            show_put_wrapped(&t->term, t->out, "", t->options->heading);
            fputc('\n', t->out);
        }
        return;
    }
    const char *paths = c->is_tree ? "call paths of " : "";
    const char *inclusive = c->is_inclusive ? "inclusive " : "";
    fprintf(t->out, "\n%s level, %s%s, %s%s\n\n", c->level_name, paths,
            pm_view_by_prose(c->options.view.by), inclusive, show_diff_metric(c));
}

void show_diff_head(const struct pm_comparison *comparison, const struct show_diff_options *options,
                    const struct show_look *look, FILE *out)
{
    const struct table t = {
        .c = comparison, .options = options, .term = show_term_of(out, look), .out = out};
    put_head(&t);
}

static void put_hints(const struct table *t)
{
    bool cannot = false, scaled = t->c->is_scaled, undefined = false, absent = false;
    bool holds = false;
    for (uint32_t i = 0; i < t->shown.n; i++) {
        const struct pm_compare_row *row = row_at(t, i);
        cannot |= row->verdict == PM_VERDICT_CANNOT_TELL;
        undefined |= row->verdict == PM_VERDICT_UNDEFINED;
        absent |= row->states[0] == PM_COMPARE_ABSENT || row->states[1] == PM_COMPARE_ABSENT;
        holds |= t->shown.is_holder[t->shown.rows[i]];
    }
    if (t->c->is_inclusive)
        show_put_wrapped(&t->term, t->out, "",
                         "inclusive: with all that it called, so rows do not add up; own: "
                         "without");
    if (holds)
        show_put_wrapped(&t->term, t->out, "",
                         "[in brackets]: shown for what lies in it; the rows are those whose own "
                         "costs differ most");
    if (scaled)
        show_put_wrapped(&t->term, t->out, "",
                         "change: after division by the speed of each run, the median over rows");
    if (cannot)
        show_put_wrapped(&t->term, t->out, "",
                         "cannot tell (< 20 %): a change of 20 % would have been found in 4 of 5 "
                         "such comparisons; more runs see smaller ones");
    if (undefined)
        show_put_wrapped(&t->term, t->out, "",
                         "undefined: not measured, or not all of it, in some run");
    if (absent)
        show_put_wrapped(&t->term, t->out, "", "-: this build has no such construct");
}

bool show_diff_table(const struct pm_comparison *comparison,
                     const struct show_diff_options *options, const struct show_look *look,
                     FILE *out)
{
    struct table t = {
        .c = comparison, .options = options, .term = show_term_of(out, look), .out = out};
    double most = fmax(comparison->total.means[0], comparison->total.means[1]);
    if (!show_diff_choose(comparison, options->limit, &t.shown))
        return false;
    t.scale = show_scale_of(&comparison->metric, most, t.term.utf8);
    name_columns(&t);
    bool good = make_texts(&t);
    if (good) {
        find_widths(&t);
        put_head(&t);
        put_headings(&t);
        put_rows(&t);
        put_hints(&t);
    }
    free(t.texts);
    show_diff_rows_release(&t.shown);
    pm_arena_release(&t.arena);
    return good;
}
