/* perfmap run */
#include "run.h"
#include "run_control.h"

#include "mapping/archive/collect.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <unistd.h>

enum {
    OPT_NO_COLLECT = CMD_KEY_FIRST,
    OPT_MODE,
    OPT_RATE,
    OPT_CLOCK,
    OPT_BUDGET,
    OPT_MAX_CONTEXTS,
    OPT_MAX_DEPTH,
    OPT_MAX_NOUNS,
    OPT_MAPPING_POINTS,
    OPT_HEAP,
    OPT_HEAP_MIN,
    OPT_TRACE_LIMIT,
    OPT_TRACE_KEEP,
    OPT_ADAPTER,
    OPT_KERNEL_WRITES,
    OPT_FORCE,
    OPT_LOOK_IN,
    OPT_ASK,
    OPT_METRIC,
    OPT_OFF, /* and the other modes, in the order of enum pm_run_mode */
    OPT_COUNT,
    OPT_ACTIVE,
    OPT_EXACT,
    OPT_TRACE,
};

static const char *const mode_names[] = {"active", "exact", "trace", "count", "off"};
static const char *const keep_names[] = {"newest", "oldest"};
static const char *const clock_names[] = {"cpu", "wall"};

/* Not a divisor of the kernel's tick rate, nor of much else: what happens at regular times must not be seen always or never. */
enum { DEFAULT_RATE_HZ = 401, SENSIBLE_RATE_HZ = 4000, MAX_RATE_HZ = 10000 };
/* Samples and events together. The default rate takes about half of it. */
enum { DEFAULT_BUDGET_PPM = 20000 };
/* For `perfmap ask --live` to read the end of the run in its folder. */
enum { ASKERS_MS = 30000 };

struct run_request {
    const char *output; /* NULL: from the program's name */
    bool collect, force;
    struct run_settings settings;
    struct mode_rules rules;
    struct run_question asked;
    struct mode_needs needs; /* of the question */
    const char *adapters;    /* auto, none, or their names */
    const char **look_in;    /* other files that patterns are looked up in; lent */
    size_t n_look_in;
    bool fix; /* the budget leaves alone what patterns name */
    bool rate_given;
    char **argv;
    int n_args;
};

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

static const char *plural(size_t n, const char *many)
{
    return n == 1 ? "" : many;
}

/* What the program or an adapter says in its own words is at another level than the program's source. */
static void add_reports(struct pm_buf *out, const char *name, const struct run_findings *findings)
{
    char *level = *findings->level ? cmd_shell_quote(findings->level) : NULL;
    bool only_words = level && !findings->n_code_sleds;
    pm_buf_printf(out, "report --level %s %s", only_words ? level : "source", name);
    if (level && !only_words)
        pm_buf_printf(out, ", and --level %s", level);
    free(level);
}

static void tell_end(const struct run_request *request, const struct run_output *output,
                     const struct pm_manifest *manifest, const struct run_findings *findings)
{
    char *name = cmd_shell_quote_file(output->name);
    double seconds = (double)(manifest->end_monotonic_ns - manifest->start_monotonic_ns) / 1e9;
    if (manifest->exit_signal > 0)
        cmd_talk("'%s' was ended by signal %d (%s)", request->argv[0], manifest->exit_signal,
                 strsignal(manifest->exit_signal));
    if (findings->n_sleds == 0 && run_has_sleds(request->argv[0]))
        cmd_talk("warning: nothing inside the program was measured, although it has sleds: the "
                 "runtime could not leave a run file");
    else if (findings->n_sleds == 0 && request->settings.adapters.offered)
        cmd_talk("warning: nothing inside the program was measured: run it with --adapter %s, or, "
                 "for its "
                 "C code, compile it with -fplugin=$(perfmap plugin-path)",
                 request->settings.adapters.offered);
    else if (findings->n_sleds == 0)
        cmd_talk("warning: nothing inside the program was measured, for it has no sleds: compile "
                 "it with -fplugin=$(perfmap plugin-path)");
    char *dir = cmd_shell_quote(output->run_dir);
    if (findings->running_pid)
        cmd_talk("note: process %u still runs; when it has ended, 'perfmap collect %s' makes the "
                 "archive with all that it did",
                 (unsigned)findings->running_pid, dir ? dir : output->run_dir);
    else if (findings->n_damaged && output->collect)
        cmd_talk("note: the run folder %s is kept, for some of it is damaged",
                 dir ? dir : output->run_dir);
    free(dir);
    struct pm_buf next = PM_BUF_INIT(1 << 16);
    const char *shown = name ? name : output->name;
    if (output->collect)
        add_reports(&next, shown, findings);
    else
        pm_buf_printf(&next, "collect %s -o NAME.perfmap", shown);
    cmd_talk("wrote %s: %.2f s, %zu measured process%s; try: perfmap %s", shown, seconds,
             findings->n_processes, plural(findings->n_processes, "es"),
             next.data ? next.data : "report");
    pm_buf_release(&next);
    free(name);
}

/* That it stays is no failure. */
static void remove_run_folder(const char *run_dir)
{
    struct pm_error err = PM_ERROR_INIT;
    if (run_folder_remove(run_dir, &err) != PM_OK)
        cmd_talk("warning: %s", pm_error_text(&err));
    pm_error_release(&err);
}

/* Makes the archive. The run folder goes away only when all of it is in the archive. */
static enum pm_status collect_run(const struct run_output *output,
                                  const struct run_findings *findings, struct run_control *control,
                                  struct pm_error *err)
{
    const char *runs[] = {output->run_dir}, *slash = strrchr(output->name, '/');
    struct pm_collect_result result = {0};
    struct pm_collect_options options = {.size = sizeof options,
                                         .name = slash ? slash + 1 : output->name};
    struct run_kept kept;
    run_output_keep(output->name, &kept);
    (void)signal(SIGXFSZ, SIG_IGN); /* a limit is an error of the archive; the program has ended */
    enum pm_status status = pm_collect(runs, 1, output->name, &options, err, &result);
    run_output_kept(&kept, status == PM_OK);
    if (status != PM_OK)
        return status;
    for (size_t i = 0; i < result.n_warnings; i++)
        cmd_talk("warning: %s", result.warnings[i]);
    if (!findings->running_pid && !findings->n_damaged) {
        run_control_wait_for_askers(control, ASKERS_MS);
        remove_run_folder(output->run_dir);
    }
    pm_collect_result_release(&result);
    return PM_OK;
}

/* What was measured is kept whatever happens now. */
static int after_run(struct cmd_parse *parse, const struct run_request *request,
                     const struct run_output *output, struct pm_manifest *manifest,
                     struct run_control *control, int program_exit)
{
    struct pm_error err = PM_ERROR_INIT;
    struct run_findings findings;
    int failed = program_exit ? program_exit : RUN_FAILED;
    int end = program_exit;
    if (pm_manifest_write(output->run_dir, manifest, &err) != PM_OK) {
        (void)cmd_fail(parse, &err);
        end = failed;
    }
    run_findings_print(output->run_dir, manifest, !output->collect, &findings);
    if (output->collect && collect_run(output, &findings, control, &err) != PM_OK) {
        (void)cmd_fail(parse, &err);
        char *dir = cmd_shell_quote(output->run_dir);
        cmd_talk("what was measured is kept in %s; try: perfmap collect %s -o NAME.perfmap",
                 dir ? dir : output->run_dir, dir ? dir : output->run_dir);
        free(dir);
        return failed;
    }
    tell_end(request, output, manifest, &findings);
    if (request->asked.text && output->collect &&
        !run_question_answer(&request->asked, output->name))
        return failed;
    return end;
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
    return request->rules.n ? look_up_names(request, *ret_names, err) : PM_OK;
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
                           &err, &program_exit) != PM_OK) {
        (void)cmd_fail(parse, &err);
        run_control_free(control);
        remove_run_folder(output.run_dir);
    } else {
        run_control_end(control);
        program_exit = after_run(parse, request, &output, &manifest, control, program_exit);
        run_control_free(control);
    }
    mode_names_free(names);
    run_output_release(&output);
    pm_manifest_release(&manifest);
    return program_exit;
}

/* "none", or percent with at most four decimals, as millionths. */
static void parse_max_nouns(struct cmd_parse *parse, uint64_t *ret_number)
{
    uint64_t number;
    if (!cmd_number(parse, 1u << 21, &number))
        return;
    if (number > 0 && number < 16)
        (void)cmd_usage_error(parse, "option '--max-nouns' takes 16 and more, or 0, not '%s'",
                              parse->value);
    *ret_number = number;
}

enum { MAX_POINTS_BYTES = 255 }; /* as the runtime keeps */

static void parse_points(struct cmd_parse *parse, const char **ret_names)
{
    if (*parse->value == 0 || strlen(parse->value) > MAX_POINTS_BYTES)
        (void)cmd_usage_error(parse,
                              "option '--mapping-points' takes names separated by commas, "
                              "up to %d bytes, or all, or none",
                              MAX_POINTS_BYTES);
    *ret_names = parse->value;
}

static void parse_budget(struct cmd_parse *parse, uint64_t *ret_ppm)
{
    const char *text = parse->value;
    uint64_t ppm = 0, unit = 0;
    if (strcmp(text, "none") == 0) {
        *ret_ppm = 0;
        return;
    }
    bool ok = *text >= '0' && *text <= '9';
    for (const char *p = text; ok && *p && strcmp(p, "%") != 0; p++)
        if (*p == '.' && !unit) {
            unit = 10000;
        } else if (*p < '0' || *p > '9' || unit == 1 || ppm > 1000000) {
            ok = false;
        } else if (unit) {
            unit /= 10;
            ppm += (uint64_t)(*p - '0') * unit;
        } else {
            ppm = ppm * 10 + (uint64_t)(*p - '0') * 10000;
        }
    if (ok && ppm > 0 && ppm <= 1000000) {
        *ret_ppm = ppm;
        return;
    }
    (void)cmd_usage_error(
        parse, "option '--budget' takes a percentage from 0.0001 to 100, or none, not '%s'", text);
    parse->failed = true;
}

/* Bytes, with K, M, G or T for 2^10, 2^20, ... of them. */
static void parse_trace_limit(struct cmd_parse *parse, uint64_t *ret_bytes)
{
    static const char units[] = "KMGT";
    char *end;
    errno = 0;
    unsigned long long number = strtoull(parse->value, &end, 10);
    const char *unit = *end ? strchr(units, *end & ~0x20) : NULL;
    unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    bool ok = *parse->value >= '0' && *parse->value <= '9' && errno == 0 &&
              (*end == 0 || (unit && end[1] == 0)) && number >> (63 - shift) == 0;
    if (ok && number << shift >= 1 << 20) {
        *ret_bytes = number << shift;
        return;
    }
    (void)cmd_usage_error(
        parse, "option '--trace-limit' takes bytes, 1M at least, as 500M or 2G, not '%s'",
        parse->value);
    parse->failed = true;
}

/* The modes count and off have none. */
static bool has_contexts(const struct run_settings *settings)
{
    return settings->mode == mode_names[0] || settings->mode == mode_names[1] ||
           settings->mode == mode_names[2];
}

/* Samples belong to contexts. */
static void check_sampling(struct cmd_parse *parse, const struct run_settings *settings,
                           bool rate_given)
{
    if (!has_contexts(settings) && rate_given && settings->rate_hz) {
        (void)cmd_usage_error(parse, "option '--rate': mode %s takes no samples", settings->mode);
        parse->failed = true;
    } else if (settings->rate_hz > SENSIBLE_RATE_HZ) {
        cmd_talk("warning: a sample costs about 10 us, so %llu a second slow the program by about "
                 "%llu %%; 4000 and "
                 "less are sensible",
                 (unsigned long long)settings->rate_hz,
                 (unsigned long long)(settings->rate_hz / 1000));
    }
}

static void add_pattern(struct cmd_parse *parse, struct run_request *request, enum pm_run_mode mode)
{
    const char *problem = mode_pattern_problem(parse->value);
    if (problem || !mode_rules_add(&request->rules, mode, parse->value)) {
        (void)cmd_usage_error(parse, "option '--%s', pattern '%s': %s", parse->option, parse->value,
                              problem ? problem : "too many");
        parse->failed = true;
    }
}

static void add_look_in(struct cmd_parse *parse, struct run_request *request)
{
    const char **files = pm_realloc_array(request->look_in, request->n_look_in + 1, sizeof *files);
    if (!files) {
        parse->failed = true;
        return;
    }
    request->look_in = files;
    files[request->n_look_in++] = parse->value;
}

/* What was said beside the settings themselves. */
struct given {
    bool rate, budget;
};

static struct given take_options(struct cmd_parse *parse, struct run_request *request)
{
    struct run_settings *settings = &request->settings;
    struct given given = {false, false};
    for (int key; (key = cmd_next(parse)) != CMD_END;)
        switch (key) {
        case 'o':
            request->output = parse->value;
            break;
        case OPT_NO_COLLECT:
            request->collect = false;
            break;
        case OPT_MODE:
            settings->mode = mode_names[parse->choice];
            break;
        case OPT_RATE:
            given.rate = cmd_number(parse, MAX_RATE_HZ, &settings->rate_hz);
            break;
        case OPT_CLOCK:
            settings->clock = clock_names[parse->choice];
            break;
        case OPT_BUDGET:
            parse_budget(parse, &settings->budget_ppm);
            given.budget = true;
            break;
        case OPT_MAX_CONTEXTS:
            cmd_number(parse, 1u << 28, &settings->max_contexts);
            break;
        case OPT_MAX_DEPTH:
            cmd_number(parse, 1000000, &settings->max_depth);
            break;
        case OPT_MAX_NOUNS:
            parse_max_nouns(parse, &settings->max_nouns);
            break;
        case OPT_MAPPING_POINTS:
            parse_points(parse, &settings->mapping_points);
            break;
        case OPT_HEAP:
            settings->heap = true;
            break;
        case OPT_HEAP_MIN:
            settings->heap |= cmd_number(parse, (uint64_t)1 << 62, &settings->heap_min_bytes);
            break;
        case OPT_TRACE_LIMIT:
            parse_trace_limit(parse, &settings->trace_limit_bytes);
            break;
        case OPT_TRACE_KEEP:
            settings->trace_keep = keep_names[parse->choice];
            break;
        case OPT_ADAPTER:
            request->adapters = parse->value;
            break;
        case OPT_KERNEL_WRITES:
            settings->kernel_writes = true;
            break;
        case OPT_FORCE:
            request->force = true;
            break;
        case OPT_LOOK_IN:
            add_look_in(parse, request);
            break;
        case OPT_ASK:
            request->asked.text = parse->value;
            break;
        case OPT_METRIC:
            request->asked.metrics = parse->value;
            break;
        case OPT_OFF:
        case OPT_COUNT:
        case OPT_ACTIVE:
        case OPT_EXACT:
        case OPT_TRACE:
            add_pattern(parse, request, (enum pm_run_mode)(key - OPT_OFF));
            break;
        }
    return given;
}

static void check_question(struct cmd_parse *parse, struct run_request *request)
{
    struct pm_error err = PM_ERROR_INIT;
    if (request->asked.metrics && !request->asked.text) {
        (void)cmd_usage_error(parse, "option '--metric' is for the answer to '--ask'");
        parse->failed = true;
    } else if (request->asked.text && !strcmp(request->settings.mode, "off")) {
        (void)cmd_usage_error(parse, "option '--ask': mode off measures nothing");
        parse->failed = true;
    } else if (request->asked.text && run_question_parse(&request->asked, &err) != PM_OK) {
        (void)cmd_usage_error(parse, "%s", pm_error_text(&err));
        parse->failed = true;
    }
    pm_error_release(&err);
}

/* What cannot be together. */
static void check_options(struct cmd_parse *parse, struct run_request *request, struct given given)
{
    struct run_settings *settings = &request->settings;
    if (!parse->failed)
        check_sampling(parse, settings, given.rate);
    if (settings->heap && !has_contexts(settings) && !parse->failed) {
        (void)cmd_usage_error(parse, "option '--heap': mode %s has no call paths to add blocks to",
                              settings->mode);
        parse->failed = true;
    }
    if (settings->kernel_writes && !has_contexts(settings) && !parse->failed) {
        (void)cmd_usage_error(parse,
                              "option '--kernel-writes': mode %s has no call paths to add bytes to",
                              settings->mode);
        parse->failed = true;
    }
    request->fix = !given.budget;
    request->rate_given = given.rate;
    if (!parse->failed)
        check_question(parse, request);
    if (!strcmp(settings->mode, "off") && request->rules.n && !parse->failed) {
        (void)cmd_usage_error(parse,
                              "option '--mode': off measures nothing at all; --off '*' before "
                              "other patterns leaves out what these do not name");
        parse->failed = true;
    }
    if (settings->mode != mode_names[0] && !given.budget)
        settings->budget_ppm = 0; /* exact is exact */
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
    } else if (request->settings.adapters.memory && !has_contexts(&request->settings)) {
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
    struct run_request request = {.collect = true,
                                  .adapters = "auto",
                                  .settings = {.mode = mode_names[0],
                                               .clock = clock_names[0],
                                               .rate_hz = DEFAULT_RATE_HZ,
                                               .budget_ppm = DEFAULT_BUDGET_PPM}};
    check_options(parse, &request, take_options(parse, &request));
    int status = CMD_USAGE;
    if (!parse->failed && (parse->n_operands == 0 || !*parse->operands[0]))
        status = cmd_usage_error(parse, "no program to run was given");
    else if (!parse->failed)
        status = run_named(parse, &request);
    mode_rules_release(&request.rules);
    mode_needs_release(&request.needs);
    run_question_release(&request.asked);
    free(request.look_in);
    return status;
}

static const struct cmd_option run_options[] = {
    {'o', "output", "NAME",
     "name of the archive (of the run folder with --no-collect). The default is the program's name "
     "with "
     ".perfmap (.run) behind it, in the current folder"},
    {OPT_NO_COLLECT, "no-collect", NULL,
     "leave the run folder as it is, for `perfmap collect` later or elsewhere"},
    {OPT_MODE, "mode", "active|exact|trace|count|off",
     "active: samples, each with the call path that was active, and calls (the default: at most 2 "
     "% slower). exact: also "
     "the time of each call of each call path, at some ten nanoseconds a call. trace: as exact, "
     "and every call with its begin and end is kept, for `perfmap trace`. count: calls only. "
     "off: the runtime is loaded and "
     "measures nothing"},
    {OPT_RATE, "rate", "HZ",
     "samples for each second of CPU time of a thread: 401 unless given, 4000 at most are "
     "sensible, 0 "
     "for none"},
    {OPT_CLOCK, "clock", "cpu|wall",
     "what reports show first: the time that threads ran (the default), or with the time that they "
     "waited"},
    {OPT_BUDGET, "budget", "PERCENT",
     "measuring, samples included, may take this share of the run's time. Functions and loops with "
     "so "
     "many calls that it would take more are counted only, then left out, while it runs: their "
     "samples "
     "go to their callers; when there is room again they come back, and reports say which. 2 in "
     "mode "
     "active unless given, and then functions and loops named by a pattern keep their modes; none, "
     "as in "
     "the other modes: nothing is left out"},
    {OPT_EXACT, "exact", "PATTERN",
     "functions and loops that are measured in mode exact, whatever --mode says: func:NAME, "
     "loop:FILE:LINE, file:FILE, with * ? [...] as in file names. May be given several times, as "
     "--trace, --active, --count and --off; what several match, the last one decides"},
    {OPT_TRACE, "trace", "PATTERN", "the same for mode trace"},
    {OPT_ACTIVE, "active", "PATTERN", "the same for mode active"},
    {OPT_COUNT, "count", "PATTERN", "the same for mode count: no call paths, no times"},
    {OPT_OFF, "off", "PATTERN", "the same for mode off: their time is their callers'"},
    {OPT_LOOK_IN, "look-in", "FILE",
     "patterns are looked up in the program and its libraries; this is a library that it loads "
     "later, "
     "or a program that it starts"},
    {OPT_ASK, "ask", "QUESTION",
     "follow only what this question needs, and answer it when the program has ended, as 'perfmap "
     "ask' does: functions and loops that it names or that do what it names, samples when they "
     "tell something of it. What is not needed stays off; patterns of modes are looked at first"},
    {OPT_METRIC, "metric", "NAMES",
     "with --ask: metrics of the answer, separated by commas. Without any that is by samples, and "
     "none needed for the question, no samples are taken"},
    {OPT_MAX_CONTEXTS, "max-contexts", "NUMBER",
     "keep at most this many call paths in a process; calls beyond are counted in "
     "their caller. 0: the runtime's own limit"},
    {OPT_MAX_DEPTH, "max-depth", "NUMBER",
     "keep call paths up to this depth; calls below are counted in their caller. 0: "
     "the runtime's own limit"},
    {OPT_MAX_NOUNS, "max-nouns", "NUMBER",
     "keep at most this many nouns of the program's own (perfmap.h, adapters) in a process, 131072 "
     "unless given: those that were not used for longest then count as what they are a part of, or "
     "as other nouns of their kind"},
    {OPT_MAPPING_POINTS, "mapping-points", "NAMES",
     "at which of their mapping points libraries and adapters say what maps to what: names, "
     "separated by commas, with * in them; all (default); none. 'perfmap points' lists those of a "
     "run"},
    {OPT_HEAP, "heap", NULL,
     "follow the blocks of the heap: how many and how many bytes each place allocates, by the "
     "variable that they are assigned to, and how long they live. A pair of malloc and free then "
     "costs some 80 ns more"},
    {OPT_HEAP_MIN, "heap-min", "BYTES",
     "with --heap: blocks of at least this size are told one by one, the first 4096 of them. 65536 "
     "unless given"},
    {OPT_TRACE_LIMIT, "trace-limit", "SIZE",
     "mode trace: room for events in each process's run file, at 16 bytes a call: 2G unless given. "
     "What does not fit is "
     "dropped, and the report says how much; calls and times are complete all the same"},
    {OPT_TRACE_KEEP, "trace-keep", "newest|oldest",
     "what to keep of a trace that reaches its limit: the newest events (the default), or the "
     "oldest"},
    {OPT_ADAPTER, "adapter", "NAMES",
     "adapters that say in their own words what a library does, separated by commas: sql "
     "(libsqlite3: statements, tables), lua (Lua 5.4: functions), io (files, sockets, pipes: "
     "calls, "
     "bytes, time); auto (default): sql where the program is started with its library; none"},
    {OPT_KERNEL_WRITES, "kernel-writes", NULL,
     "follow what the kernel itself writes to disk of the program's files, however late and by "
     "whose thread, as the metric block_bytes_written of those who wrote the bytes; with --adapter "
     "io. For root, where tracefs is mounted, on ext4; the program's files are synced at the end"},
    {OPT_FORCE, "force", NULL, "start also a program that the runtime cannot be loaded into"},
    {0}};

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
        "The program needs no special linking. Parts compiled without the plugin are not seen from "
        "inside: their time "
        "counts for their callers.\n\n"
        "An output that is already there is replaced if it is an archive (a run folder) of "
        "PerfMap, and refused if it is "
        "anything else. An old archive is replaced only when the new one is complete, and is kept "
        "as "
        "NAME.perfmap.old.\n\n"
        "A run folder holds the file `manifest` and one file PID.N.pmr for each process image. "
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
