/* The child that becomes the program, and its parent (start.h). */
#include "start.h"
#include "clock.h"
#include "environment.h"
#include "pack.h"
#include "program.h"
#include "signals.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- the child --- */

struct pipes {
    int go[2];     /* a byte tells the child to start; end of file: the parent is gone */
    int failed[2]; /* the child's errno when the program could not be started; closed by a good
                      start */
};

/* As env(1). */
static int exit_of(int errnum)
{
    return errnum == ENOENT ? SESSION_NOT_FOUND : SESSION_CANNOT_EXECUTE;
}

_Noreturn static void child_main(const struct session_launch *launch, const char *preload_list,
                                 const struct session_signals *signals, const struct pipes *pipes)
{
    char byte;
    close(pipes->go[1]);
    ssize_t got;
    do
        got = read(pipes->go[0], &byte, 1);
    while (got < 0 && errno == EINTR);
    if (got != 1)
        _exit(SESSION_FAILED);
    int errnum = ENOMEM;
    if (session_set_environment(preload_list, launch->run_dir, launch->settings)) {
        session_signals_restore(signals);
        execvp(launch->argv[0], launch->argv);
        errnum = errno;
    }
    ssize_t written = write(pipes->failed[1], &errnum, sizeof errnum);
    _exit(written < 0 ? SESSION_FAILED : exit_of(errnum));
}

/* --- the parent --- */

static void note_end(struct pm_manifest *manifest, struct session_instant calibrated_from,
                     const struct session_ended *ended)
{
    int status = ended->status;
    struct session_instant end = session_instant_now();
    manifest->end_tsc = end.tsc;
    manifest->end_monotonic_ns = end.monotonic_ns;
    uint64_t hz =
        session_ticks_hz(calibrated_from, end); /* over the whole run: the longer, the better */
    if (hz && manifest->tsc_hz)
        manifest->tsc_hz = hz;
    manifest->has_usage = true;
    manifest->user_cpu_ns = ended->user_cpu_ns;
    manifest->system_cpu_ns = ended->system_cpu_ns;
    manifest->max_rss_bytes = ended->max_rss_bytes;
    manifest->exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    manifest->exit_signal = WIFSIGNALED(status) ? WTERMSIG(status) : -1;
}

/* Writes the manifest before anything is measured, then lets the child go. The manifest's start is
 * a little early until the end of the run, when it is written again. */
static enum pm_status release_child(const char *run_dir, struct pm_manifest *manifest, int go_fd,
                                    struct pm_error *err)
{
    struct session_instant start = session_instant_now();
    manifest->start_tsc = start.tsc;
    manifest->start_monotonic_ns = start.monotonic_ns;
    manifest->start_realtime_ns = session_realtime_ns();
    if (pm_manifest_write(run_dir, manifest, err) != PM_OK)
        return pm_error_add(err, "cannot start the run");
    start = session_instant_now();
    manifest->start_tsc = start.tsc;
    manifest->start_monotonic_ns = start.monotonic_ns;
    manifest->start_realtime_ns = session_realtime_ns();
    return write(go_fd, "g", 1) == 1 ? PM_OK
                                     : pm_error_system(err, errno, "cannot start the program");
}

static enum pm_status parent_main(const struct session_launch *launch, pid_t child, bool is_alone,
                                  const struct pipes *pipes, const struct session_signals *signals,
                                  struct pm_error *err, struct session_end *ret_end)
{
    struct pm_manifest *manifest = launch->manifest;
    struct session_instant from;
    struct session_ended ended = {.is_alone = is_alone};
    int errnum = 0;
    manifest->pid = (uint32_t)child;
    manifest->tsc_hz = session_calibrate(&from);
    close(pipes->go[0]);
    close(pipes->failed[1]);
    enum pm_status status = release_child(launch->run_dir, manifest, pipes->go[1], err);
    close(pipes->go[1]); /* not released: the child sees the end and leaves */
    ssize_t got;
    do
        got = read(pipes->failed[0], &errnum, sizeof errnum);
    while (got < 0 && errno == EINTR);
    close(pipes->failed[0]);
    struct session_pack *pack = session_pack_begin(launch->run_dir);
    session_wait(child, launch->settings->wait_for_all, signals, launch->control, &ended);
    session_pack_end(pack);
    if (status != PM_OK)
        return status;
    if (got == (ssize_t)sizeof errnum) {
        ret_end->exit = exit_of(errnum);
        return pm_error_system(err, errnum, "cannot start '%s'", launch->argv[0]);
    }
    note_end(manifest, from, &ended);
    ret_end->exit =
        WIFEXITED(ended.status) ? WEXITSTATUS(ended.status) : 128 + WTERMSIG(ended.status);
    ret_end->is_alive = !ended.all;
    ret_end->living_pid = ended.all ? 0 : session_any_child();
    return PM_OK;
}

enum pm_status session_start(const struct session_launch *launch, struct pm_error *err,
                             struct session_end *ret_end)
{
    struct session_preload preload;
    struct pipes pipes;
    struct session_signals signals;
    *ret_end = (struct session_end){.exit = SESSION_FAILED};
    enum pm_status status = session_preload_make(launch->settings, err, &preload);
    if (status != PM_OK)
        return status;
    if (pipe2(pipes.go, O_CLOEXEC) != 0 || pipe2(pipes.failed, O_CLOEXEC) != 0) {
        status = pm_error_system(err, errno, "cannot make a pipe");
        goto out;
    }
    session_control_watch(launch->control, launch->kernel);
    fflush(NULL);
    session_signals_take(&signals);
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    bool is_alone = session_any_child() == 0;
    pid_t child = fork();
    if (child == 0)
        child_main(launch, preload.list, &signals, &pipes);
    if (child < 0)
        status = pm_error_system(err, errno, "cannot start a process");
    else
        status = parent_main(launch, child, is_alone, &pipes, &signals, err, ret_end);
    session_control_watch(launch->control, NULL);
    if (launch->kernel && status == PM_OK) {
        struct pm_run_clock clock = pm_run_clock_of(launch->manifest);
        session_kernel_end(launch->kernel, launch->run_dir, &clock, launch->notes);
    }
    session_signals_give_back(&signals);
out:
    session_preload_release(&preload);
    return status;
}
