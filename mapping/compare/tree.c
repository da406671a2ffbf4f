/* Rows of call trees of two sides, in the order in which they are shown. */
#include "compare.h"

#include <stdlib.h>

/* What lies in a row, in the order of entering. */
struct branches {
    uint32_t *first, *last, *next; /* 1 + row; first and last of [n_rows]: those at the top */
    uint32_t n;
};

static void enter(struct branches *b, uint32_t row, uint32_t parent)
{
    uint32_t up = parent == PM_NONE ? b->n : parent;
    *(b->last[up] ? &b->next[b->last[up] - 1] : &b->first[up]) = row + 1;
    b->last[up] = row + 1;
}

/* Places of rows, depth first. */
static void walk(const struct branches *b, const struct pm_compare_row *rows, uint32_t *ret_order)
{
    uint32_t n = 0, at = b->first[b->n];
    while (at) {
        ret_order[n++] = at - 1;
        uint32_t next = b->first[at - 1];
        while (!next && at) {
            next = b->next[at - 1];
            if (next)
                break;
            at = rows[at - 1].parent == PM_NONE ? 0 : rows[at - 1].parent + 1;
        }
        at = next;
    }
}

/* A row, and where it stood. */
struct place {
    struct pm_compare_row row; /* first, so that rows are compared */
    uint32_t at;
};

static void rearrange(struct pm_comparison *c, const uint32_t *order, uint32_t *now,
                      struct place *room)
{
    for (uint32_t i = 0; i < c->n_rows; i++) {
        room[i].row = c->rows[order[i]];
        now[order[i]] = i;
    }
    for (uint32_t i = 0; i < c->n_rows; i++) {
        struct pm_compare_row *row = &c->rows[i];
        *row = room[i].row;
        if (row->parent != PM_NONE)
            row->parent = now[row->parent];
        row->depth = row->parent == PM_NONE ? 0 : c->rows[row->parent].depth + 1;
    }
}

enum pm_status pm_compare_order_tree(struct pm_comparison *c,
                                     int (*compare_rows)(const void *, const void *),
                                     struct pm_error *err)
{
    size_t n = (size_t)c->n_rows + 1;
    struct place *places = pm_alloc_array(n, sizeof *places);
    uint32_t *room = pm_alloc_array(5 * n, sizeof *room);
    bool good = places && room;
    for (uint32_t r = 0; good && r < c->n_rows; r++)
        places[r] = (struct place){c->rows[r], r};
    if (good && c->n_rows) {
        qsort(places, c->n_rows, sizeof *places, compare_rows);
        struct branches b = {room, room + n, room + 2 * n, c->n_rows};
        for (uint32_t i = 0; i < c->n_rows; i++)
            enter(&b, places[i].at, c->rows[places[i].at].parent);
        walk(&b, c->rows, room + 3 * n);
        rearrange(c, room + 3 * n, room + 4 * n, places);
    }
    free(places);
    free(room);
    return good ? PM_OK : pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}
