/* From which bin on do runs of two sides differ? Bins are parts of the runs, in their order: equal
 * times, so many entries of a loop, phases.
 *
 *     struct pm_bins bins = {.n_bins = 100, .n_runs = {4, 4}, .least_pct = 5, .n_together = 3};
 *     bins.values = values; // [runs of A, then of B][n_bins]
 *     if (pm_bins_compare(&bins, &err, differences, &first) == PM_OK && first != PM_NONE)
 *         use(first);
 *
 * With PM_COMPARE_LEAST_RUNS runs a side or more the band is max-T: labels of runs are permuted,
 * and the largest |t| of all bins is exceeded by chance in 5 % of all ways to label them (Westfall
 * and Young 1993). With fewer it is what samples vary by chance; of what was not sampled, what
 * neighbours vary by. A side differs in a bin that is outside of the band, and by least_pct of A.
 */
#ifndef PM_COMPARE_BINS_H
#define PM_COMPARE_BINS_H

#include "mapping/base/status.h"

#include <stdint.h>

struct pm_bins {
    const double *values;
    uint32_t n_bins, n_runs[2];
    double least_pct;    /* smaller changes are none */
    double unit;         /* of a sample: values vary as counts of these; 0: not sampled */
    uint32_t n_middle;   /* bins of another kind begin with this; 0: all are of one */
    uint32_t n_together; /* so many bins in a row, and in one direction, are a beginning */
};

struct pm_bin_difference {
    double means[2], difference, band;
    bool is_out;
};

/* The bin with which a difference begins; PM_NONE: with none. */
uint32_t pm_bins_first(const struct pm_bin_difference *differences, uint32_t n_bins,
                       uint32_t n_together);
/* ret_differences: [n_bins]. ret_first: as of pm_bins_first. PM_ERR_MEMORY. */
PM_MUST_CHECK enum pm_status pm_bins_compare(const struct pm_bins *bins, struct pm_error *err,
                                             struct pm_bin_difference *ret_differences,
                                             uint32_t *ret_first);

#endif
