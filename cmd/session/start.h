/* Measures a target from its beginning to its end, and says how it ended. */
#ifndef PM_SESSION_START_H
#define PM_SESSION_START_H

#include "clock.h"
#include "control.h"
#include "kernel.h"
#include "settings.h"
#include "target.h"

#include "mapping/run/manifest.h"

/* How it ended. */
struct session_end {
    /* status of the program, 128 + signal, or 126/127 with an error when it could not be started;
     * 0 where nobody knows */
    int exit;
    bool is_alive;       /* something of the run still runs */
    uint32_t living_pid; /* one of these; 0: not known */
};

/* What is measured, and what goes with it; all of it lent. */
struct session_launch {
    struct session_target *target;
    char *const *argv;
    const char *run_dir;
    const struct session_settings *settings;
    struct session_instant prepared; /* before: how fast the clock ticks shows since then */
    struct session_control *control; /* served meanwhile */
    bool prepares;                   /* an archive of samples is made afterwards, by this process */
    struct session_kernel *kernel;   /* read meanwhile, and ended afterwards; NULL: none */
    struct pm_manifest *manifest;    /* written before it starts, and complete afterwards */
    struct session_notes *notes;
};

/* Until the program has ended. Meanwhile the control socket is served. wait_for_all: for whatever
 * the program left behind, too; a signal ends that, and before is the target's. ret_end is set on
 * failure as well. */
PM_MUST_CHECK enum pm_status session_start(const struct session_launch *launch,
                                           struct pm_error *err, struct session_end *ret_end);

#endif
