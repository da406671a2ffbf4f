/* The report for other programs: docs/report.md has the schema. */
#include "show.h"

#include "mapping/base/json.h"
#include "mapping/code/vectors.h"
#include "mapping/view/columns.h"

#include <math.h>

static const char *const by_words[] = {"loop", "statement", "array",   "variable", "function",
                                       "file", "line",      "process", "thread"};
static const char *const rule_words[] = {"merge", "closed", "split"};
static const char *const split_words[] = {"weights", "equal", "instructions"};

static const struct pm_metric *metric_of(const struct pm_view *report, uint32_t m)
{
    return &report->data->graph->metrics[report->metrics[m]];
}

void show_known_json(struct pm_json *json, const char *key, int64_t value)
{
    if (value == PM_UNKNOWN)
        pm_json_null(json, key);
    else
        pm_json_i64(json, key, value);
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

static void print_view(const struct pm_view *report, struct pm_json *json)
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

static const char *row_kind(const struct pm_view *report, const struct pm_view_row *row)
{
    switch (row->kind) {
    case PM_VIEW_ROW_OUTSIDE:
        return "outside";
    case PM_VIEW_ROW_SPECIAL: {
        enum pm_view_special special = report->groups[row->groups[0]].special;
        return special == PM_VIEW_KERNEL        ? "kernel"
               : special == PM_VIEW_PERFMAP     ? "perfmap"
               : special == PM_VIEW_NOT_LOCATED ? "not located"
                                                : "no object";
    }
    case PM_VIEW_ROW_UNMAPPED:
        return "unmapped";
    case PM_VIEW_ROW_SET:
        return "set";
    case PM_VIEW_ROW_RUNNER:
        return by_words[report->options.by];
    case PM_VIEW_ROW_NOUN:
        break;
    }
    const struct pm_view_group *group = &report->groups[row->groups[0]];
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
        const struct pm_noun *n = &graph->nouns[noun];
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

/* The numbers of a view, and how many. */
struct columns {
    struct pm_view_column items[PM_VIEW_MAX_COLUMNS];
    uint32_t n;
};

static struct columns columns_of(const struct pm_view *report)
{
    struct columns columns;
    columns.n = pm_view_columns(report, columns.items);
    return columns;
}

static bool has_column(const struct columns *columns, enum pm_view_column_id id)
{
    for (uint32_t i = 0; i < columns->n; i++)
        if (columns->items[i].id == id)
            return true;
    return false;
}

enum mark { MARK_AT_LEAST, MARK_UNCERTAIN };

/* Calls back with the key of each number of a row that has the mark. */
static void each_marked(const struct pm_view *report, const struct columns *columns,
                        const struct pm_view_row *row, enum pm_view_part part, enum mark mark,
                        void (*found)(void *, const char *key), void *context)
{
    for (uint32_t i = 0; i < columns->n; i++) {
        struct pm_view_number number = pm_view_number_of(report, &columns->items[i], row, part);
        if (mark == MARK_AT_LEAST ? number.is_at_least : number.is_uncertain)
            found(context, columns->items[i].key);
    }
}

static void key_json(void *json, const char *key)
{
    pm_json_string(json, NULL, key);
}

static void print_incomplete(const struct pm_view *report, const struct columns *columns,
                             const struct pm_view_row *row, struct pm_json *json)
{
    pm_json_array(json, "incomplete");
    each_marked(report, columns, row, PM_VIEW_PART_ROW, MARK_AT_LEAST, key_json, json);
    pm_json_end(json);
}

static void print_uncertain(const struct pm_view *report, const struct columns *columns,
                            const struct pm_view_row *row, enum pm_view_part part,
                            struct pm_json *json)
{
    if (!has_column(columns, PM_VIEW_COLUMN_TAKEN_OUT))
        return;
    pm_json_array(json, "uncertain");
    each_marked(report, columns, row, part, MARK_UNCERTAIN, key_json, json);
    pm_json_end(json);
}

static bool is_complete(struct pm_view_number n_calls)
{
    return n_calls.kind != PM_VIEW_NO_NUMBER && !n_calls.is_at_least;
}

static void number_json(const struct pm_view_column *column, struct pm_view_number number,
                        struct pm_json *json)
{
    bool is_bound = column->id == PM_VIEW_COLUMN_AT_LEAST || column->id == PM_VIEW_COLUMN_AT_MOST;
    if (number.kind == PM_VIEW_INTEGER)
        pm_json_i64(json, column->key, number.integer);
    else if (number.kind == PM_VIEW_REAL)
        pm_json_double(json, column->key, number.real);
    else if (!is_bound)
        pm_json_null(json, column->key);
}

static void print_numbers(const struct pm_view *report, const struct columns *columns,
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
            pm_json_bool(json, "n_calls_complete", is_complete(number));
    }
}

/* A group is one construct, or machine code with what called it. */
static void print_nouns(const struct pm_view *report, const struct pm_view_group *group,
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

static void runner_json(const struct pm_view *report, const struct pm_view_row *row,
                        struct pm_json *json)
{
    const struct pm_process *process = pm_view_process_of(report, row);
    const struct pm_thread *thread = pm_view_thread_of(report, row);
    if (thread) {
        pm_json_object(json, "thread");
        pm_json_string(json, "name", thread->name);
        show_known_json(json, "tid", thread->tid);
        show_known_json(json, "n_threads", thread->n_threads);
        show_known_json(json, "start_ns", thread->start_ns);
        show_known_json(json, "end_ns", thread->end_ns);
        show_known_json(json, "cpu_ns", thread->cpu_ns);
        pm_json_end(json);
    }
    pm_json_object(json, "process");
    show_known_json(json, "pid", process->pid);
    show_known_json(json, "image", process->image);
    show_known_json(json, "rank", process->rank);
    pm_json_string(json, "exe", process->exe);
    pm_json_string(json, "command", process->argv);
    show_known_json(json, "start_ns", process->start_ns);
    show_known_json(json, "end_ns", process->end_ns);
    show_known_json(json, "user_cpu_ns", process->user_cpu_ns);
    show_known_json(json, "system_cpu_ns", process->system_cpu_ns);
    pm_json_end(json);
}

static void print_row(const struct pm_view *report, const struct columns *columns,
                      const struct pm_view_row *row, struct pm_json *json)
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
    pm_json_end(json);
}

void show_json(struct pm_view *report, FILE *out)
{
    struct pm_json json;
    struct columns columns = columns_of(report);
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
    pm_json_array(&json, "rows");
    for (uint32_t r = 0; r < report->n_shown; r++)
        print_row(report, &columns, &report->rows[r], &json);
    pm_json_end(&json);
    pm_json_object(&json, "rest");
    pm_json_u64(&json, "n_rows", report->n_rows - report->n_shown);
    print_numbers(report, &columns, &report->rest, PM_VIEW_PART_REST, &json);
    pm_json_end(&json);
    pm_json_object(&json, "total");
    print_numbers(report, &columns, &report->total, PM_VIEW_PART_TOTAL, &json);
    print_uncertain(report, &columns, &report->total, PM_VIEW_PART_TOTAL, &json);
    pm_json_end(&json);
    pm_json_end(&json);
    (void)pm_json_done(&json); /* a failed write shows on the stream */
}

/* --- CSV (RFC 4180, lines ended by a line feed) --- */

void show_csv_text(FILE *out, const char *text)
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

static void csv_head(const struct pm_view *report, const struct columns *columns, FILE *out)
{
    fputs(report->options.tree ? "id,parent,depth,kind,what,place,file,line_no,linkage"
                               : "kind,what,place,file,line_no,linkage",
          out);
    for (uint32_t i = 0; i < columns->n; i++)
        fprintf(out, ",%s", columns->items[i].key);
    fprintf(out, "%s,incomplete%s\n",
            has_column(columns, PM_VIEW_COLUMN_CALLS) ? ",n_calls_complete" : "",
            has_column(columns, PM_VIEW_COLUMN_TAKEN_OUT) ? ",uncertain" : "");
}

static void number_csv(const struct pm_view_column *column, struct pm_view_number number, FILE *out)
{
    fputc(',', out);
    if (number.kind == PM_VIEW_INTEGER)
        fprintf(out, "%lld", (long long)number.integer);
    else if (number.kind == PM_VIEW_REAL && column->id == PM_VIEW_COLUMN_SHARE)
        fprintf(out, "%.4f", number.real);
    else if (number.kind == PM_VIEW_REAL)
        fprintf(out, "%.6g", number.real);
}

static void csv_numbers(const struct pm_view *report, const struct columns *columns,
                        const struct pm_view_row *row, FILE *out)
{
    struct pm_view_number n_calls = {0};
    for (uint32_t i = 0; i < columns->n; i++) {
        const struct pm_view_column *column = &columns->items[i];
        struct pm_view_number number = pm_view_number_of(report, column, row, PM_VIEW_PART_ROW);
        number_csv(column, number, out);
        if (column->id == PM_VIEW_COLUMN_CALLS)
            n_calls = number;
    }
    if (has_column(columns, PM_VIEW_COLUMN_CALLS))
        fputs(is_complete(n_calls) ? ",1" : ",0", out);
}

/* A symbol's name is the linker's already; `what` shows it as the source has it. */
static const char *linkage_of(struct pm_view *report, const struct pm_noun *noun)
{
    const char *name = noun->linkage && *noun->linkage                   ? noun->linkage
                       : noun->kind && strcmp(noun->kind, "symbol") == 0 ? noun->name
                                                                         : NULL;
    const char *printable = name ? pm_text_printable(&report->arena, name) : NULL;
    return printable ? printable : "";
}

struct csv_list {
    FILE *out;
    int n;
};

static void key_csv(void *context, const char *key)
{
    struct csv_list *list = context;
    fprintf(list->out, "%s%s", list->n++ ? " " : "", key);
}

static void csv_marks(const struct pm_view *report, const struct columns *columns,
                      const struct pm_view_row *row, FILE *out)
{
    struct csv_list list = {out, 0};
    fputc(',', out);
    each_marked(report, columns, row, PM_VIEW_PART_ROW, MARK_AT_LEAST, key_csv, &list);
    list.n = 0;
    if (has_column(columns, PM_VIEW_COLUMN_TAKEN_OUT)) {
        fputc(',', out);
        each_marked(report, columns, row, PM_VIEW_PART_ROW, MARK_UNCERTAIN, key_csv, &list);
    }
}

/* File, line and the linker's name of rows that are one noun. */
static void csv_place(struct pm_view *report, const struct pm_view_row *row, FILE *out)
{
    bool is_file = row->n_groups == 1 && report->groups[row->groups[0]].file;
    bool is_one = row->kind == PM_VIEW_ROW_NOUN || row->kind == PM_VIEW_ROW_UNMAPPED;
    pm_index noun = is_one ? pm_view_row_noun(report, row, 0) : PM_NONE;
    const struct pm_noun *n = noun == PM_NONE ? NULL : &report->data->graph->nouns[noun];
    const char *file = is_file ? report->groups[row->groups[0]].file : n ? n->file : "";
    const char *printable = pm_text_printable(&report->arena, file);
    fputc(',', out);
    show_csv_text(out, printable ? printable : "");
    fputc(',', out);
    if (n && n->line_no && !is_file)
        fprintf(out, "%u", n->line_no);
    fputc(',', out);
    show_csv_text(out, n && !is_file ? linkage_of(report, n) : "");
}

void show_csv(struct pm_view *report, FILE *out)
{
    struct columns columns = columns_of(report);
    csv_head(report, &columns, out);
    for (uint32_t r = 0; r < report->n_shown; r++) {
        const struct pm_view_row *row = &report->rows[r];
        if (report->options.tree && row->parent_id == PM_NONE)
            fprintf(out, "%u,,%u,", row->id, row->depth);
        else if (report->options.tree)
            fprintf(out, "%u,%u,%u,", row->id, row->parent_id, row->depth);
        show_csv_text(out, row_kind(report, row));
        fputc(',', out);
        show_csv_text(out, row->what);
        fputc(',', out);
        show_csv_text(out, row->place);
        csv_place(report, row, out);
        csv_numbers(report, &columns, row, out);
        csv_marks(report, &columns, row, out);
        fputc('\n', out);
    }
}

void show_vectors_json(const struct pm_vectors *v, struct pm_json *json)
{
    if (!v->n_instructions) {
        pm_json_null(json, "vectors");
        return;
    }
    pm_json_object(json, "vectors");
    pm_json_u64(json, "n_instructions", v->n_instructions);
    pm_json_u64(json, "n_vector_instructions", v->n_vector);
    pm_json_u64(json, "n_scalar_float_instructions", v->n_scalar);
    pm_json_u64(json, "n_vector_moves", v->n_moves);
    pm_json_u64(json, "vector_bytes", v->width_bytes);
    pm_json_u64(json, "element_bytes", v->element_bytes);
    pm_json_end(json);
}
