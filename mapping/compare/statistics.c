/* Student's t by the incomplete beta function, ranks by counting. */
#include "statistics.h"

#include "mapping/base/str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct pm_sample pm_sample_of(const double *values, uint32_t n)
{
    struct pm_sample sample = {.n = n};
    for (uint32_t i = 0; i < n; i++)
        sample.mean += values[i] / n;
    for (uint32_t i = 0; i < n && n > 1; i++)
        sample.variance += (values[i] - sample.mean) * (values[i] - sample.mean) / (n - 1);
    return sample;
}

/* --- Student's t --- */

/* The continued fraction of the incomplete beta function, by Lentz's method (Numerical Recipes
 * 6.4 describes it). */
static double beta_fraction(double a, double b, double x)
{
    enum { MOST_STEPS = 10000 };
    const double tiny = 1e-300, enough = 1e-15;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double value = d;
    for (int m = 1; m <= MOST_STEPS; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        double change = 1;
        for (int half = 0; half < 2; half++) {
            double step = half ? odd : even;
            d = 1 + step * d;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            c = 1 + step / c;
            c = fabs(c) < tiny ? tiny : c;
            change = c * d;
            value *= change;
        }
        if (fabs(change - 1) < enough)
            break;
    }
    return value;
}

static double log_gamma(double x)
{
    int sign;
    return lgamma_r(x, &sign);
}

/* I_x(a, b), regularised. */
static double incomplete_beta(double a, double b, double x)
{
    if (x <= 0 || x >= 1)
        return x <= 0 ? 0 : 1;
    double front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2))
        return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double pm_student_p(double t, double degrees)
{
    if (isinf(t))
        return 0;
    return incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t));
}

double pm_student_quantile(double p, double degrees)
{
    enum { HALVINGS = 200 };
    if (p == 0.5)
        return 0;
    double tail = p < 0.5 ? p : 1 - p, low = 0, high = 1;
    while (pm_student_p(high, degrees) / 2 > tail && high < 1e300)
        high *= 2;
    for (int i = 0; i < HALVINGS; i++) {
        double middle = (low + high) / 2;
        if (pm_student_p(middle, degrees) / 2 > tail)
            low = middle;
        else
            high = middle;
    }
    return p < 0.5 ? -high : high;
}

struct pm_welch pm_welch_test(const struct pm_sample *a, const struct pm_sample *b, double level)
{
    double of_a = a->variance / a->n, of_b = b->variance / b->n, sum = of_a + of_b;
    struct pm_welch welch = {.difference = b->mean - a->mean, .error = sqrt(sum)};
    if (sum <= 0) {
        welch.degrees = (double)a->n + (double)b->n - 2;
        welch.p = welch.difference != 0 ? 0 : 1;
        welch.low = welch.high = welch.difference;
        return welch;
    }
    welch.degrees = sum * sum / (of_a * of_a / (a->n - 1) + of_b * of_b / (b->n - 1));
    welch.p = pm_student_p(welch.difference / welch.error, welch.degrees);
    double reach = pm_student_quantile(0.5 + level / 2, welch.degrees) * welch.error;
    welch.low = welch.difference - reach;
    welch.high = welch.difference + reach;
    return welch;
}

double pm_welch_detectable(const struct pm_welch *welch)
{
    return welch->error *
           (pm_student_quantile(0.975, welch->degrees) + pm_student_quantile(0.8, welch->degrees));
}

/* --- many tests --- */

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

enum pm_status pm_benjamini_hochberg(const double *p, uint32_t n, double q, struct pm_error *err,
                                     bool *ret_significant)
{
    double *sorted = pm_alloc_array(n, sizeof *sorted), most = -1;
    if (!sorted)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    if (n) {
        memcpy(sorted, p, n * sizeof *sorted);
        qsort(sorted, n, sizeof *sorted, compare_doubles);
    }
    for (uint32_t i = 0; i < n; i++)
        if (sorted[i] <= q * (i + 1) / n)
            most = sorted[i];
    for (uint32_t i = 0; i < n; i++)
        ret_significant[i] = p[i] <= most;
    free(sorted);
    return PM_OK;
}

/* --- ranks --- */

enum { EXACT_MOST = 100 }; /* values: more are as good as normal */

/* Twice the mean ranks of all values, which are whole numbers then. sorted: of both sides. */
static uint32_t doubled_rank(const double *sorted, uint32_t n, double value)
{
    uint32_t below = 0, equal = 0;
    for (uint32_t i = 0; i < n; i++) {
        below += sorted[i] < value;
        equal += sorted[i] == value;
    }
    return 2 * below + equal + 1;
}

/* The part of all ways to choose n_a of the ranks whose sum is as far from the middle as `sum`. */
static bool exact_p(const uint32_t *ranks, uint32_t n, uint32_t n_a, uint32_t sum, double *ret_p)
{
    uint32_t all = 0;
    for (uint32_t i = 0; i < n; i++)
        all += ranks[i];
    size_t width = (size_t)all + 1;
    double *ways = pm_alloc_array((n_a + 1) * width, sizeof *ways);
    if (!ways)
        return false;
    ways[0] = 1;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = i + 1 < n_a ? i + 1 : n_a; k >= 1; k--)
            for (size_t s = ranks[i]; s < width; s++)
                ways[k * width + s] += ways[(k - 1) * width + s - ranks[i]];
    double middle = (double)all * n_a / n, distance = fabs(sum - middle), far = 0, total = 0;
    for (size_t s = 0; s < width; s++) {
        total += ways[n_a * width + s];
        far += fabs((double)s - middle) >= distance - 1e-9 ? ways[n_a * width + s] : 0;
    }
    free(ways);
    *ret_p = far / total;
    return true;
}

static double normal_p(const uint32_t *ranks, uint32_t n, uint32_t n_a, uint32_t sum)
{
    double mean = 0, variance = 0, n_b = (double)n - n_a;
    for (uint32_t i = 0; i < n; i++)
        mean += (double)ranks[i] / n;
    for (uint32_t i = 0; i < n; i++)
        variance += (ranks[i] - mean) * (ranks[i] - mean) / n;
    variance *= n_a * n_b / (n - 1); /* of a sum of n_a of them without replacement */
    return variance > 0 ? erfc(fabs(sum - mean * n_a) / sqrt(2 * variance)) : 1;
}

static bool find_p(const double *a, uint32_t n_a, const double *b, uint32_t n_b, double *ret_p)
{
    uint32_t n = n_a + n_b, sum = 0, *ranks = pm_alloc_array(n, sizeof *ranks);
    double *sorted = pm_alloc_array(n, sizeof *sorted);
    bool good = ranks && sorted;
    if (good) {
        memcpy(sorted, a, n_a * sizeof *a);
        memcpy(sorted + n_a, b, n_b * sizeof *b);
        for (uint32_t i = 0; i < n; i++) {
            ranks[i] = doubled_rank(sorted, n, sorted[i]);
            sum += i < n_a ? ranks[i] : 0;
        }
        *ret_p = normal_p(ranks, n, n_a, sum);
        good = n > EXACT_MOST || exact_p(ranks, n, n_a, sum, ret_p);
    }
    free(ranks);
    free(sorted);
    return good;
}

/* How many of the ordered differences lie outside of the 95 % interval, at each end: the largest k
 * with P(U < k) <= 2.5 %. */
static bool n_outside(uint32_t n_a, uint32_t n_b, uint32_t *ret_n)
{
    uint32_t most = n_a * n_b, width = most + 1;
    double *ways = pm_alloc_array((size_t)(n_a + 1) * width, sizeof *ways), total = 0, below = 0;
    if (!ways)
        return false;
    for (uint32_t k = 0; k <= n_a; k++)
        ways[(size_t)k * width] = 1;
    /* Of k values of a and j of b the largest is of a, which is then above j others, or of b. */
    for (uint32_t j = 1; j <= n_b; j++)
        for (uint32_t k = 1; k <= n_a; k++)
            for (uint32_t u = most; u >= j; u--)
                ways[(size_t)k * width + u] += ways[(size_t)(k - 1) * width + u - j];
    for (uint32_t u = 0; u <= most; u++)
        total += ways[(size_t)n_a * width + u];
    uint32_t k = 0;
    for (; k < most; k++) {
        below += ways[(size_t)n_a * width + k];
        if (below > 0.025 * total)
            break;
    }
    free(ways);
    *ret_n = k;
    return true;
}

/* Where values are many, U is as good as normal. */
static uint32_t n_outside_of_many(uint32_t n_a, uint32_t n_b)
{
    double pairs = (double)n_a * n_b;
    double k = pairs / 2 - 1.959964 * sqrt(pairs * ((double)n_a + n_b + 1) / 12);
    return k > 0 ? (uint32_t)k : 0;
}

static void find_shift(const double *differences, uint32_t n, uint32_t n_outside,
                       struct pm_shift *shift)
{
    shift->shift = n % 2 ? differences[n / 2] : (differences[n / 2 - 1] + differences[n / 2]) / 2;
    shift->low = n_outside ? differences[n_outside - 1] : -INFINITY;
    shift->high = n_outside ? differences[n - n_outside] : INFINITY;
}

enum pm_status pm_shift_test(const double *a, uint32_t n_a, const double *b, uint32_t n_b,
                             struct pm_error *err, struct pm_shift *ret_shift)
{
    uint32_t n = n_a * n_b, outside = n_outside_of_many(n_a, n_b);
    double *differences = pm_alloc_array(n, sizeof *differences);
    bool good = differences && find_p(a, n_a, b, n_b, &ret_shift->p) &&
                (n_a + n_b > EXACT_MOST || n_outside(n_a, n_b, &outside));
    for (uint32_t i = 0; good && i < n; i++)
        differences[i] = b[i % n_b] - a[i / n_b];
    if (good) {
        qsort(differences, n, sizeof *differences, compare_doubles);
        find_shift(differences, n, outside, ret_shift);
    }
    free(differences);
    return good ? PM_OK : pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}
