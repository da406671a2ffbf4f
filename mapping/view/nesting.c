/* Which rows of a view by loop lie in others. At run time only outermost loops are followed;
 * code of inner ones is known by its mapping, so what it costs is brought to the loops around
 * it, and to their function, along the where axis. So is what an OpenMP region costs in threads
 * that did not come through its function; in the tree their paths begin at the region. */
#include "view.h"

#include <stdlib.h>

static bool lies_in(const struct pm_view *view, uint32_t group, uint32_t outer)
{
    while (group != PM_NONE && group != outer)
        group = view->around[group];
    return group != PM_NONE;
}

/* The row that one lies in: of the innermost group that has a row of its own and all of this
 * row's groups in it. */
static uint32_t around_row(const struct pm_view *view, const uint32_t *row_of_group, uint32_t row)
{
    const struct pm_lift_row *r = &view->lift->rows[row];
    const uint32_t *members = view->lift->destinations + r->first_destination;
    if (r->n_destinations == 0)
        return PM_NONE;
    for (uint32_t group = members[0]; group != PM_NONE; group = view->around[group]) {
        bool has_all = row_of_group[group] != PM_NONE && row_of_group[group] != row;
        for (uint32_t i = 1; has_all && i < r->n_destinations; i++)
            has_all = lies_in(view, members[i], group);
        if (has_all)
            return row_of_group[group];
    }
    return PM_NONE;
}

enum pm_status pm_view_make_nesting(struct pm_view *view, struct pm_error *err)
{
    const struct pm_lift *lift = view->lift;
    if (!view->around)
        return PM_OK;
    uint32_t *row_of_group = pm_alloc_array(view->n_groups, sizeof *row_of_group);
    uint32_t *around = pm_arena_alloc(&view->arena, ((size_t)lift->n_rows + 1) * sizeof *around);
    bool *is_function =
        pm_arena_alloc(&view->arena, ((size_t)lift->n_rows + 1) * sizeof *is_function);
    if (!row_of_group || !around || !is_function) {
        free(row_of_group);
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    }
    for (uint32_t g = 0; g < view->n_groups; g++)
        row_of_group[g] = PM_NONE;
    for (uint32_t r = 0; r < lift->n_rows; r++)
        if (lift->rows[r].n_destinations == 1)
            row_of_group[lift->destinations[lift->rows[r].first_destination]] = r;
    for (uint32_t r = 0; r < lift->n_rows; r++) {
        uint32_t n = lift->rows[r].n_destinations;
        pm_index noun = n == 1
                            ? view->groups[lift->destinations[lift->rows[r].first_destination]].noun
                            : PM_NONE;
        around[r] = around_row(view, row_of_group, r);
        is_function[r] = noun != PM_NONE && (pm_view_noun_is_code(view, noun) ||
                                             pm_view_noun_is(view, noun, "region"));
    }
    free(row_of_group);
    view->nesting = (struct pm_call_nesting){around, is_function};
    return PM_OK;
}
