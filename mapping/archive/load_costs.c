/* Costs of an archive: tables cost_rows and cost_lists.
 *
 * Who does not ask for threads gets one cost for all processes of one program (of one
 * execution). 1000 processes with 45 000 contexts each have 90 million costs; merged there are
 * 90 000. What measuring a call cost differs by process; the merged ones have the mean by their
 * calls. What others had of a thread's CPU is taken out of that thread's own time: where it was
 * preempted, times stay apart.
 */
#include "cost_times.h"
#include "load_internal.h"
#include "../base/map.h"

#include "../../format/pm_id.h"

#include <stdlib.h>

struct place {
    pm_index thread, context;
};

struct costs_reader {
    struct loader *load;
    const pm_index *position;        /* of contexts in the graph, by their order in the file */
    pm_index calls, wall, preempted; /* metrics; PM_NONE: there is none */
    struct place *places;            /* merging: where threads were preempted, by thread */
    uint32_t n_places;
    bool finds_places; /* the first of two readings: of preempted_ns only */
    pm_index stamped;  /* the thread whose paths have the newest stamp */
    uint32_t n_stamps,
        *stamps;        /* by context: of the newest thread that was preempted there or below */
    bool *never_merged; /* by context: the same of threads that have costs of others */
    uint32_t *merged_thread; /* by thread: the one that has its costs; NULL: each has its own */
    uint32_t **last;         /* by metric: NULL, or by context 1 + the last cost's position */
    double *n_calls;         /* by process; NULL: nothing is merged */
    const struct load_visit *visits;                /* who gets them; NULL: the graph */
    bool has_interval;                              /* of data->interval only */
    int64_t file_thread, file_metric, file_context; /* of the one that is read, as in the file */
    /* The lists of one thread and metric, which lie together. */
    struct pm_cost_times times;
    int64_t times_thread, times_metric;
    bool has_times; /* they were looked for */
    sqlite3_stmt *find_times;
    int64_t *parts; /* of visits->visit_parts */
};

/* --- which processes are one --- */

static uint64_t key_of(const struct pm_process *process)
{
    struct pm_id_hash hash;
    pm_id_hash_init(&hash, "process");
    pm_id_hash_id(&hash, process->execution);
    pm_id_hash_string(&hash, process->exe);
    return pm_id_hash_done(&hash);
}

/* The first process of the same program in the same execution. */
static bool find_alike(struct pm_archive_data *data)
{
    struct pm_map first = {0};
    bool ok = pm_map_reserve(&first, data->n_processes);
    for (uint32_t i = 0; ok && i < data->n_processes; i++) {
        uint64_t key = key_of(&data->processes[i]);
        uint32_t row = pm_map_get(&first, key);
        data->processes[i].merged_into = row ? row - 1 : i;
        ok = row || pm_map_put(&first, key, i + 1);
    }
    pm_map_release(&first);
    return ok;
}

/* The first of a program has the costs of all. first: 0, by process. */
static void choose_threads(struct costs_reader *r, uint32_t *first)
{
    const struct pm_archive_data *data = r->load->data;
    for (uint32_t i = 0; i < data->n_threads; i++) {
        uint32_t *thread = &first[data->processes[data->threads[i].process].merged_into];
        *thread = *thread ? *thread : i + 1;
        r->merged_thread[i] = *thread - 1;
    }
}

static bool merge_threads(struct costs_reader *r)
{
    struct pm_archive_data *data = r->load->data;
    uint32_t *first = pm_alloc_array(data->n_processes, sizeof *first); /* 1 + thread */
    r->merged_thread = pm_alloc_array(data->n_threads, sizeof *r->merged_thread);
    r->n_calls = pm_alloc_array(data->n_processes, sizeof *r->n_calls);
    r->last = pm_alloc_array(data->graph->n_metrics, sizeof *r->last);
    bool ok = first && r->merged_thread && r->n_calls && r->last && find_alike(data);
    if (ok)
        choose_threads(r, first);
    free(first);
    return ok;
}

static void add_pair(struct pm_pair_costs *sum, const struct pm_process *process, double weight)
{
    bool is_known =
        process->exact_inner_ps > 0 && process->exact_inner_ps <= process->exact_pair_ps;
    sum->exact_ps += is_known ? weight * (double)process->exact_pair_ps : 0;
    sum->inner_ps += is_known ? weight * (double)process->exact_inner_ps : 0;
    sum->active_ps += process->active_pair_ps > 0 ? weight * (double)process->active_pair_ps : 0;
}

/* What a call cost: each process's own, or the mean of those that are merged. */
static bool make_pair_costs(const struct costs_reader *r)
{
    struct pm_archive_data *data = r->load->data;
    double *all = pm_alloc_array(data->n_processes, sizeof *all);
    for (uint32_t i = 0; all && r->n_calls && i < data->n_processes; i++)
        all[data->processes[i].merged_into] += r->n_calls[i];
    for (uint32_t i = 0; all && i < data->n_processes; i++) {
        uint32_t into = data->processes[i].merged_into;
        if (all[into] > 0)
            add_pair(&data->processes[into].pair, &data->processes[i], r->n_calls[i] / all[into]);
        else if (into == i)
            add_pair(&data->processes[i].pair, &data->processes[i], 1);
    }
    free(all);
    return all != NULL;
}

/* --- what stays apart --- */

static bool is_before(const void *place, const void *thread)
{
    return ((const struct place *)place)->thread < *(const pm_index *)thread;
}

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    return x->thread < y->thread ? -1 : x->thread > y->thread;
}

/* The paths to where the thread was preempted. */
static void stamp_paths(struct costs_reader *r, pm_index thread)
{
    const struct pm_context *contexts = r->load->data->graph->contexts;
    size_t at = pm_lower_bound(r->places, r->n_places, sizeof *r->places, &thread, is_before);
    r->stamped = thread;
    r->n_stamps++;
    for (; at < r->n_places && r->places[at].thread == thread; at++)
        for (pm_index i = r->places[at].context; i != PM_NONE && r->stamps[i] != r->n_stamps;
             i = contexts[i].parent) {
            r->stamps[i] = r->n_stamps;
            r->never_merged[i] |= r->merged_thread[thread] == thread;
        }
}

static bool is_on_path(const struct costs_reader *r, pm_index context)
{
    return r->stamps[context] == r->n_stamps || r->never_merged[context];
}

static bool is_base(const struct pm_graph *graph, pm_index context)
{
    pm_index level = pm_graph_sentence_level(graph, graph->contexts[context].sentence);
    return !strcmp(graph->levels[level].name, "Base");
}

/* Whether a time may hold some in which that thread was preempted: it is on a path to there, or the
 * code within a sentence of the program's own on such a path, which has that sentence's time. */
static bool stays_apart(struct costs_reader *r, const struct pm_cost *cost)
{
    const struct pm_graph *graph = r->load->data->graph;
    if (r->n_places == 0 || (cost->metric != r->wall && cost->metric != r->preempted))
        return false;
    if (r->stamped != cost->thread)
        stamp_paths(r, cost->thread);
    pm_index parent = graph->contexts[cost->context].parent;
    return is_on_path(r, cost->context) ||
           (parent != PM_NONE && is_on_path(r, parent) && !is_base(graph, parent));
}

/* --- one cost --- */

/* Adds to the cost that is there already, if there is one and it is not an average. */
static bool add_to_last(struct costs_reader *r, const struct pm_cost *cost)
{
    struct pm_graph *graph = r->load->data->graph;
    enum pm_aggregation aggregation = graph->metrics[cost->metric].aggregation;
    uint32_t *last = &r->last[cost->metric][cost->context];
    struct pm_cost *there = *last ? &graph->costs[*last - 1] : NULL;
    int64_t sum;
    if (there && there->thread == cost->thread && aggregation == PM_SUM &&
        !__builtin_add_overflow(there->value, cost->value, &sum)) {
        there->value = sum;
        there->is_merged |= cost->is_merged;
        return true;
    }
    if (there && there->thread == cost->thread && aggregation == PM_MAXIMUM) {
        there->value = there->value > cost->value ? there->value : cost->value;
        return true;
    }
    *last = graph->n_costs + 1;
    return false;
}

static enum pm_status add_place(struct costs_reader *r, const struct pm_cost *cost)
{
    if (!load_room(&r->places, r->n_places, sizeof *r->places))
        return load_no_memory(r->load);
    r->places[r->n_places++] = (struct place){cost->thread, cost->context};
    return PM_OK;
}

static enum pm_status add_cost(struct costs_reader *r, struct pm_cost cost)
{
    struct loader *load = r->load;
    struct pm_archive_data *data = load->data;
    if (r->visits)
        return r->visits->visit(r->visits->context, &cost) ? PM_OK : load_no_memory(load);
    if (r->finds_places)
        return cost.metric == r->preempted ? add_place(r, &cost) : PM_OK;
    if (r->merged_thread && !stays_apart(r, &cost)) {
        uint32_t **last = &r->last[cost.metric];
        if (!*last && !(*last = pm_alloc_array(data->graph->n_contexts, sizeof **last)))
            return load_no_memory(load);
        if (r->n_calls && cost.metric == r->calls)
            r->n_calls[data->threads[cost.thread].process] += (double)cost.value;
        cost.is_merged = r->merged_thread[cost.thread] != cost.thread;
        cost.thread = r->merged_thread[cost.thread];
        if (add_to_last(r, &cost))
            return PM_OK;
    }
    pm_graph_cost(data->graph, &cost);
    return data->graph->failed ? load_no_memory(load) : PM_OK;
}

/* --- when it was --- */

static enum pm_status damaged_times(struct costs_reader *r)
{
    return load_damaged(r->load, "the times of thread %lld, metric %lld, are damaged",
                        (long long)r->times_thread, (long long)r->times_metric);
}

/* Reads the lists of the cost's thread and metric, if there are any. */
static enum pm_status need_times(struct costs_reader *r)
{
    if (r->has_times && r->times_thread == r->file_thread && r->times_metric == r->file_metric)
        return PM_OK;
    pm_cost_times_release(&r->times);
    r->has_times = true;
    r->times_thread = r->file_thread;
    r->times_metric = r->file_metric;
    sqlite3_bind_int64(r->find_times, 1, r->file_metric);
    sqlite3_bind_int64(r->find_times, 2, r->file_thread);
    int step = sqlite3_step(r->find_times);
    enum pm_status status = PM_OK;
    if (step == SQLITE_ROW) {
        const void *bytes = sqlite3_column_blob(r->find_times, 2);
        int len = sqlite3_column_bytes(r->find_times, 2);
        status = pm_cost_times_parse(bytes ? bytes : "", (size_t)len,
                                     sqlite3_column_int64(r->find_times, 0),
                                     sqlite3_column_int64(r->find_times, 1), &r->times);
    }
    sqlite3_reset(r->find_times);
    if (status == PM_ERR_FORMAT)
        return damaged_times(r);
    if (status != PM_OK)
        return load_no_memory(r->load);
    return step == SQLITE_ROW || step == SQLITE_DONE ? PM_OK : load_database_error(r->load);
}

static bool is_of_interval(const struct costs_reader *r)
{
    return r->has_interval || (r->visits && (r->visits->visit_parts || r->visits->visit_times));
}

/* Up to the edge, and within the interval that is looked at. A cost that has less than its times
 * say is damaged; it is then not more in any interval. */
static int64_t part_before(const struct costs_reader *r, const struct pm_cost_times_list *list,
                           int64_t at_ns, int64_t value)
{
    const struct pm_time_span *interval = &r->load->data->interval;
    if (at_ns < interval->from_ns)
        at_ns = interval->from_ns;
    if (at_ns > interval->until_ns)
        at_ns = interval->until_ns;
    int64_t before = pm_cost_times_before(&r->times, list, at_ns);
    return before < value ? before : value;
}

static enum pm_status take_parts(struct costs_reader *r, const struct pm_cost_times_list *list,
                                 const struct pm_cost *cost, int64_t whole)
{
    const struct load_visit *visits = r->visits;
    int64_t before = part_before(r, list, visits->edges_ns[0], whole);
    for (uint32_t i = 0; i < visits->n_parts; i++) {
        int64_t so_far = part_before(r, list, visits->edges_ns[i + 1], whole);
        r->parts[i] = so_far - before;
        before = so_far;
    }
    return visits->visit_parts(visits->context, cost, r->parts) ? PM_OK : load_no_memory(r->load);
}

/* What of a cost is asked for. */
static enum pm_status take_cost(struct costs_reader *r, struct pm_cost cost)
{
    if (!is_of_interval(r))
        return add_cost(r, cost);
    if (!r->load->data->has_times || !r->load->data->has_times[cost.metric])
        return PM_OK;
    enum pm_status status = need_times(r);
    if (status != PM_OK)
        return status;
    const struct pm_cost_times_list *list = pm_cost_times_find(&r->times, r->file_context);
    int64_t whole = cost.value;
    if (!list)
        return PM_OK;
    if (r->visits && r->visits->visit_times)
        return r->visits->visit_times(r->visits->context, &cost, &r->times, list)
                   ? PM_OK
                   : load_no_memory(r->load);
    if (r->has_interval)
        cost.value =
            part_before(r, list, INT64_MAX, whole) - part_before(r, list, INT64_MIN, whole);
    if (cost.value == 0)
        return PM_OK;
    return r->visits && r->visits->visit_parts ? take_parts(r, list, &cost, whole)
                                               : add_cost(r, cost);
}

/* --- rows and lists --- */

static enum pm_status refuse(struct costs_reader *r, sqlite3_stmt *row, int64_t context)
{
    return load_damaged(r->load,
                        "a cost is of context %lld, thread %lld, metric %lld, which are not all "
                        "there",
                        (long long)context, sqlite3_column_int64(row, 0),
                        sqlite3_column_int64(row, 1));
}

/* The metric and thread of a row. */
static enum pm_status read_key(struct costs_reader *r, sqlite3_stmt *row, struct pm_cost *ret_cost)
{
    struct loader *load = r->load;
    r->file_thread = sqlite3_column_int64(row, 0);
    r->file_metric = sqlite3_column_int64(row, 1);
    *ret_cost =
        (struct pm_cost){.thread = pm_index_map_get(&load->threads, sqlite3_column_int64(row, 0)),
                         .metric = pm_index_map_get(&load->metrics, sqlite3_column_int64(row, 1))};
    return ret_cost->thread != PM_NONE && ret_cost->metric != PM_NONE
               ? PM_OK
               : refuse(r, row, sqlite3_column_int64(row, 2));
}

static enum pm_status find_context(struct costs_reader *r, sqlite3_stmt *row, int64_t id,
                                   pm_index *ret_context)
{
    pm_index at = pm_index_map_get(&r->load->contexts, id);
    r->file_context = id;
    *ret_context = at == PM_NONE ? PM_NONE : r->position[at];
    return *ret_context != PM_NONE ? PM_OK : refuse(r, row, id);
}

static bool is_left_out(const struct costs_reader *r, const struct pm_cost *cost)
{
    return r->visits && r->visits->threads_in && !r->visits->threads_in[cost->thread];
}

static enum pm_status read_row(struct costs_reader *r, sqlite3_stmt *row)
{
    struct pm_cost cost;
    long long context = sqlite3_column_int64(row, 2), thread = sqlite3_column_int64(row, 0);
    enum pm_status status = read_key(r, row, &cost);
    if (status == PM_OK && is_left_out(r, &cost))
        return PM_OK;
    if (status == PM_OK)
        status = find_context(r, row, context, &cost.context);
    if (status != PM_OK)
        return status;
    if (sqlite3_column_type(row, 3) != SQLITE_INTEGER)
        return load_damaged(r->load, "the cost of context %lld on thread %lld is no whole number",
                            context, thread);
    cost.value = sqlite3_column_int64(row, 3);
    if (cost.value < 0)
        return load_damaged(r->load, "a cost of context %lld on thread %lld is negative, %lld",
                            context, thread, (long long)cost.value);
    return take_cost(r, cost);
}

/* One number and the byte behind it, ',' or the end. -1: it is something else. */
static int64_t next_number(const char **at)
{
    const char *p = *at;
    int64_t number = 0;
    if (*p < '0' || *p > '9')
        return -1;
    for (; *p >= '0' && *p <= '9'; p++)
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, *p - '0', &number))
            return -1;
    if (*p != ',' && *p != ']')
        return -1;
    *at = p + 1;
    return number;
}

static enum pm_status read_list(struct costs_reader *r, sqlite3_stmt *row)
{
    struct pm_cost cost;
    enum pm_status status = read_key(r, row, &cost);
    if (status != PM_OK || is_left_out(r, &cost))
        return status;
    const char *text = pm_archive_text(row, 3), *at = text + 1;
    int64_t context = sqlite3_column_int64(row, 2);
    bool is_damaged = *text != '[';
    while (status == PM_OK && !is_damaged) {
        cost.value = next_number(&at);
        is_damaged = cost.value < 0;
        if (cost.value > 0)
            status = find_context(r, row, context, &cost.context);
        if (cost.value > 0 && status == PM_OK)
            status = take_cost(r, cost);
        if (is_damaged || at[-1] == ']')
            break;
        is_damaged = __builtin_add_overflow(context, 1, &context);
    }
    if (status == PM_OK && (is_damaged || *at))
        status = load_damaged(r->load,
                              "the costs of context %lld and on, thread %lld, are no list of "
                              "whole numbers",
                              sqlite3_column_int64(row, 2), sqlite3_column_int64(row, 0));
    return status;
}

static enum pm_status read_all(struct costs_reader *r, const char *sql,
                               enum pm_status (*read)(struct costs_reader *r, sqlite3_stmt *row))
{
    sqlite3_stmt *row;
    if (sqlite3_prepare_v2(r->load->db, sql, -1, &row, NULL) != SQLITE_OK)
        return load_database_error(r->load);
    enum pm_status status = PM_OK;
    int step = SQLITE_DONE;
    while (status == PM_OK && (step = sqlite3_step(row)) == SQLITE_ROW)
        status = read(r, row);
    if (status == PM_OK && step != SQLITE_DONE)
        status = load_database_error(r->load);
    sqlite3_finalize(row);
    return status;
}

#define ALL_ROWS "SELECT thread, metric, context, value FROM cost_rows"
#define ALL_LISTS "SELECT thread, metric, context, list FROM cost_lists"
#define OF_PREEMPTED " WHERE metric = (SELECT id FROM metrics WHERE name = 'preempted_ns')"

static enum pm_status find_places(struct costs_reader *r)
{
    if (r->preempted == PM_NONE || r->wall == PM_NONE)
        return PM_OK;
    r->finds_places = true;
    uint32_t n_contexts = r->load->data->graph->n_contexts;
    r->stamps = pm_alloc_array(n_contexts, sizeof *r->stamps);
    r->never_merged = pm_alloc_array(n_contexts, sizeof *r->never_merged);
    enum pm_status status = r->stamps && r->never_merged ? PM_OK : load_no_memory(r->load);
    if (status == PM_OK)
        status = read_all(r, ALL_ROWS OF_PREEMPTED, read_row);
    if (status == PM_OK)
        status = read_all(r, ALL_LISTS OF_PREEMPTED, read_list);
    if (status == PM_OK && r->n_places)
        qsort(r->places, r->n_places, sizeof *r->places, compare_places);
    for (uint32_t i = 0; status == PM_OK && i < r->n_places; i++)
        if (i == 0 || r->places[i].thread != r->places[i - 1].thread)
            stamp_paths(r, r->places[i].thread); /* all, for never_merged */
    r->finds_places = false;
    return status;
}

static void release(struct costs_reader *r)
{
    for (uint32_t i = 0; r->last && i < r->load->data->graph->n_metrics; i++)
        free(r->last[i]);
    free(r->last);
    free(r->merged_thread);
    free(r->n_calls);
    free(r->places);
    free(r->stamps);
    free(r->never_merged);
    free(r->parts);
    pm_cost_times_release(&r->times);
    sqlite3_finalize(r->find_times);
}

enum pm_status load_costs(struct loader *load, const pm_index *position, bool merge)
{
    struct pm_archive_data *data = load->data;
    struct costs_reader r = {.load = load,
                             .position = position,
                             .calls = pm_graph_find_metric(data->graph, "n_calls"),
                             .wall = pm_graph_find_metric(data->graph, "wall_ns"),
                             .preempted = pm_graph_find_metric(data->graph, "preempted_ns"),
                             .stamped = PM_NONE};
    for (uint32_t i = 0; i < data->n_processes; i++)
        data->processes[i].merged_into = i;
    enum pm_status status = merge && !merge_threads(&r) ? load_no_memory(load) : PM_OK;
    if (status == PM_OK && merge)
        status = find_places(&r);
    if (status == PM_OK)
        status = read_all(&r, ALL_ROWS, read_row);
    if (status == PM_OK)
        status = read_all(&r, ALL_LISTS, read_list);
    if (status == PM_OK && !make_pair_costs(&r))
        status = load_no_memory(load);
    release(&r);
    return status;
}

static enum pm_status prepare_times(struct costs_reader *r)
{
    static const char sql[] =
        "SELECT start_ns, bucket_ns, data FROM cost_times WHERE metric = ? AND thread = ?";
    if (r->visits && r->visits->visit_parts) {
        r->parts = pm_alloc_array(r->visits->n_parts + 1u, sizeof *r->parts);
        if (!r->parts)
            return load_no_memory(r->load);
    }
    return !is_of_interval(r) || !r->load->data->has_times ||
                   sqlite3_prepare_v2(r->load->db, sql, -1, &r->find_times, NULL) == SQLITE_OK
               ? PM_OK
               : load_database_error(r->load);
}

static enum pm_status read_again(struct costs_reader *r)
{
    enum pm_status status = prepare_times(r);
    if (status != PM_OK)
        return status;
    status = read_all(r, ALL_ROWS, read_row);
    return status != PM_OK ? status : read_all(r, ALL_LISTS, read_list);
}

enum pm_status load_each_cost(struct loader *load, const pm_index *position,
                              const struct load_visit *visit)
{
    struct costs_reader r = {.load = load,
                             .position = position,
                             .visits = visit,
                             .has_interval = load->data->has_interval};
    enum pm_status status = read_again(&r);
    release(&r);
    return status;
}

/* As they were merged when they were loaded. */
static bool merge_as_before(struct costs_reader *r)
{
    struct pm_archive_data *data = r->load->data;
    uint32_t *first = pm_alloc_array(data->n_processes, sizeof *first); /* 1 + thread */
    r->merged_thread = pm_alloc_array(data->n_threads, sizeof *r->merged_thread);
    r->last = pm_alloc_array(data->graph->n_metrics, sizeof *r->last);
    bool ok = first && r->merged_thread && r->last;
    if (ok)
        choose_threads(r, first);
    free(first);
    return ok;
}

enum pm_status load_interval(struct loader *load, const pm_index *position, bool merge)
{
    struct costs_reader r = {.load = load,
                             .position = position,
                             .has_interval = true,
                             .calls = PM_NONE,
                             .wall = PM_NONE,
                             .preempted = PM_NONE,
                             .stamped = PM_NONE};
    enum pm_status status = merge && !merge_as_before(&r) ? load_no_memory(load) : read_again(&r);
    release(&r);
    return status;
}
