/* When samples were taken, in the run file: what each item of a thread's samples got in each bucket
 * of the thread's time. There are at most PM_RUN_TIMES_BUCKETS of these: then pairs of them become
 * one (the folding histogram of Paradyn: Hollingsworth, Miller, Cargille, 1994), which is written
 * into another chunk, so that the file is valid at each instant. A bucket takes 16 bytes for each
 * different item in it, so a thread needs no more than for its samples, and not more than
 * MOST_BYTES: where its samples differ so much, buckets become fewer.
 *
 * What was off the CPU for many buckets is in its first and its last one, and an entry for all
 * between.
 */
#include "runtime/base/file.h"
#include "runtime/sample/sample.h"

#include <string.h>

enum {
    GROWTH = 4,
    FIRST_SHIFT = 20, /* buckets of 1.05 ms */
    MOST_SHIFT = 50,
    ADDED_ENTRIES = 3,                 /* at once */
    MOST_BYTES = 8 << 20,              /* of a thread; and as much for the chunk before */
    MOST_BYTES_OF_PROCESS = 128 << 20, /* beyond, no thread gets more than its first */
    LAST_BUCKET = PM_RUN_TIMES_BUCKETS - 1,
    MOST_NUMBERS = 1 << PM_RUN_TIMES_NUMBER_BITS,
};

static uint64_t bytes_of_process;

static struct pm_run_time *entries_of(const struct pm_run_times *chunk)
{
    return (struct pm_run_time *)((char *)(uintptr_t)chunk + PM_RUN_TIMES_DATA);
}

static uint32_t capacity_of(const struct pm_run_times *chunk)
{
    return (uint32_t)((chunk->chunk.size_bytes - PM_RUN_TIMES_DATA) / sizeof(struct pm_run_time));
}

/* value * part / all, in 64 bits: to a millionth where these are large. */
static uint64_t part_of(uint64_t value, uint64_t part, uint64_t all)
{
    enum { FEW_BITS = 24 };
    if (value == all || all == 0)
        return all == 0 ? value : part;
    for (; all >> FEW_BITS != 0; part >>= 1)
        all >>= 1;
    return value >> (64 - FEW_BITS) == 0 ? value * part / all : value / all * part;
}

/* --- entries --- */

/* Where entries are added: the chunk that counts, or its successor. */
struct filling {
    struct pm_store *store;
    struct pm_run_time *entries;
    uint32_t n, capacity;
};

/* What is not finished does not count: value comes into an entry that is complete. */
static void add_entry(struct filling *f, struct pm_run_time added, uint32_t number)
{
    uint32_t *last = &f->store->last_time[number];
    struct pm_run_time *entry = *last < f->n ? &f->entries[*last] : NULL;
    if (added.value == 0 && added.n_samples == 0)
        return;
    if (entry != NULL && entry->place == added.place && entry->n_more == added.n_more &&
        (uint32_t)entry->n_samples + added.n_samples <= UINT16_MAX) {
        pm_store(entry->n_samples, (uint16_t)(entry->n_samples + added.n_samples));
        pm_add_own(&entry->value, added.value);
        return;
    }
    if (f->n == f->capacity)
        return;
    f->entries[f->n] = added;
    *last = f->n++;
}

static struct pm_run_time entry_of(uint32_t bucket, uint32_t n_more, uint32_t number,
                                   uint64_t n_samples, uint64_t value)
{
    return (struct pm_run_time){.value = value,
                                .place = bucket << PM_RUN_TIMES_NUMBER_BITS | number,
                                .n_samples =
                                    (uint16_t)(n_samples < UINT16_MAX ? n_samples : UINT16_MAX),
                                .n_more = (uint16_t)n_more};
}

/* --- folding --- */

/* An entry of the old buckets, 2^by of which are one now. skipped: the part of the new first bucket
 * that is before the old one. The ends of an entry that is spread may be in buckets that it fills
 * in part. */
static void fold_entry(struct filling *f, const struct pm_run_time *old, unsigned by,
                       uint32_t skipped)
{
    uint32_t number = old->place & (MOST_NUMBERS - 1u), size = 1u << by;
    uint32_t first = skipped + (old->place >> PM_RUN_TIMES_NUMBER_BITS),
             behind = first + old->n_more + 1u;
    uint32_t full = (first + size - 1) >> by, full_end = behind >> by;
    uint64_t left = old->value, n_all = old->n_more + 1u;
    if (old->n_more == 0 || first >> by == (behind - 1) >> by) {
        add_entry(f, entry_of(first >> by, 0, number, old->n_samples, old->value), number);
        return;
    }
    uint64_t before = part_of(old->value, (full << by) - first, n_all);
    uint64_t after = part_of(old->value, behind - (full_end << by), n_all);
    left -= before + after <= left ? before + after : left;
    add_entry(f, entry_of(first >> by, 0, number, 0, before), number);
    if (full_end > full)
        add_entry(f, entry_of(full, full_end - full - 1, number, 0, left), number);
    else
        after += left;
    add_entry(f, entry_of(full_end, 0, number, old->n_samples, after), number);
}

static struct pm_run_times *chunk_of(struct pm_times *times, uint64_t thread_offset, uint64_t bytes)
{
    uint64_t offset;
    struct pm_run_times *spare = times->spare;
    if (spare != NULL && spare->chunk.size_bytes >= bytes) {
        times->spare = NULL;
        return spare;
    }
    pm_add_shared(bytes_of_process, bytes);
    return pm_file_chunk(PM_RUN_CHUNK_TIMES, bytes, thread_offset, &offset);
}

/* Writes all into another chunk, and then makes that the one that counts. */
static bool rewrite(struct pm_store *store, uint64_t thread_offset, unsigned by, uint64_t bytes)
{
    struct pm_times *times = &store->times;
    struct pm_run_times *old = times->chunk, *new = chunk_of(times, thread_offset, bytes);
    if (new == NULL)
        return false;
    struct filling f = {.store = store, .entries = entries_of(new), .capacity = capacity_of(new)};
    uint32_t skipped = (uint32_t)(old->first & (((uint64_t)1 << by) - 1));
    for (uint32_t i = 0; i < times->n; i++)
        fold_entry(&f, &entries_of(old)[i], by, skipped);
    new->first = old->first >> by;
    new->shift = old->shift + by;
    new->chunk.n_items = f.n;
    pm_barrier();
    pm_store(new->serial, old->serial + 1);
    times->spare = old;
    times->chunk = new;
    times->n = f.n;
    times->capacity = f.capacity;
    return true;
}

/* Where the samples are. */
static void begin(struct pm_store *store, uint64_t from_ns)
{
    struct pm_times *times = &store->times;
    struct pm_run_times *chunk = times->first;
    chunk->first = from_ns >> FIRST_SHIFT;
    chunk->shift = FIRST_SHIFT;
    pm_barrier();
    pm_store(chunk->serial, 1);
    times->chunk = chunk;
    times->capacity = capacity_of(chunk);
}

/* How often buckets have to be folded until the last of them reaches so far. */
static unsigned n_folds(const struct pm_run_times *chunk, uint64_t until_ns)
{
    unsigned by = 0;
    while (chunk->shift + by < MOST_SHIFT &&
           (until_ns >> (chunk->shift + by)) > (chunk->first >> by) + LAST_BUCKET)
        by++;
    return by;
}

/* Larger, while there may be more; else buckets become fewer. */
static bool make_space(struct pm_store *store, uint64_t thread_offset)
{
    struct pm_times *times = &store->times;
    uint64_t bytes = times->chunk->chunk.size_bytes;
    bool may_grow = bytes * GROWTH <= MOST_BYTES &&
                    pm_load(bytes_of_process) + bytes * GROWTH <= MOST_BYTES_OF_PROCESS;
    if (may_grow)
        return rewrite(store, thread_offset, 0, bytes * GROWTH);
    while (times->n + ADDED_ENTRIES > times->capacity / 2 && times->chunk->shift < MOST_SHIFT)
        if (!rewrite(store, thread_offset, 1, bytes))
            return false;
    return times->n + ADDED_ENTRIES <= times->capacity;
}

/* Room for some entries, and buckets up to that time. */
static bool make_ready(struct pm_store *store, uint64_t thread_offset, const struct pm_when *when)
{
    struct pm_times *times = &store->times;
    if (times->chunk == NULL)
        begin(store, when->from_ns);
    unsigned by = n_folds(times->chunk, when->until_ns);
    if (by != 0 && !rewrite(store, thread_offset, by, times->chunk->chunk.size_bytes))
        return false;
    return times->n + ADDED_ENTRIES <= times->capacity || make_space(store, thread_offset);
}

static uint32_t bucket_at(const struct pm_run_times *chunk, uint64_t time_ns)
{
    uint64_t at = time_ns >> chunk->shift;
    uint64_t bucket = at > chunk->first ? at - chunk->first : 0;
    return (uint32_t)(bucket < LAST_BUCKET ? bucket : LAST_BUCKET);
}

/* From time to time: the ends of that take part in two buckets, and fill those between. */
static void spread(struct filling *f, const struct pm_run_times *chunk, uint32_t number,
                   const struct pm_when *when, uint64_t n_samples, uint64_t value)
{
    uint32_t first = bucket_at(chunk, when->from_ns), last = bucket_at(chunk, when->until_ns);
    uint64_t all_ns = when->until_ns - when->from_ns, size_ns = (uint64_t)1 << chunk->shift;
    if (when->from_ns >= when->until_ns || first == last) {
        add_entry(f, entry_of(last, 0, number, n_samples, value), number);
        return;
    }
    uint64_t second_ns = (chunk->first + first + 1) << chunk->shift;
    uint64_t before = part_of(value, second_ns - when->from_ns, all_ns);
    uint64_t between = part_of(value, (last - first - 1) * size_ns, all_ns);
    before = before < value ? before : value;
    between = between < value - before ? between : value - before;
    add_entry(f, entry_of(first, 0, number, 0, before), number);
    if (last - first > 1)
        add_entry(f, entry_of(first + 1, last - first - 2, number, 0, between), number);
    else
        between = 0;
    add_entry(f, entry_of(last, 0, number, n_samples, value - before - between), number);
}

void pm_times_add(struct pm_store *store, uint64_t thread_offset, uint32_t number,
                  const struct pm_when *when, uint64_t n_samples, uint64_t value)
{
    struct pm_times *times = &store->times;
    if (times->stopped || number >= MOST_NUMBERS || when->until_ns == 0)
        return;
    if (!make_ready(store, thread_offset, when)) {
        times->stopped = true;
        return;
    }
    struct filling f = {store, entries_of(times->chunk), times->n, times->capacity};
    spread(&f, times->chunk, number, when, n_samples, value);
    times->n = f.n;
    pm_barrier();
    pm_store(times->chunk->chunk.n_items, f.n);
}

void pm_times_fork_child(void)
{
    bytes_of_process = 0;
}
