/* Ids of a file (64 bits, any) to positions in an array (pm_index).
 *
 *     struct pm_index_map map = {0};
 *     pm_index_map_add(&map, id, position);         // false: memory, or the id is there already
 *     pm_index position = pm_index_map_get(&map, id); // PM_NONE: not there
 *     pm_index_map_release(&map);
 */
#ifndef PM_INDEX_MAP_H
#define PM_INDEX_MAP_H

#include "graph.h"

struct pm_index_map_slot {
    int64_t id;
    pm_index position; /* + 1; 0 free */
};

struct pm_index_map {
    struct pm_index_map_slot *slots;
    uint32_t n, size; /* size: 0 or a power of two */
    bool out_of_memory;
};

bool pm_index_map_add(struct pm_index_map *map, int64_t id, pm_index position);
pm_index pm_index_map_get(const struct pm_index_map *map, int64_t id);
void pm_index_map_release(struct pm_index_map *map);

#endif
