/* The statements and loops of functions that two builds have. */
#include "build.h"
#include "lcs.h"

#include <stdlib.h>

enum { ALIGN_MOST_EDITS = 2000 };

struct sides {
    const struct pm_build_fine *theirs, *own; /* of one function */
    uint32_t n_theirs, n_own;
    uint32_t *partner; /* per own */
    uint64_t *of_theirs, *of_own;
};

/* Nothing moved: each is where it was. */
static bool is_equal(const struct sides *s)
{
    bool equal = s->n_theirs == s->n_own;
    for (uint32_t i = 0; equal && i < s->n_own; i++)
        equal = s->own[i].rough == s->theirs[i].rough && s->own[i].line_no == s->theirs[i].line_no;
    return equal;
}

/* Of a part of both, by the numbers in of_theirs and of_own. */
static enum pm_lcs align_part(struct sides *s, uint32_t own, uint32_t n_own, uint32_t theirs,
                              uint32_t n_theirs)
{
    enum pm_lcs result = pm_lcs(s->of_own + own, n_own, s->of_theirs + theirs, n_theirs,
                                ALIGN_MOST_EDITS, s->partner + own);
    for (uint32_t i = own; result == PM_LCS_FOUND && i < own + n_own; i++)
        s->partner[i] += s->partner[i] == PM_NONE ? 0 : theirs;
    return result;
}

/* What lies between two that are sure, by the column alone. */
static enum pm_lcs align_gaps(struct sides *s)
{
    enum pm_lcs result = PM_LCS_FOUND;
    for (uint32_t i = 0; i < s->n_theirs; i++)
        s->of_theirs[i] = s->theirs[i].rough;
    for (uint32_t i = 0; i < s->n_own; i++)
        s->of_own[i] = s->own[i].rough;
    for (uint32_t i = 0, end, from = 0; i < s->n_own && result == PM_LCS_FOUND; i = end) {
        end = i + 1;
        if (s->partner[i] != PM_NONE) {
            from = s->partner[i] + 1;
            continue;
        }
        while (end < s->n_own && s->partner[end] == PM_NONE)
            end++;
        uint32_t until = end < s->n_own ? s->partner[end] : s->n_theirs;
        if (until > from)
            result = align_part(s, i, end - i, from, until - from);
    }
    return result == PM_LCS_TOO_FAR ? PM_LCS_FOUND : result;
}

/* Are the two as good a pair as those of `own` and `old`? */
static bool fits(const struct sides *s, uint32_t own, uint32_t theirs, uint32_t own_now,
                 uint32_t theirs_now)
{
    bool was_equal = s->own[own_now].signature == s->theirs[theirs_now].signature;
    return s->own[own].signature == s->theirs[theirs].signature ||
           (!was_equal && s->own[own].rough == s->theirs[theirs].rough);
}

/* Of several that are alike the one that stands before what follows is meant: the head of a loop
 * before its body, though another such loop was put before it. */
static void slide(struct sides *s)
{
    uint32_t next = PM_NONE; /* the pair behind */
    for (uint32_t i = s->n_own; i-- > 0;) {
        if (s->partner[i] == PM_NONE)
            continue;
        uint32_t partner = s->partner[i], own = i;
        if (next != PM_NONE && own + 1 < next && partner + 1 == s->partner[next] &&
            fits(s, next - 1, partner, own, partner)) {
            s->partner[own] = PM_NONE;
            own = next - 1;
            s->partner[own] = partner;
        } else if (next == own + 1 && partner + 1 < s->partner[next] &&
                   fits(s, own, s->partner[next] - 1, own, partner)) {
            s->partner[own] = s->partner[next] - 1;
        }
        next = own;
    }
}

static enum pm_lcs align_function(struct sides *s)
{
    for (uint32_t i = 0; i < s->n_theirs; i++)
        s->of_theirs[i] = s->theirs[i].signature;
    for (uint32_t i = 0; i < s->n_own; i++)
        s->of_own[i] = s->own[i].signature;
    enum pm_lcs result = align_part(s, 0, s->n_own, 0, s->n_theirs);
    if (result == PM_LCS_FOUND)
        result = align_gaps(s);
    if (result == PM_LCS_FOUND)
        slide(s);
    return result;
}

static bool align_one(struct sides *s, struct pm_build *build, bool *is_apart)
{
    build->n_matchable += s->n_own;
    enum pm_lcs result = PM_LCS_FOUND;
    if (is_equal(s))
        for (uint32_t i = 0; i < s->n_own; i++)
            s->partner[i] = i;
    else
        result = align_function(s);
    for (uint32_t i = 0; i < s->n_own; i++) {
        is_apart[i] = result != PM_LCS_FOUND;
        build->n_matched += s->partner[i] != PM_NONE;
    }
    build->n_functions_left_out += result == PM_LCS_TOO_FAR;
    return result != PM_LCS_NO_MEMORY;
}

/* partner counts from the function's first, and then from the build's. */
static bool align_with(struct sides *s, struct pm_build *build, const struct pm_build *reference,
                       const struct pm_build_function *own)
{
    uint32_t at = build->renamed_to[own - build->functions];
    if (!at)
        at = pm_map_get(&reference->function_of, own->key);
    for (uint32_t i = own->first; i < own->first + own->n; i++) {
        build->partner[i] = PM_NONE;
        build->is_apart[i] = true;
    }
    if (!at)
        return true;
    const struct pm_build_function *theirs = &reference->functions[at - 1];
    s->own = build->fines + own->first;
    s->n_own = own->n;
    s->theirs = reference->fines + theirs->first;
    s->n_theirs = theirs->n;
    s->partner = build->partner + own->first;
    if (!align_one(s, build, build->is_apart + own->first))
        return false;
    for (uint32_t i = 0; i < own->n; i++)
        s->partner[i] += s->partner[i] == PM_NONE ? 0 : theirs->first;
    return true;
}

bool pm_build_align(struct pm_build *build, const struct pm_build *reference)
{
    struct sides s = {.of_own = pm_alloc_array((size_t)build->n_fines + 1, sizeof *s.of_own),
                      .of_theirs =
                          pm_alloc_array((size_t)reference->n_fines + 1, sizeof *s.of_theirs)};
    build->partner = pm_alloc_array((size_t)build->n_fines + 1, sizeof *build->partner);
    build->is_apart = pm_alloc_array((size_t)build->n_fines + 1, sizeof *build->is_apart);
    bool good = s.of_own && s.of_theirs && build->partner && build->is_apart;
    for (uint32_t f = 0; good && f < build->n_functions; f++)
        good = align_with(&s, build, reference, &build->functions[f]);
    free(s.of_own);
    free(s.of_theirs);
    return good;
}
