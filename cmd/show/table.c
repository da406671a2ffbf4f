/* The report for people: a header, warnings, and a table that fits the terminal. */
#include "show.h"

#include "mapping/view/columns.h"

#include <math.h>
#include <stdlib.h>

enum {
    MAX_COLUMNS = PM_VIEW_MAX_COLUMNS + 1 /* and the bar */,
    GAP = 2,
    SOURCE_WANTED = 60, /* columns for the text of the source beside a name, if there is room */
    SOURCE_LEAST = 12,
    BAR_MIN = 4,
    BAR_MAX = 24,
    BAR_UNLIMITED = 12,
    WRAP_UNLIMITED = 100, /* warnings and lines where the table may be any wide */
    TEXT_MIN = 12,
    NAME_WANTED = 40, /* columns are dropped for names up to this, and for so much margin */
    NAME_MIN = 20,
    MAX_MARGIN_DEPTH = 256 /* more than the widest terminal has */
};

/* --- units --- */

/* One unit for a column, by its total: a whole table in milliseconds reads faster than one that
 * changes from row to row. */
struct show_scale show_scale_of(const struct pm_metric *metric, double total, bool utf8)
{
    if (metric->aggregation == PM_AVERAGE)
        return (struct show_scale){1, metric->unit, 3};
    total = fabs(total);
    if (!strcmp(metric->unit, "ns")) {
        if (total >= 1e12)
            return (struct show_scale){1e9, "s", 1};
        if (total >= 1e6)
            return (struct show_scale){1e6, "ms", total >= 1e10 ? 1 : total >= 1e9 ? 2 : 3};
        return (struct show_scale){1e3, utf8 ? "µs" : "us", 3};
    }
    if (!strcmp(metric->kind, "bytes")) {
        static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
        int i = 0;
        double divisor = 1;
        for (; total / divisor >= 1e5 && i < 4; i++)
            divisor *= 1024;
        return (struct show_scale){divisor, units[i], i ? 1 : 0};
    }
    return (struct show_scale){1, "", 0};
}

/* --- columns of numbers --- */

struct column {
    struct pm_view_column of; /* the number, but for the bar */
    bool is_bar;
    struct show_scale scale;
    char head[64];
    int width;
};

static bool is_column(const struct column *column, enum pm_view_column_id id)
{
    return !column->is_bar && column->of.id == id;
}

struct table {
    struct pm_view *report;
    struct pm_view_label *labels; /* [n_shown] */
    struct show_term term;
    FILE *out;
    struct column columns[MAX_COLUMNS];
    int n_columns;
    int place_width, what_width; /* 0: no places */
    int marks_width;             /* letters left of names; 0: none */
    bool has_places;
    int margin_unit, margin_most; /* tree: columns a level, and left of names at most */
    double bar_full_pct;          /* share of a full bar */
    char below[64];               /* of rows that were folded for they round to nothing */
};

static const char *color(const struct table *table, const char *code)
{
    return table->term.color ? code : "";
}

static const char *at_least_mark(const struct table *table)
{
    return table->term.utf8 ? "≥ " : ">= ";
}

/* Numbers that would say nothing, and what another place of the row says. */
static bool is_left_out(const struct table *table, const struct column *column,
                        const struct pm_view_row *row, enum pm_view_part part,
                        struct pm_view_number number)
{
    const struct pm_view *report = table->report;
    bool tree = report->options.tree, is_row = part == PM_VIEW_PART_ROW;
    switch (column->of.id) {
    case PM_VIEW_COLUMN_CALLS:
        return number.integer == 0 && part != PM_VIEW_PART_TOTAL;
    case PM_VIEW_COLUMN_SHARE: /* rows have inclusive shares, which do not add up */
        return tree && part == PM_VIEW_PART_REST;
    case PM_VIEW_COLUMN_TAKEN_OUT:
        return number.integer == 0;
    case PM_VIEW_COLUMN_INCLUSIVE:
        if (!tree && row->kind == PM_VIEW_ROW_OUTSIDE)
            return true;
        break;
    default:
        break;
    }
    bool is_wall = report->metrics[column->of.metric] == report->wall_metric;
    bool hides_zero = number.is_at_least || pm_view_off_cpu_word(report, column->of.metric) ||
                      (row->traits.is_untimed && is_wall);
    return is_row && number.real == 0 && hides_zero;
}

/* Of own times of rows the share says it. */
static bool shows_doubt(const struct column *column, enum pm_view_part part)
{
    return column->of.id == PM_VIEW_COLUMN_OWN ? part == PM_VIEW_PART_TOTAL
                                               : part == PM_VIEW_PART_ROW;
}

/* The text of a number; "" where there is none. */
static void cell(const struct table *table, const struct column *column,
                 const struct pm_view_row *row, enum pm_view_part part, char *buffer, size_t size)
{
    *buffer = 0;
    if (column->is_bar)
        return;
    struct pm_view_number number = pm_view_number_of(table->report, &column->of, row, part);
    if (number.kind == PM_VIEW_NO_NUMBER || is_left_out(table, column, row, part, number))
        return;
    const char *mark = number.is_at_least ? at_least_mark(table) : "",
               *doubt = number.is_uncertain && shows_doubt(column, part) ? "~" : "";
    if (number.kind == PM_VIEW_INTEGER && !column->scale.decimals && column->scale.divisor == 1)
        snprintf(buffer, size, "%s%s%lld", mark, doubt, (long long)number.integer);
    else
        snprintf(buffer, size, "%s%s%.*f", mark, doubt, column->scale.decimals,
                 number.real / column->scale.divisor);
}

/* "own ms"; metrics other than wall time are named: "own page_faults". */
static void head_of(const struct table *table, struct column *column, const char *what)
{
    const struct pm_view *report = table->report;
    const struct pm_metric *metric =
        &report->data->graph->metrics[report->metrics[column->of.metric]];
    bool is_wall =
        report->metrics[column->of.metric] == report->time_metric; /* named above the table */
    const char *unit = column->scale.unit;
    int name_len = (int)(*unit ? pm_view_bare_metric_len(metric) : strlen(metric->name));
    bool is_sum = metric->aggregation == PM_SUM; /* else there is no inclusive one beside it */
    snprintf(column->head, sizeof column->head, "%s%s%.*s%s%s", is_sum ? what : "",
             is_wall || !is_sum ? "" : " ",
             is_wall         ? 0
             : name_len > 24 ? 24
                             : name_len,
             metric->name, *unit ? " " : "", unit);
}

static struct column *add_column(struct table *table, enum pm_view_column_id id, uint32_t metric)
{
    const struct pm_view *report = table->report;
    struct column *column = &table->columns[table->n_columns++];
    bool is_plain = id == PM_VIEW_COLUMN_CALLS || id == PM_VIEW_COLUMN_SHARE;
    *column = (struct column){.of = {.id = id, .metric = metric},
                              .scale = {1, "", id == PM_VIEW_COLUMN_SHARE ? 1 : 0}};
    snprintf(column->head, sizeof column->head, "%s", pm_view_column_heading(id));
    if (is_plain)
        return column;
    const struct pm_metric *m = &report->data->graph->metrics[report->metrics[metric]];
    column->scale =
        show_scale_of(m, (double)report->total.values[metric].own.value, table->term.utf8);
    head_of(table, column, pm_view_column_heading(id));
    return column;
}

static void add_share(struct table *table)
{
    add_column(table, PM_VIEW_COLUMN_SHARE, 0);
    table->columns[table->n_columns++] = (struct column){.is_bar = true};
}

static void add_off_cpu(struct table *table, uint32_t m)
{
    struct column *column = add_column(
        table, table->report->options.tree ? PM_VIEW_COLUMN_INCLUSIVE : PM_VIEW_COLUMN_OWN, m);
    for (int c = 0; c < table->n_columns - 1; c++) /* one unit for both times */
        if (table->columns[c].of.metric == table->report->primary && table->columns[c].scale.unit &&
            *table->columns[c].scale.unit) {
            column->scale = table->columns[c].scale;
            break;
        }
    snprintf(column->head, sizeof column->head, "%s %s", pm_view_off_cpu_word(table->report, m),
             column->scale.unit);
}

/* What measuring cost in own times, and is not in them, where it is more than a hundredth of
 * them. */
static void add_taken_out(struct table *table, uint32_t m)
{
    const struct pm_view_row *total = &table->report->total;
    if (table->report->metrics[m] != table->report->wall_metric ||
        pm_view_is_by_runner(table->report) ||
        (double)total->taken_out_ns <= 0.01 * (double)total->values[m].own.value)
        return;
    struct column *column = add_column(table, PM_VIEW_COLUMN_TAKEN_OUT, m);
    snprintf(column->head, sizeof column->head, "%s %s",
             pm_view_column_heading(PM_VIEW_COLUMN_TAKEN_OUT), column->scale.unit);
}

/* The column that rows are sorted by comes first, with its share and bar. */
static void choose_columns(struct table *table)
{
    const struct pm_view *report = table->report;
    if (report->n_metrics == 0) {
        add_column(table, PM_VIEW_COLUMN_CALLS, 0);
        add_share(table);
        return;
    }
    for (uint32_t m = 0; m < report->n_metrics; m++) {
        if (pm_view_off_cpu_word(report, m)) {
            add_off_cpu(table, m);
            continue;
        }
        bool is_sum = report->data->graph->metrics[report->metrics[m]].aggregation == PM_SUM;
        bool tree = report->options.tree && is_sum;
        add_column(table, tree ? PM_VIEW_COLUMN_INCLUSIVE : PM_VIEW_COLUMN_OWN, m);
        if (m == report->primary && is_sum)
            add_share(table);
        if (is_sum && !report->measured_nothing && (!pm_view_is_fine(report) || tree) &&
            !pm_view_is_by_runner(report))
            add_column(table, tree ? PM_VIEW_COLUMN_OWN : PM_VIEW_COLUMN_INCLUSIVE, m);
        add_taken_out(table, m);
        if (report->options.bounds && is_sum) {
            add_column(table, PM_VIEW_COLUMN_AT_LEAST, m);
            add_column(table, PM_VIEW_COLUMN_AT_MOST, m);
        }
    }
    if (report->shows_calls && (report->total.n_calls || report->n_rows == 0))
        add_column(table, PM_VIEW_COLUMN_CALLS, 0);
}

static void widen(struct column *column, const char *text)
{
    int width = pm_text_width(text);
    if (width > column->width)
        column->width = width;
}

/* --- the tree's left margin --- */

/* Two columns a level, one and a blank where it is narrow, as far as NAME_MIN columns stay for
 * the name; what is deeper stands there with its depth as a number. */
static int margin_wanted(const struct table *table, const struct pm_view_row *row)
{
    return !table->report->options.tree || row->depth == 0 ? 0
           : table->margin_unit == 2                       ? (int)row->depth * 2
                                                           : (int)row->depth + 1;
}

static int margin_width(const struct table *table, const struct pm_view_row *row)
{
    int wanted = margin_wanted(table, row);
    return wanted < table->margin_most ? wanted : table->margin_most;
}

static void put_margin(const struct table *table, const struct pm_view_row *row, const bool *open)
{
    enum { NUMBER_WIDTH = 6 }; /* of "…12   " */
    bool utf8 = table->term.utf8;
    int width = margin_width(table, row), unit = table->margin_unit;
    bool deeper = width < margin_wanted(table, row);
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

/* --- widths --- */

static void measure_column(const struct table *table, struct column *column)
{
    const struct pm_view *report = table->report;
    char text[64];
    widen(column, column->head);
    for (uint32_t r = 0; r < report->n_shown; r++) {
        cell(table, column, &report->rows[r], PM_VIEW_PART_ROW, text, sizeof text);
        widen(column, text);
    }
    cell(table, column, &report->rest, PM_VIEW_PART_REST, text, sizeof text);
    widen(column, text);
    cell(table, column, &report->total, PM_VIEW_PART_TOTAL, text, sizeof text);
    widen(column, text);
}

/* What letters take beside the gap between places and names. */
static int marks_room(const struct table *table)
{
    return table->marks_width ? table->marks_width + (table->has_places ? GAP - 1 : GAP) : 0;
}

/* Room beside the numbers. */
static int room_for_text(const struct table *table)
{
    int room = table->term.width;
    for (int c = 0; c < table->n_columns; c++)
        if (table->columns[c].width)
            room -= table->columns[c].width + GAP;
    return room - marks_room(table);
}

static void drop_bar(struct table *table)
{
    for (int c = 1; c < table->n_columns; c++)
        if (table->columns[c].is_bar)
            table->columns[c].width = 0;
}

static void drop(struct table *table, enum pm_view_column_id kind)
{
    for (int c = 1; c < table->n_columns; c++)
        if (is_column(&table->columns[c], kind))
            table->columns[c].width = 0;
}

/* Times without a CPU: those with that word; NULL: all. Was there any? */
static bool drop_off_cpu(struct table *table, const char *word)
{
    bool any = false;
    for (int c = 1; c < table->n_columns; c++) {
        const struct column *column = &table->columns[c];
        const char *is =
            is_column(column, PM_VIEW_COLUMN_OWN) || is_column(column, PM_VIEW_COLUMN_INCLUSIVE)
                ? pm_view_off_cpu_word(table->report, table->columns[c].of.metric)
                : NULL;
        if (is && table->columns[c].width && (!word || !strcmp(is, word))) {
            table->columns[c].width = 0;
            any = true;
        }
    }
    return any;
}

/* Of other metrics than that for shares. */
static void drop_second_inclusive(struct table *table)
{
    for (int c = 1; c < table->n_columns; c++)
        if (is_column(&table->columns[c], PM_VIEW_COLUMN_INCLUSIVE) &&
            table->columns[c].of.metric != table->report->primary)
            table->columns[c].width = 0;
}

static bool has_column(const struct table *table, enum pm_view_column_id kind)
{
    for (int c = 1; c < table->n_columns; c++)
        if (is_column(&table->columns[c], kind) && table->columns[c].width)
            return true;
    return false;
}

/* What texts want at most, and what they can do with. */
struct wants {
    int full, brief, wanted,
        /* names; text: with the source beside them; wanted: brief, but no more than what columns
         * give way for */
        text;
    int place, base, all; /* places; all: those of sets, too, which may be long */
};

static int between(int low, int number, int high)
{
    return number < low ? low : number > high ? high : number;
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

/* Of the source beside a name, as much as is asked for. */
static int source_width(const struct pm_view_row *row)
{
    return row->source_text ? GAP + between(0, pm_text_width(row->source_text), SOURCE_WANTED) : 0;
}

static struct wants wants_of(const struct table *table)
{
    struct wants wants = {0};
    int dots = table->term.utf8 ? 1 : 2; /* for the folders that are gone */
    for (uint32_t r = 0; r < table->report->n_shown; r++) {
        const struct pm_view_row *row = &table->report->rows[r];
        const struct pm_view_label *label = &table->labels[r];
        int margin = margin_wanted(table, row), place = pm_text_width(label->place),
            brief = margin + pm_text_width(label->brief);
        bool over_place = row->kind == PM_VIEW_ROW_OUTSIDE && !*label->place; /* see put_row */
        wants.full = larger(wants.full, margin + pm_text_width(label->full));
        wants.text = larger(wants.text, margin + pm_text_width(label->full) + source_width(row));
        wants.brief = larger(wants.brief, brief);
        if (!over_place)
            wants.wanted = larger(wants.wanted, between(0, margin, NAME_WANTED) +
                                                    between(0, brief - margin, NAME_WANTED));
        wants.all = larger(wants.all, place);
        if (row->kind != PM_VIEW_ROW_SET) {
            wants.place = larger(wants.place, place);
            wants.base = larger(wants.base, pm_text_width(label->base) +
                                                (label->base == label->place ? 0 : dots));
        }
    }
    return wants;
}

/* Narrow terminals do without what was taken out and preemption, then the bar, then indent less,
 * then do without waiting, in trees own costs. Share, inclusive costs and calls go last, when
 * there is hardly any room for names. The first step after which the texts fit is the last. */
static struct wants make_room(struct table *table)
{
    enum { N_STEPS = 9, LAST_RESORT = 6 };
    bool tree = table->report->options.tree;
    struct wants wants = {0};
    table->margin_unit = 2;
    for (int step = 0; step < N_STEPS; step++) {
        if (step == 1) {
            drop_bar(table);
            drop(table, PM_VIEW_COLUMN_TAKEN_OUT);
        } else if (step == 2)
            table->margin_unit = tree ? 1 : 2;
        else if (step == 3)
            drop_second_inclusive(table);
        else if (step == 4)
            drop_off_cpu(table, NULL);
        else if (step == 5 && tree)
            drop(table, PM_VIEW_COLUMN_OWN);
        else if (step == LAST_RESORT)
            drop(table, PM_VIEW_COLUMN_CALLS);
        else if (step == LAST_RESORT + 1)
            drop(table, PM_VIEW_COLUMN_INCLUSIVE);
        else if (step == LAST_RESORT + 2)
            drop(table, PM_VIEW_COLUMN_SHARE);
        wants = wants_of(table);
        int gap = wants.all ? GAP : 0, room = room_for_text(table),
            place = wants.place            ? wants.base
                    : wants.all < TEXT_MIN ? wants.all
                                           : TEXT_MIN;
        if (step == 0 && wants.full + gap + wants.all <= room)
            break;
        if (step == 0 && has_column(table, PM_VIEW_COLUMN_TAKEN_OUT)) {
            drop(table, PM_VIEW_COLUMN_TAKEN_OUT); /* names say more, and the header has the sum */
            step--;
            continue;
        }
        if (step == 0 &&
            drop_off_cpu(table, "preempted")) { /* chance, unless somebody looks for it */
            step--;
            continue;
        }
        int least =
            step < LAST_RESORT - 1 || tree ? NAME_MIN : TEXT_MIN; /* of a tree, with its margin */
        int names = step < 3 || wants.wanted < least ? wants.wanted : least;
        if (step >= LAST_RESORT - 1 && place > TEXT_MIN)
            place = TEXT_MIN;
        if (room >= gap + place + names)
            break;
    }
    return wants;
}

/* Names get what they need, in brief if it must be, before places get their folders; the bar gets
 * the rest. */
static void measure(struct table *table)
{
    struct column *bar = NULL;
    for (int c = 0; c < table->n_columns; c++) {
        measure_column(table, &table->columns[c]);
        if (table->columns[c].is_bar)
            bar = &table->columns[c];
    }
    table->margin_most = 2 * MAX_MARGIN_DEPTH;
    if (bar)
        bar->width = table->term.width ? BAR_MIN : BAR_UNLIMITED;
    if (!table->term.width) {
        table->margin_unit = 2;
        struct wants wants = wants_of(table);
        table->place_width = wants.all;
        table->what_width = wants.text;
        if (!table->term.whole) {
            table->place_width = between(0, wants.all, SHOW_PLACE_MOST);
            table->what_width = between(0, wants.text, SHOW_NAME_MOST);
        }
        return;
    }
    struct wants wants = make_room(table);
    int gap = wants.all ? GAP : 0, room = larger(room_for_text(table), TEXT_MIN + gap) - gap, place;
    if (room >= wants.brief + wants.place)
        place = between(wants.place, room - wants.full, wants.all);
    else if (wants.place)
        place = between(wants.base, room - wants.wanted, wants.place);
    else
        place = wants.all;
    place = between(0, place, larger(room / 2, room - wants.brief));
    table->place_width = place;
    table->what_width = between(0, wants.text, room - place);
    if (wants.full > table->what_width)
        table->margin_most = larger(8, table->what_width - NAME_MIN);
    int left = room - place - table->what_width;
    if (bar && bar->width && left > 0)
        bar->width = bar->width + left > BAR_MAX ? BAR_MAX : bar->width + left;
}

/* --- letters --- */

static int n_letters(const struct pm_view_label *label)
{
    return (int)strlen(label->marks) + (label->is_bare ? 1 : 0);
}

/* Of the rows that are shown. */
static int letters_width(const struct table *table)
{
    int width = 0;
    for (uint32_t r = 0; r < table->report->n_shown; r++)
        width = larger(width, n_letters(&table->labels[r]));
    return width;
}

/* Texts in the room they have; letters that take the place of words take some of it. */
static bool fit_labels(struct table *table)
{
    struct pm_view *report = table->report;
    int *widths = pm_alloc_array((size_t)report->n_shown + 1, sizeof *widths);
    bool ok = widths != NULL, fits = false;
    for (uint32_t r = 0; r < report->n_shown; r++)
        table->has_places |= *table->labels[r].place;
    for (table->marks_width = letters_width(table); ok && !fits;) {
        measure(table);
        for (uint32_t r = 0; r < report->n_shown; r++)
            widths[r] = table->what_width - margin_width(table, &report->rows[r]);
        ok = show_fit_labels(report, &table->term, widths, table->place_width, table->labels);
        int width = letters_width(table);
        fits = width <= table->marks_width;
        table->marks_width = larger(width, table->marks_width);
    }
    free(widths);
    return ok;
}

static void put_letters(const struct table *table, const struct pm_view_label *label)
{
    char letters[2] = {label->is_bare ? label->kind_mark : 0, 0};
    if (table->marks_width)
        fprintf(table->out, "%s%s%*s", letters, label->marks,
                table->marks_width - n_letters(label) + GAP, "");
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

static bool is_at_least_cell(const struct table *table, const struct column *column,
                             const struct pm_view_row *row, enum pm_view_part part)
{
    char text[64];
    const char *mark = at_least_mark(table);
    cell(table, column, row, part, text, sizeof text);
    return strncmp(text, mark, strlen(mark)) == 0;
}

/* Is there a number with the mark in the table? */
static bool has_at_least(const struct table *table)
{
    const struct pm_view *report = table->report;
    bool any = false;
    for (int c = 0; c < table->n_columns && !any; c++) {
        const struct column *column = &table->columns[c];
        if (!column->width || column->is_bar)
            continue;
        for (uint32_t r = 0; r < report->n_shown && !any; r++)
            any = is_at_least_cell(table, column, &report->rows[r], PM_VIEW_PART_ROW);
        any |= report->n_shown < report->n_rows &&
               is_at_least_cell(table, column, &report->rest, PM_VIEW_PART_REST);
        any |= is_at_least_cell(table, column, &report->total, PM_VIEW_PART_TOTAL);
    }
    return any;
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
    char text[64];
    for (int c = 0; c < table->n_columns; c++) {
        const struct column *column = &table->columns[c];
        if (column->width == 0)
            continue;
        if (column->is_bar) {
            if (part == PM_VIEW_PART_ROW)
                put_bar(table, pm_view_share_pct(table->report, row), column->width);
            else
                fprintf(table->out, "%*s", column->width, "");
        } else {
            cell(table, column, row, part, text, sizeof text);
            fprintf(table->out, "%*s%s", column->width - pm_text_width(text), "", text);
        }
        fprintf(table->out, "%*s", GAP, "");
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
    if (!row->source_text || (table->term.width && room < GAP + SOURCE_LEAST))
        return;
    int width = table->term.width ? room - GAP : pm_text_width(row->source_text);
    fprintf(table->out, "%*s%s", GAP, "", color(table, SHOW_DIM));
    show_put_cut(&table->term, table->out, row->source_text, width, false, false);
    fputs(color(table, SHOW_RESET), table->out);
}

static void put_row(const struct table *table, const struct pm_view_row *row,
                    const struct pm_view_label *label, const bool *open)
{
    bool marked = row->kind == PM_VIEW_ROW_UNMAPPED || row->kind == PM_VIEW_ROW_OUTSIDE;
    bool tree = table->report->options.tree;
    int what_width = table->what_width - margin_width(table, row);
    const char *what = label->text;
    put_numbers(table, row, PM_VIEW_PART_ROW);
    fputs(marked ? color(table, SHOW_DIM) : "", table->out);
    if (table->place_width && row->kind == PM_VIEW_ROW_OUTSIDE && !*label->place && !tree) {
        /* it has no place and no letter: its text takes the room */
        what_width += table->place_width + GAP + marks_room(table);
        what = label->full;
    } else if (table->place_width) {
        /* A long place (of a set) may take room that its name leaves; in a tree the margins must
         * line up. */
        bool set = row->kind == PM_VIEW_ROW_SET;
        int name = pm_text_width(what),
            spare = what_width - (set ? between(0, name, NAME_MIN) : name),
            most = table->place_width + (tree || spare < 0 ? 0 : spare);
        char *shorter =
            set && pm_text_width(label->place) > most ? shorten_set(label->place) : NULL;
        const char *place = shorter ? shorter : label->place;
        int width = between(table->place_width, pm_text_width(place), most);
        what_width -= width - table->place_width;
        show_put_cut(&table->term, table->out, place, width, !set, true);
        fprintf(table->out, "%*s", table->marks_width ? GAP - 1 : GAP, "");
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

static void put_head(const struct table *table)
{
    fputs(color(table, SHOW_BOLD), table->out);
    for (int c = 0; c < table->n_columns; c++) {
        const struct column *column = &table->columns[c];
        if (column->width)
            fprintf(table->out, "%*s%s%*s", column->width - pm_text_width(column->head), "",
                    column->head, GAP, "");
    }
    if (table->place_width)
        fprintf(table->out, "%-*s%*s", table->place_width, "where", GAP, "");
    fprintf(table->out, "%*s", marks_room(table), "");
    fprintf(table->out, "%s%s\n", table->report->options.tree ? "call path" : "what",
            color(table, SHOW_RESET));
}

static void put_line(const struct table *table)
{
    int width =
        table->what_width + (table->place_width ? table->place_width + GAP : 0) + marks_room(table);
    for (int c = 0; c < table->n_columns; c++)
        width += table->columns[c].width ? table->columns[c].width + GAP : 0;
    if (!table->term.width && width > WRAP_UNLIMITED)
        width = WRAP_UNLIMITED;
    fputs(color(table, SHOW_DIM), table->out);
    for (int i = 0; i < width; i++)
        fputs(table->term.utf8 ? "─" : "-", table->out);
    fprintf(table->out, "%s\n", color(table, SHOW_RESET));
}

static void put_rows(const struct table *table)
{
    const struct pm_view *report = table->report;
    bool open[MAX_MARGIN_DEPTH] = {false}; /* per depth: a sibling is still to come */
    for (uint32_t r = 0; r < report->n_shown; r++) {
        const struct pm_view_row *row = &report->rows[r];
        put_row(table, row, &table->labels[r], open);
        if (row->depth < MAX_MARGIN_DEPTH)
            open[row->depth] = !row->last_child;
    }
    uint32_t n_rest = report->n_rows - report->n_shown;
    if (n_rest) {
        put_numbers(table, &report->rest, PM_VIEW_PART_REST);
        fprintf(table->out, "%s(%u more row%s%s: --limit 0)%s\n", color(table, SHOW_DIM), n_rest,
                n_rest == 1 ? "" : "s", table->below, color(table, SHOW_RESET));
    }
    put_line(table);
    fputs(color(table, SHOW_BOLD), table->out);
    put_numbers(table, &report->total, PM_VIEW_PART_TOTAL);
    fprintf(table->out, "total%s\n", color(table, SHOW_RESET));
}

/* --- rows that round to nothing --- */

static bool is_preempted(const struct pm_view *report, const struct column *column)
{
    const char *word = column->of.id == PM_VIEW_COLUMN_OWN
                           ? pm_view_off_cpu_word(report, column->of.metric)
                           : NULL;
    return word && !strcmp(word, "preempted");
}

static bool is_nothing(const struct table *table, const struct pm_view_row *row)
{
    char text[64];
    for (int c = 0; c < table->n_columns; c++) {
        const struct column *column = &table->columns[c];
        if (column->of.id == PM_VIEW_COLUMN_CALLS || column->of.id == PM_VIEW_COLUMN_SHARE ||
            column->of.id == PM_VIEW_COLUMN_INCLUSIVE || is_preempted(table->report, column))
            continue; /* what they call has rows of its own; who was preempted is chance */
        cell(table, column, row, PM_VIEW_PART_ROW, text, sizeof text);
        const char *mark = at_least_mark(table);
        const char *number = text + (strncmp(text, mark, strlen(mark)) ? 0 : strlen(mark));
        if (strspn(number, "0.") != strlen(number))
            return false;
    }
    return true;
}

/* Where rows stand in the order of own costs, those at the end whose times print as zero are
 * one. */
static void fold(struct table *table)
{
    struct pm_view *report = table->report;
    const struct show_scale *scale = &table->columns[0].scale;
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

bool show_table(struct pm_view *report, const struct show_look *look, FILE *out)
{
    struct table table = {.report = report, .term = show_term_of(out, look), .out = out};
    choose_columns(&table);
    fold(&table);
    table.labels = pm_view_make_labels(report);
    if (!table.labels)
        return false;
    for (uint32_t r = 0; r < report->n_shown; r++)
        table.bar_full_pct = fmax(table.bar_full_pct, pm_view_share_pct(report, &report->rows[r]));
    if (!fit_labels(&table)) {
        free(table.labels);
        return false;
    }
    show_header(report, &table.term, out);
    fputc('\n', out);
    put_head(&table);
    put_line(&table);
    put_rows(&table);
    char letters[8];
    list_letters(&table, letters);
    show_hints(report, &table.term, has_at_least(&table), letters, out);
    free(table.labels);
    return true;
}
