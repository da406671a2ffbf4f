/* Clocks of several machines: how far they are apart, as calls that processes take part in
 * together tell. Nothing is received before it was sent: messages both ways bound the distance
 * from both sides, and the closest ones most.
 *
 * Each process asks for the number of its clock. What is known to be in order is noted, all of it,
 * and solved, twice: the second time by windows of the run's time. */
#ifndef PM_COLLECT_CLOCKS_H
#define PM_COLLECT_CLOCKS_H

#include "mapping/base/map.h"
#include "mapping/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct collect_clock;
struct collect_clock_pair;

struct collect_clocks {
    struct collect_clock *list;
    struct collect_clock_pair *pairs;
    uint32_t n, cap, n_pairs, pairs_cap;
    struct pm_map by_clocks; /* two clocks -> position of the pair + 1 */
    uint32_t n_solved;       /* how often */
    int64_t first_ns, last_ns;
};

/* Number of the clock of a process that began when its machine's counter, and its own clock, showed
 * this. node: of its machine, lasting. ns_per_tick: of the counter, nearly; 0: not known. Processes
 * of one machine have one clock, but in time namespaces. False: memory. */
bool collect_clock_of(struct collect_clocks *clocks, struct pm_str node, uint64_t ticks,
                      double ns_per_tick, uint64_t clock_ns, uint32_t *ret_clock);
/* What happened at `before_ns` by the one clock was before what happened at `after_ns` by the
 * other. False: memory. */
bool collect_clocks_note(struct collect_clocks *clocks, uint32_t before, int64_t before_ns,
                         uint32_t after, int64_t after_ns);
/* Finds the distances to the first clock; after the second time as they change in the run. False:
 * memory. */
bool collect_clocks_solve(struct collect_clocks *clocks);
/* A time as the first clock has it. */
int64_t collect_clock_shift(const struct collect_clocks *clocks, uint32_t clock, int64_t time_ns);
/* Is the distance of the two known? */
bool collect_clocks_agree(const struct collect_clocks *clocks, uint32_t a, uint32_t b);
/* The most that a distance may be wrong, of those that are known. */
int64_t collect_clocks_doubt_ns(const struct collect_clocks *clocks);
void collect_clocks_release(struct collect_clocks *clocks);

#endif
