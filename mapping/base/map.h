/* A map of 64-bit keys to numbers from 1. Open addressing, at most half full.
 *
 *     struct pm_map map = {0};
 *     if (!pm_map_put(&map, key, row)) ...      // memory
 *     uint32_t row = pm_map_get(&map, key);     // 0: not there
 *     pm_map_release(&map);
 */
#ifndef PM_MAP_H
#define PM_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pm_map_slot {
    uint64_t key;
    uint32_t row;
};

struct pm_map {
    struct pm_map_slot *slots;
    size_t n, size; /* size: a power of two */
};

uint32_t pm_map_get(const struct pm_map *map, uint64_t key);
bool pm_map_put(struct pm_map *map, uint64_t key, uint32_t row);
/* Where the row of a key is or goes: 0 for a key that was not there, to be set before the next
 * call. NULL: memory. */
uint32_t *pm_map_at(struct pm_map *map, uint64_t key);
bool pm_map_reserve(struct pm_map *map, size_t n); /* room for n keys in all */
void pm_map_release(struct pm_map *map);

#endif
