/* Words of a program's own, for people and for programs (word.h). */
#include "word.h"
#include "cells.h"

#include "mapping/base/json.h"

#include <math.h>
#include <stdlib.h>

enum { TEXT_BYTES = 1 << 20, MAX_MAPPED = 10 };

static void add_sentence(struct pm_buf *out, struct pm_view *report, pm_index sentence)
{
    const struct pm_graph *graph = report->data->graph;
    const struct pm_graph_sentence *s = &graph->sentences[sentence];
    pm_ask_add_brief_sentence(out, report, s->verb, graph->sentence_nouns + s->first_noun,
                              s->n_nouns);
}

/* --- text --- */

struct word_page {
    struct pm_view *report;
    const struct show_term *term;
    FILE *out;
    bool failed;
};

static void put(struct word_page *page, struct pm_buf *line)
{
    const char *text =
        line->failed || !line->data ? NULL : pm_text_printable(&page->report->arena, line->data);
    page->failed |= !text;
    if (text)
        show_put_cut(page->term, page->out, text,
                     page->term->width ? page->term->width : pm_text_width(text), false, false);
    fputc('\n', page->out);
    pm_buf_clear(line);
}

static void put_title(struct word_page *page, pm_index noun, const char *adapter,
                      struct pm_buf *line)
{
    struct pm_view *report = page->report;
    const struct pm_graph *graph = report->data->graph;
    const struct pm_graph_noun *n = &graph->nouns[noun];
    pm_index above = graph->levels[n->level].above;
    pm_buf_printf(line, "%s  %s of level %s", n->name, *n->kind ? n->kind : "noun",
                  graph->levels[n->level].name);
    if (above != PM_NONE)
        pm_buf_printf(line, ", which lies above %s", graph->levels[above].name);
    fputs(page->term->color ? SHOW_BOLD : "", page->out);
    put(page, line);
    fputs(page->term->color ? SHOW_RESET : "", page->out);
    if (adapter)
        pm_buf_printf(line,
                      "  said by the adapter %s of 'perfmap run', or by the program itself "
                      "(perfmap.h)",
                      adapter);
    else
        pm_buf_add_str(line, "  said by the program itself (perfmap.h)");
    put(page, line);
    if (*n->file && n->line_no) {
        pm_buf_printf(line, "  stands at %s:%u", pm_view_short_file(report, n->file), n->line_no);
        put(page, line);
    }
    if (n->parent != PM_NONE) {
        pm_buf_printf(line, "  is a part of %s", graph->nouns[n->parent].name);
        put(page, line);
    }
}

static void add_amount(const struct word_page *page, const struct pm_word_spent *spent,
                       pm_index metric, struct pm_buf *line)
{
    const struct pm_graph_metric *m = &page->report->data->graph->metrics[metric];
    double value = (double)spent->amounts[metric].value,
           total = (double)spent->totals[metric].value;
    struct show_scale scale = show_scale_of(m, value, page->term->utf8);
    int len = (int)(*scale.unit ? pm_view_bare_metric_len(m) : strlen(m->name));
    pm_buf_printf(line, "%.*s %.*f%s%s", len, m->name, scale.decimals, value / scale.divisor,
                  *scale.unit ? " " : "", scale.unit);
    if (total != 0)
        pm_buf_printf(line, " (%.1f %%)", 100 * value / total);
}

static void put_spent(struct word_page *page, const struct pm_word_spent *spent,
                      struct pm_buf *line)
{
    const struct pm_graph *graph = page->report->data->graph;
    if (!spent->amounts) {
        pm_buf_add_str(line, "    never active in this run");
        put(page, line);
        return;
    }
    if (spent->times_known)
        pm_buf_printf(line, "    active %lld time%s: ", (long long)spent->n_times,
                      spent->n_times == 1 ? "" : "s");
    else
        pm_buf_add_str(line, "    while active: ");
    bool any = false;
    for (pm_index m = 0; m < graph->n_metrics; m++)
        if (pm_word_shows(page->report, spent, m)) {
            pm_buf_add_str(line, any ? ", " : "");
            add_amount(page, spent, m, line);
            any = true;
        }
    pm_buf_add_str(line, any ? "" : "nothing that was measured");
    put(page, line);
}

/* The mappings out of a sentence, or into it. */
static void put_mapped(struct word_page *page, pm_index sentence, bool out, struct pm_buf *line)
{
    const struct pm_graph *graph = page->report->data->graph;
    const uint32_t *first = out ? graph->out_first : graph->in_first,
                   *list = out ? graph->out : graph->in;
    uint32_t n = first[sentence + 1] - first[sentence];
    for (uint32_t i = 0; i < n && i < MAX_MAPPED; i++) {
        const struct pm_mapping *m = &graph->mappings[list[first[sentence] + i]];
        pm_buf_add_str(line,
                       out ? "    what it costs is spent for " : "    is what was done for by ");
        add_sentence(line, page->report, out ? m->destination : m->source);
        if (m->weight > 0)
            pm_buf_printf(line, ", weight %g", m->weight);
        if (strcmp(m->origin, "run") != 0)
            pm_buf_printf(line, " (%s)", m->origin);
        put(page, line);
    }
    if (n > MAX_MAPPED) {
        pm_buf_printf(line, "    and %u more mappings %s it", n - MAX_MAPPED, out ? "from" : "to");
        put(page, line);
    }
}

enum pm_status show_word(struct pm_view *report, pm_index noun, const char *adapter,
                         const struct show_term *term, FILE *out, struct pm_error *err)
{
    const struct pm_graph *graph = report->data->graph;
    struct word_page page = {report, term, out, false};
    struct pm_buf line = PM_BUF_INIT(TEXT_BYTES);
    enum pm_status status = PM_OK;
    bool any = false;
    put_title(&page, noun, adapter, &line);
    for (pm_index s = 0; s < graph->n_sentences && status == PM_OK; s++) {
        struct pm_word_spent spent;
        if (!pm_word_has(graph, s, noun))
            continue;
        any = true;
        status = pm_word_ask(report, s, err, &spent);
        if (status == PM_OK) {
            pm_buf_add_str(&line, "  ");
            add_sentence(&line, report, s);
            put(&page, &line);
            put_spent(&page, &spent, &line);
            put_mapped(&page, s, true, &line);
            put_mapped(&page, s, false, &line);
        }
        pm_word_spent_release(&spent);
    }
    if (!any) {
        pm_buf_add_str(&line, "  no sentence has it");
        put(&page, &line);
    }
    pm_buf_release(&line);
    return status == PM_OK && page.failed ? pm_error_set(err, PM_ERR_MEMORY, "out of memory")
                                          : status;
}

/* --- JSON --- */

static void json_mapped(struct pm_view *report, pm_index sentence, bool out, struct pm_json *json)
{
    const struct pm_graph *graph = report->data->graph;
    const uint32_t *first = out ? graph->out_first : graph->in_first,
                   *list = out ? graph->out : graph->in;
    pm_json_array(json, out ? "mapped_to" : "mapped_from");
    for (uint32_t i = first[sentence]; i < first[sentence + 1]; i++) {
        const struct pm_mapping *m = &graph->mappings[list[i]];
        const struct pm_graph_sentence *s = &graph->sentences[out ? m->destination : m->source];
        struct pm_buf text = PM_BUF_INIT(TEXT_BYTES);
        pm_ask_add_sentence(&text, graph, s->verb, graph->sentence_nouns + s->first_noun,
                            s->n_nouns);
        pm_json_object(json, NULL);
        pm_json_string(json, "sentence", text.data ? text.data : "");
        if (m->weight > 0)
            pm_json_double(json, "weight", m->weight);
        else
            pm_json_null(json, "weight");
        pm_json_string(json, "origin", m->origin);
        pm_json_end(json);
        pm_buf_release(&text);
    }
    pm_json_end(json);
}

static void json_sentence(struct pm_view *report, pm_index sentence,
                          const struct pm_word_spent *spent, struct pm_json *json)
{
    const struct pm_graph *graph = report->data->graph;
    struct pm_buf text = PM_BUF_INIT(TEXT_BYTES);
    pm_ask_add_exact_sentence(&text, graph, sentence);
    pm_json_object(json, NULL);
    pm_json_string(json, "sentence", text.data ? text.data : "");
    pm_buf_release(&text);
    if (spent->times_known)
        pm_json_i64(json, "n_times", spent->n_times);
    else
        pm_json_null(json, "n_times");
    pm_json_object(json, "amounts");
    for (pm_index m = 0; m < graph->n_metrics; m++)
        if (pm_word_shows(report, spent, m))
            pm_json_i64(json, graph->metrics[m].name, spent->amounts[m].value);
    pm_json_end(json);
    json_mapped(report, sentence, true, json);
    json_mapped(report, sentence, false, json);
    pm_json_end(json);
}

enum pm_status show_word_json(struct pm_view *report, pm_index noun, const char *adapter,
                              struct pm_json *json, struct pm_error *err)
{
    const struct pm_graph *graph = report->data->graph;
    const struct pm_graph_noun *n = &graph->nouns[noun];
    enum pm_status status = PM_OK;
    pm_json_object(json, NULL);
    pm_json_string(json, "name", n->name);
    pm_json_string(json, "kind", n->kind);
    pm_json_string(json, "level", graph->levels[n->level].name);
    pm_json_string(json, "file", *n->file ? n->file : NULL);
    pm_json_u64(json, "line_no", n->line_no);
    pm_json_string(json, "part_of", n->parent == PM_NONE ? NULL : graph->nouns[n->parent].name);
    pm_json_string(json, "adapter", adapter);
    pm_json_array(json, "sentences");
    for (pm_index s = 0; s < graph->n_sentences && status == PM_OK; s++) {
        struct pm_word_spent spent;
        if (!pm_word_has(graph, s, noun))
            continue;
        status = pm_word_ask(report, s, err, &spent);
        if (status == PM_OK)
            json_sentence(report, s, &spent, json);
        pm_word_spent_release(&spent);
    }
    pm_json_end(json);
    pm_json_end(json);
    return status;
}
