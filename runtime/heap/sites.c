/* Places that allocate, in the run file: one for each pair of caller and context. Found by a
 * small table of each thread's own, else under a lock. */
#include "heap.h"
#include "runtime/base/sys.h"

#include <sys/mman.h>

enum {
    CACHE_ENTRIES = 64,
    FIRST_ENTRIES = 4096,
    MAX_SITES = 1 << 17, /* 12 MiB */
    MAX_BLOCKS = 4096,
    SITES_BYTES = 32 * 1024,
    BLOCKS_BYTES = 16 * 1024,
};

static struct {
    uint32_t lock;
    uint32_t epoch; /* of the run file: another one in a fork child */
    uint32_t mask, n, n_blocks;
    struct pm_run_heap_site **entries;
    struct pm_run_chunk *sites, *blocks; /* with room, perhaps */
    bool said_sites, said_blocks;
} all;

struct cached {
    uint64_t address;
    const void *context;
    uint64_t when; /* epoch and generation */
    struct pm_run_heap_site *site;
};
static __thread struct cached cache[CACHE_ENTRIES] __attribute__((tls_model("initial-exec")));

static uint64_t hash_of(uint64_t a, uint64_t b)
{
    uint64_t hash = (a ^ b << 20 ^ b >> 7) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

static uint64_t when_of(const struct pm_heap_place *place)
{
    return (uint64_t)all.epoch << 16 | place->generation;
}

static struct cached *cached_at(uint64_t address, const struct pm_heap_place *place)
{
    return &cache[hash_of(address, (uintptr_t)place->context) % CACHE_ENTRIES];
}

static struct pm_run_heap_site *find_cached(uint64_t address, const struct pm_heap_place *place)
{
    const struct cached *entry = cached_at(address, place);
    return entry->address == address && entry->context == place->context &&
                   entry->when == when_of(place)
               ? entry->site
               : NULL;
}

/* --- under the lock --- */

static uint32_t find(const struct pm_heap_place *key)
{
    uint32_t at = (uint32_t)hash_of(key->caller, (uint64_t)key->thread << 32 | key->node);
    for (;; at++) {
        const struct pm_run_heap_site *site = all.entries[at & all.mask];
        if (site == NULL || (site->caller == key->caller && site->node == key->node &&
                             site->thread == key->thread && site->generation == key->generation))
            return at & all.mask;
    }
}

static bool make_room(void)
{
    uint32_t n_old = all.entries != NULL ? all.mask + 1 : 0;
    if (all.n < n_old / 2)
        return true;
    uint32_t n_new = n_old != 0 ? n_old * 2 : FIRST_ENTRIES;
    struct pm_run_heap_site **old = all.entries, **entries = heap_memory(n_new * sizeof *entries);
    if (entries == NULL)
        return all.n + 1 < n_old;
    all.entries = entries;
    all.mask = n_new - 1;
    for (uint32_t i = 0; i < n_old; i++)
        if (old[i] != NULL) {
            struct pm_heap_place key = {.caller = old[i]->caller,
                                        .node = old[i]->node,
                                        .thread = old[i]->thread,
                                        .generation = old[i]->generation};
            entries[find(&key)] = old[i];
        }
    if (old != NULL)
        pm_sys(SYS_munmap, old, n_old * sizeof *old);
    return true;
}

/* Room for one more item at the end of a chunk; NULL: the file cannot grow. */
static void *next_item(struct pm_run_chunk **chunk, enum pm_run_chunk_kind kind, uint64_t bytes,
                       uint64_t item_bytes)
{
    if (*chunk == NULL || PM_RUN_HEAP_DATA + ((*chunk)->n_items + 1) * item_bytes > bytes) {
        struct pm_run_chunk *next = heap_runtime->chunk(kind, bytes);
        if (next == NULL)
            return NULL;
        *chunk = next;
    }
    return (char *)*chunk + PM_RUN_HEAP_DATA + (*chunk)->n_items * item_bytes;
}

static void complete_item(struct pm_run_chunk *chunk)
{
    __atomic_store_n(&chunk->n_items, chunk->n_items + 1, __ATOMIC_RELEASE);
}

static struct pm_run_heap_site *add(const struct pm_heap_place *place)
{
    struct pm_run_heap_site *site = next_item(&all.sites, PM_RUN_CHUNK_HEAP_SITES, SITES_BYTES,
                                              sizeof(struct pm_run_heap_site));
    if (site == NULL)
        return NULL;
    *site = (struct pm_run_heap_site){.caller = place->caller,
                                      .node = place->node,
                                      .thread = place->thread,
                                      .number = all.n++,
                                      .generation = place->generation,
                                      .flags = place->is_sure ? PM_RUN_HEAP_CALLER_SURE : 0,
                                      .least_bytes = UINT64_MAX};
    complete_item(all.sites);
    return site;
}

static struct pm_run_heap_site *find_or_add(struct pm_heap_place *place)
{
    struct pm_run_heap_site *site = NULL;
    heap_lock(&all.lock);
    if (make_room()) {
        uint32_t at = find(place);
        if (all.entries[at] == NULL && all.n >= MAX_SITES) {
            if (!all.said_sites)
                heap_runtime->limit("more than 131072 pairs of call path and allocation were seen: "
                                    "blocks of later ones have no place; --max-contexts helps");
            all.said_sites = true;
            *place = (struct pm_heap_place){0};
            at = find(place);
        }
        if (all.entries[at] == NULL)
            all.entries[at] = add(place);
        site = all.entries[at];
    }
    heap_unlock(&all.lock);
    return site;
}

/* --- for heap.c --- */

/* A caller with sleds is known at once; for others (operator new, a vector's functions) the
 * stack is searched. */
struct pm_run_heap_site *heap_site(uint64_t return_address, uint64_t sp)
{
    struct pm_heap_place place = {0};
    if (!heap_runtime->context(sp, &place))
        return NULL;
    struct pm_run_heap_site *site = find_cached(return_address, &place);
    if (site != NULL)
        return site;
    place.is_sure = heap_runtime->is_active_code(return_address, &place);
    place.caller =
        place.is_sure ? return_address : heap_runtime->caller(return_address, sp, &place);
    if (!place.is_sure && (site = find_cached(place.caller, &place)) != NULL)
        return site;
    struct cached entry = {place.caller, place.context, when_of(&place), NULL};
    struct cached *where = cached_at(place.caller, &place);
    entry.site = find_or_add(&place);
    if (entry.site != NULL)
        *where = entry;
    return entry.site;
}

struct pm_run_heap_block *heap_block(const struct pm_run_heap_site *site, uint64_t address,
                                     uint64_t size_bytes, uint64_t tsc)
{
    if (size_bytes < heap_runtime->block_bytes)
        return NULL;
    struct pm_run_heap_block *block = NULL;
    heap_lock(&all.lock);
    if (all.n_blocks < MAX_BLOCKS)
        block = next_item(&all.blocks, PM_RUN_CHUNK_HEAP_BLOCKS, BLOCKS_BYTES, sizeof *block);
    else if (!all.said_blocks)
        heap_runtime->limit(
            "more than 4096 blocks of the heap are large: later ones are only added "
            "up by place; a larger --heap-min helps");
    all.said_blocks |= all.n_blocks >= MAX_BLOCKS;
    if (block != NULL) {
        *block = (struct pm_run_heap_block){.address = address,
                                            .size_bytes = size_bytes,
                                            .allocated_tsc = tsc,
                                            .site = site->number};
        complete_item(all.blocks);
        all.n_blocks++;
    }
    heap_unlock(&all.lock);
    return block;
}

void heap_sites_lock(void)
{
    heap_lock(&all.lock);
}

void heap_sites_unlock(void)
{
    heap_unlock(&all.lock);
}

void heap_sites_forget(void)
{
    all.epoch++;
    all.n = all.n_blocks = 0;
    all.sites = all.blocks = NULL;
    all.said_sites = all.said_blocks = false;
    if (all.entries != NULL)
        pm_sys(SYS_madvise, all.entries, (all.mask + 1ul) * sizeof *all.entries, MADV_DONTNEED);
}
