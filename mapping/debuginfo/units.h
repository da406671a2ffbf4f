/* Addresses to functions, inlined calls and lines, unit by unit, each read when an address falls
 * into it.
 *
 *     // NULL: no DWARF, or no memory
 *     struct pm_units *units = pm_units_new(file, debug_file, set, notes);
 *     // innermost first
 *     size_t n = pm_units_find(units, address, frames, max);
 *     pm_units_free(units);
 *
 * What is kept of units is bounded: the one that was used longest ago goes first. One thread at
 * a time.
 */
#ifndef PM_UNITS_H
#define PM_UNITS_H

#include "debuginfo.h"
#include "dwarf_reader.h"

struct pm_units;

/* file says where code is, debug_file has the DWARF; may be the same. Both, set and notes are
 * lent for its life. */
struct pm_units *pm_units_new(const struct pm_elf_file *file, const struct pm_elf_file *debug_file,
                              struct pm_intern *set, struct pm_debug_notes *notes);
void pm_units_free(struct pm_units *units);
/* The last frame's function and linkage are NULL, low and high 0, where only lines are known. */
size_t pm_units_find(struct pm_units *units, uint64_t address, struct pm_debug_frame *ret_frames,
                     size_t max);

#endif
