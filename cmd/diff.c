/* perfmap diff */
#include "diff.h"

#include "cmd/core/archives.h"
#include "cmd/show/diff.h"
#include "cmd/show/search.h"
#include "cmd/show/when.h"
#include "mapping/compare/build.h"
#include "mapping/view/groupings.h"

#include <stdlib.h>
#include <unistd.h>

enum {
    OPT_OVERLAY = DIFF_OPT_OTHERS,
    OPT_MIN,
    OPT_MAP,
    OPT_NORMALISE,
    OPT_LIVE,
    OPT_EVERY,
    OPT_FOR,
    OPT_SEARCH,
    OPT_OVER,
    OPT_SUMMARY,
    OPT_ALL,
    OPT_WHEN,
    OPT_PROGRESS,
    OPT_BINS,
    OPT_FAIL,
    OPT_LIMIT,
    OPT_HTML,
    OPT_CSV
};

enum { TABLE_LIMIT = 20, DIFF_WORSE = 3, MOST_MAPS = 33, MAP_BYTES = 1000 };

struct diff_request {
    struct pm_compare_options options;
    struct show_diff_options show;
    struct show_look look;
    struct diff_live live;
    const char *search;                  /* the metric to search by */
    struct pm_build_map maps[MOST_MAPS]; /* the last is free */
    char map_texts[MOST_MAPS][MAP_BYTES];
    enum pm_runner over;
    enum pm_search_summary summary;
    const char *html; /* the page, into that file; NULL: text */
    const char *progress;
    uint64_t n_bins;
    bool limit_given, csv, fails, by_given, summary_given, all, when, level_given;
    int n_behind; /* "--", of the operands; -1: there is none */
};

static void take_min(struct cmd_parse *parse, struct diff_request *request)
{
    char *end;
    request->options.least_pct = strtod(parse->value, &end);
    if (end == parse->value || *end || !(request->options.least_pct >= 0) ||
        request->options.least_pct > 1000)
        cmd_usage_error(parse, "option '--min' takes a number of percent, not '%.200s'",
                        parse->value);
}

static void take_map(struct cmd_parse *parse, struct diff_request *request)
{
    struct pm_compare_options *options = &request->options;
    const char *equals = strchr(parse->value, '=');
    char *text = request->map_texts[options->n_maps];
    size_t length = strlen(parse->value);
    if (!equals || length < 2 || strchr(equals + 1, '='))
        cmd_usage_error(parse,
                        "option '--map' takes two functions, OLD=NEW, of which one may be left "
                        "out, not '%.200s'; names with '=' as the linker has them",
                        parse->value);
    else if (options->n_maps + 1 == MOST_MAPS || length >= MAP_BYTES)
        cmd_usage_error(parse, "option '--map' can be given %d times, with %d letters each",
                        MOST_MAPS - 1, MAP_BYTES - 1);
    if (parse->failed)
        return;
    memcpy(text, parse->value, length + 1);
    text[equals - parse->value] = 0;
    request->maps[options->n_maps++] =
        (struct pm_build_map){text, text + (equals - parse->value) + 1};
    options->maps = request->maps;
}

static void take_live(struct cmd_parse *parse, struct diff_request *request)
{
    uint64_t pid;
    if (!cmd_number(parse, INT32_MAX, &pid))
        return;
    if (request->live.n == 2)
        cmd_usage_error(parse, "two programs that run can be compared, not three");
    else
        request->live.pids[request->live.n++] = pid;
    request->options.is_normalised = true;
}

/* Of time; false: it is another one. */
static bool take_time_option(struct cmd_parse *parse, int key, struct diff_request *request)
{
    switch (key) {
    case OPT_NORMALISE:
        request->options.is_normalised = true;
        break;
    case OPT_LIVE:
        take_live(parse, request);
        break;
    case OPT_EVERY:
        cmd_take_ms(parse, &request->live.every_ms);
        break;
    case OPT_FOR:
        cmd_take_ms(parse, &request->live.for_ms);
        break;
    default:
        return cmd_take_interval(parse, key, &request->options.view.from,
                                 &request->options.view.to);
    }
    return true;
}

/* Of --search and --when; false: it is another one. */
static bool take_search_option(struct cmd_parse *parse, int key, struct diff_request *request)
{
    switch (key) {
    case OPT_SEARCH:
        request->search = parse->value;
        break;
    case OPT_OVER:
        request->over = parse->choice ? PM_RUNNER_THREAD : PM_RUNNER_RANK;
        break;
    case OPT_SUMMARY:
        request->summary = (enum pm_search_summary)parse->choice;
        request->summary_given = true;
        break;
    case OPT_ALL:
        request->all = true;
        break;
    case OPT_WHEN:
        request->when = true;
        break;
    case OPT_PROGRESS:
        request->progress = parse->value;
        break;
    case OPT_BINS:
        cmd_number(parse, PM_WHEN_MOST_BINS, &request->n_bins);
        break;
    default:
        return false;
    }
    return true;
}

/* What is written, and how it is to look. */
static void take_output(struct cmd_parse *parse, struct diff_request *request, int key)
{
    switch (key) {
    case OPT_LIMIT:
        request->limit_given = cmd_number(parse, UINT32_MAX, &request->show.limit);
        break;
    case OPT_HTML:
        request->html = parse->value;
        break;
    case OPT_CSV:
        request->csv = true;
        break;
    default:
        cmd_take_look(parse, key, &request->look);
    }
}

static bool read_options(struct cmd_parse *parse, struct diff_request *request)
{
    for (int key; (key = cmd_next(parse)) != CMD_END;) {
        request->by_given |= key == DIFF_OPT_BY;
        request->level_given |= key == DIFF_OPT_LEVEL;
        switch (key) {
        case OPT_OVERLAY:
            cmd_take_overlay(parse, &request->options.view);
            break;
        case OPT_MIN:
            take_min(parse, request);
            break;
        case OPT_MAP:
            take_map(parse, request);
            break;
        case OPT_FAIL:
            request->fails = true;
            break;
        default:
            if (!diff_take_row_option(parse, key, &request->options) &&
                !take_search_option(parse, key, request) && !take_time_option(parse, key, request))
                take_output(parse, request, key);
        }
    }
    return !parse->failed;
}

/* How many operands stand behind "--", which ends the options, too. Reading options moves it. */
static int n_behind_dashes(const struct cmd_parse *parse)
{
    for (int i = 0; i < parse->argc; i++)
        if (!strcmp(parse->argv[i], "--"))
            return parse->argc - i - 1;
    return -1;
}

/* Without a word of --summary and "--", the ranks of each run are compared with each other. */
static bool is_within(const struct cmd_parse *parse, const struct diff_request *request)
{
    return request->over && !request->summary_given && request->n_behind < 0 && parse->n_operands;
}

/* What stands behind "--" are archives, whatever they are called. */
static bool refuse_options_behind(struct cmd_parse *parse, const struct diff_request *request)
{
    for (int i = parse->n_operands - request->n_behind; i < parse->n_operands; i++)
        if (request->n_behind > 0 && !strncmp(parse->operands[i], "--", 2) &&
            access(parse->operands[i], F_OK) != 0)
            cmd_usage_error(parse, "option '%.100s' must stand before '--', which ends the options",
                            parse->operands[i]);
    return !parse->failed;
}

/* A -- B, or one of each; with --over all are one side, whose ranks or threads are compared. */
static bool find_sides(struct cmd_parse *parse, const struct diff_request *request,
                       struct pm_compare_input ret_inputs[2])
{
    int n = parse->n_operands, n_behind = request->n_behind;
    if (is_within(parse, request)) {
        ret_inputs[0] = ret_inputs[1] =
            (struct pm_compare_input){(const char *const *)parse->operands, (uint32_t)n};
        return true;
    }
    if (request->live.n) {
        *ret_inputs = (struct pm_compare_input){(const char *const *)parse->operands, (uint32_t)n};
        return true;
    }
    if (n_behind < 0 && n == 2)
        n_behind = 1;
    if (n_behind < 0)
        cmd_usage_error(parse, n < 2 ? "two archives are compared, or several on each side of '--'"
                                     : "which archives are compared with which? Put '--' between "
                                       "the sides: diff OLD... -- NEW...");
    else if (n_behind == 0 || n_behind == n)
        cmd_usage_error(parse, "there is no archive %s '--'", n_behind ? "before" : "behind");
    if (parse->failed)
        return false;
    ret_inputs[0] =
        (struct pm_compare_input){(const char *const *)parse->operands, (uint32_t)(n - n_behind)};
    ret_inputs[1] = (struct pm_compare_input){(const char *const *)parse->operands + (n - n_behind),
                                              (uint32_t)n_behind};
    return true;
}

bool diff_take_row_option(struct cmd_parse *parse, int key, struct pm_compare_options *options)
{
    struct pm_view_options *view = &options->view;
    switch (key) {
    case DIFF_OPT_LEVEL:
        view->level = parse->value;
        break;
    case DIFF_OPT_BY:
        view->by = (enum pm_view_by)parse->choice;
        break;
    case DIFF_OPT_TREE:
        view->tree = true;
        break;
    case DIFF_OPT_INCLUSIVE:
        options->inclusive = true;
        break;
    case DIFF_OPT_METRIC:
        view->metrics = parse->value;
        break;
    case DIFF_OPT_FOCUS:
        cmd_take_focus(parse, view->focus);
        break;
    case DIFF_OPT_ON:
        cmd_take_focus(parse, view->on);
        break;
    case DIFF_OPT_GOOD_ONLY:
        options->good_only = true;
        break;
    default:
        return false;
    }
    return true;
}

bool diff_check_rows(struct cmd_parse *parse, const struct pm_compare_options *options)
{
    const struct pm_view_options *view = &options->view;
    const struct pm_view_grouping *grouping = pm_view_grouping_by(view->by);
    bool is_fine = grouping->is_object || view->by == PM_VIEW_BY_STATEMENT;
    if (view->by == PM_VIEW_BY_LINE)
        cmd_usage_error(parse, "lines of two builds are other lines: compare '--by statement'");
    else if (view->tree && (grouping->is_object || grouping->runner))
        cmd_usage_error(parse,
                        "'--tree' shows call paths of code: compare '--by function', loop, file "
                        "or statement");
    else if (options->inclusive && !view->tree && (is_fine || grouping->runner))
        cmd_usage_error(parse, "rows by %s call nothing: leave '--inclusive' out",
                        pm_view_by_word(view->by));
    else if (grouping->where)
        cmd_usage_error(parse,
                        "'--by %s' is a tree: compare '--by file', function, loop, "
                        "statement, array, variable, process, rank or thread",
                        pm_view_by_word(view->by));
    else if (view->metrics && strchr(view->metrics, ','))
        cmd_usage_error(parse, "one metric at a time, not '%.200s'", view->metrics);
    return !parse->failed;
}

static bool check(struct cmd_parse *parse, const struct diff_request *request)
{
    if (!diff_check_rows(parse, &request->options))
        return false;
    if (parse->json && request->csv)
        cmd_usage_error(parse, "options '--json' and '--csv' cannot be combined: choose one");
    return !parse->failed;
}

/* The first option that is one of a search; NULL: there is none. */
static const char *option_of_search(const struct diff_request *request)
{
    if (request->over)
        return "over";
    if (request->summary_given)
        return "summary";
    return request->all ? "all" : NULL;
}

static bool check_search(struct cmd_parse *parse, const struct diff_request *request)
{
    const char *option = option_of_search(request);
    if (!request->search && option)
        cmd_usage_error(parse, "option '--%s' is one of '--search METRIC'", option);
    else if (request->search &&
             (request->options.view.metrics || (request->by_given && !request->html)))
        cmd_usage_error(parse,
                        "'--search' takes the metric, and looks along all hierarchies: leave '%s' "
                        "out",
                        request->options.view.metrics ? "--metric" : "--by");
    else if (request->search && strchr(request->search, ','))
        cmd_usage_error(parse, "one metric at a time, not '%.200s'", request->search);
    else if (request->summary_given && !request->over)
        cmd_usage_error(parse, "a summary is one over ranks or threads: '--over rank'");
    return !parse->failed;
}

static bool check_when(struct cmd_parse *parse, const struct diff_request *request)
{
    if (!request->when && (request->progress || request->n_bins))
        cmd_usage_error(parse, "option '--%s' is one of '--when'",
                        request->progress ? "progress" : "bins");
    else if (request->when && request->search)
        cmd_usage_error(parse, "options '--when' and '--search' cannot be combined: choose one");
    else if (request->when && request->fails)
        cmd_usage_error(parse, "'--fail' goes without '--when'");
    return !parse->failed;
}

/* A page has rows, call paths and all numbers. */
static bool check_page(struct cmd_parse *parse, const struct diff_request *request)
{
    bool has_form = parse->json || request->csv || request->limit_given;
    if (request->html && (has_form || request->options.view.tree))
        cmd_usage_error(parse, "'--html' writes a page with all rows and call paths: leave "
                               "'--json', '--csv', '--limit' and '--tree' out");
    else if (request->html && (request->when || request->over))
        cmd_usage_error(parse, "'--when' and '--over' are not on the page yet: leave '--html' out");
    return !parse->failed;
}

static bool check_live(struct cmd_parse *parse, const struct diff_request *request)
{
    const struct diff_live *live = &request->live;
    const struct pm_view_options *view = &request->options.view;
    if (!live->n && (live->every_ms || live->for_ms))
        cmd_usage_error(parse, "options '--every' and '--for' need '--live PID'");
    else if (live->n == 1 && (!parse->n_operands || request->n_behind > 0))
        cmd_usage_error(parse, "what is the program that runs compared with? '--live PID "
                               "BASE.perfmap...', or '--live' a second time");
    else if (live->n == 2 && parse->n_operands)
        cmd_usage_error(parse,
                        "two programs that run are compared with each other: leave '%.200s' "
                        "out",
                        parse->operands[0]);
    else if (live->n && (view->from || view->to || request->when || request->html))
        cmd_usage_error(parse, "'--live' compares the interval that has just passed: leave "
                               "'--from', '--to', '--when' and '--html' out");
    return !parse->failed;
}

static bool print(const struct cmd_parse *parse, const struct diff_request *request,
                  const struct pm_comparison *comparison)
{
    if (parse->json)
        return show_diff_json(comparison, &request->show, stdout);
    if (request->csv)
        return show_diff_csv(comparison, &request->show, stdout);
    return show_diff_table(comparison, &request->show, &request->look, stdout);
}

static bool got_worse(const struct pm_comparison *comparison)
{
    bool worse = comparison->total.verdict == PM_VERDICT_MORE;
    for (uint32_t r = 0; r < comparison->n_rows; r++)
        worse |= comparison->rows[r].verdict == PM_VERDICT_MORE;
    return worse;
}

static bool found_worse(const struct pm_search *search)
{
    bool worse = search->whole_fails && search->comparison->total.verdict == PM_VERDICT_MORE;
    for (uint32_t i = 0; i < search->comparison->n_rows; i++)
        worse |=
            search->foci[i].is_failed && search->comparison->rows[i].verdict == PM_VERDICT_MORE;
    return worse;
}

static int refuse_to_fail(struct cmd_parse *parse)
{
    struct pm_error err = PM_ERROR_INIT;
    pm_error_set(&err, PM_ERR_USAGE,
                 "'--fail slower' takes %d runs or more on each side: of fewer nothing can be said",
                 PM_COMPARE_LEAST_RUNS);
    return cmd_fail(parse, &err);
}

static int run_diff(struct cmd_parse *parse, struct diff_request *request,
                    const struct diff_side sides[2], const struct pm_compare_input inputs[2])
{
    struct pm_error err = PM_ERROR_INIT;
    struct pm_comparison *comparison = NULL;
    enum pm_status status = diff_compare(&request->options, sides, inputs, &err, &comparison);
    if (status != PM_OK)
        return cmd_refuse(parse, status, &err);
    int end = request->fails && got_worse(comparison) ? DIFF_WORSE : CMD_DONE;
    if (request->fails && !comparison->is_judged) {
        end = refuse_to_fail(parse);
    } else if (!print(parse, request, comparison)) {
        pm_error_set(&err, PM_ERR_MEMORY, "out of memory");
        end = cmd_fail(parse, &err);
    }
    pm_comparison_free(comparison);
    return cmd_stdout_done(parse, end);
}

static int run_search(struct cmd_parse *parse, struct diff_request *request,
                      const struct pm_compare_input inputs[2])
{
    struct pm_error err = PM_ERROR_INIT;
    struct pm_search_options options = {.compare = request->options,
                                        .over = request->over,
                                        .summary = request->summary,
                                        .within = is_within(parse, request),
                                        .all = request->all};
    struct pm_search *search = NULL;
    options.compare.view.metrics = request->search;
    enum pm_status status = pm_search(&options, inputs, &err, &search);
    if (status != PM_OK)
        return cmd_refuse(parse, status, &err);
    int end = request->fails && found_worse(search) ? DIFF_WORSE : CMD_DONE;
    bool good = true;
    if (request->fails && !search->comparison->is_judged)
        end = refuse_to_fail(parse);
    else if (parse->json)
        show_search_json(search, &request->show, stdout);
    else if (request->csv)
        show_search_csv(search, &request->show, stdout);
    else
        good = show_search_table(search, &request->show, &request->look, stdout);
    pm_search_free(search);
    if (!good) {
        pm_error_set(&err, PM_ERR_MEMORY, "out of memory");
        end = cmd_fail(parse, &err);
    }
    return cmd_stdout_done(parse, end);
}

static int run_when(struct cmd_parse *parse, struct diff_request *request,
                    const struct pm_compare_input inputs[2])
{
    struct pm_error err = PM_ERROR_INIT;
    struct pm_when_options options = {.compare = request->options,
                                      .progress = request->progress,
                                      .n_bins = (uint32_t)request->n_bins};
    struct pm_parting *when = NULL;
    enum pm_status status = pm_when(&options, inputs, &err, &when);
    if (status != PM_OK)
        return cmd_refuse(parse, status, &err);
    if (parse->json)
        show_when_json(when, stdout);
    else if (request->csv)
        show_when_csv(when, stdout);
    else
        show_when_text(when, &request->look, stdout);
    pm_when_free(when);
    return cmd_stdout_done(parse, CMD_DONE);
}

static int run_page(struct cmd_parse *parse, struct diff_request *request,
                    const struct pm_compare_input inputs[2])
{
    struct pm_error err = PM_ERROR_INIT;
    struct pm_search_options search = {.compare = request->options, .all = request->all};
    struct diff_parts parts;
    if (request->search)
        search.compare.view.metrics = request->options.view.metrics = request->search;
    search.compare.view.by = PM_VIEW_BY_LOOP;
    enum pm_status status = diff_write_page(&request->options, request->search ? &search : NULL,
                                            inputs, request->html, &err, &parts);
    int end = !status && request->fails && got_worse(parts.flat) ? DIFF_WORSE : CMD_DONE;
    if (status)
        end = cmd_refuse(parse, status, &err);
    else if (request->fails && !parts.flat->is_judged)
        end = refuse_to_fail(parse);
    diff_release_parts(&parts);
    return end;
}

static int run_request(struct cmd_parse *parse, struct diff_request *request,
                       const struct diff_side sides[2], const struct pm_compare_input inputs[2])
{
    if (request->html)
        return run_page(parse, request, inputs);
    if (request->when)
        return run_when(parse, request, inputs);
    return request->search ? run_search(parse, request, inputs)
                           : run_diff(parse, request, sides, inputs);
}

/* What runs is no member of an experiment. */
static int run_interval(struct cmd_parse *parse, void *context,
                        const struct pm_compare_input inputs[2])
{
    const struct diff_side sides[2] = {{0}};
    return run_request(parse, context, sides, inputs);
}

static int diff_main(struct cmd_parse *parse)
{
    struct diff_request request = {
        .options = {.view = {.level = "source", .by = PM_VIEW_BY_LOOP, .folds = true},
                    .least_pct = 5},
        .show = {.limit = TABLE_LIMIT},
        .n_behind = n_behind_dashes(parse)};
    struct pm_compare_input inputs[2] = {{0}};
    if (!read_options(parse, &request) || !check(parse, &request) ||
        !check_search(parse, &request) || !check_when(parse, &request) ||
        !check_page(parse, &request) || !check_live(parse, &request))
        return CMD_USAGE;
    if (!refuse_options_behind(parse, &request) || !find_sides(parse, &request, inputs))
        return CMD_USAGE;
    if (request.options.view.overlays[0] && !request.level_given)
        request.options.view.level = request.search || request.when ? "source" : "";
    if ((parse->json || request.csv) && !request.limit_given)
        request.show.limit = 0;
    struct diff_side sides[2] = {0};
    int end;
    request.live.compare = run_interval;
    request.live.context = &request;
    bool is_good = diff_expand(parse, sides, inputs, &end);
    if (is_good && request.live.n)
        end = diff_live(parse, &request.live, &inputs[0]);
    else if (is_good)
        end = run_request(parse, &request, sides, inputs);
    diff_release_side(&sides[0]);
    diff_release_side(&sides[1]);
    return end;
}

static const struct cmd_option diff_options[] = {
    {DIFF_OPT_LEVEL, "level", "LEVEL", "compare at this level of abstraction (default: source)"},
    {DIFF_OPT_BY, "by", pm_view_by_words + 1,
     "what a row is, as of report; loop (default), function, "
     "statement, array, ..."},
    {DIFF_OPT_TREE, "tree", NULL,
     "call paths of both sides, matched by names, by inclusive costs: rows are those whose own "
     "costs differ most, and in brackets what they lie in"},
    {DIFF_OPT_INCLUSIVE, "inclusive", NULL,
     "compare inclusive costs, with all that a row called; own differences are a column"},
    {DIFF_OPT_METRIC, "metric", "METRIC",
     "what is compared (default: the time that A's first shows)"},
    {DIFF_OPT_FOCUS, "focus", "PATTERN", "only what happens within this construct, as of report"},
    CMD_OVERLAY_OPTION(OPT_OVERLAY),
    {DIFF_OPT_ON, "on", "RUNNER", "only what these ran, as of report"},
    {OPT_MIN, "min", "PERCENT",
     "smaller changes of a row are no difference, and 'same' is within so much (default: 5)"},
    {OPT_MAP, "map", "OLD=NEW",
     "A's function OLD is B's NEW; with OLD= it is gone, with =NEW that one is new"},
    {OPT_NORMALISE, "normalise", "total",
     "multiply each run so that its total is the mean of B's: shares are compared"},
    {OPT_LIVE, "live", "PID",
     "a program that runs is B: what it did in the last interval; given twice, the first is A. "
     "With --normalise total"},
    {OPT_EVERY, "every", "TIME",
     "with --live: one comparison for each interval of this length (0.5s, 200ms), until Ctrl-C or "
     "the program's end"},
    {OPT_FOR, "for", "TIME", "with --live: how long (default: 1.5s; with --every, without end)"},
    CMD_INTERVAL_OPTIONS,
    {DIFF_OPT_GOOD_ONLY, "good-only", NULL,
     "leave out runs that lost 1 % of their samples, were slowed down by twice the budget, or "
     "lacked the processor for 5 % of their CPU time"},
    {OPT_SEARCH, "search", "METRIC",
     "search for the parts that differ: code, data, place (rank, process, thread) and words, in "
     "any combination"},
    {OPT_OVER, "over", "rank|thread",
     "with --search: compare the ranks, or the threads, of one run with their mean; of two sides "
     "see --summary"},
    {OPT_SUMMARY, "summary", pm_search_summary_words,
     "with --search --over, of two sides: what a part has in a run is this of its ranks or "
     "threads"},
    {OPT_ALL, "all", NULL,
     "with --search: all parts that were looked at, not only those that "
     "differ"},
    {OPT_WHEN, "when", NULL,
     "where in the run the difference begins: of the row that differs most, or of the focus; by "
     "time, and by phases where there are some"},
    {OPT_PROGRESS, "progress", "PATTERN",
     "with --when: by entries of this loop or function, loop:FILE:LINE say, of two traces"},
    {OPT_BINS, "bins", "NUMBER",
     "with --when: parts of the run (default: 256 of progress; of time as many as there are "
     "samples for, up to 100)"},
    {OPT_FAIL, "fail", "slower", "end with status 3 when a row or the total got slower, or more"},
    {OPT_LIMIT, "limit", "NUMBER",
     "rows to print, 0 for all (default: 20; with --json and --csv all)"},
    {OPT_HTML, "html", "FILE",
     "write a page for browsers into this file: rows with the points of all runs, call paths as a "
     "differential flame graph, and what --search found; it asks nothing of the network"},
    {CMD_KEY_JSON, "json", NULL, "print JSON, with the value of each run"},
    {OPT_CSV, "csv", NULL, "print CSV"},
    CMD_LOOK_OPTIONS,
    {0}};

static const char *const diff_usage[] = {
    "diff [OPTION]... A B", "diff [OPTION]... A... -- B...",
    "diff --search METRIC --over rank|thread [OPTION]... RUN...", NULL};

static const struct cmd_example diff_examples[] = {
    {"perfmap diff old.perfmap new.perfmap", "what changed, though lines moved"},
    {"perfmap diff --by statement old*.perfmap -- new*.perfmap",
     "several runs of each: slower, faster, the same, or cannot tell"},
    {"perfmap diff --html diff.html old*.perfmap -- new*.perfmap",
     "all of it as one file, to look at in a browser, or to send"},
    {"perfmap diff --search cpu_ns old*.perfmap -- new*.perfmap",
     "in which code, data and ranks they differ"},
    {"perfmap diff 'exp?build=old' 'exp?build=new'",
     "members of an experiment, by their attributes: 'perfmap experiment'"},
    {"perfmap diff --when --progress loop:shell.c:18 old.perfmap new.perfmap",
     "from which entry of that loop on they differ"},
    {"perfmap diff --fail slower old*.perfmap -- new*.perfmap",
     "for CI: status 3 when something got slower"},
    {NULL, NULL}};

static const struct cmd_exit diff_exits[] = {
    {0, "the differences were shown"},
    {1, "it failed"},
    {2, "wrong usage"},
    {DIFF_WORSE, "with --fail slower: something got slower, or costs more"},
    {0, NULL}};

const struct cmd cmd_diff = {
    .name = "diff",
    .summary = "compare runs: what costs more, what less, and what is noise",
    .usage = diff_usage,
    .description =
        "Compares the archives of two sides, A (before) and B (after). Constructs of the source "
        "are found again in another build, folder or compiler: functions by name, statements and "
        "loops by their order, column, nesting and data.\n"
        "\n"
        "With 4 runs or more on each side each row has a verdict. A row is slower or faster when "
        "that is no noise: of the rows that are called so at most 5 % are by chance. 'same' is "
        "within 5 % (--min). 'cannot tell' names the change that would have been found. "
        "Of fewer runs only the differences are shown.\n"
        "\n"
        "What is not measured is empty, and never 0. '-' is a construct that a build does not "
        "have.",
    .options = diff_options,
    .examples = diff_examples,
    .exits = diff_exits,
    .environment = cmd_look_environment,
    .main = diff_main,
};
