/* Which construct of one build is which of another: what moved within functions, and files of
 * other folders.
 *
 *     struct pm_alignment alignment;
 *     if (pm_align(&reference, &view, true, &err, &alignment) == PM_OK)
 *         status = pm_view_keys_make(&view, &alignment.names, &err, &keys); // as in the reference
 *     pm_alignment_release(&alignment);
 *
 * Functions are the same by name and file, data by name. The statements and loops of a function
 * are aligned in their order: first those whose column, extent, nesting and use of data are equal
 * (Myers 1986, the longest common subsequence), then in the gaps those of one column. What has no
 * partner has a key of its own. Both views were made with options.all_functions or, for what lies
 * in functions, options.all_nouns and options.everything.
 */
#ifndef PM_COMPARE_ALIGN_H
#define PM_COMPARE_ALIGN_H

#include "mapping/view/keys.h"

struct pm_alignment {
    struct pm_view_key_names names; /* arrays are owned */
    uint32_t n_fine, n_matched;     /* statements, loops, local data of functions that both have */
    uint32_t n_functions_left_out;  /* too different: more than ALIGN_MOST_EDITS of theirs */
};

/* names: what the constructs of `view` are in `reference`. in_functions: also those that lie in
 * functions. PM_ERR_MEMORY. */
PM_MUST_CHECK enum pm_status pm_align(const struct pm_view *reference, const struct pm_view *view,
                                      bool in_functions, struct pm_error *err,
                                      struct pm_alignment *ret_alignment);
void pm_alignment_release(struct pm_alignment *alignment);

/* The longest common subsequence of a and b: ret_partner[i] is the position in b of a[i], or
 * PM_NONE; each at most once, in order. false: there are more than max_edits differences, and
 * nothing was found. Memory: max_edits^2 numbers at most. */
enum pm_lcs { PM_LCS_FOUND, PM_LCS_TOO_FAR, PM_LCS_NO_MEMORY };
enum pm_lcs pm_lcs(const uint64_t *a, uint32_t n_a, const uint64_t *b, uint32_t n_b,
                   uint32_t max_edits, uint32_t *ret_partner);

#endif
