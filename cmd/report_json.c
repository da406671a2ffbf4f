/* The report for other programs: docs/report.md has the schema. */
#include "report.h"

#include "mapping/base/json.h"

#include <math.h>

static const char *const by_words[] = {"loop", "statement", "array",   "variable", "function",
                                       "file", "line",      "process", "thread"};
static const char *const rule_words[] = {"merge", "closed", "split"};
static const char *const split_words[] = {"weights", "equal", "instructions"};

static const struct pm_metric *metric_of(const struct report *report, uint32_t m)
{
    return &report->data->graph->metrics[report->metrics[m]];
}

/* Where loops have rows of their own, their entries are those rows' calls. */
static bool shows_entries(const struct report *report)
{
    return report->options.by != REPORT_BY_LOOP && report->options.by != REPORT_BY_STATEMENT;
}

/* Numbers of samples stand beside sampled times. */
static bool has_samples(const struct report *report)
{
    for (uint32_t m = 0; m < report->n_metrics; m++)
        if (report->metrics[m] == report->cpu_metric)
            return report->samples_metric != PM_NONE;
    return false;
}

/* Statements and what they touch are not called. */
static bool has_calls(const struct report *report)
{
    return report->calls_metric != PM_NONE &&
           (!report_is_fine(report) || report->options.tree || report->shows_calls);
}

/* What was taken out of the own wall times of rows, when that was to be. */
static bool has_taken_out(const struct report *report)
{
    return report->taken_ns && report_shows_wall(report) && !report_is_by_runner(report);
}

static void known_number(struct pm_json *json, const char *key, int64_t value)
{
    if (value == PM_UNKNOWN)
        pm_json_null(json, key);
    else
        pm_json_i64(json, key, value);
}

/* "own_wall_ns" */
static const char *key_of(char *buffer, size_t size, const char *prefix, const char *metric)
{
    snprintf(buffer, size, "%s_%s", prefix, metric);
    return buffer;
}

static void print_sampling(const struct report *report, const struct report_facts *facts,
                           struct pm_json *json)
{
    const struct pm_archive_data *data = report->data;
    if (!data->n_samplings) {
        pm_json_null(json, "sampling");
        return;
    }
    const struct pm_sampling *s = &data->samplings[0];
    pm_json_object(json, "sampling");
    pm_json_string(json, "source", s->source);
    pm_json_string(json, "clock", s->clock);
    known_number(json, "period_ns", s->period_ns);
    pm_json_bool(json, "has_kernel", s->has_kernel);
    pm_json_bool(json, "has_switches", s->has_switches);
    pm_json_i64(json, "n_samples", facts->n_samples);
    pm_json_i64(json, "n_lost", facts->n_lost_samples);
    pm_json_string(json, "problem", *s->problem ? s->problem : NULL);
    pm_json_end(json);
}

static void known_double(struct pm_json *json, const char *key, double number)
{
    if (isnan(number))
        pm_json_null(json, key);
    else
        pm_json_double(json, key, number);
}

static void print_execution(const struct report *report, struct pm_json *json)
{
    const struct pm_execution *x = &report->data->executions[0];
    struct report_facts facts = report_facts(report);
    pm_json_object(json, "execution");
    pm_json_string(json, "name", x->name);
    pm_json_string(json, "command", x->command);
    pm_json_string(json, "cwd", x->cwd);
    pm_json_string(json, "host", x->host);
    pm_json_string(json, "mode", x->mode);
    known_number(json, "start_realtime_ns", x->start_realtime_ns);
    known_number(json, "wall_ns", facts.wall_ns);
    known_number(json, "user_cpu_ns", facts.user_cpu_ns);
    known_number(json, "system_cpu_ns", facts.system_cpu_ns);
    known_number(json, "max_rss_bytes", x->max_rss_bytes);
    known_number(json, "exit_status", x->exit_status);
    known_number(json, "exit_signal", x->exit_signal);
    pm_json_u64(json, "n_executions", report->data->n_executions);
    pm_json_u64(json, "n_processes", facts.n_processes);
    pm_json_u64(json, "n_threads", facts.n_threads);
    pm_json_i64(json, "n_lost_events", report->n_lost_events);
    known_number(json, "added_ns", facts.added_ns);
    if (facts.added_ns == PM_UNKNOWN)
        pm_json_null(json, "added_pct");
    else
        pm_json_double(json, "added_pct", facts.added_pct);
    pm_json_bool(json, "added_is_estimated", true);
    pm_json_bool(json, "is_compensated", !report->options.no_compensation);
    pm_json_i64(json, "taken_out_ns", report->taken_out_ns);
    pm_json_i64(json, "preempted_out_ns", report->preempted_out_ns);
    known_number(json, "events_ns", facts.events_ns);
    pm_json_bool(json, "events_by_samples", facts.events_by_samples);
    known_number(json, "samples_ns", facts.samples_ns);
    known_number(json, "fixed_ns", facts.fixed_ns);
    known_double(json, "slow_down_pct", facts.slow_down_pct);
    known_double(json, "budget_pct",
                 facts.budget_ppm == PM_UNKNOWN ? NAN : (double)facts.budget_ppm / 1e4);
    print_sampling(report, &facts, json);
    pm_json_u64(json, "n_disarmed_nouns", facts.n_disarmed_nouns);
    pm_json_u64(json, "n_counted_nouns", facts.n_counted_nouns);
    pm_json_end(json);
}

static void print_view(const struct report *report, struct pm_json *json)
{
    pm_json_object(json, "view");
    pm_json_string(json, "level", report->level_name);
    pm_json_string(json, "by", by_words[report->options.by]);
    pm_json_string(json, "shape", report->options.tree ? "tree" : "flat");
    pm_json_string(json, "rule", rule_words[report->options.rule]);
    pm_json_string(json, "fold", report->options.folds ? "system" : "none");
    pm_json_string(json, "split_by",
                   report->options.rule != PM_RULE_SPLIT ? NULL
                   : report->split_by_size               ? "code size"
                                                         : split_words[report->options.split]);
    pm_json_string(json, "focus", report->options.focus);
    pm_json_double(json, "focus_share_pct", report->focus_share_pct);
    pm_json_string(json, "share_of",
                   report->n_metrics ? metric_of(report, report->primary)->name : "n_calls");
    pm_json_u64(json, "limit", report->options.limit);
    pm_json_end(json);
    pm_json_array(json, "metrics");
    for (uint32_t m = 0; m < report->n_metrics; m++) {
        const struct pm_metric *metric = metric_of(report, m);
        pm_json_object(json, NULL);
        pm_json_string(json, "name", metric->name);
        pm_json_string(json, "unit", metric->unit);
        pm_json_string(json, "kind", metric->kind);
        pm_json_string(json, "description", metric->description);
        pm_json_end(json);
    }
    pm_json_end(json);
}

static const char *row_kind(const struct report *report, const struct report_row *row)
{
    switch (row->kind) {
    case REPORT_ROW_OUTSIDE:
        return "outside";
    case REPORT_ROW_SPECIAL: {
        enum report_special special = report->groups[row->groups[0]].special;
        return special == REPORT_KERNEL        ? "kernel"
               : special == REPORT_PERFMAP     ? "perfmap"
               : special == REPORT_NOT_LOCATED ? "not located"
                                               : "no object";
    }
    case REPORT_ROW_UNMAPPED:
        return "unmapped";
    case REPORT_ROW_SET:
        return "set";
    case REPORT_ROW_RUNNER:
        return by_words[report->options.by];
    case REPORT_ROW_NOUN:
        break;
    }
    const struct report_group *group = &report->groups[row->groups[0]];
    return group->file              ? "file"
           : group->noun == PM_NONE ? ""
                                    : report->data->graph->nouns[group->noun].kind;
}

static void text_or_null(struct pm_json *json, const char *key, const char *text)
{
    pm_json_string(json, key, *text ? text : NULL);
}

static void line_or_null(struct pm_json *json, const char *key, uint32_t line_no)
{
    if (line_no)
        pm_json_u64(json, key, line_no);
    else
        pm_json_null(json, key);
}

static void print_noun(const struct report *report, const struct report_group *group, pm_index noun,
                       struct pm_json *json)
{
    const struct pm_graph *graph = report->data->graph;
    const char *file = group ? group->file : NULL;
    pm_json_object(json, NULL);
    if (file) {
        pm_json_string(json, "name", file);
        pm_json_string(json, "kind", "file");
        pm_json_string(json, "file", file);
    } else if (noun != PM_NONE) {
        const struct pm_noun *n = &graph->nouns[noun];
        pm_index function = noun;
        while (function != PM_NONE && !report_noun_is_code(report, function))
            function = graph->nouns[function].parent;
        pm_json_string(json, "name", n->name);
        pm_json_string(json, "kind", n->kind);
        pm_json_string(json, "level", graph->levels[n->level].name);
        pm_json_string(json, "function", function == PM_NONE ? NULL : graph->nouns[function].name);
        text_or_null(json, "linkage", n->linkage);
        text_or_null(json, "file", n->file);
        line_or_null(json, "line_no", n->line_no);
        line_or_null(json, "column_no", n->column_no);
        line_or_null(json, "end_line_no", n->end_line_no);
        text_or_null(json, "binary", group && group->many_binaries ? "" : n->binary);
    }
    pm_json_end(json);
}

static void print_value(struct pm_json *json, const char *key, const struct pm_metric *metric,
                        const struct pm_amount *amount)
{
    if (metric->aggregation == PM_SUM)
        pm_json_i64(json, key, amount->value);
    else if (amount->n == 0)
        pm_json_null(json, key);
    else if (metric->aggregation == PM_AVERAGE)
        pm_json_double(json, key, (double)amount->value / amount->n);
    else
        pm_json_i64(json, key, amount->value);
}

static bool calls_are_unknown(const struct report_row *row)
{
    return row->traits.calls_are_unknown && row->n_calls == 0;
}

/* Calls back with the key of each number of a row that is at least what is known. */
static void each_incomplete(const struct report *report, const struct report_row *row,
                            void (*found)(void *, const char *key), void *context)
{
    char key[128];
    for (uint32_t m = 0; m < report->n_metrics; m++) {
        const char *name = metric_of(report, m)->name;
        bool is_null = row->traits.is_untimed && report->metrics[m] == report->wall_metric;
        if (!is_null && report_is_at_least(report, row, m, false))
            found(context, key_of(key, sizeof key, "own", name));
        if (report_is_at_least(report, row, m, true))
            found(context, key_of(key, sizeof key, "inclusive", name));
    }
    if (has_calls(report) && row->traits.calls_are_at_least && !calls_are_unknown(row))
        found(context, "n_calls");
    if (has_calls(report) && shows_entries(report) && row->traits.entries_are_at_least &&
        row->n_loop_entries)
        found(context, "n_loop_entries");
}

static void incomplete_json(void *json, const char *key)
{
    pm_json_string(json, NULL, key);
}

static void print_incomplete(const struct report *report, const struct report_row *row,
                             struct pm_json *json)
{
    pm_json_array(json, "incomplete");
    each_incomplete(report, row, incomplete_json, json);
    pm_json_end(json);
}

/* Numbers of a row, the rest or the total. */
static void print_numbers(const struct report *report, const struct report_row *row, bool is_row,
                          struct pm_json *json)
{
    char key[128];
    for (uint32_t m = 0; m < report->n_metrics; m++) {
        const struct pm_metric *metric = metric_of(report, m);
        bool is_sum = metric->aggregation == PM_SUM;
        if (is_row && row->traits.is_untimed && report->metrics[m] == report->wall_metric)
            pm_json_null(json, key_of(key, sizeof key, "own", metric->name));
        else
            print_value(json, key_of(key, sizeof key, "own", metric->name), metric,
                        &row->values[m].own);
        if (is_row && is_sum)
            pm_json_i64(json, key_of(key, sizeof key, "inclusive", metric->name),
                        row->values[m].inclusive);
        if (is_row && row->has_bounds && is_sum) {
            pm_json_i64(json, key_of(key, sizeof key, "at_least", metric->name),
                        row->values[m].bounds.at_least);
            pm_json_i64(json, key_of(key, sizeof key, "at_most", metric->name),
                        row->values[m].bounds.at_most);
        }
    }
    if (has_taken_out(report))
        pm_json_i64(json, "taken_out_ns", row->taken_out_ns);
    pm_json_double(json, "share_pct", report_share_pct(report, row));
    if (has_samples(report))
        pm_json_i64(json, "n_samples", row->n_samples);
    if (!has_calls(report))
        return;
    if (is_row && calls_are_unknown(row))
        pm_json_null(json, "n_calls");
    else
        pm_json_i64(json, "n_calls", row->n_calls);
    pm_json_bool(json, "n_calls_complete",
                 !row->traits.calls_are_at_least && !(is_row && calls_are_unknown(row)));
    if (shows_entries(report))
        pm_json_i64(json, "n_loop_entries", row->n_loop_entries);
}

/* A group is one construct, or machine code with what called it. */
static void print_nouns(const struct report *report, const struct report_group *group,
                        struct pm_json *json)
{
    const struct pm_graph *graph = report->data->graph;
    const struct pm_sentence *s =
        group->sentence == PM_NONE ? NULL : &graph->sentences[group->sentence];
    if (!s || s->n_nouns == 0)
        print_noun(report, group, group->noun, json);
    for (uint32_t i = 0; s && i < s->n_nouns; i++)
        print_noun(report, NULL, graph->sentence_nouns[s->first_noun + i], json);
}

static void print_traits(const struct report_row *row, struct pm_json *json)
{
    pm_json_array(json, "reasons");
    for (int i = 0; row->kind == REPORT_ROW_SET && i < REPORT_MAX_REASONS && row->traits.reasons[i];
         i++) {
        pm_json_object(json, NULL);
        pm_json_string(json, "reason", row->traits.reasons[i]);
        pm_json_bool(json, "is_inferred", row->traits.is_inferred[i]);
        pm_json_end(json);
    }
    pm_json_end(json);
    pm_json_bool(json, "is_inlined", row->traits.is_inlined);
    pm_json_bool(json, "is_mostly_inferred", row->traits.is_mostly_inferred);
    pm_json_bool(json, "is_sampled", row->traits.is_sampled);
}

static void print_row(const struct report *report, const struct report_row *row,
                      struct pm_json *json)
{
    pm_json_object(json, NULL);
    if (report->options.tree) {
        pm_json_u64(json, "id", row->id);
        if (row->parent_id == PM_NONE)
            pm_json_null(json, "parent");
        else
            pm_json_u64(json, "parent", row->parent_id);
        pm_json_u64(json, "depth", row->depth);
    }
    pm_json_string(json, "kind", row_kind(report, row));
    pm_json_string(json, "what", row->what);
    text_or_null(json, "place", row->place);
    if (report_shows_sources(report))
        pm_json_string(json, "source_text", row->source_text);
    if (row->kind == REPORT_ROW_RUNNER)
        report_runner_json(report, row, json);
    pm_json_array(json, "nouns");
    if (row->kind == REPORT_ROW_UNMAPPED)
        print_noun(report, NULL, report_row_noun(report, row, 0), json);
    for (uint32_t i = 0; i < row->n_groups; i++) {
        const struct report_group *group = &report->groups[row->groups[i]];
        if (!group->special)
            print_nouns(report, group, json);
    }
    pm_json_end(json);
    print_traits(row, json);
    print_numbers(report, row, true, json);
    print_incomplete(report, row, json);
    pm_json_end(json);
}

void report_print_json(struct report *report, FILE *out)
{
    struct pm_json json;
    pm_json_init(&json, out);
    pm_json_object(&json, NULL);
    pm_json_string(&json, "format", "perfmap-report");
    pm_json_u64(&json, "version", 1);
    pm_json_string(&json, "archive", report->options.archive_path);
    print_execution(report, &json);
    pm_json_array(&json, "warnings");
    for (int i = 0; i < report->n_warnings; i++)
        pm_json_string(&json, NULL, report->warnings[i]);
    pm_json_end(&json);
    report_modes_json(report, &json);
    print_view(report, &json);
    pm_json_array(&json, "rows");
    for (uint32_t r = 0; r < report->n_shown; r++)
        print_row(report, &report->rows[r], &json);
    pm_json_end(&json);
    pm_json_object(&json, "rest");
    pm_json_u64(&json, "n_rows", report->n_rows - report->n_shown);
    print_numbers(report, &report->rest, false, &json);
    pm_json_end(&json);
    pm_json_object(&json, "total");
    print_numbers(report, &report->total, false, &json);
    pm_json_end(&json);
    pm_json_end(&json);
    (void)pm_json_done(&json); /* a failed write shows on the stream */
}

/* --- CSV (RFC 4180, lines ended by a line feed) --- */

void report_csv_text(FILE *out, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

static void csv_head(const struct report *report, FILE *out)
{
    fputs(report->options.tree ? "id,parent,depth,kind,what,place,file,line_no,linkage"
                               : "kind,what,place,file,line_no,linkage",
          out);
    for (uint32_t m = 0; m < report->n_metrics; m++) {
        const char *name = metric_of(report, m)->name;
        fprintf(out, ",own_%s", name);
        if (metric_of(report, m)->aggregation != PM_SUM)
            continue;
        fprintf(out, ",inclusive_%s", name);
        if (report->options.bounds)
            fprintf(out, ",at_least_%s,at_most_%s", name, name);
    }
    if (has_taken_out(report))
        fputs(",taken_out_ns", out);
    fputs(has_samples(report) ? ",share_pct,n_samples" : ",share_pct", out);
    if (has_calls(report))
        fputs(shows_entries(report) ? ",n_calls,n_loop_entries,n_calls_complete"
                                    : ",n_calls,n_calls_complete",
              out);
    fputs(",incomplete\n", out);
}

static void csv_numbers(const struct report *report, const struct report_row *row, FILE *out)
{
    for (uint32_t m = 0; m < report->n_metrics; m++) {
        const struct report_value *value = &row->values[m];
        enum pm_aggregation aggregation = metric_of(report, m)->aggregation;
        if (aggregation == PM_AVERAGE && value->own.n > 0)
            fprintf(out, ",%.6g", (double)value->own.value / value->own.n);
        else if (aggregation != PM_SUM && value->own.n == 0)
            fputc(',', out);
        else
            fprintf(out, ",%lld", (long long)value->own.value);
        if (aggregation != PM_SUM)
            continue;
        fprintf(out, ",%lld", (long long)value->inclusive);
        if (report->options.bounds && row->has_bounds)
            fprintf(out, ",%lld,%lld", (long long)value->bounds.at_least,
                    (long long)value->bounds.at_most);
        else if (report->options.bounds)
            fputs(",,", out);
    }
    if (has_taken_out(report))
        fprintf(out, ",%lld", (long long)row->taken_out_ns);
    double share = report_share_pct(report, row);
    if (isfinite(share))
        fprintf(out, ",%.4f", share);
    else
        fputc(',', out);
    if (has_samples(report))
        fprintf(out, ",%lld", (long long)row->n_samples);
    if (!has_calls(report))
        return;
    if (calls_are_unknown(row))
        fputc(',', out);
    else
        fprintf(out, ",%lld", (long long)row->n_calls);
    if (shows_entries(report))
        fprintf(out, ",%lld", (long long)row->n_loop_entries);
    fputs(row->traits.calls_are_at_least || calls_are_unknown(row) ? ",0" : ",1", out);
}

/* A symbol's name is the linker's already; `what` shows it as the source has it. */
static const char *linkage_of(struct report *report, const struct pm_noun *noun)
{
    const char *name = noun->linkage && *noun->linkage                   ? noun->linkage
                       : noun->kind && strcmp(noun->kind, "symbol") == 0 ? noun->name
                                                                         : NULL;
    const char *printable = name ? report_printable(&report->arena, name) : NULL;
    return printable ? printable : "";
}

struct csv_list {
    FILE *out;
    int n;
};

static void incomplete_csv(void *context, const char *key)
{
    struct csv_list *list = context;
    fprintf(list->out, "%s%s", list->n++ ? " " : "", key);
}

static void csv_incomplete(const struct report *report, const struct report_row *row, FILE *out)
{
    struct csv_list list = {out, 0};
    fputc(',', out);
    each_incomplete(report, row, incomplete_csv, &list);
}

/* File, line and the linker's name of rows that are one noun. */
static void csv_place(struct report *report, const struct report_row *row, FILE *out)
{
    bool is_file = row->n_groups == 1 && report->groups[row->groups[0]].file;
    bool is_one = row->kind == REPORT_ROW_NOUN || row->kind == REPORT_ROW_UNMAPPED;
    pm_index noun = is_one ? report_row_noun(report, row, 0) : PM_NONE;
    const struct pm_noun *n = noun == PM_NONE ? NULL : &report->data->graph->nouns[noun];
    const char *file = is_file ? report->groups[row->groups[0]].file : n ? n->file : "";
    const char *printable = report_printable(&report->arena, file);
    fputc(',', out);
    report_csv_text(out, printable ? printable : "");
    fputc(',', out);
    if (n && n->line_no && !is_file)
        fprintf(out, "%u", n->line_no);
    fputc(',', out);
    report_csv_text(out, n && !is_file ? linkage_of(report, n) : "");
}

void report_print_csv(struct report *report, FILE *out)
{
    csv_head(report, out);
    for (uint32_t r = 0; r < report->n_shown; r++) {
        const struct report_row *row = &report->rows[r];
        if (report->options.tree && row->parent_id == PM_NONE)
            fprintf(out, "%u,,%u,", row->id, row->depth);
        else if (report->options.tree)
            fprintf(out, "%u,%u,%u,", row->id, row->parent_id, row->depth);
        report_csv_text(out, row_kind(report, row));
        fputc(',', out);
        report_csv_text(out, row->what);
        fputc(',', out);
        report_csv_text(out, row->place);
        csv_place(report, row, out);
        csv_numbers(report, row, out);
        csv_incomplete(report, row, out);
        fputc('\n', out);
    }
}
