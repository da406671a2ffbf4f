/* What `perfmap run` does when the program has ended. */
#include "run_control.h"
#include "run_pack.h"
#include "run_request.h"

#include "mapping/collect/collect.h"

#include <signal.h>
#include <unistd.h>

/* For `perfmap ask --live` to read the end of the run in its folder. */
enum { ASKERS_MS = 30000 };
static const char *plural(size_t n, const char *many)
{
    return n == 1 ? "" : many;
}

/* What the program or an adapter says in its own words is at another level than the program's
 * source. */
static void add_reports(struct pm_buf *out, const char *name, const struct run_findings *findings)
{
    char *level = *findings->level ? cmd_shell_quote(findings->level) : NULL;
    bool only_words = level && !findings->n_code_sleds;
    pm_buf_printf(out, "report --level %s %s", only_words ? level : "source", name);
    if (level && !only_words)
        pm_buf_printf(out, ", and --level %s", level);
    free(level);
}

/* Of a run without any sleds: once for all of its processes. */
static void tell_what_lacks(const struct run_request *request, const struct run_findings *findings)
{
    const char *adapter = request->settings.adapters.offered;
    bool is_sampled = request->settings.rate_hz != 0 && run_has_contexts(&request->settings);
    if (run_has_sleds(request->argv[0]))
        cmd_talk("warning: nothing inside the program was measured, although it has sleds: the "
                 "runtime could not leave a run file");
    else if (findings->n_sampled)
        cmd_talk("note: built without the plugin: functions, loops and lines by samples, as far as "
                 "debug "
                 "information and symbols tell; calls and arrays need "
                 "-fplugin=$(perfmap plugin-path)%s%s",
                 adapter ? "; --adapter tells more: " : "", adapter ? adapter : "");
    else if (is_sampled)
        cmd_talk("warning: nothing inside the program was measured: none of its processes left a "
                 "run file with samples");
    else if (adapter)
        cmd_talk("warning: nothing inside the program was measured: run it with --adapter %s, or, "
                 "for its "
                 "C code, compile it with -fplugin=$(perfmap plugin-path)",
                 adapter);
    else
        cmd_talk("warning: nothing inside the program was measured, for it has no sleds and no "
                 "samples were asked for: compile it with -fplugin=$(perfmap plugin-path)");
}

static bool is_archive_name(const char *name)
{
    size_t len = strlen(name);
    return len > 8 && !strcmp(name + len - 8, ".perfmap");
}

/* "-o x.perfmap", "--output=x.perfmap": the name, or NULL. A program's own output of that name
 * is there when it has ended. */
static const char *output_of(char *const *argv, int i, int n)
{
    static const char long_name[] = "--output";
    const char *arg = argv[i], *name = NULL;
    if (!strcmp(arg, "-o") || !strcmp(arg, long_name))
        name = i + 1 < n ? argv[i + 1] : NULL;
    else if (!strncmp(arg, "--output=", sizeof long_name))
        name = arg + sizeof long_name;
    return name && is_archive_name(name) && access(name, F_OK) != 0 ? name : NULL;
}

/* A long option that only perfmap run has, as far as one can say: the option, or NULL. */
static const char *option_of_run(const char *arg)
{
    size_t len = strcspn(arg, "=");
    for (const struct cmd_option *o = run_options; o->long_name; o++)
        if (!strncmp(arg, "--", 2) && strlen(o->long_name) == len - 2 &&
            !strncmp(arg + 2, o->long_name, len - 2))
            return o->long_name;
    return NULL;
}

static bool is_perfmap(const char *program)
{
    const char *slash = strrchr(program, '/');
    return !strcmp(slash ? slash + 1 : program, "perfmap");
}

/* Options behind the program are the program's. They were meant for perfmap run when the archive
 * that they name is not there, or the program did not know them. */
static void tell_stray_options(const struct run_request *request,
                               const struct pm_manifest *manifest)
{
    for (int i = 1; i < request->n_args; i++) {
        const char *arg = request->argv[i];
        const char *name = output_of(request->argv, i, request->n_args);
        if (!strcmp(arg, "--") || is_perfmap(request->argv[i - 1]))
            return;
        if (!name && (manifest->exit_status <= 0 || !option_of_run(arg)))
            continue;
        cmd_talk("note: '%s' stands behind the program, so the program got it; options of 'perfmap "
                 "run' stand before it: perfmap run %s%s%s -- %s ...",
                 arg, name ? "-o " : arg, name ? name : "", name ? "" : " ...", request->argv[0]);
        return;
    }
}

static void tell_end(const struct run_request *request, const struct run_output *output,
                     const struct pm_manifest *manifest, const struct run_findings *findings)
{
    char *name = cmd_shell_quote_file(output->name);
    double seconds = (double)(manifest->end_monotonic_ns - manifest->start_monotonic_ns) / 1e9;
    if (manifest->exit_signal > 0)
        cmd_talk("'%s' was ended by signal %d (%s)", request->argv[0], manifest->exit_signal,
                 strsignal(manifest->exit_signal));
    tell_stray_options(request, manifest);
    if (findings->n_sleds == 0 && !findings->is_running) /* what runs may have some */
        tell_what_lacks(request, findings);
    char *dir = cmd_shell_quote(output->run_dir), pid[32] = " of the run";
    if (findings->running_pid)
        snprintf(pid, sizeof pid, " %u", (unsigned)findings->running_pid);
    if (findings->is_running)
        cmd_talk("note: %s%s still runs; when it has ended, 'perfmap collect %s' makes the "
                 "archive with all that it did ('perfmap run --wait' waits for it)",
                 findings->running_pid ? "process" : "some process", pid,
                 dir ? dir : output->run_dir);
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

void run_drop_folder(const char *run_dir)
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
    if (!findings->is_running && !findings->n_damaged) {
        run_control_wait_for_askers(control, ASKERS_MS);
        run_drop_folder(output->run_dir);
    }
    pm_collect_result_release(&result);
    return PM_OK;
}

int run_finish(struct cmd_parse *parse, const struct run_request *request,
               const struct run_output *output, struct pm_manifest *manifest,
               struct run_control *control, const struct run_end *program)
{
    struct pm_error err = PM_ERROR_INIT;
    struct run_findings findings;
    int failed = program->exit ? program->exit : RUN_FAILED;
    int end = program->exit;
    if (pm_manifest_write(output->run_dir, manifest, &err) != PM_OK) {
        (void)cmd_fail(parse, &err);
        end = failed;
    }
    if (!output->collect)
        run_pack_rest(output->run_dir);
    run_findings_print(output->run_dir, manifest, !output->collect, &findings);
    if (program->is_alive && !findings.running_pid) /* and has not begun, or cannot be measured */
        findings.running_pid = program->living_pid;
    findings.is_running = program->is_alive || findings.running_pid;
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
