/* Blocks of the heap in a run file: by the place that allocated them, and large ones. Every
 * index is checked here. */
#include "run_internal.h"

#include <stdlib.h>

static uint64_t at_most(uint64_t n, uint64_t most)
{
    return n < most ? n : most;
}

/* In a file of a process that was killed a counter may be one ahead of another. */
static void take_site(struct pm_run_file *file, const struct run_object_order *order,
                      const struct pm_run_heap_site *raw, size_t *n_without_context,
                      struct pm_run_file_heap_site *ret_site)
{
    uint32_t thread = 0, node = 0;
    if (raw->thread != 0 && !run_find_thread(file, (uint64_t)raw->thread * 64, &thread)) {
        (*n_without_context)++;
        thread = 0;
    } else if (raw->node != 0 &&
               !run_find_node(&file->loads[thread], (uint64_t)raw->node * 64, &node)) {
        (*n_without_context)++;
        node = 0;
    }
    *ret_site = (struct pm_run_file_heap_site){
        .thread = thread,
        .node = node,
        .caller_sure = raw->flags & PM_RUN_HEAP_CALLER_SURE,
        .n_allocations = raw->n_allocations,
        .allocated_bytes = raw->allocated_bytes,
        .n_freed = at_most(raw->n_freed, raw->n_allocations),
        .freed_bytes = at_most(raw->freed_bytes, raw->allocated_bytes),
        .peak_bytes = raw->peak_bytes,
        .life_ns = raw->life_tsc, /* ticks, until there are times */
        .least_bytes = raw->n_allocations ? raw->least_bytes : 0,
        .most_bytes = raw->most_bytes,
    };
    run_take_place(file, order, raw->caller ? raw->caller - 1 : 0, raw->generation,
                   &ret_site->object, &ret_site->caller);
}

/* Items of a chunk; *ret_n 0 when they cannot be read. NULL: memory. */
static void *read_items(struct pm_run_file *file, const struct run_source *source,
                        const struct run_chunk *chunk, size_t item_bytes, const char *what,
                        uint64_t *ret_n)
{
    uint64_t n = run_fit_items(file, chunk, PM_RUN_HEAP_DATA, item_bytes, what);
    void *items = pm_alloc_array(n, item_bytes);
    if (items && n &&
        !run_read_at(source, chunk->offset + PM_RUN_HEAP_DATA, items, n * item_bytes)) {
        run_complain(file, chunk->offset, "%llu %s cannot be read", (unsigned long long)n, what);
        n = 0;
    }
    *ret_n = n;
    return items;
}

static enum pm_status load_sites(struct pm_run_file *file, const struct run_source *source,
                                 const struct run_object_order *order,
                                 const struct run_chunk *chunk, struct pm_error *err)
{
    uint64_t n;
    if (file->n_threads == 0) {
        run_complain(file, chunk->offset, "places of allocations, and no thread in the file");
        return PM_OK;
    }
    struct pm_run_heap_site *raw =
        read_items(file, source, chunk, sizeof *raw, "places of allocations", &n);
    struct pm_run_file_heap_site *sites =
        raw ? pm_realloc_array(file->heap_sites, file->n_heap_sites + n, sizeof *sites) : NULL;
    if (sites)
        file->heap_sites = sites;
    uint32_t *numbers =
        sites ? pm_realloc_array(file->heap_numbers, file->n_heap_sites + n, sizeof *numbers)
              : NULL;
    if (!numbers) {
        free(raw);
        return run_no_memory(file, err);
    }
    file->heap_numbers = numbers;
    size_t n_without_context = 0;
    for (uint64_t i = 0; i < n; i++) {
        numbers[file->n_heap_sites] = raw[i].number;
        take_site(file, order, &raw[i], &n_without_context, &sites[file->n_heap_sites++]);
    }
    free(raw);
    if (n_without_context)
        run_complain(
            file, chunk->offset,
            "%zu places of allocations have a context that is not there; they count to the "
            "thread",
            n_without_context);
    return PM_OK;
}

static bool number_is_before(const void *item, const void *number)
{
    return *(const uint32_t *)item < *(const uint32_t *)number;
}

/* Numbers rise in the order of the file. */
static bool find_site(const struct pm_run_file *file, uint32_t number, uint32_t *ret_site)
{
    size_t at = pm_lower_bound(file->heap_numbers, file->n_heap_sites, sizeof number, &number,
                               number_is_before);
    *ret_site = (uint32_t)at;
    return at < file->n_heap_sites && file->heap_numbers[at] == number;
}

static enum pm_status load_blocks(struct pm_run_file *file, const struct run_source *source,
                                  const struct run_chunk *chunk, struct pm_error *err)
{
    uint64_t n;
    struct pm_run_heap_block *raw = read_items(file, source, chunk, sizeof *raw, "blocks", &n);
    struct pm_run_file_heap_block *blocks =
        raw ? pm_realloc_array(file->heap_blocks, file->n_heap_blocks + n, sizeof *blocks) : NULL;
    if (!blocks) {
        free(raw);
        return run_no_memory(file, err);
    }
    file->heap_blocks = blocks;
    size_t n_unknown = 0;
    for (uint64_t i = 0; i < n; i++) {
        uint32_t site;
        if (!find_site(file, raw[i].site, &site)) {
            n_unknown++;
            continue;
        }
        run_note_tsc(file, raw[i].allocated_tsc);
        run_note_tsc(file, raw[i].freed_tsc);
        blocks[file->n_heap_blocks++] = (struct pm_run_file_heap_block){
            .site = site,
            .address = raw[i].address,
            .size_bytes = raw[i].size_bytes,
            .is_freed = raw[i].freed_tsc != 0,
            .allocated_ns = raw[i].allocated_tsc, /* ticks, until there are times */
            .freed_ns = raw[i].freed_tsc,
        };
    }
    free(raw);
    if (n_unknown)
        run_complain(file, chunk->offset, "%zu blocks are of no place", n_unknown);
    return PM_OK;
}

enum pm_status run_load_heap(struct pm_run_file *file, const struct run_source *source,
                             const struct run_chunks *list, struct pm_error *err)
{
    struct run_object_order order = {0};
    enum pm_status status = PM_OK;
    if (run_count_kind(list, PM_RUN_CHUNK_HEAP_SITES) && !run_order_objects(file, &order)) {
        status = run_no_memory(file, err);
        goto out;
    }
    for (size_t i = 0; i < list->n; i++) {
        if (list->chunks[i].kind == PM_RUN_CHUNK_HEAP_SITES)
            status = load_sites(file, source, &order, &list->chunks[i], err);
        if (status != PM_OK)
            goto out;
    }
    for (size_t i = 0; i < list->n; i++) {
        if (list->chunks[i].kind == PM_RUN_CHUNK_HEAP_BLOCKS)
            status = load_blocks(file, source, &list->chunks[i], err);
        if (status != PM_OK)
            goto out;
    }
out:
    run_order_release(&order);
    free(file->heap_numbers);
    file->heap_numbers = NULL;
    return status;
}

void run_make_heap_times(struct pm_run_file *file)
{
    for (size_t i = 0; i < file->n_heap_sites; i++)
        file->heap_sites[i].life_ns = pm_run_file_to_ns(file, file->heap_sites[i].life_ns);
    for (size_t i = 0; i < file->n_heap_blocks; i++) {
        struct pm_run_file_heap_block *block = &file->heap_blocks[i];
        block->allocated_ns = run_since_start(file, block->allocated_ns);
        block->freed_ns = block->is_freed ? run_since_start(file, block->freed_ns) : 0;
    }
}

size_t pm_run_file_n_heap_sites(const struct pm_run_file *file)
{
    return file->n_heap_sites;
}

const struct pm_run_file_heap_site *pm_run_file_heap_site(const struct pm_run_file *file,
                                                          size_t index)
{
    PM_ASSERT(index < file->n_heap_sites);
    return &file->heap_sites[index];
}

size_t pm_run_file_n_heap_blocks(const struct pm_run_file *file)
{
    return file->n_heap_blocks;
}

const struct pm_run_file_heap_block *pm_run_file_heap_block(const struct pm_run_file *file,
                                                            size_t index)
{
    PM_ASSERT(index < file->n_heap_blocks);
    return &file->heap_blocks[index];
}
