/* Signals while a program is measured, and who of the run has ended.
 *
 *     struct session_signals signals;
 *     session_signals_take(&signals);
 *     if (child == 0)                        // after fork
 *         session_signals_restore(&signals);
 *     struct session_ended ended = {.is_alone = true};
 *     session_wait(child, false, &signals, control, &ended);
 *     session_signals_give_back(&signals);
 *
 * One thread, and one session at a time: signals belong to the process.
 */
#ifndef PM_SESSION_SIGNALS_H
#define PM_SESSION_SIGNALS_H

#include "control.h"

#include <signal.h>
#include <sys/types.h>

/* Signals as they were, and those that are waited for. */
struct session_signals {
    sigset_t mask, waited;
    struct sigaction on_int, on_quit, on_child, on_pipe;
};
void session_signals_take(struct session_signals *ret_signals);
/* In the child: all as it was. */
void session_signals_restore(const struct session_signals *signals);
/* In the parent, which goes on without SIGPIPE, for it still has to write what was measured. */
void session_signals_give_back(const struct session_signals *signals);

/* What has ended: the program itself, and what its processes left behind. */
struct session_ended {
    bool program, all; /* all: nothing of the run lives any more */
    /* we have no children but those of the run: else only the program itself can be waited for */
    bool is_alone;
    int status; /* of the program, as wait(2) has it */
    uint64_t user_cpu_ns, system_cpu_ns, max_rss_bytes;
};
/* Until the program has ended. Meanwhile the control socket is served. wait_for_all: for whatever
 * the program left behind, too; SIGTERM and SIGHUP end that, and before are the program's. */
void session_wait(pid_t child, bool wait_for_all, const struct session_signals *signals,
                  struct session_control *control, struct session_ended *ended);

/* One of our children; 0: there is none, or the kernel does not tell. */
uint32_t session_any_child(void);

#endif
