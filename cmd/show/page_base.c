/* The first chunk: the run, its threads, contexts, costs and nouns, and the list of sheets. */
#include "header.h"
#include "page.h"
#include "page_timeline.h"

#include "mapping/view/groupings.h"
#include "mapping/view/interval.h"

#include <math.h>
#include <stdlib.h>

static enum pm_status no_memory(struct pm_error *err)
{
    return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}

/* --- the run --- */

static void tell_fact(void *context, enum show_fact_kind kind, const char *text)
{
    static const char *const words[SHOW_N_FACT_KINDS] = {
        [SHOW_FACT_COMMAND] = "command",     [SHOW_FACT_RUN] = "run",
        [SHOW_FACT_BAD_END] = "bad end",     [SHOW_FACT_MORE_RUNS] = "more runs",
        [SHOW_FACT_SAMPLING] = "sampling",   [SHOW_FACT_MEASURING] = "measuring",
        [SHOW_FACT_PREEMPTED] = "preempted", [SHOW_FACT_MODES] = "modes",
        [SHOW_FACT_WARNING] = "warning",     [SHOW_FACT_VIEW] = "view",
        [SHOW_FACT_FOLDED] = "folded",       [SHOW_FACT_FOCUS] = "focus",
        [SHOW_FACT_NOTE] = "note",
    };
    struct page_chunk *out = context;
    pm_json_object(&out->json, NULL);
    pm_json_string(&out->json, "kind", words[kind]);
    pm_json_string(&out->json, "text", text);
    pm_json_end(&out->json);
}

static void known_double(struct pm_json *json, const char *key, double number)
{
    if (isnan(number))
        pm_json_null(json, key);
    else
        pm_json_double(json, key, number);
}

static void put_run(struct show_page *page, struct page_chunk *out)
{
    struct pm_json *json = &out->json;
    const struct pm_execution *x = page->data->executions;
    struct pm_view_facts facts = pm_view_facts(&page->first);
    pm_json_object(json, "run");
    if (page->data->n_executions) {
        pm_json_string(json, "name", x->name);
        pm_json_string(json, "command", x->command);
        pm_json_string(json, "cwd", x->cwd);
        pm_json_string(json, "host", x->host);
        show_known_json(json, "start_realtime_ns", x->start_realtime_ns);
    }
    pm_json_string(json, "mode", facts.mode);
    show_known_json(json, "wall_ns", facts.wall_ns);
    show_known_json(json, "user_cpu_ns", facts.user_cpu_ns);
    show_known_json(json, "system_cpu_ns", facts.system_cpu_ns);
    show_known_json(json, "exit_status", facts.exit_status);
    show_known_json(json, "exit_signal", facts.exit_signal);
    pm_json_u64(json, "n_processes", facts.n_processes);
    pm_json_u64(json, "n_threads", facts.n_threads);
    pm_json_i64(json, "n_samples", facts.n_samples);
    known_double(json, "slow_down_pct", facts.slow_down_pct);
    pm_json_bool(json, "slow_down_is_at_most", facts.is_at_most);
    pm_json_i64(json, "n_lost_events", page->first.n_lost_events);
    pm_json_array(json, "facts");
    page->first.options.details = true;
    show_tell_facts(&page->first, true, tell_fact, out);
    pm_json_end(json);
    pm_json_end(json);
}

/* --- metrics --- */

/* Below that, a number of a sampled event is of a few samples; 0: never. */
static double few_below(struct pm_view *view, pm_index metric)
{
    for (uint32_t i = 0; i < view->data->n_counters; i++) {
        const struct pm_event_counter *counter = &view->data->counters[i];
        if (strcmp(counter->metric, view->data->graph->metrics[metric].name) == 0)
            return counter->period > 1 ? (double)counter->period * PM_VIEW_FEW_SAMPLES : 0;
    }
    return 0;
}

static void put_metrics(struct show_page *page, struct page_chunk *out)
{
    static const char *const words[] = {"sum", "average", "minimum", "maximum"};
    const struct pm_graph *graph = page->first.data->graph;
    struct pm_view *view = &page->first;
    pm_json_array(&out->json, "metrics");
    for (pm_index m = 0; m < graph->n_metrics; m++) {
        const struct pm_graph_metric *metric = &graph->metrics[m];
        pm_index shown = view->metrics[0];
        view->metrics[0] = m;
        bool always_few = pm_view_counts_are_few(view, 0, INFINITY);
        view->metrics[0] = shown;
        pm_json_object(&out->json, NULL);
        pm_json_string(&out->json, "name", metric->name);
        pm_json_string(&out->json, "unit", metric->unit);
        pm_json_string(&out->json, "kind", metric->kind);
        pm_json_string(&out->json, "description", metric->description);
        pm_json_string(&out->json, "aggregation", words[metric->aggregation]);
        pm_json_bool(&out->json, "is_measured", pm_view_is_measured(graph, m));
        pm_json_bool(&out->json, "is_uncertain", always_few);
        pm_json_double(&out->json, "few_below", few_below(view, m));
        pm_json_end(&out->json);
    }
    pm_json_end(&out->json);
}

/* --- who ran --- */

static bool put_runners_of(const struct show_page *page, enum pm_runner kind,
                           struct page_chunk *out)
{
    const struct pm_runner_kind *of = pm_runner_kind(kind);
    const struct pm_archive_data *data = page->data;
    struct pm_error ignored = PM_ERROR_INIT;
    struct pm_runners runners = {0};
    char name[PAGE_MAX_NAME];
    bool good = pm_runners_find(data, kind, &ignored, &runners) == PM_OK;
    pm_error_release(&ignored);
    pm_json_object(&out->json, NULL);
    pm_json_string(&out->json, "kind", of->word);
    pm_json_string(&out->json, "plural", of->plural);
    pm_json_array(&out->json, "items");
    for (uint32_t i = 0; good && i < runners.n; i++) {
        struct pm_buf what = PM_BUF_INIT(1 << 16), place = PM_BUF_INIT(1 << 16);
        struct pm_runner_names names = of->names(data, runners.items[i].thread);
        of->label(data, runners.items[i].thread, &what, &place);
        pm_json_object(&out->json, NULL);
        pm_json_string(&out->json, "what", what.data ? what.data : "");
        pm_json_string(&out->json, "place", place.data ? place.data : "");
        show_known_json(&out->json, "number", names.number);
        pm_json_string(&out->json, "name", names.names[0]);
        pm_json_end(&out->json);
        good = !what.failed && !place.failed;
        pm_buf_release(&what);
        pm_buf_release(&place);
    }
    pm_json_end(&out->json);
    pm_json_end(&out->json);
    snprintf(name, sizeof name, "thread_%s", of->word);
    page_column(out, PAGE_DELTAS, name);
    for (uint32_t t = 0; good && t < data->n_threads; t++)
        page_put_delta(out, runners.of_thread[t]);
    pm_runners_release(&runners);
    return good;
}

static bool put_runners(const struct show_page *page, struct page_chunk *out)
{
    static const enum pm_runner kinds[] = {PM_RUNNER_NODE, PM_RUNNER_RANK, PM_RUNNER_PROCESS,
                                           PM_RUNNER_THREAD};
    bool good = true;
    pm_json_array(&out->json, "runners");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && good; i++)
        good = put_runners_of(page, kinds[i], out);
    pm_json_end(&out->json);
    return good;
}

/* --- nouns: those of foci, with what they lie in --- */

static void reach(const struct pm_graph *graph, const struct page_foci *foci, bool *is_reached)
{
    for (uint32_t i = 0; i < foci->sets.n_words; i++)
        for (pm_index n = foci->sets.words[i]; n != PM_NONE && !is_reached[n];
             n = graph->nouns[n].parent)
            is_reached[n] = true;
}

/* Sheets that fold nothing lead to code of system headers, too. */
static bool *reached_nouns(const struct show_page *page)
{
    const struct pm_graph *graph = page->first.data->graph;
    bool *is_reached = pm_alloc_array(graph->n_nouns + 1u, sizeof *is_reached);
    const struct pm_view as_it_is = {.data = page->data};
    struct page_foci foci = {0};
    bool good = is_reached && page_foci_find(&as_it_is, &foci);
    if (good) {
        reach(graph, &page->foci, is_reached);
        reach(graph, &foci, is_reached);
    }
    page_foci_release(&foci);
    if (good)
        return is_reached;
    free(is_reached);
    return NULL;
}

enum noun_column { NOUN_KIND, NOUN_NAME, NOUN_LINKAGE, NOUN_FILE, NOUN_LEVEL, N_NOUN_COLUMNS };

static const char *noun_text(const struct show_page *page, pm_index n, enum noun_column column,
                             struct pm_arena *arena)
{
    const struct pm_graph *graph = page->first.data->graph;
    const struct pm_graph_noun *noun = &graph->nouns[n];
    const char *const texts[N_NOUN_COLUMNS] = {noun->kind, noun->name, noun->linkage, noun->file,
                                               graph->levels[noun->level].name};
    /* The place says it, or the rows of level Base. */
    if (column == NOUN_NAME && (pm_view_noun_is_statement(&page->first, n) ||
                                pm_view_noun_is_machine_code(&page->first, n)))
        return "";
    return pm_text_printable(arena, texts[column]);
}

static bool put_nouns(struct show_page *page, struct page_chunk *out)
{
    static const char *const names[N_NOUN_COLUMNS] = {"noun_kind", "noun_name", "noun_linkage",
                                                      "noun_file", "noun_level"};
    const struct pm_graph *graph = page->first.data->graph;
    struct pm_arena arena = {0};
    bool *is_reached = reached_nouns(page), good = is_reached;
    page_column(out, PAGE_DELTAS, "noun");
    for (pm_index n = 0; good && n < graph->n_nouns; n++)
        if (is_reached[n])
            page_put_delta(out, n);
    for (int column = 0; good && column < N_NOUN_COLUMNS; column++) {
        page_column(out, PAGE_NUMBERS, names[column]);
        for (pm_index n = 0; good && n < graph->n_nouns; n++) {
            if (!is_reached[n])
                continue;
            const char *text = noun_text(page, n, (enum noun_column)column, &arena);
            good = text;
            page_put(out, page_text(out, text));
        }
    }
    page_column(out, PAGE_NUMBERS, "noun_parent"); /* 1 + noun */
    for (pm_index n = 0; good && n < graph->n_nouns; n++)
        if (is_reached[n])
            page_put(out, graph->nouns[n].parent == PM_NONE ? 0 : graph->nouns[n].parent + 1u);
    page_column(out, PAGE_NUMBERS, "noun_line");
    for (pm_index n = 0; good && n < graph->n_nouns; n++)
        if (is_reached[n])
            page_put(out, graph->nouns[n].line_no);
    page_column(out, PAGE_NUMBERS, "noun_column");
    for (pm_index n = 0; good && n < graph->n_nouns; n++)
        if (is_reached[n])
            page_put(out, graph->nouns[n].column_no);
    page_column(out, PAGE_NUMBERS, "noun_is_data");
    for (pm_index n = 0; good && n < graph->n_nouns; n++)
        if (is_reached[n])
            page_put(out, pm_view_noun_is_object(&page->first, n));
    free(is_reached);
    pm_arena_release(&arena);
    return good;
}

/* --- contexts --- */

static void put_times_taken(const struct pm_view *view, struct page_chunk *out)
{
    uint32_t n = view->data->graph->n_contexts;
    const struct {
        const char *name;
        const int64_t *values;
    } columns[] = {{"taken_ns", view->taken_ns},
                   {"timed_ns", view->timed_ns},
                   {"doubt_ns", view->doubt_ns},
                   {"boundary_ns", view->boundary_ns}};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        page_column(out, PAGE_DELTAS, columns[i].name);
        for (pm_index c = 0; c < n; c++)
            page_put_delta(out, columns[i].values[c]);
    }
    page_column(out, PAGE_NUMBERS, "timed_above"); /* 1 + context */
    for (pm_index c = 0; c < n; c++)
        page_put(out, view->timed_above[c] == PM_NONE ? 0 : view->timed_above[c] + 1u);
}

static bool put_contexts(const struct show_page *page, struct page_chunk *out)
{
    const struct pm_graph *graph = page->first.data->graph;
    page_column(out, PAGE_NUMBERS, "context_parent"); /* how far back; 0: a root */
    for (pm_index c = 0; c < graph->n_contexts; c++)
        page_put(out, graph->contexts[c].parent == PM_NONE ? 0 : c - graph->contexts[c].parent);
    if (page->first.taken_ns)
        put_times_taken(&page->first, out);
    page_foci_put(out, &page->foci, graph->n_contexts);
    bool good = true;
    if (page->is_open)
        return good;
    for (pm_index m = 0; m < graph->n_metrics && good; m++)
        good = page_costs_put(out, "", m, &page->costs, graph->n_contexts);
    for (pm_index m = 0; m < graph->n_metrics && good && page->fine_costs.merged.items; m++)
        if (!page_costs_are_equal(&page->costs, &page->fine_costs, m))
            good = page_costs_put(out, "fine_", m, &page->fine_costs, graph->n_contexts);
    return good;
}

static void put_sources(const struct show_page *page, struct page_chunk *out)
{
    pm_json_array(&out->json, "sources");
    for (uint32_t i = 0; i < page->n_files; i++) {
        pm_json_object(&out->json, NULL);
        pm_json_u64(&out->json, "chunk", show_page_n_chunks(page) - show_page_n_sources(page) + i);
        pm_json_string(&out->json, "file", page->files[i]);
        pm_json_end(&out->json);
    }
    pm_json_end(&out->json);
}

static void put_sheets(const struct show_page *page, struct page_chunk *out)
{
    pm_json_array(&out->json, "sheets");
    for (uint32_t i = 0; i < page->n_sheets; i++) {
        const struct show_page_sheet *sheet = &page->sheets[i];
        const struct pm_view_grouping *grouping = pm_view_grouping_by(sheet->by);
        pm_json_object(&out->json, NULL);
        pm_json_u64(&out->json, "chunk", i + 1);
        pm_json_string(&out->json, "level", sheet->level);
        pm_json_string(&out->json, "by", pm_view_by_word(sheet->by));
        pm_json_string(&out->json, "prose", pm_view_by_prose(sheet->by));
        const char *shape = sheet->is_tree ? "tree" : "flat";
        pm_json_string(&out->json, "shape", grouping->where ? "where" : shape);
        pm_json_end(&out->json);
    }
    pm_json_end(&out->json);
}

/* Where it is known when costs were; else why not. */
static void put_times(const struct show_page *page, struct page_chunk *out)
{
    const char *why = pm_view_why_no_times(page->data);
    pm_json_u64(&out->json, "run_ns", (uint64_t)page->first.run_ns);
    pm_json_u64(&out->json, "times_chunk", show_page_times_chunk(page));
    pm_json_string(&out->json, "why_no_times", why ? why : "");
}

enum pm_status page_base_write(struct show_page *page, struct pm_error *err, struct page_chunk *out)
{
    const struct pm_view *view = &page->first;
    if (10u * view->data->graph->n_metrics + 64 > PAGE_MAX_COLUMNS)
        return pm_error_set(err, PM_ERR_LIMIT, "the archive has %u metrics: the page takes %d",
                            view->data->graph->n_metrics, (PAGE_MAX_COLUMNS - 64) / 10);
    pm_json_string(&out->json, "format", "perfmap-page");
    pm_json_u64(&out->json, "version", PAGE_VERSION);
    pm_json_string(&out->json, "perfmap", PERFMAP_VERSION);
    pm_json_string(&out->json, "archive", page->options.archive_path);
    pm_json_bool(&out->json, "folds", page->options.folds);
    pm_json_bool(&out->json, "has_trace", show_timeline_may_be(page->data));
    pm_json_u64(&out->json, "n_contexts", view->data->graph->n_contexts);
    pm_json_u64(&out->json, "n_threads", page->data->n_threads);
    put_run(page, out);
    put_metrics(page, out);
    put_sheets(page, out);
    put_times(page, out);
    put_sources(page, out);
    if (!put_contexts(page, out) || !put_runners(page, out) || !put_nouns(page, out))
        return no_memory(err);
    return PM_OK;
}
