/* Where a series of measurements changes: E-divisive (Matteson and James 2014).
 *
 *     struct pm_change changes[PM_MOST_CHANGES];
 *     uint32_t n = 0;
 *     struct pm_change_options options = {.least_pct = 2, .p = 0.001};
 *     status = pm_find_changes(values, n_values, &options, err, changes, &n);
 *     for (uint32_t i = 0; i < n; i++)
 *         use(changes[i].at, changes[i].change_pct);
 *
 * In windows of 50 values, each half in the next one, the place is looked for that divides a window
 * best: by distances between and within both parts, so nothing is assumed of how values are
 * distributed. It counts when none of 999 permutations of the window divides better; then both
 * parts are divided. In the end each change is tested between its neighbours (Welch), the weakest
 * first, so that none stays that windows alone made. Permutations are the same in every call. Any
 * number of threads.
 */
#ifndef PM_COMPARE_CHANGES_H
#define PM_COMPARE_CHANGES_H

#include "mapping/base/status.h"

#include <stdbool.h>
#include <stdint.h>

enum { PM_MOST_CHANGES = 64, PM_CHANGE_LEAST = 3 /* values between two changes */ };

struct pm_change_options {
    double least_pct;    /* smaller changes of the mean are none */
    double p;            /* of a change by chance, 0.001 */
    const bool *may_end; /* [n]: a change may be before this value; NULL: before any */
};

struct pm_change {
    uint32_t at;          /* the first value that is changed */
    double before, after; /* means since the change before, and up to the next one */
    double change_pct;    /* of `before`; infinite where that is 0 */
    double p;
};

/* In the order of places. PM_ERR_MEMORY. */
PM_MUST_CHECK enum pm_status pm_find_changes(const double *values, uint32_t n,
                                             const struct pm_change_options *options,
                                             struct pm_error *err,
                                             struct pm_change ret_changes[PM_MOST_CHANGES],
                                             uint32_t *ret_n);

#endif
