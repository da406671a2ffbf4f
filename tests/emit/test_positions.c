#include "plugin/emit/positions.h"

#include "mapping/base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

/* A plain model: the keys in a row, looked through from the front. */
struct plain {
    uint64_t keys[4000];
    uint32_t n;
};

static uint32_t plain_add(struct plain *plain, uint64_t key)
{
    for (uint32_t i = 0; i < plain->n; i++)
        if (plain->keys[i] == key)
            return i;
    plain->keys[plain->n] = key;
    return plain->n++;
}

static void keys_are_numbered_in_the_order_in_which_they_come(void **state)
{
    (void)state;
    static struct plain plain;
    struct pm_positions positions = {0};
    srand(7);
    for (int round = 0; round < 3; round++) {
        plain.n = 0;
        for (int i = 0; i < 4000; i++) {
            uint64_t key = (uint64_t)(rand() % 1500) << (rand() % 2 * 40);
            assert_int_equal(pm_positions_add(&positions, key), plain_add(&plain, key));
        }
        assert_int_equal(positions.n, plain.n);
        assert_memory_equal(positions.items, plain.keys, plain.n * sizeof *plain.keys);
        assert_int_equal(pm_positions_find(&positions, plain.keys[plain.n / 2]), plain.n / 2);
        assert_int_equal(pm_positions_find(&positions, UINT64_MAX), PM_POSITION_NONE);
        pm_positions_clear(&positions);
        assert_int_equal(pm_positions_find(&positions, plain.keys[0]), PM_POSITION_NONE);
    }
    pm_positions_release(&positions);
}

static void where_memory_ends_it_says_so(void **state)
{
    (void)state;
    for (long n = 1;; n++) {
        struct pm_positions positions = {0};
        pm_alloc_fail_at(n);
        for (uint64_t key = 0; key < 100; key++)
            pm_positions_add(&positions, key);
        bool pending = pm_alloc_fail_pending();
        pm_alloc_fail_at(0);
        assert_int_equal(positions.failed, !pending);
        pm_positions_release(&positions);
        if (pending)
            break;
        assert_true(n < 100);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_numbered_in_the_order_in_which_they_come),
        cmocka_unit_test(where_memory_ends_it_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
