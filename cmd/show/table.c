/* The report for people: a header, warnings, and a table that fits the terminal. */
#include "table.h"

#include "mapping/view/groupings.h"
#include "formats.h"
#include "over_time.h"

#include <math.h>
#include <stdlib.h>

enum { WRAP_UNLIMITED = 100 /* lines where the table may be any wide */ };

static const char *color(const struct table *table, const char *code)
{
    return table->term.color ? code : "";
}

/* --- margins and letters --- */

/* Two columns a level, one and a blank where it is narrow; what is deeper than there is room for
 * stands there with its depth as a number. */
static void put_margin(const struct table *table, const struct pm_view_row *row, const bool *open)
{
    enum { NUMBER_WIDTH = 6 }; /* of "…12   " */
    bool utf8 = table->term.utf8;
    int width = table_margin_width(table, row), unit = table->margin_unit;
    bool deeper = width < table_margin_wanted(table, row);
    int room = width - (deeper ? NUMBER_WIDTH : 2);
    if (row->depth == 0)
        return;
    for (int d = 1; room >= unit; d++, room -= unit)
        fprintf(table->out, "%-*s", open[d] && utf8 ? unit + 2 : unit,
                !open[d] ? ""
                : utf8   ? "│"
                         : "|");
    if (deeper)
        fprintf(table->out, "%*s%s%-4u ", room, "", utf8 ? "…" : ".",
                row->depth > 9999 ? 9999 : row->depth);
    else
        fputs(row->last_child ? utf8 ? "└ " : "`-" : utf8 ? "├ " : "|-", table->out);
}

static void put_letters(const struct table *table, const struct pm_view_label *label)
{
    char letters[2] = {label->is_bare ? label->kind_mark : 0, 0};
    if (table->marks_width)
        fprintf(table->out, "%s%s%*s", letters, label->marks,
                table->marks_width - table_n_letters(label) + TABLE_GAP, "");
}

/* Those in the table, each once, in their order. */
static void list_letters(const struct table *table, char list[8])
{
    size_t n = 0;
    for (const char *letter = pm_view_mark_letters; *letter; letter++)
        for (uint32_t r = 0; r < table->report->n_shown; r++) {
            const struct pm_view_label *label = &table->labels[r];
            if (strchr(label->marks, *letter) || (label->is_bare && label->kind_mark == *letter)) {
                list[n++] = *letter;
                break;
            }
        }
    list[n] = 0;
}

static bool is_at_least_cell(const struct table *table, const struct show_cell_column *column,
                             const struct pm_view_row *row, enum pm_view_part part)
{
    char text[SHOW_CELL_BYTES];
    const char *mark = show_at_least_mark(table->term.utf8);
    show_cell(&table->cells, column, row, part, text);
    return strncmp(text, mark, strlen(mark)) == 0;
}

static bool has_at_least_in(const struct table *table, const struct show_cell_column *column)
{
    const struct pm_view *report = table->report;
    for (uint32_t r = 0; r < report->n_shown; r++)
        if (is_at_least_cell(table, column, &report->rows[r], PM_VIEW_PART_ROW))
            return true;
    if (report->n_shown < report->n_rows &&
        is_at_least_cell(table, column, &report->rest, PM_VIEW_PART_REST))
        return true;
    return is_at_least_cell(table, column, &report->total, PM_VIEW_PART_TOTAL);
}

/* Is there a number with the mark in the table? */
static bool has_at_least(const struct table *table)
{
    for (int c = 0; c < table->n_columns; c++) {
        const struct table_column *column = &table->columns[c];
        if (column->width && column->cell && has_at_least_in(table, column->cell))
            return true;
    }
    return false;
}

/* --- printing --- */

static const char *bar_color(const struct table *table, double share)
{
    return color(table, share >= 20 ? SHOW_RED : share >= 5 ? SHOW_YELLOW : SHOW_GREEN);
}

static void put_bar(const struct table *table, double share, int width)
{
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    int n = 0;
    if (!isfinite(share) || share < 0)
        share = 0;
    if (share > table->bar_full_pct)
        share = table->bar_full_pct;
    double filled = table->bar_full_pct > 0 ? share / table->bar_full_pct * width : 0;
    fputs(bar_color(table, share), table->out);
    if (table->term.utf8) {
        int steps = (int)lround(filled * 8);
        for (; n < steps / 8; n++)
            fputs("█", table->out);
        if (steps % 8) {
            fputs(eighths[steps % 8], table->out);
            n++;
        }
    } else {
        for (; n < (int)lround(filled); n++)
            fputc('#', table->out);
    }
    fputs(color(table, SHOW_RESET), table->out);
    for (; n < width; n++)
        fputc(' ', table->out);
}

static void put_numbers(const struct table *table, const struct pm_view_row *row,
                        enum pm_view_part part)
{
    char text[SHOW_CELL_BYTES];
    for (int c = 0; c < table->n_columns; c++) {
        const struct table_column *column = &table->columns[c];
        if (column->width == 0)
            continue;
        if (column->is_spark) {
            show_put_spark(table->report, row, table->term.utf8, table->out);
            fprintf(table->out, "%*s", column->width - (int)table->report->options.over_time, "");
        } else if (column->cell) {
            show_cell(&table->cells, column->cell, row, part, text);
            fprintf(table->out, "%*s%s", column->width - pm_text_width(text), "", text);
        } else if (part == PM_VIEW_PART_ROW) {
            put_bar(table, pm_view_share_pct(table->report, row), column->width);
        } else {
            fprintf(table->out, "%*s", column->width, "");
        }
        fprintf(table->out, "%*s", TABLE_GAP, "");
    }
}

/* {heat.c:22, :23} for {heat.c:22, heat.c:23}; the caller frees; NULL: no memory. */
static char *shorten_set(const char *place)
{
    struct pm_buf out = PM_BUF_INIT(1 << 20);
    struct pm_str file = {"", 0};
    for (const char *p = place; *p;) {
        size_t open = *p == '{', end = strcspn(p, ","), colon = open + strcspn(p + open, ":,}");
        bool same = p[colon] == ':' && pm_str_eq(file, (struct pm_str){p + open, colon - open});
        file = (struct pm_str){p + open, colon - open};
        pm_buf_add(&out, same ? p + colon : p, same ? end - colon : end);
        p += end;
        if (*p) {
            pm_buf_add_str(&out, ", ");
            p += 1 + strspn(p + 1, " ");
        }
    }
    return pm_buf_take(&out);
}

/* In what room is left. */
static void put_source(const struct table *table, const struct pm_view_row *row, int room)
{
    if (!row->source_text || (table->term.width && room < TABLE_GAP + TABLE_SOURCE_LEAST))
        return;
    int width = table->term.width ? room - TABLE_GAP : pm_text_width(row->source_text);
    fprintf(table->out, "%*s%s", TABLE_GAP, "", color(table, SHOW_DIM));
    show_put_cut(&table->term, table->out, row->source_text, width, false, false);
    fputs(color(table, SHOW_RESET), table->out);
}

static void put_row(const struct table *table, const struct pm_view_row *row,
                    const struct pm_view_label *label, const bool *open)
{
    bool marked = row->kind == PM_VIEW_ROW_UNMAPPED || row->kind == PM_VIEW_ROW_OUTSIDE;
    bool tree = table->report->options.tree;
    int what_width = table->what_width - table_margin_width(table, row);
    const char *what = label->text;
    put_numbers(table, row, PM_VIEW_PART_ROW);
    fputs(marked ? color(table, SHOW_DIM) : "", table->out);
    if (table->place_width && row->kind == PM_VIEW_ROW_OUTSIDE && !*label->place && !tree) {
        /* it has no place and no letter: its text takes the room */
        what_width += table->place_width + TABLE_GAP + table_marks_room(table);
        what = label->full;
    } else if (table->place_width) {
        /* A long place (of a set) may take room that its name leaves; in a tree the margins must
         * line up. */
        bool set = row->kind == PM_VIEW_ROW_SET;
        int name = pm_text_width(what),
            spare = what_width - (set ? table_between(0, name, TABLE_NAME_MIN) : name),
            most = table->place_width + (tree || spare < 0 ? 0 : spare);
        char *shorter =
            set && pm_text_width(label->place) > most ? shorten_set(label->place) : NULL;
        const char *place = shorter ? shorter : label->place;
        int width = table_between(table->place_width, pm_text_width(place), most);
        what_width -= width - table->place_width;
        show_put_cut(&table->term, table->out, place, width, !set, true);
        fprintf(table->out, "%*s", table->marks_width ? TABLE_GAP - 1 : TABLE_GAP, "");
        free(shorter);
        put_letters(table, label);
    } else {
        put_letters(table, label);
    }
    if (tree)
        put_margin(table, row, open);
    show_put_cut_middle(&table->term, table->out, what, what_width);
    put_source(table, row, what_width - pm_text_width(what));
    fprintf(table->out, "%s\n", marked ? color(table, SHOW_RESET) : "");
}

static bool is_call_tree(const struct pm_view *report)
{
    return report->options.tree && !pm_view_grouping(report)->where;
}

static void put_head(const struct table *table)
{
    fputs(color(table, SHOW_BOLD), table->out);
    for (int c = 0; c < table->n_columns; c++) {
        const struct table_column *column = &table->columns[c];
        const char *heading = column->is_spark ? TABLE_SPARK : "";
        if (column->cell)
            heading = column->cell->heading;
        if (column->width)
            fprintf(table->out, column->is_spark ? "%3$s%1$*2$s%1$*4$s" : "%1$*2$s%3$s%1$*4$s", "",
                    column->width - pm_text_width(heading), heading, TABLE_GAP);
    }
    if (table->place_width)
        fprintf(table->out, "%-*s%*s", table->place_width, "where", TABLE_GAP, "");
    fprintf(table->out, "%*s", table_marks_room(table), "");
    fprintf(table->out, "%s%s\n", is_call_tree(table->report) ? "call path" : "what",
            color(table, SHOW_RESET));
}

/* Which phase of the program each part over time was in. */
static void put_phases(const struct table *table)
{
    int left = 0;
    for (int c = 0; c < table->n_columns; c++) {
        const struct table_column *column = &table->columns[c];
        if (column->is_spark && column->width) {
            fprintf(table->out, "%*s%s", left, "", color(table, SHOW_DIM));
            show_put_phases(table->report, table->out);
            fprintf(table->out, "%*s%s(phases)\n", TABLE_GAP, "", color(table, SHOW_RESET));
        }
        left += column->width ? column->width + TABLE_GAP : 0;
    }
}

static void put_line(const struct table *table)
{
    int width = table->what_width + (table->place_width ? table->place_width + TABLE_GAP : 0) +
                table_marks_room(table);
    for (int c = 0; c < table->n_columns; c++)
        width += table->columns[c].width ? table->columns[c].width + TABLE_GAP : 0;
    if (!table->term.width && width > WRAP_UNLIMITED)
        width = WRAP_UNLIMITED;
    fputs(color(table, SHOW_DIM), table->out);
    for (int i = 0; i < width; i++)
        fputs(table->term.utf8 ? "─" : "-", table->out);
    fprintf(table->out, "%s\n", color(table, SHOW_RESET));
}

/* At levels of words, above Source, calls are what adapters and programs report. */
static bool is_level_of_words(const struct pm_view *report)
{
    return !pm_view_is_at_source(report) && strcmp(report->level_name, "Base") != 0;
}

/* At a level of words most rows that are not shown may be functions that were on the way to one:
 * their calls are in the total, and are no calls of what the level speaks of. */
static void put_rest(const struct table *table, uint32_t n_rest)
{
    const struct pm_view *report = table->report;
    char others[64] = "";
    uint32_t n_unmapped = 0;
    for (uint32_t r = report->n_shown; r < report->n_rows; r++)
        n_unmapped += report->rows[r].kind == PM_VIEW_ROW_UNMAPPED;
    if (n_unmapped == n_rest && is_level_of_words(report))
        snprintf(others, sizeof others, ", all [unmapped]");
    else if (n_unmapped && is_level_of_words(report))
        snprintf(others, sizeof others, ", %u of them [unmapped]", n_unmapped);
    put_numbers(table, &report->rest, PM_VIEW_PART_REST);
    fprintf(table->out, "%s(%u more row%s%s%s: --limit 0)%s\n", color(table, SHOW_DIM), n_rest,
            n_rest == 1 ? "" : "s", table->below, others, color(table, SHOW_RESET));
}

static void put_rows(const struct table *table)
{
    const struct pm_view *report = table->report;
    bool open[TABLE_MAX_MARGIN_DEPTH] = {false}; /* per depth: a sibling is still to come */
    for (uint32_t r = 0; r < report->n_shown; r++) {
        const struct pm_view_row *row = &report->rows[r];
        put_row(table, row, &table->labels[r], open);
        if (row->depth < TABLE_MAX_MARGIN_DEPTH)
            open[row->depth] = !row->last_child;
    }
    uint32_t n_rest = report->n_rows - report->n_shown;
    if (n_rest)
        put_rest(table, n_rest);
    put_line(table);
    fputs(color(table, SHOW_BOLD), table->out);
    put_numbers(table, &report->total, PM_VIEW_PART_TOTAL);
    fprintf(table->out, "total%s\n", color(table, SHOW_RESET));
}

/* --- rows that round to nothing --- */

static bool prints_zero(const struct table *table, const struct show_cell_column *column,
                        const struct pm_view_row *row)
{
    char text[SHOW_CELL_BYTES];
    const char *mark = show_at_least_mark(table->term.utf8);
    show_cell(&table->cells, column, row, PM_VIEW_PART_ROW, text);
    const char *number = text + (strncmp(text, mark, strlen(mark)) ? 0 : strlen(mark));
    return strspn(number, "0.") == strlen(number);
}

static bool has_told_calls(const struct table *table, const struct pm_view_row *row)
{
    return row->kind == PM_VIEW_ROW_NOUN && row->n_calls > 0 && is_level_of_words(table->report);
}

/* What they call has rows of its own; who was preempted is chance. */
static bool is_nothing(const struct table *table, const struct pm_view_row *row)
{
    if (has_told_calls(table, row))
        return false;
    for (uint32_t c = 0; c < table->cells.n; c++) {
        const struct show_cell_column *column = &table->cells.columns[c];
        if (pm_view_keeps_row(table->report, &column->of) && !prints_zero(table, column, row))
            return false;
    }
    return true;
}

/* Where rows stand in the order of own costs, those at the end whose times print as zero are
 * one. */
static void fold(struct table *table)
{
    struct pm_view *report = table->report;
    const struct show_scale *scale = &table->cells.columns[0].scale;
    uint32_t n = report->n_shown;
    if (report->options.tree || !report->options.limit || report->n_metrics == 0 ||
        pm_view_effective_sort(report) != PM_VIEW_SORT_OWN || !scale->decimals)
        return;
    while (n > 0 && is_nothing(table, &report->rows[n - 1]))
        n--;
    if (report->n_shown - n < 2)
        return;
    snprintf(table->below, sizeof table->below, " of less than %.*f %s own", scale->decimals,
             pow(10, -scale->decimals), scale->unit);
    pm_view_show_fewer(report, n);
}

/* Each number, and the bar beside its share. */
static void make_columns(struct table *table)
{
    show_cells_make(table->report, table->term.utf8, &table->cells);
    for (uint32_t c = 0; c < table->cells.n; c++) {
        const struct show_cell_column *cell = &table->cells.columns[c];
        table->columns[table->n_columns++] = (struct table_column){
            .cell = cell, .turn = pm_view_column_turn(table->report, &cell->of)};
        if (pm_view_column_has_bar(&cell->of))
            table->columns[table->n_columns++] = (struct table_column){.turn = PM_VIEW_GOES_BAR};
    }
    if (show_has_over_time(table->report))
        table->columns[table->n_columns++] =
            (struct table_column){.is_spark = true, .turn = PM_VIEW_GOES_CALLS};
}

static bool has_preempted(const struct table *table)
{
    for (int c = 0; c < table->n_columns; c++) {
        const struct table_column *column = &table->columns[c];
        const char *word =
            column->width && column->cell && pm_view_column_is_of_metric(&column->cell->of)
                ? pm_view_off_cpu_word(table->report, column->cell->of.metric)
                : NULL;
        if (word && !strcmp(word, "preempted"))
            return true;
    }
    return false;
}

static void put_table(const struct table *table)
{
    struct pm_view *report = table->report;
    struct show_marks marks = {.at_least = has_at_least(table), .preempted = has_preempted(table)};
    show_header(report, &table->term, table->out);
    fputc('\n', table->out);
    put_head(table);
    put_line(table);
    if (show_has_phases(table->report))
        put_phases(table);
    put_rows(table);
    list_letters(table, marks.letters);
    show_hints(report, &table->term, &marks, table->out);
}

static bool write_table(struct pm_view *report, const struct show_look *look, FILE *out)
{
    struct table table = {.report = report, .term = show_term_of(out, look), .out = out};
    make_columns(&table);
    fold(&table);
    table.labels = pm_view_make_labels(report);
    if (!table.labels)
        return false;
    for (uint32_t r = 0; r < report->n_shown; r++)
        table.bar_full_pct = fmax(table.bar_full_pct, pm_view_share_pct(report, &report->rows[r]));
    bool fits = table_fit(&table);
    if (fits)
        put_table(&table);
    free(table.labels);
    return fits;
}

const struct show_format show_format_table = {
    .rows = write_table,
    .modes = show_modes,
};
