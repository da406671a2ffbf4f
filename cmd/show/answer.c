/* The answer to a question, for people and for programs. */
#include "answer.h"
#include "cells.h"

#include "mapping/base/json.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_NAMED = 3, TEXT_BYTES = 1 << 20 };

struct page {
    struct pm_view *report;
    const struct pm_question *question;
    const struct pm_answer *answer;
    const struct show_answer_options *options;
    uint32_t *order; /* of rows */
    uint32_t n_shown;
    pm_index primary; /* metric; PM_NONE: none but calls */
    bool has_shared[PM_VIEW_MAX_METRICS], has_deferred[PM_VIEW_MAX_METRICS], has_times;
};

/* --- what a row is --- */

static void add_class(struct pm_buf *out, const struct page *page, uint32_t sentence,
                      uint32_t class, bool brief)
{
    const struct pm_question_class *c = &page->answer->matches[sentence].classes[class];
    if (brief)
        pm_ask_add_brief_sentence(out, page->report, c->verb, c->nouns, c->n_nouns);
    else
        pm_ask_add_sentence(out, page->report->data->graph, c->verb, c->nouns, c->n_nouns);
    struct pm_buf place = PM_BUF_INIT(TEXT_BYTES);
    if (c->n_nouns)
        pm_ask_add_place(&place, page->report, c->nouns[0]);
    if (place.len)
        pm_buf_printf(out, " %s", place.data);
    pm_buf_release(&place);
}

/* "{u Reads} heat.c:12 + {v Reads} heat.c:13": what one piece of code does at once. */
static void add_match(struct pm_buf *out, const struct page *page, const struct pm_answer_row *row,
                      uint32_t i, bool brief)
{
    const struct pm_answer_match *match = &row->matches[i];
    for (uint32_t k = 0; k < match->n_classes && k < MAX_NAMED; k++) {
        pm_buf_add_str(out, k ? " + " : "");
        add_class(out, page, page->answer->asked[i], match->classes[k], brief);
    }
    if (match->n_classes > MAX_NAMED)
        pm_buf_printf(out, " + %u more", match->n_classes - MAX_NAMED);
}

/* brief: for tables. */
static const char *row_text(const struct page *page, const struct pm_answer_row *row, bool brief)
{
    struct pm_buf out = PM_BUF_INIT(TEXT_BYTES);
    bool any = false;
    for (uint32_t i = 0; i < page->answer->n_asked; i++) {
        if (row->matches[i].n_classes == 0)
            continue;
        pm_buf_add_str(&out, any ? ", " : "");
        add_match(&out, page, row, i, brief);
        any = true;
    }
    const char *copy =
        any && out.data ? pm_arena_strndup(&page->report->arena, out.data, out.len) : "(all else)";
    const char *text = copy ? pm_text_printable(&page->report->arena, copy) : NULL;
    pm_buf_release(&out);
    return text ? text : "";
}

/* --- rows in order --- */

static const struct page *sorting; /* qsort has no argument of its own */

static int64_t key_of(const struct page *page, uint32_t row)
{
    const struct pm_answer_row *r = &page->answer->rows[row];
    return page->primary == PM_NONE ? r->n_times : r->amounts[page->primary].value;
}

static int by_amount(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int64_t key_x = key_of(sorting, x), key_y = key_of(sorting, y);
    return key_x != key_y ? (key_x < key_y) - (key_x > key_y) : (x > y) - (x < y);
}

static bool is_empty(const struct page *page, const struct pm_answer_row *row)
{
    for (uint32_t m = 0; m < page->report->n_metrics; m++)
        if (row->amounts[page->report->metrics[m]].value != 0)
            return false;
    return row->n_times == 0;
}

static bool page_init(struct page *page, struct pm_view *report, const struct pm_question *question,
                      const struct pm_answer *answer, const struct show_answer_options *options)
{
    *page =
        (struct page){.report = report, .question = question, .answer = answer, .options = options};
    page->order = pm_alloc_array(answer->n_rows + 1u, sizeof *page->order);
    if (!page->order)
        return false;
    for (uint32_t m = 0;
         m < report->n_metrics && !report->options.metrics;) /* nothing of it, and not asked for */
        if (m != report->primary && answer->amounts[report->metrics[m]].value == 0) {
            memmove(&report->metrics[m], &report->metrics[m + 1],
                    (--report->n_metrics - m) * sizeof *report->metrics);
            report->primary -= report->primary > m;
        } else {
            m++;
        }
    page->primary =
        report->primary < report->n_metrics ? report->metrics[report->primary] : PM_NONE;
    for (uint32_t r = 0; r < answer->n_rows; r++) {
        const struct pm_answer_row *row = &answer->rows[r];
        if (is_empty(page, row))
            continue;
        page->order[page->n_shown++] = r;
        page->has_times |= row->times_known;
        for (uint32_t m = 0; m < report->n_metrics; m++)
            page->has_shared[m] |= row->shared[report->metrics[m]].value != 0;
        for (uint32_t m = 0; m < report->n_metrics; m++)
            page->has_deferred[m] |= row->deferred[report->metrics[m]].value != 0;
    }
    sorting = page;
    qsort(page->order, page->n_shown, sizeof *page->order, by_amount);
    if (options->limit && page->n_shown > options->limit)
        page->n_shown = (uint32_t)options->limit;
    return true;
}

static double share_of(const struct page *page, const struct pm_amount *amounts)
{
    if (page->primary == PM_NONE || page->answer->totals[page->primary].value == 0)
        return NAN;
    return 100 * (double)amounts[page->primary].value /
           (double)page->answer->totals[page->primary].value;
}

static double number_of(const struct pm_graph *graph, pm_index metric,
                        const struct pm_amount *amount)
{
    if (graph->metrics[metric].aggregation == PM_AVERAGE)
        return amount->n > 0 ? (double)amount->value / amount->n : NAN;
    return graph->metrics[metric].aggregation != PM_SUM && amount->n == 0 ? NAN
                                                                          : (double)amount->value;
}

/* --- text --- */

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

static bool costs_are_at_least(const struct pm_answer *answer, const struct pm_answer_row *row)
{
    bool any = row && row->costs_at_least;
    for (uint32_t r = 0; !row && r < answer->n_rows; r++)
        any |= answer->rows[r].costs_at_least;
    return any;
}

static bool is_doubtful(const struct page *page)
{
    return page->answer->is_doubtful && page->primary != PM_NONE &&
           page->primary == page->report->wall_metric;
}

/* The cells of one row, in the order of the columns. row NULL: the total. */
static void make_cells(const struct page *page, const struct columns *columns, bool utf8,
                       const struct pm_answer_row *row, char cells[][CELL_BYTES])
{
    const struct pm_view *report = page->report;
    const struct pm_amount *amounts = row ? row->amounts : page->answer->amounts;
    int n = 0;
    for (uint32_t m = 0; m < report->n_metrics; m++) {
        pm_index metric = report->metrics[m];
        double number = number_of(report->data->graph, metric, &amounts[metric]);
        bool at_least = (report->n_lost_events || costs_are_at_least(page->answer, row)) &&
                        isfinite(number) &&
                        report->data->graph->metrics[metric].aggregation == PM_SUM;
        size_t mark = at_least ? (size_t)snprintf(cells[n], CELL_BYTES, utf8 ? "≥ " : ">= ") : 0;
        put_number(cells[n++] + mark, CELL_BYTES - mark, number, &columns->scales[m]);
        if (page->has_deferred[m])
            put_part(cells[n++], row ? row->deferred : page->answer->deferred, metric,
                     &columns->scales[m]);
        if (page->has_shared[m])
            put_part(cells[n++], row ? row->shared : NULL, metric, &columns->scales[m]);
    }
    if (report->n_metrics) {
        double share = share_of(page, amounts);
        *cells[n] = 0;
        if (isfinite(share))
            snprintf(cells[n], CELL_BYTES, "%s%.1f", is_doubtful(page) ? "~" : "", share);
        n++;
    }
    if (page->has_times) {
        *cells[n] = 0;
        if (row && row->times_known)
            snprintf(cells[n], CELL_BYTES, "%s%lld",
                     !row->times_at_least ? ""
                     : utf8               ? "≥ "
                                          : ">= ",
                     (long long)row->n_times);
    }
}

static void head(struct columns *columns, const char *part, struct pm_str metric, const char *unit)
{
    snprintf(columns->heads[columns->n++], CELL_BYTES, "%s%s%.*s%s%s", part,
             *part && metric.len ? " " : "", (int)metric.len, metric.p, *unit ? " " : "", unit);
}

static void make_columns(const struct page *page, bool utf8, struct columns *columns)
{
    const struct pm_view *report = page->report;
    const struct pm_graph *graph = report->data->graph;
    *columns = (struct columns){0};
    for (uint32_t m = 0; m < report->n_metrics; m++) {
        const struct pm_metric *metric = &graph->metrics[report->metrics[m]];
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

static void put_fold(const struct page *page, FILE *out)
{
    if (page->report->folded_value > 0)
        fputs("  code of system headers counts for what uses it (--fold system)\n", out);
}

/* Names that fit several things of the source: which. */
static void put_several(const struct page *page, const struct show_term *term, FILE *out)
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

static void put_head(const struct page *page, const struct show_term *term, FILE *out)
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
    fputc('\n', out);
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
static const char **make_texts(const struct page *page)
{
    const char **texts = pm_alloc_array(page->n_shown + 1u, sizeof *texts);
    uint32_t *by_text = pm_alloc_array(page->n_shown + 1u, sizeof *by_text);
    if (!texts || !by_text) {
        free(texts);
        free(by_text);
        return NULL;
    }
    for (uint32_t i = 0; i < page->n_shown; i++) {
        texts[i] = row_text(page, &page->answer->rows[page->order[i]], true);
        by_text[i] = i;
    }
    qsort_r(by_text, page->n_shown, sizeof *by_text, compare_texts, texts);
    for (uint32_t i = 0, n; i < page->n_shown; i += n) {
        n = 1;
        while (i + n < page->n_shown && !strcmp(texts[by_text[i]], texts[by_text[i + n]]))
            n++;
        for (uint32_t k = i; n > 1 && k < i + n; k++)
            texts[by_text[k]] = row_text(page, &page->answer->rows[page->order[by_text[k]]], false);
    }
    free(by_text);
    return texts;
}

static bool put_rows(const struct page *page, const struct show_term *term, FILE *out)
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
        n_more += !is_empty(page, &page->answer->rows[r]);
    n_more -= page->n_shown;
    char what[64] = "the answer";
    if (n_more)
        snprintf(what, sizeof what, "the answer, with %u more row%s", n_more,
                 n_more == 1 ? "" : "s");
    put_line(&columns, cells, what, term, out);
    free(texts);
    return true;
}

static double part_of_run(const struct page *page, int64_t part)
{
    int64_t total = page->answer->totals[page->primary].value;
    return total ? 100 * (double)part / (double)total : 0;
}

/* What is less is not worth a word. */
static const double told_from_pct = 0.5;

static bool has_bounds(const struct page *page)
{
    return page->answer->has_bounds && page->primary != PM_NONE &&
           page->report->data->graph->metrics[page->primary].aggregation == PM_SUM;
}

/* Statements do more than what was asked for, and have code that is for several things. */
static bool has_most(const struct page *page)
{
    const struct pm_answer *answer = page->answer;
    return has_bounds(page) &&
           part_of_run(page, answer->most[page->primary] - answer->amounts[page->primary].value) >=
               told_from_pct;
}

static void put_bounds(const struct page *page, FILE *out)
{
    if (!has_bounds(page))
        return;
    const struct pm_answer *answer = page->answer;
    int64_t inferred = answer->amounts[page->primary].value - answer->least[page->primary];
    if (part_of_run(page, inferred) >= told_from_pct)
        fprintf(
            out,
            "%.1f %% of the run are inferred, from the code's statement or from what callers pass: "
            "its instructions do not say it\n",
            part_of_run(page, inferred));
    if (has_most(page))
        fprintf(
            out,
            "at most %.1f %%: with other code of these statements, and code that is passed this "
            "or other data\n",
            part_of_run(page, answer->most[page->primary]));
}

static bool print_table(struct pm_view *report, const struct pm_question *question,
                        const struct pm_answer *answer, const struct show_answer_options *options,
                        FILE *out)
{
    struct page page;
    struct show_term term = show_term_of(out, &options->look);
    bool good = page_init(&page, report, question, answer, options);
    if (good) {
        put_head(&page, &term, out);
        if (page.n_shown)
            good = put_rows(&page, &term, out);
        else if (answer->is_partial)
            fprintf(out, "not known: not all that was asked for was followed all the time\n");
        else if (has_most(&page))
            fputs("not known: no code was seen that does this and nothing else\n", out);
        else
            fprintf(out, "never true in this %s: nothing was spent\n",
                    options->interval ? "time" : "run");
        put_bounds(&page, out);
    }
    free(page.order);
    return good;
}

/* --- JSON --- */

static void json_match(const struct page *page, const struct pm_answer_row *row, uint32_t i,
                       struct pm_json *json)
{
    const struct pm_graph *graph = page->report->data->graph;
    uint32_t sentence = page->answer->asked[i];
    pm_json_object(json, NULL);
    pm_json_string(json, "asked", page->question->sentences[sentence].text);
    pm_json_array(json, "sentences");
    for (uint32_t k = 0; k < row->matches[i].n_classes; k++) {
        const struct pm_question_class *c =
            &page->answer->matches[sentence].classes[row->matches[i].classes[k]];
        pm_json_object(json, NULL);
        pm_json_string(json, "level", graph->levels[graph->verbs[c->verb].level].name);
        pm_json_string(json, "verb", graph->verbs[c->verb].name);
        pm_json_array(json, "nouns");
        for (uint32_t n = 0; n < c->n_nouns; n++) {
            const struct pm_noun *noun = &graph->nouns[c->nouns[n]];
            pm_json_object(json, NULL);
            pm_json_string(json, "name", noun->name);
            pm_json_string(json, "kind", noun->kind);
            pm_json_string(json, "file", *noun->file ? noun->file : NULL);
            if (noun->line_no)
                pm_json_u64(json, "line_no", noun->line_no);
            else
                pm_json_null(json, "line_no");
            pm_json_end(json);
        }
        pm_json_end(json);
        pm_json_end(json);
    }
    pm_json_end(json);
    pm_json_end(json);
}

static void json_part(const char *what, const struct pm_metric *metric,
                      const struct pm_amount *amount, struct pm_json *json)
{
    char key[128];
    snprintf(key, sizeof key, "%s_%s", what, metric->name);
    pm_json_i64(json, key, amount->value);
}

/* shared, deferred: NULL where there are none. */
static void json_amounts(const struct page *page, const struct pm_amount *amounts,
                         const struct pm_amount *shared, const struct pm_amount *deferred,
                         struct pm_json *json)
{
    const struct pm_view *report = page->report;
    const struct pm_graph *graph = report->data->graph;
    for (uint32_t m = 0; m < report->n_metrics; m++) {
        const struct pm_metric *metric = &graph->metrics[report->metrics[m]];
        const struct pm_amount *amount = &amounts[report->metrics[m]];
        if (metric->aggregation == PM_SUM)
            pm_json_i64(json, metric->name, amount->value);
        else
            pm_json_double(json, metric->name, number_of(graph, report->metrics[m], amount));
        if (shared && metric->aggregation == PM_SUM)
            json_part("shared", metric, &shared[report->metrics[m]], json);
        if (deferred && metric->aggregation == PM_SUM)
            json_part("deferred", metric, &deferred[report->metrics[m]], json);
    }
}

static void json_asking(const struct show_answer_options *options, struct pm_json *json)
{
    const struct show_interval *interval = options->interval;
    const struct pm_ask_cost *cost = options->cost;
    if (interval) {
        pm_json_object(json, "interval");
        pm_json_u64(json, "pid", interval->pid);
        pm_json_double(json, "from_s", interval->from_s);
        pm_json_double(json, "to_s", interval->to_s);
        pm_json_end(json);
    }
    if (cost) {
        pm_json_object(json, "asking");
        pm_json_i64(json, "n_calls", cost->n_calls);
        if (cost->events_ns == PM_UNKNOWN)
            pm_json_null(json, "events_ns");
        else
            pm_json_i64(json, "events_ns", cost->events_ns);
        pm_json_i64(json, "samples_ns", cost->samples_ns);
        pm_json_double(json, "share_pct", cost->share_pct);
        pm_json_end(json);
    }
}

static void print_json(struct pm_view *report, const struct pm_question *question,
                       const struct pm_answer *answer, const struct show_answer_options *options,
                       FILE *out)
{
    struct page page;
    struct pm_json json;
    if (!page_init(&page, report, question, answer, options))
        return;
    pm_json_init(&json, out);
    pm_json_object(&json, NULL);
    pm_json_string(&json, "format", "perfmap-answer");
    pm_json_u64(&json, "version", 1);
    pm_json_string(&json, "question", question->text);
    pm_json_string(&json, "command", report->data->executions[0].command);
    pm_json_string(&json, "share_of",
                   page.primary == PM_NONE ? NULL
                                           : report->data->graph->metrics[page.primary].name);
    json_asking(options, &json);
    pm_json_array(&json, "notes");
    for (uint32_t i = 0; i < answer->n_notes; i++)
        pm_json_string(&json, NULL, answer->notes[i].text);
    pm_json_end(&json);
    pm_json_bool(&json, "is_complete", !answer->is_partial);
    pm_json_object(&json, "total");
    json_amounts(&page, answer->totals, NULL, NULL, &json);
    pm_json_end(&json);
    pm_json_object(&json, "answer");
    json_amounts(&page, answer->amounts, NULL, answer->deferred, &json);
    pm_json_double(&json, "share_pct", share_of(&page, answer->amounts));
    pm_json_bool(&json, "is_at_least", costs_are_at_least(answer, NULL));
    pm_json_bool(&json, "is_uncertain", is_doubtful(&page));
    if (has_bounds(&page)) {
        int64_t primary = answer->amounts[page.primary].value;
        pm_json_double(&json, "at_most_share_pct", part_of_run(&page, answer->most[page.primary]));
        pm_json_double(&json, "inferred_share_pct",
                       part_of_run(&page, primary - answer->least[page.primary]));
        pm_json_bool(&json, "is_mostly_inferred", answer->least[page.primary] < primary / 2);
    }
    pm_json_end(&json);
    pm_json_array(&json, "rows");
    for (uint32_t i = 0; i < page.n_shown; i++) {
        const struct pm_answer_row *row = &answer->rows[page.order[i]];
        pm_json_object(&json, NULL);
        json_amounts(&page, row->amounts, row->shared, row->deferred, &json);
        pm_json_double(&json, "share_pct", share_of(&page, row->amounts));
        if (row->times_known)
            pm_json_i64(&json, "n_times", row->n_times);
        else
            pm_json_null(&json, "n_times");
        pm_json_bool(&json, "n_times_complete", !row->times_at_least);
        pm_json_bool(&json, "is_at_least", row->costs_at_least);
        pm_json_array(&json, "matches");
        for (uint32_t k = 0; k < answer->n_asked; k++)
            json_match(&page, row, k, &json);
        pm_json_end(&json);
        pm_json_end(&json);
    }
    pm_json_end(&json);
    pm_json_end(&json);
    (void)pm_json_done(&json); /* a failed write shows on the stream */
    free(page.order);
}

/* --- CSV --- */

static void print_csv(struct pm_view *report, const struct pm_question *question,
                      const struct pm_answer *answer, const struct show_answer_options *options,
                      FILE *out)
{
    struct page page;
    const struct pm_graph *graph = report->data->graph;
    if (!page_init(&page, report, question, answer, options))
        return;
    fputs("what", out);
    for (uint32_t m = 0; m < report->n_metrics; m++)
        fprintf(out, ",%1$s,shared_%1$s,deferred_%1$s", graph->metrics[report->metrics[m]].name);
    fputs(",share_pct,n_times,n_times_complete\n", out);
    for (uint32_t i = 0; i < page.n_shown; i++) {
        const struct pm_answer_row *row = &answer->rows[page.order[i]];
        show_csv_text(out, row_text(&page, row, false));
        for (uint32_t m = 0; m < report->n_metrics; m++) {
            double number = number_of(graph, report->metrics[m], &row->amounts[report->metrics[m]]);
            fputc(',', out);
            if (isfinite(number))
                fprintf(out, "%.17g", number);
            fprintf(out, ",%lld,%lld", (long long)row->shared[report->metrics[m]].value,
                    (long long)row->deferred[report->metrics[m]].value);
        }
        double share = share_of(&page, row->amounts);
        fputc(',', out);
        if (isfinite(share))
            fprintf(out, "%.4f", share);
        if (row->times_known)
            fprintf(out, ",%lld,%d\n", (long long)row->n_times, !row->times_at_least);
        else
            fputs(",,1\n", out);
    }
    free(page.order);
}

/* --- all of them --- */

enum pm_status show_answer(struct pm_view *report, const struct pm_question *question,
                           const struct pm_answer *answer,
                           const struct show_answer_options *options, struct pm_error *err)
{
    if (options->json)
        print_json(report, question, answer, options, stdout);
    else if (options->csv)
        print_csv(report, question, answer, options, stdout);
    else if (!print_table(report, question, answer, options, stdout))
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    return PM_OK;
}

enum pm_status show_question(struct pm_view *report, const struct show_answer_options *options,
                             struct pm_error *err)
{
    struct pm_question *question = NULL;
    struct pm_answer *answer = NULL;
    struct pm_ask_cost cost;
    struct show_answer_options with_cost = *options;
    with_cost.cost = &cost;
    enum pm_status status = pm_question_parse(options->text, err, &question);
    if (status == PM_ERR_USAGE && !strchr(options->text, '{'))
        pm_ask_offer_sentences(report, options->text, err);
    if (status == PM_OK)
        status = pm_ask_answer(report, question, false, err, &answer);
    if (status == PM_OK)
        status = pm_ask_find_cost(report->data, question, err, &cost);
    if (status == PM_OK)
        status = show_answer(report, question, answer, &with_cost, err);
    pm_answer_free(answer);
    pm_question_free(question);
    return status;
}
