#include "intervals.h"

#include "../base/str.h"

#include <stdlib.h>

/* A sweep over all ends of intervals; those that are open lie in a heap with the winner on top.
 * What has ended is taken out only when it gets to the top. */
struct sweep {
    const struct pm_interval *items;
    uint32_t *heap;
    uint32_t n;
};

void pm_intervals_add(struct pm_intervals *map, uint64_t low, uint64_t high, uint32_t depth,
                      uint32_t value)
{
    if (low >= high || map->failed)
        return;
    struct pm_interval *items =
        pm_grow_array(map->items, map->n_items, &map->n_items_max, 16, sizeof *items);
    if (!items) {
        map->failed = true;
        return;
    }
    map->items = items;
    map->items[map->n_items++] = (struct pm_interval){low, high, depth, value};
}

static bool wins(const struct sweep *s, uint32_t a, uint32_t b)
{
    const struct pm_interval *x = &s->items[a], *y = &s->items[b];
    if (x->depth != y->depth)
        return x->depth > y->depth;
    if (x->high - x->low != y->high - y->low)
        return x->high - x->low < y->high - y->low;
    return x->value < y->value;
}

static void push(struct sweep *s, uint32_t item)
{
    uint32_t at = s->n++;
    for (; at > 0 && wins(s, item, s->heap[(at - 1) / 2]); at = (at - 1) / 2)
        s->heap[at] = s->heap[(at - 1) / 2];
    s->heap[at] = item;
}

static void pop(struct sweep *s)
{
    uint32_t item = s->heap[--s->n], at = 0;
    for (uint32_t child; (child = 2 * at + 1) < s->n; at = child) {
        if (child + 1 < s->n && wins(s, s->heap[child + 1], s->heap[child]))
            child++;
        if (!wins(s, s->heap[child], item))
            break;
        s->heap[at] = s->heap[child];
    }
    s->heap[at] = item;
}

static int by_low(const void *a, const void *b)
{
    const struct pm_interval *x = a, *y = b;
    if (x->low != y->low)
        return x->low < y->low ? -1 : 1;
    if (x->high != y->high)
        return x->high < y->high ? -1 : 1;
    return x->value < y->value ? -1 : x->value > y->value;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void sweep(struct pm_intervals *map, uint32_t *heap, const uint64_t *ends, size_t n_ends)
{
    struct sweep s = {map->items, heap, 0};
    uint32_t next = 0;
    for (size_t i = 0; i < n_ends; i++) {
        uint64_t at = ends[i];
        if (i > 0 && at == ends[i - 1])
            continue;
        for (; next < map->n_items && map->items[next].low == at; next++)
            push(&s, next);
        while (s.n > 0 && map->items[s.heap[0]].high <= at)
            pop(&s);
        uint32_t winner = s.n > 0 ? s.heap[0] : UINT32_MAX;
        if (map->n_cuts == 0 || map->cuts[map->n_cuts - 1].winner != winner)
            map->cuts[map->n_cuts++] = (struct pm_intervals_cut){at, winner};
    }
}

bool pm_intervals_finish(struct pm_intervals *map)
{
    size_t n = map->n_items;
    free(map->cuts);
    map->cuts = NULL;
    map->n_cuts = 0;
    if (n == 0 || map->failed)
        return !map->failed;
    qsort(map->items, n, sizeof *map->items, by_low);
    uint64_t *ends = pm_alloc_array(2 * n, sizeof *ends);
    uint32_t *heap = pm_alloc_array(n, sizeof *heap);
    map->cuts = pm_alloc_array(2 * n, sizeof *map->cuts);
    map->failed = !ends || !heap || !map->cuts;
    if (!map->failed) {
        for (size_t i = 0; i < n; i++) {
            ends[2 * i] = map->items[i].low;
            ends[2 * i + 1] = map->items[i].high;
        }
        qsort(ends, 2 * n, sizeof *ends, by_value);
        sweep(map, heap, ends, 2 * n);
    }
    free(ends);
    free(heap);
    return !map->failed;
}

const struct pm_interval *pm_intervals_find(const struct pm_intervals *map, uint64_t address)
{
    uint32_t low = 0, high = map->n_cuts;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (map->cuts[middle].low <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || map->cuts[low - 1].winner == UINT32_MAX)
        return NULL;
    return &map->items[map->cuts[low - 1].winner];
}

void pm_intervals_release(struct pm_intervals *map)
{
    free(map->items);
    free(map->cuts);
    *map = (struct pm_intervals){0};
}
