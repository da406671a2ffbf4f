/* The words of enum pm_run_mode, as options, manifests, archives and requests to a run have them.
 *
 *     enum pm_run_mode mode;
 *     if (pm_mode_of("exact", &mode))
 *         puts(pm_mode_name(mode));
 */
#ifndef PM_MODE_H
#define PM_MODE_H

#include "pm_run.h"

#include <stdbool.h>
#include <string.h>

enum { PM_N_RUN_MODES = PM_RUN_MODE_TRACE + 1 };

static const char *const pm_mode_words[PM_N_RUN_MODES] = {"off", "count", "active", "exact",
                                                          "trace"};

/* "unknown" for a number that is no mode. */
static inline const char *pm_mode_name(uint32_t mode)
{
    return mode < PM_N_RUN_MODES ? pm_mode_words[mode] : "unknown";
}

/* False: the word is no mode's. */
static inline bool pm_mode_of(const char *word, enum pm_run_mode *ret_mode)
{
    for (uint32_t mode = 0; mode < PM_N_RUN_MODES; mode++)
        if (strcmp(word, pm_mode_name(mode)) == 0) {
            *ret_mode = (enum pm_run_mode)mode;
            return true;
        }
    return false;
}

#endif
