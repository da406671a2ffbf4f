/* What `perfmap run` does when the program has ended. */
#include "run_request.h"

#include "cmd/show/answer.h"

#include <unistd.h>

void run_print_notes(struct session_notes *notes)
{
    for (uint32_t i = 0; i < notes->n; i++)
        cmd_talk("%s%s", session_note_word(notes->items[i].kind), notes->items[i].text);
    session_notes_release(notes);
}

static const char *plural(size_t n, const char *many)
{
    return n == 1 ? "" : many;
}

/* What the program or an adapter says in its own words is at another level than the program's
 * source. */
static void add_reports(struct pm_buf *out, const char *name,
                        const struct session_findings *findings)
{
    char *level = *findings->level ? cmd_shell_quote(findings->level) : NULL;
    bool only_words = level && !findings->n_code_sleds;
    if (only_words)
        pm_buf_printf(out, "report --level %s %s", level, name);
    else
        pm_buf_printf(out, "report %s", name);
    if (level && !only_words)
        pm_buf_printf(out, ", and --level %s", level);
    free(level);
}

/* Of a run without any sleds: once for all of its processes. */
static void tell_what_lacks(const struct run_request *request,
                            const struct session_findings *findings)
{
    const char *adapter = request->session.settings.adapters.offered;
    bool is_sampled = request->session.settings.runtime.rate_hz != 0 &&
                      session_has_contexts(&request->session.settings);
    if (session_has_sleds(request->session.argv[0]))
        cmd_talk("warning: nothing inside the program was measured, although it has sleds: the "
                 "runtime could not write a run file ('perfmap doctor' tries the same)");
    else if (findings->n_sampled && findings->n_execs > findings->n_executed)
        cmd_talk(
            "warning: a program that was executed left no run file, so what it did is missing: "
            "it runs as another user or with another root folder, is statically linked, or has "
            "no LD_PRELOAD in its environment");
    else if (findings->n_sampled)
        cmd_talk("note: built without the plugin, so functions, loops and lines come from samples "
                 "and debug information; counts of calls and arrays need -fplugin=$(perfmap "
                 "plugin-path)%s%s",
                 adapter ? "; more is known with --adapter " : "", adapter ? adapter : "");
    else if (is_sampled)
        cmd_talk("warning: nothing inside the program was measured: none of its processes left a "
                 "run file with samples");
    else if (adapter)
        cmd_talk("warning: nothing inside the program was measured: run it with --adapter %s, or, "
                 "for its "
                 "C code, compile it with -fplugin=$(perfmap plugin-path)",
                 adapter);
    else
        cmd_talk("warning: nothing inside the program was measured, because it has no sleds and no "
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
    int n_args = (int)request->session.n_args;
    for (int i = 1; i < n_args; i++) {
        const char *arg = request->session.argv[i];
        const char *name = output_of(request->session.argv, i, n_args);
        if (!strcmp(arg, "--") || is_perfmap(request->session.argv[i - 1]))
            return;
        if (!name && (manifest->exit_status <= 0 || !option_of_run(arg)))
            continue;
        cmd_talk("note: '%s' comes after the program, so the program got it; options of 'perfmap "
                 "run' come before it: perfmap run %s%s%s -- %s ...",
                 arg, name ? "-o " : arg, name ? name : "", name ? "" : " ...",
                 request->session.argv[0]);
        return;
    }
}

static void tell_end(const struct run_request *request, const struct session_output *output,
                     const struct pm_manifest *manifest, const struct session_findings *findings)
{
    char *name = cmd_shell_quote_file(output->name);
    double seconds = (double)(manifest->end_monotonic_ns - manifest->start_monotonic_ns) / 1e9;
    if (manifest->exit_signal > 0)
        cmd_talk("'%s' was ended by signal %d (%s)", request->session.argv[0],
                 manifest->exit_signal, strsignal(manifest->exit_signal));
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
        cmd_talk("note: the run folder %s is kept, because part of it is damaged",
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

/* Prints the answer; what is wrong with it is told. False: it could not be told. */
static bool answer(const struct session_question *asked, const char *archive)
{
    struct pm_error err = PM_ERROR_INIT;
    struct show_answer_options options = {.text = asked->text, .limit = SHOW_ANSWER_ROWS};
    struct pm_view view = {
        .options = {.level = "source", .metrics = asked->metrics, .archive_path = archive}};
    enum pm_status status = show_question(&view, &options, &err);
    pm_view_release(&view);
    if (status != PM_OK)
        cmd_talk("%s", pm_error_text(&err));
    pm_error_release(&err);
    return fflush(stdout) == 0 &&
           (status == PM_OK || status == PM_ERR_NOT_FOUND || status == PM_ERR_USAGE);
}

/* Makes the archive. False: it could not be made, and that was told. */
static bool collect(struct cmd_parse *parse, struct session *session,
                    const struct session_findings *findings)
{
    struct pm_error err = PM_ERROR_INIT;
    struct session_notes notes = {0};
    char *kept_as = NULL;
    enum pm_status status = session_collect(session, findings, &notes, &err, &kept_as);
    char *name = kept_as ? cmd_shell_quote_file(kept_as) : NULL;
    if (name)
        cmd_talk("the archive before is kept as %s", name);
    free(name);
    free(kept_as);
    run_print_notes(&notes);
    if (status == PM_OK)
        return true;
    (void)cmd_fail(parse, &err);
    const char *run_dir = session->output.run_dir;
    char *dir = cmd_shell_quote(run_dir);
    cmd_talk("what was measured is kept in %s; try: perfmap collect %s -o NAME.perfmap",
             dir ? dir : run_dir, dir ? dir : run_dir);
    free(dir);
    return false;
}

/* A launcher may kill the other ranks with all that belongs to them. */
static void tell_rank(const struct session_job *job, const char *name)
{
    char *folder = cmd_shell_quote_file(job->folder), *quoted = cmd_shell_quote_file(name);
    const char *shown = quoted ? quoted : name;
    cmd_talk("rank %u did not end well; the last rank to end makes %s. If none can: perfmap "
             "collect %s.* -o %s",
             (unsigned)job->rank, shown, folder ? folder : job->folder, shown);
    free(folder);
    free(quoted);
}

int run_finish(struct cmd_parse *parse, const struct run_request *request, struct session *session,
               const struct session_end *end)
{
    struct pm_error err = PM_ERROR_INIT;
    struct session_notes notes = {0};
    struct session_findings findings;
    const struct session_output *output = &session->output;
    const struct session_question *asked = &request->session.asked;
    int failed = end->exit ? end->exit : SESSION_FAILED, result = end->exit;
    bool is_last;
    if (session_leave_job(session, &notes, &err, &is_last) != PM_OK) {
        run_print_notes(&notes);
        (void)cmd_fail(parse, &err);
        return failed;
    }
    if (!is_last) {
        session_notes_release(&notes);
        if (end->exit)
            tell_rank(request->session.job, output->name);
        return result;
    }
    if (session_finish(session, end, &notes, &err, &findings) != PM_OK) {
        (void)cmd_fail(parse, &err);
        result = failed;
    }
    run_print_notes(&notes);
    if (output->collect && !collect(parse, session, &findings))
        return failed;
    tell_end(request, output, &session->manifest, &findings);
    if (asked->text && output->collect && !answer(asked, output->name))
        return failed;
    return result;
}
