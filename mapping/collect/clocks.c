/* How far clocks are apart.
 *
 * d is what b's clock shows more than a's. A message from a to b, sent at s by a's clock, was there
 * at e by b's: s + d <= e, so d is at most e - s. One from b to a says that it is at least s - e.
 * In the middle of the closest two lies d. Clocks drift: the first round takes the whole run at
 * once, so that times are nearly comparable; the second one windows of the run, between whose
 * middles d is interpolated.
 *
 * Pairs of clocks whose bounds are closest make a tree from the first clock to all others.
 */
#include "clocks.h"

#include <stdlib.h>
#include <string.h>

enum { N_WINDOWS = 32 };

struct bounds {
    int64_t least_ns, most_ns; /* of the second's time less the first's */
};

struct collect_clock_pair {
    uint32_t first, second;
    struct bounds whole, windows[N_WINDOWS];
};

struct collect_clock {
    struct pm_str node;
    uint64_t ticks, clock_ns; /* when its first process began */
    uint32_t tree;            /* equal for all whose distance is known */
    bool is_placed;
    int64_t ahead_ns;           /* of the first clock of its tree */
    int64_t windows[N_WINDOWS]; /* the same, after the second round */
    int64_t doubt_ns;
};

/* Rates that processes found for themselves differ by some millionths. */
static bool is_one_clock(const struct collect_clock *clock, uint64_t ticks, double ns_per_tick,
                         uint64_t clock_ns)
{
    static const double slack_ns = 10e6, slack = 100e-6;
    double later = (double)clock_ns - (double)clock->clock_ns,
           counted = ((double)ticks - (double)clock->ticks) * ns_per_tick;
    double apart = later > counted ? later - counted : counted - later;
    return ns_per_tick == 0 || apart <= slack_ns + slack * (later < 0 ? -later : later);
}

bool collect_clock_of(struct collect_clocks *clocks, struct pm_str node, uint64_t ticks,
                      double ns_per_tick, uint64_t clock_ns, uint32_t *ret_clock)
{
    for (uint32_t i = 0; i < clocks->n; i++) {
        if (pm_str_eq(clocks->list[i].node, node) &&
            is_one_clock(&clocks->list[i], ticks, ns_per_tick, clock_ns)) {
            *ret_clock = i;
            return true;
        }
    }
    struct collect_clock *list =
        pm_grow_array(clocks->list, clocks->n, &clocks->cap, 8, sizeof *list);
    if (!list)
        return false;
    clocks->list = list;
    list[clocks->n] = (struct collect_clock){
        .node = node, .ticks = ticks, .clock_ns = clock_ns, .tree = clocks->n};
    *ret_clock = clocks->n++;
    return true;
}

static struct collect_clock_pair *find_pair(struct collect_clocks *clocks, uint32_t first,
                                            uint32_t second)
{
    static const struct bounds none = {INT64_MIN, INT64_MAX};
    uint64_t key = (uint64_t)first << 32 | second;
    uint32_t at = pm_map_get(&clocks->by_clocks, key);
    if (at)
        return &clocks->pairs[at - 1];
    struct collect_clock_pair *pairs =
        pm_grow_array(clocks->pairs, clocks->n_pairs, &clocks->pairs_cap, 8, sizeof *pairs);
    if (!pairs)
        return NULL;
    clocks->pairs = pairs;
    struct collect_clock_pair *pair = &pairs[clocks->n_pairs++];
    *pair = (struct collect_clock_pair){first, second, none, {none}};
    for (unsigned w = 0; w < N_WINDOWS; w++)
        pair->windows[w] = none;
    return pm_map_put(&clocks->by_clocks, key, clocks->n_pairs) ? pair : NULL;
}

/* By the whole run's distance. */
static int64_t nearly(const struct collect_clocks *clocks, uint32_t clock, int64_t time_ns)
{
    return time_ns - clocks->list[clock].ahead_ns;
}

static double window_at(const struct collect_clocks *clocks, int64_t time_ns)
{
    double span = (double)(clocks->last_ns - clocks->first_ns) + 1,
           at = (double)(time_ns - clocks->first_ns) / span * N_WINDOWS;
    if (at < 0)
        return 0;
    return at < N_WINDOWS - 1e-9 ? at : N_WINDOWS - 1e-9;
}

static void bound(struct bounds *bounds, bool is_least, int64_t ns)
{
    if (is_least && ns > bounds->least_ns)
        bounds->least_ns = ns;
    if (!is_least && ns < bounds->most_ns)
        bounds->most_ns = ns;
}

bool collect_clocks_note(struct collect_clocks *clocks, uint32_t before, int64_t before_ns,
                         uint32_t after, int64_t after_ns)
{
    if (before == after)
        return true;
    bool is_forward = before < after;
    struct collect_clock_pair *pair =
        is_forward ? find_pair(clocks, before, after) : find_pair(clocks, after, before);
    if (!pair)
        return false;
    /* second's time less first's, of one instant: at most, where the first's came before */
    int64_t apart = is_forward ? after_ns - before_ns : before_ns - after_ns;
    if (clocks->n_solved == 0) {
        bound(&pair->whole, !is_forward, apart);
        return true;
    }
    int64_t time_ns = nearly(clocks, after, after_ns);
    bound(&pair->windows[(unsigned)window_at(clocks, time_ns)], !is_forward, apart);
    return true;
}

static bool has_both(const struct bounds *bounds)
{
    return bounds->least_ns != INT64_MIN && bounds->most_ns != INT64_MAX;
}

static int64_t width(const struct bounds *bounds)
{
    int64_t ns = bounds->most_ns - bounds->least_ns;
    return ns < 0 ? -ns : ns; /* drift */
}

static int64_t middle(const struct bounds *bounds)
{
    return bounds->least_ns + (bounds->most_ns - bounds->least_ns) / 2;
}

static int compare_pairs(const void *a, const void *b)
{
    const struct collect_clock_pair *const *x = a, *const *y = b;
    int64_t wx = width(&(*x)->whole), wy = width(&(*y)->whole);
    return (wx > wy) - (wx < wy);
}

/* What other windows tell holds, too, but for what clocks may drift meanwhile. */
static int64_t in_window(const struct collect_clocks *clocks, const struct collect_clock_pair *pair,
                         unsigned window, int64_t *ret_doubt)
{
    static const double drift = 200e-6; /* of quartzes, 50e-6 each, and of what corrects them */
    double window_ns = (double)(clocks->last_ns - clocks->first_ns) / N_WINDOWS;
    struct bounds all = {INT64_MIN, INT64_MAX};
    for (unsigned w = 0; w < N_WINDOWS; w++) {
        unsigned away = w > window ? w - window : window - w;
        int64_t slack_ns = (int64_t)(away * window_ns * drift);
        const struct bounds *bounds = &pair->windows[w];
        if (bounds->least_ns != INT64_MIN)
            bound(&all, true, bounds->least_ns - slack_ns);
        if (bounds->most_ns != INT64_MAX)
            bound(&all, false, bounds->most_ns + slack_ns);
    }
    int64_t doubt_ns = width(&all) / 2;
    *ret_doubt = doubt_ns > *ret_doubt ? doubt_ns : *ret_doubt;
    return middle(&all);
}

/* The one clock is placed, and the pair places the other. */
static void place(struct collect_clocks *clocks, const struct collect_clock_pair *pair,
                  bool is_forward)
{
    struct collect_clock *from = &clocks->list[pair->first], *to = &clocks->list[pair->second];
    if (!is_forward) {
        from = &clocks->list[pair->second];
        to = &clocks->list[pair->first];
    }
    int64_t sign = is_forward ? 1 : -1, doubt_ns = 0;
    if (clocks->n_solved == 0)
        to->ahead_ns = from->ahead_ns + sign * middle(&pair->whole);
    for (unsigned w = 0; w < N_WINDOWS && clocks->n_solved > 0; w++)
        to->windows[w] = from->windows[w] + sign * in_window(clocks, pair, w, &doubt_ns);
    doubt_ns = clocks->n_solved == 0 ? width(&pair->whole) / 2 : doubt_ns;
    to->doubt_ns = from->doubt_ns + doubt_ns;
    to->tree = from->tree;
    to->is_placed = true;
}

/* Closest pairs first, from clocks that are placed. */
static void grow(struct collect_clocks *clocks, struct collect_clock_pair *const *pairs, uint32_t n)
{
    for (uint32_t i = 0; i < n;) {
        bool has_first = clocks->list[pairs[i]->first].is_placed,
             has_second = clocks->list[pairs[i]->second].is_placed;
        if (has_first == has_second) {
            i++;
            continue;
        }
        place(clocks, pairs[i], has_first);
        i = 0;
    }
}

bool collect_clocks_solve(struct collect_clocks *clocks)
{
    struct collect_clock_pair **pairs = pm_alloc_array(clocks->n_pairs + 1u, sizeof *pairs);
    uint32_t n = 0;
    if (!pairs)
        return false;
    for (uint32_t i = 0; i < clocks->n_pairs; i++)
        if (has_both(&clocks->pairs[i].whole))
            pairs[n++] = &clocks->pairs[i];
    qsort(pairs, n, sizeof *pairs, compare_pairs);
    for (uint32_t i = 0; i < clocks->n; i++)
        clocks->list[i].is_placed = false;
    for (uint32_t i = 0; i < clocks->n; i++) {
        if (clocks->list[i].is_placed)
            continue;
        clocks->list[i].is_placed = true; /* the first of its tree */
        grow(clocks, pairs, n);
    }
    clocks->n_solved++;
    free(pairs);
    return true;
}

int64_t collect_clock_shift(const struct collect_clocks *clocks, uint32_t clock, int64_t time_ns)
{
    const struct collect_clock *c = &clocks->list[clock];
    if (clocks->n_solved < 2)
        return nearly(clocks, clock, time_ns);
    double at = window_at(clocks, nearly(clocks, clock, time_ns)) - 0.5;
    at = at < 0 ? 0 : at;
    int first = (int)at, second = first + 1 < N_WINDOWS ? first + 1 : first;
    double part = at - first;
    int64_t ahead_ns =
        c->windows[first] + (int64_t)(part * (double)(c->windows[second] - c->windows[first]));
    return time_ns - ahead_ns;
}

bool collect_clocks_agree(const struct collect_clocks *clocks, uint32_t a, uint32_t b)
{
    return a == b || clocks->list[a].tree == clocks->list[b].tree;
}

int64_t collect_clocks_doubt_ns(const struct collect_clocks *clocks)
{
    int64_t most_ns = 0;
    for (uint32_t i = 0; i < clocks->n; i++)
        most_ns = clocks->list[i].doubt_ns > most_ns ? clocks->list[i].doubt_ns : most_ns;
    return most_ns;
}

void collect_clocks_release(struct collect_clocks *clocks)
{
    free(clocks->list);
    free(clocks->pairs);
    pm_map_release(&clocks->by_clocks);
}
