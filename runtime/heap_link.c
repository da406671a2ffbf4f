/* What libperfmap-heap.so (heap/) asks of the runtime: which context is active, who called, where to write. */
#include "heap/heap.h"
#include "internal.h"
#include "sample.h"
#include "sys.h"

enum { SEARCHED_BYTES = 4096 }; /* of the stack, for a caller with sleds */

static const struct pm_heap_hooks *hooks;

static bool is_measured(void)
{
    if (!*pm_process.alive_mark)
        pm_fork_child(); /* of a clone() that no handler saw */
    return pm_process.file.header != NULL;
}

static bool context(uint64_t sp, struct pm_heap_place *ret_place)
{
    struct pm_tls *t = &pm_tls;
    if (t->state == PM_THREAD_NEW)
        pm_thread_begin(t, pm_tsc());
    if (t->state != PM_THREAD_READY)
        return false;
    const struct pm_node *node = pm_context_at(t, t->slot, sp);
    ret_place->context = node;
    ret_place->node = node->place;
    ret_place->thread = (uint32_t)(t->slot->thread_offset / 64);
    ret_place->generation = pm_places_generation(0);
    return true;
}

/* In the frames below that of the context's function. On a stack that is not the thread's own, its end is known by that frame
 * only. */
static uint64_t caller(uint64_t sp, const struct pm_heap_place *place)
{
    const struct pm_node *node = place->context;
    while (node->loop_depth != 0 && node->parent != NULL)
        node = node->parent;
    uint64_t end = pm_load(node->sp), top = pm_load(pm_tls.slot->root->sp);
    if (sp <= top && (end <= sp || end > top))
        end = top;
    if (end <= sp)
        return 0;
    uint64_t bytes = end - sp;
    return pm_places_caller((const uint8_t *)(sp & ~(uint64_t)7),
                            bytes < SEARCHED_BYTES ? bytes : SEARCHED_BYTES);
}

static void *chunk(enum pm_run_chunk_kind kind, uint64_t size_bytes)
{
    uint64_t offset;
    return pm_file_chunk(kind, size_bytes, 0, &offset);
}

static void limit(const char *text)
{
    pm_file_message(PM_RUN_MSG_LIMIT, text, NULL);
}

/* May come before our own start: the loader allocates. */
PM_EXPORT const struct pm_heap_runtime *pm_heap_open(const struct pm_heap_hooks *ours)
{
    static struct pm_heap_runtime runtime = {.is_measured = is_measured,
                                             .context = context,
                                             .has_sleds = pm_places_has_sleds,
                                             .caller = caller,
                                             .chunk = chunk,
                                             .tsc = pm_tsc,
                                             .limit = limit};
    if (!pm_process.on || !pm_process.heap)
        return NULL;
    runtime.block_bytes = pm_process.heap_block_bytes;
    pm_store(hooks, ours);
    return &runtime;
}

/* The thread that forks, between the handlers. */
static const struct pm_tls *forking;

void pm_heap_before_fork(void)
{
    if (hooks == NULL)
        return;
    hooks->before_fork();
    forking = &pm_tls;
}

void pm_heap_in_parent(void)
{
    if (hooks == NULL)
        return;
    forking = NULL;
    hooks->in_parent();
}

void pm_heap_fork_child(void)
{
    if (hooks != NULL)
        hooks->in_child(forking == &pm_tls);
    forking = NULL;
}
