/* Loops of the source out of runs of statements. */
#include "loop_runs.h"

#include <stdlib.h>

static void widen(struct pm_source_loop *loop, const struct pm_place *place)
{
    struct pm_text_point point = pm_place_point(place);
    if (place->line == 0 || place->file != loop->file)
        return;
    if (pm_text_point_less(point, loop->first))
        loop->first = point;
    if (pm_text_point_less(loop->last, point))
        loop->last = point;
}

/* --- loops --- */

struct open_run {
    uint32_t end;
    int loop;
    struct pm_text_point place;
};

static void place_concurrent(struct pm_loop_run *run, const struct open_run *open, uint32_t n_open)
{
    unsigned n_around = 0;
    if (run->construct.line == 0)
        return;
    for (uint32_t i = 0; i < n_open; i++)
        n_around += pm_text_point_same(open[i].place, pm_place_point(&run->construct));
    if (n_around < run->n_indices)
        run->place = run->construct;
}

static int n_of_loop(const struct open_run *open, uint32_t n_open, int loop)
{
    int n = 0;
    for (uint32_t i = 0; i < n_open; i++)
        n += open[i].loop == loop;
    return n;
}

/* The loop's index, -1: memory. */
static int add_loop(struct pm_source_function *function, const struct pm_loop_run *run,
                    const struct open_run *open, uint32_t n_open, bool has_split_statements)
{
    uint32_t n_known = function->n_loops;
    int index = pm_source_loop_add(function, &run->place, n_open ? open[n_open - 1].loop : -1);
    if (index < 0)
        return -1;
    int n_around = n_of_loop(open, n_open, index);
    struct pm_source_loop *loop = &function->loops[index];
    if (loop->nest < run->levels + n_around)
        loop->nest = run->levels + n_around;
    loop->is_split |= n_around == 0 && (uint32_t)index < n_known && has_split_statements;
    return index;
}

static bool add_loops(struct pm_source_function *function, struct pm_loop_run *runs,
                      uint32_t n_runs, struct pm_run_statement *statements,
                      bool has_split_statements)
{
    struct open_run *open = pm_alloc_array(n_runs + 1, sizeof *open);
    uint32_t n_open = 0;
    bool done = open != NULL;
    for (uint32_t i = 0; i < n_runs && done; i++) {
        struct pm_loop_run *run = &runs[i];
        while (n_open > 0 && open[n_open - 1].end <= run->first)
            n_open--;
        place_concurrent(run, open, n_open);
        int loop = add_loop(function, run, open, n_open, has_split_statements);
        done = loop >= 0;
        for (uint32_t at = run->first; at < run->end && done; at++) {
            statements[at].loop = loop;
            widen(&function->loops[loop], &statements[at].place);
        }
        open[n_open++] = (struct open_run){run->end, loop, pm_place_point(&run->place)};
    }
    free(open);
    return done;
}

/* --- what lies in a loop's range of text, but not in the loop --- */

struct inside {
    struct pm_text_point point;
    int loop; /* the innermost one of any statement there */
};

static int compare_insides(const void *a, const void *b)
{
    const struct inside *one = a, *other = b;
    if (pm_text_point_less(one->point, other->point))
        return -1;
    if (pm_text_point_less(other->point, one->point))
        return 1;
    return one->loop > other->loop ? -1 : one->loop < other->loop;
}

static bool is_within(const struct pm_source_function *function, int loop, int around)
{
    while (loop >= 0 && loop != around)
        loop = function->loops[loop].parent;
    return loop >= 0;
}

static bool exclude(struct pm_source_function *function, const struct inside *inside)
{
    uint32_t n;
    const int *loops = pm_source_loops_around(function, inside->point, &n);
    for (uint32_t i = 0; i < n; i++)
        if (!is_within(function, inside->loop, loops[i]) &&
            !pm_source_loop_exclude(&function->loops[loops[i]], inside->point))
            return false;
    return true;
}

/* "i = 0" of a for. Where statements inside and outside share one place, it counts as inside. */
static bool note_outside(struct pm_source_function *function,
                         const struct pm_run_statement *statements, uint32_t n)
{
    struct inside *insides = pm_alloc_array((size_t)n + 1, sizeof *insides);
    uint32_t n_insides = 0;
    bool done = insides != NULL;
    for (uint32_t i = 0; i < n && done; i++)
        if (statements[i].place.line != 0)
            insides[n_insides++] =
                (struct inside){pm_place_point(&statements[i].place), statements[i].loop};
    if (done)
        qsort(insides, n_insides, sizeof *insides, compare_insides);
    for (uint32_t i = 0; i < n_insides && done; i++)
        if (i == 0 || !pm_text_point_same(insides[i].point, insides[i - 1].point))
            done = exclude(function, &insides[i]);
    free(insides);
    return done;
}

bool pm_loop_runs_add(struct pm_source_function *function, struct pm_loop_run *runs,
                      uint32_t n_runs, struct pm_run_statement *statements, uint32_t n,
                      bool has_split_statements)
{
    return add_loops(function, runs, n_runs, statements, has_split_statements) &&
           pm_source_loops_sort(function) && note_outside(function, statements, n);
}
