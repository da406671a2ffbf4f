/* Hash-consed arrays of 32-bit words: equal arrays get one number.
 *
 *     struct pm_sets sets;
 *     pm_sets_init(&sets);                        // number 0 is the empty array
 *     uint32_t ab = pm_sets_add(&sets, words, 2); // PM_SETS_FAILED: memory or the limit
 *     const uint32_t *members = pm_sets_members(&sets, ab, &n);
 *     pm_sets_release(&sets);
 *
 * The order of members is the caller's: sort them where it must not matter. One thread at a time.
 */
#ifndef PM_SETS_H
#define PM_SETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PM_SETS_FAILED UINT32_MAX

/* All arrays together hold at most this many words (1 GiB): mapping graphs that need more are not
 * from this world. */
enum { PM_SETS_MAX_WORDS = 1 << 28 };

struct pm_sets {
    uint32_t *words;
    uint32_t *first; /* of array i: words[first[i]] .. words[first[i + 1]) */
    uint32_t *table; /* number + 1, open addressing; 0 free */
    uint32_t n, n_words, cap, cap_words, table_size;
    bool at_limit; /* PM_SETS_MAX_WORDS was reached, not memory's end */
};

bool pm_sets_init(struct pm_sets *sets);
void pm_sets_release(struct pm_sets *sets);
uint32_t pm_sets_add(struct pm_sets *sets, const uint32_t *words, size_t n);

/* Lent until the next addition. */
static inline const uint32_t *pm_sets_members(const struct pm_sets *sets, uint32_t set,
                                              uint32_t *ret_n)
{
    *ret_n = sets->first[set + 1] - sets->first[set];
    return sets->words + sets->first[set];
}

#endif
