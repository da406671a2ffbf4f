#include "../../mapping/debuginfo/intervals.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

enum { NOTHING = -1, N_RANDOM = 200, SPACE = 64 };

static int at(const struct pm_intervals *map, uint64_t address)
{
    const struct pm_interval *found = pm_intervals_find(map, address);
    return found ? (int)found->value : NOTHING;
}

static void the_deepest_then_the_smallest_is_found(void **state)
{
    (void)state;
    struct pm_intervals map = {0};
    pm_intervals_add(&map, 10, 100, 0, 0);
    pm_intervals_add(&map, 20, 50, 1, 1);
    pm_intervals_add(&map, 30, 40, 2, 2);
    pm_intervals_add(&map, 60, 70, 0, 3);
    pm_intervals_add(&map, 200, 210, 0, 4);
    assert_true(pm_intervals_finish(&map));
    assert_int_equal(at(&map, 9), NOTHING);
    assert_int_equal(at(&map, 10), 0);
    assert_int_equal(at(&map, 20), 1);
    assert_int_equal(at(&map, 35), 2);
    assert_int_equal(at(&map, 40), 1);
    assert_int_equal(at(&map, 50), 0);
    assert_int_equal(at(&map, 65), 3);
    assert_int_equal(at(&map, 100), NOTHING);
    assert_int_equal(at(&map, 205), 4);
    assert_int_equal(at(&map, UINT64_MAX), NOTHING);
    pm_intervals_release(&map);
}

static void an_empty_or_turned_range_is_left_out(void **state)
{
    (void)state;
    struct pm_intervals map = {0};
    pm_intervals_add(&map, 5, 5, 0, 0);
    pm_intervals_add(&map, 9, 3, 0, 1);
    assert_true(pm_intervals_finish(&map));
    for (uint64_t address = 0; address < 12; address++)
        assert_int_equal(at(&map, address), NOTHING);
    pm_intervals_release(&map);
}

static unsigned random_below(unsigned n)
{
    static uint64_t x = 88172645463325252u;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return (unsigned)(x % n);
}

/* What the header says, by looking at every interval. */
static int slow(const struct pm_interval *items, uint32_t n, uint64_t address)
{
    const struct pm_interval *best = NULL;
    for (uint32_t i = 0; i < n; i++) {
        const struct pm_interval *item = &items[i];
        if (address < item->low || address >= item->high)
            continue;
        uint64_t size = item->high - item->low, best_size = best ? best->high - best->low : 0;
        if (!best || item->depth > best->depth ||
            (item->depth == best->depth &&
             (size < best_size || (size == best_size && item->value < best->value))))
            best = item;
    }
    return best ? (int)best->value : NOTHING;
}

static void random_ranges_are_found_as_by_looking_at_all(void **state)
{
    (void)state;
    for (int round = 0; round < N_RANDOM; round++) {
        struct pm_intervals map = {0};
        struct pm_interval items[40];
        uint32_t n = 1 + random_below(40);
        for (uint32_t i = 0; i < n; i++) {
            uint64_t low = random_below(SPACE);
            items[i] = (struct pm_interval){low, low + random_below(20), random_below(3), i};
            pm_intervals_add(&map, items[i].low, items[i].high, items[i].depth, i);
        }
        assert_true(pm_intervals_finish(&map));
        for (uint64_t address = 0; address < SPACE + 30; address++)
            assert_int_equal(at(&map, address), slow(items, n, address));
        pm_intervals_release(&map);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_deepest_then_the_smallest_is_found),
        cmocka_unit_test(an_empty_or_turned_range_is_left_out),
        cmocka_unit_test(random_ranges_are_found_as_by_looking_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
