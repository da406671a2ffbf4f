/* The late map: once as it is, and once with the first block's header set right, for else little
 * would get past it. */
#include "mapping/code/code_map.h"
#include "mapping/base/str.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Looks at everything that a tuple leads to. */
static uint64_t sum_of(const struct pm_code_tuple *tuple)
{
    uint64_t sum = tuple->place.function + tuple->place.file + tuple->loop;
    for (const struct pm_code_site *site = tuple->site; site; site = site->parent)
        sum += site->function + site->call.line_no;
    for (uint32_t i = 0; i < tuple->n_objects; i++)
        sum += tuple->objects[i].noun;
    for (uint32_t i = 0; i < tuple->n_also; i++)
        sum += tuple->also[i].place.file + strlen(pm_map_reason_text(tuple->also[i].reason));
    return sum;
}

static void read_section(const uint8_t *data, size_t size)
{
    struct pm_code_map *map;
    struct pm_error err = PM_ERROR_INIT;
    enum pm_status status = pm_code_map_read("fuzz", data, size, &err, &map);
    pm_error_release(&err);
    if (status != PM_OK)
        return;
    size_t n;
    volatile uint64_t sum = 0;
    const struct pm_code_range *ranges = pm_code_map_ranges(map, &n);
    for (size_t i = 0; i < n; i++) {
        uint64_t last = ranges[i].address + ranges[i].size_bytes - 1;
        sum += sum_of(ranges[i].tuple);
        bool found = false;
        size_t n_steps = 0;
        for (const struct pm_code_range *range = pm_code_map_find(map, last);
             range && !found && n_steps++ < 1000; range = pm_code_map_next_same(map, range, last))
            found = range == &ranges[i];
        PM_ASSERT(found || n_steps >= 1000);
    }
    pm_code_map_free(map);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_section(data, size);
    uint8_t *copy = size >= PM_MAP_BLOCK_HEADER ? malloc(size) : NULL;
    if (!copy)
        return 0;
    memcpy(copy, data, size);
    memcpy(copy, PM_MAP_MAGIC "\1\0", 6);
    uint32_t len = (uint32_t)size;
    memcpy(copy + 8, &len, sizeof len);
    copy[12] |= 1; /* not dropped */
    read_section(copy, size);
    free(copy);
    return 0;
}
