#include "changes.h"

#include "statistics.h"

#include "mapping/base/str.h"

#include <math.h>
#include <stdlib.h>

enum { WINDOW = 50, PERMUTATIONS = 999 };

struct finding {
    const double *values;
    uint32_t n;
    const struct pm_change_options *options;
    bool *is_change; /* [n] */
    uint64_t random;
};

/* --- the best place to divide --- */

struct split {
    uint32_t at; /* 0: there is none */
    double quality;
};

/* E-divisive's q, of sums of distances between and within m and n values. */
static double quality(double between, double left, double right, double m, double n)
{
    double within_left = m > 1 ? 2 * left / (m * (m - 1)) : 0;
    double within_right = n > 1 ? 2 * right / (n * (n - 1)) : 0;
    return m * n / (m + n) * (2 * between / (m * n) - within_left - within_right);
}

/* may_end: NULL: before any. The sums move from place to place, so this takes n * n steps. */
static struct split best_split(const double *x, uint32_t n, const bool *may_end)
{
    struct split best = {0, -INFINITY};
    double between = 0, left = 0, right = 0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = i + 1; k < n; k++)
            right += fabs(x[i] - x[k]);
    for (uint32_t at = 1; at < n; at++) { /* x[at - 1] goes to the left */
        double to_left = 0, to_right = 0;
        for (uint32_t i = 0; i + 1 < at; i++)
            to_left += fabs(x[at - 1] - x[i]);
        for (uint32_t k = at; k < n; k++)
            to_right += fabs(x[at - 1] - x[k]);
        between += to_right - to_left;
        left += to_left;
        right -= to_right;
        if (at < PM_CHANGE_LEAST || n - at < PM_CHANGE_LEAST || (may_end && !may_end[at]))
            continue;
        double q = quality(between, left, right, at, n - at);
        if (q > best.quality)
            best = (struct split){at, q};
    }
    return best;
}

/* xorshift64*: the same numbers in every call. */
static uint32_t next_random(struct finding *f, uint32_t below)
{
    f->random ^= f->random >> 12;
    f->random ^= f->random << 25;
    f->random ^= f->random >> 27;
    return (uint32_t)((f->random * 2685821657736338717u) >> 33) % below;
}

/* No permutation divides better: the chance of that is one in a thousand. One that divides as well
 * has the same values on each side, as many have of few values: whether that is chance is for the
 * last test to say. Most windows without a change end after one or two. */
static bool is_significant(struct finding *f, const double *x, uint32_t n, const bool *may_end,
                           double found)
{
    double shuffled[WINDOW];
    memcpy(shuffled, x, n * sizeof *x);
    for (int i = 0; i < PERMUTATIONS; i++) {
        for (uint32_t k = n; k > 1; k--) {
            uint32_t other = next_random(f, k);
            double kept = shuffled[k - 1];
            shuffled[k - 1] = shuffled[other];
            shuffled[other] = kept;
        }
        if (best_split(shuffled, n, may_end).quality > found * (1 + 1e-9))
            return false;
    }
    return true;
}

/* Of at most WINDOW values. */
static void divide(struct finding *f, uint32_t first, uint32_t n)
{
    const bool *may_end = f->options->may_end ? f->options->may_end + first : NULL;
    struct split best =
        n >= 2 * PM_CHANGE_LEAST ? best_split(f->values + first, n, may_end) : (struct split){0, 0};
    if (!best.at || !(best.quality > 0) ||
        !is_significant(f, f->values + first, n, may_end, best.quality))
        return;
    f->is_change[first + best.at] = true;
    divide(f, first, best.at);
    divide(f, first + best.at, n - best.at);
}

static void divide_windows(struct finding *f)
{
    for (uint32_t first = 0; first < f->n; first += WINDOW / 2) {
        uint32_t n = f->n - first < WINDOW ? f->n - first : WINDOW;
        divide(f, first, n);
        if (first + n == f->n)
            return;
    }
}

/* --- which of these stay --- */

static uint32_t next_change(const struct finding *f, uint32_t from)
{
    while (from < f->n && !f->is_change[from])
        from++;
    return from;
}

/* Between the changes around it. */
static struct pm_change test(const struct finding *f, uint32_t before, uint32_t at, uint32_t end)
{
    struct pm_sample a = pm_sample_of(f->values + before, at - before);
    struct pm_sample b = pm_sample_of(f->values + at, end - at);
    struct pm_change change = {.at = at, .before = a.mean, .after = b.mean, .p = 1};
    if (a.n >= PM_CHANGE_LEAST && b.n >= PM_CHANGE_LEAST)
        change.p = pm_welch_test(&a, &b, 0.95).p;
    double difference = b.mean - a.mean;
    change.change_pct = a.mean > 0 ? 100 * difference / a.mean : INFINITY;
    return change;
}

static bool is_one(const struct finding *f, const struct pm_change *change)
{
    return change->p < f->options->p && fabs(change->change_pct) >= f->options->least_pct &&
           change->before != change->after;
}

/* false: all that are left are changes. */
static bool drop_weakest(struct finding *f)
{
    struct pm_change weakest = {.p = -1};
    uint32_t before = 0, at = next_change(f, 1);
    while (at < f->n) {
        uint32_t end = next_change(f, at + 1);
        struct pm_change change = test(f, before, at, end);
        if (!is_one(f, &change) && change.p > weakest.p)
            weakest = change;
        before = at;
        at = end;
    }
    if (weakest.p < 0)
        return false;
    f->is_change[weakest.at] = false;
    return true;
}

enum pm_status pm_find_changes(const double *values, uint32_t n,
                               const struct pm_change_options *options, struct pm_error *err,
                               struct pm_change ret_changes[PM_MOST_CHANGES], uint32_t *ret_n)
{
    struct finding f = {.values = values, .n = n, .options = options, .random = 88172645463325252u};
    *ret_n = 0;
    f.is_change = pm_alloc_array((size_t)n + 1, sizeof *f.is_change);
    if (!f.is_change)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    divide_windows(&f);
    while (drop_weakest(&f))
        continue;
    uint32_t before = 0;
    for (uint32_t at = next_change(&f, 1); at < n && *ret_n < PM_MOST_CHANGES;) {
        uint32_t end = next_change(&f, at + 1);
        ret_changes[(*ret_n)++] = test(&f, before, at, end);
        before = at;
        at = end;
    }
    free(f.is_change);
    return PM_OK;
}
