/* Runs in bins: bands, and the bin with which a difference begins. */
#include "bins.h"

#include "compare.h"

#include <math.h>
#include <stdlib.h>

enum { WAYS = 1000, MOST_LISTED_RUNS = 12 }; /* C(12, 6) = 924 */
#define BAND_LEVEL 0.95

struct comparing {
    const struct pm_bins *bins;
    uint32_t n;   /* of runs */
    bool *is_b;   /* per run */
    double *most; /* per way to label the runs: the largest |t| */
    uint32_t n_ways;
};

static uint32_t n_all(const struct pm_bins *bins)
{
    return bins->n_runs[0] + bins->n_runs[1];
}

/* --- one bin --- */

struct moments {
    double means[2], error; /* of the difference of the means */
};

/* Samples are counts: no side varies less than chance does. */
static double least_variance(const struct pm_bins *bins, double mean)
{
    double never_0 = 1e-18 * mean * mean + 1e-300;
    return fmax(bins->unit * fmax(mean, bins->unit), never_0);
}

static struct moments moments_of(const struct comparing *c, uint32_t bin)
{
    struct moments m = {0};
    double squares[2] = {0};
    const struct pm_bins *bins = c->bins;
    const double *values = bins->values + bin;
    for (uint32_t r = 0; r < c->n; r++)
        m.means[c->is_b[r]] += values[(size_t)r * bins->n_bins] / bins->n_runs[c->is_b[r]];
    for (uint32_t r = 0; r < c->n; r++) {
        double from = values[(size_t)r * bins->n_bins] - m.means[c->is_b[r]];
        squares[c->is_b[r]] += from * from;
    }
    for (int side = 0; side < 2; side++) {
        uint32_t n = bins->n_runs[side];
        double variance = n > 1 ? squares[side] / (n - 1) : 0;
        m.error += fmax(variance, least_variance(bins, m.means[side])) / n;
    }
    m.error = sqrt(m.error);
    return m;
}

/* --- max-T --- */

static double most_of(const struct comparing *c)
{
    double most = 0;
    for (uint32_t b = 0; b < c->bins->n_bins; b++) {
        struct moments m = moments_of(c, b);
        most = fmax(most, fabs(m.means[1] - m.means[0]) / m.error);
    }
    return most;
}

/* All ways in which n_runs[1] of the runs are B. */
static void try_all(struct comparing *c)
{
    for (uint32_t set = 0; set < 1u << c->n; set++) {
        if ((uint32_t)__builtin_popcount(set) != c->bins->n_runs[1])
            continue;
        for (uint32_t r = 0; r < c->n; r++)
            c->is_b[r] = set >> r & 1;
        c->most[c->n_ways++] = most_of(c);
    }
}

static void label(struct comparing *c)
{
    for (uint32_t r = 0; r < c->n; r++)
        c->is_b[r] = r >= c->bins->n_runs[0];
}

/* Some of them, the same each time. */
static void try_some(struct comparing *c)
{
    uint64_t random = 88172645463325252u; /* xorshift64, Marsaglia 2003 */
    for (label(c); c->n_ways < WAYS; c->most[c->n_ways++] = most_of(c))
        for (uint32_t r = c->n - 1; r > 0; r--) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            uint32_t other = (uint32_t)(random % (r + 1));
            bool is = c->is_b[r];
            c->is_b[r] = c->is_b[other];
            c->is_b[other] = is;
        }
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(double *values, uint32_t n, double part)
{
    qsort(values, n, sizeof *values, compare_doubles);
    uint32_t at = (uint32_t)(part * n);
    return values[at < n ? at : n - 1];
}

static double widest_t(struct comparing *c)
{
    if (c->n <= MOST_LISTED_RUNS)
        try_all(c);
    else
        try_some(c);
    label(c);
    return quantile(c->most, c->n_ways, BAND_LEVEL);
}

/* --- few runs --- */

/* By what neighbouring bins' differences vary, without the steps that they may have: the median of
 * those from one to the next. room: [n_bins]. */
static double roughness(const struct pm_bin_difference *differences, uint32_t n, double *room)
{
    const double normal = 0.954; /* median of |x - y| of two with a deviation of 1 */
    for (uint32_t b = 1; b < n; b++)
        room[b - 1] = fabs(differences[b].difference - differences[b - 1].difference);
    return n > 1 ? quantile(room, n - 1, 0.5) / normal : 0;
}

static void find_few_bands(const struct pm_bins *bins, uint32_t first, uint32_t end,
                           struct pm_bin_difference *differences, double *room)
{
    enum { OF_SEVERAL = 2, OF_ONE = 3, OF_OTHERS = 3 }; /* deviations */
    double of_samples = bins->n_together > 1 ? OF_SEVERAL : OF_ONE;
    double rough = OF_OTHERS * roughness(differences + first, end - first, room);
    for (uint32_t b = first; b < end; b++) {
        double variance = 0;
        for (int side = 0; side < 2; side++)
            variance += least_variance(bins, differences[b].means[side]) / bins->n_runs[side];
        differences[b].band = bins->unit > 0 ? of_samples * sqrt(variance) : rough;
    }
}

/* --- all of it --- */

static void find_bands(struct comparing *c, struct pm_bin_difference *differences)
{
    const struct pm_bins *bins = c->bins;
    bool is_judged =
        bins->n_runs[0] >= PM_COMPARE_LEAST_RUNS && bins->n_runs[1] >= PM_COMPARE_LEAST_RUNS;
    double t = is_judged ? widest_t(c) : 0;
    label(c);
    for (uint32_t b = 0; b < bins->n_bins; b++) {
        struct moments m = moments_of(c, b);
        differences[b] = (struct pm_bin_difference){.means = {m.means[0], m.means[1]},
                                                    .difference = m.means[1] - m.means[0],
                                                    .band = t * m.error};
    }
    if (!is_judged) {
        find_few_bands(bins, 0, bins->n_middle, differences, c->most);
        find_few_bands(bins, bins->n_middle, bins->n_bins, differences, c->most);
    }
    for (uint32_t b = 0; b < bins->n_bins; b++) {
        double least = bins->least_pct / 100 * differences[b].means[0];
        differences[b].band = fmax(differences[b].band, least);
        differences[b].is_out = fabs(differences[b].difference) > differences[b].band;
    }
}

static bool begins_at(const struct pm_bin_difference *differences, uint32_t n_together)
{
    for (uint32_t b = 0; b < n_together; b++)
        if (!differences[b].is_out ||
            (differences[b].difference > 0) != (differences[0].difference > 0))
            return false;
    return true;
}

uint32_t pm_bins_first(const struct pm_bin_difference *differences, uint32_t n_bins,
                       uint32_t n_together)
{
    for (uint32_t b = 0; b + n_together <= n_bins; b++)
        if (begins_at(differences + b, n_together))
            return b;
    return PM_NONE;
}

enum pm_status pm_bins_compare(const struct pm_bins *bins, struct pm_error *err,
                               struct pm_bin_difference *ret_differences, uint32_t *ret_first)
{
    struct comparing c = {.bins = bins, .n = n_all(bins)};
    size_t room = bins->n_bins > WAYS ? bins->n_bins : WAYS;
    c.is_b = pm_alloc_array((size_t)c.n + 1, sizeof *c.is_b);
    c.most = pm_alloc_array(room, sizeof *c.most);
    *ret_first = PM_NONE;
    if (c.is_b && c.most)
        find_bands(&c, ret_differences);
    bool good = c.is_b && c.most;
    free(c.is_b);
    free(c.most);
    if (!good)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    *ret_first = pm_bins_first(ret_differences, bins->n_bins, bins->n_together);
    return PM_OK;
}
