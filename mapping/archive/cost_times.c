/* Costs over time: see cost_times.h. */
#include "cost_times.h"

#include <math.h>
#include <stdlib.h>

enum { FULL_WEIGHT = 127 }; /* one byte */

/* --- writing --- */

struct runs_out {
    struct pm_buf runs;
    uint32_t n;
    uint32_t end;                   /* of the last run written */
    uint32_t first, n_same, weight; /* of the one that is open; n_same 0: none is */
};

static void end_run(struct runs_out *out)
{
    if (out->n_same == 0)
        return;
    pm_buf_add_uleb(&out->runs, (uint64_t)(out->first - out->end) * 2 + (out->n_same > 1));
    if (out->n_same > 1)
        pm_buf_add_uleb(&out->runs, out->n_same - 1);
    pm_buf_add_uleb(&out->runs, out->weight);
    out->end = out->first + out->n_same;
    out->n_same = 0;
    out->n++;
}

static void add_weight(struct runs_out *out, uint32_t bucket, uint32_t weight)
{
    if (weight == 0)
        return;
    if (out->n_same && out->weight == weight && out->first + out->n_same == bucket) {
        out->n_same++;
        return;
    }
    end_run(out);
    out->first = bucket;
    out->n_same = 1;
    out->weight = weight;
}

void pm_cost_times_put(struct pm_buf *out, uint64_t context_gap, uint64_t timed,
                       const double *cells, uint32_t n)
{
    struct runs_out runs = {.runs = PM_BUF_INIT(1 << 20)};
    double most = 0, sum = 0, given = 0;
    uint32_t first = n, end = 0; /* most lists have a few cells */
    for (uint32_t i = 0; i < n; i++) {
        if (cells[i] <= 0)
            continue;
        most = cells[i] > most ? cells[i] : most;
        first = first < i ? first : i;
        end = i + 1;
    }
    for (uint32_t i = first; i < end; i++) {
        sum += cells[i];
        double so_far = round(sum / most * FULL_WEIGHT);
        add_weight(&runs, i, (uint32_t)(so_far - given));
        given = so_far;
    }
    end_run(&runs);
    if (runs.n && timed) {
        pm_buf_add_uleb(out, context_gap);
        pm_buf_add_uleb(out, timed);
        pm_buf_add_uleb(out, runs.n);
        pm_buf_add(out, runs.runs.data, runs.runs.len);
        out->failed |= runs.runs.failed;
    }
    pm_buf_release(&runs.runs);
}

/* --- reading --- */

struct parsing {
    struct pm_cursor in;
    struct pm_cost_times *times;
    size_t cap_lists, cap_runs;
};

static bool grow(void *array_pointer, uint32_t n, size_t *cap, size_t item_bytes)
{
    void **array = array_pointer;
    if (n < *cap)
        return true;
    size_t more_cap = *cap ? 2 * *cap : 64;
    void *more = pm_realloc_array(*array, more_cap, item_bytes);
    if (!more)
        return false;
    *array = more;
    *cap = more_cap;
    return true;
}

static bool read_run(struct parsing *p, uint32_t *end, uint64_t *weight,
                     struct pm_cost_times_run *ret)
{
    uint64_t gap, n_more = 0, each;
    if (!pm_cursor_uleb(&p->in, &gap) || (gap & 1 && !pm_cursor_uleb(&p->in, &n_more)) ||
        !pm_cursor_uleb(&p->in, &each))
        return false;
    gap /= 2;
    if (gap >= PM_COST_TIMES_MAX_BUCKETS || n_more >= PM_COST_TIMES_MAX_BUCKETS ||
        *end + gap + n_more >= PM_COST_TIMES_MAX_BUCKETS || each == 0 ||
        each > PM_COST_TIMES_MAX_WEIGHT)
        return false;
    *ret = (struct pm_cost_times_run){.first = *end + (uint32_t)gap,
                                      .n = (uint32_t)n_more + 1,
                                      .before = *weight,
                                      .weight = (uint32_t)each};
    *end = ret->first + ret->n;
    *weight += each * ret->n;
    return true;
}

static enum pm_status read_list(struct parsing *p, int64_t *context)
{
    struct pm_cost_times *times = p->times;
    uint64_t gap, timed, n_runs, weight = 0;
    uint32_t end = 0;
    if (!pm_cursor_uleb(&p->in, &gap) || !pm_cursor_uleb(&p->in, &timed) ||
        !pm_cursor_uleb(&p->in, &n_runs) || gap == 0 || gap > (uint64_t)(INT64_MAX - *context) ||
        timed == 0 || timed > INT64_MAX || n_runs == 0 || n_runs > PM_COST_TIMES_MAX_BUCKETS)
        return PM_ERR_FORMAT;
    *context += (int64_t)gap;
    struct pm_cost_times_list list = {.context = *context,
                                      .timed = (int64_t)timed,
                                      .first_run = times->n_runs,
                                      .n_runs = (uint32_t)n_runs};
    for (uint64_t i = 0; i < n_runs; i++) {
        struct pm_cost_times_run run;
        if (!read_run(p, &end, &weight, &run))
            return PM_ERR_FORMAT;
        if (!grow(&times->runs, times->n_runs, &p->cap_runs, sizeof run))
            return PM_ERR_MEMORY;
        times->runs[times->n_runs++] = run;
    }
    list.weight = weight;
    if (!grow(&times->lists, times->n_lists, &p->cap_lists, sizeof list))
        return PM_ERR_MEMORY;
    times->lists[times->n_lists++] = list;
    return PM_OK;
}

enum pm_status pm_cost_times_parse(const void *data, size_t len, int64_t start_ns,
                                   int64_t bucket_ns, struct pm_cost_times *ret_times)
{
    struct pm_cost_times times = {.start_ns = start_ns, .bucket_ns = bucket_ns};
    struct parsing p = {.times = &times};
    int64_t context = 0;
    if (bucket_ns <= 0 || bucket_ns > INT64_MAX / PM_COST_TIMES_MAX_BUCKETS)
        return PM_ERR_FORMAT;
    pm_cursor_init(&p.in, data, len);
    while (p.in.p < p.in.end) {
        enum pm_status status =
            times.n_runs < UINT32_MAX / 2 ? read_list(&p, &context) : PM_ERR_FORMAT;
        if (status != PM_OK) {
            pm_cost_times_release(&times);
            return status;
        }
    }
    *ret_times = times;
    return PM_OK;
}

void pm_cost_times_release(struct pm_cost_times *times)
{
    free(times->lists);
    free(times->runs);
    *times = (struct pm_cost_times){0};
}

static bool is_before(const void *list, const void *context)
{
    return ((const struct pm_cost_times_list *)list)->context < *(const int64_t *)context;
}

const struct pm_cost_times_list *pm_cost_times_find(const struct pm_cost_times *times,
                                                    int64_t context)
{
    size_t at =
        pm_lower_bound(times->lists, times->n_lists, sizeof *times->lists, &context, is_before);
    return at < times->n_lists && times->lists[at].context == context ? &times->lists[at] : NULL;
}

/* Does the run end at or before that bucket? */
static bool is_over(const void *run, const void *bucket)
{
    const struct pm_cost_times_run *r = run;
    return (double)r->first + r->n <= *(const double *)bucket;
}

int64_t pm_cost_times_before(const struct pm_cost_times *times,
                             const struct pm_cost_times_list *list, int64_t at_ns)
{
    double bucket = ((double)at_ns - (double)times->start_ns) / (double)times->bucket_ns;
    if (at_ns == INT64_MAX || at_ns == INT64_MIN)
        return at_ns == INT64_MAX ? list->timed : 0;
    const struct pm_cost_times_run *runs = times->runs + list->first_run;
    size_t at = pm_lower_bound(runs, list->n_runs, sizeof *runs, &bucket, is_over);
    if (at == list->n_runs)
        return list->timed;
    double within = bucket - runs[at].first;
    double weight = (double)runs[at].before + (within > 0 ? within * runs[at].weight : 0);
    long double part = (long double)list->timed * (long double)(weight / (double)list->weight);
    int64_t before = (int64_t)floorl(part);
    return before < list->timed ? before : list->timed;
}
