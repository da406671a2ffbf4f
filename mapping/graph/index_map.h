/* Ids of a file (64 bits, any) to positions in an array (pm_index): the map of ../base/map.h with
 * positions from 0.
 *
 *     struct pm_index_map map = {0};
 *     pm_index_map_add(&map, id, position);         // false: memory, or the id is there already
 *     pm_index position = pm_index_map_get(&map, id); // PM_NONE: not there
 *     pm_index_map_release(&map);
 */
#ifndef PM_INDEX_MAP_H
#define PM_INDEX_MAP_H

#include "graph.h"
#include "../base/map.h"

struct pm_index_map {
    struct pm_map map; /* rows: positions + 1 */
    bool out_of_memory;
};

static inline bool pm_index_map_add(struct pm_index_map *map, int64_t id, pm_index position)
{
    uint32_t *at = pm_map_at(&map->map, (uint64_t)id);
    map->out_of_memory |= !at;
    if (!at || *at)
        return false;
    *at = position + 1;
    return true;
}

static inline pm_index pm_index_map_get(const struct pm_index_map *map, int64_t id)
{
    return pm_map_get(&map->map, (uint64_t)id) - 1;
}

static inline void pm_index_map_release(struct pm_index_map *map)
{
    pm_map_release(&map->map);
    *map = (struct pm_index_map){0};
}

#endif
