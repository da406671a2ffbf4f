/* Which loop of the source a natural loop is: the innermost one that all of its statements lie in,
 * as written, those that lie in no loop apart.
 *
 *     struct pm_loop_votes votes = {0};
 *     struct pm_loop_position position;
 *     for (i = 0; i < n; i++)                             // places of the loop's statements
 *         pm_loop_votes_add(&votes, &places[i], around);
 *     if (pm_loop_votes_count(&votes, &position) == PM_VOTES_LOOP)
 *         use(position.function->loops[position.index].id);
 *     pm_loop_votes_release(&votes);
 *
 * Optimisers copy and move blocks, but leave each statement the place that it came from. What they
 * moved into the loop, or out of it, must not make it another one. One thread at a time.
 */
#ifndef PM_LOOP_VOTES_H
#define PM_LOOP_VOTES_H

#include "source.h"

struct pm_loop_position {
    const struct pm_source_function *function; /* the one whose text the loop is in */
    int index;                                 /* in its loops; -1: in no loop of any function */
    void *copy; /* the back end's name for the inlined copy; NULL: the function itself */
};

bool pm_loop_position_same(const struct pm_loop_position *a, const struct pm_loop_position *b);

/* The loop around that of a position: in the same copy, or around the call that was inlined. */
typedef struct pm_loop_position pm_loop_outwards(struct pm_loop_position position);

struct pm_loop_votes {
    struct pm_loop_position *path; /* the loops that all votes so far have in common, innermost
                                      first */
    uint32_t n_path, path_cap;
    unsigned n_inside, n_outside;
    bool was_inside; /* the last vote */
    bool failed;     /* memory */
};

/* A statement in that loop, or in none; the place of the statement before, once more. */
void pm_loop_votes_add(struct pm_loop_votes *votes, const struct pm_loop_position *position,
                       pm_loop_outwards *around);
void pm_loop_votes_repeat(struct pm_loop_votes *votes);
void pm_loop_votes_release(struct pm_loop_votes *votes);

enum pm_loop_verdict {
    PM_VOTES_NONE,    /* no statement lies in a loop, or they have none in common */
    PM_VOTES_OUTSIDE, /* most lie in no loop: such as one that a tail call was made into */
    PM_VOTES_LOOP
};
enum pm_loop_verdict pm_loop_votes_count(const struct pm_loop_votes *votes,
                                         struct pm_loop_position *ret_position);

#endif
