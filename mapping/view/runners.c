/* The table of what runs: threads, processes, ranks; and rows that are runners. */
#include "groupings.h"
#include "interval.h"

#include <stdlib.h>

/* --- what a kind of runner is --- */

static const struct pm_process *process_of(const struct pm_archive_data *data, uint32_t thread)
{
    return &data->processes[data->threads[thread].process];
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

/* Where there are several machines. */
static void add_node(const struct pm_archive_data *data, const struct pm_process *process,
                     struct pm_buf *out)
{
    if (data->n_nodes > 1 && *process->node)
        pm_buf_printf(out, " on %s", process->node);
}

static int64_t thread_key(const struct pm_archive_data *data, uint32_t thread)
{
    (void)data;
    return thread;
}

static struct pm_runner_names thread_names(const struct pm_archive_data *data, uint32_t thread)
{
    const struct pm_thread *t = &data->threads[thread];
    return (struct pm_runner_names){t->tid, {t->name, NULL}};
}

static void add_thread(const struct pm_archive_data *data, uint32_t thread, struct pm_buf *out)
{
    const struct pm_thread *t = &data->threads[thread];
    pm_buf_add_str(out, *t->name ? t->name : "thread");
    if (t->tid == process_of(data, thread)->pid)
        pm_buf_add_str(out, " (main)");
    if (t->n_threads > 1)
        pm_buf_printf(out, " and %lld later threads", (long long)t->n_threads - 1);
}

static void label_thread(const struct pm_archive_data *data, uint32_t thread, struct pm_buf *what,
                         struct pm_buf *place)
{
    const struct pm_thread *t = &data->threads[thread];
    const struct pm_process *process = process_of(data, thread);
    add_thread(data, thread, what);
    if (data->n_processes > 1) {
        pm_buf_add_str(what, ", in ");
        add_command(process, what);
    }
    pm_buf_printf(place, "pid %lld tid %lld", (long long)process->pid, (long long)t->tid);
    add_node(data, process, place);
}

static int64_t process_key(const struct pm_archive_data *data, uint32_t thread)
{
    return data->threads[thread].process;
}

static struct pm_runner_names process_names(const struct pm_archive_data *data, uint32_t thread)
{
    const struct pm_process *p = process_of(data, thread);
    const char *slash = strrchr(p->exe, '/');
    return (struct pm_runner_names){p->pid, {p->exe, slash ? slash + 1 : NULL}};
}

static void add_process(const struct pm_process *process, struct pm_buf *what, struct pm_buf *place)
{
    add_command(process, what);
    if (process->rank != PM_UNKNOWN)
        pm_buf_printf(what, ", rank %lld", (long long)process->rank);
    pm_buf_printf(place, "pid %lld", (long long)process->pid);
    if (process->image != 0)
        pm_buf_printf(place, " image %lld", (long long)process->image);
}

static void label_process(const struct pm_archive_data *data, uint32_t thread, struct pm_buf *what,
                          struct pm_buf *place)
{
    const struct pm_process *process = process_of(data, thread);
    add_process(process, what, place);
    add_node(data, process, place);
}

static int64_t rank_key(const struct pm_archive_data *data, uint32_t thread)
{
    return process_of(data, thread)->rank;
}

static struct pm_runner_names rank_names(const struct pm_archive_data *data, uint32_t thread)
{
    return (struct pm_runner_names){.number = rank_key(data, thread)};
}

static void label_rank(const struct pm_archive_data *data, uint32_t thread, struct pm_buf *what,
                       struct pm_buf *place)
{
    int64_t rank = rank_key(data, thread);
    if (rank == PM_UNKNOWN) {
        pm_buf_add_str(what, "(no rank)");
        return;
    }
    pm_buf_printf(what, "rank %lld", (long long)rank);
    add_command(process_of(data, thread), place);
}

static int64_t node_key(const struct pm_archive_data *data, uint32_t thread)
{
    return process_of(data, thread)->node_no;
}

static struct pm_runner_names node_names(const struct pm_archive_data *data, uint32_t thread)
{
    return (struct pm_runner_names){PM_UNKNOWN, {process_of(data, thread)->node, NULL}};
}

static void label_node(const struct pm_archive_data *data, uint32_t thread, struct pm_buf *what,
                       struct pm_buf *place)
{
    (void)place;
    const char *node = process_of(data, thread)->node;
    pm_buf_add_str(what, *node ? node : "(node not known)");
}

static const struct pm_runner_kind kinds[] = {
    [PM_RUNNER_THREAD] = {.word = "thread",
                          .plural = "threads",
                          .key = thread_key,
                          .names = thread_names,
                          .label = label_thread,
                          .is_thread = true},
    [PM_RUNNER_PROCESS] = {.word = "process",
                           .plural = "processes",
                           .key = process_key,
                           .names = process_names,
                           .label = label_process},
    [PM_RUNNER_RANK] = {.word = "rank",
                        .plural = "ranks",
                        .key = rank_key,
                        .names = rank_names,
                        .label = label_rank,
                        .why_none = "its processes were not started by mpirun or the like"},
    [PM_RUNNER_NODE] = {.word = "node",
                        .plural = "nodes",
                        .key = node_key,
                        .names = node_names,
                        .label = label_node,
                        .is_place = true},
};

const struct pm_runner_kind *pm_runner_kind(enum pm_runner kind)
{
    PM_ASSERT(kind > PM_RUNNER_NONE && kind < PM_N_RUNNERS);
    return &kinds[kind];
}

/* --- all of one kind --- */

static int compare_items(const void *a_pointer, const void *b_pointer)
{
    const struct pm_runner_item *a = a_pointer, *b = b_pointer;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return (a->thread > b->thread) - (a->thread < b->thread);
}

enum pm_status pm_runners_find(const struct pm_archive_data *data, enum pm_runner kind,
                               struct pm_error *err, struct pm_runners *ret_runners)
{
    const struct pm_runner_kind *runner = pm_runner_kind(kind);
    struct pm_runners found = {.items = pm_alloc_array(data->n_threads, sizeof *found.items),
                               .of_thread = pm_alloc_array(data->n_threads, sizeof(uint32_t))};
    if (!found.items || !found.of_thread) {
        pm_runners_release(&found);
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    }
    for (uint32_t t = 0; t < data->n_threads; t++)
        found.items[t] = (struct pm_runner_item){runner->key(data, t), t};
    if (data->n_threads)
        qsort(found.items, data->n_threads, sizeof *found.items, compare_items);
    for (uint32_t t = 0; t < data->n_threads; t++) {
        struct pm_runner_item item = found.items[t];
        if (found.n == 0 || found.items[found.n - 1].key != item.key)
            found.items[found.n++] = item;
        found.of_thread[item.thread] = found.n - 1;
    }
    *ret_runners = found;
    return PM_OK;
}

void pm_runners_release(struct pm_runners *runners)
{
    free(runners->items);
    free(runners->of_thread);
    *runners = (struct pm_runners){0};
}

/* rank:COMMUNICATOR/NUMBER */
static bool fits_member(const struct pm_archive_data *data, uint32_t thread,
                        bool (*fits)(const void *pattern, const char *text), const void *pattern)
{
    const struct pm_process *process = process_of(data, thread);
    bool found = false;
    for (uint32_t i = 0; i < process->n_members && !found; i++) {
        const struct pm_member *m = &data->members[process->first_member + i];
        struct pm_buf text = PM_BUF_INIT(4096);
        pm_buf_printf(&text, "%s/%lld", m->communicator, (long long)m->rank);
        found = !text.failed && fits(pattern, text.data);
        pm_buf_release(&text);
    }
    return found;
}

bool pm_runner_fits(const struct pm_archive_data *data, enum pm_runner kind, uint32_t thread,
                    bool (*fits)(const void *pattern, const char *text), const void *pattern)
{
    struct pm_runner_names names = pm_runner_kind(kind)->names(data, thread);
    char number[32];
    snprintf(number, sizeof number, "%lld", (long long)names.number);
    bool found = names.number != PM_UNKNOWN && fits(pattern, number);
    for (size_t i = 0; i < sizeof names.names / sizeof *names.names; i++)
        found = found || (names.names[i] && fits(pattern, names.names[i]));
    return found || (kind == PM_RUNNER_RANK && fits_member(data, thread, fits, pattern));
}

/* Items are by key, and what has no number comes first. */
static bool has_numbers(const struct pm_runners *runners)
{
    return runners->n && runners->items[runners->n - 1].key != PM_UNKNOWN;
}

#define NONE_TEXT "this archive knows no %ss: %s"

enum pm_status pm_runners_refuse_none(const struct pm_runners *runners, enum pm_runner kind,
                                      struct pm_error *err)
{
    const struct pm_runner_kind *runner = pm_runner_kind(kind);
    if (!runner->why_none || has_numbers(runners))
        return PM_OK;
    return pm_error_set(err, PM_ERR_NOT_FOUND, NONE_TEXT, runner->word, runner->why_none);
}

static void add_range(const struct pm_runner_kind *runner, const struct pm_runners *runners,
                      const char *name, struct pm_buf *out)
{
    if (!has_numbers(runners)) {
        pm_buf_printf(out, NONE_TEXT, runner->word, runner->why_none);
        return;
    }
    const struct pm_runner_item *first = runners->items, *last = &runners->items[runners->n - 1];
    first += first->key == PM_UNKNOWN;
    pm_buf_printf(out, "no %s '%s' in this archive; there are %ss %lld to %lld", runner->word, name,
                  runner->word, (long long)first->key, (long long)last->key);
}

void pm_runner_add_missing(const struct pm_archive_data *data, enum pm_runner kind,
                           const char *name, struct pm_buf *out)
{
    enum { MAX_LISTED = 8 };
    const struct pm_runner_kind *runner = pm_runner_kind(kind);
    struct pm_runners runners = {0};
    out->failed |= pm_runners_find(data, kind, NULL, &runners) != PM_OK;
    if (runner->why_none) {
        add_range(runner, &runners, name, out);
        pm_runners_release(&runners);
        return;
    }
    pm_buf_printf(out, "no %s '%s' in this archive; there are %s", runner->word, name,
                  runners.n ? "" : "none");
    for (uint32_t i = 0; i < runners.n && i < MAX_LISTED; i++) {
        struct pm_runner_names names = runner->names(data, runners.items[i].thread);
        const char *called = names.names[0] ? names.names[0] : "";
        pm_buf_add_str(out, i ? ", " : "");
        if (runner->is_place)
            pm_buf_printf(out, "'%s'", called);
        else
            pm_buf_printf(out, "%lld%s%s%s", (long long)names.number, *called ? " (" : "", called,
                          *called ? ")" : "");
    }
    pm_buf_add_str(out, runners.n > MAX_LISTED ? ", ..." : "");
    pm_runners_release(&runners);
}

/* --- rows that are runners --- */

bool pm_view_is_by_runner(const struct pm_view *view)
{
    return pm_view_grouping(view)->runner != PM_RUNNER_NONE;
}

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
    const uint32_t *row_of; /* per thread */
    bool overflow;
};

static bool add_to_row(void *context, const struct pm_cost *cost)
{
    struct adding *adding = context;
    struct pm_view *view = adding->view;
    struct pm_view_row *row = &view->rows[adding->row_of[cost->thread]];
    if (view->in_focus[cost->context])
        adding->overflow |= !add_cost(view, cost, row);
    return true;
}

/* All costs of all processes are many: they are read one by one. */
enum pm_status pm_view_add_costs_of_threads(struct pm_view *view, const uint32_t *row_of,
                                            struct pm_error *err)
{
    struct adding adding = {.view = view, .row_of = row_of};
    enum pm_status status = pm_view_each_cost(view, view->runs_in, add_to_row, &adding, err);
    return status == PM_OK && adding.overflow
               ? pm_error_set(err, PM_ERR_LIMIT, "costs add up to more than 64 bits hold")
               : status;
}

enum pm_status pm_view_make_runners(struct pm_view *view, struct pm_error *err)
{
    view->n_rows = view->runners.n;
    for (uint32_t r = 0; r < view->n_rows; r++) {
        view->rows[r].kind = PM_VIEW_ROW_RUNNER;
        view->rows[r].runner = pm_view_grouping(view)->runner;
        view->rows[r].source = view->runners.items[r].thread;
        view->rows[r].id = r;
    }
    enum pm_status status = pm_view_add_costs_of_threads(view, view->runners.of_thread, err);
    if (status != PM_OK)
        return status;
    return pm_view_find_over_time_of_threads(view, view->runners.of_thread, err);
}

uint32_t pm_view_n_processes_of(const struct pm_view *view, const struct pm_view_row *row)
{
    const struct pm_archive_data *data = view->data;
    int64_t rank = rank_key(data, row->source);
    uint32_t n = 0;
    for (uint32_t p = 0; p < data->n_processes; p++)
        n += data->processes[p].rank == rank;
    return n;
}

const struct pm_process *pm_view_process_of(const struct pm_view *view,
                                            const struct pm_view_row *row)
{
    return process_of(view->data, row->source);
}

const struct pm_thread *pm_view_thread_of(const struct pm_view *view, const struct pm_view_row *row)
{
    bool is_thread = pm_runner_kind(row->runner)->is_thread;
    return is_thread ? &view->data->threads[row->source] : NULL;
}

void pm_view_name_runner(const struct pm_view *view, const struct pm_view_row *row,
                         struct pm_buf *what, struct pm_buf *place)
{
    const struct pm_archive_data *data = view->data;
    const struct pm_process *process = pm_view_process_of(view, row);
    bool is_in_tree = pm_view_grouping(view)->where; /* below its process */
    if (row->runner == PM_RUNNER_THREAD && is_in_tree) {
        add_thread(data, row->source, what);
        pm_buf_printf(place, "tid %lld", (long long)data->threads[row->source].tid);
    } else if (row->runner == PM_RUNNER_PROCESS && is_in_tree && process->pid != 0) {
        add_process(process, what, place);
    } else if (process->pid == 0 && row->runner != PM_RUNNER_NODE) {
        add_command(process, what);
    } else {
        pm_runner_kind(row->runner)->label(data, row->source, what, place);
    }
}
