/* Which rows of a comparison are shown: the first ones, or of a tree those that differ most, and
 * all that they lie in. */
#include "diff.h"

#include <math.h>
#include <stdlib.h>

struct place {
    double difference, size;
    uint32_t row;
};

static double known(double value)
{
    return isnan(value) ? 0 : fabs(value);
}

static int compare_places(const void *a_pointer, const void *b_pointer)
{
    const struct place *a = a_pointer, *b = b_pointer;
    if (a->difference != b->difference)
        return a->difference > b->difference ? -1 : 1;
    if (a->size != b->size)
        return a->size > b->size ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

/* Whose own costs differ, else those would be all that lies around one row. */
static struct place place_of(const struct pm_comparison *c, uint32_t r)
{
    const struct pm_compare_row *row = &c->rows[r];
    return (struct place){known(c->is_inclusive ? row->own_difference : row->difference),
                          known(row->means[0]) + known(row->means[1]), r};
}

static void choose_branches(const struct pm_comparison *c, struct place *places, uint32_t n,
                            struct show_diff_rows *rows)
{
    bool *is_in = rows->is_holder; /* until it is known which are */
    for (uint32_t r = 0; r < c->n_rows; r++)
        places[r] = place_of(c, r);
    qsort(places, c->n_rows, sizeof *places, compare_places);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t r = places[i].row; r != PM_NONE && !is_in[r]; r = c->rows[r].parent)
            is_in[r] = true;
    for (uint32_t r = 0; r < c->n_rows; r++)
        if (is_in[r])
            rows->rows[rows->n++] = r;
    for (uint32_t r = 0; r < c->n_rows; r++)
        is_in[r] = true;
    for (uint32_t i = 0; i < n; i++)
        is_in[places[i].row] = false;
}

bool show_diff_choose(const struct pm_comparison *c, uint64_t limit, struct show_diff_rows *ret)
{
    uint32_t n = limit && limit < c->n_rows ? (uint32_t)limit : c->n_rows;
    *ret = (struct show_diff_rows){
        .rows = pm_alloc_array((size_t)c->n_rows + 1, sizeof *ret->rows),
        .is_holder = pm_alloc_array((size_t)c->n_rows + 1, sizeof *ret->is_holder)};
    struct place *places = pm_alloc_array((size_t)c->n_rows + 1, sizeof *places);
    bool good = ret->rows && ret->is_holder && places;
    if (good && c->is_tree && n < c->n_rows)
        choose_branches(c, places, n, ret);
    else
        for (ret->n = 0; good && ret->n < n; ret->n++)
            ret->rows[ret->n] = ret->n;
    free(places);
    if (!good)
        show_diff_rows_release(ret);
    return good;
}

void show_diff_rows_release(struct show_diff_rows *rows)
{
    free(rows->rows);
    free(rows->is_holder);
    *rows = (struct show_diff_rows){0};
}
