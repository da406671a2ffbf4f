/* The report as JSON: docs/report.md has the schema. */
#include "over_time.h"
#include "columns.h"
#include "formats.h"

#include "mapping/base/json.h"
#include "mapping/view/axis.h"
#include "mapping/view/keys.h"

#include <inttypes.h>
#include <math.h>

static const char *const rule_words[] = {"merge", "closed", "split"};
static const char *const split_words[] = {"weights", "equal", "instructions"};

static const struct pm_graph_metric *metric_of(const struct pm_view *report, uint32_t m)
{
    return &report->data->graph->metrics[report->metrics[m]];
}

static void print_sampling(const struct pm_view *report, const struct pm_view_facts *facts,
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
    show_known_json(json, "period_ns", s->period_ns);
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

/* Of the first execution, as all of its numbers. */
static void print_attributes(const struct pm_archive_data *data, struct pm_json *json)
{
    pm_json_object(json, "attributes");
    for (uint32_t i = 0; i < data->n_attributes; i++)
        if (data->attributes[i].execution == 0)
            pm_json_string(json, data->attributes[i].key, data->attributes[i].value);
    pm_json_end(json);
}

static void print_execution(const struct pm_view *report, struct pm_json *json)
{
    const struct pm_execution *x = &report->data->executions[0];
    struct pm_view_facts facts = pm_view_facts(report);
    pm_json_object(json, "execution");
    pm_json_string(json, "name", x->name);
    pm_json_string(json, "command", x->command);
    pm_json_string(json, "cwd", x->cwd);
    pm_json_string(json, "host", x->host);
    pm_json_string(json, "mode", x->mode);
    print_attributes(report->data, json);
    show_known_json(json, "start_realtime_ns", x->start_realtime_ns);
    show_known_json(json, "wall_ns", facts.wall_ns);
    show_known_json(json, "user_cpu_ns", facts.user_cpu_ns);
    show_known_json(json, "system_cpu_ns", facts.system_cpu_ns);
    show_known_json(json, "max_rss_bytes", x->max_rss_bytes);
    show_known_json(json, "exit_status", x->exit_status);
    show_known_json(json, "exit_signal", x->exit_signal);
    pm_json_u64(json, "n_executions", report->data->n_executions);
    pm_json_u64(json, "n_processes", facts.n_processes);
    pm_json_u64(json, "n_threads", facts.n_threads);
    pm_json_i64(json, "n_lost_events", report->n_lost_events);
    show_known_json(json, "added_ns", facts.added_ns);
    if (facts.added_ns == PM_UNKNOWN)
        pm_json_null(json, "added_pct");
    else
        pm_json_double(json, "added_pct", facts.added_pct);
    pm_json_bool(json, "added_is_estimated", true);
    pm_json_bool(json, "is_compensated", !report->options.no_compensation);
    pm_json_i64(json, "taken_out_ns", report->taken_out_ns);
    pm_json_i64(json, "preempted_out_ns", report->preempted_out_ns);
    show_known_json(json, "events_ns", facts.events_ns);
    pm_json_bool(json, "events_by_samples", facts.events_by_samples);
    show_known_json(json, "samples_ns", facts.samples_ns);
    show_known_json(json, "starts_ns", facts.starts_ns);
    show_known_json(json, "fixed_ns", facts.fixed_ns);
    known_double(json, "slow_down_pct", facts.slow_down_pct);
    pm_json_bool(json, "slow_down_is_at_most", facts.is_at_most);
    known_double(json, "budget_pct",
                 facts.budget_ppm == PM_UNKNOWN ? NAN : (double)facts.budget_ppm / 1e4);
    print_sampling(report, &facts, json);
    pm_json_u64(json, "n_disarmed_nouns", facts.n_disarmed_nouns);
    pm_json_u64(json, "n_counted_nouns", facts.n_counted_nouns);
    pm_json_end(json);
}

/* Of views with locations. */
static void print_axis(const struct pm_view *report, struct pm_json *json)
{
    if (!pm_view_has_axis(report))
        return;
    pm_json_object(json, "axis");
    pm_json_string(json, "kind", pm_runner_kind(report->options.parts)->word);
    pm_json_string(json, "metric", metric_of(report, report->primary)->name);
    pm_json_u64(json, "n_locations", report->axis.n_locations);
    pm_json_u64(json, "n_not_measured", report->axis.n_unmeasured);
    pm_json_i64(json, "left_out", report->axis.left_out);
    pm_json_end(json);
}

static void print_view(const struct pm_view *report, struct pm_json *json)
{
    pm_json_object(json, "view");
    pm_json_string(json, "level", report->level_name);
    pm_json_string(json, "by", pm_view_by_word(report->options.by));
    pm_json_string(json, "shape", report->options.tree ? "tree" : "flat");
    pm_json_string(json, "rule", rule_words[report->options.rule]);
    pm_json_string(json, "fold", report->options.folds ? "system" : "none");
    pm_json_string(json, "split_by",
                   report->options.rule != PM_RULE_SPLIT ? NULL
                   : report->split_by_size               ? "code size"
                                                         : split_words[report->options.split]);
    show_foci_json(json, "focus", report->options.focus);
    show_foci_json(json, "on", report->options.on);
    pm_json_array(json, "foci");
    for (const char *const *focus = report->options.focus; *focus; focus++)
        pm_json_string(json, NULL, *focus);
    for (const char *const *on = report->options.on; *on; on++)
        pm_json_string(json, NULL, *on);
    pm_json_end(json);
    print_axis(report, json);
    pm_json_double(json, "focus_share_pct", report->focus_share_pct);
    pm_json_string(json, "share_of",
                   report->n_metrics ? metric_of(report, report->primary)->name : "n_calls");
    pm_json_u64(json, "limit", report->options.limit);
    show_interval_json(report, json);
    pm_json_end(json);
    pm_json_array(json, "metrics");
    for (uint32_t m = 0; m < report->n_metrics; m++) {
        const struct pm_graph_metric *metric = metric_of(report, m);
        pm_json_object(json, NULL);
        pm_json_string(json, "name", metric->name);
        pm_json_string(json, "unit", metric->unit);
        pm_json_string(json, "kind", metric->kind);
        pm_json_string(json, "description", metric->description);
        pm_json_end(json);
    }
    pm_json_end(json);
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

static void print_noun(const struct pm_view *report, const struct pm_view_group *group,
                       pm_index noun, struct pm_json *json)
{
    const struct pm_graph *graph = report->data->graph;
    const char *file = group ? group->file : NULL;
    pm_json_object(json, NULL);
    if (file) {
        pm_json_string(json, "name", file);
        pm_json_string(json, "kind", "file");
        pm_json_string(json, "file", file);
    } else if (noun != PM_NONE) {
        const struct pm_graph_noun *n = &graph->nouns[noun];
        pm_index function = noun;
        while (function != PM_NONE && !pm_view_noun_is_code(report, function))
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

static void key_json(void *json, const char *key)
{
    pm_json_string(json, NULL, key);
}

static void print_incomplete(const struct pm_view *report, const struct show_columns *columns,
                             const struct pm_view_row *row, struct pm_json *json)
{
    pm_json_array(json, "incomplete");
    show_each_marked(report, columns, row, PM_VIEW_PART_ROW, SHOW_MARK_AT_LEAST, key_json, json);
    pm_json_end(json);
}

static void print_uncertain(const struct pm_view *report, const struct show_columns *columns,
                            const struct pm_view_row *row, enum pm_view_part part,
                            struct pm_json *json)
{
    if (!show_tells_uncertain(report, columns))
        return;
    pm_json_array(json, "uncertain");
    show_each_marked(report, columns, row, part, SHOW_MARK_UNCERTAIN, key_json, json);
    pm_json_end(json);
}

static void number_json(const struct pm_view_column *column, struct pm_view_number number,
                        struct pm_json *json)
{
    bool is_bound = column->id == PM_VIEW_COLUMN_AT_LEAST || column->id == PM_VIEW_COLUMN_AT_MOST;
    if (number.kind == PM_VIEW_INTEGER)
        pm_json_i64(json, column->key, number.integer);
    else if (number.kind == PM_VIEW_REAL)
        pm_json_double(json, column->key, number.real);
    else if (number.kind == PM_VIEW_TEXT)
        pm_json_string(json, column->key, number.text);
    else if (!is_bound)
        pm_json_null(json, column->key);
}

static void print_numbers(const struct pm_view *report, const struct show_columns *columns,
                          const struct pm_view_row *row, enum pm_view_part part,
                          struct pm_json *json)
{
    for (uint32_t i = 0; i < columns->n; i++) {
        const struct pm_view_column *column = &columns->items[i];
        struct pm_view_number number = pm_view_number_of(report, column, row, part);
        if (!pm_view_column_has(column, part))
            continue;
        number_json(column, number, json);
        if (column->id == PM_VIEW_COLUMN_CALLS)
            pm_json_bool(json, "n_calls_complete", show_is_complete(number));
    }
}

/* A group is one construct, or machine code with what called it. */
static void print_nouns(const struct pm_view *report, const struct pm_view_group *group,
                        struct pm_json *json)
{
    const struct pm_graph *graph = report->data->graph;
    const struct pm_graph_sentence *s =
        group->sentence == PM_NONE ? NULL : &graph->sentences[group->sentence];
    if (!s || s->n_nouns == 0)
        print_noun(report, group, group->noun, json);
    for (uint32_t i = 0; s && i < s->n_nouns; i++)
        print_noun(report, NULL, graph->sentence_nouns[s->first_noun + i], json);
}

static void print_traits(const struct pm_view_row *row, struct pm_json *json)
{
    pm_json_array(json, "reasons");
    for (int i = 0;
         row->kind == PM_VIEW_ROW_SET && i < PM_VIEW_MAX_REASONS && row->traits.reasons[i]; i++) {
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

static void thread_json(const struct pm_thread *thread, struct pm_json *json)
{
    pm_json_object(json, "thread");
    pm_json_string(json, "name", thread->name);
    show_known_json(json, "tid", thread->tid);
    show_known_json(json, "n_threads", thread->n_threads);
    show_known_json(json, "start_ns", thread->start_ns);
    show_known_json(json, "end_ns", thread->end_ns);
    show_known_json(json, "cpu_ns", thread->cpu_ns);
    pm_json_end(json);
}

/* In communicators of MPI. */
static void members_json(const struct pm_view *report, const struct pm_process *process,
                         struct pm_json *json)
{
    pm_json_array(json, "ranks");
    for (uint32_t i = 0; i < process->n_members; i++) {
        const struct pm_member *m = &report->data->members[process->first_member + i];
        pm_json_object(json, NULL);
        pm_json_string(json, "communicator", m->communicator);
        pm_json_i64(json, "rank", m->rank);
        pm_json_i64(json, "size", m->size);
        pm_json_end(json);
    }
    pm_json_end(json);
}

static void process_json(const struct pm_view *report, const struct pm_process *process,
                         struct pm_json *json)
{
    pm_json_object(json, "process");
    show_known_json(json, "pid", process->pid);
    show_known_json(json, "image", process->image);
    show_known_json(json, "rank", process->rank);
    members_json(report, process, json);
    pm_json_string(json, "node", *process->node ? process->node : NULL);
    pm_json_string(json, "exe", process->exe);
    pm_json_string(json, "command", process->argv);
    show_known_json(json, "start_ns", process->start_ns);
    show_known_json(json, "end_ns", process->end_ns);
    show_known_json(json, "user_cpu_ns", process->user_cpu_ns);
    show_known_json(json, "system_cpu_ns", process->system_cpu_ns);
    pm_json_end(json);
}

/* A rank may be several processes, as of a shell and what it starts. */
static void runner_json(const struct pm_view *report, const struct pm_view_row *row,
                        struct pm_json *json)
{
    const struct pm_process *process = pm_view_process_of(report, row);
    const struct pm_thread *thread = pm_view_thread_of(report, row);
    if (row->runner == PM_RUNNER_NODE) {
        pm_json_string(json, "node", process->node);
        return;
    }
    if (row->runner == PM_RUNNER_RANK) {
        show_known_json(json, "rank", process->rank);
        pm_json_u64(json, "n_processes", pm_view_n_processes_of(report, row));
        return;
    }
    if (thread)
        thread_json(thread, json);
    process_json(report, process, json);
}

static void row_key_json(const struct pm_view_key *key, struct pm_json *json)
{
    char id[17];
    snprintf(id, sizeof id, "%016" PRIx64, key->hash);
    pm_json_string(json, "key", key->text);
    pm_json_string(json, "key_id", id);
}

static void print_row(const struct pm_view *report, const struct show_columns *columns,
                      const struct pm_view_row *row, const struct pm_view_key *key,
                      struct pm_json *json)
{
    pm_json_object(json, NULL);
    row_key_json(key, json);
    if (report->options.tree) {
        pm_json_u64(json, "id", row->id);
        if (row->parent_id == PM_NONE)
            pm_json_null(json, "parent");
        else
            pm_json_u64(json, "parent", row->parent_id);
        pm_json_u64(json, "depth", row->depth);
    }
    pm_json_string(json, "kind", show_row_kind(report, row));
    pm_json_string(json, "what", row->what);
    text_or_null(json, "place", row->place);
    if (pm_view_shows_sources(report))
        pm_json_string(json, "source_text", row->source_text);
    if (row->kind == PM_VIEW_ROW_RUNNER)
        runner_json(report, row, json);
    pm_json_array(json, "nouns");
    if (row->kind == PM_VIEW_ROW_UNMAPPED)
        print_noun(report, NULL, pm_view_row_noun(report, row, 0), json);
    for (uint32_t i = 0; i < row->n_groups; i++) {
        const struct pm_view_group *group = &report->groups[row->groups[i]];
        if (!group->special)
            print_nouns(report, group, json);
    }
    pm_json_end(json);
    print_traits(row, json);
    print_numbers(report, columns, row, PM_VIEW_PART_ROW, json);
    print_incomplete(report, columns, row, json);
    print_uncertain(report, columns, row, PM_VIEW_PART_ROW, json);
    show_over_time_json(report, row, json);
    pm_json_end(json);
}

static void print_rows(const struct pm_view *report, const struct show_columns *columns,
                       const struct pm_view_keys *keys, struct pm_json *json)
{
    pm_json_array(json, "rows");
    for (uint32_t r = 0; r < report->n_shown; r++)
        print_row(report, columns, &report->rows[r], &keys->items[r], json);
    pm_json_end(json);
    pm_json_object(json, "rest");
    pm_json_u64(json, "n_rows", report->n_rows - report->n_shown);
    print_numbers(report, columns, &report->rest, PM_VIEW_PART_REST, json);
    show_over_time_json(report, &report->rest, json);
    pm_json_end(json);
    pm_json_object(json, "total");
    print_numbers(report, columns, &report->total, PM_VIEW_PART_TOTAL, json);
    print_uncertain(report, columns, &report->total, PM_VIEW_PART_TOTAL, json);
    show_over_time_json(report, &report->total, json);
    pm_json_end(json);
}

static void print_report(struct pm_view *report, const struct pm_view_keys *keys, FILE *out)
{
    struct pm_json json;
    struct show_columns columns = show_columns_of(report);
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
    show_modes_json(report, &json);
    print_view(report, &json);
    print_rows(report, &columns, keys, &json);
    pm_json_end(&json);
    (void)pm_json_done(&json); /* a failed write shows on the stream */
}

static bool write_json(struct pm_view *report, const struct show_look *look, FILE *out)
{
    (void)look;
    struct pm_error err = PM_ERROR_INIT;
    struct pm_view_keys keys = {0};
    bool has_keys = pm_view_keys_make(report, NULL, &err, &keys) == PM_OK;
    if (has_keys)
        print_report(report, &keys, out);
    pm_view_keys_release(&keys);
    pm_error_release(&err);
    return has_keys;
}

/* The list of modes is a part of it. */
const struct show_format show_format_json = {
    .word = "json",
    .is_for_programs = true,
    .rows = write_json,
    .modes = write_json,
};
