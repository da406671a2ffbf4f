/* Against values of tables, and against counting all cases. */
#include "mapping/compare/statistics.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

static void near_to(double got, double wanted, double within)
{
    if (!(fabs(got - wanted) <= within))
        fail_msg("%.10g, not %.10g", got, wanted);
}

/* Of printed tables of Student's t, and in closed form for 1 and 2 degrees. */
static void student_is_as_in_tables(void **state)
{
    (void)state;
    near_to(pm_student_quantile(0.975, 1), 12.7062, 1e-4);
    near_to(pm_student_quantile(0.975, 5), 2.570582, 1e-6);
    near_to(pm_student_quantile(0.95, 10), 1.812461, 1e-6);
    near_to(pm_student_quantile(0.995, 30), 2.749996, 1e-6);
    near_to(pm_student_quantile(0.975, 1e6), 1.959966, 1e-5);
    near_to(pm_student_quantile(0.025, 5), -2.570582, 1e-6);
    assert_true(pm_student_quantile(0.5, 3) == 0);
    for (double t = 0.1; t < 100; t *= 1.7) {
        near_to(pm_student_p(t, 1), 1 - 2 * atan(t) / M_PI, 1e-12);
        near_to(pm_student_p(t, 2), 1 - t / sqrt(2 + t * t), 1e-12);
        near_to(pm_student_p(-t, 2), pm_student_p(t, 2), 0);
    }
    assert_true(pm_student_p(0, 4) == 1);
    assert_true(pm_student_p(INFINITY, 4) == 0);
}

/* The example of Welch's test that textbooks have: differing variances and sizes. */
static void welch_is_as_computed_by_hand(void **state)
{
    (void)state;
    const double a[] = {10, 12, 14, 16}, b[] = {20, 20.5, 21, 21.5, 22};
    struct pm_sample x = pm_sample_of(a, 4), y = pm_sample_of(b, 5);
    near_to(x.mean, 13, 1e-12);
    near_to(x.variance, 20.0 / 3, 1e-12);
    near_to(y.mean, 21, 1e-12);
    near_to(y.variance, 0.625, 1e-12);
    struct pm_welch welch = pm_welch_test(&x, &y, 0.95);
    double of_x = 20.0 / 3 / 4, of_y = 0.625 / 5, error = sqrt(of_x + of_y);
    double degrees = (of_x + of_y) * (of_x + of_y) / (of_x * of_x / 3 + of_y * of_y / 4);
    near_to(welch.difference, 8, 1e-12);
    near_to(welch.error, error, 1e-12);
    near_to(welch.degrees, degrees, 1e-12);
    near_to(welch.p, pm_student_p(8 / error, degrees), 1e-12);
    near_to((welch.low + welch.high) / 2, 8, 1e-9);
    assert_true(pm_welch_detectable(&welch) > (welch.high - welch.low) / 2);
}

static void what_never_varies_needs_no_test(void **state)
{
    (void)state;
    const double a[] = {7, 7, 7}, b[] = {8, 8, 8};
    struct pm_sample x = pm_sample_of(a, 3), y = pm_sample_of(b, 3);
    struct pm_welch differs = pm_welch_test(&x, &y, 0.95), equal = pm_welch_test(&x, &x, 0.95);
    assert_true(differs.p == 0 && differs.low == 1 && differs.high == 1);
    assert_true(equal.p == 1 && equal.difference == 0);
}

/* Benjamini and Hochberg's own example: 15 p-values, of which the 4 smallest are significant. */
static void many_tests_are_as_in_the_paper(void **state)
{
    (void)state;
    const double p[] = {0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
                        0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000};
    bool significant[15];
    assert_int_equal(pm_benjamini_hochberg(p, 15, 0.05, NULL, significant), PM_OK);
    for (int i = 0; i < 15; i++)
        assert_int_equal(significant[i], i < 4);
    assert_int_equal(pm_benjamini_hochberg(p, 0, 0.05, NULL, significant), PM_OK);
}

/* All ways to choose n_a of the values: how many have a rank sum as far from the middle? */
static double p_by_counting(const double *values, unsigned n, unsigned n_a)
{
    double ranks[16], middle = 0, own = 0;
    unsigned n_far = 0, n_all = 0;
    for (unsigned i = 0; i < n; i++) {
        ranks[i] = 0.5;
        for (unsigned k = 0; k < n; k++)
            ranks[i] += values[k] < values[i] ? 1 : values[k] == values[i] ? 0.5 : 0;
        middle += ranks[i] * n_a / n;
        own += i < n_a ? ranks[i] : 0;
    }
    for (unsigned set = 0; set < 1u << n; set++) {
        double sum = 0;
        if ((unsigned)__builtin_popcount(set) != n_a)
            continue;
        for (unsigned i = 0; i < n; i++)
            sum += set >> i & 1 ? ranks[i] : 0;
        n_all++;
        n_far += fabs(sum - middle) >= fabs(own - middle) - 1e-9;
    }
    return (double)n_far / n_all;
}

static void ranks_are_exact_with_equal_values_too(void **state)
{
    (void)state;
    srand(5);
    for (int round = 0; round < 300; round++) {
        unsigned n_a = 1 + (unsigned)rand() % 5, n_b = 1 + (unsigned)rand() % 5;
        double values[10];
        struct pm_shift shift;
        for (unsigned i = 0; i < n_a + n_b; i++)
            values[i] = rand() % (round % 3 ? 6 : 1000);
        assert_int_equal(pm_shift_test(values, n_a, values + n_a, n_b, NULL, &shift), PM_OK);
        near_to(shift.p, p_by_counting(values, n_a + n_b, n_a), 1e-12);
    }
}

/* The smallest p and the intervals that so few values can have. */
static void shifts_are_as_in_tables(void **state)
{
    (void)state;
    const double a[] = {1, 2, 3, 4, 5}, b[] = {11, 12, 13, 14, 15};
    struct pm_shift shift;
    assert_int_equal(pm_shift_test(a, 3, b, 3, NULL, &shift), PM_OK);
    near_to(shift.p, 0.1, 1e-12);
    assert_true(isinf(shift.low) && isinf(shift.high));
    assert_int_equal(pm_shift_test(a, 4, b, 4, NULL, &shift), PM_OK);
    near_to(shift.p, 2.0 / 70, 1e-12);
    near_to(shift.shift, 10, 0);
    near_to(shift.low, 7, 0); /* U < 1 has 1 of 70 ways: the first difference and the last */
    near_to(shift.high, 13, 0);
    assert_int_equal(pm_shift_test(a, 5, b, 5, NULL, &shift), PM_OK);
    near_to(shift.p, 2.0 / 252, 1e-12);
    near_to(shift.low, 7, 0); /* tables: 3 at each end, of -4 -3 -3 -2 ... around 10 */
    near_to(shift.high, 13, 0);
}

static void many_values_are_as_good_as_normal(void **state)
{
    (void)state;
    double a[80], b[80];
    struct pm_shift shift;
    for (int i = 0; i < 80; i++) {
        a[i] = i;
        b[i] = i + 0.5;
    }
    assert_int_equal(pm_shift_test(a, 80, b, 80, NULL, &shift), PM_OK);
    assert_true(shift.p > 0.8 && shift.low < 0 && shift.high > 0);
    for (int i = 0; i < 80; i++)
        b[i] = i + 30;
    assert_int_equal(pm_shift_test(a, 80, b, 80, NULL, &shift), PM_OK);
    assert_true(shift.p < 1e-6 && shift.low > 20 && shift.high < 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(student_is_as_in_tables),
        cmocka_unit_test(welch_is_as_computed_by_hand),
        cmocka_unit_test(what_never_varies_needs_no_test),
        cmocka_unit_test(many_tests_are_as_in_the_paper),
        cmocka_unit_test(ranks_are_exact_with_equal_values_too),
        cmocka_unit_test(shifts_are_as_in_tables),
        cmocka_unit_test(many_values_are_as_good_as_normal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
