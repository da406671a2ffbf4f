/* Costs over time: whatever the bytes are, no crash, and the parts of a list rise up to all of
 * it. The first 16 bytes are the clock. */
#include "mapping/archive/cost_times.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_at(const struct pm_cost_times *times, const struct pm_cost_times_list *list)
{
    int64_t last = 0;
    PM_ASSERT(pm_cost_times_find(times, list->context) == list);
    for (int i = -1; i < 40; i++) {
        int64_t at_ns = times->start_ns / 2 + (int64_t)i * (times->bucket_ns / 3 + 1);
        int64_t before = pm_cost_times_before(times, list, at_ns);
        PM_ASSERT(before >= last && before <= list->timed);
        last = before;
    }
    PM_ASSERT(pm_cost_times_before(times, list, INT64_MAX) == list->timed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pm_cost_times times;
    int64_t clock[2];
    if (size < sizeof clock)
        return 0;
    memcpy(clock, data, sizeof clock);
    clock[0] /= 1 << 20; /* within some thousand years of the run's start */
    if (pm_cost_times_parse(data + sizeof clock, size - sizeof clock, clock[0], clock[1] >> 20,
                            &times) != PM_OK)
        return 0;
    for (uint32_t i = 0; i < times.n_lists && i < 100; i++)
        look_at(&times, &times.lists[i]);
    pm_cost_times_release(&times);
    return 0;
}
