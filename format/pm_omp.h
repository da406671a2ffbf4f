/* What code of GCC's tells the openmp adapter, where a construct is no call of the library, or one
 * that has no place: the plugin adds
 *
 *     if (slot.api != NULL)                              // a slot of format/pm_words.h
 *         omp_get_team_size(what, source, n_iterations, chunk);
 *
 * OpenMP says that this returns -1 and does nothing else, for such a level: so it is without the
 * adapter, which wraps the function.
 */
#ifndef PM_OMP_H
#define PM_OMP_H

#define PM_OMP_TOLD_TO "omp_get_team_size"
#define PM_OMP_NOT_KNOWN (~0ul) /* a number of iterations */

enum { PM_OMP_MAX_SOURCE = 4096 };

/* What is told, as a level of teams that there cannot be. source: ";file;function;line;column;;".
 * n_iterations: of the whole team. chunk: of schedule(static, chunk), 0: none. */
enum pm_omp_told {
    PM_OMP_FIRST = -0x504d0010,
    /* The next construct that the library is called for is there; a barrier follows, or none. */
    PM_OMP_NEXT = PM_OMP_FIRST,
    PM_OMP_NEXT_NOWAIT,
    PM_OMP_INNER, /* the loop, or sections, that the region which is next consists of */
    PM_OMP_LOOP,  /* a loop begins that is divided without a call */
    PM_OMP_LOOP_NOWAIT,
    PM_OMP_SHARE,  /* the loop that the library was called for is divided so */
    PM_OMP_MASTER, /* in the thread that does it */
    PM_OMP_MASKED,
    PM_OMP_END, /* of what has begun, if it has in this thread */
    PM_OMP_LAST = PM_OMP_END,
};

#endif
