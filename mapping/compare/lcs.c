/* Myers 1986: the longest common subsequence. */
#include "lcs.h"

#include "mapping/base/str.h"

#include <stdlib.h>
#include <string.h>

struct walk {
    const uint64_t *a, *b;
    int64_t n_a, n_b;
    int32_t *far; /* per diagonal from -max to max: how far in a */
    int64_t max;
    int32_t **kept; /* per number d of edits: far before it, from -d - 1 to d + 1 */
};

/* The end of the way on diagonal k with d edits. */
static int64_t step(const struct walk *w, int64_t d, int64_t k)
{
    const int32_t *far = w->far + w->max + 1;
    bool is_down = k == -d || (k != d && far[k - 1] < far[k + 1]);
    int64_t x = is_down ? far[k + 1] : far[k - 1] + 1;
    while (x < w->n_a && x - k < w->n_b && w->a[x] == w->b[x - k])
        x++;
    return x;
}

static void walk_back(const struct walk *w, int64_t d, uint32_t *ret_partner)
{
    int64_t x = w->n_a, y = w->n_b;
    for (; d >= 0; d--) {
        const int32_t *far = w->kept[d] + d + 1;
        int64_t k = x - y;
        bool is_down = k == -d || (k != d && far[k - 1] < far[k + 1]);
        int64_t from_x = is_down ? far[k + 1] : far[k - 1];
        int64_t from_y = from_x - (is_down ? k + 1 : k - 1);
        while (x > from_x && y > from_y)
            ret_partner[--x] = (uint32_t)--y;
        x = from_x;
        y = from_y;
    }
}

static enum pm_lcs walk(struct walk *w, uint32_t *ret_partner)
{
    int32_t *far = w->far + w->max + 1;
    for (int64_t d = 0; d <= w->max; d++) {
        w->kept[d] = pm_alloc_array((size_t)(2 * d + 3), sizeof **w->kept);
        if (!w->kept[d])
            return PM_LCS_NO_MEMORY;
        memcpy(w->kept[d], far - d - 1, (size_t)(2 * d + 3) * sizeof *far);
        for (int64_t k = -d; k <= d; k += 2) {
            int64_t x = step(w, d, k);
            far[k] = (int32_t)x;
            if (x < w->n_a || x - k < w->n_b)
                continue;
            walk_back(w, d, ret_partner);
            return PM_LCS_FOUND;
        }
    }
    return PM_LCS_TOO_FAR;
}

enum pm_lcs pm_lcs(const uint64_t *a, uint32_t n_a, const uint64_t *b, uint32_t n_b,
                   uint32_t max_edits, uint32_t *ret_partner)
{
    int64_t all = (int64_t)n_a + n_b;
    struct walk w = {
        .a = a, .b = b, .n_a = n_a, .n_b = n_b, .max = max_edits < all ? max_edits : all};
    w.far = pm_alloc_array((size_t)(2 * w.max + 3), sizeof *w.far);
    w.kept = pm_alloc_array((size_t)w.max + 1, sizeof *w.kept);
    for (uint32_t i = 0; i < n_a; i++)
        ret_partner[i] = PM_NONE;
    enum pm_lcs result = w.far && w.kept ? walk(&w, ret_partner) : PM_LCS_NO_MEMORY;
    for (int64_t d = 0; w.kept && d <= w.max; d++)
        free(w.kept[d]);
    free(w.kept);
    free(w.far);
    return result;
}
