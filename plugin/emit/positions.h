/* Numbers for keys, in the order in which they first come: 0, 1, 2, ...
 *
 *     struct pm_positions nouns = {0};
 *     uint32_t first = pm_positions_add(&nouns, 0xae38632ada7dc36d);  // 0
 *     uint32_t again = pm_positions_add(&nouns, 0xae38632ada7dc36d);  // 0
 *     for (uint32_t i = 0; i < nouns.n; i++)
 *         write_id(nouns.items[i]);
 *     pm_positions_release(&nouns);
 *
 * Keys are any 64 bits. When memory ends, failed is set and stays; what is returned then means
 * nothing. One thread at a time.
 */
#ifndef PM_POSITIONS_H
#define PM_POSITIONS_H

#include <stdbool.h>
#include <stdint.h>

#define PM_POSITION_NONE UINT32_MAX

struct pm_positions {
    uint64_t *items; /* the keys by position */
    uint32_t n, cap;
    uint32_t *slots; /* position + 1, 0 free; a power of two of them, at most half full */
    uint32_t n_slots;
    bool failed;
};

/* The key's position; a new key gets the next one. */
uint32_t pm_positions_add(struct pm_positions *positions, uint64_t key);
/* PM_POSITION_NONE: not there. */
uint32_t pm_positions_find(const struct pm_positions *positions, uint64_t key);
/* Empty, for the next use. Keeps its memory unless that is much. */
void pm_positions_clear(struct pm_positions *positions);
void pm_positions_release(struct pm_positions *positions);

#endif
