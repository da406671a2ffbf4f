/* The answer to a question as a table. */
#include "over_time.h"
#include "answer_page.h"
#include "cells.h"

#include <math.h>
#include <stdlib.h>

enum { TEXT_BYTES = 1 << 20 };
enum { CELL_BYTES = 48, COLUMN_GAP = 2 };

struct columns {
    struct show_scale scales[PM_VIEW_MAX_METRICS];
    char heads[3 * PM_VIEW_MAX_METRICS + 2][CELL_BYTES];
    int widths[3 * PM_VIEW_MAX_METRICS + 2];
    int n;
};

static void put_number(char *cell, size_t size, double number, const struct show_scale *scale)
{
    *cell = 0;
    if (isfinite(number))
        snprintf(cell, size, "%.*f", scale->decimals, number / scale->divisor);
}

static void put_part(char *cell, const struct pm_amount *parts, pm_index metric,
                     const struct show_scale *scale)
{
    bool any = parts && parts[metric].value != 0;
    put_number(cell, CELL_BYTES, any ? (double)parts[metric].value : NAN, scale);
}

/* Both: it is neither. */
static const char *bound_mark(bool at_least, bool at_most, bool utf8)
{
    if (at_least && at_most)
        return "~";
    if (at_most)
        return utf8 ? "≤ " : "<= ";
    return at_least ? show_at_least_mark(utf8) : "";
}

static const char *mark_of(const struct show_answer_page *page, const struct pm_answer_row *row,
                           uint32_t m, bool utf8)
{
    pm_index metric = page->report->metrics[m];
    const struct pm_amount *amounts = row ? row->amounts : page->answer->amounts;
    if (show_answer_count_is_uncertain(page, m, amounts))
        return "~";
    bool at_least = page->report->n_lost_events || show_answer_is_at_least(page, row, metric);
    return bound_mark(at_least, show_answer_is_at_most(page, row, metric), utf8);
}

/* The cells of one row, in the order of the columns. row NULL: the total. */
static void make_cells(const struct show_answer_page *page, const struct columns *columns,
                       bool utf8, const struct pm_answer_row *row, char cells[][CELL_BYTES])
{
    const struct pm_view *report = page->report;
    const struct pm_amount *amounts = row ? row->amounts : page->answer->amounts;
    int n = 0;
    for (uint32_t m = 0; m < report->n_metrics; m++) {
        pm_index metric = report->metrics[m];
        double number = show_answer_number_of(report->data->graph, metric, &amounts[metric]);
        bool is_sum = report->data->graph->metrics[metric].aggregation == PM_SUM;
        size_t mark = 0;
        if (is_sum && isfinite(number))
            mark = (size_t)snprintf(cells[n], CELL_BYTES, "%s", mark_of(page, row, m, utf8));
        put_number(cells[n++] + mark, CELL_BYTES - mark, number, &columns->scales[m]);
        if (page->has_deferred[m])
            put_part(cells[n++], row ? row->deferred : page->answer->deferred, metric,
                     &columns->scales[m]);
        if (page->has_shared[m])
            put_part(cells[n++], row ? row->shared : NULL, metric, &columns->scales[m]);
    }
    if (report->n_metrics) {
        double share = show_answer_share_of(page, amounts);
        *cells[n] = 0;
        if (isfinite(share))
            snprintf(cells[n], CELL_BYTES, "%s%.1f", show_answer_is_doubtful(page) ? "~" : "",
                     share);
        n++;
    }
    if (page->has_times) {
        *cells[n] = 0;
        if (row && row->times_known)
            snprintf(cells[n], CELL_BYTES, "%s%lld",
                     bound_mark(row->times_at_least, row->times_at_most, utf8),
                     (long long)row->n_times);
    }
}

static void head(struct columns *columns, const char *part, struct pm_str metric, const char *unit)
{
    snprintf(columns->heads[columns->n++], CELL_BYTES, "%s%s%.*s%s%s", part,
             *part && metric.len ? " " : "", (int)metric.len, metric.p, *unit ? " " : "", unit);
}

static void make_columns(const struct show_answer_page *page, bool utf8, struct columns *columns)
{
    const struct pm_view *report = page->report;
    const struct pm_graph *graph = report->data->graph;
    *columns = (struct columns){0};
    for (uint32_t m = 0; m < report->n_metrics; m++) {
        const struct pm_graph_metric *metric = &graph->metrics[report->metrics[m]];
        columns->scales[m] =
            show_scale_of(metric, (double)page->answer->amounts[report->metrics[m]].value, utf8);
        const char *unit = columns->scales[m].unit;
        size_t len = *unit ? pm_view_bare_metric_len(metric) : strlen(metric->name);
        struct pm_str name = {metric->name, len > 24 ? 24 : len};
        struct pm_str of = report->n_metrics > 1 ? name : PM_STR(""); /* which of them */
        head(columns, "", name, unit);
        if (page->has_deferred[m])
            head(columns, "deferred", of, unit);
        if (page->has_shared[m])
            head(columns, "shared", of, unit);
    }
    if (report->n_metrics)
        head(columns, "", PM_STR("share %"), "");
    if (page->has_times)
        head(columns, "", PM_STR("times"), "");
}

static void widen(struct columns *columns, char cells[][CELL_BYTES])
{
    for (int i = 0; i < columns->n; i++) {
        int width = pm_text_width(cells[i]);
        columns->widths[i] = width > columns->widths[i] ? width : columns->widths[i];
    }
}

static void put_line(const struct columns *columns, char cells[][CELL_BYTES], const char *what,
                     const struct show_term *term, FILE *out)
{
    int used = 0;
    for (int i = 0; i < columns->n; i++) {
        fprintf(out, "%*s%s%*s", columns->widths[i] - pm_text_width(cells[i]), "", cells[i],
                COLUMN_GAP, "");
        used += columns->widths[i] + COLUMN_GAP;
    }
    int room = term->width > used + 20      ? term->width - used
               : term->width || term->whole ? 0
                                            : SHOW_NAME_MOST;
    if (room && pm_text_width(what) > room)
        show_put_cut_middle(term, out, what, room);
    else
        fputs(what, out);
    fputc('\n', out);
}

static void put_rule(const struct columns *columns, int what_width, const struct show_term *term,
                     FILE *out)
{
    int n = what_width;
    for (int i = 0; i < columns->n; i++)
        n += columns->widths[i] + COLUMN_GAP;
    if (term->width && n > term->width)
        n = term->width;
    for (int i = 0; i < n; i++)
        fputs(term->utf8 ? "─" : "-", out);
    fputc('\n', out);
}

static void put_ns(int64_t ns, FILE *out)
{
    if (ns < 1000)
        fputs("less than 0.001 ms", out);
    else
        fprintf(out, "about %.*f ms", ns < 10000000 ? 3 : 0, (double)ns / 1e6);
}

/* "  asking cost about 0.052 ms for 25000 calls, 1.100 ms for samples: 0.4 % of the program's
 * CPU time" */
static void put_cost(const struct pm_ask_cost *cost, bool is_live, FILE *out)
{
    if (!cost || cost->events_ns == PM_UNKNOWN || (cost->n_calls <= 0 && cost->samples_ns <= 0))
        return;
    fputs("  asking cost ", out);
    if (cost->n_calls > 0) {
        put_ns(cost->events_ns, out);
        fprintf(out, " for %lld call%s", (long long)cost->n_calls, cost->n_calls == 1 ? "" : "s");
    }
    if (cost->samples_ns > 0) {
        fputs(cost->n_calls > 0 ? " and " : "", out);
        put_ns(cost->samples_ns, out);
        fputs(" for samples", out);
    }
    if (isfinite(cost->share_pct))
        fprintf(out, ": %.1f %% of %s", cost->share_pct,
                is_live ? "the time" : "the program's CPU time");
    fputc('\n', out);
}

static void put_fold(const struct show_answer_page *page, FILE *out)
{
    if (page->report->folded_value > 0)
        fputs("  code of system headers counts for what uses it (--fold system)\n", out);
}

/* Names that fit several things of the source: which. */
static void put_several(const struct show_answer_page *page, const struct show_term *term,
                        FILE *out)
{
    const struct pm_question *question = page->question;
    for (uint32_t s = 0; s < question->n_sentences; s++)
        for (uint32_t i = 0; i < question->sentences[s].n_nouns; i++) {
            const struct pm_question_word *word = &question->sentences[s].nouns[i];
            struct pm_buf several = PM_BUF_INIT(1 << 20);
            const char *text =
                !word->level && pm_view_add_fitting(page->report, word->text, &several)
                    ? pm_text_printable(&page->report->arena, several.data)
                    : NULL;
            if (text)
                fprintf(out, "  %snote:%s %s\n", term->color ? SHOW_YELLOW : "",
                        term->color ? SHOW_RESET : "", text);
            pm_buf_release(&several);
        }
}

static void put_head(const struct show_answer_page *page, const struct show_term *term, FILE *out)
{
    struct pm_view *report = page->report;
    const struct show_interval *interval = page->options->interval;
    const char *text = pm_text_printable(&report->arena, page->question->text);
    const char *command = pm_text_printable(&report->arena, report->data->executions[0].command);
    fprintf(out, "%s%s%s\n  asked of: %s", term->color ? SHOW_BOLD : "", text ? text : "",
            term->color ? SHOW_RESET : "", command ? command : "");
    if (report->data->n_executions > 1)
        fprintf(out, " and %u more run%s", report->data->n_executions - 1,
                report->data->n_executions == 2 ? "" : "s");
    if (interval)
        fprintf(out, ", process %llu, from %.1f to %.1f s", (unsigned long long)interval->pid,
                interval->from_s, interval->to_s);
    char *part = show_interval_text(report, term->utf8);
    if (part)
        fprintf(out, ", %s", part);
    fputc('\n', out);
    free(part);
    put_cost(page->options->cost, interval != NULL, out);
    put_fold(page, out);
    put_several(page, term, out);
    for (uint32_t i = 0; i < page->answer->n_notes; i++) {
        const char *note = pm_text_printable(&report->arena, page->answer->notes[i].text);
        fprintf(out, "  %snote:%s %s\n", term->color ? SHOW_YELLOW : "",
                term->color ? SHOW_RESET : "", note ? note : "");
    }
    fputc('\n', out);
}

static int compare_texts(const void *a_pointer, const void *b_pointer, void *context)
{
    const char *const *texts = context;
    return strcmp(texts[*(const uint32_t *)a_pointer], texts[*(const uint32_t *)b_pointer]);
}

/* What shown rows are, in brief; those that would look alike so have their names in full. NULL:
 * memory ended. */
static const char **make_texts(const struct show_answer_page *page)
{
    const char **texts = pm_alloc_array(page->n_shown + 1u, sizeof *texts);
    uint32_t *by_text = pm_alloc_array(page->n_shown + 1u, sizeof *by_text);
    if (!texts || !by_text) {
        free(texts);
        free(by_text);
        return NULL;
    }
    for (uint32_t i = 0; i < page->n_shown; i++) {
        texts[i] = show_answer_row_text(page, &page->answer->rows[page->order[i]], true);
        by_text[i] = i;
    }
    qsort_r(by_text, page->n_shown, sizeof *by_text, compare_texts, texts);
    for (uint32_t i = 0, n; i < page->n_shown; i += n) {
        n = 1;
        while (i + n < page->n_shown && !strcmp(texts[by_text[i]], texts[by_text[i + n]]))
            n++;
        for (uint32_t k = i; n > 1 && k < i + n; k++)
            texts[by_text[k]] =
                show_answer_row_text(page, &page->answer->rows[page->order[by_text[k]]], false);
    }
    free(by_text);
    return texts;
}

static bool put_rows(const struct show_answer_page *page, const struct show_term *term, FILE *out)
{
    struct columns columns;
    char cells[3 * PM_VIEW_MAX_METRICS + 2][CELL_BYTES];
    const char **texts = make_texts(page);
    int what_width = 20;
    if (!texts)
        return false;
    make_columns(page, term->utf8, &columns);
    widen(&columns, columns.heads);
    make_cells(page, &columns, term->utf8, NULL, cells);
    widen(&columns, cells);
    for (uint32_t i = 0; i < page->n_shown; i++) {
        int width = pm_text_width(texts[i]);
        what_width = width > what_width ? width : what_width;
        make_cells(page, &columns, term->utf8, &page->answer->rows[page->order[i]], cells);
        widen(&columns, cells);
    }
    put_line(&columns, columns.heads, "while active", term, out);
    put_rule(&columns, what_width, term, out);
    for (uint32_t i = 0; i < page->n_shown; i++) {
        make_cells(page, &columns, term->utf8, &page->answer->rows[page->order[i]], cells);
        put_line(&columns, cells, texts[i], term, out);
    }
    put_rule(&columns, what_width, term, out);
    make_cells(page, &columns, term->utf8, NULL, cells);
    uint32_t n_more = 0;
    for (uint32_t r = 0; r < page->answer->n_rows; r++)
        n_more += !pm_ask_row_is_empty(page->report, &page->answer->rows[r]);
    n_more -= page->n_shown;
    char what[64] = "the answer";
    if (n_more)
        snprintf(what, sizeof what, "the answer, with %u more row%s", n_more,
                 n_more == 1 ? "" : "s");
    put_line(&columns, cells, what, term, out);
    free(texts);
    return true;
}

static void put_bounds(const struct show_answer_page *page, FILE *out)
{
    if (!show_answer_has_bounds(page))
        return;
    const struct pm_answer *answer = page->answer;
    int64_t inferred = answer->amounts[page->primary].value - answer->least[page->primary];
    if (show_answer_part_of_run(page, inferred) >= SHOW_TOLD_FROM_PCT)
        fprintf(
            out,
            "%.1f %% of the %s are inferred, from the code's statement or from what callers pass: "
            "its instructions do not say it\n",
            show_answer_part_of_run(page, inferred),
            pm_view_has_interval(page->report) ? "interval's costs" : "run");
    if (show_answer_has_most(page))
        fprintf(out,
                "at most %.1f %%: with other code of these statements and loops, and code that is "
                "passed this or other data\n",
                show_answer_part_of_run(page, answer->most[page->primary]));
}

static const char *reason_not_known(const struct pm_answer *answer)
{
    if (!answer->is_partial)
        return "no code was seen that does this and nothing else";
    if (answer->n_notes > 1)
        return "the notes above say why";
    return answer->n_notes ? "the note above says why"
                           : "not all that was asked for was followed all the time";
}

/* Those of the threads that are asked for; --live: of the interval. */
static int64_t n_samples_of(const struct show_answer_page *page)
{
    pm_index metric = page->report->samples_metric;
    return metric == PM_NONE ? 0 : page->answer->totals[metric].value;
}

static void put_not_seen(const struct show_answer_page *page, FILE *out)
{
    int64_t n = n_samples_of(page);
    if (n == 0)
        fputs("not seen: there were no samples\n", out);
    else if (n == 1)
        fputs("not seen: the only sample did not meet it\n", out);
    else
        fprintf(out, "not seen: none of the %lld samples met it\n", (long long)n);
}

/* There are no rows: why? */
static void put_nothing(const struct show_answer_page *page, FILE *out)
{
    enum show_verdict verdict = show_answer_verdict(page);
    if (verdict == SHOW_NOT_KNOWN)
        fprintf(out, "not known: %s\n", reason_not_known(page->answer));
    else if (verdict == SHOW_NOT_SEEN)
        put_not_seen(page, out);
    else
        fprintf(out, "never true in this %s: nothing was spent\n",
                page->options->interval ? "time" : "run");
}

/* "faults_per_call 330.000 while all of it was active" */
static void put_formulas(const struct show_answer_page *page, FILE *out)
{
    for (uint32_t i = 0; i < page->report->n_formulas; i++) {
        double value = show_answer_formula(page, i, page->answer->amounts);
        const char *name = page->report->formulas[i].name;
        if (isfinite(value))
            fprintf(out, "%s %s%.6g\n", name, show_answer_formula_is_uncertain(page, i) ? "~" : "",
                    value);
        else
            fprintf(out, "%s is not known: it divides by 0, or something is not known\n", name);
    }
}

bool show_answer_table(const struct show_answer_page *page, FILE *out)
{
    struct show_term term = show_term_of(out, &page->options->look);
    put_head(page, &term, out);
    if (page->n_shown == 0)
        put_nothing(page, out);
    else if (!put_rows(page, &term, out))
        return false;
    put_bounds(page, out);
    if (page->n_shown != 0)
        put_formulas(page, out);
    return true;
}
