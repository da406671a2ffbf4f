/* perfmap run */
#include "run_request.h"

#include <limits.h>
#include <unistd.h>

/* PROGRAM.perfmap or PROGRAM.run, in the current folder. */
static char *default_output(const char *program, bool collect)
{
    const char *slash = strrchr(program, '/');
    struct pm_buf name = PM_BUF_INIT(PATH_MAX);
    pm_buf_printf(&name, "%s%s", slash ? slash + 1 : program, collect ? ".perfmap" : ".run");
    return pm_buf_take(&name);
}

/* The session's steps, and what each of them has to say. */
static int run_session(struct cmd_parse *parse, struct run_request *request)
{
    struct pm_error err = PM_ERROR_INIT;
    struct session_notes notes = {0};
    struct session session;
    struct session_end end = {.exit = SESSION_FAILED};
    enum pm_status status = session_prepare(&request->session, &notes, &err, &session, &end.exit);
    if (status == PM_OK)
        status = session_open(&session, &notes, &err);
    run_print_notes(&notes);
    if (status == PM_OK)
        status = session_run(&session, &notes, &err, &end);
    run_print_notes(&notes);
    if (status == PM_OK)
        end.exit = run_finish(parse, request, &session, &end);
    else
        (void)cmd_fail(parse, &err);
    session_release(&session);
    return end.exit;
}

static int with_adapters(struct cmd_parse *parse, struct run_request *request)
{
    struct pm_error err = PM_ERROR_INIT;
    struct session_settings *settings = &request->session.settings;
    struct session_adapters *adapters = &settings->adapters;
    char *program = session_find_program(request->session.argv[0]);
    const char *choice = settings->runtime.mode != PM_RUN_MODE_OFF ? request->adapters : "none";
    enum pm_status found =
        session_find_adapters(choice, program, request->session.asked.question, &err, adapters);
    free(program);
    if (found == PM_OK && adapters->offered)
        cmd_talk("note: --adapter %s shows this program at a level of its own, at %s",
                 adapters->offered, adapters->offered_cost);
    if (found == PM_OK && settings->runtime.kernel_writes)
        found = session_need_adapter("io", &err, adapters);
    int status = SESSION_FAILED;
    if (found == PM_ERR_USAGE) {
        status = cmd_usage_error(parse, "%s", pm_error_text(&err));
        pm_error_release(&err);
    } else if (found != PM_OK) {
        (void)cmd_fail(parse, &err);
    } else if (adapters->memory && !session_has_contexts(settings)) {
        status = cmd_usage_error(
            parse, "option '--adapter': the adapter memory needs call paths, and mode %s has none",
            pm_mode_name(settings->runtime.mode));
    } else {
        settings->runtime.heap |= adapters->memory;
        status = run_session(parse, request);
    }
    session_release_adapters(adapters);
    return status;
}

/* Each event is tried before the program starts. */
static enum pm_status set_counters(struct run_request *request, struct pm_error *err)
{
    enum pm_status status = session_counters_check(&request->counters, err);
    if (status != PM_OK)
        return status;
    status = session_counters_text(&request->counters, err, &request->counters_text);
    request->session.settings.runtime.counters = request->counters_text;
    request->session.settings.counts_libraries =
        session_counters_need_libraries(&request->counters);
    return status;
}

static int run_named(struct cmd_parse *parse, struct run_request *request)
{
    struct pm_error err = PM_ERROR_INIT;
    struct session_request *session = &request->session;
    session->argv = parse->operands;
    session->n_args = (size_t)parse->n_operands;
    const char *program = session->argv[0], *outer = getenv(PM_SETTING_RUN_DIR);
    if (outer && *outer) {
        pm_error_set(
            &err, PM_ERR_USAGE,
            "already measured: this command runs under another 'perfmap run' (run folder '%s'); "
            "start '%s' without 'perfmap run'",
            outer, program);
        (void)cmd_fail(parse, &err);
        return SESSION_FAILED;
    }
    if (set_counters(request, &err) != PM_OK) {
        (void)cmd_fail(parse, &err);
        return SESSION_FAILED;
    }
    char *made = session->output ? NULL : default_output(program, session->collect);
    if (made)
        session->output = made;
    if (!session->output) {
        pm_error_set(&err, PM_ERR_MEMORY, "out of memory");
        (void)cmd_fail(parse, &err);
        return SESSION_FAILED;
    }
    struct session_job job = {0};
    if (session->collect && session_job_find(session->output, &job))
        session->job = &job;
    int status = with_adapters(parse, request);
    session_job_release(&job);
    free(made);
    return status;
}

static int run_main(struct cmd_parse *parse)
{
    struct run_request request;
    run_request_init(&request);
    run_take_options(parse, &request);
    int status = CMD_USAGE;
    if (!parse->failed && (parse->n_operands == 0 || !*parse->operands[0]))
        status = cmd_usage_error(parse, "expected a program to run");
    else if (!parse->failed)
        status = run_named(parse, &request);
    run_request_release(&request);
    return status;
}

static const struct cmd_example run_examples[] = {
    {"perfmap run -- ./heat 100", "run, measure, and write heat.perfmap"},
    {"perfmap run -o heat.run --no-collect -- ./heat && perfmap collect heat.run -o heat.perfmap",
     "the same in two steps; the second may be done on another machine"},
    {"perfmap run --ask '{main Executes} then {sweep Executes}' -- ./heat",
     "what sweeps inside main cost, and nothing else measured"},
    {"perfmap run --mode count -o make.perfmap -- make test",
     "count calls in all programs that make starts"},
    {NULL, NULL}};

static const struct cmd_exit run_exits[] = {
    {0, "the program ended with 0 and what was measured is written. Any other status of the "
        "program is passed on"},
    {2, "wrong usage"},
    {125, "perfmap itself failed: the output cannot be written, or the runtime cannot be loaded "
          "into the program"},
    {126, "the program was found and cannot be executed"},
    {127, "the program was not found"},
    {128, "and more: a signal ended the program; its number is the status less 128 (137: SIGKILL)"},
    {0, NULL}};

const struct cmd cmd_run = {
    .name = "run",
    .summary = "run a program and measure it",
    .usage = (const char *const[]){"run [OPTION]... [--] PROGRAM [ARGUMENT]...", NULL},
    .description =
        "Runs the program with PerfMap's runtime preloaded. The runtime arms the sleds that the "
        "compiler plugin left, and writes what it measures to one file for each process. Children "
        "of the program are measured too. When the program has ended, the files are collected into "
        "one archive for `perfmap report`.\n\nCosts of functions, loops and statements come from "
        "samples, which look at each thread at equal steps of its CPU time. They are taken by perf "
        "events, which Linux allows every user up to kernel.perf_event_paranoid 2. Otherwise "
        "timers take them, 250 a second on most kernels. `perfmap doctor` says which.\n\nEvery "
        "process of the run is sampled, with or without the plugin: a pipeline, what make starts, "
        "a script's interpreter and its extensions. The program needs no special linking. Debug "
        "information and symbols explain what was compiled without the plugin: functions, loops "
        "and lines, but no calls or arrays. If the program has sleds, the time of libraries "
        "without sleds counts for their callers.\n\nAn output that exists is replaced if it is an "
        "archive (or a run folder) of PerfMap, and refused if it is anything else. The old archive "
        "is kept as NAME.perfmap.old.\n\nA run folder has the file `manifest` and one file "
        "PID.N.pmr for each process image. Files of processes that have ended are packed, to a "
        "tenth of their size. With an archive as output, the run folder is temporary: "
        "NAME.run.XXXXXX beside the archive. It is removed when the archive is complete. If "
        "`perfmap run` is killed, or the archive cannot be written, the folder stays: `perfmap "
        "collect` makes the archive from it, with all that was measured up to then.\n\nLD_PRELOAD "
        "loads the runtime. That cannot work for programs that are statically linked, that run "
        "with other privileges (setuid, setgid, file capabilities), or that are made for another "
        "processor. `perfmap run` refuses to start them.",
    .options = run_options,
    .examples = run_examples,
    .exits = run_exits,
    .environment =
        (const char *const[]){"PERFMAP_LIBDIR", "folder with libperfmap-rt.so", PM_SETTING_RUN_DIR,
                              "set for the program: its run folder. `perfmap run` inside a "
                              "measured program is refused",
                              "ASAN_OPTIONS",
                              "verify_asan_link_order=0 is added for the program: otherwise one "
                              "built with -fsanitize=address does not start under LD_PRELOAD",
                              NULL},
    .flags = CMD_STOP_AT_OPERAND,
    .main = run_main};
