/* The addresses of a DIE: low and high, .debug_ranges (DWARF 2 to 4), .debug_rnglists and
 * .debug_addr (5 and GNU's split DWARF).
 *
 *     struct pm_ranges ranges = {.lists = dwarf, .addresses = dwarf};
 *     pm_ranges_of(&ranges, &die, found, ctx);        // found(ctx, low, high) for each
 *
 * DWARF 5 standard, sections 2.17.3 and 7.28; DWARF 4, 2.17.3. All reads are bounded, in all by
 * n_entries_left.
 */
#ifndef PM_RANGES_H
#define PM_RANGES_H

#include "dwarf_reader.h"

struct pm_ranges {
    const struct pm_dwarf *lists, *addresses; /* differ in split DWARF */
    uint16_t version;
    uint8_t address_bytes, offset_bytes;
    uint64_t base; /* low_pc of the unit */
    uint64_t addr_base, ranges_base, rnglists_base;
    uint64_t n_entries_left;
};

typedef void pm_range_found(void *ctx, uint64_t low, uint64_t high);

bool pm_ranges_address(const struct pm_ranges *ranges, struct pm_dwarf_value value,
                       uint64_t *ret_address);
/* Empty ranges are left out. */
void pm_ranges_of(struct pm_ranges *ranges, const struct pm_dwarf_die *die, pm_range_found *found,
                  void *ctx);

#endif
