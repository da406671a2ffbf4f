/* What a run was measured on, as attributes of the manifest: later runs are compared with it.
 *
 *     session_machine_begin(&machine);                    // just before the program starts
 *     ...
 *     if (!session_machine_end(&machine, &manifest))      // it has ended
 *         return PM_ERR_MEMORY;
 *
 * The program waits for one system call: all but the load at the start is asked afterwards.
 */
#ifndef PM_SESSION_MACHINE_H
#define PM_SESSION_MACHINE_H

#include "mapping/run/manifest.h"

struct session_machine {
    double load; /* over a minute; negative: not known */
};

void session_machine_begin(struct session_machine *machine);
/* cpu_model, n_cpus, kernel, governor, load_start, load_end; what is not known is left out. false:
 * memory. */
PM_MUST_CHECK bool session_machine_end(const struct session_machine *machine,
                                       struct pm_manifest *manifest);

#endif
