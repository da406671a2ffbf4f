/* perfmap explain: the mapping of a construct of the source. */
#include "cmd/core/archives.h"
#include "cmd/session/adapters.h"
#include "cmd/show/explanation.h"
#include "cmd/show/word.h"

#include "mapping/base/json.h"

#include <stdlib.h>

enum { MAX_EXPLAINED = 8 };

struct explain_request {
    const char *pattern, *archive_path;
    struct show_look look;
    bool json;
};

/* Each kind of construct is seen by the view that has rows of it. */
static enum pm_view_by by_of_noun(const struct pm_view *report, pm_index noun)
{
    return pm_view_noun_is_object(report, noun)      ? PM_VIEW_BY_VARIABLE
           : pm_view_noun_is_statement(report, noun) ? PM_VIEW_BY_STATEMENT
           : pm_view_noun_is_loop(report, noun)      ? PM_VIEW_BY_LOOP
                                                     : PM_VIEW_BY_FUNCTION;
}

static enum pm_status make_views(struct pm_explain_views *views,
                                 const struct pm_archive_data *archive, enum pm_view_by by,
                                 bool is_sampled, struct pm_error *err)
{
    enum pm_status status = PM_OK;
    *views = (struct pm_explain_views){0};
    for (int rule = 0; status == PM_OK && rule < PM_EXPLAIN_RULES; rule++) {
        views->reports[rule].options = (struct pm_view_options){
            .level = "source",
            .by = by,
            .rule = (enum pm_rule)rule,
            .bounds = rule == PM_RULE_MERGE,
            .everything = true,
            .sort = PM_VIEW_SORT_DEFAULT,
        };
        views->reports[rule].archive = archive;
        views->reports[rule].asks_fine = is_sampled;
        status = pm_view_make(&views->reports[rule], err);
    }
    return status;
}

static void release_views(struct pm_explain_views *views)
{
    for (int rule = 0; rule < PM_EXPLAIN_RULES; rule++)
        pm_view_release(&views->reports[rule]);
}

/* Copies of a construct in several binaries are one. */
static bool is_copy(const struct pm_graph *graph, const bool *in, pm_index noun)
{
    const struct pm_graph_noun *nouns = graph->nouns;
    for (pm_index n = 0; n < noun; n++)
        if (in[n] && nouns[n].id && nouns[n].id == nouns[noun].id &&
            nouns[n].line_no == nouns[noun].line_no && !strcmp(nouns[n].name, nouns[noun].name))
            return true;
    return false;
}

/* What code that is mapped to a noun, or to what lies in it, costs; [n_nouns], to be freed.
 * NULL: memory ended. */
static double *weigh_nouns(const struct pm_view *report)
{
    const struct pm_graph *graph = report->data->graph;
    pm_index metric = report->n_metrics ? report->metrics[report->primary] : report->calls_metric;
    double *weights = pm_alloc_array(graph->n_nouns, sizeof *weights);
    for (uint32_t i = 0; weights && i < graph->n_costs; i++) {
        pm_index sentence = graph->contexts[graph->costs[i].context].sentence;
        if (graph->costs[i].metric != metric)
            continue;
        for (uint32_t e = graph->out_first[sentence]; e < graph->out_first[sentence + 1]; e++) {
            pm_index noun = pm_graph_first_noun(graph, graph->mappings[graph->out[e]].destination);
            for (; noun != PM_NONE; noun = graph->nouns[noun].parent)
                weights[noun] += (double)graph->costs[i].value;
        }
    }
    return weights;
}

/* Puts a noun among the first ones by weight; equal ones stay in their order. */
static void insert_target(pm_index *targets, uint32_t n, pm_index noun, const double *weights)
{
    uint32_t at = n < MAX_EXPLAINED ? n : MAX_EXPLAINED;
    while (at > 0 && weights[targets[at - 1]] < weights[noun])
        at--;
    if (at == MAX_EXPLAINED)
        return;
    uint32_t n_after = (n < MAX_EXPLAINED ? n : MAX_EXPLAINED - 1) - at;
    memmove(targets + at + 1, targets + at, n_after * sizeof *targets);
    targets[at] = noun;
}

/* What a pattern names at the level, each construct once, those that cost most first; the number of
 * all comes back. */
static enum pm_status find_targets(const struct pm_view *report,
                                   const struct explain_request *request, struct pm_error *err,
                                   pm_index *ret_targets, uint32_t *ret_n)
{
    bool *in, is_file = !strncmp(request->pattern, "file:", 5);
    enum pm_status status = pm_view_find_named(report, request->pattern, err, &in);
    if (status != PM_OK)
        return status;
    const struct pm_graph *graph = report->data->graph;
    uint32_t n = 0;
    double *weights = weigh_nouns(report);
    for (pm_index noun = 0; weights && noun < graph->n_nouns; noun++) {
        bool at_source = graph->nouns[noun].level == report->level &&
                         !pm_view_noun_is(report, noun, "file") && !is_copy(graph, in, noun);
        bool explains = in[noun] && !is_file && (at_source || pm_word_is(report, noun));
        if (explains)
            insert_target(ret_targets, n, noun, weights);
        n += explains;
    }
    bool failed = !weights;
    free(in);
    free(weights);
    *ret_n = n;
    if (failed)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    return n ? PM_OK
             : pm_error_set(err, PM_ERR_NOT_FOUND,
                            "'%s' names no construct of the source (a file has no mapping of its "
                            "own: 'perfmap annotate' shows it)",
                            request->pattern);
}

struct out {
    struct show_term term;
    struct pm_json json;
    bool is_json, any;
};

/* The targets of one kind: where one of them is not timed, samples tell. */
static enum pm_status explain_kind(const struct pm_view *first, enum pm_view_by by,
                                   const pm_index *targets, const enum pm_view_by *bys, uint32_t n,
                                   struct out *out, struct pm_error *err)
{
    struct pm_explain_views views;
    struct pm_late_maps maps = {0};
    bool is_sampled = false;
    for (uint32_t i = 0; i < n; i++)
        is_sampled |= bys[i] == by && pm_view_noun_lacks_sleds(first, targets[i]);
    enum pm_status status = make_views(&views, first->archive, by, is_sampled, err);
    if (status == PM_OK)
        status = pm_late_maps_open(&maps, views.reports[0].data, err);
    for (uint32_t i = 0; status == PM_OK && i < n; i++) {
        struct pm_explanation x;
        if (bys[i] != by)
            continue;
        status = pm_explanation_collect(&x, &views, targets[i], &maps, err);
        if (status == PM_OK && out->is_json)
            show_explanation_json(&x, &out->json);
        else if (status == PM_OK && ((out->any && fputc('\n', stdout) == EOF) ||
                                     !show_explanation(&x, &out->term, stdout)))
            status = ferror(stdout)
                         ? PM_OK
                         : pm_error_set(err, PM_ERR_MEMORY,
                                        "out of memory"); /* a full disk is told at the end */
        out->any = true;
        pm_explanation_release(&x);
    }
    if (maps.items)
        pm_late_maps_release(&maps);
    release_views(&views);
    return status;
}

/* Why there is no map of a binary whose constructs were asked for, once for each. */
static enum pm_status tell_problems(const struct pm_view *report, struct out *out,
                                    struct pm_error *err)
{
    struct pm_late_maps maps;
    enum pm_status status = pm_late_maps_open(&maps, report->data, err);
    for (uint32_t b = 0; status == PM_OK && b < report->data->n_binaries; b++)
        if (*maps.items[b].problem && out->is_json) {
            pm_json_object(&out->json, NULL);
            pm_json_string(&out->json, "binary", maps.items[b].path);
            pm_json_string(&out->json, "problem", maps.items[b].problem);
            pm_json_end(&out->json);
        } else if (*maps.items[b].problem)
            cmd_talk("warning: '%s': %s: only its sampled code is known", maps.items[b].path,
                     maps.items[b].problem);
    if (maps.items)
        pm_late_maps_release(&maps);
    return status;
}

/* The archive as questions see it: with what was done on behalf of what. */
static enum pm_status load_for_words(struct pm_error *err, struct pm_view *report)
{
    static enum pm_status (*const steps[])(struct pm_view *, struct pm_error *) = {
        pm_view_choose_level, pm_view_choose_metrics, pm_view_find_untimed, pm_view_compensate,
        pm_view_naming_start};
    enum pm_status status = pm_view_load(
        report, PM_ARCHIVE_LOAD_ALL | PM_ARCHIVE_LOAD_CAUSES | PM_ARCHIVE_LOAD_MERGED, err);
    for (size_t i = 0; i < sizeof steps / sizeof *steps && status == PM_OK; i++)
        status = steps[i](report, err);
    return status;
}

static const char *adapter_of(const struct pm_view *view, pm_index noun)
{
    const struct pm_graph *graph = view->data->graph;
    return session_adapter_of_level(graph->levels[graph->nouns[noun].level].name);
}

static enum pm_status explain_words(const struct explain_request *request, const pm_index *targets,
                                    const bool *is_word, uint32_t n, struct out *out,
                                    struct pm_error *err)
{
    struct pm_view report = {.options = {.archive_path = request->archive_path, .level = "source"}};
    enum pm_status status = PM_OK;
    for (uint32_t i = 0; status == PM_OK && i < n; i++) {
        if (!is_word[i])
            continue;
        if (!report.data)
            status = load_for_words(err, &report);
        if (status != PM_OK)
            break;
        const char *adapter = adapter_of(&report, targets[i]);
        if (request->json)
            status = show_word_json(&report, targets[i], adapter, &out->json, err);
        else {
            if (out->any)
                putchar('\n');
            out->any = true;
            status = show_word(&report, targets[i], adapter, &out->term, stdout, err);
        }
    }
    pm_view_release(&report);
    return status;
}

static enum pm_status explain(const struct explain_request *request, struct pm_error *err)
{
    pm_index targets[MAX_EXPLAINED];
    enum pm_view_by bys[MAX_EXPLAINED];
    bool is_word[MAX_EXPLAINED];
    uint32_t n = 0, n_all = 0;
    struct out out = {.term = show_term_of(stdout, &request->look), .is_json = request->json};
    struct pm_view first = {.options = {.archive_path = request->archive_path,
                                        .level = "source",
                                        .by = PM_VIEW_BY_STATEMENT,
                                        .everything = true,
                                        .sort = PM_VIEW_SORT_DEFAULT}};
    enum pm_status status = pm_view_make(&first, err);
    if (status == PM_OK)
        status = find_targets(&first, request, err, targets, &n_all);
    n = n_all < MAX_EXPLAINED ? n_all : MAX_EXPLAINED;
    for (uint32_t i = 0; status == PM_OK && i < n; i++) {
        is_word[i] = pm_word_is(&first, targets[i]);
        bys[i] = is_word[i] ? PM_VIEW_BY_LINE : by_of_noun(&first, targets[i]); /* no view's */
    }
    if (status == PM_OK && request->json) {
        pm_json_init(&out.json, stdout);
        pm_json_object(&out.json, NULL);
        pm_json_string(&out.json, "format", "perfmap-explain");
        pm_json_u64(&out.json, "version", 1);
        pm_json_string(&out.json, "archive", request->archive_path);
        pm_json_string(&out.json, "pattern", request->pattern);
        pm_json_u64(&out.json, "n_constructs", n_all);
        pm_json_array(&out.json, "problems");
    }
    if (status == PM_OK)
        status = tell_problems(&first, &out, err);
    if (request->json && status == PM_OK) {
        pm_json_end(&out.json);
        pm_json_array(&out.json, "constructs");
    }
    static const enum pm_view_by kinds[] = {PM_VIEW_BY_STATEMENT, PM_VIEW_BY_LOOP,
                                            PM_VIEW_BY_FUNCTION, PM_VIEW_BY_VARIABLE};
    for (size_t k = 0; status == PM_OK && k < sizeof kinds / sizeof *kinds; k++)
        for (uint32_t i = 0; i < n; i++)
            if (bys[i] == kinds[k]) {
                status = explain_kind(&first, kinds[k], targets, bys, n, &out, err);
                break;
            }
    if (request->json && status == PM_OK) {
        pm_json_end(&out.json);
        pm_json_array(&out.json, "words");
    }
    if (status == PM_OK)
        status = explain_words(request, targets, is_word, n, &out, err);
    if (status == PM_OK && request->json) {
        pm_json_end(&out.json);
        pm_json_end(&out.json);
        (void)pm_json_done(&out.json); /* a failed write shows on the stream */
    } else if (status == PM_OK && n_all > n) {
        printf("\n%u more constructs of that name: be more exact\n", n_all - n);
    }
    pm_view_release(&first);
    return status;
}

static int explain_main(struct cmd_parse *parse)
{
    struct explain_request request = {0};
    for (int key; (key = cmd_next(parse)) != CMD_END;)
        if (!cmd_take_look(parse, key, &request.look))
            request.json = true;
    if (parse->failed)
        return CMD_USAGE;
    char *archive;
    if (!cmd_archive_operands(parse, "a construct (heat.c:42, array:u, func:sweep, loop:heat.c:40)",
                              false, &request.pattern, &archive))
        return CMD_USAGE;
    request.archive_path = archive;
    struct pm_error err = PM_ERROR_INIT;
    enum pm_status status = explain(&request, &err);
    if (status == PM_ERR_FORMAT)
        cmd_add_file_hint(archive, CMD_FILE_ARCHIVE, &err);
    free(archive);
    return status == PM_OK ? cmd_stdout_done(parse, CMD_DONE) : cmd_fail(parse, &err);
}

static const struct cmd_option explain_options[] = {
    {CMD_KEY_JSON, "json", NULL, "as JSON; docs/formats/report-json.md has the schema"},
    CMD_LOOK_OPTIONS,
    {0}};

static const char *const explain_usage[] = {"explain [OPTION]... CONSTRUCT [ARCHIVE]", NULL};

static const struct cmd_example explain_examples[] = {
    {"perfmap explain heat.c:42 heat.perfmap",
     "which machine code implements line 42, and what else does that code implement?"},
    {"perfmap explain array:u heat.perfmap", "which code touches u?"},
    {NULL, NULL}};

const struct cmd cmd_explain = {
    .name = "explain",
    .summary = "show how a construct of the source is mapped to machine code",
    .usage = explain_usage,
    .description =
        "Shows the mapping itself. CONSTRUCT is named as for --focus of 'perfmap "
        "report': heat.c:42, statement:heat.c:42, loop:heat.c:40, "
        "func:sweep, array:u, variable:sum, query:SELECT*, or a name. Without ARCHIVE, the only "
        "*.perfmap file in the current folder is taken.\n"
        "\n"
        "For each construct: what it cost alone, what it cost together with others that "
        "the same code implements and why the code is one, "
        "and what each rule makes of that; the machine code that was sampled; and, as "
        "long as the binary is the one that ran, all ranges "
        "of code that implement it, with hot and cold parts, clones and inlined copies.",
    .options = explain_options,
    .examples = explain_examples,
    .environment = cmd_look_environment,
    .main = explain_main,
};
