/* Made-up series, whose changes are known. */
#include "../../mapping/compare/changes.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdlib.h>

enum { MOST = 1000 };
static double series[MOST];
static const struct pm_change_options usual = {.least_pct = 2, .p = 0.001};

static double noise(void)
{
    double sum = 0;
    for (int i = 0; i < 12; i++)
        sum += drand48();
    return sum - 6; /* nearly normal */
}

/* From `at` on by so much more; sd: of the noise, both in percent. */
static void make(uint32_t n, uint32_t at, double by_pct, double sd_pct)
{
    for (uint32_t i = 0; i < n; i++)
        series[i] = 1e6 * (i < at ? 1 : 1 + by_pct / 100) * (1 + sd_pct / 100 * noise());
}

static uint32_t find(uint32_t n, const struct pm_change_options *options,
                     struct pm_change ret[PM_MOST_CHANGES])
{
    uint32_t n_found = 99;
    assert_int_equal(pm_find_changes(series, n, options, NULL, ret, &n_found), PM_OK);
    return n_found;
}

static void what_never_changes_has_none(void **state)
{
    (void)state;
    struct pm_change changes[PM_MOST_CHANGES];
    int n_wrong = 0;
    for (uint32_t n = 0; n < 7; n++) {
        make(n, n, 0, 0);
        assert_int_equal(find(n, &usual, changes), 0);
    }
    for (int i = 0; i < 300; i++) {
        make(20 + (uint32_t)i % 100, 1000, 0, 5);
        n_wrong += find(20 + (uint32_t)i % 100, &usual, changes) != 0;
    }
    assert_in_range(n_wrong, 0, 3);
    n_wrong = 0;
    for (int i = 0; i < 1000; i++) {
        make(6 + (uint32_t)i % 14, 1000, 0, 5);
        n_wrong += find(6 + (uint32_t)i % 14, &usual, changes) != 0;
    }
    assert_in_range(n_wrong, 0, 5);
}

static void a_change_is_found_where_it_is(void **state)
{
    (void)state;
    struct pm_change changes[PM_MOST_CHANGES];
    int n_found = 0, n_near = 0;
    for (int i = 0; i < 100; i++) {
        uint32_t at = 10 + (uint32_t)i % 60;
        make(80, at, 10, 3);
        n_found += find(80, &usual, changes) == 1;
        n_near += fabs((double)changes[0].at - at) <= 1 && fabs(changes[0].change_pct - 10) < 5;
    }
    assert_in_range(n_found, 95, 100);
    assert_in_range(n_near, 90, 100);
}

static void without_noise_the_place_is_exact(void **state)
{
    (void)state;
    struct pm_change changes[PM_MOST_CHANGES];
    make(30, 11, 20, 0);
    assert_int_equal(find(30, &usual, changes), 1);
    assert_int_equal(changes[0].at, 11);
    assert_true(fabs(changes[0].change_pct - 20) < 1e-9);
    make(30, 11, 1.5, 0); /* less than what users call a change */
    assert_int_equal(find(30, &usual, changes), 0);
    make(30, 28, 20, 0); /* two values are too few */
    assert_int_equal(find(30, &usual, changes), 0);
}

static void several_are_found_over_many_windows(void **state)
{
    (void)state;
    struct pm_change changes[PM_MOST_CHANGES];
    make(MOST, MOST, 0, 2);
    for (uint32_t i = 300; i < MOST; i++)
        series[i] *= i < 700 ? 1.1 : 0.95;
    assert_int_equal(find(MOST, &usual, changes), 2);
    assert_in_range(changes[0].at, 299, 301);
    assert_in_range(changes[1].at, 699, 701);
}

/* Several runs of one commit: it changes with a commit, not between its runs. */
static void a_change_is_where_one_may_be(void **state)
{
    (void)state;
    struct pm_change changes[PM_MOST_CHANGES];
    bool may_end[40];
    struct pm_change_options options = {.least_pct = 2, .p = 0.001, .may_end = may_end};
    for (uint32_t i = 0; i < 40; i++)
        may_end[i] = i % 5 == 0;
    make(40, 22, 30, 1);
    assert_int_equal(find(40, &options, changes), 1);
    assert_true(changes[0].at == 20 || changes[0].at == 25);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_never_changes_has_none),
        cmocka_unit_test(a_change_is_found_where_it_is),
        cmocka_unit_test(without_noise_the_place_is_exact),
        cmocka_unit_test(several_are_found_over_many_windows),
        cmocka_unit_test(a_change_is_where_one_may_be),
    };
    srand48(7);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
