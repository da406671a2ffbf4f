/* Signals of a session, and waiting for its processes (signals.h). */
#include "signals.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* A terminal sends SIGINT and SIGQUIT to the program too, so we let them pass and see how it ends.
 * SIGTERM and SIGHUP are for us alone: they are handed on. SIGPIPE (our standard error is a pipe
 * nobody reads) must not keep us from writing what was measured. */
void session_signals_take(struct session_signals *ret_signals)
{
    sigset_t *waited = &ret_signals->waited;
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct sigaction usual = {.sa_handler = SIG_DFL, .sa_flags = SA_NOCLDSTOP}; /* ends only */
    sigemptyset(waited);
    sigaddset(waited, SIGCHLD);
    sigaddset(waited, SIGTERM);
    sigaddset(waited, SIGHUP);
    sigprocmask(SIG_BLOCK, waited, &ret_signals->mask);
    sigaction(SIGINT, &ignore, &ret_signals->on_int);
    sigaction(SIGQUIT, &ignore, &ret_signals->on_quit);
    sigaction(SIGCHLD, &usual,
              &ret_signals->on_child); /* inherited "ignored" would lose the exit status */
    sigaction(SIGPIPE, &ignore, &ret_signals->on_pipe);
}

void session_signals_restore(const struct session_signals *signals)
{
    sigaction(SIGINT, &signals->on_int, NULL);
    sigaction(SIGQUIT, &signals->on_quit, NULL);
    sigaction(SIGCHLD, &signals->on_child, NULL);
    sigaction(SIGPIPE, &signals->on_pipe, NULL);
    sigprocmask(SIG_SETMASK, &signals->mask, NULL);
}

void session_signals_give_back(const struct session_signals *signals)
{
    sigaction(SIGINT, &signals->on_int, NULL);
    sigaction(SIGQUIT, &signals->on_quit, NULL);
    sigprocmask(SIG_SETMASK, &signals->mask, NULL);
}

static uint64_t ns_of(struct timeval time)
{
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_usec * 1000u;
}

/* One of our children; 0: there is none, or the kernel does not tell. */
uint32_t session_any_child(void)
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

static void add_usage(struct session_ended *ended, const struct rusage *usage)
{
    uint64_t rss_bytes = (uint64_t)usage->ru_maxrss * 1024u;
    ended->user_cpu_ns += ns_of(usage->ru_utime);
    ended->system_cpu_ns += ns_of(usage->ru_stime);
    ended->max_rss_bytes = rss_bytes > ended->max_rss_bytes ? rss_bytes : ended->max_rss_bytes;
}

/* All that has ended by now. A process that its parent did not wait for becomes our child when
 * that ends (PR_SET_CHILD_SUBREAPER): so the CPU time of each process of the run is told by one
 * wait4, and that there is none left by the lack of children. */
static void reap(pid_t child, struct session_ended *ended)
{
    for (;;) {
        struct rusage usage = {0};
        int status;
        pid_t pid = wait4(ended->is_alone ? -1 : child, &status, WNOHANG, &usage);
        ended->all = pid < 0 && errno == ECHILD;
        if (pid <= 0)
            return;
        if (!WIFEXITED(status) && !WIFSIGNALED(status))
            continue;
        add_usage(ended, &usage);
        if (pid == child) {
            ended->program = true;
            ended->status = status;
        }
    }
}

void session_wait(pid_t child, bool wait_for_all, const struct session_signals *signals,
                  struct session_control *control, struct session_ended *ended)
{
    int fd = signalfd(-1, &signals->waited, SFD_CLOEXEC | SFD_NONBLOCK);
    for (;;) {
        reap(child, ended);
        if (ended->program && (ended->all || !wait_for_all)) {
            if (fd >= 0)
                close(fd);
            return;
        }
        struct signalfd_siginfo info = {0};
        int signal;
        if (fd >= 0 && control) {
            session_control_wait(control, fd);
            signal = read(fd, &info, sizeof info) == (ssize_t)sizeof info ? (int)info.ssi_signo : 0;
        } else {
            signal = sigwaitinfo(&signals->waited, NULL);
        }
        if (signal == SIGTERM || signal == SIGHUP) {
            if (ended->program) /* it is us who are to end: what still runs goes on */
                wait_for_all = false;
            else
                kill(child, signal);
        }
    }
}
