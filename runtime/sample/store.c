/* Samples in the run file: equal ones are one item of 40 bytes with a count and a time. A thread
 * that is sampled for a minute has some thousand different ones. The table that finds them is
 * private memory. */
#include "runtime/base/file.h"
#include "runtime/base/sys.h"
#include "runtime/sample/sample.h"

#include <string.h>
#include <sys/mman.h>

enum {
    FIRST_CHUNK_BYTES = 8 * 1024,
    TIMES_BYTES = 4 * 1024, /* of that, for the times of a thread that is brief */
    LARGEST_CHUNK_BYTES = 256 * 1024,
    FIRST_INDEX_ENTRIES = 256, /* a page */
    /* 5 MiB. Beyond, only contexts are told apart. */
    MAX_ITEMS = 1 << 17,
};

static bool same_key(const struct pm_run_sample *a, const struct pm_run_sample *b)
{
    return a->address == b->address && a->caller == b->caller && a->node == b->node &&
           a->generation == b->generation && a->kind == b->kind && a->flags == b->flags;
}

static uint32_t find_place(const struct pm_store *store, const struct pm_run_sample *key)
{
    uint64_t hash = key->address * 0x9e3779b97f4a7c15u;
    hash = (hash ^ hash >> 29 ^ key->caller) * 0xc2b2ae3d27d4eb4fu;
    hash = (hash ^ hash >> 31 ^
            ((uint64_t)key->node << 32 | (uint64_t)key->generation << 8 | key->kind)) *
           0x9e3779b97f4a7c15u;
    for (uint32_t at = (uint32_t)(hash >> 32) & store->mask;; at = (at + 1) & store->mask)
        if (store->index[at] == 0 || same_key(store->items[store->index[at] - 1], key))
            return at;
}

static size_t bytes_for(uint32_t n_entries)
{
    return n_entries * (sizeof(uint32_t) + sizeof(struct pm_run_sample *) + sizeof(uint32_t));
}

/* At most half full. */
static bool make_room(struct pm_store *store)
{
    uint32_t n_old = store->index != NULL ? store->mask + 1 : 0;
    if (store->index != NULL && store->n < n_old / 2)
        return true;
    uint32_t n_new = n_old != 0 ? n_old * 2 : FIRST_INDEX_ENTRIES;
    struct pm_run_sample **old = store->items, **items = pm_private_memory(bytes_for(n_new));
    if (items == NULL)
        return store->n + 1 < n_old; /* slower and slower, yet right */
    uint32_t *last_time = (uint32_t *)(items + n_new);
    for (uint32_t i = 0; i < store->n; i++) {
        items[i] = old[i];
        last_time[i] = store->last_time[i];
    }
    store->items = items;
    store->last_time = last_time;
    store->index = last_time + n_new;
    store->mask = n_new - 1;
    for (uint32_t i = 0; i < store->n; i++)
        store->index[find_place(store, items[i])] = i + 1;
    if (old != NULL)
        pm_sys(SYS_munmap, old, bytes_for(n_old));
    return true;
}

static struct pm_run_sample *append(struct pm_store *store, uint64_t thread_offset, bool has_times,
                                    const struct pm_run_sample *key)
{
    if (store->chunk == NULL || store->chunk->n_items == store->capacity) {
        uint64_t offset, bytes = store->chunk != NULL ? store->chunk->size_bytes * 2 : 0;
        bytes = bytes < FIRST_CHUNK_BYTES     ? FIRST_CHUNK_BYTES
                : bytes > LARGEST_CHUNK_BYTES ? LARGEST_CHUNK_BYTES
                                              : bytes;
        struct pm_run_chunk *chunk =
            pm_file_chunk(PM_RUN_CHUNK_SAMPLES, bytes, thread_offset, &offset);
        if (chunk == NULL)
            return NULL;
        uint64_t end = chunk->size_bytes;
        if (has_times && store->chunk == NULL) {
            end = chunk->size_bytes - TIMES_BYTES;
            chunk->times_offset = (uint32_t)end;
            store->times.first = (struct pm_run_times *)((char *)chunk + end);
            store->times.first->chunk.size_bytes = TIMES_BYTES;
        }
        chunk->first_number_plus_1 = has_times ? store->n + 1 : 0;
        store->chunk = chunk;
        store->capacity = (end - PM_RUN_SAMPLES_DATA) / sizeof(struct pm_run_sample);
    }
    struct pm_run_chunk *chunk = store->chunk;
    struct pm_run_sample *item =
        (struct pm_run_sample *)((char *)chunk + PM_RUN_SAMPLES_DATA) + chunk->n_items;
    *item = *key;
    pm_barrier();
    pm_store(chunk->n_items, chunk->n_items + 1);
    return item;
}

static void say_full(void)
{
    static uint32_t said;
    if (pm_add_shared(said, 1) == 0)
        pm_file_message(
            PM_RUN_MSG_LIMIT,
            "a thread has more than 131072 different samples: of those that came later only "
            "the context is known; a lower --rate helps",
            NULL);
}

bool pm_store_add(struct pm_store *store, uint64_t thread_offset, const struct pm_when *when,
                  const struct pm_run_sample *added, struct pm_run_sample **ret_item)
{
    struct pm_run_sample key = *added;
    if (!make_room(store))
        return false;
    uint32_t at = find_place(store, &key);
    bool has_place = key.kind != PM_RUN_SAMPLE_COST && (key.address | key.caller) != 0;
    if (store->index[at] == 0 && store->n >= MAX_ITEMS && has_place) {
        say_full();
        key.address = key.caller = 0;
        at = find_place(store, &key);
    }
    if (store->index[at] != 0) {
        struct pm_run_sample *item = store->items[store->index[at] - 1];
        pm_add_own(&item->n_samples, key.n_samples);
        pm_add_own(&item->time_ns, key.time_ns);
    } else {
        struct pm_run_sample *item = append(store, thread_offset, when != NULL, &key);
        if (item == NULL)
            return false;
        store->items[store->n] = item;
        store->index[at] = ++store->n;
    }
    *ret_item = store->items[store->index[at] - 1];
    if (when != NULL)
        pm_times_add(store, thread_offset, store->index[at] - 1, when, key.n_samples, key.time_ns);
    return true;
}

void pm_store_forget(struct pm_store *store)
{
    if (store->items != NULL)
        pm_sys(SYS_munmap, store->items, bytes_for(store->mask + 1));
    *store = (struct pm_store){0};
}
