/* Writes costs: tables cost_rows and cost_lists.
 *
 * A row takes 15 bytes, and 1000 processes of one program have the same contexts: 200 runs of a
 * Tcl shell with 45 000 contexts each made 18 million rows, 281 MB. Contexts of one program have
 * ids that follow each other, for they were numbered as the first process met them. So the costs
 * of one thread and metric are lists, which need no keys. They are text, for any client of SQLite
 * can read them (json_each). What stands alone is a row.
 */
#include "collector.h"
#include "contexts.h"
#include "costs.h"
#include "writer.h"

#include "mapping/archive/archive.h"

#include <stdlib.h>

enum {
    LEAST_LIST = 4,        /* costs: fewer are rows */
    MOST_GAP = 8,          /* contexts without cost, two bytes each: no more than a new list */
    LIST_MAX_BYTES = 4000, /* longer ones would take pages of their own: 16 KiB pages hold four */
    NUMBER_MAX_BYTES = 21, /* with its comma */
};

/* --- order: by thread, metric, context --- */

/* The counting sort of costs by key, which keeps the order of equal ones. False: memory. */
static bool sort_by(const struct collect_cost *costs, uint32_t n, size_t n_keys,
                    size_t (*key_of)(const struct collect_cost *cost, const void *context),
                    const void *context, struct collect_cost *ret_sorted)
{
    size_t *starts = pm_alloc_array(n_keys + 1, sizeof *starts);
    if (!starts)
        return false;
    for (uint32_t i = 0; i < n; i++)
        starts[key_of(&costs[i], context) + 1]++;
    for (size_t i = 1; i < n_keys; i++)
        starts[i] += starts[i - 1];
    for (uint32_t i = 0; i < n; i++)
        ret_sorted[starts[key_of(&costs[i], context)]++] = costs[i];
    free(starts);
    return true;
}

struct thread_range {
    uint32_t first, last;
    size_t n_metrics;
};

static struct thread_range threads_of(const struct collector *c)
{
    struct thread_range range = {UINT32_MAX, 0, c->costs->n_metrics};
    for (uint32_t i = 0; i < c->costs->n; i++) {
        uint32_t thread = c->costs->list[i].thread;
        range.first = thread < range.first ? thread : range.first;
        range.last = thread > range.last ? thread : range.last;
    }
    return range;
}

static size_t by_context(const struct collect_cost *cost, const void *unused)
{
    (void)unused;
    return cost->context;
}

static size_t by_thread_and_metric(const struct collect_cost *cost, const void *context)
{
    const struct thread_range *range = context;
    return (cost->thread - range->first) * range->n_metrics + cost->metric - 1;
}

static bool sort_costs(struct collector *c)
{
    struct thread_range range = threads_of(c);
    struct collect_cost *sorted = pm_alloc_array(c->costs->n, sizeof *sorted);
    bool ok = sorted && sort_by(c->costs->list, c->costs->n, (size_t)c->contexts->n + 1, by_context,
                                NULL, sorted);
    ok = ok && sort_by(sorted, c->costs->n, (range.last - range.first + 1) * range.n_metrics,
                       by_thread_and_metric, &range, c->costs->list);
    free(sorted);
    return ok;
}

static bool same_run(const struct collect_cost *a, const struct collect_cost *b)
{
    return a->thread == b->thread && a->metric == b->metric;
}

/* Costs of one context, thread and metric become one: their sum, or the largest of them. */
static uint32_t join_equal(struct collector *c)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->costs->n; i++) {
        struct collect_cost *last = n ? &c->costs->list[n - 1] : NULL, *cost = &c->costs->list[i];
        if (!last || !same_run(last, cost) || last->context != cost->context) {
            c->costs->list[n++] = *cost;
            continue;
        }
        const char *aggregation = c->costs->metrics[cost->metric - 1].aggregation;
        if (aggregation && strcmp(aggregation, "maximum") == 0)
            last->value = cost->value > last->value ? cost->value : last->value;
        else if (__builtin_add_overflow(last->value, cost->value, &last->value))
            last->value = UINT64_MAX;
    }
    return n;
}

/* --- rows and lists --- */

static enum pm_status write_row(struct collector *c, const struct collect_cost *cost)
{
    struct collect_value values[] = {collect_integer(cost->context), collect_integer(cost->thread),
                                     collect_integer(cost->metric), collect_integer(cost->value)};
    return collect_add_row(c, TABLE_COST_ROWS, values);
}

static size_t put_number(char *text, uint64_t number)
{
    char digits[NUMBER_MAX_BYTES];
    size_t n = 0;
    number = number > INT64_MAX ? INT64_MAX : number;
    do
        digits[n++] = (char)('0' + number % 10);
    while (number /= 10);
    for (size_t i = 0; i < n; i++)
        text[i] = digits[n - 1 - i];
    return n;
}

/* The text of as many costs as one list holds, without its end. *ret_n: how many these are. */
static size_t put_list(const struct collect_cost *costs, uint32_t n, char *text, uint32_t *ret_n)
{
    enum { ROOM = MOST_GAP * 2 + NUMBER_MAX_BYTES };
    size_t len = 0;
    uint32_t i = 0;
    for (; i < n && len + ROOM < LIST_MAX_BYTES; i++) {
        uint32_t gap = i ? costs[i].context - costs[i - 1].context - 1 : 0;
        if (gap > MOST_GAP || (i && !same_run(&costs[i], &costs[0])))
            break;
        text[len++] = i ? ',' : '[';
        for (; gap; gap--) {
            text[len++] = '0';
            text[len++] = ',';
        }
        len += put_number(text + len, costs[i].value);
    }
    *ret_n = i;
    return len;
}

static enum pm_status write_list(struct collector *c, const struct collect_cost *first, char *text,
                                 size_t len)
{
    sqlite3_stmt *insert = c->writer->statements[INSERT_COST_LIST];
    text[len++] = ']';
    bind_number(insert, 1, first->thread);
    bind_number(insert, 2, first->metric);
    bind_number(insert, 3, first->context);
    bind_str(insert, 4, (struct pm_str){text, len});
    return collect_insert(c, INSERT_COST_LIST);
}

enum pm_status collect_write_costs(struct collector *c)
{
    char text[LIST_MAX_BYTES + 1];
    if (c->costs->n == 0)
        return PM_OK;
    if (!sort_costs(c))
        return collect_no_memory(c);
    enum pm_status status = PM_OK;
    uint32_t n_costs = join_equal(c), n;
    for (uint32_t i = 0; i < n_costs && status == PM_OK; i += n) {
        size_t len = put_list(&c->costs->list[i], n_costs - i, text, &n);
        if (n >= LEAST_LIST)
            status = write_list(c, &c->costs->list[i], text, len);
        for (uint32_t k = 0; k < n && n < LEAST_LIST && status == PM_OK; k++)
            status = write_row(c, &c->costs->list[i + k]);
    }
    c->costs->n = 0;
    return status;
}
