/* Which mode each noun has, and changing it. */
#ifndef PM_RUNTIME_MODES_H
#define PM_RUNTIME_MODES_H

#include "runtime/code/object.h"
#include "runtime/tree/noun.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Gives nouns of an object their modes, by the plan, and writes them to its chunk: `list` is
 * there, of its nouns from `first` on. System calls only. */
void pm_modes_begin(struct pm_object *object, uint32_t first, struct pm_run_noun *list, uint32_t n);
bool pm_modes_are_inside(void); /* some nouns are followed within others only */
void pm_modes_follow_jumps(struct pm_object *object, struct pm_run_noun *list);
struct pm_changed {
    uint32_t n_nouns, n_sleds, n_refused; /* nouns */
};
/* Brings all nouns that have a target there. All signals are blocked, and adapt.c's lock is
 * held. False: not now (the loader is at work), all targets stay. Nouns whose change was refused
 * are as before, and without a target. */
bool pm_modes_apply(enum pm_run_adapted_reason reason, uint64_t tsc,
                    struct pm_changed *ret_changed);
/* No code is changed from hold to release: the loader may be unmapping it, and objects come and
 * go. Hold waits for a change that has begun. At ordinary calls. */
void pm_modes_hold(void);
void pm_modes_release(void);
void pm_modes_fork_child(void); /* after the new run file has its objects */
bool pm_modes_differ(void);     /* some noun has, or had, another mode than the process */

#endif
