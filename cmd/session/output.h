/* Where a run goes: an archive, made from a run folder of its own, or a run folder that stays.
 *
 *     struct session_output output;
 *     if (session_output_check(name, true, err) == PM_OK &&
 *         session_output_make(name, true, NULL, err, &output) == PM_OK)
 *         use(output.run_dir);
 *     session_output_release(&output);
 */
#ifndef PM_SESSION_OUTPUT_H
#define PM_SESSION_OUTPUT_H

#include "notes.h"

struct session_output {
    char *name;    /* what was asked for: archive, or run folder when `collect` is off */
    char *run_dir; /* absolute, exists */
    bool collect;
    bool own_run_dir; /* run_dir is a temporary of ours */
};

/* May an archive be written to this name? A new name, an empty file or an archive (which is
 * replaced); PM_ERR_USAGE for anything else that exists. */
PM_MUST_CHECK enum pm_status session_check_archive_place(const char *name, struct pm_error *err);
/* Checks that name can be (re)placed, and makes the run folder. An existing archive or run folder
 * is replaced, anything else refused. Nothing that exists is touched before session_output_make. */
PM_MUST_CHECK enum pm_status session_output_check(const char *name, bool collect,
                                                  struct pm_error *err);
/* job: of which this run is one rank; NULL: none. */
struct session_job;
PM_MUST_CHECK enum pm_status session_output_make(const char *name, bool collect,
                                                 const struct session_job *job,
                                                 struct pm_error *err,
                                                 struct session_output *ret_output);
/* Removes a run folder: its manifest, its run files, itself. Other files in it stay, and then it
 * stays too, with a warning. */
void session_folder_remove(const char *run_dir, struct session_notes *notes);
/* An archive that a run is about to replace is kept as NAME.old, as perf does. In pairs: before
 * the new one is made, and afterwards. */
struct session_kept {
    char *old, *spare; /* NULL: none */
};
void session_output_keep(const char *name, struct session_notes *notes,
                         struct session_kept *ret_kept);
/* The name that the old archive has now, to be freed; NULL: none is kept. */
char *session_output_kept(struct session_kept *kept, bool is_replaced);
void session_output_release(struct session_output *output);

#endif
