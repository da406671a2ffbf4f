/* Loops of the source out of a function's code before it is lowered, where a loop still is a run
 * of statements: from the one that is jumped back to, to the jump.
 *
 *     struct pm_loop_run run = {.first = 2, .end = 9, .place = place_of_for, .levels = 1};
 *     for (uint32_t at = 0; at < n; at++)
 *         statements[at] = (struct pm_run_statement){places[at], -1};
 *     if (!pm_loop_runs_add(function, &run, 1, statements, n, false))
 *         use("no memory");
 *     int loop = statements[4].loop;               // in function->loops, now sorted
 *
 * One thread at a time.
 */
#ifndef PM_LOOP_RUNS_H
#define PM_LOOP_RUNS_H

#include "source.h"

/* The statements [first, end) of the function. Runs that lie in others come after them. */
struct pm_loop_run {
    uint32_t first, end;
    struct pm_place place; /* of the loop as written */
    int levels;            /* natural loops, one in the other, that it may become */
    /* Of a DO CONCURRENT whose loops have the place of a statement in it: its own place, which is
     * that of the outermost n_indices ones. line 0: it is none. */
    struct pm_place construct;
    unsigned n_indices;
};

struct pm_run_statement {
    struct pm_place place; /* line 0: none, or not its own */
    int loop;              /* the innermost source loop, -1 none */
};

/* Adds the loops of the runs, and sorts the function's loops. A run in a run of the same place is
 * one more level of that loop. One behind it is more of the same statement where statements have
 * several loops (Fortran); else it is the same loop again, of a macro. False: memory. */
bool pm_loop_runs_add(struct pm_source_function *function, struct pm_loop_run *runs,
                      uint32_t n_runs, struct pm_run_statement *statements, uint32_t n,
                      bool has_split_statements);

#endif
