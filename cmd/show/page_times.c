/* How costs lie in time: what the strip above the page's tables is drawn of, and, in a file, what
 * costs of an interval are made of (docs/formats/page.md). */
#include "page.h"

#include "mapping/archive/cost_times.h"

#include <stdlib.h>

/* A cost of a thread and context. */
struct timed_cost {
    pm_index metric, thread, context;
    int64_t timed, start_ns, bucket_ns;
    uint32_t n_runs;
    size_t first_run; /* in runs */
};

struct timed_costs {
    struct timed_cost *items;
    uint32_t n, cap;
    struct pm_cost_times_run *runs;
    uint32_t n_run_items, cap_runs;
};

static bool add_runs(struct timed_costs *costs, const struct pm_cost_times *times,
                     const struct pm_cost_times_list *list)
{
    for (uint32_t i = 0; i < list->n_runs; i++) {
        struct pm_cost_times_run *runs =
            pm_grow_array(costs->runs, costs->n_run_items, &costs->cap_runs, 4096, sizeof *runs);
        if (!runs)
            return false;
        costs->runs = runs;
        costs->runs[costs->n_run_items++] = times->runs[list->first_run + i];
    }
    return true;
}

/* Of a damaged archive a cost may have less than its times say: it is then not more in any
 * interval. */
static bool add_cost(void *context, const struct pm_cost *cost, const struct pm_cost_times *times,
                     const struct pm_cost_times_list *list)
{
    struct timed_costs *costs = context;
    struct timed_cost *items =
        pm_grow_array(costs->items, costs->n, &costs->cap, 1024, sizeof *items);
    if (!items)
        return false;
    costs->items = items;
    costs->items[costs->n++] =
        (struct timed_cost){.metric = cost->metric,
                            .thread = cost->thread,
                            .context = cost->context,
                            .timed = list->timed < cost->value ? list->timed : cost->value,
                            .start_ns = times->start_ns,
                            .bucket_ns = times->bucket_ns,
                            .n_runs = list->n_runs,
                            .first_run = costs->n_run_items};
    return add_runs(costs, times, list);
}

static int compare(const void *a_pointer, const void *b_pointer)
{
    const struct timed_cost *a = a_pointer, *b = b_pointer;
    if (a->metric != b->metric)
        return a->metric < b->metric ? -1 : 1;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    return (a->context > b->context) - (a->context < b->context);
}

/* --- columns --- */

static void begin_column(struct page_chunk *out, enum page_column_kind kind, pm_index metric,
                         const char *what)
{
    char name[PAGE_MAX_NAME];
    snprintf(name, sizeof name, "time_%u_%s", metric, what);
    page_column(out, kind, name);
}

/* As in the archive: gap * 2 + more, with `more` the buckets beyond the first, weight. */
static void put_runs(struct page_chunk *out, const struct pm_cost_times_run *runs, uint32_t n)
{
    for (uint32_t i = 0, end = 0; i < n; i++) {
        page_put(out, (uint64_t)(runs[i].first - end) * 2 + (runs[i].n > 1));
        if (runs[i].n > 1)
            page_put(out, runs[i].n - 1);
        page_put(out, runs[i].weight);
        end = runs[i].first + runs[i].n;
    }
}

/* Costs of one metric. */
static void put_costs(struct page_chunk *out, const struct timed_costs *costs,
                      const struct timed_cost *items, uint32_t n)
{
    pm_index metric = items->metric;
    begin_column(out, PAGE_DELTAS, metric, "thread");
    for (uint32_t i = 0; i < n; i++)
        page_put_delta(out, items[i].thread);
    begin_column(out, PAGE_DELTAS, metric, "context");
    for (uint32_t i = 0; i < n; i++)
        page_put_delta(out, items[i].context);
    begin_column(out, PAGE_NUMBERS, metric, "timed");
    for (uint32_t i = 0; i < n; i++)
        page_put(out, (uint64_t)items[i].timed);
    begin_column(out, PAGE_DELTAS, metric, "start");
    for (uint32_t i = 0; i < n; i++)
        page_put_delta(out, items[i].start_ns);
    begin_column(out, PAGE_DELTAS, metric, "bucket");
    for (uint32_t i = 0; i < n; i++)
        page_put_delta(out, items[i].bucket_ns);
    begin_column(out, PAGE_NUMBERS, metric, "n_runs");
    for (uint32_t i = 0; i < n; i++)
        page_put(out, items[i].n_runs);
    begin_column(out, PAGE_NUMBERS, metric, "runs");
    for (uint32_t i = 0; i < n; i++)
        put_runs(out, costs->runs + items[i].first_run, items[i].n_runs);
}

enum pm_status page_times_write(struct show_page *page, struct pm_error *err,
                                struct page_chunk *out)
{
    struct timed_costs costs = {0};
    enum pm_status status = pm_archive_each_times(page->data, add_cost, &costs, err);
    if (status != PM_OK)
        costs.n = 0;
    if (costs.n)
        qsort(costs.items, costs.n, sizeof *costs.items, compare);
    for (uint32_t first = 0, end = 0; first < costs.n; first = end) {
        while (end < costs.n && costs.items[end].metric == costs.items[first].metric)
            end++;
        put_costs(out, &costs, costs.items + first, end - first);
    }
    free(costs.items);
    free(costs.runs);
    return status;
}
