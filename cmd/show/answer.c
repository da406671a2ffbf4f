/* The answer to a question, for people and for programs. */
#include "answer_page.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_NAMED = 3, TEXT_BYTES = 1 << 20 };

/* --- what a row is --- */

static void add_class(struct pm_buf *out, const struct show_answer_page *page, uint32_t sentence,
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
static void add_match(struct pm_buf *out, const struct show_answer_page *page,
                      const struct pm_answer_row *row, uint32_t i, bool brief)
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
const char *show_answer_row_text(const struct show_answer_page *page,
                                 const struct pm_answer_row *row, bool brief)
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

static const struct show_answer_page *sorting; /* qsort has no argument of its own */

static int64_t key_of(const struct show_answer_page *page, uint32_t row)
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

static bool page_init(struct show_answer_page *page, struct pm_view *report,
                      const struct pm_question *question, const struct pm_answer *answer,
                      const struct show_answer_options *options)
{
    *page = (struct show_answer_page){
        .report = report, .question = question, .answer = answer, .options = options};
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
        if (pm_ask_row_is_empty(report, row))
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

double show_answer_share_of(const struct show_answer_page *page, const struct pm_amount *amounts)
{
    if (page->primary == PM_NONE || page->answer->totals[page->primary].value == 0)
        return NAN;
    return 100 * (double)amounts[page->primary].value /
           (double)page->answer->totals[page->primary].value;
}

double show_answer_number_of(const struct pm_graph *graph, pm_index metric,
                             const struct pm_amount *amount)
{
    if (graph->metrics[metric].aggregation == PM_AVERAGE)
        return amount->n > 0 ? (double)amount->value / amount->n : NAN;
    return graph->metrics[metric].aggregation != PM_SUM && amount->n == 0 ? NAN
                                                                          : (double)amount->value;
}

double show_answer_formula(const struct show_answer_page *page, uint32_t i,
                           const struct pm_amount *amounts)
{
    const struct pm_view *report = page->report;
    double values[PM_VIEW_MAX_METRICS + 1] = {0};
    for (uint32_t m = 0; m < report->n_metrics; m++)
        values[m] = show_answer_number_of(report->data->graph, report->metrics[m],
                                          &amounts[report->metrics[m]]);
    if (report->calls_metric != PM_NONE)
        values[PM_VIEW_MAX_METRICS] = (double)amounts[report->calls_metric].value;
    return pm_formula_value(&report->formulas[i], values);
}

bool show_answer_formula_is_uncertain(const struct show_answer_page *page, uint32_t i)
{
    const struct pm_view *report = page->report;
    bool is_uncertain = false;
    for (uint32_t m = 0; m < report->n_metrics; m++)
        if (pm_formula_uses(&report->formulas[i], m))
            is_uncertain |= show_answer_is_at_least(page, NULL, report->metrics[m]) ||
                            show_answer_is_at_most(page, NULL, report->metrics[m]) ||
                            show_answer_count_is_uncertain(page, m, page->answer->amounts);
    return is_uncertain || show_answer_is_doubtful(page);
}

bool show_answer_count_is_uncertain(const struct show_answer_page *page, uint32_t m,
                                    const struct pm_amount *amounts)
{
    const struct pm_view *report = page->report;
    return pm_view_counts_are_few(report, m, (double)amounts[report->metrics[m]].value);
}

bool show_answer_is_uncertain(const struct show_answer_page *page, const struct pm_amount *amounts)
{
    bool is_uncertain = show_answer_is_doubtful(page);
    for (uint32_t m = 0; m < page->report->n_metrics; m++)
        is_uncertain |= show_answer_count_is_uncertain(page, m, amounts);
    return is_uncertain;
}

/* Is the metric, or any that is shown for PM_NONE, this one? */
static bool is_metric(const struct show_answer_page *page, pm_index metric, pm_index that)
{
    return metric == PM_NONE ? pm_view_shows(page->report, that) : metric == that;
}

/* Is one of these bits that of the metric, or of any for PM_NONE? */
static bool is_among(const struct show_answer_page *page, pm_index metric, uint32_t bits)
{
    for (uint32_t m = 0; m < page->report->n_metrics; m++)
        if (bits & 1u << m && (metric == PM_NONE || page->report->metrics[m] == metric))
            return true;
    return false;
}

bool show_answer_is_at_least(const struct show_answer_page *page, const struct pm_answer_row *row,
                             pm_index metric)
{
    const struct pm_answer *answer = page->answer;
    bool is_wall = is_metric(page, metric, page->report->wall_metric);
    bool any =
        (answer->samples_are_at_least && is_metric(page, metric, page->report->cpu_metric)) ||
        is_among(page, metric, answer->counts_at_least);
    for (uint32_t r = 0; r < answer->n_rows; r++) {
        const struct pm_answer_row *one = &answer->rows[r];
        if (!row || one == row)
            any |= one->costs_at_least || (one->wall_at_least && is_wall);
    }
    return any;
}

bool show_answer_is_at_most(const struct show_answer_page *page, const struct pm_answer_row *row,
                            pm_index metric)
{
    const struct pm_answer *answer = page->answer;
    bool is_wall = is_metric(page, metric, page->report->wall_metric);
    bool any = (answer->samples_are_at_most && is_metric(page, metric, page->report->cpu_metric)) ||
               is_among(page, metric, answer->counts_at_most);
    for (uint32_t r = 0; r < answer->n_rows; r++) {
        const struct pm_answer_row *one = &answer->rows[r];
        if (!row || one == row)
            any |= one->costs_at_most || (one->wall_at_most && is_wall);
    }
    return any;
}

bool show_answer_is_doubtful(const struct show_answer_page *page)
{
    return page->answer->is_doubtful && page->primary != PM_NONE &&
           page->primary == page->report->wall_metric;
}

double show_answer_part_of_run(const struct show_answer_page *page, int64_t part)
{
    int64_t total = page->answer->totals[page->primary].value;
    return total ? 100 * (double)part / (double)total : 0;
}

bool show_answer_has_bounds(const struct show_answer_page *page)
{
    return page->answer->has_bounds && page->primary != PM_NONE &&
           page->report->data->graph->metrics[page->primary].aggregation == PM_SUM;
}

/* Statements do more than what was asked for, and have code that is for several things. */
bool show_answer_has_most(const struct show_answer_page *page)
{
    const struct pm_answer *answer = page->answer;
    return show_answer_has_bounds(page) && !answer->is_open &&
           show_answer_part_of_run(page, answer->most[page->primary] -
                                             answer->amounts[page->primary].value) >=
               SHOW_TOLD_FROM_PCT;
}

enum show_verdict show_answer_verdict(const struct show_answer_page *page)
{
    bool is_sure = false;
    for (uint32_t i = 0; i < page->n_shown; i++)
        is_sure |= !page->answer->rows[page->order[i]].is_folded;
    if (page->n_shown)
        return is_sure ? SHOW_TRUE : SHOW_NOT_KNOWN;
    if (page->answer->is_partial || show_answer_has_most(page))
        return SHOW_NOT_KNOWN;
    return page->answer->is_by_chance ? SHOW_NOT_SEEN : SHOW_NEVER;
}

/* --- all formats --- */

static bool write_page(const struct show_answer_page *page)
{
    FILE *out = page->options->out ? page->options->out : stdout;
    if (page->options->json)
        return show_answer_json(page, out);
    if (page->options->csv)
        return show_answer_csv(page, out);
    return show_answer_table(page, out);
}

enum pm_status show_answer(struct pm_view *report, const struct pm_question *question,
                           const struct pm_answer *answer,
                           const struct show_answer_options *options, struct pm_error *err)
{
    struct show_answer_page page;
    bool good = page_init(&page, report, question, answer, options) && write_page(&page);
    free(page.order);
    return good ? PM_OK : pm_error_set(err, PM_ERR_MEMORY, "out of memory");
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
