/* What the page shows of an archive: opening it, which sheets there are, and the costs of views. */
#include "page.h"

#include "mapping/view/groupings.h"
#include "mapping/view/interval.h"

#include <stdlib.h>

static enum pm_status no_memory(struct pm_error *err)
{
    return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}

/* --- which sheets --- */

static bool is_own_level(const char *level)
{
    return strcmp(level, "Source") != 0 && strcmp(level, "Base") != 0;
}

/* Of levels of words, as MPI or SQL, rows are what is done; MPI's, with what (cmd/report.c). */
static enum pm_view_by by_of_level(const char *level)
{
    return strcmp(level, "MPI") == 0 ? PM_VIEW_BY_OPERATION : PM_VIEW_BY_LOOP;
}

static bool list_sheets(struct show_page *page)
{
    static const struct show_page_sheet always[] = {
        {"source", PM_VIEW_BY_LOOP, false},      {"source", PM_VIEW_BY_FUNCTION, false},
        {"source", PM_VIEW_BY_STATEMENT, false}, {"source", PM_VIEW_BY_LINE, false},
        {"source", PM_VIEW_BY_ARRAY, false},     {"source", PM_VIEW_BY_VARIABLE, false},
        {"source", PM_VIEW_BY_FILE, false},      {"source", PM_VIEW_BY_LOOP, true},
        {"source", PM_VIEW_BY_FUNCTION, true},   {"source", PM_VIEW_BY_MACHINE, true},
        {"source", PM_VIEW_BY_CODE, true},       {"source", PM_VIEW_BY_DATA, true},
        {"source", PM_VIEW_BY_MPI, true},        {"source", PM_VIEW_BY_SYNC, true},
        {"base", PM_VIEW_BY_LOOP, false},        {"base", PM_VIEW_BY_STATEMENT, false},
    };
    enum { N_ALWAYS = sizeof always / sizeof *always };
    const struct pm_graph *graph = page->data->graph;
    page->sheets = pm_alloc_array((size_t)N_ALWAYS + graph->n_levels, sizeof *page->sheets);
    if (!page->sheets)
        return false;
    memcpy(page->sheets, always, sizeof always);
    page->n_sheets = N_ALWAYS;
    for (pm_index l = 0; l < graph->n_levels; l++)
        if (is_own_level(graph->levels[l].name))
            page->sheets[page->n_sheets++] = (struct show_page_sheet){
                graph->levels[l].name, by_of_level(graph->levels[l].name), false};
    return true;
}

struct pm_view page_view(const struct show_page *page, const struct show_page_sheet *sheet,
                         enum pm_rule rule)
{
    return (struct pm_view){.archive = page->data,
                            .options = {.archive_path = page->options.archive_path,
                                        .level = sheet->level,
                                        .by = sheet->by,
                                        .rule = rule,
                                        .from = page->options.from,
                                        .to = page->options.to,
                                        .tree = sheet->is_tree,
                                        .folds = page->options.folds,
                                        .no_compensation = page->options.no_compensation,
                                        .keeps_columns = true,
                                        .keeps_rows = true,
                                        .keeps_nodes = true,
                                        .sort = PM_VIEW_SORT_DEFAULT}};
}

/* --- costs --- */

static int compare_costs(const void *a_pointer, const void *b_pointer)
{
    const struct pm_cost *a = a_pointer, *b = b_pointer;
    if (a->metric != b->metric)
        return a->metric < b->metric ? -1 : 1;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    if (a->context != b->context)
        return a->context < b->context ? -1 : 1;
    return (a->value > b->value) - (a->value < b->value);
}

static void tidy(struct page_cost_list *list)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < list->n; i++)
        if (list->items[i].value != 0)
            list->items[n++] = list->items[i];
    list->n = n;
    if (n)
        qsort(list->items, n, sizeof *list->items, compare_costs);
}

enum pm_status page_costs_find(struct pm_view *view, struct pm_error *err,
                               struct page_costs *ret_costs)
{
    const struct pm_graph *graph = view->data->graph;
    struct page_costs costs = {.merged = {.n = graph->n_costs}};
    costs.merged.items = pm_alloc_array((size_t)graph->n_costs + 1, sizeof *costs.merged.items);
    if (!costs.merged.items)
        return no_memory(err);
    if (graph->n_costs)
        memcpy(costs.merged.items, graph->costs, graph->n_costs * sizeof *graph->costs);
    enum pm_status status =
        pm_view_costs_of(view, NULL, err, &costs.of_threads.items, &costs.of_threads.n);
    if (status != PM_OK) {
        free(costs.merged.items);
        return status;
    }
    tidy(&costs.merged);
    tidy(&costs.of_threads);
    *ret_costs = costs;
    return PM_OK;
}

void page_costs_release(struct page_costs *costs)
{
    free(costs->merged.items);
    free(costs->of_threads.items);
    *costs = (struct page_costs){0};
}

static bool comes_before(const void *item, const void *key)
{
    return ((const struct pm_cost *)item)->metric < *(const pm_index *)key;
}

struct page_cost_list page_costs_of(const struct page_cost_list *costs, pm_index metric)
{
    size_t at = pm_lower_bound(costs->items, costs->n, sizeof *costs->items, &metric, comes_before);
    size_t end = at;
    while (end < costs->n && costs->items[end].metric == metric)
        end++;
    return (struct page_cost_list){costs->items + at, (uint32_t)(end - at)};
}

static bool are_equal(const struct page_cost_list *a, const struct page_cost_list *b,
                      pm_index metric)
{
    struct page_cost_list x = page_costs_of(a, metric), y = page_costs_of(b, metric);
    return x.n == y.n && (x.n == 0 || memcmp(x.items, y.items, x.n * sizeof *x.items) == 0);
}

bool page_costs_are_equal(const struct page_costs *a, const struct page_costs *b, pm_index metric)
{
    return are_equal(&a->of_threads, &b->of_threads, metric) &&
           are_equal(&a->merged, &b->merged, metric);
}

static void put_column(struct page_chunk *out, const char *prefix, const char *list,
                       pm_index metric, const char *what)
{
    char name[PAGE_MAX_NAME];
    snprintf(name, sizeof name, "%s%s_%u_%s", prefix, list, metric, what);
    page_column(out, PAGE_DELTAS, name);
}

/* Sums per context. */
static bool add_up_to_others(const struct page_cost_list *a, const struct page_cost_list *b,
                             int64_t *of_contexts, uint32_t n_contexts)
{
    memset(of_contexts, 0, n_contexts * sizeof *of_contexts);
    for (uint32_t i = 0; i < a->n; i++)
        of_contexts[a->items[i].context] =
            (int64_t)((uint64_t)of_contexts[a->items[i].context] + (uint64_t)a->items[i].value);
    for (uint32_t i = 0; i < b->n; i++)
        of_contexts[b->items[i].context] =
            (int64_t)((uint64_t)of_contexts[b->items[i].context] - (uint64_t)b->items[i].value);
    for (uint32_t c = 0; c < n_contexts; c++)
        if (of_contexts[c])
            return true;
    return false;
}

bool page_costs_put(struct page_chunk *out, const char *prefix, pm_index metric,
                    const struct page_costs *costs, uint32_t n_contexts)
{
    struct page_cost_list list = page_costs_of(&costs->of_threads, metric),
                          merged = page_costs_of(&costs->merged, metric);
    int64_t *of_contexts = pm_alloc_array((size_t)n_contexts + 1, sizeof *of_contexts);
    if (!of_contexts)
        return false;
    put_column(out, prefix, "cost", metric, "thread");
    for (uint32_t i = 0; i < list.n; i++)
        page_put_delta(out, list.items[i].thread);
    put_column(out, prefix, "cost", metric, "context");
    for (uint32_t i = 0; i < list.n; i++)
        page_put_delta(out, list.items[i].context);
    put_column(out, prefix, "cost", metric, "value");
    for (uint32_t i = 0; i < list.n; i++)
        page_put_delta(out, list.items[i].value);
    if (add_up_to_others(&list, &merged, of_contexts, n_contexts)) {
        put_column(out, prefix, "merged", metric, "context");
        for (uint32_t i = 0; i < merged.n; i++)
            page_put_delta(out, merged.items[i].context);
        put_column(out, prefix, "merged", metric, "value");
        for (uint32_t i = 0; i < merged.n; i++)
            page_put_delta(out, merged.items[i].value);
    }
    free(of_contexts);
    return true;
}

/* --- all of it --- */

/* By statement, for they are where they were. */
static enum pm_status find_fine_costs(struct show_page *page, struct pm_error *err)
{
    const struct show_page_sheet by_statement = {"source", PM_VIEW_BY_STATEMENT, false};
    struct pm_view view = page_view(page, &by_statement, PM_RULE_MERGE);
    enum pm_status status = pm_view_make(&view, err);
    if (status != PM_OK)
        goto out;
    status = page_costs_find(&view, err, &page->fine_costs);
out:
    pm_view_release(&view);
    return status;
}

static enum pm_status make_first(struct show_page *page, struct pm_error *err)
{
    page->first = page_view(page, &page->sheets[0], PM_RULE_MERGE);
    enum pm_status status = pm_view_make(&page->first, err);
    if (status != PM_OK)
        return status;
    status = page_costs_find(&page->first, err, &page->costs);
    if (status != PM_OK)
        return status;
    if (!page_foci_find(&page->first, &page->foci) || !page_sources_list(page))
        return no_memory(err);
    return page->first.wait_of ? find_fine_costs(page, err) : PM_OK;
}

static enum pm_status close_failed(struct show_page *page, enum pm_status status)
{
    show_page_close(page);
    return status;
}

/* Of data that are there. A page that fails is closed. */
static enum pm_status make(struct show_page *page, struct pm_error *err,
                           struct show_page **ret_page)
{
    enum pm_status status = list_sheets(page) ? make_first(page, err) : no_memory(err);
    if (status != PM_OK)
        return close_failed(page, status);
    *ret_page = page;
    return PM_OK;
}

enum pm_status show_page_open(const struct show_page_options *options, struct pm_error *err,
                              struct show_page **ret_page)
{
    enum { FLAGS = PM_ARCHIVE_LOAD_MERGED | PM_ARCHIVE_LOAD_KEPT | PM_ARCHIVE_LOAD_LEFT_OUT };
    struct show_page *page = pm_alloc(sizeof *page);
    if (!page)
        return no_memory(err);
    page->options = *options;
    enum pm_status status = pm_archive_load(options->archive_path, FLAGS, err, &page->data);
    return status != PM_OK ? close_failed(page, status) : make(page, err, ret_page);
}

enum pm_status show_page_open_part(const struct show_page *page, const char *from, const char *to,
                                   struct pm_error *err, struct show_page **ret_page)
{
    struct show_page *part = pm_alloc(sizeof *part);
    if (!part)
        return no_memory(err);
    part->options = page->options;
    part->options.from = from ? from : "0";
    part->options.to = to;
    part->data = page->data;
    part->lends_data = true;
    part->is_open = !from;
    return make(part, err, ret_page);
}

void show_page_close(struct show_page *page)
{
    if (!page)
        return;
    page_foci_release(&page->foci);
    pm_view_release(&page->first);
    if (!page->lends_data)
        pm_archive_data_free(page->data);
    free(page->sheets);
    free(page->files);
    page_costs_release(&page->costs);
    page_costs_release(&page->fine_costs);
    free(page);
}

static bool has_times(const struct show_page *page)
{
    bool is_part = page->options.from || page->options.to;
    return !is_part && !pm_view_why_no_times(page->data);
}

uint32_t show_page_times_chunk(const struct show_page *page)
{
    return has_times(page) ? page->n_sheets + 1 : 0;
}

static uint32_t first_source(const struct show_page *page)
{
    return 1 + page->n_sheets + has_times(page);
}

uint32_t show_page_n_chunks(const struct show_page *page)
{
    return first_source(page) + page->n_files;
}

uint32_t show_page_n_sources(const struct show_page *page)
{
    return page->n_files;
}

static enum pm_status write_chunk(struct show_page *page, uint32_t number, struct pm_error *err,
                                  struct page_chunk *chunk)
{
    if (!page_chunk_begin(chunk))
        return no_memory(err);
    if (number == 0)
        return page_base_write(page, err, chunk);
    if (number <= page->n_sheets)
        return page_sheet_write(page, number - 1, err, chunk);
    if (number < first_source(page))
        return page_times_write(page, err, chunk);
    page_source_write(page, number - first_source(page), chunk);
    return PM_OK;
}

static enum pm_status make_chunk(struct show_page *page, uint32_t number,
                                 const struct page_chunk *whole, struct pm_error *err,
                                 struct page_chunk *chunk, struct pm_buf *ret_bytes)
{
    enum pm_status status = write_chunk(page, number, err, chunk);
    if (status != PM_OK)
        return status;
    return page_chunk_end(chunk, whole, ret_bytes) ? PM_OK : no_memory(err);
}

enum pm_status show_page_chunk(struct show_page *page, uint32_t number, struct pm_error *err,
                               struct pm_buf *ret_bytes)
{
    struct page_chunk chunk = {0};
    enum pm_status status = make_chunk(page, number, NULL, err, &chunk, ret_bytes);
    page_chunk_release(&chunk);
    return status;
}

enum pm_status show_page_chunk_pair(struct show_page *page, struct show_page *part, uint32_t number,
                                    struct pm_error *err, struct pm_buf *ret_bytes,
                                    struct pm_buf *ret_part_bytes)
{
    struct page_chunk chunk = {0}, of_part = {0};
    enum pm_status status = make_chunk(page, number, NULL, err, &chunk, ret_bytes);
    if (status != PM_OK)
        goto out;
    if (number <= page->n_sheets)
        status = make_chunk(part, number, &chunk, err, &of_part, ret_part_bytes);
out:
    page_chunk_release(&chunk);
    page_chunk_release(&of_part);
    return status;
}
