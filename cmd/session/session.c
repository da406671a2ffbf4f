/* The steps of a run (session.h). */
#include "session.h"
#include "pack.h"

#include "mapping/archive/noun_modes.h"
#include "mapping/collect/collect.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    /* For `perfmap ask --live` to read the end of the run in its folder. */
    ASKERS_MS = 30000,
    /* A disk takes 1 to 30 ms to have an archive for certain, a tenth of a short run. After a power
     * failure that is measured again. */
    REPEATABLE_MS = 10000,
};

bool session_has_contexts(const struct session_settings *settings)
{
    return settings->runtime.mode >= PM_RUN_MODE_ACTIVE;
}

static enum pm_status no_memory(struct pm_error *err)
{
    return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}

/* --- before the program starts --- */

static enum pm_status fill_manifest(const struct session_request *request,
                                    struct pm_manifest *manifest, struct pm_error *err)
{
    char host[256] = "";
    char *cwd = getcwd(NULL, 0);
    (void)gethostname(host, sizeof host - 1);
    bool ok =
        pm_manifest_set_argv(manifest, request->argv, request->n_args) &&
        pm_manifest_set_text(&manifest->cwd, cwd ? cwd : "") &&
        pm_manifest_set_text(&manifest->host, host) &&
        pm_manifest_set_text(&manifest->perfmap, PERFMAP_VERSION) &&
        pm_manifest_set_text(&manifest->mode, pm_mode_name(request->settings.runtime.mode)) &&
        (!request->asked.text || pm_manifest_set_text(&manifest->question, request->asked.text));
    free(cwd);
    return ok ? PM_OK : no_memory(err);
}

static enum pm_status look_up_names(const struct session_request *request, struct mode_names *names,
                                    struct pm_error *err)
{
    char *program = session_find_program(request->argv[0]);
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
static enum pm_status look_up_question(struct session *session, struct session_notes *notes,
                                       struct pm_error *err)
{
    struct session_request *request = session->request;
    struct session_question *asked = &request->asked;
    struct session_sources sources = {request->argv[0], request->look_in, request->n_look_in};
    enum pm_status status =
        session_question_look(asked, &sources, &request->settings, notes, err, &session->needs);
    session->manifest.n_question_sleds = asked->n_sleds;
    session->manifest.n_all_sleds = asked->n_all_sleds;
    if (status == PM_OK && !asked->samples && !request->rate_given)
        request->settings.runtime.rate_hz = 0;
    return status;
}

static enum pm_status check_selection(const struct session *session, struct session_notes *notes,
                                      struct pm_error *err)
{
    size_t n, n_selected;
    const struct pm_selection *selection = session->request->selection;
    mode_names_count(session->names, selection, &n, &n_selected);
    if (n == 0)
        return pm_error_set(err, PM_ERR_USAGE,
                            "option '--select': neither the program nor its libraries were "
                            "compiled with PerfMap; --look-in FILE names a library or program that "
                            "is loaded later");
    if (n_selected == 0)
        return pm_error_set(err, PM_ERR_USAGE,
                            "option '--select': the %s selects none of the %zu functions of the "
                            "program and its libraries (--look-in FILE names others)",
                            pm_selection_source(selection), n);
    session_note(notes, SESSION_NOTES, "selected %zu of %zu functions", n_selected, n);
    return PM_OK;
}

/* Of what several say mode_needs_sort keeps the highest mode, and the lowest is wanted: modes are
 * turned round for it. */
static enum pm_run_mode turned(enum pm_run_mode mode)
{
    return PM_RUN_MODE_TRACE - mode;
}

static bool add_other_mode(void *needs, uint64_t id, enum pm_run_mode mode)
{
    return mode_needs_add(needs, &(struct mode_need){id, turned(mode), true, 0, 0});
}

/* What other runs left out is left out from the start. */
static enum pm_status look_up_other_modes(struct session *session, struct pm_error *err)
{
    const struct session_request *request = session->request;
    for (size_t i = 0; i < request->n_same_as; i++) {
        enum pm_status status =
            pm_archive_noun_modes(request->same_as[i], add_other_mode, &session->needs, err);
        if (status != PM_OK)
            return pm_error_add(err, "option '--same-as'");
    }
    mode_needs_sort(&session->needs);
    for (size_t i = 0; i < session->needs.n; i++)
        session->needs.items[i].mode = turned(session->needs.items[i].mode);
    return PM_OK;
}

/* The names are kept for `perfmap mode`. */
static enum pm_status make_names(struct session *session, struct session_notes *notes,
                                 struct pm_error *err)
{
    const struct session_request *request = session->request;
    session->names = mode_names_new();
    if (!session->names)
        return no_memory(err);
    enum pm_status status = request->asked.text ? look_up_question(session, notes, err)
                                                : look_up_other_modes(session, err);
    if (status != PM_OK || (!request->rules.n && !request->selection))
        return status;
    status = look_up_names(request, session->names, err);
    if (status != PM_OK)
        return status;
    if (request->selection)
        status = check_selection(session, notes, err);
    for (size_t i = 0; i < request->rules.n; i++) {
        struct pm_buf several = PM_BUF_INIT(1 << 20);
        if (mode_names_add_several(session->names, &request->rules.items[i], &several))
            session_note(notes, SESSION_NOTES, "%s", several.data);
        pm_buf_release(&several);
    }
    return status;
}

enum pm_status session_prepare(struct session_request *request, struct session_notes *notes,
                               struct pm_error *err, struct session *ret_session, int *ret_exit)
{
    struct session *session = ret_session;
    *session = (struct session){
        .request = request, .target = request->target, .prepared = session_instant_now()};
    if (!session->target)
        session->target = session_child_target(&session->child);
    pm_manifest_init(&session->manifest);
    *ret_exit = SESSION_FAILED;
    enum pm_status status = session_output_check(request->output, request->collect, err);
    if (status == PM_OK)
        status = session->target->calls->check(session->target, request, notes, err, ret_exit);
    if (status == PM_OK)
        status = fill_manifest(request, &session->manifest, err);
    if (status != PM_OK)
        return status;
    status = make_names(session, notes, err);
    if (status == PM_ERR_USAGE)
        *ret_exit = SESSION_USAGE;
    return status;
}

/* --- its folder and its socket --- */

/* Takes the names. Without a socket the run goes on. */
static enum pm_status open_control(struct session *session, struct session_notes *notes,
                                   struct pm_error *err)
{
    struct session_request *request = session->request;
    const char *run_dir = session->output.run_dir;
    struct mode_choice choice = {.mode = request->settings.runtime.mode,
                                 .selection = request->selection,
                                 .question = session->needs,
                                 .rules = request->rules};
    for (size_t i = 0; i < choice.question.n; i++)
        choice.question_has_terms |= choice.question.items[i].inside != 0;
    enum pm_status status = PM_OK;
    if (choice.rules.n || choice.question.n || choice.selection)
        status = mode_names_write_plan(session->names, &choice, request->fix, run_dir, err);
    if (status != PM_OK)
        return status;
    session->control = session_control_new(run_dir, session->names, &choice);
    if (!session->control)
        return no_memory(err);
    request->rules = (struct mode_rules){0};
    session->needs = (struct mode_needs){0};
    session->names = NULL;
    struct pm_error unheard = PM_ERROR_INIT;
    if (session_control_listen(session->control, &unheard) != PM_OK)
        session_note(notes, SESSION_WARNS, "'perfmap mode' cannot change this run: %s",
                     pm_error_text(&unheard));
    pm_error_release(&unheard);
    return PM_OK;
}

/* Without the kernel's events the run goes on. */
static void open_kernel(struct session *session, struct session_notes *notes)
{
    struct pm_buf why = PM_BUF_INIT(4096);
    session->kernel = session_kernel_open(&why);
    if (!session->kernel)
        session_note(notes, SESSION_WARNS,
                     "option '--kernel-writes': the kernel's own block writes are not "
                     "available here: %s",
                     why.data ? why.data : "out of memory");
    pm_buf_release(&why);
}

/* Nothing of it is worth keeping. */
static void abandon(struct session *session, struct session_notes *notes)
{
    session_control_free(session->control);
    session->control = NULL;
    session_folder_remove(session->output.run_dir, notes);
}

enum pm_status session_open(struct session *session, struct session_notes *notes,
                            struct pm_error *err)
{
    const struct session_request *request = session->request;
    enum pm_status status =
        session_output_make(request->output, request->collect, request->job, err, &session->output);
    if (status != PM_OK)
        return status;
    status = open_control(session, notes, err);
    if (status != PM_OK)
        abandon(session, notes);
    else if (request->settings.runtime.kernel_writes)
        open_kernel(session, notes);
    return status;
}

/* --- the program --- */

enum pm_status session_run(struct session *session, struct session_notes *notes,
                           struct pm_error *err, struct session_end *ret_end)
{
    const struct session_settings *settings = &session->request->settings;
    const struct session_launch launch = {.target = session->target,
                                          .argv = session->request->argv,
                                          .run_dir = session->output.run_dir,
                                          .settings = settings,
                                          .prepared = session->prepared,
                                          .control = session->control,
                                          .prepares = session->request->collect &&
                                                      settings->runtime.rate_hz != 0,
                                          .kernel = session->kernel,
                                          .manifest = &session->manifest,
                                          .notes = notes};
    session_machine_begin(&session->machine);
    enum pm_status status = session_start(&launch, err, ret_end);
    session_kernel_free(session->kernel);
    session->kernel = NULL;
    if (status == PM_OK)
        session_control_end(session->control);
    else
        abandon(session, notes);
    return status;
}

/* --- when it has ended --- */

enum pm_status session_leave_job(struct session *session, struct session_notes *notes,
                                 struct pm_error *err, bool *ret_is_last)
{
    *ret_is_last = true;
    return session->request->job ? session_job_leave(session->request->job, session->output.run_dir,
                                                     &session->manifest, notes, err, ret_is_last)
                                 : PM_OK;
}

enum pm_status session_finish(struct session *session, const struct session_end *end,
                              struct session_notes *notes, struct pm_error *err,
                              struct session_findings *ret_findings)
{
    const struct session_output *output = &session->output;
    enum pm_status status = session_machine_end(&session->machine, &session->manifest)
                                ? pm_manifest_write(output->run_dir, &session->manifest, err)
                                : no_memory(err);
    if (!output->collect)
        session_pack_rest(output->run_dir);
    session_find(output->run_dir, &session->manifest, !output->collect, notes, ret_findings);
    if (end->is_alive && !ret_findings->running_pid) /* has not begun, or cannot be measured */
        ret_findings->running_pid = end->living_pid;
    ret_findings->is_running = end->is_alive || ret_findings->running_pid;
    return status;
}

static bool is_repeatable(const struct pm_manifest *manifest)
{
    uint64_t wall_ns = manifest->end_monotonic_ns - manifest->start_monotonic_ns;
    return wall_ns < (uint64_t)REPEATABLE_MS * 1000000u;
}

enum pm_status session_collect(struct session *session, const struct session_findings *findings,
                               struct session_notes *notes, struct pm_error *err,
                               char **ret_kept_as)
{
    const struct session_output *output = &session->output;
    const char *runs[] = {output->run_dir}, *slash = strrchr(output->name, '/');
    struct pm_collect_result result = {0};
    struct pm_collect_options options = {.size = sizeof options,
                                         .name = slash ? slash + 1 : output->name,
                                         .is_repeatable = is_repeatable(&session->manifest)};
    struct session_kept kept;
    session_output_keep(output->name, notes, &kept);
    (void)signal(SIGXFSZ, SIG_IGN); /* a limit is an error of the archive; the program has ended */
    enum pm_status status = pm_collect(runs, 1, output->name, &options, err, &result);
    *ret_kept_as = session_output_kept(&kept, status == PM_OK);
    if (status != PM_OK)
        return status;
    for (size_t i = 0; i < result.n_warnings; i++)
        session_note(notes, SESSION_WARNS, "%s", result.warnings[i]);
    if (!findings->is_running && !findings->n_damaged) {
        session_control_wait_for_askers(session->control, ASKERS_MS);
        session_folder_remove(output->run_dir, notes);
    }
    pm_collect_result_release(&result);
    return PM_OK;
}

void session_release(struct session *session)
{
    session_kernel_free(session->kernel);
    session_control_free(session->control);
    mode_names_free(session->names);
    mode_needs_release(&session->needs);
    session_output_release(&session->output);
    pm_manifest_release(&session->manifest);
}
