/* perf events: a clock event for each thread, whose samples and context switches the kernel puts
 * into a ring. No signal per sample (25 us instead of 10): the ring is drained when a sled
 * fires, and by a bell, a second clock event that sends a signal some times in the time the ring
 * takes to fill.
 *
 * The bell excludes the kernel, so its signal comes only where the program's own code was
 * interrupted: no system call ever ends with EINTR for it. For the same reason the first event
 * has no signal: its context switches are noted when a thread is just about to wait in the
 * kernel.
 *
 * Where a thread waits: a third event counts context switches, and each one puts a sample of the
 * program's registers and stack into a ring of its own. When that one is full, places are
 * missing, never times, for these are in the first ring. No signal empties it, for the same
 * reason. What is free in it is given back to the kernel no faster than PLACE_NS allows: where a
 * thread switches more often, the kernel finds no room, which costs it little.
 *
 * Brief threads. The three cost more than such a thread itself (85 us), so a thread that is
 * expected to be brief, for those that ended before it were, has the first event only, with a
 * small ring, and in place of the bell a POSIX timer (3 us) on the time that it spends in the
 * program's own code. The kernel adds to that clock, and looks at it, in ticks that interrupted
 * the program's own code, so this signal ends no system call either. When there is a sample, or
 * the thread has waited, it gets all three.
 *
 * Descriptors are closed at once, the mappings keep the events: a program that closes all
 * descriptors does no harm.
 *
 * Children. The kernel does not let them have the ring (VM_DONTCOPY, and madvise refuses to
 * change that), yet trampolines read its head before anyone can know that this is a child (of a
 * bare clone). So a page that grows down lies right above the ring: in a child, where the ring
 * was is a hole below a stack, and the first read makes it memory that holds zeros.
 */
#include "runtime/base/clock.h"
#include "runtime/base/signals.h"
#include "runtime/base/sys.h"
#include "runtime/tree/ambient.h"
#include "runtime/tree/fold.h"
#include "runtime/code/places.h"
#include "runtime/sample/sample.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

enum {
    PAGE = PM_RUN_PAGE,
    LARGEST_RING_PAGES = 32, /* 112 samples */
    PLACES_PAGES = 8,        /* of threads but the first: they come and go */
    DEEP_RING_PAGES = 256,   /* of deep samples: 126 of the first thread, 63 of others */
    LEAST_DEEP_PAGES = 32,
    EARLY_SAMPLES = 3,
    MANY_THREADS = 16, /* from then on smaller ones: all of it is locked memory */
    VERY_MANY_THREADS = 64,
    PLACE_NS = 250000, /* 4000 places a second, at most */
    /* Of stacks at switches: more cost more, and most waits are not deep. */
    DEEP_PLACE_BYTES = 4096,
    /* A thread is expected to be brief when so many have been, one after the other: with less
     * CPU time than a sample, and waits that nobody would look for. */
    BRIEF_THREADS = 16,
    BRIEF_WAIT_NS = 200000,
    BRIEF_RING_PAGES = 4, /* 14 samples */
    BRIEF_TICK_NS = 1000000,
};

/* Records of the ring. A sample is as asked for below: */
struct perf_sample {
    struct perf_event_header header;
    uint64_t ip;
    uint64_t time_ns;                /* CLOCK_MONOTONIC_RAW */
    uint64_t count;                  /* of the event; the clock's: CPU time since it was opened */
    uint64_t enabled_ns, running_ns; /* how long it was to count, and did */
    uint64_t event_id;
    uint64_t abi; /* 0: no registers, and then no stack either */
    /* Of the program, as SAMPLE_REGISTERS_USER asks, in the kernel's order. */
#if defined(__x86_64__)
    uint64_t rbx_rbp[2], sp, user_ip, r12_to_r15[4];
#else
    uint64_t sp, user_ip;
#endif
    uint64_t stack_asked_bytes; /* 0: none */
    uint8_t stack[];            /* behind it a word: so many bytes of it are there */
};
struct perf_switch {
    struct perf_event_header header;
    uint64_t time_ns; /* the only thing asked for that switches have */
};
struct perf_throttle {
    struct perf_event_header header;
    uint64_t time_ns, event_id, stream_id;
};
struct perf_lost {
    struct perf_event_header header;
    uint64_t event_id, n;
};
struct perf_lost_samples {
    struct perf_event_header header;
    uint64_t n;
};
enum {
#if defined(__x86_64__)
    SAMPLE_REGISTERS_USER =
        1 << 1 | 1 << 6 | 1 << 7 | 1 << 8 | 1 << 20 | 1 << 21 | 1 << 22 | 1 << 23,
#endif
    SAMPLE_LEAST = offsetof(struct perf_sample, abi) + sizeof(uint64_t), /* without registers */
    SAMPLE_STACK = offsetof(struct perf_sample, stack),
    SAMPLE_TYPE = PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_READ | PERF_SAMPLE_REGS_USER |
                  PERF_SAMPLE_STACK_USER,
};
#if defined(__x86_64__)
_Static_assert(SAMPLE_STACK == 136, "eight words, eight registers, a word");
#else
static const uint64_t SAMPLE_REGISTERS_USER = 1ull << 31 | 1ull << 32;
#endif

static uint64_t record_bytes(uint64_t stack_bytes)
{
    return SAMPLE_STACK + stack_bytes + 8;
}

static bool is_error(long result)
{
    return result < 0 && result > -4096;
}

static long event_open(const struct perf_event_attr *attr)
{
    return pm_sys(SYS_perf_event_open, attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Up to a tenth less or more than asked for, anew for each event: a program whose turns take
 * just so long as a multiple of them would be asked at the same places of its turns, in each
 * run. */
static uint64_t some_period_ns(void)
{
    uint64_t period_ns = pm_process.sample_period_ns;
    uint64_t mixed = (pm_tsc() ^ (uintptr_t)&pm_tls) * 0x9e3779b97f4a7c15u;
    return period_ns - period_ns / 10 + (mixed >> 32) * (period_ns / 5) / UINT32_MAX;
}

void pm_perf_ask_samples(struct perf_event_attr *attr, uint64_t period, uint64_t stack_bytes)
{
    attr->sample_period = period;
    attr->sample_type = SAMPLE_TYPE;
    attr->read_format = PM_PERF_READ_FORMAT;
    attr->sample_regs_user = SAMPLE_REGISTERS_USER;
    attr->sample_stack_user = (uint32_t)stack_bytes;
}

static long open_clock(struct pm_sampler *s, bool with_kernel)
{
    s->period_ns = some_period_ns();
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof attr,
        .config = PERF_COUNT_SW_TASK_CLOCK,
        .exclude_kernel = !with_kernel,
        .exclude_hv = 1,
        .context_switch = 1,
        .sample_id_all = 1,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC_RAW,
        .watermark = 1,
        .wakeup_watermark = 1u << 30,
    };
    pm_perf_ask_samples(&attr, s->period_ns, s->stack_bytes);
    return event_open(&attr);
}

/* Where the kernel may not be sampled, its share is what the thread's clock counts beyond the
 * samples. */
static long open_event(struct pm_sampler *s)
{
    static bool refused;
    long fd = -EACCES;
    if (!pm_load(refused))
        fd = open_clock(s, s->has_kernel = true);
    if (fd != -EACCES && fd != -EPERM)
        return fd;
    fd = open_clock(s, s->has_kernel = false);
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

static long map_pages(struct pm_sampler *s, long fd, int how)
{
    return pm_sys(SYS_mmap, s->region + PAGE, s->region_bytes - 2 * PAGE, PROT_READ | PROT_WRITE,
                  MAP_SHARED | how, fd, 0);
}

/* A page that nothing may use, the ring (a page of its own, then data), the page that grows
 * down. */
static int map_ring(struct pm_sampler *s, long fd, uint64_t data_pages)
{
    s->region_bytes = (1 + data_pages) * PAGE + 2 * PAGE;
    long region = pm_sys(SYS_mmap, 0, s->region_bytes, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pm_mapped(region, s->region_bytes) == NULL)
        return is_error(region) ? (int)-region : ENOMEM;
    s->region = (char *)region;
    long top = pm_sys(SYS_mmap, region + (long)s->region_bytes - PAGE, PAGE, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_GROWSDOWN, -1, 0);
    long ring = is_error(top) ? top : map_pages(s, fd, MAP_FIXED);
    if (is_error(ring)) {
        unmap_region(s);
        return (int)-ring;
    }
    s->ring = (volatile struct perf_event_mmap_page *)ring;
    s->ring_bytes = data_pages * PAGE;
    return 0;
}

/* For the next brief thread of this slot: the two pages around the ring stay. Nothing comes to
 * lie between them unless the program asks for that very place, for the kernel keeps a megabyte
 * below a page that grows down. */
static void keep_region(struct pm_sampler *s)
{
    pm_sys(SYS_munmap, s->region + PAGE, s->region_bytes - 2 * PAGE);
    s->kept_region = s->region;
    s->region = NULL;
    s->ring = NULL;
}

static bool map_kept_ring(struct pm_sampler *s, long fd, uint64_t data_pages)
{
    if (s->kept_region == NULL)
        return false;
    s->region = s->kept_region;
    s->kept_region = NULL;
    s->region_bytes = (1 + data_pages) * PAGE + 2 * PAGE;
    long ring = map_pages(s, fd, MAP_FIXED_NOREPLACE);
    if (ring == (long)s->region + PAGE) {
        s->ring = (volatile struct perf_event_mmap_page *)ring;
        s->ring_bytes = data_pages * PAGE;
        return true;
    }
    if (!is_error(ring)) /* kernels before 4.17 */
        pm_sys(SYS_munmap, ring, s->region_bytes - 2 * PAGE);
    pm_sys(SYS_munmap, s->region, PAGE);
    pm_sys(SYS_munmap, s->region + s->region_bytes - PAGE, PAGE);
    s->region = NULL;
    return false;
}

static uint32_t n_rings;

/* Of locked memory a user may have little. */
static int map_some_ring(struct pm_sampler *s, long fd, uint64_t pages, uint64_t least_pages)
{
    int error_no = EPERM;
    for (; pages >= least_pages && error_no == EPERM; pages /= 2)
        error_no = map_ring(s, fd, pages);
    return error_no;
}

static int map_first_ring(struct pm_sampler *s, long fd)
{
    uint32_t n = pm_load(n_rings);
    uint64_t largest = pm_counters_sample() ? DEEP_RING_PAGES : LARGEST_RING_PAGES;
    uint64_t pages = n < MANY_THREADS ? largest : n < VERY_MANY_THREADS ? largest / 2 : largest / 4;
    return map_some_ring(s, fd, pages, 2);
}

static bool is_main_thread(void)
{
    return pm_thread_pointer() == pm_process.main_thread_pointer;
}

static int map_deep_ring(struct pm_sampler *s, long fd)
{
    uint64_t pages = is_main_thread() ? DEEP_RING_PAGES : DEEP_RING_PAGES / 2;
    return map_some_ring(s, fd, pages, LEAST_DEEP_PAGES);
}

/* What rings for so many of these events. NULL: nothing does. */
static void *bell_of(const struct pm_sampler *s, uint32_t type, uint64_t config, uint64_t period)
{
    struct perf_event_attr attr = {
        .type = type,
        .size = sizeof attr,
        .config = config,
        .sample_period = period,
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };
    long fd = event_open(&attr);
    if (is_error(fd))
        return NULL;
    long page = pm_sys(SYS_mmap, 0, PAGE, PROT_READ, MAP_SHARED, fd, 0);
    void *bell = pm_mapped(page, PAGE);
    struct {
        int type, pid;
    } owner = {F_OWNER_TID, (int)s->slot->tid};
    if (bell != NULL) {
        pm_sys(SYS_fcntl, fd, F_SETOWN_EX, &owner);
        pm_sys(SYS_fcntl, fd, F_SETSIG, PM_SAMPLE_SIGNAL);
        pm_sys(SYS_fcntl, fd, F_SETFL, O_RDWR | O_ASYNC);
    }
    pm_sys(SYS_close, fd);
    return bell;
}

static uint64_t ring_samples(const struct pm_sampler *s)
{
    return s->ring_bytes / record_bytes(s->stack_bytes);
}

/* Sixteen times in what the ring takes to fill, for it may find the thread in the kernel most of
 * the time. Without a bell samples may get lost in code without sleds, their time does not. The
 * first comes early: it tells whether stacks are too short. */
static void open_bell(struct pm_sampler *s, bool is_early)
{
    uint64_t n_samples = ring_samples(s) / 16;
    s->is_early_bell = is_early && n_samples > EARLY_SAMPLES;
    if (s->is_early_bell)
        n_samples = EARLY_SAMPLES;
    s->bell = bell_of(s, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK,
                      s->period_ns * (n_samples != 0 ? n_samples : 1));
}

/* Events that software counts may come by thousands between two looks of the clock's bell. Those
 * of the processor come in periods that are chosen to be about as long as the clock's. */
static void open_counter_bells(struct pm_sampler *s)
{
    uint64_t n_samples = ring_samples(s) / 4;
    for (uint32_t i = 0; i < pm_process.counters.n; i++) {
        const struct pm_counter_setting *setting = &pm_process.counters.items[i];
        struct pm_counter *counter = &s->counters[i];
        if (setting->type == PERF_TYPE_SOFTWARE && setting->period != 0 &&
            counter->fd_plus_1 != 0 && !(setting->flags & PM_COUNTER_IN_KERNEL))
            counter->bell = bell_of(s, PERF_TYPE_SOFTWARE, setting->config,
                                    setting->period * (n_samples != 0 ? n_samples : 1));
    }
}

/* The kernel's own registers are those of a switch, so it has to be allowed. Only contexts are
 * known where it is not, or where no memory may be locked any more. */
static void open_places(struct pm_sampler *s)
{
    s->off_ring = (struct pm_off_ring){0};
    if (!s->has_kernel)
        return;
    bool is_deep = s->stack_bytes > PM_STACK_BYTES;
    s->off_ring.stack_bytes = is_deep ? DEEP_PLACE_BYTES : PM_STACK_BYTES;
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof attr,
        .config = PERF_COUNT_SW_CONTEXT_SWITCHES,
        .exclude_hv = 1,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC_RAW,
        .watermark = 1,
        .wakeup_watermark = 1u << 30,
    };
    pm_perf_ask_samples(&attr, 1, s->off_ring.stack_bytes);
    long fd = event_open(&attr);
    if (is_error(fd))
        return;
    uint64_t bytes = s->ring_bytes, most = PLACES_PAGES * PAGE * (is_deep ? 4 : 1);
    if (bytes > most && !is_main_thread())
        bytes = most;
    long ring = pm_sys(SYS_mmap, 0, PAGE + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    pm_sys(SYS_close, fd);
    s->off_ring.ring = pm_mapped(ring, PAGE + bytes);
    s->off_ring.bytes = bytes;
    if (s->off_ring.ring != NULL)
        pm_store(pm_sampling->has_places, 1);
}

/* All switches of the opening before have been taken when another one begins: each is preceded
 * by a drain. */
static void begin_opening(struct pm_sampler *s)
{
    s->opening_from_ns = pm_monotonic_ns();
    s->opening_until_ns = UINT64_MAX;
}

static void end_opening(struct pm_sampler *s)
{
    s->opening_until_ns = pm_monotonic_ns();
}

/* What some thread has needed: those that begin later have it at once, unless they are many. */
static uint32_t needed_stack_bytes;

static int open_ring(struct pm_sampler *s)
{
    uint64_t needed = pm_load(needed_stack_bytes);
    bool is_deep = needed != 0 && pm_load(n_rings) < MANY_THREADS;
    s->stack_bytes = is_deep ? needed : PM_STACK_BYTES;
    long fd = open_event(s);
    if (is_error(fd))
        return (int)-fd;
    int error_no = is_deep ? map_deep_ring(s, fd) : map_first_ring(s, fd);
    if (error_no == 0)
        pm_counters_open(s, fd);
    pm_sys(SYS_close, fd);
    return error_no;
}

static void open_helpers(struct pm_sampler *s)
{
    open_bell(s, s->stack_bytes < s->most_stack_bytes);
    open_counter_bells(s);
    open_places(s);
}

static uint32_t n_brief; /* threads that ended last, one after the other */

static bool open_brief_timer(struct pm_sampler *s)
{
    enum { CLOCK_OF_THREAD = 4, USER_TIME = 1 }; /* linux/kernel/time/posix-cpu-timers.c */
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = PM_SAMPLE_SIGNAL};
    event.sigev_value.sival_ptr = (void *)(uintptr_t)&pm_signal_mark;
    event.sigev_notify_thread_id = (int)s->slot->tid;
    struct timespec step = {0, BRIEF_TICK_NS};
    struct itimerspec time = {.it_interval = step, .it_value = step};
    int clock = (int)(~s->slot->tid << 3 | CLOCK_OF_THREAD | USER_TIME);
    if (pm_sys(SYS_timer_create, clock, &event, &s->timer) != 0)
        return false;
    if (pm_sys(SYS_timer_settime, s->timer, 0, &time, NULL) == 0)
        return true;
    pm_sys(SYS_timer_delete, s->timer);
    return false;
}

static bool open_brief(struct pm_sampler *s)
{
    if (pm_load(n_brief) < BRIEF_THREADS || is_main_thread() || pm_process.counters.n != 0 ||
        !open_brief_timer(s))
        return false;
    s->stack_bytes = PM_STACK_BYTES;
    long fd = open_event(s);
    s->is_brief = !is_error(fd) && (map_kept_ring(s, fd, BRIEF_RING_PAGES) ||
                                    map_ring(s, fd, BRIEF_RING_PAGES) == 0);
    if (!is_error(fd))
        pm_sys(SYS_close, fd);
    if (!s->is_brief)
        pm_sys(SYS_timer_delete, s->timer);
    return s->is_brief;
}

/* When all of its time has been charged. */
static void note_end(const struct pm_sampler *s)
{
    bool was_brief = s->charged_ns < s->period_ns && s->waited_ns < BRIEF_WAIT_NS;
    if (!was_brief)
        pm_store(n_brief, 0);
    else if (pm_load(n_brief) < BRIEF_THREADS)
        pm_add_shared(n_brief, 1);
}

int pm_perf_open(struct pm_sampler *s)
{
    s->most_stack_bytes = PM_DEEPEST_STACK_BYTES;
    s->is_short = s->is_early_bell = false;
    s->from_ns = s->opening_from_ns = s->opening_until_ns = 0;
    int error_no = open_brief(s) ? 0 : open_ring(s);
    if (error_no != 0)
        return error_no;
    pm_add_shared(n_rings, 1);
    if (!s->is_brief)
        open_helpers(s);
    s->off_since_ns = s->on_since_ns = s->off_ns = s->waited_ns = 0;
    s->lost_switches = false;
    s->begin_ns = s->opening_until_ns = pm_monotonic_ns();
    s->source = PM_RUN_SAMPLES_PERF;
    pm_ambient_ring(s->t, (const volatile uint64_t *)&s->ring->data_head, 0);
    return 0;
}

static void close_bell(struct pm_sampler *s)
{
    if (s->bell != NULL)
        pm_sys(SYS_munmap, s->bell, PAGE);
    s->bell = NULL;
}

static void close_helpers(struct pm_sampler *s)
{
    close_bell(s);
    for (uint32_t i = 0; i < pm_process.counters.n; i++) {
        if (s->counters[i].bell != NULL)
            pm_sys(SYS_munmap, s->counters[i].bell, PAGE);
        s->counters[i].bell = NULL;
    }
    if (s->off_ring.ring != NULL)
        pm_sys(SYS_munmap, s->off_ring.ring, PAGE + s->off_ring.bytes);
    s->off_ring.ring = NULL;
}

struct ring {
    volatile struct perf_event_mmap_page *ring;
    uint64_t ring_bytes, stack_bytes, period_ns;
    char *region;
    size_t region_bytes;
};

static struct ring ring_of(const struct pm_sampler *s)
{
    return (struct ring){s->ring,      s->ring_bytes, s->stack_bytes,
                         s->period_ns, s->region,     s->region_bytes};
}

static void set_ring(struct pm_sampler *s, const struct ring *r)
{
    s->ring = r->ring;
    s->ring_bytes = r->ring_bytes;
    s->stack_bytes = r->stack_bytes;
    s->period_ns = r->period_ns;
    s->region = r->region;
    s->region_bytes = r->region_bytes;
}

/* What came before from_ns is in the old ring, what came then is looked for in the new one. A
 * trampoline that is interrupted may be about to read the old one's head, so zeros come to lie
 * there. */
static void change_rings(struct pm_sampler *s, const struct ring *old, const struct ring *deep)
{
    set_ring(s, old);
    uint64_t from_ns = pm_monotonic_ns();
    pm_perf_drain(s, pm_thread_cpu_ns(s->slot->tid), from_ns);
    s->from_ns = from_ns;
    close_helpers(s);
    set_ring(s, deep);
    s->event_ns = 0;
    s->rest_ns = s->missing_ns % old->period_ns;
    pm_ambient_ring(s->t, (const volatile uint64_t *)&s->ring->data_head, 0);
    struct pm_old_region *region = &s->old_regions[s->old_regions[0].start != NULL];
    *region = (struct pm_old_region){old->region, old->region_bytes};
    pm_sys(SYS_mmap, old->region, old->region_bytes, PROT_READ,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
}

/* The thread is not brief. Where there is no memory for a larger ring, it goes on with the one
 * that it has, and with a bell. */
static void end_brief(struct pm_sampler *s)
{
    struct ring old = ring_of(s);
    s->is_brief = false;
    begin_opening(s);
    pm_sys(SYS_timer_delete, s->timer);
    bool is_open = open_ring(s) == 0;
    struct ring now = ring_of(s);
    if (is_open)
        change_rings(s, &old, &now);
    else
        set_ring(s, &old);
    open_helpers(s);
    end_opening(s);
}

/* What is opened is the caller's: in a vfork child, which has our thread's memory, it would be the
 * child's, and end with it. */
static bool is_own_thread(const struct pm_sampler *s)
{
    return s->t == &pm_tls && (uint32_t)pm_sys(SYS_gettid) == s->slot->tid;
}

static bool is_too_short(const struct pm_sampler *s)
{
    return s->is_short && s->stack_bytes < s->most_stack_bytes &&
           pm_load(n_rings) <= VERY_MANY_THREADS;
}

void pm_perf_deepen(struct pm_sampler *s)
{
    bool ends_brief = s->is_brief && (s->charged_ns != 0 || s->waited_ns >= BRIEF_WAIT_NS);
    if ((!ends_brief && !is_too_short(s)) || !is_own_thread(s))
        return;
    if (ends_brief)
        end_brief(s);
    if (!is_too_short(s))
        return;
    s->is_short = false;
    begin_opening(s);
    struct ring old = ring_of(s);
    s->stack_bytes =
        old.stack_bytes < PM_DEEP_STACK_BYTES ? PM_DEEP_STACK_BYTES : PM_DEEPEST_STACK_BYTES;
    long fd = open_clock(s, s->has_kernel);
    int error_no = is_error(fd) ? EPERM : map_deep_ring(s, fd);
    if (error_no == 0)
        pm_counters_open(s, fd);
    if (!is_error(fd))
        pm_sys(SYS_close, fd);
    struct ring deep = ring_of(s);
    set_ring(s, &old);
    if (error_no != 0) {
        s->most_stack_bytes = old.stack_bytes;
        end_opening(s);
        return;
    }
    if (pm_load(needed_stack_bytes) < deep.stack_bytes)
        pm_store(needed_stack_bytes, (uint32_t)deep.stack_bytes);
    change_rings(s, &old, &deep);
    open_helpers(s);
    end_opening(s);
}

void pm_perf_rang(struct pm_sampler *s)
{
    uint64_t from_ns = pm_monotonic_ns();
    bool was_brief = s->is_brief;
    pm_perf_deepen(s);
    if (was_brief || !s->is_early_bell || !is_own_thread(s))
        return;
    s->opening_from_ns = from_ns;
    s->opening_until_ns = UINT64_MAX;
    close_bell(s);
    open_bell(s, false);
    end_opening(s);
}

void pm_perf_close(struct pm_sampler *s)
{
    pm_ambient_ring(s->t, &pm_no_ring, 0);
    note_end(s);
    close_helpers(s);
    if (s->is_brief) {
        pm_sys(SYS_timer_delete, s->timer);
        keep_region(s);
    } else {
        unmap_region(s);
    }
    s->is_brief = false;
    for (unsigned i = 0; i < 2; i++)
        if (s->old_regions[i].start != NULL)
            pm_sys(SYS_munmap, s->old_regions[i].start, s->old_regions[i].bytes);
    memset(s->old_regions, 0, sizeof s->old_regions);
    pm_add_shared(n_rings, (uint32_t)-1);
}

void pm_perf_fork_child(struct pm_sampler *s)
{
    n_rings = n_brief = 0;
    s->region = s->kept_region = NULL;
    s->is_brief = false;
    memset(s->old_regions, 0, sizeof s->old_regions);
    s->ring = NULL;
    s->bell = NULL;
    s->off_ring.ring = NULL;
}

/* --- what is in the ring --- */

/* A record where it lies; one that the ring's end is in the middle of is copied. NULL: that is
 * no record. */
static const struct perf_event_header *next_record(struct pm_sampler *s, const volatile void *ring,
                                                   uint64_t ring_bytes, uint64_t tail,
                                                   uint64_t head)
{
    const char *data = (const char *)ring + PAGE;
    uint64_t at = tail & (ring_bytes - 1), until_end = ring_bytes - at;
    const struct perf_event_header *there = (const struct perf_event_header *)(data + at);
    uint64_t bytes = there->size; /* records lie at multiples of 8 */
    if (bytes < sizeof *there || bytes % 8 != 0 || bytes > head - tail)
        return NULL;
    if (bytes <= until_end)
        return there;
    struct perf_event_header *copy = (struct perf_event_header *)s->record;
    if (bytes > sizeof s->record) {
        *copy = (struct perf_event_header){.size = (uint16_t)bytes};
        return copy;
    }
    memcpy(copy, there, until_end);
    memcpy((char *)copy + until_end, data, bytes - until_end);
    return copy;
}

/* False: it is no sample. */
static bool read_sample(const struct pm_sampler *s, const struct perf_event_header *header,
                        struct pm_taken *ret_taken)
{
    const struct perf_sample *sample = (const struct perf_sample *)header;
    if (header->type != PERF_RECORD_SAMPLE || header->size < SAMPLE_LEAST)
        return false;
    bool in_kernel = (header->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
    *ret_taken = (struct pm_taken){.address = in_kernel ? 0 : sample->ip,
                                   .time_ns = sample->time_ns,
                                   .cpu_ns = sample->count,
                                   .period_ns = s->period_ns,
                                   .kind = in_kernel ? PM_RUN_SAMPLE_KERNEL : PM_RUN_SAMPLE_USER};
    if (sample->abi == 0 || header->size < SAMPLE_STACK)
        return true;
    ret_taken->sp = sample->sp;
    ret_taken->address = sample->user_ip;
#if defined(__x86_64__)
    ret_taken->has_registers = true;
    memcpy(ret_taken->registers, sample->rbx_rbp, sizeof sample->rbx_rbp);
    memcpy(ret_taken->registers + 2, sample->r12_to_r15, sizeof sample->r12_to_r15);
#endif
    uint64_t asked = sample->stack_asked_bytes, there;
    if (asked != 0 && asked < header->size && SAMPLE_STACK + asked + sizeof there <= header->size) {
        memcpy(&there, sample->stack + asked, sizeof there);
        ret_taken->stack = sample->stack;
        ret_taken->stack_bytes = there < asked ? there : asked;
    }
    return true;
}

static void take_sample(struct pm_sampler *s, const struct perf_event_header *header)
{
    struct pm_taken taken;
    if (!read_sample(s, header, &taken))
        return;
    const struct perf_sample *sample = (const struct perf_sample *)header;
    int counter = pm_counters_find(s, sample->event_id);
    if (counter < 0) {
        pm_sample_take(s, &taken);
        return;
    }
    pm_sample_count(s, (uint32_t)counter, &taken, pm_process.counters.items[counter].period);
    pm_counters_sampled(s, (uint32_t)counter, sample->event_id, sample->enabled_ns,
                        sample->running_ns);
}

static void take_throttle(const struct pm_sampler *s, const struct perf_event_header *header)
{
    if (header->size < sizeof(struct perf_throttle))
        return;
    int counter = pm_counters_find(s, ((const struct perf_throttle *)header)->event_id);
    if (counter >= 0)
        pm_counters_throttled((uint32_t)counter);
}

/* Gives room back to the kernel, as much as time has passed for. */
static void free_places(struct pm_off_ring *r, uint64_t now_ns)
{
    uint64_t record = record_bytes(r->stack_bytes);
    uint64_t tail = r->ring->data_tail, most_ns = r->bytes / record * PLACE_NS;
    if (now_ns > most_ns && r->freed_ns < now_ns - most_ns)
        r->freed_ns = now_ns - most_ns;
    uint64_t n = now_ns > r->freed_ns ? (now_ns - r->freed_ns) / PLACE_NS : 0;
    uint64_t n_seen = (r->seen - tail + record - 1) / record;
    if (n_seen < n)
        n = n_seen;
    if (n == 0)
        return;
    r->freed_ns += n * PLACE_NS;
    tail = r->seen - tail < n * record ? r->seen : tail + n * record;
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
        bool is_sample = read_sample(s, header, &taken);
        if (is_sample && taken.time_ns > out_ns)
            break;
        r->seen += header->size;
        if (!is_sample || taken.time_ns <= s->on_since_ns || taken.sp == 0)
            continue;
        s->taken = &taken;
        const struct pm_node *node = pm_sample_off_at(s, taken.sp);
        s->taken = NULL;
        s->off.context = node;
        s->off.current = pm_own_current(s->t);
        s->off.address = taken.address;
        s->off.sp = taken.sp;
        struct pm_caller caller = pm_sample_caller(s, node, &taken);
        s->off.caller = caller.address;
        s->off.flags = caller.flags;
    }
    free_places(r, out_ns);
}

/* What is off the CPU now may have come back among what was lost. */
static void lose_switches(struct pm_sampler *s)
{
    s->lost_switches = true;
    s->off_since_ns = 0;
}

/* After all records. The time that neither switches nor the CPU clock tell of was off the CPU,
 * nobody knows why: in the context that is active, for no sled has fired while the ring filled
 * up. */
static void settle_switches(struct pm_sampler *s)
{
    uint64_t cpu_ns = s->lost_switches ? pm_thread_cpu_ns(s->slot->tid) : 0;
    if (cpu_ns < s->cpu_before_ns || cpu_ns == 0 || s->off_since_ns != 0)
        return;
    uint64_t now = pm_monotonic_ns();
    int64_t missing =
        (int64_t)(now - s->begin_ns - s->off_ns) - (int64_t)(cpu_ns - s->cpu_before_ns);
    s->lost_switches = false;
    if (missing > 0)
        pm_sample_waited(s, pm_sample_context(s, 0),
                         &(struct pm_off){.kind = PM_RUN_SAMPLE_OFF_CPU},
                         (struct pm_when){s->known_ns, now}, (uint64_t)missing);
}

static void off_until(struct pm_sampler *s, uint64_t until_ns)
{
    if (s->off.kind == PM_RUN_SAMPLE_WAITING)
        s->waited_ns += until_ns - s->off_since_ns;
    pm_sample_waited(s, pm_sample_off_context(s), &s->off,
                     (struct pm_when){s->off_since_ns, until_ns}, until_ns - s->off_since_ns);
}

/* While we wait for something ourselves, the program could run. */
static bool is_own_wait(const struct pm_sampler *s, uint64_t time_ns)
{
    return (time_ns >= s->opening_from_ns && time_ns < s->opening_until_ns) ||
           (s->off.address != 0 && pm_places_is_own(s->off.address));
}

static void take_switch(struct pm_sampler *s, const struct perf_event_header *header)
{
    if (header->size < sizeof(struct perf_switch))
        return;
    uint64_t time_ns = ((const struct perf_switch *)header)->time_ns;
    if (header->misc & PERF_RECORD_MISC_SWITCH_OUT) {
        bool could_run = (header->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0;
        s->off_since_ns = time_ns;
        s->off =
            (struct pm_off){.kind = could_run ? PM_RUN_SAMPLE_PREEMPTED : PM_RUN_SAMPLE_WAITING};
        find_place(s, time_ns);
        if (is_own_wait(s, time_ns))
            s->off.kind = PM_RUN_SAMPLE_PREEMPTED;
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
    if (header->type == PERF_RECORD_SAMPLE && header->size >= SAMPLE_LEAST)
        return ((const struct perf_sample *)header)->time_ns;
    if (header->type == PERF_RECORD_SWITCH && header->size >= sizeof(struct perf_switch))
        return ((const struct perf_switch *)header)->time_ns;
    return 0;
}

/* What is off the CPU all the time up to then. */
static void split_wait(struct pm_sampler *s, uint64_t until_ns)
{
    if (s->off_since_ns == 0 || s->off_since_ns >= until_ns)
        return;
    off_until(s, until_ns);
    s->off_since_ns = until_ns;
}

/* Is the sample there one of a counter? Words of a record are in one piece. */
static bool is_counters(const struct pm_sampler *s, uint64_t tail)
{
    uint64_t id;
    if (pm_process.counters.n == 0)
        return false;
    uint64_t at = (tail + offsetof(struct perf_sample, event_id)) & (s->ring_bytes - 1);
    memcpy(&id, (const char *)s->ring + PAGE + at, sizeof id);
    return pm_counters_find(s, id) >= 0;
}

/* What the thread's clock counted beyond all samples so far and those in the ring. The event's
 * own count tells in which of the gaps between them that was (pm_sample_take), but not how much:
 * it goes on while another virtual machine has the processor. */
static void find_missing(struct pm_sampler *s, uint64_t cpu_ns, uint64_t tail, uint64_t head)
{
    uint64_t n = 0;
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
        n += header.type == PERF_RECORD_SAMPLE && !is_counters(s, tail);
        tail += header.size;
    }
    uint64_t spent_ns = cpu_ns - s->cpu_before_ns;
    uint64_t known_ns = s->charged_ns + n * s->period_ns;
    s->missing_ns = spent_ns > known_ns ? spent_ns - known_ns : 0;
}

void pm_perf_drain(struct pm_sampler *s, uint64_t cpu_ns, uint64_t until_ns)
{
    uint64_t head = __atomic_load_n(&s->ring->data_head, __ATOMIC_ACQUIRE);
    uint64_t tail = s->ring->data_tail;
    bool was_full = head - tail + record_bytes(s->stack_bytes) > s->ring_bytes;
    find_missing(s, cpu_ns, tail, head);
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
        uint64_t time_ns = time_of(header);
        /* has been in the ring before this one, but for those of counters, which change rings */
        if (time_ns != 0 && time_ns < s->from_ns &&
            !(header->type == PERF_RECORD_SAMPLE && is_counters(s, tail - header->size)))
            continue;
        if (header->type == PERF_RECORD_SAMPLE)
            take_sample(s, header);
        else if (header->type == PERF_RECORD_SWITCH)
            take_switch(s, header);
        else if (header->type == PERF_RECORD_THROTTLE)
            take_throttle(s, header);
        else if (header->type == PERF_RECORD_LOST && header->size >= sizeof(struct perf_lost)) {
            s->n_lost += ((const struct perf_lost *)header)->n;
            lose_switches(s);
        } else if (header->type == PERF_RECORD_LOST_SAMPLES &&
                   header->size >= sizeof(struct perf_lost_samples))
            s->n_lost += ((const struct perf_lost_samples *)header)->n;
    }
    if (until_ns != UINT64_MAX)
        split_wait(s, until_ns);
    __atomic_store_n(&s->ring->data_tail, head, __ATOMIC_RELEASE);
    pm_ambient_saw(s->t, head);
    if (was_full) /* the kernel says what it lost with the next record that fits */
        lose_switches(s);
    settle_switches(s);
    if (cpu_ns == 0) /* nobody may ask the clock any more (seccomp): what the last sample counted */
        pm_thread_spent(s->slot, s->cpu_before_ns + s->event_ns);
    if (was_full) /* what did not fit happened in the context that is active: no sled has fired */
        pm_sample_settle(s, pm_sample_context(s, 0), 0,
                         pm_thread_cpu_ns(s->slot->tid) - s->cpu_before_ns, s->period_ns, true);
    else if (until_ns == UINT64_MAX)
        pm_sample_settle_kernel(s);
}
