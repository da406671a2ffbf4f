/* How a run is measured: what its processes are told (format/pm_settings.h), what is loaded into
 * them, and what it waits for. */
#ifndef PM_SESSION_SETTINGS_H
#define PM_SESSION_SETTINGS_H

#include "adapters.h"
#include "format/pm_settings.h"

struct session_settings {
    struct pm_settings runtime; /* run_dir, run_pid and first_pid: filled in when it starts */
    struct session_adapters adapters;
    bool wait_for_all;     /* for all processes of the run, not only for the program itself */
    bool counts_libraries; /* libperfmap-sources.so is preloaded, for its metrics */
};

/* The modes count and off have none: no call paths, so no samples either. */
bool session_has_contexts(const struct session_settings *settings);

#endif
