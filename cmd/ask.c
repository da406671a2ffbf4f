/* perfmap ask */
#include "ask.h"
#include "cmd/core/archives.h"

#include <stdlib.h>

enum {
    OPT_METRIC = CMD_KEY_FIRST,
    OPT_FOLD,
    OPT_OVERLAY,
    OPT_LIMIT,
    OPT_CSV,
    OPT_NO_COMPENSATION,
    OPT_LIVE,
    OPT_EVERY,
    OPT_FOR,
    OPT_MODE
};
enum { LIVE_MS = 5000 };

struct ask_request {
    struct show_answer_options options;
    struct pm_view_options report;
    struct ask_live live;
    bool limit_given, is_live;
};

static int ask(struct cmd_parse *parse, struct ask_request *request)
{
    struct pm_error err = PM_ERROR_INIT;
    struct pm_view report = {.options = request->report};
    enum pm_status status = show_question(&report, &request->options, &err);
    int end;
    end = status == PM_OK ? cmd_stdout_done(parse, CMD_DONE) : cmd_refuse(parse, status, &err);
    pm_view_release(&report);
    return end;
}

static int ask_running(struct cmd_parse *parse, struct ask_request *request)
{
    if (parse->n_operands != 1)
        return cmd_usage_error(parse, "expected a question (in quotes), and no archive");
    if (request->report.from || request->report.to)
        return cmd_usage_error(parse, "options '--from' and '--to' are of a run that has ended: "
                                      "'--for' says how long '--live' waits");
    request->options.text = parse->operands[0];
    if (!request->live.every_ms && !request->live.for_ms)
        request->live.for_ms = LIVE_MS;
    return ask_live(parse, &request->live, &request->options, &request->report);
}

static void take_options(struct cmd_parse *parse, struct ask_request *request)
{
    static const char *const modes[] = {"active", "exact", "trace"};
    for (int key; (key = cmd_next(parse)) != CMD_END;)
        switch (key) {
        case OPT_METRIC:
            request->report.metrics = parse->value;
            break;
        case OPT_FOLD:
            request->report.folds = parse->choice == 0;
            break;
        case OPT_NO_COMPENSATION:
            request->report.no_compensation = true;
            break;
        case OPT_LIMIT:
            request->limit_given = cmd_number(parse, UINT32_MAX, &request->options.limit);
            break;
        case OPT_CSV:
            request->options.csv = true;
            break;
        case CMD_KEY_JSON:
            request->options.json = true;
            break;
        case OPT_LIVE:
            request->is_live = cmd_number(parse, INT32_MAX, &request->live.pid);
            break;
        case OPT_OVERLAY:
            cmd_take_overlay(parse, &request->report);
            break;
        case OPT_EVERY:
            cmd_take_ms(parse, &request->live.every_ms);
            break;
        case OPT_FOR:
            cmd_take_ms(parse, &request->live.for_ms);
            break;
        case OPT_MODE:
            request->live.mode = modes[parse->choice];
            break;
        default:
            if (!cmd_take_interval(parse, key, &request->report.from, &request->report.to))
                cmd_take_look(parse, key, &request->options.look);
        }
}

static int ask_main(struct cmd_parse *parse)
{
    struct ask_request request = {.options = {.limit = SHOW_ANSWER_ROWS},
                                  .report = {.level = "source"}};
    take_options(parse, &request);
    if (parse->failed)
        return CMD_USAGE;
    if (request.options.json && request.options.csv)
        return cmd_usage_error(parse,
                               "options '--json' and '--csv' cannot be combined: choose one");
    if ((request.options.json || request.options.csv) && !request.limit_given)
        request.options.limit = 0;
    if (request.is_live && request.report.overlays[0])
        return cmd_usage_error(parse, "'--overlay' is for archives: a running program has none");
    if (request.is_live)
        return ask_running(parse, &request);
    if (request.live.every_ms || request.live.for_ms || request.live.mode)
        return cmd_usage_error(parse, "options '--every', '--for' and '--mode' need '--live PID'");
    char *archive;
    if (!cmd_archive_operands(parse, "a question (in quotes)", false, &request.options.text,
                              &archive))
        return CMD_USAGE;
    request.report.archive_path = archive;
    int end = ask(parse, &request);
    free(archive);
    return end;
}

static const struct cmd_option ask_options[] = {
    {OPT_METRIC, "metric", "NAMES",
     "metrics to show, separated by commas. The first one, except n_calls, decides shares and "
     "order (default: the time that was measured). 'NAME = FORMULA' is made of others, as 'ipc = "
     "instructions / cycles'"},
    {OPT_FOLD, "fold", "system|none",
     "code of system headers (C++'s library): it counts for the program's code that uses it, and "
     "questions cannot name it (system), or it counts for itself (none, default)"},
    CMD_OVERLAY_OPTION(OPT_OVERLAY),
    {OPT_LIMIT, "limit", "NUMBER",
     "rows to print, 0 for all (default: 20; with --json and --csv all)"},
    {OPT_NO_COMPENSATION, "no-compensation", NULL,
     "leave the estimated cost of measuring in the times (mode exact)"},
    {OPT_LIVE, "live", "PID",
     "ask a running program that 'perfmap run' measures; PID is any process of the run. What the "
     "question needs is armed, and set back afterwards. The answer covers the time between"},
    {OPT_EVERY, "every", "TIME",
     "with --live: one answer for each interval of this length (0.5s, 200ms), until Ctrl-C or the "
     "program's end"},
    {OPT_FOR, "for", "TIME",
     "with --live: how long to ask (default: 5s; with --every, without end)"},
    {OPT_MODE, "mode", "active|exact|trace",
     "with --live: the mode for what the question needs (default: the run's own)"},
    CMD_INTERVAL_OPTIONS,
    {CMD_KEY_JSON, "json", NULL, "as JSON; docs/questions.md has the schema"},
    {OPT_CSV, "csv", NULL, "as CSV, one line for each row after a line of names"},
    CMD_LOOK_OPTIONS,
    {0}};

static const char *const ask_usage[] = {"ask [OPTION]... QUESTION [ARCHIVE]",
                                        "ask --live PID [OPTION]... QUESTION", NULL};

static const struct cmd_example ask_examples[] = {
    {"perfmap ask '{u Reads}' heat.perfmap", "what do reads of the array u cost?"},
    {"perfmap ask '{u Reads}, {sweep Executes}' heat.perfmap",
     "and those within the function sweep?"},
    {"perfmap ask '{main Executes} then {? Reads}, not {setup Executes}'",
     "reads of anything inside main, but not during setup"},
    {"perfmap ask '{file:heat.c ?}' --metric cpu_ns,n_calls", "all that heat.c does"},
    {"perfmap ask --live 4711 '{sweep Executes}' --every 1s",
     "what sweeps cost in each second of a program that runs"},
    {NULL, NULL}};

static const char *const ask_environment[] = {"COLUMNS",
                                              "width of the table (default: the terminal's; in a "
                                              "file or a pipe, room for names of 160 columns)",
                                              "NO_COLOR",
                                              "if not empty: no colours with --color=auto", NULL};

const struct cmd cmd_ask = {
    .name = "ask",
    .summary = "ask what was spent while some sentences were active",
    .usage = ask_usage,
    .description =
        "A question is made of sentences, nouns and a verb in braces: {u Reads}. Its answer is the "
        "cost that was incurred while they were active: on the path of calls and "
        "loops, or because the code that ran implements them. Words between sentences:\n"
        "\n"
        "    {a V}, {b V}       both are active (also 'and')\n"
        "    {a V} or {b V}     one of them is\n"
        "    not {a V}          it is not\n"
        "    {a V} then {b V}   b became active inside a, not a inside b\n"
        "    ... on thread T    also process P: costs of some only\n"
        "    ... during P       while P was begun, a phase, say; or outside P\n"
        "\n"
        "A noun or verb may be ? (any) or have * and ? in it; LEVEL::NAME says the level, "
        "KIND:NAME the kind, as in loop:heat.c:22. A name with blanks or braces needs quotes. "
        "Parts of a noun belong to it: a function's loops, a file's functions. Without a "
        "level the "
        "highest one counts that has what fits. 'perfmap nouns', "
        "'verbs', 'sentences' and 'levels' show what can be asked.\n"
        "\n"
        "Each row names the sentences that matched; code that implements several of them at once "
        "is "
        "one row. 'shared' is the part of a cost whose code does the same for others as well. "
        "'deferred' is the part in which a match was active by a cause only: work that was handed "
        "over "
        "to another thread or process. 'times' is how "
        "often the row became active, as far as calls were counted.",
    .options = ask_options,
    .examples = ask_examples,
    .environment = ask_environment,
    .main = ask_main,
};
