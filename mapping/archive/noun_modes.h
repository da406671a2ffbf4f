/* In which modes functions and loops were in a run, where these were others than the run's.
 *
 *     static bool visit(void *context, uint64_t id, enum pm_run_mode mode)
 *     {
 *         return add(context, id, mode);      // false: memory
 *     }
 *     status = pm_archive_noun_modes("heat.perfmap", visit, &modes, &err);
 */
#ifndef PM_NOUN_MODES_H
#define PM_NOUN_MODES_H

#include "../../format/pm_mode.h"
#include "../base/status.h"

/* id: of the noun in PIF; one comes for each of its modes, and for each process. */
typedef bool pm_noun_mode_visit(void *context, uint64_t id, enum pm_run_mode mode);
/* Errors are those of pm_archive_open. */
PM_MUST_CHECK enum pm_status pm_archive_noun_modes(const char *path, pm_noun_mode_visit *visit,
                                                   void *context, struct pm_error *err);

#endif
