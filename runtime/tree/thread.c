/* A thread's first and last event. Threads are known from their first event on; the memory of
 * finished ones is used again when there are many. */
#include "runtime/tree/thread.h"
#include "runtime/base/clock.h"
#include "runtime/base/file.h"
#include "runtime/base/sys.h"
#include "runtime/base/upward.h"
#include "runtime/tree/ambient.h"
#include "runtime/tree/children.h"
#include "runtime/tree/coroutines.h"
#include "runtime/tree/fold.h"
#include "runtime/tree/trace.h"
#include "runtime/tree/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <time.h>

enum {
    FIRST_CHUNK_BYTES = 16 * 1024,    /* many programs have many small threads */
    LARGEST_CHUNK_BYTES = 256 * 1024, /* of which half is never touched, on average */
};

/* Runtime fields of a chunk's header. */
#define CHUNK_CAPACITY(chunk) ((chunk)->reserved[0])    /* nodes */
#define CHUNK_FIRST_PLACE(chunk) ((chunk)->reserved[1]) /* file offset / 64 of the first node */
#define CHUNK_NODES(chunk) ((chunk)->reserved[2])       /* offset of the first node in the chunk */

const volatile uint64_t pm_no_ring = 0;
__thread struct pm_tls pm_tls __attribute__((tls_model("initial-exec"))) = {
    .current = &pm_sentinel, .ring_head = &pm_no_ring};

static struct pm_slot *slots[PM_MAX_SLOTS];
static uint32_t n_slots, n_finished, last_left;

extern void *__libc_stack_end __attribute__((weak));

/* Above every frame of this thread's own stack. glibc keeps a thread's control block at the top of
 * its stack. */
static uint64_t stack_top(void)
{
    uintptr_t thread_pointer = pm_thread_pointer();
    if (thread_pointer != pm_process.main_thread_pointer)
        return thread_pointer;
    return &__libc_stack_end != NULL && __libc_stack_end != NULL ? (uint64_t)__libc_stack_end
                                                                 : UINT64_MAX;
}

/* A vfork child runs in its parent's thread and has a number of its own. */
static uint32_t own_tid(void)
{
    return pm_thread_pointer() == pm_process.main_thread_pointer ? pm_process.pid
                                                                 : (uint32_t)pm_sys(SYS_gettid);
}

static void prepare_slab(struct pm_run_chunk *chunk, uint64_t offset, uint64_t nodes_at)
{
    CHUNK_FIRST_PLACE(chunk) = (offset + nodes_at) / 64;
    CHUNK_NODES(chunk) = nodes_at;
    CHUNK_CAPACITY(chunk) = (chunk->size_bytes - nodes_at) / sizeof(struct pm_node);
}

/* Claims by compare-and-swap: a handler may claim in between. Two that grow at once waste what is
 * left of one chunk. */
struct pm_node *pm_node_claim(struct pm_slot *slot)
{
    for (;;) {
        struct pm_run_chunk *chunk = pm_load(slot->slab);
        uint64_t n = pm_load(chunk->n_items);
        while (n < CHUNK_CAPACITY(chunk)) {
            if (!__atomic_compare_exchange_n(&chunk->n_items, &n, n + 1, false, __ATOMIC_RELAXED,
                                             __ATOMIC_RELAXED))
                continue;
            struct pm_node *node = (struct pm_node *)((char *)chunk + CHUNK_NODES(chunk)) + n;
            node->place = (uint32_t)(CHUNK_FIRST_PLACE(chunk) + n * (sizeof *node / 64));
            return node;
        }
        uint64_t bytes = chunk->size_bytes + chunk->size_bytes / 2, offset;
        struct pm_run_chunk *next = pm_file_chunk(
            PM_RUN_CHUNK_NODES, bytes > LARGEST_CHUNK_BYTES ? LARGEST_CHUNK_BYTES : bytes,
            slot->thread_offset, &offset);
        if (next == NULL)
            return NULL;
        prepare_slab(next, offset, PM_RUN_NODES_DATA);
        pm_barrier();
        pm_store(slot->slab, next);
    }
}

/* Newest chunks first: causes are mostly of what was made just now. */
const struct pm_node *pm_node_at(uint32_t place)
{
    for (uint32_t i = pm_file_n_chunks(); i-- > 0;) {
        const struct pm_run_chunk *chunk = pm_file_chunk_at(i);
        if (chunk == NULL || pm_load(chunk->magic) != PM_RUN_CHUNK_MAGIC ||
            (chunk->kind != PM_RUN_CHUNK_THREAD && chunk->kind != PM_RUN_CHUNK_NODES))
            continue;
        uint64_t at = place - CHUNK_FIRST_PLACE(chunk), step = sizeof(struct pm_node) / 64;
        if (place < CHUNK_FIRST_PLACE(chunk) || at >= pm_load(chunk->n_items) * step)
            continue;
        const struct pm_node *node =
            (const struct pm_node *)((const char *)chunk + CHUNK_NODES(chunk)) + at / step;
        bool is_made = pm_load(node->kind) != 0 || pm_load(node->noun) == PM_RUN_NOUN_ROOT;
        return at % step == 0 && is_made ? node : NULL;
    }
    return NULL;
}

/* A THREAD chunk with room for n_nodes at least, all from its first one on. */
static bool open_chunk(struct pm_slot *slot, uint64_t n_nodes, uint64_t tsc)
{
    uint64_t bytes = PM_RUN_THREAD_NODES + (n_nodes + 16) * sizeof(struct pm_node), offset;
    struct pm_run_thread *thread = pm_file_chunk(
        PM_RUN_CHUNK_THREAD, bytes < FIRST_CHUNK_BYTES ? FIRST_CHUNK_BYTES : bytes, 0, &offset);
    if (thread == NULL)
        return false;
    prepare_slab(&thread->chunk, offset, PM_RUN_THREAD_NODES);
    thread->tid = slot->tid = own_tid();
    thread->n_threads = 1;
    thread->start_tsc = tsc;
    if (slot->tid == pm_process.pid)
        thread->start_cpu_ns = pm_process.start_cpu_ns;
    pm_sys(SYS_prctl, PR_GET_NAME, thread->name);
    slot->thread = thread;
    slot->thread_offset = offset;
    slot->slab = &thread->chunk;
    slot->cpu_before_ns = 0;
    return true;
}

static struct pm_slot *new_slot(uint64_t tsc)
{
    char *memory = pm_private_memory(PM_HASH_BYTES + sizeof(struct pm_slot));
    if (memory == NULL)
        return NULL;
    struct pm_slot *slot = (struct pm_slot *)(memory + PM_HASH_BYTES);
    slot->hash = (struct pm_node **)memory;
    slot->busy = 1;
    if (!pm_index_open(slot) || !open_chunk(slot, 1, tsc) ||
        (slot->root = pm_root_make(slot, stack_top(), 0, tsc)) == NULL) {
        pm_sys(SYS_munmap, memory, PM_HASH_BYTES + sizeof(struct pm_slot));
        return NULL;
    }
    uint32_t i = slot->number = pm_add_shared(n_slots, 1);
    if (i < PM_MAX_SLOTS)
        slots[i] = slot;
    else
        pm_store(n_slots, PM_MAX_SLOTS);
    return slot;
}

/* From the last one that was left on: its memory is still in the processor's caches. A slot whose
 * thread ended after tsc is of no use: the times of the two would overlap. */
static struct pm_slot *finished_slot(uint64_t tsc)
{
    uint32_t n = pm_load(n_slots), start = pm_load(last_left);
    if (n > PM_MAX_SLOTS)
        n = PM_MAX_SLOTS;
    for (uint32_t i = 0; i < n; i++) {
        struct pm_slot *slot = pm_load(slots[(start + i) % n]);
        uint32_t idle = 0;
        if (slot == NULL || !__atomic_compare_exchange_n(&slot->busy, &idle, 1, false,
                                                         __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            continue;
        if (slot->thread->end_tsc > tsc) {
            __atomic_store_n(&slot->busy, 0, __ATOMIC_RELEASE);
            continue;
        }
        pm_add_shared(n_finished, (uint32_t)-1);
        slot->tid = own_tid();
        slot->thread->n_threads++;
        slot->thread->end_tsc = 0;
        slot->root->n_calls++;
        slot->root->start_tsc = tsc;
        slot->root->sp = stack_top();
        return slot;
    }
    return NULL;
}

/* pthread_setspecific is libc's and may use vector registers, which belong to the interrupted
 * program. */
static void set_thread_key(void *value)
{
    if (pm_process.thread_key < 0)
        return;
#if defined(__x86_64__)
    _Alignas(16) char vectors[512];
    __asm__ volatile("fxsave64 %0" : "=m"(vectors));
    pthread_setspecific((pthread_key_t)pm_process.thread_key, value);
    __asm__ volatile("fxrstor64 %0" ::"m"(vectors));
#else
    pthread_setspecific((pthread_key_t)pm_process.thread_key, value);
#endif
}

static bool begin_blocked(struct pm_tls *t, uint64_t tsc)
{
    struct pm_slot *slot = pm_load(n_finished) > PM_REUSE_AFTER ? finished_slot(tsc) : NULL;
    if (slot == NULL)
        slot = new_slot(tsc);
    if (slot == NULL)
        return false;
    t->slot = slot;
    t->hash = slot->hash;
    t->where = PM_WHERE_OWN;
    t->end_rounds = 0;
    pm_coroutine_thread_begin(t, stack_top());
    for (unsigned i = 0; i < PM_MAX_BANKS; i++)
        t->bank[i] = slot->bank[i];
    pm_ambient_ring(t, pm_control_word(), *pm_control_word());
    set_thread_key(t);
    pm_store(t->current, slot->root);
    pm_ambient_thread_begin(t, tsc);
    return true;
}

static uint64_t own_cpu_ns(void)
{
    struct timespec time = {0, 0};
    pm_sys(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

bool pm_thread_begin(struct pm_tls *t, uint64_t tsc)
{
    if (pm_process.file.header == NULL)
        return false;
    if (t->state != PM_THREAD_NEW) {
        pm_add_shared(pm_process.file.header->n_lost_contexts, 1);
        return false;
    }
    uint64_t all = UINT64_MAX, before = 0;
    pm_sys(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof all);
    t->state = PM_THREAD_BUSY;
    uint64_t now_ns = pm_monotonic_ns(), start_ns = own_cpu_ns();
    bool good = begin_blocked(t, tsc);
    pm_store(t->state, good ? PM_THREAD_READY : PM_THREAD_DEAD);
    if (good) {
        if (t->start_noun != 0)
            pm_event_start(t, t->start_noun - 1, tsc);
        pm_sample_thread_begin(t, now_ns, start_ns);
        pm_adapt_thread_begin(t->slot);
    }
    pm_adapt_started(own_cpu_ns() - start_ns);
    pm_sys(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof all);
    if (!good)
        pm_add_shared(pm_process.file.header->n_lost_contexts, 1);
    return good;
}

uint64_t pm_stopped_cpu_ns;

uint64_t pm_thread_cpu_ns(uint32_t tid)
{
    if (pm_unlikely(pm_stopped_cpu_ns != 0))
        return pm_stopped_cpu_ns;
    struct timespec time = {0, 0};
    int clock = (int)(~tid << 3 | 6); /* CPUCLOCK_PERTHREAD | CPUCLOCK_SCHED */
    if (pm_sys(SYS_clock_gettime, clock, &time) != 0)
        return 0;
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

void pm_thread_spent(struct pm_slot *slot, uint64_t cpu_ns)
{
    pm_store(slot->thread->cpu_ns, slot->cpu_before_ns + cpu_ns);
}

bool pm_thread_is_there(const struct pm_slot *slot)
{
    struct pm_slot *found = NULL;
    struct pm_tls *t = pm_load(slot->t);
    struct iovec to = {&found, sizeof found}, from = {t != NULL ? &t->slot : NULL, sizeof t->slot};
    if (t == NULL || t == &pm_tls)
        return t != NULL;
    long n = pm_sys(SYS_process_vm_readv, pm_process.pid, &to, 1, &from, 1, 0);
    if (n == sizeof found || n == -EFAULT)
        return found == slot;
    return pm_thread_cpu_ns(slot->tid) != 0;
}

/* Destructors of other keys may still make events, so ours asks to be called again until the last
 * round. */
void pm_thread_ended(void *block)
{
    struct pm_tls *t = block;
    if (t != &pm_tls || t->state != PM_THREAD_READY || !*pm_process.alive_mark)
        return;
    if (++t->end_rounds < 4) {
        set_thread_key(t);
        return;
    }
    struct pm_slot *slot = t->slot;
    uint64_t start_ns = own_cpu_ns();
    pm_coroutine_thread_end(t);
    pm_ambient_thread_end(t);
    uint64_t tsc = pm_tsc();
    pm_sample_thread_end(t);
    pm_adapt_thread_end(slot);
    pm_trace_thread_end(t, tsc);
    struct pm_node *open = pm_own_current(t);
    t->state = PM_THREAD_DEAD;
    pm_store(t->current, &pm_sentinel);
    for (unsigned i = 0; i < PM_MAX_BANKS; i++) {
        slot->bank[i] = t->bank[i];
        t->bank[i] = NULL;
    }
    pm_close_all(t->foreign_current, tsc);
    t->foreign_current = NULL;
    pm_close_all(open, tsc);
    pm_sys(SYS_prctl, PR_GET_NAME, slot->thread->name);
    uint64_t end_ns = pm_thread_cpu_ns(slot->tid);
    slot->cpu_before_ns += end_ns;
    slot->thread->cpu_ns = slot->cpu_before_ns;
    slot->thread->end_tsc = tsc;
    if (end_ns > start_ns)
        pm_adapt_started(end_ns - start_ns);
    t->slot = NULL;
    pm_store(last_left, slot->number);
    __atomic_store_n(&slot->busy, 0, __ATOMIC_RELEASE);
    pm_add_shared(n_finished, 1);
}

void pm_threads_each(void (*visit)(struct pm_slot *slot))
{
    uint32_t n = n_slots < PM_MAX_SLOTS ? n_slots : PM_MAX_SLOTS;
    for (uint32_t i = 0; i < n; i++) {
        struct pm_slot *slot = pm_load(slots[i]);
        if (slot != NULL && pm_load(slot->busy))
            visit(slot);
    }
}

static char *append(char *to, const char *text)
{
    while (*text != 0)
        *to++ = *text++;
    *to = 0;
    return to;
}

/* Threads mostly get their names after their start, and from others. */
static void note_name(struct pm_slot *slot)
{
    if (slot->t == &pm_tls) {
        pm_sys(SYS_prctl, PR_GET_NAME, slot->thread->name);
        return;
    }
    char path[64], name[sizeof slot->thread->name + 1], digits[16];
    size_t first = sizeof digits - 1;
    digits[first] = 0;
    for (uint32_t n = slot->tid; n != 0; n /= 10)
        digits[--first] = (char)('0' + n % 10);
    append(append(append(path, "/proc/self/task/"), digits + first), "/comm");
    long fd = pm_sys(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    long bytes = pm_sys(SYS_read, fd, name, sizeof name - 1);
    pm_sys(SYS_close, fd);
    if (bytes <= 1)
        return;
    name[bytes - (name[bytes - 1] == '\n')] = 0;
    for (size_t i = 0; i < sizeof slot->thread->name - 1 && (i == 0 || name[i - 1] != 0); i++)
        slot->thread->name[i] = name[i];
}

/* It left by a bare system call, or by another libc (dlmopen): nobody knows when. */
static void note_left(struct pm_slot *slot)
{
    bool may_ask = own_cpu_ns() != 0; /* of no filter's doing */
    if (may_ask && slot->thread->end_tsc == 0)
        slot->thread->end_tsc = slot->root->start_tsc;
}

static void note_end(struct pm_slot *slot)
{
    uint64_t cpu_ns = pm_thread_cpu_ns(slot->tid);
    if (cpu_ns == 0) {
        note_left(slot);
        return;
    }
    slot->thread->cpu_ns = slot->cpu_before_ns + cpu_ns;
    note_name(slot);
}

void pm_threads_process_end(uint64_t tsc)
{
    (void)tsc;
    pm_sample_process_end();
    pm_threads_each(note_end);
}

/* The contexts that are open on this thread, with no calls yet and times from now on, at the start
 * of a new chunk: the node of depth d becomes the d-th. The old nodes belong to the parent, which
 * runs on: their stack pointers were saved before the fork (fork_path), their nouns and parents
 * never change. */
static struct pm_node *copy_path(struct pm_tls *t, const struct pm_node *last, uint64_t tsc)
{
    struct pm_slot *slot = t->slot;
    struct pm_node *nodes = (struct pm_node *)((char *)slot->thread + PM_RUN_THREAD_NODES);
    for (uint32_t i = 0; i <= last->depth; i++)
        pm_node_claim(slot);
    for (const struct pm_node *old = last; old != NULL; old = old->parent) {
        struct pm_node *node = nodes + old->depth;
        node->noun = old->noun;
        node->kind = old->kind;
        node->loop_depth = old->loop_depth;
        node->depth = old->depth;
        node->flags = old->flags & (PM_RUN_NODE_TIMED | PM_NODE_TERMS);
        node->gone = old->gone;
        node->set = old->set;
        node->start_tsc = old->start_tsc != 0 ? tsc : 0;
        node->sp =
            t->fork_path != NULL && old->depth < t->fork_depth ? t->fork_path[old->depth] : old->sp;
        node->paused = old->paused;
        node->cached_child = &pm_sentinel;
        if (old != last)
            node->cached_child = node->first_child = node + 1;
        if (old->parent != NULL) {
            node->parent = node - 1;
            node->parent_place = node->parent->place;
            pm_index_put(slot, node);
        }
    }
    pm_process.n_contexts = last->depth;
    slot->root = nodes;
    slot->root->sp = stack_top();
    slot->root->n_calls = 1;
    return nodes + last->depth;
}

void pm_thread_drop(struct pm_tls *t)
{
    n_slots = n_finished = last_left = 0;
    t->state = PM_THREAD_DEAD;
    for (unsigned i = 0; i < PM_MAX_BANKS; i++)
        t->bank[i] = NULL;
    pm_store(t->current, &pm_sentinel);
}

void pm_thread_renew(struct pm_tls *t, uint64_t tsc)
{
    n_slots = n_finished = last_left = 0;
    if (t->state != PM_THREAD_READY) {
        t->state = PM_THREAD_NEW;
        pm_store(t->current, &pm_sentinel);
        return;
    }
    struct pm_slot *slot = t->slot;
    struct pm_coroutine *on = t->coroutine;
    const struct pm_node *last = pm_home_current(t);
    bool folded = on == NULL && t->current == &pm_sentinel && t->where == PM_WHERE_FOLDED;
    pm_store(t->current, &pm_sentinel);
    pm_sys(SYS_madvise, slot->hash, PM_HASH_BYTES, MADV_DONTNEED);
    pm_index_clear(slot);
    for (unsigned i = 0; i < PM_MAX_BANKS; i++)
        t->bank[i] = slot->bank[i] = NULL;
    memset(slot->has_no_bank, 0, sizeof slot->has_no_bank);
    slot->foreign_root = t->foreign_current = NULL;
    if (!open_chunk(slot, last->depth + 1, tsc)) {
        t->state = PM_THREAD_DEAD;
        return;
    }
    slot->number = n_slots;
    slots[n_slots++] = slot;
    struct pm_node *node = copy_path(t, last, tsc);
    if (folded) {
        t->fold_at = node;
    } else {
        t->where = PM_WHERE_OWN;
        pm_store(t->current, node);
    }
    pm_ambient_ring(t, pm_control_word(), *pm_control_word());
    pm_ambient_renew(t, tsc);
    pm_coroutine_renew(t, on);
    if (pm_process.mode == PM_RUN_MODE_TRACE)
        pm_trace_full(t, tsc); /* what is open is so from now on */
    pm_sample_thread_begin(t, pm_process.start_monotonic_ns, 0); /* the only one after a fork */
    pm_adapt_thread_begin(slot);
}
