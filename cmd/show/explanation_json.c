/* The mapping of a construct as JSON. */
#include "explanation.h"

#include "mapping/base/json.h"

enum { NAME_BYTES = 1 << 16 };

static void json_number(struct pm_json *json, const char *key, const struct pm_view *report,
                        const struct pm_view_row *row)
{
    if (row)
        pm_json_i64(json, key, pm_explanation_own(report, row));
    else
        pm_json_null(json, key);
}

static void json_codes(const struct pm_explanation *x, struct pm_json *json)
{
    const struct pm_view *report = &x->views->reports[PM_RULE_MERGE];
    const struct pm_graph *graph = report->data->graph;
    pm_json_array(json, "codes");
    for (size_t i = 0; i < x->n_codes; i++) {
        const struct pm_explained_code *code = &x->codes[i];
        pm_index noun = pm_graph_first_noun(graph, code->sentence);
        struct pm_buf name = PM_BUF_INIT(NAME_BYTES);
        show_add_code_name(report, code->sentence, &name);
        pm_json_object(json, NULL);
        pm_json_string(json, "name", name.data ? name.data : "");
        pm_json_string(json, "binary", noun == PM_NONE ? NULL : graph->nouns[noun].binary);
        pm_json_string(json, "address",
                       noun == PM_NONE || !*report->data->addresses[noun]
                           ? NULL
                           : report->data->addresses[noun]);
        pm_json_i64(json, "own", code->own);
        pm_json_i64(json, "n_samples", code->n_samples);
        pm_json_string(json, "reason",
                       code->mapping && *code->mapping->reason ? code->mapping->reason : NULL);
        pm_json_string(json, "origin", code->mapping ? code->mapping->origin : NULL);
        pm_json_end(json);
        pm_buf_release(&name);
    }
    pm_json_end(json);
}

static void json_ranges(const struct pm_explanation *x, struct pm_json *json)
{
    const struct pm_view *report = &x->views->reports[PM_RULE_MERGE];
    pm_json_array(json, "ranges");
    for (size_t i = 0; i < x->n_ranges; i++) {
        const struct pm_explained_range *range = &x->ranges[i];
        pm_json_object(json, NULL);
        pm_json_string(json, "binary", range->map->path);
        pm_json_u64(json, "address", range->range->address);
        pm_json_u64(json, "size_bytes", range->size_bytes);
        pm_json_string(json, "symbol", pm_explanation_name(report, range->range->block->symbol));
        pm_json_bool(json, "is_cold", range->range->block->is_cold);
        pm_json_string(json, "reason",
                       range->also ? pm_map_reason_text(range->also->reason) : NULL);
        pm_json_array(json, "inlined");
        for (const struct pm_code_site *site = range->range->tuple->site; site;
             site = site->parent) {
            pm_json_object(json, NULL);
            pm_json_string(json, "function", pm_explanation_name(report, site->function));
            pm_json_string(json, "call_file", pm_explanation_name(report, site->call.file));
            pm_json_u64(json, "call_line_no", site->call.line_no);
            pm_json_end(json);
        }
        pm_json_end(json);
        pm_json_end(json);
    }
    pm_json_end(json);
}

void show_explanation_json(const struct pm_explanation *x, struct pm_json *json)
{
    struct pm_view *report = (struct pm_view *)&x->views->reports[PM_RULE_MERGE];
    const struct pm_graph_noun *noun = &report->data->graph->nouns[x->noun];
    pm_json_object(json, NULL);
    pm_json_string(json, "name", noun->name);
    pm_json_string(json, "kind", noun->kind);
    pm_json_string(json, "file", *noun->file ? noun->file : NULL);
    pm_json_u64(json, "line_no", noun->line_no);
    pm_json_string(json, "metric",
                   report->n_metrics
                       ? report->data->graph->metrics[report->metrics[report->primary]].name
                       : "n_calls");
    pm_json_i64(json, "total", pm_explanation_own(report, &report->total));
    json_number(json, "alone", report, x->alone);
    json_number(json, "closed", &x->views->reports[PM_RULE_CLOSED], x->closed);
    json_number(json, "split", &x->views->reports[PM_RULE_SPLIT], x->split);
    pm_json_array(json, "sets");
    int64_t at_most = pm_explanation_own(report, x->alone);
    for (uint32_t r = 0; r < report->n_rows && x->group != PM_NONE; r++) {
        struct pm_view_row *row = &report->rows[r];
        if (row->kind != PM_VIEW_ROW_SET || !pm_explanation_row_has(row, x->group))
            continue;
        pm_view_name_row(report, row);
        at_most += pm_explanation_own(report, row);
        pm_json_object(json, NULL);
        pm_json_string(json, "what", row->what);
        pm_json_string(json, "place", row->place);
        pm_json_i64(json, "own", pm_explanation_own(report, row));
        pm_json_string(json, "reason", row->traits.reasons[0]);
        pm_json_bool(json, "is_inferred", row->traits.reasons[0] && row->traits.is_inferred[0]);
        pm_json_end(json);
    }
    pm_json_end(json);
    pm_json_i64(json, "at_least", pm_explanation_own(report, x->alone));
    if (pm_explanation_is_open(x))
        pm_json_null(json, "at_most");
    else
        pm_json_i64(json, "at_most", at_most);
    json_codes(x, json);
    show_vectors_json(&x->vectors, json);
    json_ranges(x, json);
    if (x->is_covered)
        pm_json_bool(json, "has_code", x->n_ranges || x->n_codes);
    else
        pm_json_null(json, "has_code");
    pm_json_end(json);
}
