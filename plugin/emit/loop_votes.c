/* Which loop of the source a natural loop is. */
#include "loop_votes.h"

#include <stdlib.h>

bool pm_loop_position_same(const struct pm_loop_position *a, const struct pm_loop_position *b)
{
    return a->index == b->index && a->copy == b->copy &&
           (a->index < 0 || a->function == b->function);
}

static void add_to_path(struct pm_loop_votes *votes, const struct pm_loop_position *position)
{
    struct pm_loop_position *path =
        pm_grow_array(votes->path, votes->n_path, &votes->path_cap, 8, sizeof *path);
    if (!path) {
        votes->failed = true;
        return;
    }
    votes->path = path;
    path[votes->n_path++] = *position;
}

static uint32_t place_in_path(const struct pm_loop_votes *votes,
                              const struct pm_loop_position *position)
{
    uint32_t i = 0;
    while (i < votes->n_path && !pm_loop_position_same(&votes->path[i], position))
        i++;
    return i;
}

/* Cuts the path down to what also lies on the way outwards from a position. */
static void keep_common(struct pm_loop_votes *votes, struct pm_loop_position position,
                        pm_loop_outwards *around)
{
    uint32_t first = votes->n_path;
    for (; position.index >= 0 && first == votes->n_path; position = around(position))
        first = place_in_path(votes, &position);
    votes->n_path -= first;
    if (first != 0)
        memmove(votes->path, votes->path + first, votes->n_path * sizeof *votes->path);
}

void pm_loop_votes_add(struct pm_loop_votes *votes, const struct pm_loop_position *position,
                       pm_loop_outwards *around)
{
    votes->was_inside = position->index >= 0;
    if (!votes->was_inside)
        votes->n_outside++;
    else if (votes->n_inside++ != 0)
        keep_common(votes, *position, around);
    else
        for (struct pm_loop_position p = *position; p.index >= 0; p = around(p))
            add_to_path(votes, &p);
}

void pm_loop_votes_repeat(struct pm_loop_votes *votes)
{
    if (votes->was_inside)
        votes->n_inside++;
    else
        votes->n_outside++;
}

void pm_loop_votes_release(struct pm_loop_votes *votes)
{
    free(votes->path);
    *votes = (struct pm_loop_votes){0};
}

enum pm_loop_verdict pm_loop_votes_count(const struct pm_loop_votes *votes,
                                         struct pm_loop_position *ret_position)
{
    if (votes->n_path == 0)
        return PM_VOTES_NONE;
    if (votes->n_outside > votes->n_inside)
        return PM_VOTES_OUTSIDE;
    *ret_position = votes->path[0];
    return PM_VOTES_LOOP;
}
