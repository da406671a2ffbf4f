/* perfmap mode: changes modes of a run while it goes on. */
#include "cmd/core/cmd.h"
#include "cmd/session/client.h"
#include "cmd/session/control.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>

enum {
    OPT_MODE = CMD_KEY_FIRST,
    OPT_OFF,
    OPT_COUNT,
    OPT_ACTIVE,
    OPT_EXACT,
    OPT_TRACE,
    OPT_SHOW,
    OPT_ONLY,
    OPT_WAIT
};

enum { MAX_REPLY_BYTES = 1 << 24 };

/* --- the answer --- */

static void print_change(const char *line, bool *ret_missing)
{
    char pid[16], answer[16], nouns[16], sleds[16], refused[16], spent[24];
    session_client_value(line, "pid", pid, sizeof pid);
    session_client_value(line, "answer", answer, sizeof answer);
    session_client_value(line, "n_nouns", nouns, sizeof nouns);
    session_client_value(line, "n_sleds", sleds, sizeof sleds);
    session_client_value(line, "n_refused", refused, sizeof refused);
    session_client_value(line, "spent_us", spent, sizeof spent);
    printf("process %s: %s functions and loops changed (%s sleds) in %s us\n", pid, nouns, sleds,
           spent);
    if (!strcmp(answer, "done") && !strcmp(refused, "0"))
        return;
    *ret_missing = true;
    if (!strcmp(answer, "waiting"))
        cmd_talk("process %s has not answered yet: it sleeps or is stopped, and will change when "
                 "it runs",
                 pid);
    else if (!strcmp(answer, "ended"))
        cmd_talk("process %s has ended meanwhile", pid);
    else if (!strcmp(answer, "unknown"))
        cmd_talk("process %s cannot be asked: its runtime is of another version, or its run file "
                 "is full",
                 pid);
    else
        cmd_talk(
            "process %s refused to change %s functions and loops: a thread blocks SIGTRAP, or code "
            "cannot be written",
            pid, refused);
}

static void print_process(const char *line)
{
    char pid[16], lowered[16], number[16];
    session_client_value(line, "pid", pid, sizeof pid);
    printf("process %s:", pid);
    for (uint32_t i = PM_N_RUN_MODES; i-- > 0;) {
        session_client_value(line, pm_mode_name(i), number, sizeof number);
        if (strcmp(number, "0") != 0)
            printf(" %s %s", number, pm_mode_name(i));
    }
    session_client_value(line, "by_budget", lowered, sizeof lowered);
    printf(" (by the budget: %s)\n", lowered);
}

static void print_rule(const char *line)
{
    char value[4096];
    for (uint32_t i = 0; i < PM_N_RUN_MODES; i++) {
        session_client_value(line, pm_mode_name(i), value, sizeof value);
        if (*value)
            printf("  --%s '%s'\n", pm_mode_name(i), value);
    }
}

static int print_answer(struct cmd_parse *parse, char *text)
{
    bool missing = false, ended = false;
    char value[4096], *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        if (!strncmp(line, "process ", 8) && strstr(line, " answer="))
            print_change(line, &missing);
        else if (!strncmp(line, "process ", 8))
            print_process(line);
        else if (!strncmp(line, "run ", 4)) {
            session_client_value(line, "mode", value, sizeof value);
            printf("mode %s\n", value);
        } else if (!strncmp(line, "rule ", 5))
            print_rule(line);
        else if (!strncmp(line, "error ", 6)) {
            struct pm_error err = PM_ERROR_INIT;
            bool usage = !strncmp(line, "error usage", 11);
            session_client_value(line, "text", value, sizeof value);
            pm_error_set(&err, usage ? PM_ERR_USAGE : PM_ERR_SYSTEM, "%s", value);
            (void)cmd_fail(parse, &err);
            return usage ? CMD_USAGE : CMD_FAILED;
        } else if (!strcmp(line, "ok"))
            ended = true;
    }
    if (!ended) {
        struct pm_error err = PM_ERROR_INIT;
        pm_error_set(&err, PM_ERR_SYSTEM, "the run went away before it had answered");
        return cmd_fail(parse, &err);
    }
    return cmd_stdout_done(parse, missing ? CMD_FAILED : CMD_DONE);
}

/* --- the command --- */

struct mode_request {
    struct pm_buf words; /* of the request, in the order given */
    bool show, change, only;
    uint64_t wait_ns;
};

static void add_pattern(struct cmd_parse *parse, struct mode_request *request,
                        enum pm_run_mode mode)
{
    const char *problem = mode_pattern_problem(parse->value);
    if (problem) {
        (void)cmd_usage_error(parse, "option '--%s', pattern '%s': %s", parse->option, parse->value,
                              problem);
        parse->failed = true;
    }
    control_add_word(&request->words, pm_mode_name(mode), parse->value);
    request->change = true;
}

static void read_options(struct cmd_parse *parse, struct mode_request *request)
{
    static const char *const set_words[] = {"active", "exact", "trace", "count"};
    for (int key; (key = cmd_next(parse)) != CMD_END;)
        switch (key) {
        case OPT_MODE:
            control_add_word(&request->words, "set", set_words[parse->choice]);
            request->change = true;
            break;
        case OPT_SHOW:
            request->show = true;
            break;
        case OPT_ONLY:
            request->only = true;
            break;
        case OPT_WAIT:
            cmd_time(parse, 600000000000u, &request->wait_ns);
            break;
        default:
            add_pattern(parse, request, (enum pm_run_mode)(key - OPT_OFF));
        }
}

static enum pm_status do_ask(struct cmd_parse *parse, struct mode_request *request,
                             const uint64_t *pids, struct pm_error *err, struct pm_buf *reply)
{
    char run_dir[PATH_MAX];
    struct pm_buf line = PM_BUF_INIT(CONTROL_LINE_MAX);
    enum pm_status status = session_client_find(pids[0], err, run_dir);
    pm_buf_printf(&line, "perfmap 1 %s wait_ms=%" PRIu64, request->change ? "mode" : "show",
                  request->wait_ns / 1000000);
    for (int i = 0; i < parse->n_operands && request->only; i++)
        pm_buf_printf(&line, " pid=%" PRIu64, pids[i]);
    if (request->words.data)
        pm_buf_add_str(&line, request->words.data);
    pm_buf_add_byte(&line, '\n');
    if (status == PM_OK && (line.failed || request->words.failed))
        status = pm_error_set(err, PM_ERR_LIMIT, "the patterns are longer than %d bytes together",
                              CONTROL_LINE_MAX);
    if (status == PM_OK)
        status = session_client_ask(run_dir, &line, err, reply);
    pm_buf_release(&line);
    return status;
}

static int mode_main(struct cmd_parse *parse)
{
    struct mode_request request = {.words = PM_BUF_INIT(CONTROL_LINE_MAX), .wait_ns = 2000000000};
    uint64_t pids[64] = {0};
    read_options(parse, &request);
    int exit_status = parse->failed ? CMD_USAGE : CMD_DONE;
    if (!exit_status && parse->n_operands == 0)
        exit_status =
            cmd_usage_error(parse, "expected the number of a process that 'perfmap run' measures");
    else if (!exit_status && parse->n_operands > 64)
        exit_status = cmd_usage_error(parse, "more than 64 processes were given");
    else if (!exit_status && !request.change && !request.show)
        exit_status = cmd_usage_error(parse, "expected what to change, such as '--mode exact'; "
                                             "'--show' only shows what is in force");
    else if (!exit_status && request.change && request.show)
        exit_status =
            cmd_usage_error(parse, "option '--show' changes nothing: use it without the others");
    for (int i = 0; i < parse->n_operands && !exit_status; i++)
        if (!pm_str_to_u64(pm_str_of(parse->operands[i]), INT_MAX, &pids[i]) || pids[i] == 0)
            exit_status =
                cmd_usage_error(parse, "'%s' is not a process number", parse->operands[i]);
    struct pm_error err = PM_ERROR_INIT;
    struct pm_buf reply = PM_BUF_INIT(MAX_REPLY_BYTES);
    if (!exit_status)
        exit_status = do_ask(parse, &request, pids, &err, &reply) == PM_OK
                          ? print_answer(parse, reply.data)
                          : cmd_fail(parse, &err);
    pm_buf_release(&reply);
    pm_buf_release(&request.words);
    return exit_status;
}

static const struct cmd_option mode_options[] = {
    {OPT_MODE, "mode", "active|exact|trace|count",
     "measure everything in this mode from now on; earlier patterns no longer count"},
    {OPT_OFF, "off", "PATTERN", "stop measuring these functions and loops"},
    {OPT_COUNT, "count", "PATTERN", "only count calls of these"},
    {OPT_ACTIVE, "active", "PATTERN", "follow these in call paths, without times"},
    {OPT_EXACT, "exact", "PATTERN", "time all calls of these"},
    {OPT_TRACE, "trace", "PATTERN",
     "time and record all calls of these one by one. Patterns are as in 'perfmap run'; the last "
     "one that matches decides"},
    {OPT_SHOW, "show", NULL, "print what is in force, and change nothing"},
    {OPT_ONLY, "only", NULL,
     "change only the given processes, as they are now; without it, all of the run, and those that "
     "it starts later"},
    {OPT_WAIT, "wait", "TIME", "wait at most this long for answers: 0.5s, 1m (default: 2s)"},
    {0}};

static const char *const mode_usage[] = {"mode [OPTION...] PID...", NULL};

static const struct cmd_example mode_examples[] = {
    {"perfmap mode 4711 --exact 'func:parse_*'", "from now on, time all calls of these functions"},
    {"perfmap mode 4711 --mode active", "back to call paths and samples for all"},
    {NULL, NULL}};

const struct cmd cmd_mode = {
    .name = "mode",
    .summary = "change what is measured while the program runs",
    .usage = mode_usage,
    .description = "Changes the mode of functions and loops of a running program that 'perfmap "
                   "run' measures. PID is any process of the run.\n\nA program that computes "
                   "changes at once, and one that sleeps changes when it runs again. Reports say "
                   "when something was measured in another mode.",
    .options = mode_options,
    .examples = mode_examples,
    .main = mode_main,
};
