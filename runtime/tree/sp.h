/* What a context's sp says: the frame that it belongs to, and whether that has jumped away.
 *
 * Tail calls: a context stays open until what it jumped to returns.
 *
 * The place of the return address, S, tells all frames of such a chain, so what else is known of
 * them stands in the lowest bits of sp:
 *
 *     S        called
 *     S - 1    called, has jumped away
 *     S - 2    jumped to
 *     S - 3    jumped to, has jumped away
 *     S / 2, S / 2 - 1    the same two, where no sled tells when what they jumped to returns
 *     S + 1    called, and jumps to an entry whose sled is armed (by the trampoline, which looked)
 *
 * Those below S are above S - 8: what is called from there nests by the fast path, and entries
 * and exits at S take the slow one. S / 2 (S is 8 more than a multiple of 16) lies below the
 * whole stack, so that all events take the slow one, which looks whether the return address
 * still is at S: else it has returned, and what is entered deeper in the stack is not below it.
 * S + 1 is for chains of two: what is entered next at S is what was jumped to, so it nests by
 * the fast path, and its exit sees the mark and ends both. Wherever the slow path leaves such a
 * context innermost it becomes S - 1, for then something has come between.
 */
#ifndef PM_RUNTIME_SP_H
#define PM_RUNTIME_SP_H

#include <stdbool.h>
#include <stdint.h>

enum pm_tail {
    PM_TAIL_ENDS,     /* nothing is known: the context ends (portable mode) */
    PM_TAIL_TO_SLED,  /* to a function whose entry has a sled */
    PM_TAIL_TO_OTHER, /* to one that has none, or to another object */
    PM_TAIL_ANYWHERE, /* by a register or memory */
};

/* What the youngest frame of a chain jumped to, kept by S. */
struct pm_jump {
    uint64_t sp, return_address, tsc; /* sp 0: none; tsc 0: not timed */
    uint32_t to, noun;                /* enum pm_tail; TO_SLED: the noun */
};
enum { PM_MAX_JUMPS = 8 };

static inline bool pm_sp_jumps(uint64_t sp)
{
    return (sp & 7) == 1;
}

static inline bool pm_sp_jumped(uint64_t sp)
{
    return (sp & 7) != 0 && (sp & 7) != 2 && (sp & 7) != 6 && sp != UINT64_MAX;
}

static inline bool pm_sp_jumped_away(uint64_t sp)
{
    return pm_sp_jumped(sp) && !pm_sp_jumps(sp);
}

/* By a function in the same frame: nobody has called it. */
static inline bool pm_sp_jumped_to(uint64_t sp)
{
    return (sp & 7) == 6 || (sp & 7) == 5 || (sp & 7) == 3;
}

/* S. */
static inline uint64_t pm_sp_frame(uint64_t sp)
{
    if (pm_sp_jumps(sp))
        return sp - 1;
    if ((sp & 7) == 4 || (sp & 7) == 3)
        return (sp + 1) / 2 * 4;
    return (sp & 7) >= 5 && sp != UINT64_MAX ? (sp | 7) + 1 : sp;
}

#endif
