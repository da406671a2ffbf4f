#include "mapping/base/map.h"

#include <setjmp.h>

#include <cmocka.h>

#include <stdlib.h>

enum { N_KEYS = 5000 };

static void what_was_put_is_found_and_nothing_else_is(void **state)
{
    (void)state;
    struct pm_map map = {0};
    assert_int_equal(pm_map_get(&map, 0), 0);
    for (uint32_t i = 0; i < N_KEYS; i++)
        assert_true(pm_map_put(&map, (uint64_t)i << 32 | i % 7, i + 1));
    for (uint32_t i = 0; i < N_KEYS; i++) {
        assert_int_equal(pm_map_get(&map, (uint64_t)i << 32 | i % 7), i + 1);
        assert_int_equal(pm_map_get(&map, (uint64_t)i << 32 | (i % 7 + 1)), 0);
    }
    assert_int_equal(map.n, N_KEYS);
    assert_true(map.size >= 2 * map.n);
    pm_map_release(&map);
    assert_int_equal(map.size, 0);
}

static void a_key_that_is_put_again_has_the_later_row(void **state)
{
    (void)state;
    struct pm_map map = {0};
    assert_true(pm_map_put(&map, UINT64_MAX, 3));
    assert_true(pm_map_put(&map, UINT64_MAX, 8));
    assert_int_equal(pm_map_get(&map, UINT64_MAX), 8);
    assert_int_equal(map.n, 1);
    pm_map_release(&map);
}

static void the_place_of_a_new_key_holds_0_until_it_is_set(void **state)
{
    (void)state;
    struct pm_map map = {0};
    for (uint32_t i = 0; i < N_KEYS; i++) {
        uint32_t *at = pm_map_at(&map, i);
        assert_non_null(at);
        assert_int_equal(*at, 0);
        *at = i + 1;
        assert_int_equal(*pm_map_at(&map, i), i + 1);
    }
    assert_int_equal(map.n, N_KEYS);
    pm_map_release(&map);
}

/* Ids come from files: those that differ in their highest bits only must not fall together. */
static void keys_that_differ_in_high_bits_only_are_spread(void **state)
{
    (void)state;
    struct pm_map map = {0};
    for (uint32_t i = 0; i < 1024; i++)
        assert_true(pm_map_put(&map, (uint64_t)i << 54, i + 1));
    size_t longest = 0, length = 0;
    for (size_t i = 0; i < map.size; i++) {
        length = map.slots[i].row ? length + 1 : 0;
        longest = length > longest ? length : longest;
    }
    assert_true(longest < 64);
    pm_map_release(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_put_is_found_and_nothing_else_is),
        cmocka_unit_test(a_key_that_is_put_again_has_the_later_row),
        cmocka_unit_test(the_place_of_a_new_key_holds_0_until_it_is_set),
        cmocka_unit_test(keys_that_differ_in_high_bits_only_are_spread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
