/* From archives to rows with a cell for each run. */
#include "compare_internal.h"

#include "mapping/view/groupings.h"

#include <math.h>
#include <stdlib.h>

enum pm_status compare_no_memory(struct compare *c)
{
    return pm_error_set(c->err, PM_ERR_MEMORY, "out of memory");
}

/* --- cells --- */

static bool has_construct(const struct compare *c, const struct compare_build *build, uint64_t key)
{
    return pm_map_get(&build->seen, key) ||
           (build->is_known && pm_build_has(&build->build, &c->builds[0].build, key));
}

/* What a row without a number in a run is there. */
static enum pm_compare_state absence(const struct compare *c, uint32_t row,
                                     const struct compare_reading *reading)
{
    if (!reading->has_level)
        return PM_COMPARE_UNKNOWN;
    const struct compare_build *build = &c->builds[reading->build];
    for (uint32_t i = 0; i < c->parts[row].n; i++)
        if (!has_construct(c, build, c->parts[row].nouns[i]))
            return PM_COMPARE_ABSENT;
    return PM_COMPARE_NO_COST;
}

/* [n_rows + 1][n_runs] of the side, all without a number; NULL: memory. */
static struct pm_compare_cell *make_cells(struct compare *c, int side)
{
    uint32_t n_runs = c->to->sides[side].n_runs, n_rows = c->to->n_rows;
    struct pm_compare_cell *cells =
        pm_arena_alloc(&c->to->arena, ((size_t)n_rows + 1) * n_runs * sizeof *cells);
    for (uint32_t r = 0; cells && r < n_rows; r++)
        for (uint32_t i = 0; i < n_runs; i++)
            cells[(size_t)r * n_runs + i].state = absence(c, r, &c->readings[side][i]);
    return cells;
}

/* Each run as long as B's are, so that shares are compared and numbers stay readable. */
static void normalise(struct compare *c)
{
    const struct pm_compare_side *b = &c->to->sides[PM_COMPARE_B];
    double mean = 0;
    for (uint32_t i = 0; i < b->n_runs; i++)
        mean += b->runs[i].total / b->n_runs;
    for (int side = 0; side < 2; side++)
        for (uint32_t i = 0; i < c->to->sides[side].n_runs; i++) {
            struct pm_compare_run *run = &c->to->sides[side].runs[i];
            if (!(run->total > 0) || !(mean > 0))
                continue;
            run->factor = mean / run->total;
            run->total = mean;
            run->period_ns = llround((double)run->period_ns * run->factor);
        }
}

static struct pm_compare_cell times_factor(struct pm_compare_cell cell, double factor)
{
    cell.value *= factor;
    return cell;
}

static bool fill_side(struct compare *c, int side)
{
    uint32_t n_runs = c->to->sides[side].n_runs, n_rows = c->to->n_rows;
    struct pm_compare_cell *cells = make_cells(c, side);
    struct pm_compare_cell *own = c->to->is_inclusive ? make_cells(c, side) : cells;
    if (!cells || !own)
        return false;
    for (uint32_t r = 0; r < n_rows; r++) {
        c->to->rows[r].cells[side] = cells + (size_t)r * n_runs;
        c->to->rows[r].own_cells[side] = own == cells ? NULL : own + (size_t)r * n_runs;
    }
    for (uint32_t i = 0; i < n_runs; i++)
        for (uint32_t e = 0; e < c->readings[side][i].n; e++) {
            const struct compare_entry *entry = &c->readings[side][i].entries[e];
            double factor = c->to->sides[side].runs[i].factor;
            own[(size_t)entry->row * n_runs + i] = times_factor(entry->own, factor);
            cells[(size_t)entry->row * n_runs + i] = times_factor(entry->cell, factor);
        }
    struct pm_compare_cell *totals = cells + (size_t)n_rows * n_runs;
    for (uint32_t i = 0; i < n_runs; i++)
        totals[i] = (struct pm_compare_cell){c->to->sides[side].runs[i].total, PM_COMPARE_MEASURED,
                                             false, false};
    c->to->total.cells[side] = totals;
    c->to->total.what = "total";
    c->to->total.parent = PM_NONE;
    return true;
}

/* --- all of it --- */

static bool is_there(const struct pm_comparison *to, const struct pm_compare_row *row, int side)
{
    bool is = false;
    for (uint32_t i = 0; i < to->sides[side].n_runs; i++)
        is |= row->cells[side][i].state == PM_COMPARE_MEASURED;
    return is;
}

/* Rows of processes and special ones are in any archive. */
static enum pm_status check_common(struct compare *c)
{
    bool any = false, any_of_source = false;
    for (uint32_t r = 0; r < c->to->n_rows; r++) {
        const struct pm_compare_row *row = &c->to->rows[r];
        any_of_source |= c->parts[r].n != 0;
        any |= c->parts[r].n && is_there(c->to, row, 0) && is_there(c->to, row, 1);
    }
    if (any || !any_of_source)
        return PM_OK;
    return pm_error_set(c->err, PM_ERR_NOT_FOUND,
                        "'%s' and '%s' have nothing in common: no %s of one has costs in the "
                        "other, as if they were of other programs",
                        c->inputs[0].paths[0], c->inputs[1].paths[0],
                        pm_view_by_word(c->options.by));
}

static enum pm_status compare_all(struct compare *c)
{
    enum pm_status status = compare_read_side(c, PM_COMPARE_A);
    if (status != PM_OK)
        return status;
    status = compare_read_side(c, PM_COMPARE_B);
    if (status != PM_OK)
        return status;
    if (c->to->options.is_normalised)
        normalise(c);
    if (!fill_side(c, PM_COMPARE_A) || !fill_side(c, PM_COMPARE_B))
        return compare_no_memory(c);
    status = check_common(c);
    if (status != PM_OK)
        return status;
    status = compare_join(c->to, c->parts, c->err);
    if (status != PM_OK)
        return status;
    status = compare_add_notes(c);
    return status != PM_OK ? status : pm_compare_judge(c->to, c->err);
}

static void release(struct compare *c)
{
    for (int side = 0; side < 2; side++) {
        for (uint32_t i = 0; c->readings[side] && i < c->inputs[side].n_paths; i++)
            free(c->readings[side][i].entries);
        free(c->readings[side]);
    }
    for (uint32_t i = 0; i < c->n_builds; i++) {
        pm_build_release(&c->builds[i].build);
        pm_map_release(&c->builds[i].seen);
    }
    free(c->builds);
    free(c->parts);
    pm_map_release(&c->row_of);
}

enum pm_status pm_compare(const struct pm_compare_options *options,
                          const struct pm_compare_input inputs[2],
                          const struct pm_compare_visitor *visitor, struct pm_error *err,
                          struct pm_comparison **ret)
{
    struct compare c = {.err = err, .inputs = inputs, .visitor = visitor, .options = options->view};
    c.to = pm_alloc(sizeof *c.to);
    if (!c.to)
        return compare_no_memory(&c);
    c.to->options = *options;
    c.options.limit = 0;
    enum pm_status status = compare_all(&c);
    release(&c);
    if (status != PM_OK)
        pm_comparison_free(c.to);
    *ret = status != PM_OK ? NULL : c.to;
    return status;
}

void pm_comparison_free(struct pm_comparison *comparison)
{
    if (!comparison)
        return;
    for (uint32_t i = 0; i < comparison->n_notes; i++)
        free(comparison->notes[i]);
    free(comparison->notes);
    for (int side = 0; side < 2; side++)
        free(comparison->sides[side].runs);
    free(comparison->rows);
    pm_arena_release(&comparison->arena);
    free(comparison);
}
