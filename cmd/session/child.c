/* The child that becomes the program, and its end (child.h). */
#include "child.h"
#include "program.h"
#include "session.h"
#include "signals.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

static struct session_child *child_of(struct session_target *target)
{
    return (struct session_child *)target;
}

static enum pm_status check(struct session_target *target, const struct session_request *request,
                            struct session_notes *notes, struct pm_error *err, int *ret_exit)
{
    (void)target;
    return session_check_program(request->argv[0], request->force, notes, err, ret_exit);
}

/* --- the child --- */

struct pipes {
    int go[2], failed[2];
};

/* As env(1). */
static int exit_of(int errnum)
{
    return errnum == ENOENT ? SESSION_NOT_FOUND : SESSION_CANNOT_EXECUTE;
}

static ssize_t read_whole(int fd, void *to, size_t n)
{
    ssize_t got;
    do
        got = read(fd, to, n);
    while (got < 0 && errno == EINTR);
    return got;
}

_Noreturn static void child_main(const struct session_launch *launch,
                                 const struct session_child *child,
                                 const struct session_signals *signals, const struct pipes *pipes)
{
    char byte;
    close(pipes->go[1]);
    if (read_whole(pipes->go[0], &byte, 1) != 1)
        _exit(SESSION_FAILED);
    int errnum = ENOMEM;
    if (session_set_environment(child->preload.list, launch->run_dir, launch->settings)) {
        sigaction(SIGCHLD, &child->on_child, NULL);
        session_signals_restore(signals);
        execvp(launch->argv[0], launch->argv);
        errnum = errno;
    }
    ssize_t written = write(pipes->failed[1], &errnum, sizeof errnum);
    _exit(written < 0 ? SESSION_FAILED : exit_of(errnum));
}

/* --- the parent --- */

/* One of our children; 0: there is none, or the kernel does not tell. */
static uint32_t any_child(void)
{
    char path[64], text[32] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    return n > 0 ? (uint32_t)strtoul(text, NULL, 10) : 0;
}

/* SIGCHLD is blocked from here on, until the session gives the signals back. Ignored, as it may be
 * inherited, it would lose the exit status. */
static int open_ends(struct session_child *child)
{
    struct sigaction usual = {.sa_handler = SIG_DFL, .sa_flags = SA_NOCLDSTOP}; /* ends only */
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGCHLD);
    sigprocmask(SIG_BLOCK, &ends, NULL);
    sigaction(SIGCHLD, &usual, &child->on_child);
    return signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void close_pipe(const int fds[2])
{
    close(fds[0]);
    close(fds[1]);
}

static enum pm_status open_pipes(struct pm_error *err, struct pipes *ret_pipes)
{
    if (pipe2(ret_pipes->go, O_CLOEXEC) != 0)
        return pm_error_system(err, errno, "cannot make a pipe");
    if (pipe2(ret_pipes->failed, O_CLOEXEC) == 0)
        return PM_OK;
    pm_error_system(err, errno, "cannot make a pipe");
    close_pipe(ret_pipes->go);
    return PM_ERR_SYSTEM;
}

static enum pm_status open_child(struct session_target *target, const struct session_launch *launch,
                                 const struct session_signals *signals, struct pm_error *err)
{
    struct session_child *child = child_of(target);
    struct pipes pipes;
    child->program = launch->argv[0];
    enum pm_status status = session_preload_make(launch->settings, err, &child->preload);
    if (status != PM_OK)
        return status;
    status = open_pipes(err, &pipes);
    if (status != PM_OK)
        return status;
    target->fd = open_ends(child);
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    child->is_alone = any_child() == 0;
    pid_t pid = fork();
    if (pid == 0)
        child_main(launch, child, signals, &pipes);
    if (pid < 0) {
        pm_error_system(err, errno, "cannot start a process");
        close_pipe(pipes.go);
        close_pipe(pipes.failed);
        return PM_ERR_SYSTEM;
    }
    target->pid = (uint32_t)pid;
    child->is_started = true;
    close(pipes.go[0]);
    close(pipes.failed[1]);
    child->go_fd = pipes.go[1];
    child->failed_fd = pipes.failed[0];
    return PM_OK;
}

static enum pm_status begin(struct session_target *target, struct pm_error *err, int *ret_exit)
{
    struct session_child *child = child_of(target);
    int errnum = 0;
    if (write(child->go_fd, "g", 1) != 1)
        return pm_error_system(err, errno, "cannot start the program");
    if (read_whole(child->failed_fd, &errnum, sizeof errnum) != (ssize_t)sizeof errnum)
        return PM_OK;
    *ret_exit = exit_of(errnum);
    return pm_error_system(err, errnum, "cannot start '%s'", child->program);
}

static uint64_t ns_of(struct timeval time)
{
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_usec * 1000u;
}

static void add_usage(struct session_ended *ended, const struct rusage *usage)
{
    uint64_t rss_bytes = (uint64_t)usage->ru_maxrss * 1024u;
    ended->has_usage = true;
    ended->user_cpu_ns += ns_of(usage->ru_utime);
    ended->system_cpu_ns += ns_of(usage->ru_stime);
    ended->max_rss_bytes = rss_bytes > ended->max_rss_bytes ? rss_bytes : ended->max_rss_bytes;
}

/* All that has ended by now. A process that its parent did not wait for becomes our child when
 * that ends (PR_SET_CHILD_SUBREAPER): so the CPU time of each process of the run is told by one
 * wait4, and that there is none left by the lack of children. */
static void look(struct session_target *target, struct session_ended *ended)
{
    struct session_child *child = child_of(target);
    struct signalfd_siginfo info;
    while (read(target->fd, &info, sizeof info) > 0) /* before looking: what ends now comes again */
        continue;
    for (;;) {
        struct rusage usage = {0};
        int status;
        pid_t pid = wait4(child->is_alone ? -1 : (pid_t)target->pid, &status, WNOHANG, &usage);
        ended->all = pid < 0 && errno == ECHILD;
        if (pid <= 0)
            return;
        if (!WIFEXITED(status) && !WIFSIGNALED(status))
            continue;
        add_usage(ended, &usage);
        if (pid != (pid_t)target->pid)
            continue;
        child->is_started = false;
        ended->program = true;
        ended->exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        ended->exit_signal = WIFSIGNALED(status) ? WTERMSIG(status) : -1;
    }
}

static void hand_on(struct session_target *target, int signal)
{
    kill((pid_t)target->pid, signal);
}

static uint32_t any_alive(struct session_target *target)
{
    (void)target;
    return any_child();
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* A child that has not begun leaves when its pipe is closed. */
static void close_child(struct session_target *target)
{
    struct session_child *child = child_of(target);
    close_fd(&child->go_fd);
    close_fd(&child->failed_fd);
    close_fd(&target->fd);
    while (child->is_started && waitpid((pid_t)target->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    child->is_started = false;
    session_preload_release(&child->preload);
}

struct session_target *session_child_target(struct session_child *child)
{
    static const struct session_target_calls calls = {.has_terminal = true,
                                                      .check = check,
                                                      .open = open_child,
                                                      .begin = begin,
                                                      .look = look,
                                                      .signal = hand_on,
                                                      .any_alive = any_alive,
                                                      .close = close_child};
    *child =
        (struct session_child){.target = {.calls = &calls, .fd = -1}, .go_fd = -1, .failed_fd = -1};
    return &child->target;
}
