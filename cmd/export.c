/* perfmap export: what an archive has, in the formats of other tools */
#include "export.h"

#include "cmd/core/archives.h"
#include "cmd/show/show.h"
#include "mapping/view/groupings.h"
#include "mapping/view/interval.h"

#include <stdlib.h>
#include <unistd.h>

enum {
    OPT_FORMAT = CMD_KEY_FIRST,
    OPT_LEVEL,
    OPT_BY,
    OPT_FOLD,
    OPT_METRIC,
    OPT_RULE,
    OPT_NO_COMPENSATION,
    OPT_FOCUS,
    OPT_ON,
    OPT_COSTS,
    OPT_THREAD,
    OPT_DEPTH
};

static const struct export_format *const formats[] = {
#define FORMAT(word) &export_format_##word,
#include "export_formats.def"
#undef FORMAT
};

static const char format_words[] =
#define FORMAT(word) "|" #word
#include "export_formats.def"
#undef FORMAT
    ;

static bool can(const struct export_format *format, bool of_traces)
{
    return of_traces ? format->trace != NULL : format->profile != NULL;
}

/* "pprof, callgrind or csv": those that can do it. */
static void add_words(struct pm_buf *out, bool of_traces)
{
    enum { N = sizeof formats / sizeof *formats };
    uint32_t n = 0, n_all = 0;
    for (size_t f = 0; f < N; f++)
        n_all += can(formats[f], of_traces);
    for (size_t f = 0; f < N; f++) {
        if (!can(formats[f], of_traces))
            continue;
        n++;
        if (n > 1)
            pm_buf_add_str(out, n == n_all ? " or " : ", ");
        pm_buf_add_str(out, formats[f]->word);
    }
}

/* --- writing --- */

static void tell_notes(const struct export_format *format, const struct export_notes *notes)
{
    for (uint32_t i = 0; !format->has_notes && i < notes->n; i++)
        cmd_talk("note: %s", notes->items[i]);
}

/* Metrics that do not add up have no place in a profile. */
static void tell_left_out(const struct pm_profile *profile)
{
    const struct pm_view *tree = &profile->tree;
    for (uint32_t m = 0; m < tree->n_metrics; m++) {
        const struct pm_graph_metric *metric = &tree->data->graph->metrics[tree->metrics[m]];
        if (metric->aggregation != PM_SUM)
            cmd_talk("note: %s is no sum, so it is left out; see 'perfmap report'", metric->name);
    }
    if (tree->n_formulas)
        cmd_talk("note: what is made by a formula is left out; its metrics are there");
}

/* Opens, writes and closes. */
static enum pm_status write_profile(const struct export_format *format,
                                    const struct export_request *request,
                                    struct pm_profile *profile, const struct export_notes *notes,
                                    bool is_gzip, struct pm_error *err)
{
    struct export_output output;
    enum pm_status status = export_open(request->path, is_gzip, err, &output);
    if (status != PM_OK)
        return status;
    status = format->profile(profile, notes, output.file, err);
    return export_close(&output, status, err);
}

static enum pm_status export_profile(const struct export_format *format,
                                     const struct export_request *request, bool is_gzip,
                                     struct pm_error *err)
{
    struct pm_profile profile;
    struct export_notes notes = {0};
    enum pm_status status = pm_profile_make(&request->profile, err, &profile);
    if (status != PM_OK)
        goto out;
    if (profile.n_values == 0) {
        status = pm_error_set(err, PM_ERR_NOT_FOUND, "archive '%s' has no costs to export",
                              request->archive);
        goto out;
    }
    status = export_notes_make(&profile, err, &notes);
    if (status != PM_OK)
        goto out;
    status = write_profile(format, request, &profile, &notes, is_gzip, err);
    if (status != PM_OK)
        goto out;
    tell_left_out(&profile);
    tell_notes(format, &notes);
out:
    export_notes_release(&notes);
    pm_profile_release(&profile);
    return status;
}

static enum pm_status write_trace(const struct export_format *format,
                                  const struct export_request *request, struct pm_trace *trace,
                                  bool is_gzip, struct pm_error *err)
{
    struct export_output output;
    if (format->is_folder)
        return format->trace(trace, request, NULL, err);
    enum pm_status status = export_open(request->path, is_gzip, err, &output);
    if (status != PM_OK)
        return status;
    status = format->trace(trace, request, output.file, err);
    return export_close(&output, status, err);
}

static enum pm_status refuse_no_trace(const struct export_request *request, struct pm_error *err)
{
    struct pm_buf words = PM_BUF_INIT(4096);
    add_words(&words, false);
    pm_error_set(err, PM_ERR_NOT_FOUND,
                 "archive '%s' has no trace: record one with 'perfmap run --mode trace', or export "
                 "its costs with --format %s",
                 request->archive, words.data ? words.data : "");
    pm_buf_release(&words);
    return PM_ERR_NOT_FOUND;
}

/* Of a trace: --from and --to as nanoseconds. */
static enum pm_status read_interval(const struct pm_trace *trace, struct export_request *request,
                                    struct pm_error *err)
{
    const struct pm_view_options *options = &request->profile.view;
    const char *texts[] = {options->from, options->to};
    uint64_t *times[] = {&request->from_ns, &request->to_ns};
    for (int i = 0; i < 2; i++) {
        int64_t ns;
        if (!texts[i])
            continue;
        if (!pm_view_read_time(texts[i], pm_trace_run_ns(trace), &ns))
            return pm_error_set(err, PM_ERR_USAGE,
                                "option '--%s' takes a time since the start of the run, as 2.5s, "
                                "300ms or 50%%, not '%s'",
                                i ? "to" : "from", texts[i]);
        *times[i] = (uint64_t)ns;
    }
    if (request->from_ns > request->to_ns)
        return pm_error_set(err, PM_ERR_USAGE, "'--from' is behind '--to'");
    return PM_OK;
}

/* Does the format take the trace? *ret_archive and *ret_trace are the caller's to release. */
static enum pm_status open_trace(const struct export_format *format,
                                 const struct export_request *request, struct pm_error *err,
                                 struct pm_archive **ret_archive, struct pm_trace **ret_trace)
{
    enum pm_status status = pm_archive_open(request->archive, err, ret_archive);
    if (status != PM_OK)
        return status;
    status = pm_trace_open(*ret_archive, err, ret_trace);
    if (status != PM_OK)
        return status;
    bool needs_trace = !format->profile || request->trace_option;
    return pm_trace_n_threads(*ret_trace) == 0 && needs_trace ? refuse_no_trace(request, err)
                                                              : PM_OK;
}

static enum pm_status export_trace(const struct export_format *format,
                                   struct export_request *request, bool is_gzip,
                                   struct pm_error *err)
{
    struct pm_archive *archive = NULL;
    struct pm_trace *trace = NULL;
    enum pm_status status = open_trace(format, request, err, &archive, &trace);
    bool has_trace = trace && pm_trace_n_threads(trace) > 0;
    request->open_archive = archive;
    if (has_trace)
        status = read_interval(trace, request, err);
    if (status == PM_OK && has_trace)
        status = write_trace(format, request, trace, is_gzip, err);
    pm_trace_free(trace);
    pm_archive_close(archive);
    return status != PM_OK || has_trace ? status : export_profile(format, request, is_gzip, err);
}

static enum pm_status export_archive(const struct export_format *format,
                                     struct export_request *request, struct pm_error *err)
{
    bool is_gzip = format->is_gzip || (request->path && pm_str_ends_with(request->path, ".gz"));
    if (format->trace && !(format->profile && request->profile_option))
        return export_trace(format, request, is_gzip, err);
    return export_profile(format, request, is_gzip, err);
}

/* --- the command --- */

/* Of costs. False: the option is another one. */
static bool take_profile_option(struct cmd_parse *parse, int key, struct export_request *request)
{
    struct pm_view_options *options = &request->profile.view;
    switch (key) {
    case OPT_LEVEL:
        options->level = parse->value;
        break;
    case OPT_BY:
        options->by = (enum pm_view_by[]){PM_VIEW_BY_LOOP, PM_VIEW_BY_FUNCTION, PM_VIEW_BY_FILE,
                                          PM_VIEW_BY_STATEMENT}[parse->choice];
        request->by_given = true;
        break;
    case OPT_FOLD:
        options->folds = parse->choice == 0;
        break;
    case OPT_METRIC:
        options->metrics = parse->value;
        break;
    case OPT_RULE:
        options->rule = parse->choice ? PM_RULE_CLOSED : PM_RULE_MERGE;
        break;
    case OPT_NO_COMPENSATION:
        options->no_compensation = true;
        break;
    case OPT_FOCUS:
        cmd_take_focus(parse, options->focus);
        break;
    case OPT_ON:
        cmd_take_focus(parse, options->on);
        break;
    case OPT_COSTS:
        break;
    default:
        return false;
    }
    request->profile_option = parse->option;
    return true;
}

static void take_trace_option(struct cmd_parse *parse, int key, struct export_request *request)
{
    switch (key) {
    case OPT_THREAD:
        cmd_number(parse, UINT32_MAX, &request->tid);
        break;
    case OPT_DEPTH:
        cmd_number(parse, UINT32_MAX, &request->depth);
        break;
    }
    request->trace_option = parse->option;
}

static bool read_options(struct cmd_parse *parse, struct export_request *request,
                         const struct export_format **ret_format)
{
    for (int key; (key = cmd_next(parse)) != CMD_END;)
        if (key == OPT_FORMAT)
            *ret_format = formats[parse->choice];
        else if (key == 'o')
            request->path = parse->value;
        else if (cmd_take_interval(parse, key, &request->profile.view.from,
                                   &request->profile.view.to))
            continue;
        else if (!take_profile_option(parse, key, request))
            take_trace_option(parse, key, request);
    return !parse->failed;
}

/* What goes together. False: it does not, which was reported. */
static bool check_options(struct cmd_parse *parse, const struct export_request *request,
                          const struct export_format *format)
{
    struct pm_buf words = PM_BUF_INIT(4096);
    int n_before = parse->failed;
    if (!format) {
        add_words(&words, false);
        cmd_usage_error(parse, "which format? For costs --format %s; --help has those of traces",
                        words.data ? words.data : "");
    } else if (request->trace_option && !format->trace) {
        add_words(&words, true);
        cmd_usage_error(parse, "'--%s' is about traces, and %s has costs: use --format %s",
                        request->trace_option, format->word, words.data ? words.data : "");
    } else if (request->profile_option && !format->profile) {
        add_words(&words, false);
        cmd_usage_error(parse, "'--%s' is about costs, and %s has a trace: use --format %s",
                        request->profile_option, format->word, words.data ? words.data : "");
    } else if (request->profile_option && request->trace_option) {
        cmd_usage_error(parse, "'--%s' is about costs and '--%s' about a trace: leave one out",
                        request->profile_option, request->trace_option);
    } else if (format->is_folder && !request->path) {
        cmd_usage_error(parse, "%s is a folder of files: name it with -o", format->word);
    } else if (format->is_binary && !request->path && isatty(STDOUT_FILENO)) {
        cmd_usage_error(parse, "%s is nothing for a terminal: name a file with -o", format->word);
    } else if (parse->n_operands > 1) {
        cmd_usage_error(parse, "one archive at a time, not %d", parse->n_operands);
    }
    pm_buf_release(&words);
    return parse->failed == n_before;
}

static int run_export(struct cmd_parse *parse, const struct export_format *format,
                      struct export_request *request)
{
    struct pm_error err = PM_ERROR_INIT;
    enum pm_status status = export_archive(format, request, &err);
    switch (status) {
    case PM_OK:
        return cmd_stdout_done(parse, CMD_DONE);
    case PM_ERR_USAGE:
        cmd_usage_error(parse, "%s", pm_error_text(&err));
        pm_error_release(&err);
        return CMD_USAGE;
    case PM_ERR_FORMAT:
        cmd_add_file_hint(request->archive, CMD_FILE_ARCHIVE, &err);
        break;
    default:
        break;
    }
    return cmd_fail(parse, &err);
}

static int export_main(struct cmd_parse *parse)
{
    struct export_request request = {.to_ns = UINT64_MAX,
                                     .depth = UINT32_MAX,
                                     .profile.view = {.level = "source",
                                                      .by = PM_VIEW_BY_LOOP,
                                                      .sort = PM_VIEW_SORT_DEFAULT,
                                                      .keeps_columns = true,
                                                      .folds = true}};
    const struct export_format *format = NULL;
    if (!read_options(parse, &request, &format) || !check_options(parse, &request, format))
        return CMD_USAGE;
    if (format->by_function && !request.by_given)
        request.profile.view.by = PM_VIEW_BY_FUNCTION;
    request.profile.parts = format->parts;
    char *found = parse->n_operands ? NULL : cmd_only_archive(parse);
    if (!found && !parse->n_operands)
        return CMD_USAGE;
    request.archive = request.profile.view.archive_path = found ? found : parse->operands[0];
    int end = run_export(parse, format, &request);
    free(found);
    return end;
}

static const struct cmd_option export_options[] = {
    {OPT_FORMAT, "format", format_words + 1, "which format; see above"},
    {'o', "output", "FILE",
     "where to (default: standard output). A name that ends with .gz is packed"},
    {OPT_LEVEL, "level", "LEVEL",
     "costs at this level of abstraction: source (default), base (the machine code), or another "
     "one of the archive"},
    {OPT_BY, "by", "loop|function|file|statement",
     "what a frame of a call path is (default: loop; callgrind: function)"},
    {OPT_METRIC, "metric", "NAMES",
     "metrics, separated by commas (default: those that 'perfmap report' shows). Formats with one "
     "number take the first one"},
    {OPT_FOCUS, "focus", "NOUN",
     "only what was active inside of this noun; as in 'perfmap report'"},
    {OPT_ON, "on", "RUNNER",
     "only what these ran: thread:NAME, process:NAME, rank:NUMBER or node:NAME, with * and ?"},
    {OPT_RULE, "rule", "merge|closed",
     "code that implements several constructs belongs to all of them: one frame for each set "
     "(merge, default), or for all sets that overlap (closed)"},
    {OPT_FOLD, "fold", "system|none",
     "code of system headers counts for the program's code that uses it (system, default), or is "
     "frames of its own (none)"},
    {OPT_NO_COMPENSATION, "no-compensation", NULL,
     "leave the estimated cost of measuring in the times (mode exact)"},
    {OPT_COSTS, "costs", NULL,
     "of an archive with a trace: its costs, where the format has both (speedscope)"},
    CMD_INTERVAL_OPTIONS,
    {OPT_DEPTH, "depth", "NUMBER", "only calls that are inside fewer than this many others"},
    {OPT_THREAD, "thread", "TID", "only this thread"},
    {0}};

static const char *const export_usage[] = {"export --format FORMAT [OPTION]... [ARCHIVE]", NULL};

static const struct cmd_example export_examples[] = {
    {"perfmap export --format pprof -o heat.pb.gz heat.perfmap",
     "for 'pprof -http=: heat.pb.gz'; labels are arrays, threads and ranks"},
    {"perfmap export --format callgrind -o callgrind.out.heat heat.perfmap",
     "for KCachegrind and callgrind_annotate"},
    {"perfmap export --format folded heat.perfmap | flamegraph.pl > heat.svg", "a flame graph"},
    {"perfmap export --format perfetto -o heat.pftrace heat.perfmap",
     "a trace (perfmap run --mode trace), for ui.perfetto.dev"},
    {"perfmap export --format chrome --from 1.2s --to 1.3s -o heat.json heat.perfmap",
     "a tenth of a second of it, for chrome://tracing"},
    {NULL, NULL}};

const struct cmd cmd_export = {
    .name = "export",
    .summary = "write costs or a trace in the format of another tool",
    .usage = export_usage,
    .description =
        "Costs, of any archive:\n"
        "\n"
        "    pprof        call paths with all metrics; arrays, words and threads are labels\n"
        "    callgrind    functions with costs by line, and calls, for KCachegrind\n"
        "    folded       collapsed stacks with the first metric, for flame graphs\n"
        "    speedscope   flame graphs of all, and of each thread\n"
        "    csv          one line for each call path, as 'perfmap report --tree --csv'\n"
        "\n"
        "Traces, of archives made with 'perfmap run --mode trace':\n"
        "\n"
        "    perfetto     protobuf for ui.perfetto.dev; messages are arrows\n"
        "    chrome       JSON, for all that read the Trace Event Format; large\n"
        "    speedscope   stacks over time\n"
        "    otf2         a folder, for Vampir, Scalasca and the like\n"
        "\n"
        "Costs are the own ones of 'perfmap report --tree', and add up to its total. What a format "
        "has no place for (marks, warnings) goes to standard error. docs/EXPORT.md says what each "
        "format carries, and what it loses.",
    .options = export_options,
    .examples = export_examples,
    .main = export_main,
};
