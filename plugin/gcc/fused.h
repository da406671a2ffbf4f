/* Between fused.cc (the passes) and fused_look.cc (what the statements of a function do). The
 * rules by which lost statements are explained: plugin/emit/fused.h. */
#ifndef PM_GCC_FUSED_H
#define PM_GCC_FUSED_H

#include "map.h"
#include "table.h"

extern "C" {
#include "../emit/fused.h"
}

/* The statement that a location belongs to; false: to none. */
bool pm_fused_key_of(location_t location, struct pm_fused_key *ret_key, const char **ret_shown);

/* Reads the statements of a function in GIMPLE with SSA names into an empty look. is_before: also
 * what only the first look is asked for: forms, pairs of equal form, whether something is
 * computed, extents and objects of all references. */
void pm_fused_look_at(function *fun, bool is_before, struct pm_fused_look *ret_look);

#endif
