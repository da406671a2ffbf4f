#include "map.h"

#include "str.h"

#include <stdlib.h>

/* Keys are pairs of small numbers or ids of a file that may be hostile: the finaliser of SplitMix64
 * (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014) spreads both. */
static size_t place_of(const struct pm_map *map, uint64_t key)
{
    key = (key ^ key >> 30) * 0xbf58476d1ce4e5b9u;
    key = (key ^ key >> 27) * 0x94d049bb133111ebu;
    return (size_t)(key ^ key >> 31) & (map->size - 1);
}

static struct pm_map_slot *find(const struct pm_map *map, uint64_t key)
{
    size_t at = place_of(map, key);
    while (map->slots[at].row && map->slots[at].key != key)
        at = (at + 1) & (map->size - 1);
    return &map->slots[at];
}

uint32_t pm_map_get(const struct pm_map *map, uint64_t key)
{
    return map->size ? find(map, key)->row : 0;
}

bool pm_map_reserve(struct pm_map *map, size_t n)
{
    struct pm_map larger = {NULL, map->n, map->size ? map->size : 64};
    while (larger.size / 2 < n) {
        if (larger.size > SIZE_MAX / 4)
            return false;
        larger.size *= 2;
    }
    if (larger.size == map->size)
        return true;
    larger.slots = pm_alloc_array(larger.size, sizeof *larger.slots);
    if (!larger.slots)
        return false;
    for (size_t i = 0; i < map->size; i++)
        if (map->slots[i].row)
            *find(&larger, map->slots[i].key) = map->slots[i];
    free(map->slots);
    *map = larger;
    return true;
}

uint32_t *pm_map_at(struct pm_map *map, uint64_t key)
{
    if (!pm_map_reserve(map, map->n + 1))
        return NULL;
    struct pm_map_slot *slot = find(map, key);
    map->n += slot->row == 0;
    slot->key = key;
    return &slot->row;
}

bool pm_map_put(struct pm_map *map, uint64_t key, uint32_t row)
{
    uint32_t *at = pm_map_at(map, key);
    if (at)
        *at = row;
    return at != NULL;
}

void pm_map_release(struct pm_map *map)
{
    free(map->slots);
    *map = (struct pm_map){0};
}
