/* Who gets how much of a terminal's width: numbers, places, names; and who goes without. */
#include "table.h"

#include <stdlib.h>

enum {
    SOURCE_WANTED = 60, /* columns for the text of the source beside a name, if there is room */
    BAR_MIN = 4,
    BAR_MAX = 24,
    BAR_UNLIMITED = 12,
    TEXT_MIN = 12,
    NAME_WANTED = 40 /* columns are dropped for names up to this, and for so much margin */
};

/* --- margins and letters --- */

int table_margin_wanted(const struct table *table, const struct pm_view_row *row)
{
    if (!table->report->options.tree || row->depth == 0)
        return 0;
    return table->margin_unit == 2 ? (int)row->depth * 2 : (int)row->depth + 1;
}

/* As far as TABLE_NAME_MIN columns stay for the name. */
int table_margin_width(const struct table *table, const struct pm_view_row *row)
{
    int wanted = table_margin_wanted(table, row);
    return wanted < table->margin_most ? wanted : table->margin_most;
}

int table_n_letters(const struct pm_view_label *label)
{
    return (int)strlen(label->marks) + (label->is_bare ? 1 : 0);
}

/* Of the rows that are shown. */
static int letters_width(const struct table *table)
{
    int width = 0;
    for (uint32_t r = 0; r < table->report->n_shown; r++)
        width = table_larger(width, table_n_letters(&table->labels[r]));
    return width;
}

int table_marks_room(const struct table *table)
{
    if (!table->marks_width)
        return 0;
    return table->marks_width + (table->has_places ? TABLE_GAP - 1 : TABLE_GAP);
}

/* --- numbers --- */

static void widen(struct table_column *column, const char *text)
{
    column->width = table_larger(column->width, pm_text_width(text));
}

static void measure_column(const struct table *table, struct table_column *column)
{
    const struct pm_view *report = table->report;
    char text[SHOW_CELL_BYTES];
    if (column->is_spark)
        column->width = table_larger((int)report->options.over_time, (int)strlen(TABLE_SPARK));
    if (!column->cell)
        return;
    widen(column, column->cell->heading);
    for (uint32_t r = 0; r < report->n_shown; r++) {
        show_cell(&table->cells, column->cell, &report->rows[r], PM_VIEW_PART_ROW, text);
        widen(column, text);
    }
    show_cell(&table->cells, column->cell, &report->rest, PM_VIEW_PART_REST, text);
    widen(column, text);
    show_cell(&table->cells, column->cell, &report->total, PM_VIEW_PART_TOTAL, text);
    widen(column, text);
}

/* Room beside the numbers. */
static int room_for_text(const struct table *table)
{
    int room = table->term.width;
    for (int c = 0; c < table->n_columns; c++)
        if (table->columns[c].width)
            room -= table->columns[c].width + TABLE_GAP;
    return room - table_marks_room(table);
}

/* The first column stays. */
static void drop(struct table *table, enum pm_view_turn turn)
{
    for (int c = 1; c < table->n_columns; c++)
        if (table->columns[c].turn == turn)
            table->columns[c].width = 0;
}

/* --- texts --- */

/* What texts want at most, and what they can do with. */
struct wants {
    int full, brief; /* names */
    int wanted;      /* brief, but no more than what columns give way for */
    int text;        /* names with the source beside them */
    int place, base; /* places */
    int all;         /* those of sets, too, which may be long */
};

/* Of the source beside a name, as much as is asked for. */
static int source_width(const struct pm_view_row *row)
{
    if (!row->source_text)
        return 0;
    return TABLE_GAP + table_between(0, pm_text_width(row->source_text), SOURCE_WANTED);
}

static struct wants wants_of(const struct table *table)
{
    struct wants wants = {0};
    int dots = table->term.utf8 ? 1 : 2; /* for the folders that are gone */
    for (uint32_t r = 0; r < table->report->n_shown; r++) {
        const struct pm_view_row *row = &table->report->rows[r];
        const struct pm_view_label *label = &table->labels[r];
        int margin = table_margin_wanted(table, row), place = pm_text_width(label->place),
            brief = margin + pm_text_width(label->brief),
            full = margin + pm_text_width(label->full);
        bool over_place = row->kind == PM_VIEW_ROW_OUTSIDE && !*label->place; /* see put_row */
        wants.full = table_larger(wants.full, full);
        wants.text = table_larger(wants.text, full + source_width(row));
        wants.brief = table_larger(wants.brief, brief);
        if (!over_place)
            wants.wanted =
                table_larger(wants.wanted, table_between(0, margin, NAME_WANTED) +
                                               table_between(0, brief - margin, NAME_WANTED));
        wants.all = table_larger(wants.all, place);
        if (row->kind != PM_VIEW_ROW_SET) {
            wants.place = table_larger(wants.place, place);
            wants.base = table_larger(wants.base, pm_text_width(label->base) +
                                                      (label->base == label->place ? 0 : dots));
        }
    }
    return wants;
}

/* --- who goes without --- */

static bool fit_in_full(const struct table *table, const struct wants *wants)
{
    int gap = wants->all ? TABLE_GAP : 0;
    return wants->full + gap + wants->all <= room_for_text(table);
}

/* Do texts that are shortened fit? The later it is, the less they get. */
static bool fit_in_brief(const struct table *table, const struct wants *wants,
                         enum pm_view_turn turn)
{
    bool tree = table->report->options.tree;
    int gap = wants->all ? TABLE_GAP : 0, place = table_between(0, wants->all, TEXT_MIN);
    if (wants->place)
        place = wants->base;
    /* of a tree, with its margin */
    int least = turn < PM_VIEW_GOES_TREE_OWN || tree ? TABLE_NAME_MIN : TEXT_MIN;
    int names = wants->wanted;
    if (turn >= PM_VIEW_GOES_OTHER_METRIC)
        names = table_between(0, names, least);
    if (turn >= PM_VIEW_GOES_TREE_OWN)
        place = table_between(0, place, TEXT_MIN);
    return room_for_text(table) >= gap + place + names;
}

/* Narrow terminals do without columns in the order of their turns; trees indent less, too. The
 * first turn after which the texts fit is the last. */
static struct wants make_room(struct table *table)
{
    table->margin_unit = 2;
    struct wants wants = wants_of(table);
    if (fit_in_full(table, &wants))
        return wants;
    drop(table, PM_VIEW_GOES_FOR_FULL_NAMES); /* the header has the sum */
    if (fit_in_full(table, &wants))
        return wants;
    drop(table, PM_VIEW_GOES_AS_CHANCE);
    if (fit_in_full(table, &wants))
        return wants;
    for (int turn = PM_VIEW_GOES_AS_CHANCE; turn < PM_VIEW_N_TURNS; turn++) {
        drop(table, (enum pm_view_turn)turn);
        if (turn == PM_VIEW_GOES_INDENT && table->report->options.tree) {
            table->margin_unit = 1;
            wants = wants_of(table);
        }
        if (fit_in_brief(table, &wants, (enum pm_view_turn)turn))
            break;
    }
    return wants;
}

/* --- who gets what --- */

static void measure_unlimited(struct table *table, struct table_column *bar)
{
    if (bar)
        bar->width = BAR_UNLIMITED;
    table->margin_unit = 2;
    struct wants wants = wants_of(table);
    table->place_width = wants.all;
    table->what_width = wants.text;
    if (!table->term.whole) {
        table->place_width = table_between(0, wants.all, SHOW_PLACE_MOST);
        table->what_width = table_between(0, wants.text, SHOW_NAME_MOST);
    }
}

/* Names get what they need, in brief if it must be, before places get their folders; the bar gets
 * the rest. */
static void measure_limited(struct table *table, struct table_column *bar)
{
    if (bar)
        bar->width = BAR_MIN;
    struct wants wants = make_room(table);
    int gap = wants.all ? TABLE_GAP : 0,
        room = table_larger(room_for_text(table), TEXT_MIN + gap) - gap, place = wants.all;
    if (room >= wants.brief + wants.place)
        place = table_between(wants.place, room - wants.full, wants.all);
    else if (wants.place)
        place = table_between(wants.base, room - wants.wanted, wants.place);
    place = table_between(0, place, table_larger(room / 2, room - wants.brief));
    table->place_width = place;
    table->what_width = table_between(0, wants.text, room - place);
    if (wants.full > table->what_width)
        table->margin_most = table_larger(8, table->what_width - TABLE_NAME_MIN);
    int left = room - place - table->what_width;
    if (bar && bar->width && left > 0)
        bar->width = table_between(0, bar->width + left, BAR_MAX);
}

static void measure(struct table *table)
{
    struct table_column *bar = NULL;
    for (int c = 0; c < table->n_columns; c++) {
        measure_column(table, &table->columns[c]);
        if (!table->columns[c].cell && !table->columns[c].is_spark)
            bar = &table->columns[c];
    }
    table->margin_most = 2 * TABLE_MAX_MARGIN_DEPTH;
    if (table->term.width)
        measure_limited(table, bar);
    else
        measure_unlimited(table, bar);
}

/* Letters that take the place of words take some of their room. */
bool table_fit(struct table *table)
{
    struct pm_view *report = table->report;
    int *widths = pm_alloc_array((size_t)report->n_shown + 1, sizeof *widths);
    bool ok = widths != NULL, fits = false;
    for (uint32_t r = 0; r < report->n_shown; r++)
        table->has_places |= *table->labels[r].place;
    for (table->marks_width = letters_width(table); ok && !fits;) {
        measure(table);
        for (uint32_t r = 0; r < report->n_shown; r++)
            widths[r] = table->what_width - table_margin_width(table, &report->rows[r]);
        ok = show_fit_labels(report, &table->term, widths, table->place_width, table->labels);
        int width = letters_width(table);
        fits = width <= table->marks_width;
        table->marks_width = table_larger(width, table->marks_width);
    }
    free(widths);
    return ok;
}
