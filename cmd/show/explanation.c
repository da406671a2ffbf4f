/* The mapping of one construct, for people. */
#include "explanation.h"

#include "mapping/view/groupings.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_CODES = 20, MAX_RANGES = 40, MAX_SETS = 10, NAME_BYTES = 1 << 16 };

struct page {
    const struct pm_explanation *x;
    struct pm_view *report; /* rule merge */
    struct show_term *term;
    FILE *out;
    double divisor;
    int decimals;
    const char *unit;
    bool failed;
};

static const char *printable(struct page *page, const char *text)
{
    const char *copy = text ? pm_text_printable(&page->report->arena, text) : NULL;
    page->failed |= text && !copy;
    return copy ? copy : "";
}

/* A line of text, cut where the terminal ends. Takes buf. */
static void put(struct page *page, struct pm_buf *buf)
{
    char *copy = buf->failed
                     ? NULL
                     : pm_arena_strndup(&page->report->arena, buf->len ? buf->data : "", buf->len);
    const char *text = pm_view_short_name(&page->report->arena, printable(page, copy));
    page->failed |= !copy;
    show_put_cut(page->term, page->out, text,
                 page->term->width ? page->term->width : pm_text_width(text), false, false);
    fputc('\n', page->out);
    pm_buf_clear(buf);
}

static double share_pct(const struct page *page, int64_t own)
{
    double total = (double)pm_explanation_own(page->report, &page->report->total);
    return total != 0 ? 100 * (double)own / total : 0;
}

static void add_cost(const struct page *page, struct pm_buf *line, int64_t own)
{
    pm_buf_printf(line, "%10.*f%s%s", page->decimals, (double)own / page->divisor,
                  *page->unit ? " " : "", page->unit);
}

/* --- the construct --- */

/* Names of statements and loops are their places: "src/heat.c:42:9". */
static void add_title_name(const struct pm_view *report, const struct pm_graph_noun *noun,
                           struct pm_buf *line)
{
    size_t len = strlen(noun->file);
    if (len && !strncmp(noun->name, noun->file, len) && noun->name[len] == ':')
        pm_buf_printf(line, "%s%s", pm_view_short_file(report, noun->file), noun->name + len);
    else
        pm_buf_add_str(line, noun->name);
}

static void add_in_loop(const struct pm_view *report, const struct pm_graph_noun *loop,
                        struct pm_buf *line)
{
    pm_buf_add_str(line, ", in loop ");
    add_title_name(report, loop, line);
}

static void put_title(struct page *page, struct pm_buf *line)
{
    const struct pm_view *report = page->report;
    const struct pm_graph *graph = report->data->graph;
    const struct pm_graph_noun *noun = &graph->nouns[page->x->noun];
    add_title_name(report, noun, line);
    pm_buf_printf(line, "  %s", *noun->kind ? noun->kind : "noun");
    if (*noun->type)
        pm_buf_printf(line, " of type %s", noun->type);
    for (pm_index up = noun->parent; up != PM_NONE; up = graph->nouns[up].parent)
        if (pm_view_noun_is_loop(report, up))
            add_in_loop(report, &graph->nouns[up], line);
        else if (pm_view_noun_is_code(report, up))
            pm_buf_printf(line, ", in %s", graph->nouns[up].name);
    if (*noun->file && noun->line_no && !strstr(noun->name, pm_view_base_name(noun->file)))
        pm_buf_printf(line, " (%s:%u)", pm_view_short_file(report, noun->file), noun->line_no);
    fputs(page->term->color ? SHOW_BOLD : "", page->out);
    put(page, line);
    fputs(page->term->color ? SHOW_RESET : "", page->out);
}

/* --- costs under each rule --- */

static void add_reasons(const struct pm_view_row *row, struct pm_buf *line)
{
    for (int i = 0; i < PM_VIEW_MAX_REASONS && row->traits.reasons[i]; i++)
        pm_buf_printf(line, "%s%s%s", i ? " and " : ": ",
                      row->traits.is_inferred[i] ? "probably " : "", row->traits.reasons[i]);
}

static const char *what_is_shared(struct page *page, const struct pm_view_row *row)
{
    struct pm_view_row *named = (struct pm_view_row *)row;
    pm_view_name_row(page->report, named);
    return pm_view_grouping(page->report)->is_named || !*named->place ? named->what : named->place;
}

/* False: nothing of its code is another's, too. */
static bool put_shared(struct page *page, struct pm_buf *line)
{
    const struct pm_explanation *x = page->x;
    uint32_t n = 0;
    for (uint32_t r = 0; r < page->report->n_rows; r++) {
        const struct pm_view_row *row = &page->report->rows[r];
        if (row->kind != PM_VIEW_ROW_SET || !pm_explanation_row_has(row, x->group) ||
            n++ >= MAX_SETS)
            continue;
        add_cost(page, line, pm_explanation_own(page->report, row));
        pm_buf_printf(line, "  %5.1f %%  as one of %s",
                      share_pct(page, pm_explanation_own(page->report, row)),
                      what_is_shared(page, row));
        if (!pm_view_grouping(page->report)->is_named)
            add_reasons(row, line);
        put(page, line);
    }
    if (n > MAX_SETS) {
        pm_buf_printf(line, "            and %u more sets that it is one of", n - MAX_SETS);
        put(page, line);
    }
    return n > 0;
}

static void put_costs(struct page *page, struct pm_buf *line)
{
    const struct pm_explanation *x = page->x;
    const struct pm_view *report = page->report;
    const char *metric = !report->n_metrics ? "calls"
                         : report->metrics[report->primary] == report->cpu_metric
                             ? pm_view_sampled_word(page->report)
                         : report->metrics[report->primary] == report->wall_metric ? "wall time"
                                                                                   : "cost";
    pm_buf_printf(line, "  %s, of %.*f%s%s in the whole run", metric, page->decimals,
                  (double)pm_explanation_own(report, &report->total) / page->divisor,
                  *page->unit ? " " : "", page->unit);
    put(page, line);
    if (x->group == PM_NONE || !x->n_codes) {
        pm_buf_add_str(line, "         0  nothing that was measured is mapped to it");
        put(page, line);
        return;
    }
    int64_t own = pm_explanation_own(report, x->alone);
    add_cost(page, line, own);
    pm_buf_printf(line, "  %5.1f %%  alone", share_pct(page, own));
    put(page, line);
    if (pm_explanation_is_open(x)) {
        pm_buf_add_str(
            line, "  its address goes to functions that are not known, or is not followed, or "
                  "copies of large objects or pointers to members are not followed to it: what is "
                  "done there is missing");
        put(page, line);
    }
    if (!put_shared(page, line)) /* then every rule says the same */
        return;
    for (uint32_t r = 0; r < report->n_rows && report->n_metrics; r++) {
        const struct pm_view_row *row = &report->rows[r];
        const struct pm_bounds *bounds = &row->values[report->primary].bounds;
        if (!row->has_bounds || row->n_groups != 1 || row->groups[0] != x->group)
            continue;
        add_cost(page, line, bounds->at_least);
        pm_buf_printf(line, "  %5.1f %%  --bounds at least", share_pct(page, bounds->at_least));
        put(page, line);
        if (row->traits.data_is_at_least)
            continue;
        add_cost(page, line, bounds->at_most);
        pm_buf_printf(line, "  %5.1f %%  --bounds at most", share_pct(page, bounds->at_most));
        put(page, line);
    }
    struct page closed = *page;
    closed.report = (struct pm_view *)&x->views->reports[PM_RULE_CLOSED];
    if (x->closed) {
        own = pm_explanation_own(closed.report, x->closed);
        add_cost(page, line, own);
        pm_buf_printf(line, "  %5.1f %%  --rule closed%s%s", share_pct(page, own),
                      x->closed->n_groups > 1 ? ": " : "",
                      x->closed->n_groups > 1 ? what_is_shared(&closed, x->closed) : "");
        put(page, line);
    }
    own = pm_explanation_own(&x->views->reports[PM_RULE_SPLIT], x->split);
    add_cost(page, line, own);
    pm_buf_printf(line, "  %5.1f %%  --rule split", share_pct(page, own));
    put(page, line);
}

/* --- code --- */

/* Functions that were inlined one into the other around a piece of code, innermost first. What was
 * inlined further up only called the function that has the code. */
static void add_inline_chain(const struct pm_view *report, pm_index context, struct pm_buf *line)
{
    const struct pm_graph *graph = report->data->graph;
    for (pm_index c = context; c != PM_NONE; c = graph->contexts[c].parent) {
        pm_index noun = pm_graph_first_noun(graph, graph->contexts[c].sentence);
        bool is_inlined = graph->contexts[c].flags & PM_CONTEXT_INLINED;
        if (!is_inlined && noun != PM_NONE && !strcmp(graph->nouns[noun].kind, "symbol"))
            return;
        if (!is_inlined || noun == PM_NONE)
            continue;
        const char *name = graph->nouns[noun].name,
                   *slash = strchr(name, '/'); /* symbol/function */
        pm_buf_printf(line, ", inlined %s", slash ? slash + 1 : name);
    }
}

/* Readable, for people. */
static void add_code(struct pm_buf *line, const char *before, const char *name)
{
    pm_buf_add_str(line, before);
    pm_view_add_code_name(name, line);
}

void show_add_code_name(const struct pm_view *report, pm_index sentence, struct pm_buf *line)
{
    const struct pm_graph *graph = report->data->graph;
    const struct pm_graph_sentence *s = &graph->sentences[sentence];
    for (uint32_t i = 0; i < s->n_nouns; i++)
        add_code(line, pm_view_code_separator(graph, sentence, i),
                 graph->nouns[graph->sentence_nouns[s->first_noun + i]].name);
}

static void add_address(const struct pm_view *report, pm_index sentence, struct pm_buf *line)
{
    const struct pm_graph *graph = report->data->graph;
    pm_index noun = pm_graph_first_noun(graph, sentence);
    if (noun != PM_NONE && *report->data->addresses[noun])
        pm_buf_printf(line, "  %s %s", pm_view_base_name(graph->nouns[noun].binary),
                      report->data->addresses[noun]);
}

static void put_codes(struct page *page, struct pm_buf *line)
{
    const struct pm_explanation *x = page->x;
    if (!x->n_codes)
        return;
    pm_buf_add_str(line, "  measured code that is mapped to it");
    put(page, line);
    for (size_t i = 0; i < x->n_codes && i < MAX_CODES; i++) {
        const struct pm_explained_code *code = &x->codes[i];
        const struct pm_mapping *m = code->mapping;
        add_cost(page, line, code->own);
        pm_buf_add_str(line, "  ");
        show_add_code_name(page->report, code->sentence, line);
        add_address(page->report, code->sentence, line);
        if (page->report->samples_metric != PM_NONE)
            pm_buf_printf(line, ", %lld sample%s", (long long)code->n_samples,
                          code->n_samples == 1 ? "" : "s");
        add_inline_chain(page->report, code->context, line);
        if (m && *m->reason)
            pm_buf_printf(line, ", %s", m->reason);
        if (m && strcmp(m->origin, "compiler") != 0)
            pm_buf_printf(line, " (%s)", m->origin);
        put(page, line);
    }
    if (x->n_codes > MAX_CODES) {
        pm_buf_printf(line, "            and %zu more: perfmap report --level base --focus",
                      x->n_codes - MAX_CODES);
        put(page, line);
    }
}

static void add_sites(const struct pm_view *report, const struct pm_code_site *site,
                      struct pm_buf *line)
{
    for (; site; site = site->parent) {
        const char *name = pm_explanation_name(report, site->function),
                   *file = pm_explanation_name(report, site->call.file);
        pm_buf_printf(line, ", inlined %s", name ? name : "a function");
        if (site->call.line_no)
            pm_buf_printf(line, " at %s:%u", file ? pm_view_base_name(file) : "line",
                          site->call.line_no);
    }
}

static void add_also(const struct pm_view *report, const struct pm_explained_range *range,
                     struct pm_buf *line)
{
    const struct pm_code_tuple *tuple = range->range->tuple;
    if (range->also)
        pm_buf_printf(line, ", %s%s", range->also->inferred ? "probably " : "",
                      pm_map_reason_text(range->also->reason));
    for (uint32_t i = 0; i < tuple->n_also; i++) {
        const struct pm_code_also *also = &tuple->also[i];
        const char *file = pm_explanation_name(report, also->place.file);
        if (also != range->also)
            pm_buf_printf(line, ", also %s:%u (%s%s)", file ? pm_view_base_name(file) : "line",
                          also->place.line_no, also->inferred ? "probably " : "",
                          pm_map_reason_text(also->reason));
    }
}

static void put_ranges(struct page *page, struct pm_buf *line)
{
    const struct pm_explanation *x = page->x;
    uint64_t size_bytes = 0;
    for (size_t i = 0; i < x->n_ranges; i++)
        size_bytes += x->ranges[i].size_bytes;
    if (!x->n_ranges)
        return;
    pm_buf_printf(line, "  all of its code: %llu bytes in %zu range%s",
                  (unsigned long long)size_bytes, x->n_ranges, x->n_ranges == 1 ? "" : "s");
    put(page, line);
    pm_buf_add_str(line, "    ");
    if (pm_vectors_say(&x->vectors, pm_view_noun_is_loop(page->report, x->noun), line))
        put(page, line);
    pm_buf_clear(line);
    for (size_t i = 0; i < x->n_ranges && i < MAX_RANGES; i++) {
        const struct pm_explained_range *range = &x->ranges[i];
        const char *symbol = pm_explanation_name(page->report, range->range->block->symbol);
        uint64_t address = range->range->address;
        pm_buf_printf(line, "    %s 0x%llx-0x%llx  ", pm_view_base_name(range->map->path),
                      (unsigned long long)address,
                      (unsigned long long)(address + range->size_bytes));
        add_code(line, "", symbol ? symbol : "");
        if (range->range->block->is_cold)
            pm_buf_add_str(line, ", cold part");
        add_sites(page->report, range->range->tuple->site, line);
        add_also(page->report, range, line);
        put(page, line);
    }
    if (x->n_ranges > MAX_RANGES) {
        pm_buf_printf(line, "    and %zu more ranges: --json has them all",
                      x->n_ranges - MAX_RANGES);
        put(page, line);
    }
}

/* --- what it touches, or what touches it --- */

/* Where blocks of the heap came from that the pointer was assigned. */
static void put_heap(struct page *page, struct pm_buf *line)
{
    const struct pm_graph *graph = page->report->data->graph;
    pm_index last = PM_NONE;
    for (uint32_t m = 0; m < graph->n_mappings; m++) {
        const struct pm_mapping *mapping = &graph->mappings[m];
        pm_index heap = pm_graph_first_noun(graph, mapping->destination);
        if (pm_graph_first_noun(graph, mapping->source) != page->x->noun || heap == PM_NONE ||
            !pm_view_noun_is(page->report, heap, "heap") || heap == last)
            continue; /* reading and writing is one */
        last = heap;
        pm_buf_printf(line, "%s%s:%u%s", line->len ? ", " : "  heap blocks allocated at ",
                      pm_view_short_file(page->report, graph->nouns[heap].file),
                      graph->nouns[heap].line_no,
                      strcmp(mapping->origin, "run") ? " (inferred)" : "");
    }
    if (line->len)
        put(page, line);
}

static void put_objects(struct page *page, struct pm_buf *line)
{
    const struct pm_explanation *x = page->x;
    const struct pm_view *report = page->report;
    const struct pm_graph *graph = report->data->graph;
    if (pm_view_noun_is_object(report, x->noun)) {
        put_heap(page, line);
        return;
    }
    bool *seen = pm_alloc_array(graph->n_sentences, sizeof *seen);
    page->failed |= !seen;
    for (size_t i = 0; seen && i < x->n_codes; i++)
        for (uint32_t e = graph->out_first[x->codes[i].sentence];
             e < graph->out_first[x->codes[i].sentence + 1]; e++) {
            pm_index to = graph->mappings[graph->out[e]].destination,
                     noun = pm_graph_first_noun(graph, to);
            if (seen[to] || noun == PM_NONE || !pm_view_noun_is_object(report, noun))
                continue;
            pm_buf_printf(line, "%s%s %s", line->len ? ", " : "  its code: ",
                          graph->verbs[graph->sentences[to].verb].name, graph->nouns[noun].name);
            seen[to] = true;
        }
    free(seen);
    if (line->len)
        put(page, line);
}

bool show_explanation(const struct pm_explanation *x, struct show_term *term, FILE *out)
{
    struct pm_view *report = (struct pm_view *)&x->views->reports[PM_RULE_MERGE];
    const struct pm_graph_metric *metric =
        report->n_metrics ? &report->data->graph->metrics[report->metrics[report->primary]] : NULL;
    bool is_time = metric && !strcmp(metric->unit, "ns");
    struct page page = {.x = x,
                        .report = report,
                        .term = term,
                        .out = out,
                        .divisor = is_time ? 1e6 : 1,
                        .decimals = is_time ? 3 : 0,
                        .unit = is_time ? "ms" : ""};
    struct pm_buf line = PM_BUF_INIT(NAME_BYTES);
    put_title(&page, &line);
    put_costs(&page, &line);
    put_codes(&page, &line);
    put_ranges(&page, &line);
    put_objects(&page, &line);
    bool is_code =
        pm_view_noun_is_statement(report, x->noun) || pm_view_noun_is_loop(report, x->noun);
    if (!x->n_ranges && !x->n_codes && x->is_covered && is_code) {
        pm_buf_add_str(&line, "  no code: the compiler removed it, or made it a part of others");
        put(&page, &line);
    }
    pm_buf_release(&line);
    return !page.failed;
}
