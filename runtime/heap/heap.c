/* The functions of the heap that programs call. operator new, ALLOCATE and what else allocates
 * come by malloc.
 *
 * dlsym may allocate before it has found the allocator's functions: that comes from a small
 * arena, which is never given back.
 */
#include "heap.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>

#define PM_EXPORT __attribute__((visibility("default")))
#define HERE (uint64_t) __builtin_return_address(0), (uint64_t)__builtin_frame_address(0)

enum { ARENA_BYTES = 64 * 1024, ALIGNMENT = 16 };

const struct pm_heap_runtime *heap_runtime;

static struct {
    void *(*malloc)(size_t);
    void (*free)(void *);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void *(*memalign)(size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*valloc)(size_t);
    void *(*pvalloc)(size_t);
} next;

static __thread uint32_t busy __attribute__((tls_model("initial-exec")));

/* --- before the allocator is known --- */

static char arena[ARENA_BYTES] __attribute__((aligned(16)));
static uint64_t arena_used;

/* Each block has its size in front. */
static void *arena_alloc(size_t bytes, size_t alignment)
{
    uint64_t limit = bytes < ARENA_BYTES ? bytes + alignment + ALIGNMENT : ARENA_BYTES + 1;
    uint64_t at = __atomic_fetch_add(&arena_used, (limit + 15) / 16 * 16, __ATOMIC_RELAXED);
    if (at + limit > ARENA_BYTES) {
        errno = ENOMEM;
        return NULL;
    }
    uintptr_t start = ((uintptr_t)arena + at + ALIGNMENT + alignment - 1) / alignment * alignment;
    ((uint64_t *)start)[-1] = bytes;
    return (void *)start;
}

static bool is_arena(const void *p)
{
    return (uintptr_t)p - (uintptr_t)arena < ARENA_BYTES;
}

static bool find_next(void)
{
    if (__builtin_expect(__atomic_load_n(&next.malloc, __ATOMIC_ACQUIRE) != NULL, 1))
        return true;
    static __thread bool finding __attribute__((tls_model("initial-exec")));
    if (finding)
        return false;
    finding = true;
#define FIND(name) *(void **)&next.name = dlsym(RTLD_NEXT, #name)
    FIND(free);
    FIND(calloc);
    FIND(realloc);
    FIND(memalign);
    FIND(aligned_alloc);
    FIND(posix_memalign);
    FIND(valloc);
    FIND(pvalloc);
    void *(*found)(size_t);
    *(void **)&found = dlsym(RTLD_NEXT, "malloc");
    __atomic_store_n(&next.malloc, found, __ATOMIC_RELEASE);
    finding = false;
    return found != NULL;
}

/* --- fork --- */

static bool was_busy;

static void before_fork(void)
{
    was_busy = busy != 0; /* in a signal handler: the lock may be our own */
    if (was_busy)
        return;
    heap_sites_lock();
    heap_live_lock();
}

static void in_parent(void)
{
    if (was_busy)
        return;
    heap_live_unlock();
    heap_sites_unlock();
}

/* Otherwise nobody knows what was being changed. */
static void in_child(bool is_sound)
{
    if (!is_sound || was_busy)
        heap_live_forget();
    heap_live_unlock();
    heap_sites_unlock();
    heap_sites_forget();
}

static const struct pm_heap_hooks hooks = {before_fork, in_parent, in_child};

static bool is_measured(void)
{
    const struct pm_heap_runtime *runtime = __atomic_load_n(&heap_runtime, __ATOMIC_ACQUIRE);
    if (runtime == NULL) {
        runtime = pm_heap_open(&hooks);
        if (runtime == NULL)
            return false;
        __atomic_store_n(&heap_runtime, runtime, __ATOMIC_RELEASE);
    }
    return runtime->is_measured();
}

/* --- counting --- */

static void add(uint64_t *where, uint64_t n)
{
    __atomic_fetch_add(where, n, __ATOMIC_RELAXED);
}

static void raise_to(uint64_t *where, uint64_t value)
{
    uint64_t now = __atomic_load_n(where, __ATOMIC_RELAXED);
    while (now < value && !__atomic_compare_exchange_n(where, &now, value, true, __ATOMIC_RELAXED,
                                                       __ATOMIC_RELAXED))
        ;
}

static void lower_to(uint64_t *where, uint64_t value)
{
    uint64_t now = __atomic_load_n(where, __ATOMIC_RELAXED);
    while (now > value && !__atomic_compare_exchange_n(where, &now, value, true, __ATOMIC_RELAXED,
                                                       __ATOMIC_RELAXED))
        ;
}

static void ended(const struct heap_live *live)
{
    if (live->address == 0)
        return;
    uint64_t now = heap_runtime->tsc();
    add(&live->site->n_freed, 1);
    add(&live->site->freed_bytes, live->size_bytes);
    add(&live->site->life_tsc, now > live->tsc ? now - live->tsc : 0);
    if (live->block != NULL)
        __atomic_store_n(&live->block->freed_tsc, now, __ATOMIC_RELAXED);
}

static void began(const void *p, size_t bytes, uint64_t return_address, uint64_t sp)
{
    struct pm_run_heap_site *site;
    if (p == NULL || !is_measured() || (site = heap_site(return_address, sp)) == NULL)
        return;
    struct heap_live old, live = {.address = (uintptr_t)p, .size_bytes = bytes, .site = site};
    live.tsc = heap_runtime->tsc();
    live.block = heap_block(site, live.address, bytes, live.tsc);
    if (!heap_live_put(&live, &old)) {
        static uint32_t said;
        if (__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED) == 0)
            heap_runtime->limit(
                "there is no memory to follow all blocks of the heap: some are not counted");
        return;
    }
    ended(&old); /* it was not seen */
    add(&site->n_allocations, 1);
    uint64_t all = __atomic_add_fetch(&site->allocated_bytes, bytes, __ATOMIC_RELAXED);
    uint64_t freed = __atomic_load_n(&site->freed_bytes, __ATOMIC_RELAXED);
    raise_to(&site->peak_bytes, all > freed ? all - freed : 0);
    raise_to(&site->most_bytes, bytes);
    lower_to(&site->least_bytes, bytes);
}

static struct heap_live take(const void *p)
{
    if (heap_runtime == NULL || p == NULL || !heap_runtime->is_measured())
        return (struct heap_live){0};
    return heap_live_take((uintptr_t)p);
}

/* --- what programs call --- */

/* Until done(), {heap Allocate} or {heap Free} is active, where that is asked for. */
static uint32_t start(enum heap_verb verb, uint64_t sp)
{
    busy = 1;
    return pm_memory_enter != NULL && is_measured() ? pm_memory_enter(verb, sp) : 0;
}

static void done(uint32_t said, uint64_t sp, uint64_t freed_bytes)
{
    if (said != 0)
        pm_memory_leave(said, sp, freed_bytes);
    __asm__ volatile("" ::: "memory");
    busy = 0;
}

#define SP (uint64_t) __builtin_frame_address(0)

/* busy: forwarded only. Otherwise what was allocated is noted. */
#define ALLOCATE(call, bytes)                     \
    do {                                          \
        if (busy)                                 \
            return (call);                        \
        uint32_t said = start(HEAP_ALLOCATE, SP); \
        void *p = (call);                         \
        began(p, (bytes), HERE);                  \
        done(said, SP, 0);                        \
        return p;                                 \
    } while (0)

PM_EXPORT void *malloc(size_t bytes)
{
    if (!find_next())
        return arena_alloc(bytes, ALIGNMENT);
    ALLOCATE(next.malloc(bytes), bytes);
}

PM_EXPORT void *calloc(size_t n, size_t bytes)
{
    size_t all;
    if (__builtin_mul_overflow(n, bytes, &all)) {
        errno = ENOMEM;
        return NULL;
    }
    if (!find_next())
        return arena_alloc(all, ALIGNMENT); /* which is zero */
    ALLOCATE(next.calloc(n, bytes), all);
}

PM_EXPORT void free(void *p)
{
    if (p == NULL || is_arena(p) || !find_next())
        return;
    if (busy) {
        next.free(p);
        return;
    }
    uint32_t said = start(HEAP_FREE, SP);
    struct heap_live live = take(p); /* before its address is anybody's again */
    next.free(p);
    ended(&live);
    done(said, SP, live.size_bytes);
}

static void *from_arena(const void *p, size_t bytes, uint64_t return_address, uint64_t sp)
{
    uint64_t n = ((const uint64_t *)p)[-1];
    bool found = find_next();
    char *copy = found ? next.malloc(bytes) : arena_alloc(bytes, ALIGNMENT);
    for (size_t i = 0; copy != NULL && i < n && i < bytes; i++)
        copy[i] = ((const char *)p)[i];
    if (found && !busy) {
        uint32_t said = start(HEAP_ALLOCATE, sp);
        began(copy, bytes, return_address, sp);
        done(said, sp, 0);
    }
    return copy;
}

static void *reallocate(void *p, size_t bytes, uint64_t return_address, uint64_t sp)
{
    uint32_t said = start(HEAP_ALLOCATE, sp);
    struct heap_live live = take(p), none;
    void *q = next.realloc(p, bytes);
    bool is_gone = q != NULL || bytes == 0;
    if (is_gone)
        ended(&live);
    else if (live.address != 0) /* nothing has happened */
        (void)heap_live_put(&live, &none);
    began(q, bytes, return_address, sp);
    done(said, sp, is_gone ? live.size_bytes : 0);
    return q;
}

PM_EXPORT void *realloc(void *p, size_t bytes)
{
    if (p != NULL && is_arena(p))
        return from_arena(p, bytes, HERE);
    if (!find_next())
        return arena_alloc(bytes, ALIGNMENT);
    return busy ? next.realloc(p, bytes) : reallocate(p, bytes, HERE);
}

PM_EXPORT void *reallocarray(void *p, size_t n, size_t bytes)
{
    size_t all;
    if (__builtin_mul_overflow(n, bytes, &all)) {
        errno = ENOMEM;
        return NULL;
    }
    if (p != NULL && is_arena(p))
        return from_arena(p, all, HERE);
    if (!find_next())
        return arena_alloc(all, ALIGNMENT);
    return busy ? next.realloc(p, all) : reallocate(p, all, HERE);
}

PM_EXPORT void *memalign(size_t alignment, size_t bytes)
{
    if (!find_next() || next.memalign == NULL)
        return arena_alloc(bytes, alignment > ALIGNMENT ? alignment : ALIGNMENT);
    ALLOCATE(next.memalign(alignment, bytes), bytes);
}

PM_EXPORT void *aligned_alloc(size_t alignment, size_t bytes)
{
    if (!find_next() || next.aligned_alloc == NULL)
        return arena_alloc(bytes, alignment > ALIGNMENT ? alignment : ALIGNMENT);
    ALLOCATE(next.aligned_alloc(alignment, bytes), bytes);
}

PM_EXPORT int posix_memalign(void **ret_p, size_t alignment, size_t bytes)
{
    if (!find_next() || next.posix_memalign == NULL) {
        void *p = arena_alloc(bytes, alignment > ALIGNMENT ? alignment : ALIGNMENT);
        if (p != NULL)
            *ret_p = p;
        return p != NULL ? 0 : ENOMEM;
    }
    if (busy)
        return next.posix_memalign(ret_p, alignment, bytes);
    uint32_t said = start(HEAP_ALLOCATE, SP);
    int result = next.posix_memalign(ret_p, alignment, bytes);
    if (result == 0)
        began(*ret_p, bytes, HERE);
    done(said, SP, 0);
    return result;
}

PM_EXPORT void *valloc(size_t bytes)
{
    if (!find_next() || next.valloc == NULL)
        return arena_alloc(bytes, 4096);
    ALLOCATE(next.valloc(bytes), bytes);
}

PM_EXPORT void *pvalloc(size_t bytes)
{
    if (!find_next() || next.pvalloc == NULL)
        return arena_alloc(bytes, 4096);
    ALLOCATE(next.pvalloc(bytes), bytes);
}
