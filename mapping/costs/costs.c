#include "costs_internal.h"

#include <stdlib.h>

enum { FILE_MAX_BYTES = 1 << 30 };

/* --- for the readers --- */

bool costs_next_line(struct costs_reader *r)
{
    if (r->rest.len == 0)
        return false;
    const char *end = memchr(r->rest.p, '\n', r->rest.len);
    size_t len = end ? (size_t)(end - r->rest.p) : r->rest.len;
    size_t taken = end ? len + 1 : len;
    r->line = (struct pm_str){r->rest.p, len};
    r->rest = (struct pm_str){r->rest.p + taken, r->rest.len - taken};
    r->line_no++;
    if (len && r->line.p[len - 1] == '\r')
        r->line.len--;
    return true;
}

/* The one place where a bad line is told. */
enum pm_status costs_refuse(struct costs_reader *r, enum pm_status status, const char *format, ...)
{
    struct pm_buf text = PM_BUF_INIT(4096);
    va_list args;
    va_start(args, format);
    pm_buf_vprintf(&text, format, args);
    va_end(args);
    pm_error_set(r->err, status, "cost file '%s' line %u: %s", r->name, r->line_no,
                 text.data ? text.data : "");
    pm_buf_release(&text);
    return status;
}

enum pm_status costs_no_memory(struct costs_reader *r)
{
    return pm_error_set(r->err, PM_ERR_MEMORY, "cost file '%s': no memory for its costs", r->name);
}

void *costs_add(struct costs_list *list, size_t item_bytes)
{
    if (list->n == list->max) {
        size_t max = list->max ? list->max * 2 : 64;
        void *items = pm_realloc_array(list->items, max, item_bytes);
        if (!items)
            return NULL;
        list->items = items;
        list->max = max;
    }
    return memset((char *)list->items + list->n++ * item_bytes, 0, item_bytes);
}

const char *costs_string(struct costs_reader *r, struct pm_str text)
{
    return pm_intern_add(r->costs->strings, text.p, text.len);
}

struct pm_str costs_trimmed(struct pm_str text)
{
    while (text.len && (text.p[0] == ' ' || text.p[0] == '\t'))
        text.p++, text.len--;
    while (text.len && (text.p[text.len - 1] == ' ' || text.p[text.len - 1] == '\t'))
        text.len--;
    return text;
}

/* --- what is the same place is one --- */

static int order_of_texts(const char *a, const char *b)
{
    if (a == b)
        return 0;
    if (!a)
        return -1;
    return b ? strcmp(a, b) : 1;
}

static int order_of_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* Without the line in the file that was read. Equal strings are one pointer. */
static int order_of_places(const struct pm_imported_cost *x, const struct pm_imported_cost *y)
{
    int order = order_of_numbers(x->n_references != 0, y->n_references != 0);
    if (order || x->n_references)
        return order ? order : order_of_numbers(x->text_line_no, y->text_line_no);
    order = order_of_texts(x->object, y->object);
    order = order ? order : order_of_numbers(x->has_address, y->has_address);
    order = order ? order : order_of_numbers(x->address, y->address);
    order = order ? order : order_of_texts(x->function, y->function);
    order = order ? order : order_of_texts(x->file, y->file);
    order = order ? order : order_of_numbers(x->line_no, y->line_no);
    return order ? order : order_of_numbers(x->metric, y->metric);
}

static int by_place(const void *a, const void *b)
{
    const struct pm_imported_cost *x = a, *y = b;
    int order = order_of_places(x, y);
    return order ? order : order_of_numbers(x->text_line_no, y->text_line_no);
}

static enum pm_status join_costs(struct costs_reader *r)
{
    struct pm_imported_cost *costs = r->costs->costs.items;
    size_t n = 0;
    if (r->costs->costs.n)
        qsort(costs, r->costs->costs.n, sizeof *costs, by_place);
    for (size_t i = 0; i < r->costs->costs.n; i++) {
        bool is_new = n == 0 || costs[i].n_references || order_of_places(&costs[n - 1], &costs[i]);
        if (is_new) {
            costs[n++] = costs[i];
            continue;
        }
        if (__builtin_add_overflow(costs[n - 1].value, costs[i].value, &costs[n - 1].value)) {
            r->line_no = costs[i].text_line_no;
            return costs_refuse(r, PM_ERR_LIMIT, "the costs of this place add up to more than %lld",
                                (long long)COSTS_VALUE_MAX);
        }
    }
    r->costs->costs.n = n;
    return PM_OK;
}

/* --- the whole --- */

enum pm_status pm_costs_read(const char *name, const char *text, size_t len, struct pm_error *err,
                             struct pm_costs **ret_costs)
{
    struct pm_costs *costs = pm_alloc(sizeof *costs);
    struct costs_reader r = {.costs = costs, .name = name, .err = err, .rest = {text, len}};
    if (!costs)
        return costs_no_memory(&r);
    costs->pif = pm_pif_new();
    costs->strings = pm_intern_new();
    enum pm_status status;
    if (!costs->pif || !costs->strings)
        status = costs_no_memory(&r);
    else if (len && memchr(text, 0, len))
        status = pm_error_set(err, PM_ERR_FORMAT,
                              "cost file '%s' is not text: it holds a zero byte", name);
    else
        status = costs_is_callgrind(r.rest) ? costs_read_callgrind(&r) : costs_read_text(&r);
    if (status != PM_OK)
        goto failed;
    status = join_costs(&r);
    if (status != PM_OK)
        goto failed;
    *ret_costs = costs;
    return PM_OK;
failed:
    pm_costs_free(costs);
    return status;
}

enum pm_status pm_costs_read_file(const char *path, struct pm_error *err,
                                  struct pm_costs **ret_costs)
{
    char *text;
    size_t len;
    enum pm_status status = pm_file_read_named(path, FILE_MAX_BYTES, err, &text, &len);
    if (status != PM_OK)
        return status;
    status = pm_costs_read(path, text, len, err, ret_costs);
    free(text);
    return status;
}

void pm_costs_free(struct pm_costs *costs)
{
    if (!costs)
        return;
    pm_pif_free(costs->pif);
    pm_intern_free(costs->strings);
    pm_arena_release(&costs->arena);
    free(costs->costs.items);
    free(costs->metrics.items);
    free(costs->arcs.items);
    free(costs);
}

size_t pm_costs_n(const struct pm_costs *costs)
{
    return costs->costs.n;
}

const struct pm_imported_cost *pm_costs_get(const struct pm_costs *costs, size_t index)
{
    return (const struct pm_imported_cost *)costs->costs.items + index;
}

size_t pm_costs_n_arcs(const struct pm_costs *costs)
{
    return costs->arcs.n;
}

const struct pm_imported_arc *pm_costs_arc(const struct pm_costs *costs, size_t index)
{
    return (const struct pm_imported_arc *)costs->arcs.items + index;
}

size_t pm_costs_n_metrics(const struct pm_costs *costs)
{
    return costs->metrics.n;
}

const struct pm_cost_metric *pm_costs_metric(const struct pm_costs *costs, size_t index)
{
    return (const struct pm_cost_metric *)costs->metrics.items + index;
}

const char *pm_costs_producer(const struct pm_costs *costs)
{
    return costs->producer;
}
