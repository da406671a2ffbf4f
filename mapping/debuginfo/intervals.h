/* Address ranges that may nest and overlap, asked for what lies innermost at an address.
 *
 *     struct pm_intervals map = {0};
 *     pm_intervals_add(&map, low, high, depth, value);
 *     if (!pm_intervals_finish(&map)) ...                 // memory
 *     const struct pm_interval *found = pm_intervals_find(&map, address);   // NULL: nothing
 *     pm_intervals_release(&map);
 *
 * Deeper wins, then the smaller range, then the one that was added first. Sorted once, O(n log
 * n) for any input; found by bisection.
 */
#ifndef PM_INTERVALS_H
#define PM_INTERVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pm_interval {
    uint64_t low, high; /* [low, high) */
    uint32_t depth, value;
};

struct pm_intervals_cut { /* from here to the next cut */
    uint64_t low;
    uint32_t winner; /* index into items; UINT32_MAX: none */
};

struct pm_intervals {
    struct pm_interval *items;
    struct pm_intervals_cut *cuts;
    uint32_t n_items, n_items_max, n_cuts;
    bool failed; /* memory was at its end; sticky */
};

void pm_intervals_add(struct pm_intervals *map, uint64_t low, uint64_t high, uint32_t depth,
                      uint32_t value);
bool pm_intervals_finish(struct pm_intervals *map);
const struct pm_interval *pm_intervals_find(const struct pm_intervals *map, uint64_t address);
void pm_intervals_release(struct pm_intervals *map);

#endif
