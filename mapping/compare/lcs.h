/* The longest common subsequence of a and b: ret_partner[i] is the position in b of a[i], or
 * PM_NONE; each at most once, in order. PM_LCS_TOO_FAR: there are more than max_edits differences,
 * and nothing was found. Memory: max_edits^2 numbers at most. */
#ifndef PM_COMPARE_LCS_H
#define PM_COMPARE_LCS_H

#include "mapping/graph/graph.h"

enum pm_lcs { PM_LCS_FOUND, PM_LCS_TOO_FAR, PM_LCS_NO_MEMORY };
enum pm_lcs pm_lcs(const uint64_t *a, uint32_t n_a, const uint64_t *b, uint32_t n_b,
                   uint32_t max_edits, uint32_t *ret_partner);

#endif
