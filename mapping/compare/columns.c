/* Several sides, each against the first. */
#include "compare.h"

#include <stdlib.h>

/* Verdicts and speeds are a column's own; cells and names are lent. */
static bool copy_runs(const struct pm_compare_side *from, uint32_t first, uint32_t n,
                      struct pm_compare_side *to)
{
    *to = (struct pm_compare_side){.runs = pm_alloc_array((size_t)n + 1, sizeof *to->runs),
                                   .n_runs = n};
    for (uint32_t i = 0; to->runs && i < n; i++) {
        to->runs[i] = from->runs[first + i];
        to->runs[i].speed = 1;
    }
    return to->runs != NULL;
}

static struct pm_compare_row row_of_column(const struct pm_compare_row *from, uint32_t first)
{
    struct pm_compare_row row = {.what = from->what,
                                 .key = from->key,
                                 .was = from->was,
                                 .is_likely = from->is_likely,
                                 .joined = from->joined,
                                 .parent = from->parent,
                                 .depth = from->depth};
    row.places[0] = from->places[0]; /* which of the others the second is of is not known */
    for (int side = 0; side < 2; side++) {
        row.cells[side] = from->cells[side] + (side ? first : 0);
        if (from->own_cells[side])
            row.own_cells[side] = from->own_cells[side] + (side ? first : 0);
    }
    return row;
}

static bool make_column(const struct pm_comparison *whole, uint32_t first, uint32_t n_runs,
                        struct pm_comparison *ret)
{
    *ret = (struct pm_comparison){.options = whole->options,
                                  .metric = whole->metric,
                                  .is_sampled = whole->is_sampled,
                                  .is_tree = whole->is_tree,
                                  .is_inclusive = whole->is_inclusive,
                                  .level_name = whole->level_name,
                                  .n_rows = whole->n_rows};
    ret->rows = pm_alloc_array((size_t)whole->n_rows + 1, sizeof *ret->rows);
    bool good = copy_runs(&whole->sides[0], 0, whole->sides[0].n_runs, &ret->sides[0]) &&
                copy_runs(&whole->sides[1], first, n_runs, &ret->sides[1]) && ret->rows;
    for (uint32_t r = 0; good && r < whole->n_rows; r++)
        ret->rows[r] = row_of_column(&whole->rows[r], first);
    ret->total = row_of_column(&whole->total, first);
    return good;
}

enum pm_status pm_compare_columns(const struct pm_comparison *whole, const uint32_t *n_runs,
                                  uint32_t n_columns, struct pm_error *err,
                                  struct pm_comparison *ret)
{
    uint32_t first = 0;
    memset(ret, 0, n_columns * sizeof *ret);
    for (uint32_t i = 0; i < n_columns; i++) {
        if (!make_column(whole, first, n_runs[i], &ret[i]))
            return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
        enum pm_status status = pm_compare_judge_in_order(&ret[i], err);
        if (status != PM_OK)
            return status;
        first += n_runs[i];
    }
    return PM_OK;
}

void pm_compare_columns_release(struct pm_comparison *columns, uint32_t n_columns)
{
    for (uint32_t i = 0; i < n_columns; i++) {
        free(columns[i].rows);
        free(columns[i].sides[0].runs);
        free(columns[i].sides[1].runs);
    }
}
