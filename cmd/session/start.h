/* Starts a program under the runtime, waits for it, and says how it ended. */
#ifndef PM_SESSION_START_H
#define PM_SESSION_START_H

#include "control.h"
#include "kernel.h"
#include "settings.h"

#include "mapping/run/manifest.h"

/* How it ended. */
struct session_end {
    /* status of the program, 128 + signal, or 126/127 with an error when it could not be started */
    int exit;
    bool is_alive;       /* something of the run still runs */
    uint32_t living_pid; /* one of these; 0: not known */
};

/* What is started, and what goes with it; all of it lent. */
struct session_launch {
    char *const *argv;
    const char *run_dir;
    const struct session_settings *settings;
    struct session_control *control; /* served meanwhile */
    struct session_kernel *kernel;   /* read meanwhile, and ended afterwards; NULL: none */
    struct pm_manifest *manifest;    /* written before it starts, and complete afterwards */
    struct session_notes *notes;
};

/* Starts the program and waits for it. ret_end is set on failure as well. */
PM_MUST_CHECK enum pm_status session_start(const struct session_launch *launch,
                                           struct pm_error *err, struct session_end *ret_end);

#endif
