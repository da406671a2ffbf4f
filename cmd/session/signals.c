/* Signals of a session (signals.h). */
#include "signals.h"

#include <stddef.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* A terminal sends SIGINT and SIGQUIT to the program too, when that was started at it, so we let
 * them pass and see how it ends. SIGTERM and SIGHUP are for us alone: the target has to know.
 * SIGPIPE (our standard error is a pipe nobody reads) must not keep us from writing what was
 * measured. */
void session_signals_take(bool has_terminal, struct session_signals *ret_signals)
{
    struct session_signals *s = ret_signals;
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigset_t waited;
    sigemptyset(&waited);
    sigaddset(&waited, SIGTERM);
    sigaddset(&waited, SIGHUP);
    if (!has_terminal) {
        sigaddset(&waited, SIGINT);
        sigaddset(&waited, SIGQUIT);
    }
    sigprocmask(SIG_BLOCK, &waited, &s->mask);
    sigaction(SIGINT, has_terminal ? &ignore : NULL, &s->on_int);
    sigaction(SIGQUIT, has_terminal ? &ignore : NULL, &s->on_quit);
    sigaction(SIGPIPE, &ignore, &s->on_pipe);
    s->fd = signalfd(-1, &waited, SFD_CLOEXEC | SFD_NONBLOCK);
}

int session_signals_next(const struct session_signals *signals)
{
    struct signalfd_siginfo info;
    return read(signals->fd, &info, sizeof info) == (ssize_t)sizeof info ? (int)info.ssi_signo : 0;
}

void session_signals_restore(const struct session_signals *signals)
{
    sigaction(SIGINT, &signals->on_int, NULL);
    sigaction(SIGQUIT, &signals->on_quit, NULL);
    sigaction(SIGPIPE, &signals->on_pipe, NULL);
    sigprocmask(SIG_SETMASK, &signals->mask, NULL);
}

void session_signals_give_back(const struct session_signals *signals)
{
    if (signals->fd >= 0)
        close(signals->fd);
    sigaction(SIGINT, &signals->on_int, NULL);
    sigaction(SIGQUIT, &signals->on_quit, NULL);
    sigprocmask(SIG_SETMASK, &signals->mask, NULL);
}
