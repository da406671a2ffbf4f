/* Mode trace: every event with its time. A thread writes 8-byte events to a head of its own in
 * the run file, by its trampolines and by pm_trace_fill; format/pm_run.h has the layout. A full
 * head is copied to a part elsewhere in the file by one system call and emptied, and at the
 * limit the oldest part of any thread is overwritten (or tracing stops). Fresh pages of a shared
 * mapping would cost 7 ns an event, most of what an exact event costs; writing from a head that
 * stays in the cache to blocks that were allocated before, 1 to 1.4 ns (ext4; parts of 128 KiB:
 * 1.5 to 1.8; of 512 KiB: 1.1, but they take half of many processors' second cache).
 *
 * An event's place is reserved by one instruction (xadd), so that a signal handler's events
 * neither get lost nor overwrite others. Trampolines look first whether the head has room: what
 * handlers add in between goes beyond trace_end, where there is room for SLACK more. A place may
 * so be reserved and still be empty when a handler that interrupted the trampoline fills the
 * head: then the head is left as it is, for the event that is still to come, and another one is
 * made.
 *
 * Once tracing has stopped, threads write to memory that nobody reads.
 */
#include "runtime/tree/trace.h"
#include "runtime/base/file.h"
#include "runtime/base/sys.h"
#include "runtime/tree/fold.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>

enum {
    PART_BYTES = 256 * 1024,
    PLACES = (PART_BYTES - PM_RUN_TRACE_DATA - 8) / 8,
    SLACK = 128, /* handlers that interrupt trampolines of handlers that ... */
    SPACE_PARTS = 16,
    MAX_SPACES = 16384, /* 64 GiB */
    LEAST_PARTS = 4,
    UNTIL_BITS =
        38 /* a time is written in full before the 40 bits of an event could mean two times */
};

static uint64_t spaces[MAX_SPACES]; /* file offsets; 0: not there yet */
static uint8_t busy[MAX_SPACES * SPACE_PARTS];
static uint64_t n_drawn; /* parts, those that were overwritten since included */
static uint64_t max_parts;
static bool stopped, said;

/* Threads write here at once, when there is no memory for another place. */
static uint64_t last_resort[PLACES + SLACK];

static uint64_t *events_of(const struct pm_run_trace *head)
{
    return (uint64_t *)((uintptr_t)head + PM_RUN_TRACE_DATA);
}

static void say_limit(const char *text)
{
    if (!__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
        pm_file_message(PM_RUN_MSG_LIMIT, text, NULL);
}

static void stop(const char *text)
{
    pm_store(stopped, true);
    say_limit(text);
}

static uint64_t parts_limit(void)
{
    uint64_t limit = pm_load(max_parts);
    if (limit == 0) {
        limit = pm_process.trace_limit_bytes / PART_BYTES;
        limit = limit < LEAST_PARTS ? LEAST_PARTS : limit;
        limit = limit > sizeof busy ? sizeof busy : limit;
        pm_store(max_parts, limit);
    }
    return limit;
}

/* The file offset of the k-th part; 0: the file cannot grow to hold it. Two threads that make a
 * space at once waste one. */
static uint64_t part_offset(uint64_t k, uint64_t limit)
{
    uint64_t n = limit < SPACE_PARTS ? limit : SPACE_PARTS, *space = &spaces[k / n];
    uint64_t offset = pm_load(*space), none = 0;
    if (offset == 0) {
        offset = pm_file_space(PM_RUN_CHUNK_TRACE_SPACE, PM_RUN_PAGE + n * PART_BYTES, n,
                               PART_BYTES); /* the kernel has one piece of memory for each then */
        if (offset == 0)
            return 0;
        if (!__atomic_compare_exchange_n(space, &none, offset, false, __ATOMIC_RELAXED,
                                         __ATOMIC_RELAXED))
            offset = none;
    }
    return offset + PM_RUN_PAGE + k % n * PART_BYTES;
}

/* A part that is ours until it is released: a fresh one, or the oldest. ret_serial, ret_k: its
 * numbers. 0: there is none any more. */
static uint64_t draw_part(uint64_t *ret_serial, uint64_t *ret_k)
{
    while (!pm_load(stopped)) {
        uint64_t limit = parts_limit(), serial = pm_add_shared(n_drawn, 1), k = serial % limit;
        if (serial >= limit && pm_process.trace_keep_oldest) {
            stop("the trace ends before the program: --trace-limit is reached, and --trace-keep "
                 "is oldest");
            return 0;
        }
        if (serial >= limit)
            say_limit("the trace has only the newest events: --trace-limit is reached");
        if (__atomic_exchange_n(&busy[k], 1, __ATOMIC_ACQUIRE))
            continue; /* a thread that has slept since the ring was here last */
        uint64_t offset = part_offset(k, limit);
        if (offset != 0) {
            *ret_serial = serial;
            *ret_k = k;
            return offset;
        }
        __atomic_store_n(&busy[k], 0, __ATOMIC_RELEASE);
        uint64_t whole = k / SPACE_PARTS * SPACE_PARTS; /* go round in what there is */
        if (whole == 0 || pm_process.trace_keep_oldest)
            stop("the trace ends before the program: the run file cannot grow");
        else
            pm_store(max_parts, whole);
    }
    return 0;
}

static bool write_part(struct pm_run_trace *head, uint64_t n)
{
    uint64_t serial, k, offset = draw_part(&serial, &k);
    if (offset == 0)
        return false;
    struct pm_run_trace part = *head;
    part.chunk.n_items = n;
    part.serial = serial;
    uint64_t trailer = serial + 1;
    __builtin_memcpy((char *)head + PART_BYTES - 8, &trailer, 8);
    struct iovec pieces[] = {{&part, sizeof part},
                             {events_of(head), PART_BYTES - PM_RUN_TRACE_DATA}};
    bool good = pm_file_put(offset, pieces, 2);
    __atomic_store_n(&busy[k], 0, __ATOMIC_RELEASE);
    if (!good)
        stop("the trace ends before the program: the run file cannot be written");
    return good;
}

/* The head is empty; what is open now was entered before. */
static void begin_head(struct pm_tls *t, struct pm_run_trace *head, uint64_t number, uint64_t tsc)
{
    const struct pm_node *own = pm_own_current(t), *foreign = t->foreign_current;
    head->first_tsc = tsc;
    head->node = own->place;
    head->foreign_node = foreign != NULL ? foreign->place : 0;
    pm_barrier();
    pm_store(head->number, number);
    pm_store(t->trace_until, tsc + ((uint64_t)1 << UNTIL_BITS));
    pm_store(t->trace_end, events_of(head) + PLACES - SLACK);
    pm_barrier();
    pm_store(t->trace_at, events_of(head));
}

static bool open_head(struct pm_tls *t, uint64_t number, uint64_t tsc)
{
    uint64_t offset;
    struct pm_run_trace *head =
        pm_load(stopped)
            ? NULL
            : pm_file_chunk(PM_RUN_CHUNK_TRACE_HEAD, PART_BYTES, t->slot->thread_offset, &offset);
    if (head == NULL)
        return false;
    t->slot->trace = head;
    head->tid = t->slot->tid;
    begin_head(t, head, number, tsc);
    pm_store(head->chunk.n_items, PLACES);
    return true;
}

static void write_to_nowhere(struct pm_tls *t, uint64_t tsc)
{
    struct pm_slot *slot = t->slot;
    if (slot->trace_scratch == NULL) {
        long memory = pm_sys(SYS_mmap, 0, PART_BYTES, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        slot->trace_scratch =
            memory < 0 && memory > -4096 ? last_resort : (uint64_t *)(uintptr_t)memory;
    }
    if (slot->trace != NULL)
        slot->trace->flags |= PM_RUN_TRACE_STOPPED;
    slot->trace = NULL;
    pm_store(t->trace_until, tsc + ((uint64_t)1 << UNTIL_BITS));
    pm_store(t->trace_end, slot->trace_scratch + PLACES - SLACK);
    pm_barrier();
    pm_store(t->trace_at, slot->trace_scratch);
}

/* Is there a place that was reserved by code that a handler interrupted? Then bits 63 and 62 of
 * some event are both clear: it is less than all others. */
static bool has_hole_in(const uint64_t *events, const uint64_t *end)
{
    uint64_t least = UINT64_MAX;
    for (; events < end; events++)
        least = *events < least ? *events : least;
    return least >> 62 == 0;
}

#if defined(__x86_64__)
/* The least of each byte's place, 64 bytes at a time: a comparison for each event took 1.2 %
 * more of a program's time. The vector registers are the program's, so they are put back. */
static bool has_hole(const uint64_t *events, const uint64_t *end)
{
    const uint64_t *rest = events + (end - events) / 8 * 8;
    uint8_t kept[32], least[16] = {[7] = 0xff, [15] = 0xff};
    if (rest != events)
        __asm__ volatile("movups %%xmm0, (%[kept])\n\t"
                         "movups %%xmm1, 16(%[kept])\n\t"
                         "pcmpeqd %%xmm0, %%xmm0\n\t"
                         "pcmpeqd %%xmm1, %%xmm1\n"
                         "1:\n\t"
                         "pminub (%[events]), %%xmm0\n\t"
                         "pminub 16(%[events]), %%xmm1\n\t"
                         "pminub 32(%[events]), %%xmm0\n\t"
                         "pminub 48(%[events]), %%xmm1\n\t"
                         "add $64, %[events]\n\t"
                         "cmp %[rest], %[events]\n\t"
                         "jb 1b\n\t"
                         "pminub %%xmm1, %%xmm0\n\t"
                         "movups %%xmm0, (%[least])\n\t"
                         "movups (%[kept]), %%xmm0\n\t"
                         "movups 16(%[kept]), %%xmm1"
                         : [events] "+r"(events)
                         : [rest] "r"(rest), [kept] "r"(kept), [least] "r"(least)
                         : "memory", "cc");
    return least[7] < 0x40 || least[15] < 0x40 || has_hole_in(rest, end);
}
#else
static bool has_hole(const uint64_t *events, const uint64_t *end)
{
    return has_hole_in(events, end);
}
#endif

static void clear(uint64_t *events, const uint64_t *end)
{
#if defined(__x86_64__)
    size_t n = (size_t)(end - events);
    __asm__ volatile("rep stosq" : "+D"(events), "+c"(n) : "a"(0) : "memory");
#else
    for (; events < end; events++)
        *events = 0;
#endif
}

static void make_room(struct pm_tls *t, uint64_t tsc)
{
    struct pm_slot *slot = t->slot;
    struct pm_run_trace *head = slot->trace;
    if (t->trace_end == NULL && head != NULL) { /* of an earlier thread in this slot */
        pm_store(t->trace_end, events_of(head) + PLACES - SLACK);
        pm_store(t->trace_at, slot->trace_at);
    }
    if (t->trace_end != NULL && t->trace_at < t->trace_end)
        return; /* a handler was here in between */
    if (head == NULL) {
        if (slot->trace_scratch != NULL || !open_head(t, 0, tsc))
            write_to_nowhere(t, tsc);
        return;
    }
    uint64_t *events = events_of(head), *end = t->trace_at, number = head->number + 1;
    if (has_hole(events, end)) {
        if (!open_head(t, number, tsc))
            write_to_nowhere(t, tsc);
        return;
    }
    if (!write_part(head, (uint64_t)(end - events))) {
        write_to_nowhere(t, tsc); /* the head stays, with the last events that found room */
        return;
    }
    clear(events, end);
    begin_head(t, head, number, tsc);
}

void pm_trace_full(struct pm_tls *t, uint64_t tsc)
{
    uint64_t all = UINT64_MAX, before = 0;
    pm_sys(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof all);
    make_room(t, tsc);
    pm_sys(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof all);
}

void pm_trace_room(struct pm_tls *t, uint64_t tsc)
{
    if (pm_unlikely(t->trace_end == NULL || t->trace_at >= t->trace_end))
        pm_trace_full(t, tsc);
    if (pm_unlikely(tsc > t->trace_until)) {
        pm_store(*pm_trace_reserve(t), (uint64_t)1 << 62 | tsc);
        pm_store(t->trace_until, tsc + ((uint64_t)1 << UNTIL_BITS));
    }
}

void pm_trace_thread_end(struct pm_tls *t, uint64_t tsc)
{
    if (t->trace_end == NULL)
        return;
    pm_trace_room(t, tsc);
    pm_trace_fill(pm_trace_reserve(t), PM_RUN_TRACE_LEAVE | PM_RUN_TRACE_MARK_END, tsc);
    t->slot->trace_at = t->trace_at;
    t->trace_at = t->trace_end = NULL;
}

void pm_trace_fork_child(void)
{
    struct pm_tls *t = &pm_tls;
    for (uint32_t i = 0; i < MAX_SPACES && spaces[i] != 0; i++)
        spaces[i] = 0;
    if (n_drawn != 0)
        memset(busy, 0, parts_limit());
    n_drawn = max_parts = 0;
    stopped = said = false;
    t->trace_at = t->trace_end = NULL;
    if (t->slot != NULL)
        t->slot->trace = NULL;
}
