/* What libperfmap-heap.so (heap/) asks of the runtime: which context is active, who called,
 * where to write. */
#include "runtime/base/clock.h"
#include "runtime/base/file.h"
#include "runtime/base/upward.h"
#include "runtime/tree/ambient.h"
#include "runtime/tree/noun.h"
#include "runtime/code/places.h"
#include "runtime/sample/sample.h"
#include "runtime/guest/guest.h"
#include "runtime/heap/heap.h"

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
    pm_ambient_look(t);
    const struct pm_node *node = pm_context_at(t, t->slot, sp);
    ret_place->context = node;
    ret_place->node = node->place;
    ret_place->thread = (uint32_t)(t->slot->thread_offset / 64);
    ret_place->generation = pm_places_generation(0);
    return true;
}

/* --- callers --- */

static const struct pm_node *function_of(const struct pm_heap_place *place)
{
    const struct pm_node *node = place->context;
    while (node->loop_depth != 0 && node->parent != NULL)
        node = node->parent;
    return node;
}

static const struct pm_object *object_at(uint64_t address)
{
    uint32_t n = pm_load(pm_n_objects);
    for (uint32_t i = 0; i < n; i++) {
        const struct pm_object *o = pm_load(pm_objects[i]);
        if (o != NULL && o->loaded && address >= o->low && address < o->high)
            return o;
    }
    return NULL;
}

/* The last entry sled before the address; NULL: none. */
static const struct pm_sled *entered_before(const struct pm_object *o, uint64_t address)
{
    uint32_t low = 0, high = o->sleds != NULL ? o->n_sleds : 0;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (o->sleds[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    while (low > 0 && o->sleds[low - 1].kind != PM_SLED_ENTRY)
        low--;
    return low > 0 ? &o->sleds[low - 1] : NULL;
}

static uint64_t function_start(uint64_t address)
{
    struct pmr_place place;
    return pm_places_find(address, &place) ? pm_unwind_function(&place.tables, address) : 0;
}

/* Is this code of the function that is active, as far as sleds tell? Objects with sleds have
 * functions without: what the compiler makes of a library's headers. These are like those of
 * libraries. */
static bool is_active_code(uint64_t address, const struct pm_heap_place *place)
{
    const struct pm_object *o = object_at(address - 1);
    if (o == NULL || o->portable)
        return o != NULL;
    const struct pm_sled *sled = entered_before(o, address);
    if (sled == NULL || sled->noun >= o->n_nouns || function_start(address - 1) > sled->address)
        return false;
    uint32_t noun = o->first_noun + sled->noun;
    return noun == function_of(place)->noun || pm_noun_is_disarmed(noun);
}

/* --- is it a return address? --- */

enum { MAX_FRAME_BYTES = 0x7ffff, KNOWN_FRAMES = 512 }; /* of 8 bytes: 16 bits */

/* Frames that have been looked up: address << 16 | bytes / 8 + 1, each in one word, for several
 * threads write here at once. What is loaded where other code was has another place. */
static uint64_t known_frames[KNOWN_FRAMES];

static uint64_t frame_bytes(uint64_t return_address, uint16_t generation)
{
    uint64_t *known = &known_frames[(return_address ^ generation * 0x9e5ull) % KNOWN_FRAMES],
             word = pm_load(*known);
    if (word >> 16 == return_address)
        return ((word & 0xffff) - 1) * 8;
    struct pmr_place place;
    uint64_t bytes = 0;
    if (pm_places_hold() && pm_places_find(return_address - 1, &place))
        bytes = pm_unwind_frame_bytes(&place.tables, return_address);
    pm_places_release();
    if (bytes > MAX_FRAME_BYTES)
        return 0;
    pm_store(*known, return_address << 16 | (bytes / 8 + 1));
    return bytes;
}

/* A word at `slot` that looks like a return address into the context's function may be of a call
 * before. The frame tells, where its size is fixed: that of the context ends at its entry's sp. */
static bool is_left_over(uint64_t word, uint64_t slot, const struct pm_heap_place *place)
{
    const struct pm_node *function = function_of(place);
    const struct pm_object *o = object_at(word - 1);
    const struct pm_sled *sled = o != NULL ? entered_before(o, word) : NULL;
    if (sled == NULL || o->first_noun + sled->noun != function->noun)
        return false; /* of a function that has no context */
    uint64_t bytes = frame_bytes(word, place->generation);
    return bytes != 0 && slot + 8 + bytes != pm_sp_frame(pm_load(function->sp)) + 8;
}

/* On the stack, in the frames below that of the context's function. On a stack that is not the
 * thread's own, its end is known by that frame only. The cold part of a function has no sleds
 * either and no caller in its frame. */
static uint64_t caller(uint64_t return_address, uint64_t sp, const struct pm_heap_place *place)
{
    uint64_t end = pm_sp_frame(pm_load(function_of(place)->sp)), top = pm_load(pm_tls.base->sp);
    if (sp <= top && (end <= sp || end > top))
        end = top;
    uint64_t first = object_at(return_address - 1) != NULL ? return_address : 0, found;
    uint64_t bytes = end > sp ? end - sp : 0;
    if (bytes > SEARCHED_BYTES)
        bytes = SEARCHED_BYTES;
    for (uint64_t at = 0; (found = pm_places_next_caller((const uint8_t *)sp, bytes, &at)) != 0;) {
        if (is_active_code(found, place) && !is_left_over(found, sp + at - 8, place))
            return found;
        first = first != 0 ? first : found;
    }
    return first;
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
                                             .is_active_code = is_active_code,
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
