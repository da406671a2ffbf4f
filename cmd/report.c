/* perfmap report */
#include "cmd/core/archives.h"
#include "cmd/show/formats.h"
#include "cmd/show/html.h"
#include "format/pm_adapters.h"
#include "mapping/view/groupings.h"

#include <stdlib.h>
#include <strings.h>

enum {
    OPT_LEVEL = CMD_KEY_FIRST,
    OPT_FOLD,
    OPT_BY,
    OPT_AXIS,
    OPT_TREE,
    OPT_FLAT,
    OPT_METRIC,
    OPT_RULE,
    OPT_SPLIT_BY,
    OPT_BOUNDS,
    OPT_NO_COMPENSATION,
    OPT_MODES,
    OPT_DETAILS,
    OPT_FOCUS,
    OPT_OVERLAY,
    OPT_ON,
    OPT_OVER_TIME,
    OPT_LIMIT,
    OPT_SORT,
    OPT_HTML,
    OPT_EMBED_SOURCE,
    OPT_FORMAT /* and those after it: its position in show_formats is added */
};

enum { TABLE_LIMIT = 20, MOST_PARTS = 2000 };

struct report_request {
    struct pm_view_options options;
    struct show_look look;
    bool asked[SHOW_N_FORMATS];       /* their options were there */
    const struct show_format *format; /* what comes of that */
    bool limit_given, split_given, by_given, level_given;
    bool embeds_sources;
    const char *html; /* the page, into that file; NULL: text */
    bool text_given;  /* options that say which rows text has, or how */
};

/* Of formats that have rows only: what measuring cost, and warnings. */
static void talk(struct pm_view *report)
{
    show_say_measuring(report);
    for (int i = 0; i < report->n_warnings; i++)
        cmd_talk("warning: %s", report->warnings[i]);
}

static int print_view(struct cmd_parse *parse, const struct report_request *request,
                      struct pm_view *report)
{
    const struct show_format *format = request->format;
    struct pm_error err = PM_ERROR_INIT;
    bool (*print)(struct pm_view *, const struct show_look *, FILE *) = format->rows;
    if (request->options.modes)
        print = format->modes ? format->modes : show_format_table.modes;
    if (!print(report, &request->look, stdout)) {
        pm_error_set(&err, PM_ERR_MEMORY, "out of memory");
        return cmd_fail(parse, &err);
    }
    if (format->is_rows_only)
        talk(report);
    return cmd_stdout_done(parse, CMD_DONE);
}

static int refuse(struct cmd_parse *parse, const struct report_request *request,
                  enum pm_status status, struct pm_error *err)
{
    if (status == PM_ERR_FORMAT)
        cmd_add_file_hint(request->options.archive_path, CMD_FILE_ARCHIVE, err);
    return cmd_refuse(parse, status, err);
}

static int print_report(struct cmd_parse *parse, const struct report_request *request)
{
    struct pm_error err = PM_ERROR_INIT;
    struct pm_view report = {.options = request->options};
    enum pm_status status = pm_view_make(&report, &err);
    if (status == PM_OK)
        status = pm_view_find_sources(&report, &err);
    int end = status != PM_OK ? refuse(parse, request, status, &err)
                              : print_view(parse, request, &report);
    pm_view_release(&report);
    return end;
}

/* --- all of it, as a page --- */

static enum pm_status write_page(const struct report_request *request, struct pm_error *err)
{
    const struct show_page_options options = {
        .archive_path = request->options.archive_path,
        .from = request->options.from,
        .to = request->options.to,
        .folds = request->options.folds,
        .no_compensation = request->options.no_compensation,
    };
    struct pm_buf html = PM_BUF_INIT(SIZE_MAX / 2);
    struct show_page *page = NULL;
    enum pm_status status = show_page_open(&options, err, &page);
    if (status != PM_OK)
        return status;
    status = show_html_write(page, request->embeds_sources, SHOW_HTML_MOST_BYTES, err, &html);
    if (status != PM_OK)
        goto out;
    status = pm_file_write(request->html, html.data, html.len, err);
out:
    show_page_close(page);
    pm_buf_release(&html);
    return status;
}

static int print_page(struct cmd_parse *parse, const struct report_request *request)
{
    struct pm_error err = PM_ERROR_INIT;
    enum pm_status status = write_page(request, &err);
    if (status != PM_OK)
        return refuse(parse, request, status, &err);
    return CMD_DONE;
}

static bool take_format(struct report_request *request, int key)
{
    int format = key == CMD_KEY_JSON ? (int)SHOW_FORMAT_json : key - OPT_FORMAT;
    if (format < 0 || format >= SHOW_N_FORMATS)
        return false;
    request->asked[format] = true;
    return true;
}

/* In the order of the words of --axis. */
static const enum pm_runner axis_kinds[] = {PM_RUNNER_NODE, PM_RUNNER_PROCESS, PM_RUNNER_RANK,
                                            PM_RUNNER_THREAD};

static bool take_time(struct cmd_parse *parse, struct pm_view_options *options, int key)
{
    uint64_t n;
    if (key != OPT_OVER_TIME)
        return cmd_take_interval(parse, key, &options->from, &options->to);
    if (!cmd_number(parse, MOST_PARTS, &n))
        return true;
    if (n == 0)
        cmd_usage_error(parse, "option '--over-time' takes a number of parts from 1 on");
    options->over_time = (uint32_t)n;
    return true;
}

/* The next option that is not of the page alone. Most others say which rows text has, and how; the
 * page has all of them. */
static int next_option(struct cmd_parse *parse, struct report_request *request)
{
    int key = cmd_next(parse);
    for (; key == OPT_HTML || key == OPT_EMBED_SOURCE; key = cmd_next(parse)) {
        request->embeds_sources |= key == OPT_EMBED_SOURCE;
        if (key == OPT_HTML)
            request->html = parse->value;
    }
    static const int of_both[] = {CMD_END, OPT_FOLD, OPT_NO_COMPENSATION, CMD_OPT_FROM, CMD_OPT_TO};
    for (size_t i = 0; i < sizeof of_both / sizeof *of_both; i++)
        if (key == of_both[i])
            return key;
    request->text_given = true;
    return key;
}

static bool read_options(struct cmd_parse *parse, struct report_request *request)
{
    struct pm_view_options *options = &request->options;
    for (int key; (key = next_option(parse, request)) != CMD_END;)
        switch (key) {
        case OPT_LEVEL:
            options->level = parse->value;
            request->level_given = true;
            break;
        case OPT_BY:
            options->by = (enum pm_view_by)parse->choice;
            request->by_given = true;
            break;
        case OPT_AXIS:
            options->parts = axis_kinds[parse->choice];
            break;
        case OPT_TREE:
            options->tree = true;
            break;
        case OPT_FLAT:
            options->tree = false;
            break;
        case OPT_FOLD:
            options->folds = parse->choice == 0;
            break;
        case OPT_METRIC:
            options->metrics = parse->value;
            break;
        case OPT_RULE:
            options->rule = (enum pm_rule)parse->choice;
            break;
        case OPT_SPLIT_BY:
            options->split = (enum pm_view_split)parse->choice;
            request->split_given = true;
            break;
        case OPT_BOUNDS:
            options->bounds = true;
            break;
        case OPT_MODES:
            options->modes = true;
            break;
        case OPT_DETAILS:
            options->details = true;
            break;
        case OPT_NO_COMPENSATION:
            options->no_compensation = true;
            break;
        case OPT_FOCUS:
            cmd_take_focus(parse, options->focus);
            break;
        case OPT_OVERLAY:
            cmd_take_overlay(parse, options);
            break;
        case OPT_ON:
            cmd_take_focus(parse, options->on);
            break;
        case OPT_LIMIT:
            request->limit_given = cmd_number(parse, UINT32_MAX, &options->limit);
            break;
        case OPT_SORT:
            options->sort = (enum pm_view_sort)parse->choice;
            break;
        default:
            if (!take_format(request, key) && !take_time(parse, options, key))
                cmd_take_look(parse, key, &request->look);
        }
    return !parse->failed;
}

/* false: more than one was asked for, which was reported. */
static bool choose_format(struct cmd_parse *parse, struct report_request *request)
{
    request->format = &show_format_table;
    for (int f = 0; f < SHOW_N_FORMATS; f++) {
        if (!request->asked[f])
            continue;
        if (request->format != &show_format_table) {
            cmd_usage_error(parse, "options '--%s' and '--%s' cannot be combined: choose one",
                            request->format->word, show_formats[f]->word);
            return false;
        }
        request->format = show_formats[f];
    }
    return true;
}

/* false: options that do not go with the page, or need it, which was reported. */
static bool takes_page(struct cmd_parse *parse, const struct report_request *request)
{
    if (request->html && request->text_given)
        cmd_usage_error(parse, "'--html' writes a page with all rows, groupings and metrics: of "
                               "the other options it takes '--embed-source', '--fold', "
                               "'--no-compensation', '--from' and '--to'");
    if (request->embeds_sources && !request->html)
        cmd_usage_error(parse, "'--embed-source' puts sources into the page of '--html': give "
                               "that, too");
    return !parse->failed;
}

static int run_report(struct cmd_parse *parse, struct report_request *request)
{
    char *found = parse->n_operands == 1 ? NULL : cmd_only_archive(parse);
    if (parse->n_operands == 0 && !found)
        return CMD_USAGE;
    request->options.archive_path = found ? found : parse->operands[0];
    int end = request->html ? print_page(parse, request) : print_report(parse, request);
    free(found);
    return end;
}

static int report_main(struct cmd_parse *parse)
{
    struct report_request request = {.options = {.level = "source",
                                                 .by = PM_VIEW_BY_LOOP,
                                                 .limit = TABLE_LIMIT,
                                                 .sort = PM_VIEW_SORT_DEFAULT,
                                                 .folds = true}};
    if (!read_options(parse, &request))
        return CMD_USAGE;
    if (!choose_format(parse, &request))
        return CMD_USAGE;
    if (!takes_page(parse, &request))
        return CMD_USAGE;
    if (request.options.overlays[0] && !request.level_given)
        request.options.level = "";
    if (!request.by_given && !strcasecmp(request.options.level, PM_MPI_LEVEL))
        request.options.by = PM_VIEW_BY_OPERATION; /* not each rank and each tag */
    if (request.options.tree && request.options.rule == PM_RULE_SPLIT)
        return cmd_usage_error(parse, "'--tree' cannot show '--rule split': a call that is split "
                                      "has no single path; use merge or closed");
    if (request.split_given && request.options.rule != PM_RULE_SPLIT)
        return cmd_usage_error(parse,
                               "'--split-by' says how '--rule split' divides: give that, too");
    const struct pm_view_grouping *grouping = pm_view_grouping_by(request.options.by);
    if (request.options.tree && grouping->is_object && !grouping->where)
        return cmd_usage_error(
            parse, "'--tree' shows call paths of code, not of data: use '--by function', loop, "
                   "file or statement, or '--focus array:NAME' for the paths to an array");
    if (grouping->runner && request.options.parts)
        return cmd_usage_error(parse,
                               "'--axis' shows where code costs how much: with rows that ran "
                               "it ('--by %s') leave it out",
                               pm_view_by_word(request.options.by));
    if (grouping->runner &&
        (request.options.tree || request.options.bounds || request.options.rule != PM_RULE_MERGE))
        return cmd_usage_error(parse,
                               "'--tree', '--bounds' and '--rule' do not apply to processes, "
                               "ranks, threads and nodes: leave them out");
    if (grouping->where && (request.options.bounds || request.options.rule != PM_RULE_MERGE))
        return cmd_usage_error(parse,
                               "'--bounds' and '--rule' do not apply to where axes ('--by %s'): "
                               "leave them out",
                               pm_view_by_word(request.options.by));
    if (grouping->where == PM_VIEW_WHERE_MACHINE && request.options.parts)
        return cmd_usage_error(parse, "'--axis' shows where code costs how much: with '--by "
                                      "machine' leave it out");
    if (request.options.tree && request.options.bounds)
        return cmd_usage_error(
            parse, "'--bounds' apply to the whole run, not to call paths: leave '--tree' out");
    if (parse->n_operands > 1)
        return cmd_usage_error(parse, "one archive at a time, not %d", parse->n_operands);
    request.options.keeps_columns = request.format->is_for_programs;
    if (request.format->is_for_programs && !request.limit_given)
        request.options.limit = 0;
    return run_report(parse, &request);
}

/* The key of a format's option: that of --json makes JSON of errors, too. */
#define KEY_OF(word)                                            \
    (SHOW_FORMAT_##word == SHOW_FORMAT_json ? (int)CMD_KEY_JSON \
                                            : (int)OPT_FORMAT + (int)SHOW_FORMAT_##word)

static const struct cmd_option pm_view_options[] = {
    {OPT_LEVEL, "level", "LEVEL",
     "show costs at this level of abstraction: source (default), base (the machine code), "
     "or another one of the archive"},
    {OPT_BY, "by", pm_view_by_words + 1,
     "what a row is; loop (default): each loop, and each function for its code outside its "
     "loops; array and variable: what the code touches; operation (default at level MPI): what is "
     "done, "
     "with what; node, process, rank (of MPI) and thread: who ran it, and where; machine, code, "
     "data, mpi and "
     "sync: a tree of all machines, code, data, calls of MPI, or locks, barriers and messages"},
    {OPT_AXIS, "axis", "node|process|rank|thread",
     "what each row costs over nodes, processes, ranks of MPI or threads: min, average and max of "
     "the "
     "first metric, imbalance (max / average - 1, in percent), on how many it has a cost, and "
     "where the max is"},
    {OPT_FLAT, "flat", NULL, "one row for each construct, wherever it was called from (default)"},
    {OPT_TREE, "tree", NULL, "one row for each call path, inclusive costs first"},
    {OPT_FOLD, "fold", "system|none",
     "code of system headers (C++'s library): it counts for the program's code that uses it "
     "(system, default), or has rows of its own (none, and always by array)"},
    {OPT_METRIC, "metric", "NAMES",
     "metrics to show, separated by commas. The first one, except n_calls, decides shares and "
     "order (default: the time that was measured, wall_ns or cpu_ns, and n_calls). 'NAME = "
     "FORMULA' is made of others, as 'ipc = instructions / cycles'"},
    {OPT_RULE, "rule", "merge|closed|split",
     "cost that maps to several constructs: one row for the set (merge, default), one row for sets "
     "that overlap (closed), or divided (split)"},
    {OPT_SPLIT_BY, "split-by", "weights|equal|instructions",
     "how --rule split divides: by the weights that mappings state, equally where they state none "
     "(default); equally; by the "
     "instructions that were counted in what each construct has alone"},
    {OPT_BOUNDS, "bounds", NULL,
     "show bounds for each construct: at least the cost that maps to it alone, at most all cost "
     "that may map to it"},
    {OPT_MODES, "modes", NULL,
     "instead of rows, list functions and loops that had another mode than the run, to keep the "
     "budget or as asked: which mode, since when, and for how long. JSON has the list beside the "
     "rows; --csv prints it"},
    {OPT_DETAILS, "details", NULL,
     "above the rows, show how the run was measured: rate and source of samples, cost of events "
     "and samples"},
    {OPT_NO_COMPENSATION, "no-compensation", NULL,
     "leave the estimated cost of measuring in the times (mode exact)"},
    CMD_OVERLAY_OPTION(OPT_OVERLAY),
    {OPT_FOCUS, "focus", "PATTERN",
     "only what happens within this construct, or is mapped to it: func:NAME, loop:FILE:LINE, "
     "statement:FILE:LINE, line:FILE:LINE, array:NAME, variable:NAME, file:NAME, process:NAME, or "
     "any name; rank:NUMBER, thread:NAME and node:NAME as with --on; with * and ?. Several times: "
     "all must hold, one for each where axis (docs/report.md)"},
    {OPT_ON, "on", "RUNNER",
     "only what these ran: thread:NAME, process:NAME, rank:NUMBER or node:NAME, with * and ?"},
    CMD_INTERVAL_OPTIONS,
    {OPT_OVER_TIME, "over-time", "NUMBER",
     "show for each row how its cost lies in so many equal parts of the run, or of what --from and "
     "--to choose: a spark line; arrays with --json, columns with --csv"},
    {OPT_LIMIT, "limit", "NUMBER",
     "rows to print, 0 for all (default: 20; with --json and --csv all)"},
    {OPT_SORT, "sort", "own|inclusive|calls|name|place",
     "order of rows (default: own; with --tree inclusive)"},
    {OPT_HTML, "html", "FILE",
     "write a page for browsers into this file: all levels, groupings, metrics and foci, with "
     "everything in it that it needs; it asks nothing of the network"},
    {OPT_EMBED_SOURCE, "embed-source", NULL,
     "put the sources of the program that are found into that file, too, for its view of lines"},
#define FORMAT(word, help) {KEY_OF(word), #word, NULL, help},
#include "cmd/show/formats.def"
#undef FORMAT
    CMD_LOOK_OPTIONS,
    {0}};

static const char *const report_usage[] = {"report [OPTION]... [ARCHIVE]", NULL};

static const struct cmd_example report_examples[] = {
    {"perfmap report heat.perfmap",
     "where does the time go, by loops and functions of the source?"},
    {"perfmap report --tree --by function heat.perfmap", "who called whom, with inclusive times"},
    {"perfmap report --by array --focus loop:heat.c:42 heat.perfmap",
     "which arrays the time of this loop goes to"},
    {"perfmap report --level base --focus array:u heat.perfmap",
     "the machine code, calls and lines that implement the accesses to u"},
    {"perfmap report --html report.html heat.perfmap",
     "all of it as one file, to look at in a browser, to send, to keep with a build"},
    {"perfmap report --json --limit 0 heat.perfmap", "everything, for another program"},
    {NULL, NULL}};

const struct cmd cmd_report = {
    .name = "report",
    .summary = "show where the time of a run went",
    .usage = report_usage,
    .description = "Reads an archive (from 'perfmap run' or 'perfmap collect') and shows the "
                   "measured costs lifted to a level of abstraction. Without "
                   "ARCHIVE, the only *.perfmap file in the current folder is taken.\n"
                   "\n"
                   "own is the cost of the construct itself, and incl. adds all that it called "
                   "(recursion counts once). share % is its part of the total, calls how often it "
                   "was called (a loop: entered). The table always adds up: "
                   "rows beyond the limit are summed up in one, what maps to "
                   "nothing at the level is listed under its own name, marked [unmapped], and "
                   "'(outside instrumented code)' is the time of the process "
                   "in which no instrumented code was active.\n"
                   "\n"
                   "When one piece of machine code implements several constructs, its cost belongs "
                   "to them together: {heat.c:42, heat.c:43}. --rule and "
                   "--bounds give the other points of view.",
    .options = pm_view_options,
    .examples = report_examples,
    .environment = cmd_look_environment,
    .main = report_main,
};
