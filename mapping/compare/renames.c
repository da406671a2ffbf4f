/* Functions that only one of two builds has by name: which were renamed, likely. */
#include "build.h"

#include <math.h>
#include <stdlib.h>

#define LEAST_LIKENESS 0.6
#define LEAST_MARGIN 0.1
enum { LEAST_FINES = 4, MOST_WITH_ONE_SIGNATURE = 200 };

struct side {
    const struct pm_build *build;
    uint32_t *functions; /* that the other side lacks, and large enough */
    uint32_t n;
    /* per one of these: the most like of the other side, and the second's likeness */
    uint32_t *best;
    double *likeness, *second;
};

/* Where a signature of the reference is: the functions that have it are chained. */
struct place {
    uint32_t function, next; /* 1 + place */
    uint32_t n;              /* times in that function */
};

struct search {
    struct side own, theirs;
    struct pm_map first_of; /* signature -> 1 + place */
    struct place *places;
    uint32_t n_places;
    struct pm_map n_functions_with; /* signature -> functions of the reference */
    double *weights;                /* per function of theirs.functions: of all its fines */
    double *shared;                 /* likewise, with the one that is looked at */
    uint32_t *touched, n_touched;
};

static int compare_signatures(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Its signatures in order; NULL: memory. */
static uint64_t *bag_of(const struct pm_build *build, uint32_t function)
{
    const struct pm_build_function *f = &build->functions[function];
    uint64_t *bag = pm_alloc_array((size_t)f->n + 1, sizeof *bag);
    for (uint32_t i = 0; bag && i < f->n; i++)
        bag[i] = build->fines[f->first + i].signature;
    if (bag && f->n)
        qsort(bag, f->n, sizeof *bag, compare_signatures);
    return bag;
}

static uint32_t n_equal(const uint64_t *bag, uint32_t n, uint32_t from)
{
    uint32_t end = from + 1;
    while (end < n && bag[end] == bag[from])
        end++;
    return end - from;
}

/* What many functions have says little. */
static double weight_of(const struct search *s, uint64_t signature)
{
    uint32_t n_with = pm_map_get(&s->n_functions_with, signature);
    return log((2.0 + s->theirs.build->n_functions) / (1.0 + n_with));
}

static bool find_side(struct side *side, const struct pm_build *build, const struct pm_build *other,
                      const bool *is_settled)
{
    side->build = build;
    side->functions = pm_alloc_array((size_t)build->n_functions + 1, sizeof *side->functions);
    for (uint32_t f = 0; side->functions && f < build->n_functions; f++)
        if (build->functions[f].n >= LEAST_FINES && !is_settled[f] &&
            pm_map_get(&build->function_of, build->functions[f].key) == f + 1 &&
            !pm_map_get(&other->function_of, build->functions[f].key))
            side->functions[side->n++] = f;
    side->best = pm_alloc_array((size_t)side->n + 1, sizeof *side->best);
    side->likeness = pm_alloc_array((size_t)side->n + 1, sizeof *side->likeness);
    side->second = pm_alloc_array((size_t)side->n + 1, sizeof *side->second);
    return side->functions && side->best && side->likeness && side->second;
}

/* In how many functions of the reference each signature is. */
static bool count_signatures(struct search *s)
{
    const struct pm_build *reference = s->theirs.build;
    for (uint32_t f = 0; f < reference->n_functions; f++) {
        uint64_t *bag = bag_of(reference, f);
        uint32_t n = reference->functions[f].n;
        bool good = bag;
        for (uint32_t i = 0; good && i < n; i += n_equal(bag, n, i)) {
            uint32_t *at = pm_map_at(&s->n_functions_with, bag[i]);
            good = at;
            if (at)
                ++*at;
        }
        free(bag);
        if (!good)
            return false;
    }
    return true;
}

static bool index_one(struct search *s, uint32_t i)
{
    uint32_t function = s->theirs.functions[i], n = s->theirs.build->functions[function].n;
    uint64_t *bag = bag_of(s->theirs.build, function);
    bool good = bag;
    for (uint32_t at = 0, n_same; good && at < n; at += n_same) {
        n_same = n_equal(bag, n, at);
        s->weights[i] += n_same * weight_of(s, bag[at]);
        uint32_t *first = pm_map_at(&s->first_of, bag[at]);
        good = first;
        if (!first)
            break;
        s->places[s->n_places++] = (struct place){i, *first, n_same};
        *first = s->n_places;
    }
    free(bag);
    return good;
}

static bool index_theirs(struct search *s)
{
    size_t n_fines = 0;
    for (uint32_t i = 0; i < s->theirs.n; i++)
        n_fines += s->theirs.build->functions[s->theirs.functions[i]].n;
    s->places = pm_alloc_array(n_fines + 1, sizeof *s->places);
    s->weights = pm_alloc_array((size_t)s->theirs.n + 1, sizeof *s->weights);
    s->shared = pm_alloc_array((size_t)s->theirs.n + 1, sizeof *s->shared);
    s->touched = pm_alloc_array((size_t)s->theirs.n + 1, sizeof *s->touched);
    bool good = s->places && s->weights && s->shared && s->touched;
    for (uint32_t i = 0; good && i < s->theirs.n; i++)
        good = index_one(s, i);
    return good;
}

/* Adds what a signature, which is there n times, has in common with theirs. */
static void share(struct search *s, uint64_t signature, uint32_t n)
{
    if (pm_map_get(&s->n_functions_with, signature) > MOST_WITH_ONE_SIGNATURE)
        return;
    double weight = weight_of(s, signature);
    for (uint32_t at = pm_map_get(&s->first_of, signature); at; at = s->places[at - 1].next) {
        const struct place *place = &s->places[at - 1];
        if (s->shared[place->function] == 0)
            s->touched[s->n_touched++] = place->function;
        s->shared[place->function] += weight * (n < place->n ? n : place->n);
    }
}

static void note_best(struct side *side, uint32_t i, uint32_t other, double likeness)
{
    if (likeness <= side->likeness[i]) {
        side->second[i] = fmax(side->second[i], likeness);
        return;
    }
    side->second[i] = side->likeness[i];
    side->likeness[i] = likeness;
    side->best[i] = other;
}

/* Weighted Jaccard: what both have of all that either has. */
static bool compare_one(struct search *s, uint32_t i)
{
    uint32_t function = s->own.functions[i], n = s->own.build->functions[function].n;
    uint64_t *bag = bag_of(s->own.build, function);
    double weight = 0;
    s->n_touched = 0;
    for (uint32_t at = 0, n_same; bag && at < n; at += n_same) {
        n_same = n_equal(bag, n, at);
        weight += n_same * weight_of(s, bag[at]);
        share(s, bag[at], n_same);
    }
    for (uint32_t t = 0; t < s->n_touched; t++) {
        uint32_t other = s->touched[t];
        double shared = s->shared[other], likeness = shared / (weight + s->weights[other] - shared);
        note_best(&s->own, i, other, likeness);
        note_best(&s->theirs, other, i, likeness);
        s->shared[other] = 0;
    }
    free(bag);
    return bag;
}

static bool is_sure(const struct side *side, uint32_t i)
{
    return side->likeness[i] >= LEAST_LIKENESS &&
           side->likeness[i] - side->second[i] >= LEAST_MARGIN;
}

/* Each the other's best, and none comes close. */
static void settle(const struct search *s, struct pm_build *build)
{
    for (uint32_t i = 0; i < s->own.n; i++) {
        uint32_t other = s->own.best[i];
        if (!is_sure(&s->own, i) || !is_sure(&s->theirs, other) || s->theirs.best[other] != i)
            continue;
        build->renamed_to[s->own.functions[i]] = 1 + s->theirs.functions[other];
        build->n_renamed_functions++;
    }
}

static void release_side(struct side *side)
{
    free(side->functions);
    free(side->best);
    free(side->likeness);
    free(side->second);
}

static void release(struct search *s)
{
    release_side(&s->own);
    release_side(&s->theirs);
    pm_map_release(&s->first_of);
    pm_map_release(&s->n_functions_with);
    free(s->places);
    free(s->weights);
    free(s->shared);
    free(s->touched);
}

static bool search(struct search *s, struct pm_build *build)
{
    if (!s->own.n || !s->theirs.n)
        return true;
    bool good = count_signatures(s) && index_theirs(s);
    for (uint32_t i = 0; good && i < s->own.n; i++)
        good = compare_one(s, i);
    if (good)
        settle(s, build);
    return good;
}

/* --- what the user says --- */

/* As it is called, or as the linker calls it; PM_NONE: there is no such function. */
static uint32_t find_function(const struct pm_build *build, const char *name)
{
    for (uint32_t f = 0; f < build->n_functions; f++) {
        const struct pm_build_function *function = &build->functions[f];
        size_t length = strlen(name);
        if (!strcmp(function->name, name) ||
            (!strncmp(function->text, name, length) &&
             (!function->text[length] || function->text[length] == ' ')))
            return f;
    }
    return PM_NONE;
}

static enum pm_status lacks(struct pm_error *err, const char *side, const char *name)
{
    return pm_error_set(err, PM_ERR_NOT_FOUND, "'--map': %s has no function '%s'", side, name);
}

static enum pm_status take_map(const struct pm_build_map *map, struct pm_build *build,
                               const struct pm_build *reference, bool *own_settled,
                               bool *theirs_settled, struct pm_error *err)
{
    uint32_t theirs = *map->old_name ? find_function(reference, map->old_name) : PM_NONE;
    uint32_t own = *map->new_name ? find_function(build, map->new_name) : PM_NONE;
    if (*map->old_name && theirs == PM_NONE)
        return lacks(err, "A", map->old_name);
    if (*map->new_name && own == PM_NONE)
        return lacks(err, "B", map->new_name);
    if (theirs != PM_NONE)
        theirs_settled[theirs] = true;
    if (own != PM_NONE)
        own_settled[own] = true;
    if (theirs == PM_NONE || own == PM_NONE)
        return PM_OK;
    build->renamed_to[own] = 1 + theirs;
    build->is_users[own] = true;
    build->n_renamed_functions++;
    return PM_OK;
}

enum pm_status pm_build_find_renames(struct pm_build *build, const struct pm_build *reference,
                                     const struct pm_build_map *maps, uint32_t n_maps,
                                     struct pm_error *err)
{
    struct search s = {0};
    bool *own_settled = pm_alloc_array((size_t)build->n_functions + 1, sizeof *own_settled);
    bool *theirs_settled =
        pm_alloc_array((size_t)reference->n_functions + 1, sizeof *theirs_settled);
    build->renamed_to = pm_alloc_array((size_t)build->n_functions + 1, sizeof *build->renamed_to);
    build->is_users = pm_alloc_array((size_t)build->n_functions + 1, sizeof *build->is_users);
    bool good = own_settled && theirs_settled && build->renamed_to && build->is_users;
    enum pm_status status = PM_OK;
    for (uint32_t i = 0; good && i < n_maps && !status; i++)
        status = take_map(&maps[i], build, reference, own_settled, theirs_settled, err);
    good = good && (status != PM_OK ||
                    (find_side(&s.own, build, reference, own_settled) &&
                     find_side(&s.theirs, reference, build, theirs_settled) && search(&s, build)));
    release(&s);
    free(own_settled);
    free(theirs_settled);
    return good ? status : pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}
