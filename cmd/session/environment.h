/* What a measured program finds in its environment: the libraries that are preloaded, and the
 * settings of the runtime.
 *
 *     struct session_preload preload;
 *     if (session_preload_make(&settings, err, &preload) == PM_OK)
 *         session_set_environment(preload.list, run_dir, &settings);    // in the child
 *     session_preload_release(&preload);
 */
#ifndef PM_SESSION_ENVIRONMENT_H
#define PM_SESSION_ENVIRONMENT_H

#include "settings.h"

enum { SESSION_MAX_LIBRARIES = 3 + SESSION_MAX_ADAPTERS };
struct session_preload {
    /* the runtime, what follows the heap, adapters; NULL */
    char *libraries[SESSION_MAX_LIBRARIES];
    char *list;     /* for LD_PRELOAD */
    char *link_dir; /* holds links to them, and goes away with them; NULL: there was no need */
};
PM_MUST_CHECK enum pm_status session_preload_make(const struct session_settings *settings,
                                                  struct pm_error *err,
                                                  struct session_preload *ret_preload);
void session_preload_release(struct session_preload *preload);

/* What a process is told of the settings, as texts NAME=VALUE: each ends with a zero, all with
 * another. For targets that are not started with an environment of ours, too: pm_settings_read
 * (runtime/guest) takes such texts. texts->failed: memory. */
void session_settings_texts(const struct session_settings *settings, const char *run_dir,
                            uint32_t run_pid, uint32_t first_pid, struct pm_buf *texts);

/* Sets the variables of this process, which is about to become the program. False: memory. */
bool session_set_environment(const char *preload_list, const char *run_dir,
                             const struct session_settings *settings);

#endif
