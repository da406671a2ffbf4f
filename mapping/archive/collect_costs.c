/* Contexts, merged by path over all threads and processes, and their costs. */
#include "collect_internal.h"

#include <stdlib.h>

enum { FLUSH_COSTS = 8 << 20 }; /* costs in memory, 24 bytes each */

enum pm_status collect_costs_start(struct collector *c)
{
    static const struct {
        const char *name, *unit, *kind, *description;
    } metrics[] = {
        {"n_calls", "calls", "count", "calls of functions and entries of loops"},
        {"wall_ns", "ns", "time", "wall-clock time"},
    };
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) {
        sqlite3_stmt *insert = c->statements[INSERT_METRIC];
        bind_number(insert, 1, i + 1);
        bind_text(insert, 2, metrics[i].name);
        bind_text(insert, 3, metrics[i].unit);
        bind_text(insert, 4, metrics[i].kind);
        bind_text(insert, 5, "sum");
        bind_text(insert, 6, metrics[i].description);
        enum pm_status status = collect_insert(c, INSERT_METRIC);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

void collect_costs_release(struct collector *c)
{
    for (int i = 0; i < 4; i++)
        pm_map_release(&c->contexts[i]);
    free(c->costs);
}

/* parent 0: a root. flags as in table contexts. */
static enum pm_status context_row(struct collector *c, uint32_t parent, uint32_t sentence,
                                  unsigned flags, uint32_t *ret_context)
{
    uint64_t key = (uint64_t)parent << 32 | sentence;
    struct pm_map *map = &c->contexts[flags & 3];
    uint32_t row = pm_map_get(map, key);
    if (row) {
        *ret_context = row;
        return PM_OK;
    }
    if (c->n_contexts == UINT32_MAX)
        return pm_error_set(c->err, PM_ERR_LIMIT, "more than %u contexts", UINT32_MAX);
    row = ++c->n_contexts;
    if (!pm_map_put(map, key, row))
        return collect_no_memory(c);
    struct collect_value values[] = {collect_integer(row), collect_integer_or_null(parent),
                                     collect_integer(sentence), collect_integer(flags)};
    *ret_context = row;
    return collect_add_row(c, TABLE_CONTEXTS, values);
}

static enum pm_status add_cost(struct collector *c, uint32_t context, uint32_t thread,
                               uint64_t n_calls, uint64_t own_ns)
{
    if (n_calls == 0 && own_ns == 0)
        return PM_OK;
    struct collect_cost *costs = collect_grow(c->costs, c->n_costs, &c->costs_cap, sizeof *costs);
    if (!costs)
        return collect_no_memory(c);
    c->costs = costs;
    costs[c->n_costs++] = (struct collect_cost){context, thread, n_calls, own_ns};
    return PM_OK;
}

static enum pm_status write_cost(struct collector *c, const struct collect_cost *cost)
{
    struct collect_value values[] = {collect_integer(cost->context), collect_integer(cost->thread),
                                     collect_integer(METRIC_N_CALLS),
                                     collect_integer(cost->n_calls)};
    enum pm_status status = PM_OK;
    if (cost->n_calls)
        status = collect_add_row(c, TABLE_COSTS, values);
    values[2] = collect_integer(METRIC_WALL_NS);
    values[3] = collect_integer(cost->own_ns);
    return status == PM_OK && cost->own_ns ? collect_add_row(c, TABLE_COSTS, values) : status;
}

/* Costs by context, those of one context in the order of adding, which is that of threads: a
 * counting sort. */
static struct collect_cost *sort_costs(struct collector *c)
{
    struct collect_cost *sorted = pm_alloc_array(c->n_costs, sizeof *sorted);
    size_t *starts = pm_alloc_array((size_t)c->n_contexts + 2, sizeof *starts);
    if (sorted && starts) {
        for (size_t i = 0; i < c->n_costs; i++)
            starts[c->costs[i].context + 1]++;
        for (size_t i = 1; i <= c->n_contexts; i++)
            starts[i + 1] += starts[i];
        for (size_t i = 0; i < c->n_costs; i++)
            sorted[starts[c->costs[i].context]++] = c->costs[i];
    } else {
        free(sorted);
        sorted = NULL;
    }
    free(starts);
    return sorted;
}

/* Writes what is in memory. No thread has costs before and after, so no row is written twice. */
static enum pm_status flush_costs(struct collector *c)
{
    struct collect_cost *sorted = sort_costs(c);
    if (!sorted)
        return collect_no_memory(c);
    enum pm_status status = PM_OK;
    for (size_t i = 0; i < c->n_costs && status == PM_OK;) {
        struct collect_cost sum = sorted[i];
        for (i++;
             i < c->n_costs && sorted[i].context == sum.context && sorted[i].thread == sum.thread;
             i++) {
            sum.n_calls += sorted[i].n_calls;
            sum.own_ns += sorted[i].own_ns;
        }
        status = write_cost(c, &sum);
    }
    free(sorted);
    c->n_costs = 0;
    return status;
}

static enum pm_status add_tree(struct collector *c, const struct pm_run_file_thread *thread,
                               uint32_t row, uint32_t root_sentence, const uint32_t *sentences,
                               uint32_t *contexts)
{
    enum pm_status status = PM_OK;
    for (size_t i = 0; i < thread->n_nodes && status == PM_OK; i++) {
        const struct pm_run_file_node *node = &thread->nodes[i];
        bool is_root = node->parent == PM_RUN_FILE_NO_PARENT;
        /* Below a root on a foreign stack all is on it. The flag travels in the context's lowest
         * bit. */
        unsigned foreign =
            is_root ? (node->flags & PM_RUN_NODE_FOREIGN_STACK) : (contexts[node->parent] & 1) * 2;
        unsigned flags = foreign | (node->flags & PM_RUN_NODE_FOLDED);
        uint32_t context;
        status = context_row(c, is_root ? 0 : contexts[node->parent] >> 1,
                             is_root ? root_sentence : sentences[node->noun], flags, &context);
        if (status != PM_OK)
            break;
        contexts[i] = context << 1 | (foreign != 0);
        status = add_cost(c, context, row, is_root ? 0 : node->n_calls, node->own_ns);
    }
    return status;
}

/* Counters have no path: they stand directly below the thread's root. */
static enum pm_status add_counts(struct collector *c, const struct pm_run_file *file,
                                 uint32_t first_thread, uint32_t root_sentence,
                                 const uint32_t *sentences)
{
    uint32_t root = 0;
    enum pm_status status = PM_OK;
    if (pm_run_file_n_counts(file))
        status = context_row(c, 0, root_sentence, 0, &root);
    for (size_t i = 0; i < pm_run_file_n_counts(file) && status == PM_OK; i++) {
        const struct pm_run_file_counts *counts = pm_run_file_counts(file, i);
        uint32_t first_noun = pm_run_file_object(file, counts->object)->first_noun;
        for (size_t k = 0; k < counts->n_counts && status == PM_OK; k++) {
            uint32_t context;
            if (counts->counts[k] == 0)
                continue;
            status = context_row(c, root, sentences[first_noun + k], 0, &context);
            if (status == PM_OK)
                status = add_cost(c, context, first_thread + counts->thread, counts->counts[k], 0);
        }
    }
    return status;
}

enum pm_status collect_costs_add(struct collector *c, const struct pm_run_file *file,
                                 uint32_t first_thread, uint32_t root_sentence,
                                 const uint32_t *sentences)
{
    enum pm_status status = PM_OK;
    for (size_t i = 0; i < pm_run_file_n_threads(file) && status == PM_OK; i++) {
        const struct pm_run_file_thread *thread = pm_run_file_thread(file, i);
        if (c->n_contexts > INT32_MAX - thread->n_nodes)
            return pm_error_set(c->err, PM_ERR_LIMIT, "more than %d contexts", INT32_MAX);
        uint32_t *contexts = pm_alloc_array(thread->n_nodes, sizeof *contexts);
        if (!contexts)
            return collect_no_memory(c);
        status =
            add_tree(c, thread, first_thread + (uint32_t)i, root_sentence, sentences, contexts);
        free(contexts);
    }
    if (status == PM_OK)
        status = add_counts(c, file, first_thread, root_sentence, sentences);
    if (status == PM_OK && c->n_costs >= FLUSH_COSTS)
        status = flush_costs(c);
    return status;
}

enum pm_status collect_costs_add_time(struct collector *c, uint32_t thread, uint32_t root_sentence,
                                      uint64_t wall_ns)
{
    uint32_t root;
    enum pm_status status = context_row(c, 0, root_sentence, 0, &root);
    return status == PM_OK ? add_cost(c, root, thread, 0, wall_ns) : status;
}

enum pm_status collect_costs_end(struct collector *c)
{
    return flush_costs(c);
}
