/* Signals while a target is measured.
 *
 *     struct session_signals signals;
 *     session_signals_take(true, &signals);
 *     if (child == 0)                        // after fork
 *         session_signals_restore(&signals);
 *     int signal = session_signals_next(&signals); // when signals.fd can be read
 *     session_signals_give_back(&signals);
 *
 * One thread, and one session at a time: signals belong to the process.
 */
#ifndef PM_SESSION_SIGNALS_H
#define PM_SESSION_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/* Signals as they were, and a descriptor of those that tell the session to end; -1: there is
 * none. */
struct session_signals {
    int fd;
    sigset_t mask;
    struct sigaction on_int, on_quit, on_pipe;
};
/* has_terminal: what is typed at the terminal is for the program, not for us. */
void session_signals_take(bool has_terminal, struct session_signals *ret_signals);
/* The next that came; 0: none. Does not wait. */
int session_signals_next(const struct session_signals *signals);
/* In a child that becomes a program: all as it was. */
void session_signals_restore(const struct session_signals *signals);
/* In ourselves, who go on without SIGPIPE: what was measured still has to be written. */
void session_signals_give_back(const struct session_signals *signals);

#endif
