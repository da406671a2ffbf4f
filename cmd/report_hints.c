/* Below a table on a terminal: what its marks mean, and what else the archive has. */
#include "report.h"

#include <ctype.h>

static bool has_uncertain_row(const struct report *report)
{
    for (uint32_t r = 0; r < report->n_shown; r++)
        if (report_is_uncertain(report, &report->rows[r]))
            return true;
    return false;
}

static void add(struct pm_buf *hints, const char *before, const char *text)
{
    pm_buf_printf(hints, "%s%s", hints->len ? "; " : "", before);
    for (const char *p = text; *p; p++)
        pm_buf_add_byte(hints, (unsigned char)tolower((unsigned char)*p));
}

/* Levels of sentences of somebody's own: every archive has Base and Source. */
static void add_levels(const struct report *report, struct pm_buf *hints)
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

static bool is_shown(const struct report *report, pm_index metric)
{
    for (uint32_t m = 0; m < report->n_metrics; m++)
        if (report->metrics[m] == metric)
            return true;
    return false;
}

/* What is neither a time nor a by-product of times or bytes, and is not shown. */
static void add_metrics(const struct report *report, struct pm_buf *hints)
{
    const struct pm_graph *graph = report->data->graph;
    struct pm_buf heap = PM_BUF_INIT(4096), others = PM_BUF_INIT(4096);
    for (pm_index m = 0; m < graph->n_metrics; m++) {
        const struct pm_metric *metric = &graph->metrics[m];
        if (!strcmp(metric->kind, "time") || !strcmp(metric->name, "n_calls") ||
            !strcmp(metric->name, "n_samples") || !strcmp(metric->name, "n_allocations") ||
            is_shown(report, m) || !report_is_measured(graph, m))
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

static void print_uncertain(const struct report *report, const char *dim, const char *reset,
                            FILE *out)
{
    if (report->metrics[report->primary] == report->wall_metric)
        fprintf(out, "%s~: an estimate, for much was taken out that measuring cost%s\n", dim,
                reset);
    else
        fprintf(out, "%s~: fewer than %d samples%s\n", dim, REPORT_FEW_SAMPLES, reset);
}

void report_print_hints(struct report *report, const struct report_term *term, FILE *out)
{
    const char *dim = term->color ? REPORT_DIM : "", *reset = term->color ? REPORT_RESET : "";
    if (!term->width)
        return;
    if (has_uncertain_row(report))
        print_uncertain(report, dim, reset, out);
    struct pm_buf hints = PM_BUF_INIT(1 << 16);
    add_levels(report, &hints);
    add_metrics(report, &hints);
    const char *text =
        hints.len && !hints.failed ? report_printable(&report->arena, hints.data) : NULL;
    if (text) {
        fprintf(out, "%salso in this archive: ", dim);
        report_put_cut(term, out, text, term->width - 22, false, false);
        fprintf(out, "%s\n", reset);
    }
    pm_buf_release(&hints);
}
