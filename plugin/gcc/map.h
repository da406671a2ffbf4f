/* Between the parts of the late map: map.cc (ranges of emitted code, RTL), map_out.cc (the
 * section, format/pm_map.h), objects.cc (which variable a memory reference touches), fused.cc
 * (statements that own no instruction any more). */
#ifndef PM_GCC_MAP_H
#define PM_GCC_MAP_H

#include "facts.h"

extern "C" {
#include "../emit/map_block.h"
}

/* --- objects.cc: a GIMPLE pass after "optimized" remembers what base pointers stand for --- */

/* What a memory reference of the current function's RTL touches: appended to *out, without
 * repetitions. False when it touches memory that is not of the function's own frame and whose
 * object is not known. is_frame: it is the frame's (spill, push, argument). */
bool pm_objects_of_memory(const_rtx mem, bool writes, std::vector<struct pm_access> *out,
                          bool *ret_is_frame);
/* What a call touches by itself: memory functions (memset, memcpy, ...), by their pointer
 * arguments. False: not known. */
bool pm_objects_of_call(const rtx_insn *call, std::vector<struct pm_access> *out);
void pm_objects_register(const char *plugin_name);

/* --- fused.cc: passes before and after the loop optimisers compare what there is --- */

/* Other statements of the source that the code of the statement at `place` in `function`
 * (inlined or not) of the function being emitted implements too, one after the other: *at begins
 * with 0. NULL: no more. */
const struct pm_map_also *pm_fused_next(pm_id function, const struct pm_place *place, uint32_t *at);
void pm_fused_register(const char *plugin_name);

/* --- tails.cc: equal ends of blocks that were made one --- */
/* While there still are blocks, before the next. */
void pm_tails_resolve(function *fun);
/* What the instruction does, too: places of others that are gone. NULL: nothing. Lent until the
 * next function. */
const std::vector<location_t> *pm_tails_of(const rtx_insn *insn);
void pm_tails_register(const char *plugin_name);

/* --- map.cc --- */
void pm_map_register(const char *plugin_name);

#endif
