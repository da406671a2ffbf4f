/* perf events: a clock event for each thread, whose samples and context switches the kernel puts into a ring. No
 * signal per sample (25 us instead of 10): the ring is drained when a sled fires, and by a bell, a second clock
 * event that sends a signal some times in the time the ring takes to fill.
 *
 * The bell excludes the kernel, so its signal comes only where the program's own code was interrupted: no
 * system call ever ends with EINTR for it. For the same reason the first event has no signal: its context
 * switches are noted when a thread is just about to wait in the kernel.
 *
 * Where a thread waits: a third event counts context switches, and each one puts a sample of the program's registers and stack
 * into a ring of its own. When that one is full, places are missing, never times, for these are in the first ring. No
 * signal empties it, for the same reason. What is free in it is given back to the kernel no faster than
 * PLACE_NS allows: where a thread switches more often, the kernel finds no room, which costs it little.
 *
 * Descriptors are closed at once, the mappings keep the events: a program that closes all descriptors does
 * no harm.
 *
 * Children. The kernel does not let them have the ring (VM_DONTCOPY, and madvise refuses to change that), yet
 * trampolines read its head before anyone can know that this is a child (of a bare clone). So a page that grows
 * down lies right above the ring: in a child, where the ring was is a hole below a stack, and the first read makes
 * it memory that holds zeros.
 */
#include "sample.h"
#include "sys.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum {
    PAGE = PM_RUN_PAGE,
    LARGEST_RING_PAGES = 32, /* 119 samples */
    PLACES_PAGES = 8,        /* of threads but the first: they come and go */
    MANY_THREADS = 16,       /* from then on smaller ones: all of it is locked memory */
    VERY_MANY_THREADS = 64,
    PLACE_NS = 250000, /* 4000 places a second, at most */
#if defined(__x86_64__)
    REGISTER_SP = 7,
    REGISTER_IP = 8,
#else
    REGISTER_SP = 31,
    REGISTER_IP = 32,
#endif
};

/* A sample, as asked for below. The stack's bytes follow, and their number.
 *
 *     offset size
 *          0    8 header: type, misc, size
 *          8    8 instruction pointer
 *         16    8 time, CLOCK_MONOTONIC_RAW
 *         24    8 the event's count: CPU time since it was opened
 *         32    8 0: no registers, and then no stack either
 *         40    8 stack pointer
 *         48    8 instruction pointer in the program
 *         56    8 bytes of stack asked for; 0: none
 *         64      stack
 *          -    8 bytes of it that are there
 */
enum {
    SAMPLE_STACK = 64,
    SAMPLE_REGISTERS = 40,
    SAMPLE_HEAD = 64,
    SAMPLE_TYPE = PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_READ | PERF_SAMPLE_REGS_USER |
                  PERF_SAMPLE_STACK_USER,
    SAMPLE_REGISTERS_USER = 1 << REGISTER_SP | 1 << REGISTER_IP,
};

static bool is_error(long result)
{
    return result < 0 && result > -4096;
}

static long event_open(const struct perf_event_attr *attr)
{
    return pm_sys(SYS_perf_event_open, attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static long open_clock(bool with_kernel)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof attr,
        .config = PERF_COUNT_SW_TASK_CLOCK,
        .sample_period = pm_process.sample_period_ns,
        .sample_type = SAMPLE_TYPE,
        .sample_regs_user = SAMPLE_REGISTERS_USER,
        .sample_stack_user = PM_STACK_BYTES,
        .exclude_kernel = !with_kernel,
        .exclude_hv = 1,
        .context_switch = 1,
        .sample_id_all = 1,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC_RAW,
        .watermark = 1,
        .wakeup_watermark = 1u << 30,
    };
    return event_open(&attr);
}

/* Where the kernel may not be sampled, its share is what the thread's clock counts beyond the samples. */
static long open_event(struct pm_sampler *s)
{
    static bool refused;
    long fd = -EACCES;
    if (!pm_load(refused))
        fd = open_clock(s->has_kernel = true);
    if (fd != -EACCES && fd != -EPERM)
        return fd;
    fd = open_clock(s->has_kernel = false);
    if (!is_error(fd))
        pm_store(refused, true);
    return fd;
}

static void unmap_region(struct pm_sampler *s)
{
    if (s->region != NULL)
        pm_sys(SYS_munmap, s->region, s->region_bytes);
    s->region = NULL;
    s->ring = NULL;
}

/* A page that nothing may use, the ring (a page of its own, then data), the page that grows down. */
static int map_ring(struct pm_sampler *s, long fd, uint64_t data_pages)
{
    uint64_t ring_bytes = (1 + data_pages) * PAGE;
    s->region_bytes = ring_bytes + 2 * PAGE;
    long region = pm_sys(SYS_mmap, 0, s->region_bytes, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pm_mapped(region, s->region_bytes) == NULL)
        return is_error(region) ? (int)-region : ENOMEM;
    s->region = (char *)region;
    long top = pm_sys(SYS_mmap, region + PAGE + (long)ring_bytes, PAGE, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_GROWSDOWN, -1, 0);
    long ring = is_error(top) ? top
                              : pm_sys(SYS_mmap, region + PAGE, ring_bytes, PROT_READ | PROT_WRITE,
                                       MAP_SHARED | MAP_FIXED, fd, 0);
    if (is_error(ring)) {
        unmap_region(s);
        return (int)-ring;
    }
    s->ring = (volatile struct perf_event_mmap_page *)ring;
    s->ring_bytes = data_pages * PAGE;
    return 0;
}

static uint32_t n_rings;

/* Of locked memory a user may have little. */
static int map_some_ring(struct pm_sampler *s, long fd)
{
    int error_no = EPERM;
    uint32_t n = pm_load(n_rings);
    uint64_t pages = n < MANY_THREADS        ? LARGEST_RING_PAGES
                     : n < VERY_MANY_THREADS ? LARGEST_RING_PAGES / 2
                                             : LARGEST_RING_PAGES / 4;
    for (; pages >= 2 && error_no == EPERM; pages /= 2)
        error_no = map_ring(s, fd, pages);
    if (error_no == 0)
        pm_add_shared(n_rings, 1);
    return error_no;
}

/* Several times in what the ring takes to fill, for it finds the thread in the kernel now and then. Without a bell
 * samples may get lost in code without sleds, their time does not. */
static void open_bell(struct pm_sampler *s)
{
    uint64_t n_samples = s->ring_bytes / (SAMPLE_HEAD + PM_STACK_BYTES + 8) / 4;
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof attr,
        .config = PERF_COUNT_SW_TASK_CLOCK,
        .sample_period = pm_process.sample_period_ns * (n_samples != 0 ? n_samples : 1),
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };
    long fd = event_open(&attr);
    if (is_error(fd))
        return;
    struct {
        int type, pid;
    } owner = {F_OWNER_TID, (int)pm_sys(SYS_gettid)};
    long page = pm_sys(SYS_mmap, 0, PAGE, PROT_READ, MAP_SHARED, fd, 0);
    s->bell = pm_mapped(page, PAGE);
    if (s->bell != NULL) {
        pm_sys(SYS_fcntl, fd, F_SETOWN_EX, &owner);
        pm_sys(SYS_fcntl, fd, F_SETSIG, PM_SAMPLE_SIGNAL);
        pm_sys(SYS_fcntl, fd, F_SETFL, O_RDWR | O_ASYNC);
    }
    pm_sys(SYS_close, fd);
}

/* The kernel's own registers are those of a switch, so it has to be allowed. Only contexts are known where it is not, or where no
 * memory may be locked any more. */
static void open_places(struct pm_sampler *s)
{
    s->off_ring = (struct pm_off_ring){0};
    if (!s->has_kernel)
        return;
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof attr,
        .config = PERF_COUNT_SW_CONTEXT_SWITCHES,
        .sample_period = 1,
        .sample_type = SAMPLE_TYPE,
        .sample_regs_user = SAMPLE_REGISTERS_USER,
        .sample_stack_user = PM_STACK_BYTES,
        .exclude_hv = 1,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC_RAW,
        .watermark = 1,
        .wakeup_watermark = 1u << 30,
    };
    long fd = event_open(&attr);
    if (is_error(fd))
        return;
    uint64_t bytes = s->ring_bytes;
    if (bytes > PLACES_PAGES * PAGE && pm_thread_pointer() != pm_process.main_thread_pointer)
        bytes = PLACES_PAGES * PAGE;
    long ring = pm_sys(SYS_mmap, 0, PAGE + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    pm_sys(SYS_close, fd);
    s->off_ring.ring = pm_mapped(ring, PAGE + bytes);
    s->off_ring.bytes = bytes;
    if (s->off_ring.ring != NULL)
        pm_store(pm_sampling->has_places, 1);
}

int pm_perf_open(struct pm_sampler *s)
{
    long fd = open_event(s);
    if (is_error(fd))
        return (int)-fd;
    int error_no = map_some_ring(s, fd);
    pm_sys(SYS_close, fd);
    if (error_no != 0)
        return error_no;
    open_bell(s);
    open_places(s);
    s->off_since_ns = s->on_since_ns = s->off_ns = 0;
    s->lost_switches = false;
    s->begin_ns = pm_monotonic_ns();
    s->source = PM_RUN_SAMPLES_PERF;
    pm_ambient_ring(s->t, (const volatile uint64_t *)&s->ring->data_head, 0);
    return 0;
}

void pm_perf_close(struct pm_sampler *s)
{
    pm_ambient_ring(s->t, &pm_no_ring, 0);
    if (s->bell != NULL)
        pm_sys(SYS_munmap, s->bell, PAGE);
    s->bell = NULL;
    if (s->off_ring.ring != NULL)
        pm_sys(SYS_munmap, s->off_ring.ring, PAGE + s->off_ring.bytes);
    s->off_ring.ring = NULL;
    unmap_region(s);
    pm_add_shared(n_rings, (uint32_t)-1);
}

void pm_perf_fork_child(struct pm_sampler *s)
{
    n_rings = 0;
    s->region = NULL;
    s->ring = NULL;
    s->bell = NULL;
    s->off_ring.ring = NULL;
}

/* --- what is in the ring --- */

/* Copies a record, of which the ring's end may be in the middle. NULL: that is no record. */
static const struct perf_event_header *next_record(struct pm_sampler *s, const volatile void *ring,
                                                   uint64_t ring_bytes, uint64_t tail,
                                                   uint64_t head)
{
    const char *data = (const char *)ring + PAGE;
    uint64_t at = tail & (ring_bytes - 1), until_end = ring_bytes - at;
    struct perf_event_header *header = (struct perf_event_header *)s->record;
    memcpy(header, data + at, sizeof *header); /* records lie at multiples of 8 */
    uint64_t bytes = header->size;
    if (bytes < sizeof *header || bytes % 8 != 0 || bytes > head - tail)
        return NULL;
    if (bytes > sizeof s->record) {
        header->type = 0;
        return header;
    }
    uint64_t first = bytes < until_end ? bytes : until_end;
    memcpy(header, data + at, first);
    memcpy((char *)header + first, data, bytes - first);
    return header;
}

/* False: it is no sample. */
static bool read_sample(const struct perf_event_header *header, struct pm_taken *ret_taken)
{
    const uint64_t *word = (const uint64_t *)header;
    if (header->type != PERF_RECORD_SAMPLE || header->size < SAMPLE_REGISTERS)
        return false;
    bool in_kernel = (header->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
    *ret_taken = (struct pm_taken){.address = in_kernel ? 0 : word[1],
                                   .time_ns = word[2],
                                   .cpu_ns = word[3],
                                   .period_ns = pm_process.sample_period_ns,
                                   .kind = in_kernel ? PM_RUN_SAMPLE_KERNEL : PM_RUN_SAMPLE_USER};
    if (word[4] == 0 || header->size < SAMPLE_STACK)
        return true;
    ret_taken->sp = word[5];
    ret_taken->address = word[6];
    uint64_t asked = word[7];
    if (asked != 0 && asked <= header->size - SAMPLE_STACK - 8u) {
        uint64_t there = word[(SAMPLE_STACK + asked) / 8];
        ret_taken->stack = (const uint8_t *)header + SAMPLE_STACK;
        ret_taken->stack_bytes = there < asked ? there : asked;
    }
    return true;
}

static void take_sample(struct pm_sampler *s, const struct perf_event_header *header)
{
    struct pm_taken taken;
    if (read_sample(header, &taken))
        pm_sample_take(s, &taken);
}

/* Gives room back to the kernel, as much as time has passed for. */
static void free_places(struct pm_off_ring *r, uint64_t now_ns)
{
    enum { RECORD = SAMPLE_HEAD + PM_STACK_BYTES + 8 };
    uint64_t tail = r->ring->data_tail, most_ns = r->bytes / RECORD * PLACE_NS;
    if (now_ns > most_ns && r->freed_ns < now_ns - most_ns)
        r->freed_ns = now_ns - most_ns;
    uint64_t n = now_ns > r->freed_ns ? (now_ns - r->freed_ns) / PLACE_NS : 0;
    uint64_t n_seen = (r->seen - tail + RECORD - 1) / RECORD;
    if (n_seen < n)
        n = n_seen;
    if (n == 0)
        return;
    r->freed_ns += n * PLACE_NS;
    tail = r->seen - tail < n * RECORD ? r->seen : tail + n * RECORD;
    __atomic_store_n(&r->ring->data_tail, tail, __ATOMIC_RELEASE);
}

/* Where it was when it was switched out, at that time: the last sample since it was switched in. */
static void find_place(struct pm_sampler *s, uint64_t out_ns)
{
    struct pm_off_ring *r = &s->off_ring;
    if (r->ring == NULL)
        return;
    uint64_t head = __atomic_load_n(&r->ring->data_head, __ATOMIC_ACQUIRE);
    while (r->seen < head) {
        struct pm_taken taken;
        const struct perf_event_header *header = next_record(s, r->ring, r->bytes, r->seen, head);
        if (header == NULL) {
            r->seen = head;
            break;
        }
        bool is_sample = read_sample(header, &taken);
        if (is_sample && taken.time_ns > out_ns)
            break;
        r->seen += header->size;
        if (!is_sample || taken.time_ns <= s->on_since_ns || taken.sp == 0)
            continue;
        const struct pm_node *node = pm_sample_context(s, taken.sp);
        s->off.address = taken.address;
        s->off.sp = taken.sp;
        s->off.caller = pm_sample_caller(node, &taken);
    }
    free_places(r, out_ns);
}

/* What is off the CPU now may have come back among what was lost. */
static void lose_switches(struct pm_sampler *s)
{
    s->lost_switches = true;
    s->off_since_ns = 0;
}

/* After all records. The time that neither switches nor the CPU clock tell of was off the CPU, nobody knows why: in the context that is
 * active, for no sled has fired while the ring filled up. */
static void settle_switches(struct pm_sampler *s)
{
    uint64_t cpu_ns = s->lost_switches ? pm_thread_cpu_ns(s->slot->tid) : 0;
    if (cpu_ns < s->cpu_before_ns || cpu_ns == 0 || s->off_since_ns != 0)
        return;
    int64_t missing = (int64_t)(pm_monotonic_ns() - s->begin_ns - s->off_ns) -
                      (int64_t)(cpu_ns - s->cpu_before_ns);
    s->lost_switches = false;
    if (missing > 0)
        pm_sample_waited(s, pm_sample_context(s, 0),
                         &(struct pm_off){.kind = PM_RUN_SAMPLE_OFF_CPU}, (uint64_t)missing);
}

static void off_until(struct pm_sampler *s, uint64_t until_ns)
{
    pm_sample_waited(s, pm_sample_context(s, s->off.sp), &s->off, until_ns - s->off_since_ns);
}

/* The time is behind the header: the only thing asked for that switches have. */
static void take_switch(struct pm_sampler *s, const struct perf_event_header *header)
{
    if (header->size < 16)
        return;
    uint64_t time_ns = ((const uint64_t *)header)[1];
    if (header->misc & PERF_RECORD_MISC_SWITCH_OUT) {
        bool could_run = (header->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0;
        s->off_since_ns = time_ns;
        s->off =
            (struct pm_off){.kind = could_run ? PM_RUN_SAMPLE_PREEMPTED : PM_RUN_SAMPLE_WAITING};
        find_place(s, time_ns);
        return;
    }
    if (s->off_since_ns != 0 && time_ns > s->off_since_ns)
        off_until(s, time_ns);
    s->off_since_ns = 0;
    s->on_since_ns = time_ns;
}

/* The time of a sample or switch; 0: of anything else. */
static uint64_t time_of(const struct perf_event_header *header)
{
    const uint64_t *word = (const uint64_t *)header;
    if (header->type == PERF_RECORD_SAMPLE && header->size >= SAMPLE_REGISTERS)
        return word[2];
    return header->type == PERF_RECORD_SWITCH && header->size >= 16 ? word[1] : 0;
}

/* What is off the CPU all the time up to then. */
static void split_wait(struct pm_sampler *s, uint64_t until_ns)
{
    if (s->off_since_ns == 0 || s->off_since_ns >= until_ns)
        return;
    off_until(s, until_ns);
    s->off_since_ns = until_ns;
}

/* What the thread's clock counted beyond all samples so far and those in the ring. The event's own count tells in which of the gaps between
 * them that was (pm_sample_take), but not how much: it goes on while another virtual machine has the processor. */
static void find_missing(struct pm_sampler *s, uint64_t tail, uint64_t head)
{
    uint64_t n = 0, cpu_ns = pm_thread_cpu_ns(s->slot->tid);
    s->missing_ns = 0;
    if (cpu_ns <= s->cpu_before_ns)
        return;
    pm_thread_spent(s->slot, cpu_ns);
    const char *data = (const char *)s->ring + PAGE;
    while (tail < head) {
        struct perf_event_header header;
        memcpy(&header, data + (tail & (s->ring_bytes - 1)), sizeof header);
        if (header.size < sizeof header)
            break;
        n += header.type == PERF_RECORD_SAMPLE;
        tail += header.size;
    }
    uint64_t spent_ns = cpu_ns - s->cpu_before_ns;
    uint64_t known_ns = s->charged_ns + n * pm_process.sample_period_ns;
    s->missing_ns = spent_ns > known_ns ? spent_ns - known_ns : 0;
}

void pm_perf_drain(struct pm_sampler *s, uint64_t until_ns)
{
    uint64_t head = __atomic_load_n(&s->ring->data_head, __ATOMIC_ACQUIRE);
    uint64_t tail = s->ring->data_tail;
    bool was_full = head - tail + SAMPLE_HEAD + PM_STACK_BYTES + 8 > s->ring_bytes;
    find_missing(s, tail, head);
    while (tail < head) {
        const struct perf_event_header *header = next_record(s, s->ring, s->ring_bytes, tail, head);
        if (header != NULL && time_of(header) > until_ns) { /* the rest comes later */
            split_wait(s, until_ns);
            __atomic_store_n(&s->ring->data_tail, tail, __ATOMIC_RELEASE);
            return;
        }
        if (header == NULL)
            break;
        tail += header->size;
        if (header->type == PERF_RECORD_SAMPLE)
            take_sample(s, header);
        else if (header->type == PERF_RECORD_SWITCH)
            take_switch(s, header);
        else if (header->type == PERF_RECORD_LOST && header->size >= 24) {
            s->n_lost += s->record[2];
            lose_switches(s);
        } else if (header->type == PERF_RECORD_LOST_SAMPLES && header->size >= 16)
            s->n_lost += s->record[1];
    }
    if (until_ns != UINT64_MAX)
        split_wait(s, until_ns);
    __atomic_store_n(&s->ring->data_tail, head, __ATOMIC_RELEASE);
    pm_ambient_saw(s->t, head);
    if (was_full) /* the kernel says what it lost with the next record that fits */
        lose_switches(s);
    settle_switches(s);
    if (was_full) /* what did not fit happened in the context that is active: no sled has fired */
        pm_sample_settle(s, pm_sample_context(s, 0),
                         pm_thread_cpu_ns(s->slot->tid) - s->cpu_before_ns,
                         pm_process.sample_period_ns, true);
}
