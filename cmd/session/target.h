/* What is measured: a program, and whatever it starts. Nothing else of a session knows where it
 * comes from, nor whose child it is. child.h has the one that there is: a program that is started.
 *
 * Another kind puts a struct session_target first in its own, and is named in the request:
 *
 *     static const struct session_target_calls calls = {.check = check, .open = open_it,
 *                                                       .begin = begin, .look = look,
 *                                                       .signal = leave, .any_alive = any_alive,
 *                                                       .close = close_it};
 *     struct other {
 *         struct session_target target;
 *         int pidfd;
 *     } other = {.target = {.calls = &calls, .fd = -1}};
 *     request.target = &other.target;
 *
 * The request's argv names the program all the same: that of a process is what /proc/PID/exe leads
 * to. A process that runs already is told of its settings by session_settings_texts; who loads the
 * runtime into it needs 3 KB of static TLS there (glibc.rtld.optional_static_tls), which dlopen
 * refuses by default.
 */
#ifndef PM_SESSION_TARGET_H
#define PM_SESSION_TARGET_H

#include "notes.h"

#include <signal.h>

struct session_launch;
struct session_request;
struct session_signals;

/* What has ended, as far as the target knows. */
struct session_ended {
    bool program, all;                                  /* all: nothing of the run lives any more */
    int exit_status, exit_signal;                       /* of the program; -1: none, or not known */
    bool has_usage;                                     /* the three below are known */
    uint64_t user_cpu_ns, system_cpu_ns, max_rss_bytes; /* of all that has ended */
};

struct session_target {
    const struct session_target_calls *calls;
    uint32_t pid; /* of the program; from `open` on */
    int fd;       /* can be read when `look` may have something to say; the same */
};

/* In the order in which they are called. */
struct session_target_calls {
    /* What is typed at the terminal reaches it as well: it is for the program to end by SIGINT and
     * SIGQUIT. Otherwise these are handed to `signal`. */
    bool has_terminal;
    /* Can it be measured? ret_exit is set on failure. */
    enum pm_status (*check)(struct session_target *target, const struct session_request *request,
                            struct session_notes *notes, struct pm_error *err, int *ret_exit);
    /* The process is there, and nothing of it is measured yet. `close` follows in any case. */
    enum pm_status (*open)(struct session_target *target, const struct session_launch *launch,
                           const struct session_signals *signals, struct pm_error *err);
    /* The run folder is ready: from now on it is measured. ret_exit is set on failure. */
    enum pm_status (*begin)(struct session_target *target, struct pm_error *err, int *ret_exit);
    /* Adds to `ended` what has ended since, and makes fd silent. Does not wait. */
    void (*look)(struct session_target *target, struct session_ended *ended);
    /* The session was told to end: hand it on, or leave the program alone and say so by `look`. */
    void (*signal)(struct session_target *target, int signal);
    /* One of its processes; 0: there is none, or nobody knows. */
    uint32_t (*any_alive)(struct session_target *target);
    void (*close)(struct session_target *target);
};

/* Does a process of the run live? */
static inline bool session_is_alive(uint32_t pid)
{
    return kill((pid_t)pid, 0) == 0;
}

#endif
