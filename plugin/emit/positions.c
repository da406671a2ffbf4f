/* Numbers for keys, in the order in which they first come. */
#include "positions.h"

#include "../../mapping/base/str.h"

#include <stdlib.h>

enum { FIRST_ITEMS = 16, SLOTS_KEPT_MAX = 4096 };

/* The slot of a key, or the free one where it belongs. The upper bits of the product are the good
 * ones (Knuth, TAOCP 3, 6.4). */
static uint32_t *slot_of(const struct pm_positions *positions, uint64_t key)
{
    uint32_t mask = positions->n_slots - 1;
    uint32_t at = (uint32_t)((key * 0x9e3779b97f4a7c15u) >> 32) & mask;
    while (positions->slots[at] != 0 && positions->items[positions->slots[at] - 1] != key)
        at = (at + 1) & mask;
    return &positions->slots[at];
}

static bool grow_slots(struct pm_positions *positions)
{
    uint32_t n_slots = positions->n_slots != 0 ? positions->n_slots * 2 : FIRST_ITEMS * 2;
    uint32_t *slots = n_slots != 0 ? pm_alloc_array(n_slots, sizeof *slots) : NULL;
    if (!slots)
        return false;
    free(positions->slots);
    positions->slots = slots;
    positions->n_slots = n_slots;
    for (uint32_t i = 0; i < positions->n; i++)
        *slot_of(positions, positions->items[i]) = i + 1;
    return true;
}

static bool make_room(struct pm_positions *positions)
{
    if ((positions->n + 1) * 2 > positions->n_slots && !grow_slots(positions))
        return false;
    uint64_t *items =
        pm_grow_array(positions->items, positions->n, &positions->cap, FIRST_ITEMS, sizeof *items);
    if (items)
        positions->items = items;
    return items != NULL;
}

uint32_t pm_positions_add(struct pm_positions *positions, uint64_t key)
{
    uint32_t found = pm_positions_find(positions, key);
    if (found != PM_POSITION_NONE)
        return found;
    if (positions->failed || !make_room(positions)) {
        positions->failed = true;
        return PM_POSITION_NONE;
    }
    *slot_of(positions, key) = positions->n + 1;
    positions->items[positions->n] = key;
    return positions->n++;
}

uint32_t pm_positions_find(const struct pm_positions *positions, uint64_t key)
{
    if (positions->n == 0)
        return PM_POSITION_NONE;
    uint32_t found = *slot_of(positions, key);
    return found != 0 ? found - 1 : PM_POSITION_NONE;
}

void pm_positions_clear(struct pm_positions *positions)
{
    if (positions->n_slots > SLOTS_KEPT_MAX) {
        pm_positions_release(positions);
        return;
    }
    if (positions->n != 0)
        memset(positions->slots, 0, positions->n_slots * sizeof *positions->slots);
    positions->n = 0;
    positions->failed = false;
}

void pm_positions_release(struct pm_positions *positions)
{
    free(positions->items);
    free(positions->slots);
    *positions = (struct pm_positions){0};
}
