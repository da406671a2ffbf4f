/* Below a table on a terminal: what its marks mean, and what else the archive has. */
#include "show.h"

#include "mapping/view/axis.h"
#include "mapping/view/columns.h"

#include <ctype.h>

/* Over locations, numbers may be uncertain where the row's own is not. */
static bool has_uncertain_spread(const struct pm_view *report, const struct pm_view_row *row,
                                 enum pm_view_part part)
{
    struct pm_view_column columns[PM_VIEW_MAX_COLUMNS];
    uint32_t n = pm_view_text_columns(report, columns);
    for (uint32_t c = 0; c < n; c++)
        if (pm_view_marks_doubt(report, &columns[c], part) &&
            pm_view_number_of(report, &columns[c], row, part).is_uncertain)
            return true;
    return false;
}

static bool has_uncertain_location(const struct pm_view *report)
{
    if (!pm_view_has_axis(report))
        return false;
    for (uint32_t r = 0; r < report->n_shown; r++)
        if (has_uncertain_spread(report, &report->rows[r], PM_VIEW_PART_ROW))
            return true;
    return has_uncertain_spread(report, &report->total, PM_VIEW_PART_TOTAL);
}

static bool has_uncertain_row(const struct pm_view *report)
{
    for (uint32_t r = 0; r < report->n_shown; r++)
        if (pm_view_is_uncertain(report, &report->rows[r]) ||
            (report->options.tree && pm_view_is_doubtful(report, &report->rows[r], false)) ||
            pm_view_has_words_of_inlined(report, &report->rows[r], report->primary))
            return true;
    return has_uncertain_location(report);
}

static void add(struct pm_buf *hints, const char *before, const char *text)
{
    pm_buf_printf(hints, "%s%s", hints->len ? "; " : "", before);
    for (const char *p = text; *p; p++)
        pm_buf_add_byte(hints, (unsigned char)tolower((unsigned char)*p));
}

/* Levels of sentences of somebody's own: every archive has Base and Source. */
static void add_levels(const struct pm_view *report, struct pm_buf *hints)
{
    const struct pm_graph *graph = report->data->graph;
    for (pm_index l = 0; l < graph->n_levels; l++) {
        bool is_used = false;
        for (pm_index s = 0; s < graph->n_sentences && !is_used; s++)
            is_used = pm_graph_sentence_level(graph, s) == l;
        const char *name = graph->levels[l].name;
        if (is_used && l != report->level && strcmp(name, "Base") != 0 &&
            strcmp(name, "Source") != 0)
            add(hints, "--level ", name);
    }
}

static bool is_shown(const struct pm_view *report, pm_index metric)
{
    for (uint32_t m = 0; m < report->n_metrics; m++)
        if (report->metrics[m] == metric)
            return true;
    return false;
}

/* What is neither a time nor a by-product of times or bytes, and is not shown. */
static void add_metrics(const struct pm_view *report, struct pm_buf *hints)
{
    const struct pm_graph *graph = report->data->graph;
    struct pm_buf heap = PM_BUF_INIT(4096), others = PM_BUF_INIT(4096);
    for (pm_index m = 0; m < graph->n_metrics; m++) {
        const struct pm_graph_metric *metric = &graph->metrics[m];
        if (!strcmp(metric->kind, "time") || !strcmp(metric->name, "n_calls") ||
            !strcmp(metric->name, "n_samples") || !strcmp(metric->name, "n_allocations") ||
            is_shown(report, m) || !pm_view_is_measured(graph, m))
            continue;
        bool is_heap = !strcmp(metric->kind, "bytes");
        struct pm_buf *list = is_heap ? &heap : &others;
        pm_buf_printf(list, "%s%s", list->len ? "," : "", metric->name);
    }
    if (heap.len)
        add(hints, "--by array --metric ", heap.data);
    if (others.len)
        add(hints, "--metric ", others.data);
    hints->failed |= heap.failed || others.failed;
    pm_buf_release(&heap);
    pm_buf_release(&others);
}

/* Meanings of marks, in lines of the terminal's width. */
struct legend {
    FILE *out;
    int width, column; /* width 0: any; column 0: there is none yet */
};

static void add_meaning(struct legend *legend, const char *mark, const char *meaning)
{
    int width = pm_text_width(mark) + 2 + pm_text_width(meaning);
    bool fits = !legend->width || legend->column + 2 + width < legend->width;
    const char *separator = legend->column == 0 ? "" : fits ? "; " : ";\n";
    legend->column = legend->column != 0 && fits ? legend->column + 2 + width : width;
    fprintf(legend->out, "%s%s: %s", separator, mark, meaning);
}

static const char *meaning_of_doubt(const struct pm_view *report)
{
    enum { LEAST_NS = 1000000 };
    if (report->misplaced_ns >= LEAST_NS)
        return "uncertain, because much cost of measuring, or preempted time, was subtracted";
    if (report->taken_out_ns < LEAST_NS)
        return "uncertain, because its calls are little longer than reads of the clock";
    return "uncertain, because much cost of measuring was subtracted";
}

/* Of times by the clock. */
static const char *why_uncertain(const struct pm_view *report)
{
    bool any_others = false, any_doubt = false;
    for (uint32_t r = 0; r < report->n_shown; r++) {
        bool has_others = pm_view_has_others_time(report, &report->rows[r]);
        any_others |= has_others;
        any_doubt |= !has_others && pm_view_is_uncertain(report, &report->rows[r]);
    }
    if (!any_others)
        return meaning_of_doubt(report);
    return any_doubt ? "uncertain, because of subtracted cost of measuring, or of called code that "
                       "ended by a jump"
                     : "at most: called code ended by a jump to code that is not measured";
}

static bool has_words_of_inlined(const struct pm_view *report)
{
    for (uint32_t r = 0; r < report->n_shown; r++)
        if (pm_view_has_words_of_inlined(report, &report->rows[r], report->primary))
            return true;
    return false;
}

/* Of samples and counts. any_least: a number of the table is at least what is shown. */
static const char *why_few(const struct pm_view *report, bool any_least)
{
    _Static_assert(PM_VIEW_FEW_SAMPLES == 10, "the number in the texts");
    if (!pm_view_has_axis(report))
        return "fewer than 10 samples";
    if (report->metrics[report->primary] != report->cpu_metric)
        return "made of numbers that are at least";
    return any_least ? "few samples, or made of numbers that are at least"
                     : "fewer than 10 samples, or too few to tell imbalance from chance";
}

static const char *why_counts(const struct pm_view *report)
{
    const char *why = NULL;
    for (uint32_t m = 0; m < report->n_metrics && !why; m++)
        why = pm_view_why_counts(report, m);
    return why;
}

static const char *meaning_of_uncertain(const struct pm_view *report, bool any_least)
{
    if (has_words_of_inlined(report))
        return "some of it may be of functions that were inlined there";
    if (why_counts(report))
        return why_counts(report);
    if (report->metrics[report->primary] != report->wall_metric)
        return why_few(report, any_least);
    if (pm_view_has_axis(report) && any_least)
        return "uncertain, or made of numbers that are at least";
    return why_uncertain(report);
}

/* What the marks of the table mean, those that are in it. */
static void print_legend(struct pm_view *report, const struct show_term *term,
                         const struct show_marks *marks, FILE *out)
{
    struct legend legend = {out, term->width, 0};
    bool is_uncertain = has_uncertain_row(report);
    if (!marks->at_least && !is_uncertain && !marks->preempted && !*marks->letters)
        return;
    fputs(term->color ? SHOW_DIM : "", out);
    if (marks->at_least)
        add_meaning(&legend,
                    term->utf8 ? "≥" : ">=", "at least, because not all of it was followed");
    if (is_uncertain)
        add_meaning(&legend, "~", meaning_of_uncertain(report, marks->at_least));
    for (const char *letter = marks->letters; *letter; letter++)
        add_meaning(&legend, (const char[]){*letter, 0}, pm_view_mark_meaning(*letter));
    if (marks->preempted)
        add_meaning(&legend, "preempted", "others had the processor");
    fprintf(out, "%s\n", term->color ? SHOW_RESET : "");
}

void show_hints(struct pm_view *report, const struct show_term *term,
                const struct show_marks *marks, FILE *out)
{
    const char *dim = term->color ? SHOW_DIM : "", *reset = term->color ? SHOW_RESET : "";
    print_legend(report, term, marks, out);
    if (!term->width)
        return;
    struct pm_buf hints = PM_BUF_INIT(1 << 16);
    add_levels(report, &hints);
    add_metrics(report, &hints);
    const char *text =
        hints.len && !hints.failed ? pm_text_printable(&report->arena, hints.data) : NULL;
    if (text) {
        fprintf(out, "%salso in this archive: ", dim);
        show_put_cut(term, out, text, term->width - 22, false, false);
        fprintf(out, "%s\n", reset);
    }
    pm_buf_release(&hints);
}
