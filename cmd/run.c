/* perfmap run */
#include "run_control.h"
#include "run_request.h"

#include <errno.h>
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

static enum pm_status fill_manifest(const struct run_request *request, struct pm_manifest *manifest,
                                    struct pm_error *err)
{
    char host[256] = "";
    char *cwd = getcwd(NULL, 0);
    (void)gethostname(host, sizeof host - 1);
    bool ok =
        pm_manifest_set_argv(manifest, request->argv, (size_t)request->n_args) &&
        pm_manifest_set_text(&manifest->cwd, cwd ? cwd : "") &&
        pm_manifest_set_text(&manifest->host, host) &&
        pm_manifest_set_text(&manifest->perfmap, PERFMAP_VERSION) &&
        pm_manifest_set_text(&manifest->mode, request->settings.mode) &&
        (!request->asked.text || pm_manifest_set_text(&manifest->question, request->asked.text));
    free(cwd);
    return ok ? PM_OK : pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}
/* --- modes of single nouns --- */

static enum pm_run_mode mode_number(const char *word)
{
    int i = 0;
    while (mode_words[i] && strcmp(mode_words[i], word) != 0)
        i++;
    return (enum pm_run_mode)i;
}

static enum pm_status look_up_names(const struct run_request *request, struct mode_names *names,
                                    struct pm_error *err)
{
    char *program = run_find_program(request->argv[0]);
    enum pm_status status = program ? mode_names_add_program(names, program, err) : PM_OK;
    for (size_t i = 0; i < request->n_look_in && status == PM_OK; i++) {
        if (access(request->look_in[i], R_OK) != 0)
            status = pm_error_system(err, errno, "option '--look-in': cannot read '%s'",
                                     request->look_in[i]);
        else
            status = mode_names_add_program(names, request->look_in[i], err);
    }
    free(program);
    return status == PM_OK ? mode_names_check(names, &request->rules, err) : status;
}

/* What the question needs, and nothing else. */
static enum pm_status look_up_question(struct run_request *request, struct pm_manifest *manifest,
                                       struct pm_error *err)
{
    struct run_question *asked = &request->asked;
    enum pm_status status =
        run_question_look(asked, request->argv[0], request->look_in, request->n_look_in,
                          &request->settings, err, &request->needs);
    manifest->n_question_sleds = asked->n_sleds;
    manifest->n_all_sleds = asked->n_all_sleds;
    if (status == PM_OK && !asked->samples && !request->rate_given)
        request->settings.rate_hz = 0;
    return status;
}

/* The names are kept for `perfmap mode`. */
static enum pm_status make_names(struct run_request *request, struct pm_manifest *manifest,
                                 struct pm_error *err, struct mode_names **ret_names)
{
    *ret_names = mode_names_new();
    if (!*ret_names)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    enum pm_status status = request->asked.text ? look_up_question(request, manifest, err) : PM_OK;
    if (status != PM_OK)
        return status;
    status = request->rules.n ? look_up_names(request, *ret_names, err) : PM_OK;
    for (size_t i = 0; status == PM_OK && i < request->rules.n; i++) {
        struct pm_buf several = PM_BUF_INIT(1 << 20);
        if (mode_names_add_several(*ret_names, &request->rules.items[i], &several))
            cmd_talk("note: %s", several.data);
        pm_buf_release(&several);
    }
    return status;
}

/* Takes the names. Without a socket the run goes on. */
static enum pm_status open_control(struct run_request *request, const char *run_dir,
                                   struct mode_names **names, struct pm_error *err,
                                   struct run_control **ret_control)
{
    struct mode_choice choice = {.mode = mode_number(request->settings.mode),
                                 .question = request->needs,
                                 .rules = request->rules};
    for (size_t i = 0; i < choice.question.n; i++)
        choice.question_has_terms |= choice.question.items[i].inside != 0;
    struct pm_error unheard = PM_ERROR_INIT;
    enum pm_status status = PM_OK;
    if (choice.rules.n || choice.question.n)
        status = mode_names_write_plan(*names, &choice, request->fix, run_dir, err);
    if (status != PM_OK)
        return status;
    *ret_control = run_control_new(run_dir, *names, &choice);
    if (!*ret_control)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    request->rules = (struct mode_rules){0};
    request->needs = (struct mode_needs){0};
    *names = NULL;
    if (run_control_listen(*ret_control, &unheard) != PM_OK)
        cmd_talk("warning: 'perfmap mode' cannot change this run: %s", pm_error_text(&unheard));
    pm_error_release(&unheard);
    return PM_OK;
}

static int run_it(struct cmd_parse *parse, struct run_request *request, const char *output_name)
{
    struct pm_error err = PM_ERROR_INIT;
    struct pm_manifest manifest;
    struct run_output output = {0};
    struct mode_names *names = NULL;
    struct run_control *control = NULL;
    int program_exit = RUN_FAILED;
    struct run_end end = {.exit = RUN_FAILED};
    pm_manifest_init(&manifest);
    if (run_output_check(output_name, request->collect, &err) != PM_OK ||
        run_check_program(request->argv[0], request->force, &err, &program_exit) != PM_OK ||
        fill_manifest(request, &manifest, &err) != PM_OK) {
        (void)cmd_fail(parse, &err);
    } else if (make_names(request, &manifest, &err, &names) != PM_OK) {
        program_exit = err.status == PM_ERR_USAGE ? CMD_USAGE : RUN_FAILED;
        (void)cmd_fail(parse, &err);
    } else if (run_output_make(output_name, request->collect, &err, &output) != PM_OK) {
        (void)cmd_fail(parse, &err);
    } else if (open_control(request, output.run_dir, &names, &err, &control) != PM_OK ||
               run_program(request->argv, output.run_dir, &request->settings, control, &manifest,
                           &err, &end) != PM_OK) {
        program_exit = end.exit;
        (void)cmd_fail(parse, &err);
        run_control_free(control);
        run_drop_folder(output.run_dir);
    } else {
        run_control_end(control);
        program_exit = run_finish(parse, request, &output, &manifest, control, &end);
        run_control_free(control);
    }
    mode_names_free(names);
    run_output_release(&output);
    pm_manifest_release(&manifest);
    return program_exit;
}
static int with_adapters(struct cmd_parse *parse, struct run_request *request, const char *name)
{
    struct pm_error err = PM_ERROR_INIT;
    char *program = run_find_program(request->argv[0]);
    bool has_words = strcmp(request->settings.mode, "off") != 0;
    enum pm_status found =
        run_find_adapters(has_words ? request->adapters : "none", program, request->asked.question,
                          &err, &request->settings.adapters);
    free(program);
    if (found == PM_OK && request->settings.kernel_writes)
        found = run_need_adapter("io", &err, &request->settings.adapters);
    int status = RUN_FAILED;
    if (found == PM_ERR_USAGE) {
        status = cmd_usage_error(parse, "%s", pm_error_text(&err));
        pm_error_release(&err);
    } else if (found != PM_OK) {
        (void)cmd_fail(parse, &err);
    } else if (request->settings.adapters.memory && !run_has_contexts(&request->settings)) {
        status = cmd_usage_error(
            parse, "option '--adapter': memory adds to call paths, which mode %s has not",
            request->settings.mode);
    } else {
        request->settings.heap |= request->settings.adapters.memory;
        status = run_it(parse, request, name);
    }
    run_release_adapters(&request->settings.adapters);
    return status;
}

static int run_named(struct cmd_parse *parse, struct run_request *request)
{
    struct pm_error err = PM_ERROR_INIT;
    request->argv = parse->operands;
    request->n_args = parse->n_operands;
    const char *outer = getenv("PERFMAP_RUN_DIR");
    if (outer && *outer) {
        pm_error_set(
            &err, PM_ERR_USAGE,
            "already measured: this command runs under another 'perfmap run' (run folder '%s'); "
            "start '%s' without 'perfmap run'",
            outer, request->argv[0]);
        (void)cmd_fail(parse, &err);
        return RUN_FAILED;
    }
    char *made = request->output ? NULL : default_output(request->argv[0], request->collect);
    const char *name = request->output ? request->output : made;
    if (!name) {
        pm_error_set(&err, PM_ERR_MEMORY, "out of memory");
        (void)cmd_fail(parse, &err);
        return RUN_FAILED;
    }
    int status = with_adapters(parse, request, name);
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
        status = cmd_usage_error(parse, "no program to run was given");
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
    {128, "and more: the program was ended by the signal with the number above 128 (137: SIGKILL)"},
    {0, NULL}};

const struct cmd cmd_run = {
    .name = "run",
    .summary = "run a program and measure it",
    .usage = (const char *const[]){"run [OPTION]... [--] PROGRAM [ARGUMENT]...", NULL},
    .description =
        "Runs the program with PerfMap's runtime preloaded, which arms the sleds that the compiler "
        "plugin left and keeps what "
        "it measures in one file for each process. Children that the program starts are measured "
        "too. When the "
        "program has ended, the files are collected into one archive for `perfmap report`.\n\n"
        "What a function, loop or statement costs comes from samples: where each thread is at "
        "equal distances of its CPU time. "
        "They are taken by perf events, which Linux allows every user up to "
        "kernel.perf_event_paranoid 2; beyond that by "
        "timers, 250 a second on most kernels. `perfmap doctor` says which.\n\n"
        "Every process of the run is sampled, with or without the plugin: a pipeline, what make "
        "starts, a script's interpreter and its extensions. The program needs no special linking. "
        "What was compiled without the plugin is explained by debug information and symbols: "
        "functions, loops and lines, no calls or arrays. Within a program that has sleds the time "
        "of libraries without counts for their callers.\n\n"
        "An output that is already there is replaced if it is an archive (a run folder) of "
        "PerfMap, and refused if it is "
        "anything else. An old archive is replaced only when the new one is complete, and is kept "
        "as "
        "NAME.perfmap.old.\n\n"
        "A run folder holds the file `manifest` and one file PID.N.pmr for each process image. "
        "Those of processes that have ended are packed, to a tenth of their size. "
        "With an archive as output it "
        "is a temporary folder NAME.run.XXXXXX beside it, which is removed when the archive is "
        "complete. When `perfmap run` itself "
        "is killed, or the archive cannot be written, it stays and `perfmap collect` makes the "
        "archive from it: all that was "
        "measured up to then is in it.\n\n"
        "The runtime is loaded by LD_PRELOAD. That cannot work for programs that are statically "
        "linked, that run with other "
        "privileges (setuid, setgid, file capabilities), or that are made for another processor: "
        "these are refused "
        "before they start.",
    .options = run_options,
    .examples = run_examples,
    .exits = run_exits,
    .environment =
        (const char *const[]){
            "PERFMAP_LIBDIR", "folder with libperfmap-rt.so", "PERFMAP_RUN_DIR",
            "set for the program: its run folder. `perfmap run` inside of a measured program is "
            "refused",
            "ASAN_OPTIONS",
            "verify_asan_link_order=0 is added for the program: one that was built with "
            "-fsanitize=address would not start under LD_PRELOAD otherwise",
            NULL},
    .flags = CMD_STOP_AT_OPERAND,
    .main = run_main};
