/* Rows that are processes or threads: what ran, not what it ran. */
#include "report.h"

#include "mapping/base/json.h"

bool report_is_by_runner(const struct report *report)
{
    return report->options.by == REPORT_BY_PROCESS || report->options.by == REPORT_BY_THREAD;
}

/* --- numbers --- */

static bool add_cost(const struct report *report, const struct pm_cost *cost,
                     struct report_row *row)
{
    const struct pm_graph *graph = report->data->graph;
    bool overflow = false;
    if (cost->metric == report->calls_metric) {
        bool entries = report_counts_as_entries(report, graph->contexts[cost->context].sentence);
        int64_t *n = entries ? &row->n_loop_entries : &row->n_calls;
        overflow |= __builtin_add_overflow(*n, cost->value, n);
    }
    if (cost->metric == report->samples_metric)
        overflow |= __builtin_add_overflow(row->n_samples, cost->value, &row->n_samples);
    for (uint32_t m = 0; m < report->n_metrics; m++) {
        struct report_value *value = &row->values[m];
        if (cost->metric != report->metrics[m])
            continue;
        overflow |= !pm_amount_add(&value->own, graph->metrics[cost->metric].aggregation,
                                   &(struct pm_amount){cost->value, 1});
        value->inclusive = value->own.value;
    }
    return !overflow;
}

enum pm_status report_make_runners(struct report *report, struct pm_error *err)
{
    const struct pm_archive_data *data = report->data;
    const struct pm_graph *graph = data->graph;
    bool by_thread = report->options.by == REPORT_BY_THREAD;
    report->n_rows = by_thread ? data->n_threads : data->n_processes;
    for (uint32_t r = 0; r < report->n_rows; r++) {
        report->rows[r].kind = REPORT_ROW_RUNNER;
        report->rows[r].source = report->rows[r].id = r;
    }
    for (uint32_t i = 0; i < graph->n_costs; i++) {
        const struct pm_cost *cost = &graph->costs[i];
        uint32_t row = by_thread ? cost->thread : data->threads[cost->thread].process;
        if (report->in_focus[cost->context] && !add_cost(report, cost, &report->rows[row]))
            return pm_error_set(err, PM_ERR_LIMIT, "costs add up to more than 64 bits hold");
    }
    return PM_OK;
}

/* --- names --- */

const struct pm_process *report_process_of(const struct report *report,
                                           const struct report_row *row)
{
    const struct pm_archive_data *data = report->data;
    return &data->processes[report->options.by == REPORT_BY_THREAD
                                ? data->threads[row->source].process
                                : row->source];
}

const struct pm_thread *report_thread_of(const struct report *report, const struct report_row *row)
{
    return report->options.by == REPORT_BY_THREAD ? &report->data->threads[row->source] : NULL;
}

/* Its command without the folders of the program; a program may have a blank in its name, and is quoted then. */
static void add_command(const struct pm_process *process, struct pm_buf *out)
{
    enum { MOST = 80 };
    const char *command = *process->argv ? process->argv : process->exe;
    size_t program = *command == '"' ? strlen(command) : strcspn(command, " ");
    for (const char *p = command; p < command + program; p++)
        if (*p == '/' && *command != '"') {
            program -= (size_t)(p + 1 - command);
            command = p + 1;
        }
    size_t len = strlen(command);
    if (len > MOST) {
        len = MOST;
        while (len && ((unsigned char)command[len] & 0xc0) == 0x80)
            len--;
    }
    pm_buf_add(out, command, len);
    if (command[len])
        pm_buf_add_str(out, "...");
}

void report_name_runner(const struct report *report, const struct report_row *row,
                        struct pm_buf *what, struct pm_buf *place)
{
    const struct pm_process *process = report_process_of(report, row);
    const struct pm_thread *thread = report_thread_of(report, row);
    if (process->pid == 0) {
        add_command(process, what);
        return;
    }
    if (thread) {
        pm_buf_add_str(what, *thread->name ? thread->name : "thread");
        if (thread->tid == process->pid)
            pm_buf_add_str(what, " (main)");
        if (thread->n_threads > 1)
            pm_buf_printf(what, " and %lld later threads", (long long)thread->n_threads - 1);
        if (report->data->n_processes > 1) {
            pm_buf_add_str(what, ", in ");
            add_command(process, what);
        }
    } else {
        add_command(process, what);
        if (process->rank != PM_UNKNOWN)
            pm_buf_printf(what, ", rank %lld", (long long)process->rank);
    }
    pm_buf_printf(place, "pid %lld", (long long)process->pid);
    if (thread)
        pm_buf_printf(place, " tid %lld", (long long)thread->tid);
    else if (process->image != 0)
        pm_buf_printf(place, " image %lld", (long long)process->image);
}

/* --- JSON --- */

static void number_or_null(struct pm_json *json, const char *key, int64_t number)
{
    if (number == PM_UNKNOWN)
        pm_json_null(json, key);
    else
        pm_json_i64(json, key, number);
}

void report_runner_json(const struct report *report, const struct report_row *row,
                        struct pm_json *json)
{
    const struct pm_process *process = report_process_of(report, row);
    const struct pm_thread *thread = report_thread_of(report, row);
    if (thread) {
        pm_json_object(json, "thread");
        pm_json_string(json, "name", thread->name);
        number_or_null(json, "tid", thread->tid);
        number_or_null(json, "n_threads", thread->n_threads);
        number_or_null(json, "start_ns", thread->start_ns);
        number_or_null(json, "end_ns", thread->end_ns);
        number_or_null(json, "cpu_ns", thread->cpu_ns);
        pm_json_end(json);
    }
    pm_json_object(json, "process");
    number_or_null(json, "pid", process->pid);
    number_or_null(json, "image", process->image);
    number_or_null(json, "rank", process->rank);
    pm_json_string(json, "exe", process->exe);
    pm_json_string(json, "command", process->argv);
    number_or_null(json, "start_ns", process->start_ns);
    number_or_null(json, "end_ns", process->end_ns);
    number_or_null(json, "user_cpu_ns", process->user_cpu_ns);
    number_or_null(json, "system_cpu_ns", process->system_cpu_ns);
    pm_json_end(json);
}
