/* libperfmap-heap.so: blocks of the heap, by the place that allocated them (perfmap run --heap).
 *
 *   heap.c     the functions that programs call; each forwards to the next library's (RTLD_NEXT),
 *              so other allocators work
 *   live.c     which blocks are alive: a table beside them, for their addresses and sizes are the
 *              allocator's own
 *   sites.c    places that allocate, and large blocks, in the run file
 *
 * and on the other side, in libperfmap-rt.so, guest/heap_link.c: contexts, callers, chunks of the
 * run file.
 *
 * Memory of our own comes from mmap. A thread that is at work here has `busy` set: what its
 * signal handlers, or the allocator below us, allocate meanwhile is forwarded and not counted; a
 * block whose end was missed so ends when its address is given out again. Around fork all locks
 * are held (by the runtime's handlers, which are the last before and the first after it).
 */
#ifndef PM_RUNTIME_HEAP_H
#define PM_RUNTIME_HEAP_H

#include "format/pm_adapters.h"
#include "format/pm_run.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- between the two libraries --- */

struct pm_heap_place {
    uint64_t caller;
    const void *context; /* tells contexts apart */
    uint32_t node, thread;
    uint16_t generation;
    bool is_sure;
};

/* What the runtime has for us. All of it may be called at any ordinary call. */
struct pm_heap_runtime {
    uint64_t block_bytes;      /* the least that gets a record of its own */
    bool (*is_measured)(void); /* false: there is no run file */
    /* The context that is active; all but caller and is_sure. False: this thread has none any
     * more. */
    bool (*context)(uint64_t sp, struct pm_heap_place *ret_place);
    /* Is the return address in code of the context's function? */
    bool (*is_active_code)(uint64_t address, const struct pm_heap_place *place);
    /* The code of the context's function, or else other code with sleds, that (probably) led
     * there; 0 unknown. */
    uint64_t (*caller)(uint64_t return_address, uint64_t sp, const struct pm_heap_place *place);
    void *(*chunk)(enum pm_run_chunk_kind kind, uint64_t size_bytes);
    uint64_t (*tsc)(void);
    void (*limit)(const char *text); /* says that a limit was reached */
};

struct pm_heap_hooks {
    void (*before_fork)(void), (*in_parent)(void);
    void (*in_child)(bool is_sound); /* before_fork was called */
};

/* NULL: not (yet) measured. hooks must last. */
const struct pm_heap_runtime *pm_heap_open(const struct pm_heap_hooks *hooks);

/* --- libperfmap-memory.so (../adapters/memory.c), where it is loaded, too --- */

#define HEAP_VERB(NAME, word) HEAP_##NAME,
enum heap_verb { PM_MEMORY_VERBS(HEAP_VERB) };
#undef HEAP_VERB
uint32_t pm_memory_enter(uint32_t verb, uint64_t sp) __attribute__((weak, visibility("default")));
void pm_memory_leave(uint32_t said, uint64_t sp, uint64_t freed_bytes)
    __attribute__((weak, visibility("default")));

/* --- within libperfmap-heap.so --- */

extern const struct pm_heap_runtime *heap_runtime;

/* --- sites.c --- */
/* NULL: not counted. Lasting, also in fork children, where it is of no use and harmless. */
struct pm_run_heap_site *heap_site(uint64_t return_address, uint64_t sp);
struct pm_run_heap_block *heap_block(const struct pm_run_heap_site *site, uint64_t address,
                                     uint64_t size_bytes, uint64_t tsc); /* NULL: has no record */
void heap_sites_lock(void);
void heap_sites_unlock(void);
void heap_sites_forget(void); /* in a fork child: the file is another one */

/* --- live.c --- */
struct heap_live {
    uint64_t address; /* 0: none */
    uint64_t size_bytes, tsc;
    struct pm_run_heap_site *site;
    struct pm_run_heap_block *block;
};
/* Takes it out; address 0: was not there. */
struct heap_live heap_live_take(uint64_t address);
/* False: no memory. ret_old: what was there under this address. */
bool heap_live_put(const struct heap_live *live, struct heap_live *ret_old);
void heap_live_lock(void);
void heap_live_unlock(void);
void heap_live_forget(void);

/* --- locks and memory --- */
void heap_lock(uint32_t *lock);
static inline void heap_unlock(uint32_t *lock)
{
    __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}
void *heap_memory(size_t bytes); /* zeroed; NULL */

#endif
