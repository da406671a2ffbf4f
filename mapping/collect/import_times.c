/* Costs by bucket of time. How long the profile is nobody knows before its end: buckets begin at a
 * millisecond, and become twice as long whenever there are too many of them, or of cells. */
#include "import_times.h"

#include "collector.h"
#include "writer.h"

#include "mapping/archive/cost_times.h"

#include <stdlib.h>

enum {
    FIRST_SHIFT = 20, /* 2^20 ns */
    MAX_BUCKETS = 512,
    MAX_CELLS = 1 << 21, /* 64 MiB */
    FIRST_CELLS = 1024,
};

struct cell {
    uint32_t metric, thread, context, bucket; /* metric 0: free */
    uint64_t value;
};

struct import_times {
    struct collector *c;
    struct cell *cells; /* by hash; at most half full */
    uint32_t n, size;
    unsigned shift;
    uint64_t first, last; /* numbers of buckets, since the clock's 0 */
    bool has_first;
};

struct import_times *import_times_new(struct collector *c)
{
    struct import_times *times = pm_alloc(sizeof *times);
    if (times)
        *times = (struct import_times){.c = c, .shift = FIRST_SHIFT};
    return times;
}

void import_times_free(struct import_times *times)
{
    if (times)
        free(times->cells);
    free(times);
}

static struct cell *find(struct cell *cells, uint32_t size, const struct cell *key)
{
    uint64_t hash = ((uint64_t)key->context << 32 | key->bucket) * 0x9e3779b97f4a7c15u;
    hash = (hash ^ hash >> 29 ^ ((uint64_t)key->thread << 16 | key->metric)) * 0xbf58476d1ce4e5b9u;
    for (uint32_t at = (uint32_t)(hash >> 32) & (size - 1);; at = (at + 1) & (size - 1)) {
        struct cell *cell = &cells[at];
        if (!cell->metric || (cell->context == key->context && cell->bucket == key->bucket &&
                              cell->thread == key->thread && cell->metric == key->metric))
            return cell;
    }
}

/* Into a table of that size, in buckets 2^halvings times as long, behind `later` more of them. */
static bool rebuild(struct import_times *times, uint32_t size, unsigned halvings, uint64_t later)
{
    struct cell *cells = pm_alloc_array(size, sizeof *cells);
    uint32_t n = 0;
    if (!cells)
        return false;
    for (uint32_t i = 0; i < times->size; i++) {
        struct cell moved = times->cells[i];
        if (!moved.metric)
            continue;
        moved.bucket = (uint32_t)((moved.bucket + later) >> halvings);
        struct cell *cell = find(cells, size, &moved);
        moved.value += cell->metric ? cell->value : 0;
        n += !cell->metric;
        *cell = moved;
    }
    free(times->cells);
    times->cells = cells;
    times->size = size;
    times->n = n;
    return true;
}

/* Buckets twice as long: their numbers are halved. */
static bool lengthen(struct import_times *times)
{
    uint64_t odd = times->first & 1;
    if (times->size && !rebuild(times, times->size, 1, odd))
        return false;
    times->first >>= 1;
    times->last >>= 1;
    times->shift++;
    return true;
}

static bool is_too_far(const struct import_times *times, uint64_t number)
{
    if (number < times->first)
        return times->last - number >= MAX_BUCKETS;
    return number - times->first >= MAX_BUCKETS;
}

/* The time's bucket, from the first one on, which may be an earlier one from now on. */
static bool bucket_of(struct import_times *times, uint64_t time_ns, uint32_t *ret_bucket)
{
    if (!times->has_first)
        times->first = times->last = time_ns >> times->shift;
    times->has_first = true;
    uint64_t number = time_ns >> times->shift;
    while (is_too_far(times, number)) {
        if (!lengthen(times))
            return false;
        number = time_ns >> times->shift;
    }
    if (number < times->first) {
        if (times->size && !rebuild(times, times->size, 0, times->first - number))
            return false;
        times->first = number;
    }
    times->last = number > times->last ? number : times->last;
    *ret_bucket = (uint32_t)(number - times->first);
    return true;
}

bool import_times_add(struct import_times *times, uint64_t time_ns, uint32_t thread,
                      uint32_t context, uint32_t metric, uint64_t value)
{
    struct cell key = {.metric = metric, .thread = thread, .context = context, .value = value};
    if (!bucket_of(times, time_ns, &key.bucket))
        return false;
    if (times->n >= times->size / 2) {
        bool is_full = times->n >= MAX_CELLS / 2 && times->shift < 60;
        if (is_full && (!lengthen(times) || !bucket_of(times, time_ns, &key.bucket)))
            return false;
        uint32_t size = times->size ? times->size : FIRST_CELLS / 2;
        if (times->n >= times->size / 2 && !rebuild(times, size * 2, 0, 0))
            return false;
    }
    struct cell *cell = find(times->cells, times->size, &key);
    times->n += !cell->metric;
    key.value += cell->metric ? cell->value : 0;
    *cell = key;
    return true;
}

/* --- writing --- */

static int by_list(const void *a, const void *b)
{
    const struct cell *x = a, *y = b;
    if (x->metric != y->metric)
        return x->metric < y->metric ? -1 : 1;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->context != y->context)
        return x->context < y->context ? -1 : 1;
    return x->bucket < y->bucket ? -1 : x->bucket > y->bucket;
}

/* The lists of one metric and thread; *ret_n: of so many cells. */
static bool put_lists(const struct cell *cells, uint32_t n, struct pm_buf *out, uint32_t *ret_n)
{
    double amounts[MAX_BUCKETS];
    uint32_t i = 0, last = 0;
    while (i < n && cells[i].metric == cells[0].metric && cells[i].thread == cells[0].thread) {
        uint32_t context = cells[i].context, end = 0;
        uint64_t timed = 0;
        memset(amounts, 0, sizeof amounts);
        for (; i < n && cells[i].context == context && cells[i].thread == cells[0].thread &&
               cells[i].metric == cells[0].metric;
             i++) {
            amounts[cells[i].bucket] = (double)cells[i].value;
            timed += cells[i].value;
            end = cells[i].bucket + 1;
        }
        pm_cost_times_put(out, context - last, timed, amounts, end);
        last = context;
    }
    *ret_n = i;
    return !out->failed;
}

static enum pm_status write_lists(struct import_times *times, const struct cell *first,
                                  int64_t start_ns, const struct pm_buf *data)
{
    sqlite3_stmt *insert = times->c->writer->statements[INSERT_COST_TIMES];
    bind_number(insert, 1, first->thread);
    bind_number(insert, 2, first->metric);
    sqlite3_bind_int64(insert, 3, start_ns);
    sqlite3_bind_int64(insert, 4, (int64_t)1 << times->shift);
    sqlite3_bind_blob64(insert, 5, data->data, data->len, SQLITE_STATIC);
    return collect_insert(times->c, INSERT_COST_TIMES);
}

enum pm_status import_times_write(struct import_times *times, uint64_t start_ns)
{
    struct pm_buf data = PM_BUF_INIT(1 << 28);
    int64_t first_ns = (int64_t)(times->first << times->shift) - (int64_t)start_ns;
    enum pm_status status = PM_OK;
    uint32_t n = 0, taken;
    for (uint32_t i = 0; i < times->size; i++)
        if (times->cells[i].metric && times->cells[i].value)
            times->cells[n++] = times->cells[i];
    if (n)
        qsort(times->cells, n, sizeof *times->cells, by_list);
    for (uint32_t i = 0; i < n && !status; i += taken) {
        pm_buf_clear(&data);
        if (put_lists(&times->cells[i], n - i, &data, &taken))
            status = write_lists(times, &times->cells[i], first_ns, &data);
        else
            status = collect_no_memory(times->c);
    }
    pm_buf_release(&data);
    times->n = times->size = 0;
    return status;
}
