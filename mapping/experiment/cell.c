/* Cells as bytes (cells.h). */
#include "cells.h"

#include <math.h>

/* Up to here each whole number is a double. */
#define MOST_WHOLE 9007199254740992.0

void experiment_put_cell(struct pm_buf *out, uint32_t *last_row, uint32_t row,
                         const struct pm_compare_cell *cell)
{
    bool is_unknown = cell->state == PM_COMPARE_UNKNOWN;
    bool is_whole =
        cell->value >= 0 && cell->value <= MOST_WHOLE && floor(cell->value) == cell->value;
    unsigned flags = 0;
    if (cell->is_at_least)
        flags |= CELL_AT_LEAST;
    if (cell->is_uncertain)
        flags |= CELL_UNCERTAIN;
    if (is_unknown)
        flags |= CELL_UNKNOWN;
    else if (!is_whole)
        flags |= CELL_REAL;
    pm_buf_add_uleb(out, (uint64_t)(row - *last_row) << 4 | flags);
    *last_row = row;
    if (flags & CELL_REAL)
        pm_buf_add(out, &cell->value, sizeof cell->value);
    else if (!is_unknown)
        pm_buf_add_uleb(out, (uint64_t)cell->value);
}

bool experiment_next_cell(struct pm_cursor *cursor, uint32_t *last_row, struct experiment_cell *ret)
{
    uint64_t head, value = 0;
    struct pm_str real;
    if (cursor->p == cursor->end || !pm_cursor_uleb(cursor, &head))
        return false;
    *ret = (struct experiment_cell){
        .cell = {.state = head & CELL_UNKNOWN ? PM_COMPARE_UNKNOWN : PM_COMPARE_MEASURED,
                 .is_at_least = head & CELL_AT_LEAST,
                 .is_uncertain = head & CELL_UNCERTAIN}};
    uint64_t row = *last_row + (head >> 4);
    cursor->failed |= row > INT32_MAX || row <= *last_row;
    if (!cursor->failed && head & CELL_REAL &&
        pm_cursor_bytes(cursor, sizeof ret->cell.value, &real))
        memcpy(&ret->cell.value, real.p, sizeof ret->cell.value);
    else if (!cursor->failed && !(head & (CELL_REAL | CELL_UNKNOWN)) &&
             pm_cursor_uleb(cursor, &value))
        ret->cell.value = (double)value;
    cursor->failed |= !isfinite(ret->cell.value);
    *last_row = ret->row = (uint32_t)row;
    return !cursor->failed;
}
