/* A sheet: the rows of one grouping at one level under each rule, and which of them each context
 * counts for (docs/formats/page.md). */
#include "columns.h"
#include "page.h"

#include "mapping/view/groupings.h"
#include "mapping/view/interval.h"

#include <stdlib.h>

static enum pm_status no_memory(struct pm_error *err)
{
    return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}

/* Bits of the column "flags". The page has them in page/model.js. */
enum row_flag {
    ROW_CALLS_AT_LEAST = 1,
    ROW_ENTRIES_AT_LEAST = 2,
    ROW_CALLS_UNKNOWN = 4,
    ROW_UNTIMED = 8,
    ROW_INLINED = 16,
    ROW_SAMPLED = 32,
    ROW_COUNTED = 64,
    ROW_DATA_AT_LEAST = 128,
    ROW_NOUN = 256,
    ROW_OUTSIDE = 512,
    ROW_UNMAPPED = 1024,
    ROW_SET = 2048,
    ROW_OTHERS_TIME = 4096,
    ROW_MOSTLY_INFERRED = 8192,
};

/* Bits of the column "context_flags". */
enum context_flag {
    CONTEXT_NO_CALL = 1,      /* its counts of calls are none of the row */
    CONTEXT_ENTRIES = 2,      /* they are entries of loops */
    CONTEXT_INFERRED = 4,     /* its caller is likely, not certain */
    CONTEXT_ONLY_SAMPLED = 8, /* its wall time is that of what is around */
    /* of axis Machine: what was called there was called at least so often */
    CONTEXT_CALLS_AT_LEAST = 16,
    CONTEXT_ENTRIES_AT_LEAST = 32,
};

enum { MOST_METRICS = 50 }; /* bits of marks */

struct sheet {
    struct show_page *page;
    struct pm_view *view;
    struct page_chunk *out;
    const char *rule; /* what the names of columns end with */
    pm_index metrics[MOST_METRICS];
    uint32_t n_metrics;
    uint32_t *rows; /* positions in view->rows: those that say something of any metric */
    uint32_t n_rows;
    uint32_t *as; /* per row: 1 + the row of the first rule that is called alike; 0 none. NULL */
    /* Of the first rule, while another one is written; else NULL. */
    const struct pm_view *first;
    const uint32_t *first_rows;
    struct pm_map row_of; /* by constructs: 1 + position in first_rows */
};

static void begin_column(struct sheet *s, enum page_column_kind kind, const char *name)
{
    char full[PAGE_MAX_NAME];
    snprintf(full, sizeof full, "%s_%s", s->rule, name);
    page_column(s->out, kind, full);
}

/* --- marks --- */

/* The library's marks are of the metrics that a view shows, and the page shows any: one stands in
 * the last place meanwhile. */
static bool is_marked(struct sheet *s, struct pm_view_row *row, pm_index metric,
                      bool (*mark)(const struct pm_view *, const struct pm_view_row *, uint32_t))
{
    enum { LAST = PM_VIEW_MAX_METRICS - 1 };
    struct pm_view_value values[PM_VIEW_MAX_METRICS];
    struct pm_view view = *s->view;
    struct pm_view_row as_if = *row;
    memset(values, 0, sizeof values);
    values[LAST].own.value = 1; /* a mark of what has nothing there says nothing */
    as_if.values = values;
    view.metrics[LAST] = metric;
    view.n_metrics = PM_VIEW_MAX_METRICS;
    return mark(&view, &as_if, LAST);
}

static bool own_is_at_least(const struct pm_view *view, const struct pm_view_row *row, uint32_t m)
{
    return pm_view_is_at_least(view, row, m, false);
}

static bool inclusive_is_at_least(const struct pm_view *view, const struct pm_view_row *row,
                                  uint32_t m)
{
    return pm_view_is_at_least(view, row, m, true);
}

static uint64_t marks_of(struct sheet *s, struct pm_view_row *row,
                         bool (*mark)(const struct pm_view *, const struct pm_view_row *, uint32_t))
{
    uint64_t marks = 0;
    for (uint32_t m = 0; m < s->n_metrics; m++)
        if (is_marked(s, row, s->metrics[m], mark))
            marks |= (uint64_t)1 << m;
    return marks;
}

/* What is in a place of a where axis is at least what is known where any part of it is. By position
 * of rows; to be freed. NULL: memory ended. */
static uint64_t *marks_within(struct sheet *s)
{
    struct pm_view *view = s->view;
    bool is_where = pm_view_grouping(view)->where;
    uint64_t *marks = pm_alloc_array(view->n_rows + 1u, sizeof *marks);
    uint32_t *row_of = pm_alloc_array(view->n_rows + 1u, sizeof *row_of); /* by id: all are kept */
    for (uint32_t r = 0; marks && row_of && r < view->n_rows; r++) {
        marks[r] = marks_of(s, &view->rows[r], is_where ? own_is_at_least : inclusive_is_at_least);
        row_of[view->rows[r].id] = r;
    }
    for (uint32_t id = view->n_rows; marks && row_of && is_where && id-- > 0;) {
        uint32_t parent = view->rows[row_of[id]].parent_id; /* a smaller id */
        if (parent != PM_NONE)
            marks[row_of[parent]] |= marks[row_of[id]];
    }
    bool good = row_of != NULL;
    free(row_of);
    if (!good) {
        free(marks);
        marks = NULL;
    }
    return marks;
}

static unsigned flags_of(const struct pm_view_row *row)
{
    static const unsigned of_kind[] = {
        [PM_VIEW_ROW_NOUN] = ROW_NOUN,
        [PM_VIEW_ROW_SET] = ROW_SET,
        [PM_VIEW_ROW_UNMAPPED] = ROW_UNMAPPED,
        [PM_VIEW_ROW_OUTSIDE] = ROW_OUTSIDE,
        [PM_VIEW_ROW_SPECIAL] = 0,
        [PM_VIEW_ROW_RUNNER] = 0,
        [PM_VIEW_ROW_BRANCH] = 0,
    };
    const struct pm_view_traits *t = &row->traits;
    const struct {
        bool is_set;
        unsigned flag;
    } marks[] = {
        {t->calls_are_at_least, ROW_CALLS_AT_LEAST},
        {t->entries_are_at_least, ROW_ENTRIES_AT_LEAST},
        {t->calls_are_unknown, ROW_CALLS_UNKNOWN},
        {t->is_untimed, ROW_UNTIMED},
        {t->is_inlined, ROW_INLINED},
        {t->is_sampled, ROW_SAMPLED},
        {t->is_counted, ROW_COUNTED},
        {t->data_is_at_least, ROW_DATA_AT_LEAST},
        {t->has_others_time, ROW_OTHERS_TIME},
        {t->is_mostly_inferred, ROW_MOSTLY_INFERRED},
    };
    unsigned flags = of_kind[row->kind];
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (marks[i].is_set)
            flags |= marks[i].flag;
    return flags;
}

/* --- rows --- */

/* "vectorised together"; "probably" before what only inferred mappings say. */
static void add_reasons(const struct pm_view_row *row, struct pm_buf *out)
{
    if (row->kind != PM_VIEW_ROW_SET)
        return;
    for (int i = 0; i < PM_VIEW_MAX_REASONS && row->traits.reasons[i]; i++) {
        pm_buf_add_str(out, i ? ", " : "");
        pm_buf_add_str(out, row->traits.is_inferred[i] ? "probably " : "");
        pm_buf_add_str(out, row->traits.reasons[i]);
    }
}

static uint32_t reasons_text(struct sheet *s, const struct pm_view_row *row)
{
    struct pm_buf text = PM_BUF_INIT(1 << 12);
    add_reasons(row, &text);
    s->out->failed |= text.failed;
    uint32_t number = page_text(s->out, text.data);
    pm_buf_release(&text);
    return number;
}

static uint32_t n_members(const struct pm_view_row *row)
{
    return row->n_groups ? row->n_groups : 1;
}

/* Under other rules than the first most rows are of the same constructs, and called alike: the
 * column "as" has 1 + the position of the row there, and the row has no texts and members. */
static bool is_known(const struct sheet *s, uint32_t r)
{
    return s->as && s->as[r];
}

static uint64_t constructs_of(const struct sheet *s, const struct pm_view_row *row)
{
    uint64_t key = row->n_groups ? row->n_groups : row->source + ((uint64_t)1 << 40);
    for (uint32_t i = 0; i < row->n_groups; i++)
        key = (key ^ row->groups[i]) * 0x9e3779b97f4a7c15u + (key >> 29);
    (void)s;
    return key;
}

/* Groups are numbered alike under each rule: rules only divide what they have. */
static bool is_same_row(const struct pm_view_row *a, const struct pm_view_row *b)
{
    return a->kind == b->kind && a->n_groups == b->n_groups && a->source == b->source &&
           !memcmp(a->groups, b->groups, a->n_groups * sizeof *a->groups) &&
           !strcmp(a->what, b->what) && !strcmp(a->place, b->place);
}

/* False: memory ended. */
static bool put_known(struct sheet *s)
{
    if (!s->first)
        return true;
    s->as = pm_alloc_array(s->n_rows + 1u, sizeof *s->as);
    if (!s->as)
        return false;
    begin_column(s, PAGE_DELTAS, "as");
    for (uint32_t r = 0; r < s->n_rows; r++) {
        const struct pm_view_row *row = &s->view->rows[s->rows[r]];
        uint32_t at = pm_map_get(&s->row_of, constructs_of(s, row));
        if (at && is_same_row(row, &s->first->rows[s->first_rows[at - 1]]))
            s->as[r] = at;
        page_put_delta(s->out, s->as[r]);
    }
    return true;
}

static void put_texts(struct sheet *s)
{
    const struct pm_view *view = s->view;
    begin_column(s, PAGE_NUMBERS, "what");
    for (uint32_t r = 0; r < s->n_rows; r++)
        if (!is_known(s, r))
            page_put(s->out, page_text(s->out, view->rows[s->rows[r]].what));
    begin_column(s, PAGE_NUMBERS, "place");
    for (uint32_t r = 0; r < s->n_rows; r++)
        if (!is_known(s, r))
            page_put(s->out, page_text(s->out, view->rows[s->rows[r]].place));
    begin_column(s, PAGE_NUMBERS, "kind");
    for (uint32_t r = 0; r < s->n_rows; r++)
        if (!is_known(s, r))
            page_put(s->out, page_text(s->out, show_row_kind(view, &view->rows[s->rows[r]])));
    begin_column(s, PAGE_NUMBERS, "reasons");
    for (uint32_t r = 0; r < s->n_rows; r++)
        if (!is_known(s, r))
            page_put(s->out, reasons_text(s, &view->rows[s->rows[r]]));
}

/* What each row is made of: number of members, then of each 1 + its group and 1 + its noun. */
static void put_members(struct sheet *s)
{
    const struct pm_view *view = s->view;
    begin_column(s, PAGE_NUMBERS, "n_members");
    for (uint32_t r = 0; r < s->n_rows; r++)
        if (!is_known(s, r))
            page_put(s->out, n_members(&view->rows[s->rows[r]]));
    begin_column(s, PAGE_DELTAS, "members");
    for (uint32_t r = 0; r < s->n_rows; r++) {
        const struct pm_view_row *row = &view->rows[s->rows[r]];
        for (uint32_t i = 0; i < n_members(row) && !is_known(s, r); i++) {
            bool is_noun = row->kind != PM_VIEW_ROW_RUNNER && row->kind != PM_VIEW_ROW_BRANCH &&
                           !(row->n_groups && view->groups[row->groups[i]].special);
            pm_index noun = is_noun ? pm_view_row_noun(view, row, i) : (pm_index)PM_NONE;
            page_put_delta(s->out, i < row->n_groups ? row->groups[i] + 1 : 0);
            page_put_delta(s->out, noun == PM_NONE ? 0 : (int64_t)noun + 1);
        }
    }
}

static void put_marks(struct sheet *s)
{
    struct pm_view *view = s->view;
    uint64_t *within = marks_within(s);
    s->out->failed |= !within;
    begin_column(s, PAGE_NUMBERS, "flags");
    for (uint32_t r = 0; r < s->n_rows; r++)
        page_put(s->out, flags_of(&view->rows[s->rows[r]]));
    begin_column(s, PAGE_NUMBERS, "at_least");
    for (uint32_t r = 0; r < s->n_rows; r++)
        page_put(s->out, marks_of(s, &view->rows[s->rows[r]], own_is_at_least));
    begin_column(s, PAGE_NUMBERS, "at_least_inclusive");
    for (uint32_t r = 0; r < s->n_rows; r++)
        page_put(s->out, within ? within[s->rows[r]] : 0);
    begin_column(s, PAGE_NUMBERS, "words_of_inlined");
    for (uint32_t r = 0; r < s->n_rows; r++)
        page_put(s->out, marks_of(s, &view->rows[s->rows[r]], pm_view_has_words_of_inlined));
    free(within);
}

static void put_ids(struct sheet *s)
{
    const struct pm_view *view = s->view;
    begin_column(s, PAGE_DELTAS, "id");
    for (uint32_t r = 0; r < s->n_rows; r++)
        page_put_delta(s->out, view->rows[s->rows[r]].id);
    if (!view->options.tree)
        return;
    begin_column(s, PAGE_DELTAS, "parent"); /* 1 + id */
    for (uint32_t r = 0; r < s->n_rows; r++)
        page_put_delta(s->out, view->rows[s->rows[r]].parent_id == PM_NONE
                                   ? 0
                                   : (int64_t)view->rows[s->rows[r]].parent_id + 1);
}

/* --- what contexts count for --- */

static void put_nodes(struct sheet *s)
{
    const struct pm_view *view = s->view;
    bool is_machine = pm_view_grouping(view)->where == PM_VIEW_WHERE_MACHINE;
    uint32_t n = is_machine ? view->data->n_threads : view->data->graph->n_contexts;
    begin_column(s, PAGE_DELTAS, "node"); /* 1 + id of a row */
    for (uint32_t i = 0; i < n; i++)
        page_put_delta(s->out, view->node_of[i] == PM_NONE ? 0 : (int64_t)view->node_of[i] + 1);
}

static void put_classes(struct sheet *s)
{
    const struct pm_view *view = s->view;
    const struct pm_lift *lift = view->lift;
    bool is_split = view->options.rule == PM_RULE_SPLIT;
    begin_column(s, PAGE_DELTAS, "class"); /* 1 + class */
    for (pm_index c = 0; c < view->data->graph->n_contexts; c++) {
        uint32_t class = lift->class_of[view->data->graph->contexts[c].sentence];
        page_put_delta(s->out, class == PM_NONE ? 0 : (int64_t) class + 1);
    }
    if (is_split) {
        begin_column(s, PAGE_NUMBERS, "n_parts");
        for (uint32_t class = 0; class < lift->n_classes; class ++)
            page_put(s->out, lift->class_first[class + 1] - lift->class_first[class]);
    }
    begin_column(s, PAGE_DELTAS, "part"); /* id of a row */
    for (uint32_t i = 0; i < lift->class_first[lift->n_classes]; i++)
        page_put_delta(s->out, lift->parts[i].row);
    if (is_split) {
        begin_column(s, PAGE_REALS, "share");
        for (uint32_t i = 0; i < lift->class_first[lift->n_classes]; i++)
            page_put_real(s->out, lift->parts[i].share);
    }
    if (!view->around)
        return;
    begin_column(s, PAGE_DELTAS, "around"); /* by id: 1 + id of the row around */
    for (uint32_t r = 0; r < lift->n_rows; r++)
        page_put_delta(
            s->out, view->nesting.around[r] == PM_NONE ? 0 : (int64_t)view->nesting.around[r] + 1);
}

/* Calls of what only stands for the construct around are none of it: the view took them out. */
static bool *find_calls(const struct sheet *s)
{
    const struct pm_graph *graph = s->view->data->graph;
    bool *has_calls = pm_alloc_array(graph->n_contexts + 1u, sizeof *has_calls);
    for (uint32_t i = 0; has_calls && i < graph->n_costs; i++)
        has_calls[graph->costs[i].context] |=
            graph->costs[i].metric == s->view->calls_metric && graph->costs[i].value != 0;
    return has_calls;
}

/* As mapping/view/runners.c marks what runners called. */
static unsigned marks_of_calls(const struct pm_view *view, pm_index sentence)
{
    const struct pm_lift *lift = view->lift;
    uint32_t class = lift->class_of[sentence];
    unsigned marks = 0;
    for (uint32_t k = lift->class_first[class]; k < lift->class_first[class + 1]; k++) {
        const struct pm_view_traits *called = &view->traits[lift->parts[k].row];
        if (called->calls_are_at_least)
            marks |= CONTEXT_CALLS_AT_LEAST;
        if (called->entries_are_at_least)
            marks |= CONTEXT_ENTRIES_AT_LEAST;
    }
    return marks;
}

static unsigned context_flags(const struct sheet *s, pm_index context, bool has_calls)
{
    const struct pm_view *view = s->view, as_it_is = {.data = s->page->data};
    pm_index sentence = view->data->graph->contexts[context].sentence;
    bool is_machine = pm_view_grouping(view)->where == PM_VIEW_WHERE_MACHINE;
    const struct pm_cost call = {.context = context, .metric = view->calls_metric};
    bool is_no_call = !is_machine && (!has_calls || pm_view_is_no_call(view, &call));
    unsigned flags = is_machine ? marks_of_calls(view, sentence) : 0;
    if (is_no_call)
        flags |= CONTEXT_NO_CALL;
    if (pm_view_counts_as_entries(view, sentence))
        flags |= CONTEXT_ENTRIES;
    if (pm_view_is_inferred(view, sentence))
        flags |= CONTEXT_INFERRED;
    if (pm_view_is_only_sampled(&as_it_is, context))
        flags |= CONTEXT_ONLY_SAMPLED;
    return flags;
}

static enum pm_status put_context_flags(struct sheet *s, struct pm_error *err)
{
    const struct pm_graph *graph = s->view->data->graph;
    if (s->page->is_open) { /* it has no calls, and what else they say is of the run */
        page_column_as_whole(s->out, "context_flags");
        return PM_OK;
    }
    bool *has_calls = find_calls(s);
    if (!has_calls)
        return no_memory(err);
    page_column(s->out, PAGE_NUMBERS, "context_flags");
    for (pm_index c = 0; c < graph->n_contexts; c++)
        page_put(s->out, context_flags(s, c, has_calls[c]));
    free(has_calls);
    return PM_OK;
}

/* --- under one rule --- */

static void find_costs_of(const struct pm_view *view, const struct pm_graph *graph, bool *has_cost)
{
    const struct pm_lift *lift = view->lift;
    for (uint32_t i = 0; i < graph->n_costs; i++) {
        const struct pm_cost *cost = &graph->costs[i];
        if (cost->value == 0)
            continue;
        uint32_t class = lift->class_of[view->data->graph->contexts[cost->context].sentence];
        for (uint32_t k = lift->class_first[class]; k < lift->class_first[class + 1]; k++)
            has_cost[lift->parts[k].row] = true;
    }
}

/* By id of rows: does any metric have a cost there, in the whole run or where the view has moved
 * it? So rows of an interval are those of the run. To be freed. NULL: memory ended. */
static bool *find_costs(const struct sheet *s)
{
    const struct pm_view *view = s->view;
    uint32_t n = view->options.tree ? view->n_rows : view->lift->n_rows;
    bool *has_cost = pm_alloc_array(n + 1u, sizeof *has_cost);
    if (!has_cost || view->options.tree)
        return has_cost;
    find_costs_of(view, view->data->graph, has_cost);
    find_costs_of(view, s->page->data->graph, has_cost);
    return has_cost;
}

/* The page has orders of its own; in this one rows of an interval stand as those of the run do. */
static int compare_ids(const void *a, const void *b, void *view_pointer)
{
    const struct pm_view_row *rows = ((const struct pm_view *)view_pointer)->rows;
    uint32_t x = rows[*(const uint32_t *)a].id, y = rows[*(const uint32_t *)b].id;
    return (x > y) - (x < y);
}

/* Also what was met, nobody knows how often (mapping/view/order.c). */
static bool choose_rows(struct sheet *s)
{
    const struct pm_view *view = s->view;
    bool *keeps = find_costs(s);
    /* Of parts of functions own costs count; elsewhere what lies below has some. */
    bool keeps_all = !pm_view_is_fine(view) || view->options.tree;
    s->rows = pm_alloc_array(view->n_rows + 1u, sizeof *s->rows);
    s->n_rows = 0;
    bool good = keeps && s->rows;
    for (uint32_t r = 0; good && r < view->n_rows; r++) {
        const struct pm_view_row *row = &view->rows[r];
        keeps[row->id] |= keeps_all || (row->kind == PM_VIEW_ROW_NOUN && row->traits.is_inlined &&
                                        row->traits.calls_are_unknown);
    }
    for (uint32_t r = 0; good && r < view->n_rows; r++)
        if (keeps[view->rows[r].id])
            s->rows[s->n_rows++] = r;
    free(keeps);
    if (good)
        qsort_r(s->rows, s->n_rows, sizeof *s->rows, compare_ids, (void *)view);
    return good;
}

static enum pm_status put_rows(struct sheet *s, struct pm_error *err)
{
    PM_ASSERT(s->view->n_shown == s->view->n_rows);
    if (!choose_rows(s))
        return no_memory(err);
    put_ids(s);
    if (!put_known(s))
        return no_memory(err);
    put_texts(s);
    put_members(s);
    put_marks(s);
    if (s->view->options.tree)
        put_nodes(s);
    else
        put_classes(s);
    return PM_OK;
}

/* Those that a report shows first, then what else was measured. */
static void choose_metrics(struct sheet *s)
{
    const struct pm_view *view = s->view;
    const struct pm_graph *graph = view->data->graph;
    for (uint32_t m = 0; m < view->n_metrics; m++)
        s->metrics[s->n_metrics++] = view->metrics[m];
    pm_index wall = pm_graph_find_metric(graph, "wall_ns");
    for (pm_index m = 0; m < graph->n_metrics && s->n_metrics < MOST_METRICS; m++)
        if ((m != wall || view->wall_metric != PM_NONE) && !pm_view_lacks_times(view, m) &&
            !pm_view_shows(view, m) && m != view->calls_metric && m != view->samples_metric &&
            graph->metrics[m].aggregation != PM_AVERAGE && pm_view_is_measured(graph, m))
            s->metrics[s->n_metrics++] = m;
}

static void metric_or_null(struct pm_json *json, const char *key, pm_index metric)
{
    if (metric == PM_NONE)
        pm_json_null(json, key);
    else
        pm_json_u64(json, key, metric);
}

static void put_metrics(struct pm_json *json, const char *key, const struct pm_view *view)
{
    pm_json_array(json, key);
    for (uint32_t m = 0; m < view->n_metrics; m++)
        pm_json_u64(json, NULL, view->metrics[m]);
    pm_json_end(json);
}

/* In a timed run a focus on what only samples met is shown in CPU time (mapping/view/modes.c). */
static enum pm_status put_metrics_of_samples(struct sheet *s, struct pm_error *err)
{
    struct pm_view view = *s->view;
    bool is_wall = view.n_metrics && view.metrics[view.primary] == view.wall_metric;
    if (!is_wall || view.cpu_metric == PM_NONE)
        return PM_OK;
    view.asks_fine = true;
    view.n_metrics = 0;
    enum pm_status status = pm_view_choose_metrics(&view, err);
    if (status != PM_OK)
        return status;
    put_metrics(&s->out->json, "metrics_of_samples", &view);
    return PM_OK;
}

static void put_view(struct sheet *s)
{
    struct pm_json *json = &s->out->json;
    struct pm_view *view = s->view;
    pm_json_string(json, "level", view->level_name);
    pm_json_u64(json, "n_shown_metrics", view->n_metrics);
    pm_json_array(json, "metrics");
    for (uint32_t m = 0; m < s->n_metrics; m++)
        pm_json_u64(json, NULL, s->metrics[m]);
    pm_json_end(json);
    pm_json_array(json, "off_cpu"); /* of the shown ones */
    for (uint32_t m = 0; m < view->n_metrics; m++)
        if (pm_view_off_cpu_word(view, m))
            pm_json_u64(json, NULL, view->metrics[m]);
    pm_json_end(json);
    metric_or_null(json, "calls", view->calls_metric);
    metric_or_null(json, "samples", view->samples_metric);
    metric_or_null(json, "cpu", view->cpu_metric);
    metric_or_null(json, "wall", view->wall_metric);
    pm_json_bool(json, "is_fine", pm_view_is_fine(view));
    pm_json_bool(json, "counts_all", pm_view_grouping(view)->counts_all);
    pm_json_bool(json, "shows_calls", view->shows_calls);
    pm_json_bool(json, "has_wall_samples", pm_view_has_wall_samples(view));
    pm_json_bool(json, "has_taken", view->taken_ns != NULL);
    pm_json_bool(json, "times_hold_readings", pm_view_times_hold_readings(view));
    pm_json_bool(json, "is_machine", pm_view_grouping(view)->where == PM_VIEW_WHERE_MACHINE);
    pm_json_bool(json, "has_interval", pm_view_has_interval(view));
    pm_json_bool(json, "loses_events", view->n_lost_events != 0);
    pm_json_string(json, "no_object", pm_view_grouping(view)->no_object);
}

/* Of metrics whose costs are elsewhere than in the first chunk (waiting, by statement). */
static enum pm_status put_own_costs(struct sheet *s, struct pm_error *err)
{
    const struct pm_graph *graph = s->page->data->graph;
    struct page_costs costs;
    enum pm_status status = page_costs_find(s->view, err, &costs);
    if (status != PM_OK)
        return status;
    bool good = true;
    for (pm_index m = 0; m < graph->n_metrics && good; m++)
        if (!page_costs_are_equal(&costs, &s->page->costs, m))
            good = page_costs_put(s->out, "", m, &costs, graph->n_contexts);
    page_costs_release(&costs);
    return good ? PM_OK : no_memory(err);
}

static enum pm_status put_own_foci(struct sheet *s, struct pm_error *err)
{
    struct page_foci foci = {0};
    uint32_t n = s->page->data->graph->n_contexts;
    bool good = page_foci_find(s->view, &foci);
    if (good && !page_foci_are_equal(&foci, &s->page->foci, n))
        page_foci_put(s->out, &foci, n);
    page_foci_release(&foci);
    return good ? PM_OK : no_memory(err);
}

static enum pm_status put_first_rule(struct sheet *s, struct pm_error *err)
{
    choose_metrics(s);
    put_view(s);
    enum pm_status status = put_metrics_of_samples(s, err);
    if (status != PM_OK)
        return status;
    status = put_context_flags(s, err);
    if (status != PM_OK)
        return status;
    status = put_own_costs(s, err);
    if (status != PM_OK)
        return status;
    return put_own_foci(s, err);
}

static enum pm_status put_rule(struct sheet *s, struct pm_view *view, struct pm_error *err)
{
    s->view = view;
    enum pm_status status = pm_view_make(view, err);
    if (status != PM_OK)
        return status;
    if (!s->first)
        status = put_first_rule(s, err);
    if (status != PM_OK)
        return status;
    return put_rows(s, err);
}

static bool has_rules(const struct show_page_sheet *sheet)
{
    return !sheet->is_tree && !pm_view_grouping_by(sheet->by)->where;
}

static bool remember_rows(struct sheet *s)
{
    s->first = s->view;
    s->first_rows = s->rows;
    for (uint32_t r = 0; r < s->n_rows; r++)
        if (!pm_map_put(&s->row_of, constructs_of(s, &s->view->rows[s->rows[r]]), r + 1))
            return false;
    return true;
}

static const char *const rule_words[] = {"merge", "closed", "split"};

static enum pm_status put_other_rule(struct sheet *s, const struct show_page_sheet *sheet,
                                     enum pm_rule rule, struct pm_error *err)
{
    struct pm_view view = page_view(s->page, sheet, rule);
    struct sheet other = *s;
    other.rule = rule_words[rule];
    other.rows = other.as = NULL;
    enum pm_status status = put_rule(&other, &view, err);
    free(other.rows);
    free(other.as);
    pm_view_release(&view);
    return status;
}

static enum pm_status put_rules(struct sheet *s, struct pm_view *view,
                                const struct show_page_sheet *sheet, struct pm_error *err)
{
    enum pm_status status = put_rule(s, view, err);
    if (status != PM_OK || !has_rules(sheet))
        return status;
    if (!remember_rows(s))
        return no_memory(err);
    status = put_other_rule(s, sheet, PM_RULE_CLOSED, err);
    if (status != PM_OK)
        return status;
    return put_other_rule(s, sheet, PM_RULE_SPLIT, err);
}

/* Of where axes the archive may have nothing: the page says why. */
static void put_reason(struct page_chunk *out, struct pm_error *err)
{
    pm_json_string(&out->json, "absent", pm_error_text(err));
    pm_error_release(err);
}

enum pm_status page_sheet_write(struct show_page *page, uint32_t number, struct pm_error *err,
                                struct page_chunk *out)
{
    const struct show_page_sheet *sheet = &page->sheets[number];
    struct sheet s = {.page = page, .out = out, .rule = rule_words[0]};
    struct pm_view view = page_view(page, sheet, PM_RULE_MERGE);
    pm_json_string(&out->json, "by", pm_view_by_word(sheet->by));
    pm_json_array(&out->json, "rules");
    for (int rule = 0; rule < (has_rules(sheet) ? 3 : 1); rule++)
        pm_json_string(&out->json, NULL, rule_words[rule]);
    pm_json_end(&out->json);
    enum pm_status status = put_rules(&s, &view, sheet, err);
    free(s.rows);
    pm_map_release(&s.row_of);
    pm_view_release(&view);
    if (status != PM_ERR_NOT_FOUND)
        return status;
    put_reason(out, err);
    return PM_OK;
}
