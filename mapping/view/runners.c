/* Rows that are processes or threads: what ran, not what it ran. */
#include "view.h"

bool pm_view_is_by_runner(const struct pm_view *view)
{
    return view->options.by == PM_VIEW_BY_PROCESS || view->options.by == PM_VIEW_BY_THREAD;
}

/* --- numbers --- */

/* A process has called a function as often as is known of the function. */
static void mark_calls(const struct pm_view *view, pm_index sentence, bool entries,
                       struct pm_view_traits *traits)
{
    const struct pm_lift *lift = view->lift;
    uint32_t class = lift->class_of[sentence];
    for (uint32_t k = lift->class_first[class]; k < lift->class_first[class + 1]; k++) {
        const struct pm_view_traits *called = &view->traits[lift->parts[k].row];
        traits->entries_are_at_least |= entries && called->entries_are_at_least;
        traits->calls_are_at_least |= !entries && called->calls_are_at_least;
    }
}

static bool add_cost(const struct pm_view *view, const struct pm_cost *cost,
                     struct pm_view_row *row)
{
    const struct pm_graph *graph = view->data->graph;
    bool overflow = false;
    if (cost->metric == view->calls_metric) {
        pm_index sentence = graph->contexts[cost->context].sentence;
        bool entries = pm_view_counts_as_entries(view, sentence);
        int64_t *n = entries ? &row->n_loop_entries : &row->n_calls;
        overflow |= __builtin_add_overflow(*n, cost->value, n);
        mark_calls(view, sentence, entries, &row->traits);
    }
    if (cost->metric == view->samples_metric)
        overflow |= __builtin_add_overflow(row->n_samples, cost->value, &row->n_samples);
    for (uint32_t m = 0; m < view->n_metrics; m++) {
        struct pm_view_value *value = &row->values[m];
        if (cost->metric != view->metrics[m])
            continue;
        overflow |= !pm_amount_add(&value->own, graph->metrics[cost->metric].aggregation,
                                   &(struct pm_amount){cost->value, 1});
        value->inclusive = value->own.value;
    }
    return !overflow;
}

struct adding {
    struct pm_view *view;
    bool overflow;
};

static bool add_to_row(void *context, const struct pm_cost *cost)
{
    struct adding *adding = context;
    struct pm_view *view = adding->view;
    uint32_t row = view->options.by == PM_VIEW_BY_THREAD
                       ? cost->thread
                       : view->data->threads[cost->thread].process;
    if (view->in_focus[cost->context])
        adding->overflow |= !add_cost(view, cost, &view->rows[row]);
    return true;
}

/* All costs of all processes are many: they are read one by one. */
enum pm_status pm_view_make_runners(struct pm_view *view, struct pm_error *err)
{
    const struct pm_archive_data *data = view->data;
    struct adding adding = {.view = view};
    bool by_thread = view->options.by == PM_VIEW_BY_THREAD;
    view->n_rows = by_thread ? data->n_threads : data->n_processes;
    for (uint32_t r = 0; r < view->n_rows; r++) {
        view->rows[r].kind = PM_VIEW_ROW_RUNNER;
        view->rows[r].source = view->rows[r].id = r;
    }
    enum pm_status status = pm_view_each_cost(view, NULL, add_to_row, &adding, err);
    return status == PM_OK && adding.overflow
               ? pm_error_set(err, PM_ERR_LIMIT, "costs add up to more than 64 bits hold")
               : status;
}

/* --- names --- */

const struct pm_process *pm_view_process_of(const struct pm_view *view,
                                            const struct pm_view_row *row)
{
    const struct pm_archive_data *data = view->data;
    return &data->processes[view->options.by == PM_VIEW_BY_THREAD
                                ? data->threads[row->source].process
                                : row->source];
}

const struct pm_thread *pm_view_thread_of(const struct pm_view *view, const struct pm_view_row *row)
{
    return view->options.by == PM_VIEW_BY_THREAD ? &view->data->threads[row->source] : NULL;
}

/* Its command without the folders of the program; a program may have a blank in its name, and is
 * quoted then. */
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

void pm_view_name_runner(const struct pm_view *view, const struct pm_view_row *row,
                         struct pm_buf *what, struct pm_buf *place)
{
    const struct pm_process *process = pm_view_process_of(view, row);
    const struct pm_thread *thread = pm_view_thread_of(view, row);
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
        if (view->data->n_processes > 1) {
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
