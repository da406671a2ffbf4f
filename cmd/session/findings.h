/* What a run left: its run files, looked through once.
 *
 *     struct session_findings findings;
 *     session_find(run_dir, &manifest, true, &notes, &findings);
 */
#ifndef PM_SESSION_FINDINGS_H
#define PM_SESSION_FINDINGS_H

#include "notes.h"

#include "mapping/run/manifest.h"

struct session_findings {
    size_t n_processes;         /* run files */
    uint64_t n_sleds;           /* over all of them */
    size_t n_sampled;           /* processes of which samples were taken */
    size_t n_execs, n_executed; /* processes that ended by exec; that began so */
    uint64_t n_calls;
    size_t n_damaged;     /* run files that cannot be read, or not all of them */
    bool is_running;      /* a process has not ended, or has not even begun */
    uint32_t running_pid; /* one of these; 0: none is known */
    /* of n_sleds those of compiled code; the others stand for a program's own words */
    uint64_t n_code_sleds;
    char level[64]; /* the first level of such words that sentences were made of; "" none */
};

/* Looks through the run files, and notes the runtime's messages once each; with tell_damage also
 * what is damaged (collecting says that too). */
void session_find(const char *run_dir, const struct pm_manifest *manifest, bool tell_damage,
                  struct session_notes *notes, struct session_findings *ret_findings);

#endif
