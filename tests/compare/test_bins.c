/* Bins of runs that are made up: what begins is found where it begins, equal runs have nothing that
 * begins. */
#include "mapping/compare/bins.h"

#include "mapping/compare/compare.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

enum { N_BINS = 50, MOST_RUNS = 20, FROM = 30 };

static double values[MOST_RUNS][N_BINS];

static double uniform(void)
{
    return (rand() + 0.5) / ((double)RAND_MAX + 1);
}

static double normal(void)
{
    return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

/* Each run is faster or slower by 2 %, each bin by `noise`; B costs `more` from FROM on. */
static uint32_t first_of(uint32_t n_a, uint32_t n_b, double noise, double more, double unit)
{
    struct pm_bin_difference differences[N_BINS];
    struct pm_bins bins = {.values = values[0],
                           .n_bins = N_BINS,
                           .n_runs = {n_a, n_b},
                           .least_pct = 5,
                           .unit = unit,
                           .n_together = 3};
    uint32_t first;
    for (uint32_t r = 0; r < n_a + n_b; r++) {
        double speed = 1 + 0.02 * normal();
        for (uint32_t b = 0; b < N_BINS; b++)
            values[r][b] = speed * (100 + noise * normal()) + (r >= n_a && b >= FROM ? more : 0);
    }
    assert_int_equal(pm_bins_compare(&bins, NULL, differences, &first), PM_OK);
    return first;
}

static void equal_runs_have_no_beginning(void **state)
{
    uint32_t n = 0;
    (void)state;
    srand(7);
    for (int i = 0; i < 100; i++)
        n += first_of(5, 5, 10, 0, 0) != PM_NONE;
    for (int i = 0; i < 100; i++)
        n += first_of(1, 1, 10, 0, 1) != PM_NONE; /* chance is 10 in 100 samples */
    for (int i = 0; i < 100; i++)
        n += first_of(1, 1, 3, 0, 0) != PM_NONE;
    if (n > 6) /* of 300 */
        fail_msg("%u begin", n);
}

static void what_begins_is_found_where_it_does(void **state)
{
    uint32_t n = 0;
    (void)state;
    srand(8);
    for (int i = 0; i < 50; i++) {
        n += first_of(8, 8, 5, 40, 0) == FROM;
        n += first_of(1, 1, 3, 40, 0) == FROM;
        n += first_of(1, 1, 10, 90, 1) == FROM;
    }
    if (n < 140) /* of 150 */
        fail_msg("only %u are found", n);
}

static void what_never_varies_is_compared_exactly(void **state)
{
    (void)state;
    for (uint32_t r = 0; r < 8; r++)
        for (uint32_t b = 0; b < N_BINS; b++)
            values[r][b] = r >= 4 && b >= FROM ? 111 : 100;
    struct pm_bin_difference differences[N_BINS];
    struct pm_bins bins = {
        .values = values[0], .n_bins = N_BINS, .n_runs = {4, 4}, .least_pct = 5, .n_together = 3};
    uint32_t first;
    assert_int_equal(pm_bins_compare(&bins, NULL, differences, &first), PM_OK);
    assert_int_equal(first, FROM);
    bins.least_pct = 20;
    assert_int_equal(pm_bins_compare(&bins, NULL, differences, &first), PM_OK);
    assert_int_equal(first, PM_NONE);
}

/* Of as many runs not all ways to label them can be tried. */
static void many_runs_are_tried_in_part(void **state)
{
    (void)state;
    srand(9);
    assert_int_equal(first_of(10, 10, 5, 20, 0), FROM);
    assert_int_equal(first_of(10, 10, 5, 0, 0), PM_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_runs_have_no_beginning),
        cmocka_unit_test(what_begins_is_found_where_it_does),
        cmocka_unit_test(what_never_varies_is_compared_exactly),
        cmocka_unit_test(many_runs_are_tried_in_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
