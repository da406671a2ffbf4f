/* Statistics of two sides with a few runs each.
 *
 *     struct pm_sample a = pm_sample_of(before, 10), b = pm_sample_of(after, 10);
 *     struct pm_welch welch = pm_welch_test(&a, &b, 0.95);
 *     if (welch.p < 0.05)
 *         use(welch.difference, welch.low, welch.high);
 *
 * Sources: Welch 1947 and Satterthwaite 1946 (means), Mann and Whitney 1947, Hodges and Lehmann
 * 1963 (shifts), Benjamini and Hochberg 1995 (many tests at a time). No memory is kept, and no
 * state: any number of threads.
 */
#ifndef PM_COMPARE_STATISTICS_H
#define PM_COMPARE_STATISTICS_H

#include "mapping/base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct pm_sample {
    uint32_t n;
    double mean, variance; /* of the values, with n - 1; 0 where n < 2 */
};

struct pm_sample pm_sample_of(const double *values, uint32_t n);

/* P(|T| > |t|) of Student's t; degrees > 0. */
double pm_student_p(double t, double degrees);
/* The t with P(T <= t) = p; 0 < p < 1, degrees > 0. */
double pm_student_quantile(double p, double degrees);

struct pm_welch {
    double difference; /* b - a */
    double error;      /* its standard error */
    double degrees;    /* of freedom */
    double p;          /* two-sided; 1 where nothing varies and nothing differs */
    double low, high;  /* interval of the difference */
};

/* Both samples have 2 values or more. level: of the interval, 0.95. */
struct pm_welch pm_welch_test(const struct pm_sample *a, const struct pm_sample *b, double level);
/* The smallest difference that would be found at 5 % in 4 of 5 such comparisons. */
double pm_welch_detectable(const struct pm_welch *welch);

/* Which of n tests are significant when at most the part q of those that are called so is wrong.
 * PM_ERR_MEMORY. */
PM_MUST_CHECK enum pm_status pm_benjamini_hochberg(const double *p, uint32_t n, double q,
                                                   struct pm_error *err, bool *ret_significant);

struct pm_shift {
    double p;         /* two-sided, exact up to 100 values, equal ones too */
    double shift;     /* of b against a: the median of all differences */
    double low, high; /* its 95 % interval; infinite where there are too few values for one */
};

/* Both sides have a value or more. PM_ERR_MEMORY. */
PM_MUST_CHECK enum pm_status pm_shift_test(const double *a, uint32_t n_a, const double *b,
                                           uint32_t n_b, struct pm_error *err,
                                           struct pm_shift *ret_shift);

#endif
