/* Counts of counters that took turns are scaled up. */
#include "mapping/collect/counters.h"
#include "mapping/run/run_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void counts_are_as_they_were_counted(void **state)
{
    (void)state;
    const struct pm_run_file_counter all = {.enabled_ns = 1000, .running_ns = 1000},
                                     unknown = {.enabled_ns = 1000};
    struct collect_scaled scaled = {0};
    assert_int_equal(collect_scaled_count(&all, &scaled, 7), 7);
    assert_int_equal(collect_scaled_count(&unknown, &scaled, 7), 7);
}

/* A third of the time: three times as much, and no part is lost by rounding. */
static void counts_of_a_part_of_the_time_are_scaled(void **state)
{
    (void)state;
    const struct pm_run_file_counter part = {.enabled_ns = 1000, .running_ns = 300};
    struct collect_scaled scaled = {0};
    uint64_t sum = 0;
    for (int i = 0; i < 300; i++)
        sum += collect_scaled_count(&part, &scaled, 1);
    assert_int_equal(sum, 1000);
    scaled = (struct collect_scaled){0};
    assert_int_equal(collect_scaled_count(&part, &scaled, 300), 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_as_they_were_counted),
        cmocka_unit_test(counts_of_a_part_of_the_time_are_scaled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
