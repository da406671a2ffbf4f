/* A session that measures a process which is not its child. Another kind of target is this one
 * file and a member of the request: nothing else of the session assumes a child.
 *
 * The process is a grandchild whose parent has ended. It waits dormant, with the runtime's library
 * named to it, and becomes the program when the session begins. Nobody can wait(2) for it: its end
 * is told by a pidfd. */
#include "cmd/session/session.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#if defined PM_TEST_RUNTIME

struct stranger {
    struct session_target target;
    int go_fd;                  /* a byte lets it begin */
    bool is_left;               /* it goes on, and is no longer measured */
    int n_signals, last_signal; /* that the session was told */
    int n_opened, n_closed;
    enum pm_status refusal; /* of begin */
};

static struct stranger *stranger_of(struct session_target *target)
{
    return (struct stranger *)target;
}

static enum pm_status check(struct session_target *target, const struct session_request *request,
                            struct session_notes *notes, struct pm_error *err, int *ret_exit)
{
    (void)target;
    (void)request;
    (void)notes;
    (void)err;
    (void)ret_exit;
    return PM_OK;
}

_Noreturn static void be_stranger(const struct session_launch *launch, int go_fd)
{
    struct session_preload preload;
    char byte;
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (read(go_fd, &byte, 1) != 1 ||
        session_preload_make(launch->settings, NULL, &preload) != PM_OK ||
        !session_set_environment(preload.list, launch->run_dir, launch->settings))
        _exit(1);
    execvp(launch->argv[0], launch->argv);
    _exit(127);
}

/* By two forks: its parent ends, and whoever takes over orphans is not this process. */
static pid_t make_stranger(const struct session_launch *launch, const int go[2])
{
    int told[2];
    pid_t pid = 0;
    assert_int_equal(pipe2(told, O_CLOEXEC), 0);
    pid_t parent = fork();
    if (parent == 0) {
        close(go[1]);
        pid = fork();
        if (pid == 0)
            be_stranger(launch, go[0]);
        _exit(write(told[1], &pid, sizeof pid) != (ssize_t)sizeof pid);
    }
    assert_int_equal(read(told[0], &pid, sizeof pid), sizeof pid);
    assert_int_equal(waitpid(parent, NULL, 0), parent);
    close(told[0]);
    close(told[1]);
    return pid;
}

static enum pm_status open_stranger(struct session_target *target,
                                    const struct session_launch *launch,
                                    const struct session_signals *signals, struct pm_error *err)
{
    struct stranger *s = stranger_of(target);
    int go[2];
    (void)signals;
    (void)err;
    s->n_opened++;
    assert_int_equal(pipe2(go, O_CLOEXEC), 0);
    target->pid = (uint32_t)make_stranger(launch, go);
    close(go[0]);
    s->go_fd = go[1];
    assert_int_equal(waitpid((pid_t)target->pid, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    target->fd = (int)syscall(SYS_pidfd_open, (pid_t)target->pid, 0);
    assert_true(target->fd >= 0);
    return PM_OK;
}

static enum pm_status begin(struct session_target *target, struct pm_error *err, int *ret_exit)
{
    struct stranger *s = stranger_of(target);
    if (s->refusal != PM_OK) {
        *ret_exit = 3;
        return pm_error_set(err, s->refusal, "it does not want to");
    }
    assert_int_equal(write(s->go_fd, "g", 1), 1);
    return PM_OK;
}

static void look(struct session_target *target, struct session_ended *ended)
{
    struct stranger *s = stranger_of(target);
    struct pollfd gone = {.fd = target->fd, .events = POLLIN};
    bool has_ended = poll(&gone, 1, 0) == 1;
    ended->program = has_ended || s->is_left;
    ended->all = has_ended;
}

static void leave(struct session_target *target, int signal)
{
    struct stranger *s = stranger_of(target);
    s->n_signals++;
    s->last_signal = signal;
    s->is_left = true;
}

static uint32_t any_alive(struct session_target *target)
{
    return session_is_alive(target->pid) ? target->pid : 0;
}

static void close_stranger(struct session_target *target)
{
    struct stranger *s = stranger_of(target);
    s->n_closed++;
    if (target->fd >= 0)
        close(target->fd);
    if (s->n_opened)
        close(s->go_fd);
    target->fd = -1;
}

static const struct session_target_calls calls = {.check = check,
                                                  .open = open_stranger,
                                                  .begin = begin,
                                                  .look = look,
                                                  .signal = leave,
                                                  .any_alive = any_alive,
                                                  .close = close_stranger};

/* --- runs --- */

struct run {
    struct stranger stranger;
    struct session_request request;
    struct session session;
    struct session_notes notes;
    struct session_end end;
    struct pm_error err;
};

static enum pm_status run_it(struct run *run, char *const *argv, const char *output)
{
    int exit_status = 0;
    setenv("PERFMAP_LIBDIR", PM_TEST_RUNTIME, 1);
    *run = (struct run){
        .stranger = {.target = {.calls = &calls, .fd = -1}, .refusal = run->stranger.refusal},
        .request = {.argv = argv,
                    .output = output,
                    .settings.runtime = {.mode = PM_RUN_MODE_ACTIVE, .rate_hz = 401}},
        .err = PM_ERROR_INIT};
    run->request.target = &run->stranger.target;
    while (argv[run->request.n_args])
        run->request.n_args++;
    enum pm_status status =
        session_prepare(&run->request, &run->notes, &run->err, &run->session, &exit_status);
    if (status == PM_OK)
        status = session_open(&run->session, &run->notes, &run->err);
    if (status == PM_OK)
        status = session_run(&run->session, &run->notes, &run->err, &run->end);
    unsetenv("PERFMAP_LIBDIR");
    return status;
}

static void end_it(struct run *run, const char *output)
{
    session_release(&run->session);
    if (access(output, F_OK) == 0)
        session_folder_remove(output, &run->notes);
    session_notes_release(&run->notes);
    pm_error_release(&run->err);
}

static void its_end_is_seen_and_its_exit_is_not_guessed(void **state)
{
    (void)state;
    char *argv[] = {"/bin/sh", "-c", "exit 7", NULL};
    struct session_findings findings;
    struct run run = {0};
    if (run_it(&run, argv, "stranger.run") != PM_OK)
        fail_msg("%s", pm_error_text(&run.err));
    assert_int_equal(session_finish(&run.session, &run.end, &run.notes, &run.err, &findings),
                     PM_OK);
    assert_int_equal(run.end.exit, 0);
    assert_false(run.end.is_alive);
    assert_int_equal(run.session.manifest.pid, run.stranger.target.pid);
    assert_int_equal(run.session.manifest.exit_status, -1);
    assert_int_equal(run.session.manifest.exit_signal, -1);
    assert_false(run.session.manifest.has_usage);
    assert_int_equal(findings.n_processes, 1);
    assert_int_equal(findings.n_sampled, 1);
    assert_false(findings.is_running);
    assert_int_equal(run.stranger.n_opened, 1);
    assert_int_equal(run.stranger.n_closed, 1);
    end_it(&run, "stranger.run");
}

static void signal_later(int signal)
{
    pid_t self = getpid();
    if (fork() == 0) {
        usleep(300000);
        kill(self, signal);
        _exit(0);
    }
}

/* What was not started by us is not to end with us. */
static void a_signal_leaves_it_alone(int signal, const char *output)
{
    char *argv[] = {"/bin/sleep", "60", NULL};
    struct session_findings findings;
    struct run run = {0};
    signal_later(signal);
    if (run_it(&run, argv, output) != PM_OK)
        fail_msg("%s", pm_error_text(&run.err));
    assert_int_equal(wait(NULL) > 0, 1);
    assert_int_equal(session_finish(&run.session, &run.end, &run.notes, &run.err, &findings),
                     PM_OK);
    assert_int_equal(run.stranger.n_signals, 1);
    assert_int_equal(run.stranger.last_signal, signal);
    assert_true(run.end.is_alive);
    assert_int_equal(run.end.living_pid, run.stranger.target.pid);
    assert_true(findings.is_running);
    assert_int_equal(findings.running_pid, run.stranger.target.pid);
    assert_int_equal(kill((pid_t)run.stranger.target.pid, SIGKILL), 0);
    end_it(&run, output);
}

static void sigterm_leaves_it_alone(void **state)
{
    (void)state;
    a_signal_leaves_it_alone(SIGTERM, "term.run");
}

/* A terminal's SIGINT does not reach it. */
static void sigint_leaves_it_alone(void **state)
{
    (void)state;
    a_signal_leaves_it_alone(SIGINT, "int.run");
}

static void what_does_not_begin_leaves_no_folder(void **state)
{
    (void)state;
    char *argv[] = {"/bin/true", NULL};
    struct run run = {.stranger.refusal = PM_ERR_UNSUPPORTED};
    assert_int_equal(run_it(&run, argv, "refused.run"), PM_ERR_UNSUPPORTED);
    assert_int_equal(run.end.exit, 3);
    assert_int_equal(run.stranger.n_closed, 1);
    assert_int_not_equal(access("refused.run", F_OK), 0);
    end_it(&run, "refused.run");
}

/* Orphans would become ours. */
static int be_no_subreaper(void **state)
{
    (void)state;
    return prctl(PR_SET_CHILD_SUBREAPER, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(its_end_is_seen_and_its_exit_is_not_guessed),
        cmocka_unit_test(sigterm_leaves_it_alone),
        cmocka_unit_test(sigint_leaves_it_alone),
        cmocka_unit_test(what_does_not_begin_leaves_no_folder),
    };
    return cmocka_run_group_tests(tests, be_no_subreaper, NULL);
}

#else
int main(void)
{
    return 77;
}
#endif
