/* When costs were. A run file says of each item of samples what it has in which bucket of its
 * thread's time; here this becomes lists by context. A long run of many threads may have more than
 * an archive should hold: then buckets become longer, in each process as far as it has more than
 * its share. */
#include "times.h"

#include "collector.h"
#include "costs.h"
#include "writer.h"

#include "mapping/archive/cost_times.h"
#include "mapping/run/run_file.h"

#include <stdlib.h>

enum {
    MOST_BYTES = 8 << 20, /* of all threads, but for these: */
    LIST_BYTES = 128,     /* for each context and metric of a thread; some 40 buckets */
    BUCKETS = PM_RUN_FILE_BUCKETS,
};

enum pm_status collect_times_add(struct collector *c, struct collect_times *times, uint32_t context,
                                 uint32_t metric, uint32_t sample, uint64_t value)
{
    struct collect_timed *items = times->items;
    if (value == 0)
        return PM_OK;
    if (times->n == times->cap) {
        size_t cap = times->cap ? 2 * times->cap : 1024;
        items = pm_realloc_array(times->items, cap, sizeof *items);
        if (!items)
            return collect_no_memory(c);
        times->items = items;
        times->cap = cap;
    }
    items[times->n++] = (struct collect_timed){metric, context, sample, value};
    return PM_OK;
}

void collect_times_release(struct collect_times *times)
{
    free(times->items);
    *times = (struct collect_times){0};
}

static int compare(const void *a, const void *b)
{
    const struct collect_timed *x = a, *y = b;
    if (x->metric != y->metric)
        return x->metric < y->metric ? -1 : 1;
    if (x->context != y->context)
        return x->context < y->context ? -1 : 1;
    return x->sample < y->sample ? -1 : x->sample > y->sample;
}

struct timer {
    struct collector *c;
    const struct pm_run_file_thread *thread;
    size_t *first_time;        /* by sample, and one more: of thread->times */
    double cells[BUCKETS + 1]; /* of one context; differences, while items are added */
    uint32_t first, end;       /* of these, what is used */
    double timed;              /* of it */
};

/* Cells hold differences, so that what lasts long costs no more than what does not. */
static void add_item(struct timer *t, const struct collect_timed *item)
{
    const struct pm_run_file_sample *sample = &t->thread->samples[item->sample];
    bool counts = item->metric == METRIC_N_SAMPLES;
    double whole = (double)(counts ? sample->n_samples : sample->time_ns);
    for (size_t i = t->first_time[item->sample]; i < t->first_time[item->sample + 1]; i++) {
        const struct pm_run_file_time *time = &t->thread->times[i];
        double part = (double)(counts ? time->n_samples : time->value) / whole;
        double each = part * (double)item->value / (time->n_more + 1.0);
        t->timed += part * (double)item->value;
        uint32_t end = time->first + time->n_more + 1u;
        t->cells[time->first] += each;
        t->cells[end] -= each;
        t->first = time->first < t->first ? time->first : t->first;
        t->end = end > t->end ? end : t->end;
    }
}

/* Differences become amounts; 2^shift cells one. */
static uint32_t make_cells(struct timer *t, unsigned shift)
{
    double sum = 0, ended = 0;
    for (uint32_t i = t->first; i <= t->end && i < BUCKETS; i++) {
        sum += t->cells[i];
        ended = sum > 1e-6 * t->timed / BUCKETS ? sum : 0; /* what rounding leaves is none */
        t->cells[i] = 0;
        t->cells[i >> shift] += ended;
    }
    return BUCKETS >> shift;
}

static bool is_of(const struct collect_timed *item, const struct collect_timed *first)
{
    return item->metric == first->metric && item->context == first->context;
}

/* All of a metric. *ret_n: how many items these are. */
static void put_metric(struct timer *t, const struct collect_timed *items, size_t n, unsigned shift,
                       struct pm_buf *out, size_t *ret_n, uint32_t *n_lists)
{
    size_t i = 0;
    uint32_t last = 0;
    while (i < n && items[i].metric == items[0].metric) {
        const struct collect_timed *first = &items[i];
        double whole = 0;
        memset(t->cells, 0, sizeof t->cells);
        t->timed = 0;
        t->first = BUCKETS;
        t->end = 0;
        for (; i < n && is_of(&items[i], first); i++) {
            add_item(t, &items[i]);
            whole += (double)items[i].value;
        }
        uint64_t timed = (uint64_t)(t->timed < whole ? t->timed + 0.5 : whole);
        if (timed == 0)
            continue;
        size_t len = out->len;
        pm_cost_times_put(out, first->context - last, timed, t->cells, make_cells(t, shift));
        if (out->len == len)
            continue;
        last = first->context;
        ++*n_lists;
    }
    *ret_n = i;
}

static enum pm_status write_row(struct timer *t, uint32_t thread_row, uint32_t metric,
                                int64_t start_ns, int64_t bucket_ns, const struct pm_buf *data)
{
    sqlite3_stmt *insert = t->c->writer->statements[INSERT_COST_TIMES];
    if (data->failed)
        return collect_no_memory(t->c);
    if (data->len == 0)
        return PM_OK;
    bind_number(insert, 1, thread_row);
    bind_number(insert, 2, metric);
    sqlite3_bind_int64(insert, 3, start_ns);
    sqlite3_bind_int64(insert, 4, bucket_ns);
    sqlite3_bind_blob64(insert, 5, data->data, data->len, SQLITE_STATIC);
    return collect_insert(t->c, INSERT_COST_TIMES);
}

/* One metric's, with buckets as long as its share needs. */
static enum pm_status write_metric(struct timer *t, const struct collect_timed *items, size_t n,
                                   uint32_t thread_row, int64_t start_ns, size_t *ret_n)
{
    size_t share = MOST_BYTES / (t->c->n_sampled_threads ? t->c->n_sampled_threads : 1);
    struct pm_buf data = PM_BUF_INIT(1 << 28);
    unsigned shift = 0;
    for (;; shift++) {
        uint32_t n_lists = 0;
        pm_buf_clear(&data);
        put_metric(t, items, n, shift, &data, ret_n, &n_lists);
        size_t most = (size_t)n_lists * LIST_BYTES;
        if (data.failed || data.len <= (most > share ? most : share) || BUCKETS >> shift <= 2)
            break;
    }
    enum pm_status status = write_row(t, thread_row, items[0].metric, start_ns,
                                      (int64_t)(t->thread->bucket_ns << shift), &data);
    pm_buf_release(&data);
    return status;
}

static bool find_first_times(struct timer *t)
{
    const struct pm_run_file_thread *thread = t->thread;
    t->first_time = pm_alloc_array(thread->n_samples + 1, sizeof *t->first_time);
    for (size_t s = 0, i = 0; t->first_time && s <= thread->n_samples; s++) {
        while (i < thread->n_times && thread->times[i].sample < s)
            i++;
        t->first_time[s] = i;
    }
    return t->first_time != NULL;
}

enum pm_status collect_times_write(struct collector *c, struct collect_times *times,
                                   const struct pm_run_file *file,
                                   const struct pm_run_file_thread *thread, uint32_t thread_row,
                                   uint64_t process_start_ns)
{
    uint64_t process_ns = pm_run_file_process(file)->start_monotonic_ns;
    int64_t start_ns = (int64_t)(process_start_ns + (thread->bucket_start_ns - process_ns));
    bool has_times = thread->bucket_ns != 0 && thread->n_times != 0 && times->n != 0 &&
                     thread->bucket_ns <= (uint64_t)1 << 46;
    struct timer *t = has_times ? pm_alloc(sizeof *t) : NULL;
    enum pm_status status = PM_OK;
    if (!has_times)
        goto out;
    if (t)
        *t = (struct timer){.c = c, .thread = thread};
    if (!t || !find_first_times(t)) {
        status = collect_no_memory(c);
        goto out;
    }
    qsort(times->items, times->n, sizeof *times->items, compare);
    for (size_t i = 0, n; i < times->n; i += n) {
        status = write_metric(t, &times->items[i], times->n - i, thread_row, start_ns, &n);
        if (status != PM_OK)
            goto out;
    }
out:
    if (t)
        free(t->first_time);
    free(t);
    times->n = 0;
    return status;
}
