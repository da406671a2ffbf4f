/* The answer to a question as JSON. */
#include "answer_page.h"
#include "over_time.h"

#include "mapping/base/json.h"

#include <math.h>

static void json_match(const struct show_answer_page *page, const struct pm_answer_row *row,
                       uint32_t i, struct pm_json *json)
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
            const struct pm_graph_noun *noun = &graph->nouns[c->nouns[n]];
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

static void json_part(const char *what, const struct pm_graph_metric *metric,
                      const struct pm_amount *amount, struct pm_json *json)
{
    char key[128];
    snprintf(key, sizeof key, "%s_%s", what, metric->name);
    pm_json_i64(json, key, amount->value);
}

/* shared, deferred: NULL where there are none. */
static void json_amounts(const struct show_answer_page *page, const struct pm_amount *amounts,
                         const struct pm_amount *shared, const struct pm_amount *deferred,
                         struct pm_json *json)
{
    const struct pm_view *report = page->report;
    const struct pm_graph *graph = report->data->graph;
    for (uint32_t m = 0; m < report->n_metrics; m++) {
        const struct pm_graph_metric *metric = &graph->metrics[report->metrics[m]];
        const struct pm_amount *amount = &amounts[report->metrics[m]];
        if (metric->aggregation == PM_SUM)
            pm_json_i64(json, metric->name, amount->value);
        else
            pm_json_double(json, metric->name,
                           show_answer_number_of(graph, report->metrics[m], amount));
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

static void json_bounds(const struct show_answer_page *page, struct pm_json *json)
{
    const struct pm_answer *answer = page->answer;
    if (!show_answer_has_bounds(page))
        return;
    int64_t primary = answer->amounts[page->primary].value;
    double most = show_answer_part_of_run(page, answer->most[page->primary]);
    bool is_bound = !answer->is_open && show_answer_verdict(page) != SHOW_NOT_SEEN;
    pm_json_double(json, "at_most_share_pct", is_bound ? most : NAN);
    pm_json_double(json, "inferred_share_pct",
                   show_answer_part_of_run(page, primary - answer->least[page->primary]));
    pm_json_bool(json, "is_mostly_inferred", answer->least[page->primary] < primary / 2);
}

static void json_formulas(const struct show_answer_page *page, const struct pm_amount *amounts,
                          struct pm_json *json)
{
    for (uint32_t i = 0; i < page->report->n_formulas; i++)
        pm_json_double(json, page->report->formulas[i].name, show_answer_formula(page, i, amounts));
}

static const char *const verdicts[] = {[SHOW_TRUE] = "true",
                                       [SHOW_NEVER] = "never",
                                       [SHOW_NOT_SEEN] = "not seen",
                                       [SHOW_NOT_KNOWN] = "not known"};

bool show_answer_json(const struct show_answer_page *page, FILE *out)
{
    const struct pm_view *report = page->report;
    const struct pm_answer *answer = page->answer;
    struct pm_json json;
    pm_json_init(&json, out);
    pm_json_object(&json, NULL);
    pm_json_string(&json, "format", "perfmap-answer");
    pm_json_u64(&json, "version", 1);
    pm_json_string(&json, "question", page->question->text);
    pm_json_string(&json, "command", report->data->executions[0].command);
    show_limits_json(report, &json);
    pm_json_string(&json, "share_of",
                   page->primary == PM_NONE ? NULL
                                            : report->data->graph->metrics[page->primary].name);
    json_asking(page->options, &json);
    pm_json_array(&json, "notes");
    for (uint32_t i = 0; i < answer->n_notes; i++)
        pm_json_string(&json, NULL, answer->notes[i].text);
    pm_json_end(&json);
    pm_json_bool(&json, "is_complete", !answer->is_partial && !answer->is_at_most);
    pm_json_string(&json, "verdict", verdicts[show_answer_verdict(page)]);
    pm_json_object(&json, "total");
    json_amounts(page, answer->totals, NULL, NULL, &json);
    json_formulas(page, answer->totals, &json);
    pm_json_end(&json);
    pm_json_object(&json, "answer");
    json_amounts(page, answer->amounts, NULL, answer->deferred, &json);
    json_formulas(page, answer->amounts, &json);
    pm_json_double(&json, "share_pct", show_answer_share_of(page, answer->amounts));
    pm_json_bool(&json, "is_at_least", show_answer_is_at_least(page, NULL, PM_NONE));
    pm_json_bool(&json, "is_at_most", show_answer_is_at_most(page, NULL, PM_NONE));
    pm_json_bool(&json, "is_uncertain", show_answer_is_uncertain(page, answer->amounts));
    json_bounds(page, &json);
    pm_json_end(&json);
    pm_json_array(&json, "rows");
    for (uint32_t i = 0; i < page->n_shown; i++) {
        const struct pm_answer_row *row = &answer->rows[page->order[i]];
        pm_json_object(&json, NULL);
        json_amounts(page, row->amounts, row->shared, row->deferred, &json);
        pm_json_double(&json, "share_pct", show_answer_share_of(page, row->amounts));
        if (row->times_known)
            pm_json_i64(&json, "n_times", row->n_times);
        else
            pm_json_null(&json, "n_times");
        pm_json_bool(&json, "n_times_complete", !row->times_at_least && !row->times_at_most);
        pm_json_bool(&json, "n_times_at_most", row->times_at_most);
        pm_json_bool(&json, "is_at_least", show_answer_is_at_least(page, row, PM_NONE));
        pm_json_bool(&json, "is_at_most", show_answer_is_at_most(page, row, PM_NONE));
        pm_json_array(&json, "matches");
        for (uint32_t k = 0; k < answer->n_asked; k++)
            json_match(page, row, k, &json);
        pm_json_end(&json);
        pm_json_end(&json);
    }
    pm_json_end(&json);
    pm_json_end(&json);
    (void)pm_json_done(&json); /* a failed write shows on the stream */
    return true;
}
