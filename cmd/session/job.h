/* `perfmap run` behind a launcher: `mpirun -np 4 perfmap run ./stencil`. Each rank has a session,
 * with a run folder of its own; the last one to end makes one archive of all.
 *
 *     struct session_job job;
 *     struct pm_manifest manifest;
 *     bool is_last;
 *     if (session_job_find("s.perfmap", &job))           // one of several ranks
 *         status = session_job_join(&job, err);
 *     ...                                                // the program runs
 *     status = session_job_leave(&job, run_dir, &manifest, &notes, err, &is_last);
 *     session_job_release(&job);
 *
 * Beside the archive lies NAME.job.JOB, with a line for each rank that began or ended; whoever
 * looks at it has it locked. Run folders are NAME.run.JOB.RANK. One thread.
 */
#ifndef PM_SESSION_JOB_H
#define PM_SESSION_JOB_H

#include "notes.h"

#include "mapping/run/manifest.h"

struct session_job {
    char *path;   /* the list of its ranks; owned */
    char *folder; /* with .RANK behind it that rank's run folder; owned */
    uint32_t rank, n_ranks;
};

/* Whether the environment says that this is one of several ranks. output: the archive's name. */
bool session_job_find(const char *output, struct session_job *ret_job);
/* This rank's run folder, to be made; NULL: memory. The caller frees. */
char *session_job_folder(const struct session_job *job);
PM_MUST_CHECK enum pm_status session_job_join(const struct session_job *job, struct pm_error *err);
/* The program has ended. *ret_is_last: all others have, too, and what they measured is in run_dir
 * now, and in the manifest. */
PM_MUST_CHECK enum pm_status session_job_leave(const struct session_job *job, const char *run_dir,
                                               struct pm_manifest *manifest,
                                               struct session_notes *notes, struct pm_error *err,
                                               bool *ret_is_last);
void session_job_release(struct session_job *job);

#endif
