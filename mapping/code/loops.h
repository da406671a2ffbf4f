/* Natural loops of machine code: the instructions that a jump back to one that dominates it goes
 * around.
 *
 *     struct pm_loops loops;
 *     if (pm_loops_find(n, ends, jumps, n_jumps, &loops)) {
 *         uint32_t at = loops.innermost[i];                  // of instruction i
 *         use(loops.loops[at - 1].head);                     // 0: in none
 *     }
 *     pm_loops_release(&loops);
 *
 * Dominators by Cooper, Harvey, Kennedy, "A simple, fast dominance algorithm" (2001); loops with
 * one head are one, as in compilers. Code that nothing is known to reach is reached by the jumps
 * whose targets are not known (tables), or, without such, from outside (exceptions). Loops with
 * two entries are none. Memory: some 40 bytes an instruction. Time: a block's visits in each
 * loop around it.
 */
#ifndef PM_LOOPS_H
#define PM_LOOPS_H

#include <stdbool.h>
#include <stdint.h>

/* How an instruction goes on, beside its jumps. */
enum pm_loops_end { PM_LOOPS_GOES_ON, PM_LOOPS_STOPS, PM_LOOPS_JUMPS_ANYWHERE };

/* Positions of instructions, in the order of addresses. */
struct pm_loops_jump {
    uint32_t from, to;
};

struct pm_loop {
    uint32_t head;     /* its first instruction: all ways into it go through that */
    uint32_t last;     /* of those that go back to it, the last one in the code */
    uint32_t parent;   /* the loop around it, its position + 1; 0: none */
    uint32_t n_blocks; /* that it has */
};

struct pm_loops {
    struct pm_loop *loops;
    uint32_t n;
    uint32_t *innermost; /* by instruction: position + 1; 0: in no loop */
};

/* ends: enum pm_loops_end, [n]. jumps: positions below n, in any order. Of code without jumps
 * back nothing is made. False: memory ended, or the code is too large. */
bool pm_loops_find(uint32_t n, const unsigned char *ends, const struct pm_loops_jump *jumps,
                   uint32_t n_jumps, struct pm_loops *ret_loops);
void pm_loops_release(struct pm_loops *loops);

#endif
