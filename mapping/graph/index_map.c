#include "index_map.h"

#include "../base/str.h"

#include <stdlib.h>

static struct pm_index_map_slot *find(struct pm_index_map_slot *slots, uint32_t size, int64_t id)
{
    uint32_t at = (uint32_t)(((uint64_t)id * 0x9e3779b97f4a7c15u) >> 32) & (size - 1);
    while (slots[at].position && slots[at].id != id)
        at = (at + 1) & (size - 1);
    return &slots[at];
}

static bool grow(struct pm_index_map *map)
{
    uint32_t size = map->size ? map->size * 2 : 64;
    struct pm_index_map_slot *slots = pm_alloc_array(size, sizeof *slots);
    if (!slots)
        return false;
    for (uint32_t i = 0; i < map->size; i++)
        if (map->slots[i].position)
            *find(slots, size, map->slots[i].id) = map->slots[i];
    free(map->slots);
    map->slots = slots;
    map->size = size;
    return true;
}

bool pm_index_map_add(struct pm_index_map *map, int64_t id, pm_index position)
{
    if (map->n >= map->size / 2 && !grow(map)) {
        map->out_of_memory = true;
        return false;
    }
    struct pm_index_map_slot *slot = find(map->slots, map->size, id);
    if (slot->position)
        return false;
    *slot = (struct pm_index_map_slot){id, position + 1};
    map->n++;
    return true;
}

pm_index pm_index_map_get(const struct pm_index_map *map, int64_t id)
{
    return map->size ? find(map->slots, map->size, id)->position - 1 : PM_NONE;
}

void pm_index_map_release(struct pm_index_map *map)
{
    free(map->slots);
    *map = (struct pm_index_map){0};
}
