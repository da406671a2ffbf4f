/* Events beside the clock that somebody asked for (perfmap run --metric, --sample-by). Those that
 * libraries count are library.c's.
 *
 * A counter with a period takes samples. They come into the ring of the thread's clock, so
 * trampolines see them as they see its samples, and they are charged to the context that was
 * active. Their number tells them apart. A bell of their own (perf.c) empties the ring where
 * the program's own code is interrupted.
 *
 * A counter without a period is read. Where contexts are timed, that is before each event changes
 * the context and again behind it: what it counted in between is PerfMap's own. Otherwise it is
 * whenever the ring is emptied. What it counted since the time before belongs to a context that
 * has been active all the while, and to what that called.
 *
 * At the end each counter is read, and what was charged to nothing has no place, but is in the
 * total: a rest of less than a period, and samples that did not fit into the ring.
 *
 * Reading takes a descriptor that stays open. It lies far up, where programs have none, and before
 * each use the kernel is asked whether it still is the counter: a program that closes all
 * descriptors may have a file of its own there now.
 */
#include "runtime/base/clock.h"
#include "runtime/base/file.h"
#include "runtime/base/sys.h"
#include "runtime/code/places.h"
#include "runtime/sample/sample.h"
#include "runtime/tree/ambient.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <time.h>

/* As read_format asks for it. */
struct reading {
    uint64_t value, enabled_ns, running_ns, id;
};

static struct pm_run_counter *in_file; /* by counter; NULL: none yet */

static bool is_error(long result)
{
    return result < 0 && result > -4096;
}

bool pm_counters_sample(void)
{
    for (uint32_t i = 0; i < pm_process.counters.n; i++)
        if (pm_process.counters.items[i].period != 0)
            return true;
    return false;
}

bool pm_counters_are_read(void)
{
    for (uint32_t i = 0; i < pm_process.counters.n; i++)
        if (pm_process.counters.items[i].period == 0)
            return true;
    return false;
}

/* --- the run file --- */

static uint32_t file_flags(const struct pm_counter_setting *setting)
{
    static const uint32_t flags[][2] = {{PM_COUNTER_PRECISE, PM_RUN_COUNTER_PRECISE},
                                        {PM_COUNTER_SHARED, PM_RUN_COUNTER_SHARED},
                                        {PM_COUNTER_MULTIPLEXED, PM_RUN_COUNTER_ESTIMATED}};
    uint32_t found = 0;
    for (unsigned i = 0; i < sizeof flags / sizeof *flags; i++)
        if ((setting->flags & flags[i][0]) != 0)
            found |= flags[i][1];
    return found;
}

static struct pm_run_counter *make_chunk(void)
{
    static uint32_t making;
    struct pm_run_counter *items = pm_load(in_file);
    if (items != NULL || __atomic_exchange_n(&making, 1, __ATOMIC_ACQUIRE) != 0)
        return items;
    const struct pm_counter_settings *settings = &pm_process.counters;
    uint64_t offset;
    struct pm_run_chunk *chunk = pm_file_chunk(
        PM_RUN_CHUNK_COUNTERS, PM_RUN_COUNTERS_DATA + settings->n * sizeof *items, 0, &offset);
    if (chunk != NULL) {
        items = (struct pm_run_counter *)((char *)chunk + PM_RUN_COUNTERS_DATA);
        for (uint32_t i = 0; i < settings->n; i++) {
            const struct pm_counter_setting *setting = &settings->items[i];
            memcpy(items[i].name, setting->name, sizeof items[i].name);
            memcpy(items[i].unit, setting->unit, sizeof items[i].unit);
            items[i].period = setting->period;
            items[i].type = (uint32_t)setting->type;
            items[i].config = setting->config;
            items[i].flags = file_flags(setting);
        }
        pm_barrier();
        chunk->n_items = settings->n;
        pm_store(in_file, items);
    }
    __atomic_store_n(&making, 0, __ATOMIC_RELEASE);
    return items;
}

/* --- descriptors --- */

/* Half of the way up to what is allowed; most programs stay far below. */
static long far_up(void)
{
    struct rlimit limit = {0};
    enum { MOST = 1 << 20 };
    if (pm_sys(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &limit) != 0)
        return 512;
    return (long)((limit.rlim_cur < MOST ? limit.rlim_cur : MOST) / 2);
}

static bool is_there(const struct pm_counter *counter)
{
    uint64_t id = 0;
    return counter->fd_plus_1 != 0 &&
           pm_sys(SYS_ioctl, counter->fd_plus_1 - 1, PERF_EVENT_IOC_ID, &id) == 0 &&
           id == counter->id;
}

static bool read_now(const struct pm_counter *counter, struct reading *ret)
{
    return is_there(counter) &&
           pm_sys(SYS_read, counter->fd_plus_1 - 1, ret, sizeof *ret) == sizeof *ret &&
           ret->id == counter->id;
}

/* What all events of this counter have counted in this thread. False: nobody knows any more. */
static bool read_all(const struct pm_counter *counter, struct reading *ret)
{
    if (!read_now(counter, ret))
        return false;
    ret->value += counter->before.value;
    ret->enabled_ns += counter->before.enabled_ns;
    ret->running_ns += counter->before.running_ns;
    return true;
}

static void close_event(struct pm_counter *counter)
{
    if (is_there(counter))
        pm_sys(SYS_close, counter->fd_plus_1 - 1);
    counter->fd_plus_1 = 0;
}

uint64_t pm_counters_now_ns(struct pm_sampler *s)
{
    enum { RECENT_TICKS = 1 << 18 };
    uint64_t tsc = pm_tsc();
    if (tsc - s->recent_tsc > RECENT_TICKS || s->recent_ns < s->known_ns) {
        s->recent_tsc = tsc;
        s->recent_ns = pm_monotonic_ns();
    }
    return s->recent_ns;
}

/* --- opening --- */

static struct perf_event_attr attr_of(const struct pm_counter_setting *setting, bool with_kernel)
{
    bool excludes = !(setting->flags & PM_COUNTER_NO_EXCLUDE);
    return (struct perf_event_attr){
        .type = (uint32_t)setting->type,
        .size = sizeof(struct perf_event_attr),
        .config = setting->config,
        .config1 = setting->config1,
        .config2 = setting->config2,
        .read_format = PM_PERF_READ_FORMAT,
        .exclude_kernel = excludes && !with_kernel,
        .exclude_hv = excludes,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC_RAW,
    };
}

static long open_with(const struct pm_sampler *s, const struct pm_counter_setting *setting,
                      bool with_kernel)
{
    struct perf_event_attr attr = attr_of(setting, with_kernel);
    if (setting->period != 0)
        pm_perf_ask_samples(&attr, setting->period, s->stack_bytes);
    return pm_sys(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Its samples come into the ring of the clock. Before Linux 6.2 events of the processor and those
 * of the kernel are in two contexts of a thread, which have no ring in common (EINVAL). One of the
 * processor's that joins the clock's group moves the clock to its own context, where that stays
 * when it is closed again (perf_event_open, move_group). */
static long join_ring(const struct pm_counter_setting *setting, long fd, long ring_fd,
                      bool with_kernel)
{
    long status = pm_sys(SYS_ioctl, fd, PERF_EVENT_IOC_SET_OUTPUT, ring_fd);
    if (status != -EINVAL || setting->type == PERF_TYPE_SOFTWARE)
        return status;
    struct perf_event_attr attr = attr_of(setting, with_kernel);
    long mover = pm_sys(SYS_perf_event_open, &attr, 0, -1, ring_fd, PERF_FLAG_FD_CLOEXEC);
    if (is_error(mover))
        return status;
    pm_sys(SYS_close, mover);
    return pm_sys(SYS_ioctl, fd, PERF_EVENT_IOC_SET_OUTPUT, ring_fd);
}

/* 0, or an error number. */
static int open_event(const struct pm_sampler *s, const struct pm_counter_setting *setting,
                      long ring_fd, struct pm_counter *counter, bool *ret_user_only)
{
    static long floor;
    *ret_user_only = false;
    if (setting->period != 0 && ring_fd < 0)
        return ENOTSUP;
    long fd = open_with(s, setting, true);
    if ((fd == -EACCES || fd == -EPERM) &&
        !(setting->flags & (PM_COUNTER_IN_KERNEL | PM_COUNTER_NO_EXCLUDE))) {
        *ret_user_only = true;
        fd = open_with(s, setting, false);
    }
    if (is_error(fd))
        return (int)-fd;
    if (floor == 0)
        floor = far_up();
    long moved = pm_sys(SYS_fcntl, fd, F_DUPFD_CLOEXEC, floor), status = moved;
    pm_sys(SYS_close, fd);
    if (!is_error(moved))
        status = pm_sys(SYS_ioctl, moved, PERF_EVENT_IOC_ID, &counter->id);
    if (!is_error(status) && setting->period != 0)
        status = join_ring(setting, moved, ring_fd, !*ret_user_only);
    if (is_error(status)) {
        if (!is_error(moved))
            pm_sys(SYS_close, moved);
        return (int)-status;
    }
    counter->fd_plus_1 = (int)moved + 1;
    return 0;
}

void pm_counters_open(struct pm_sampler *s, long ring_fd)
{
    struct pm_run_counter *items = pm_process.counters.n != 0 ? make_chunk() : NULL;
    for (uint32_t i = 0; i < pm_process.counters.n && items != NULL; i++) {
        struct pm_counter *counter = &s->counters[i];
        struct reading reading;
        if (pm_counter_is_of_library(&pm_process.counters.items[i]))
            continue;
        bool user_only, goes_on = counter->fd_plus_1 != 0, is_known = read_all(counter, &reading);
        if (goes_on && !is_known) /* the program has closed it */
            continue;
        if (goes_on && pm_process.counters.items[i].period == 0) /* it needs no ring */
            continue;
        if (goes_on) {
            counter->before =
                (struct pm_counted){reading.value, reading.enabled_ns, reading.running_ns};
            counter->id_before = counter->id;
            close_event(counter);
        } else {
            uint64_t now = pm_counters_now_ns(s);
            *counter = (struct pm_counter){.begin_ns = now, .seen_ns = now};
        }
        int error_no = open_event(s, &pm_process.counters.items[i], ring_fd, counter, &user_only);
        if (user_only && error_no == 0)
            pm_store(items[i].flags, items[i].flags | PM_RUN_COUNTER_USER_ONLY);
        if (!goes_on)
            pm_add_shared(items[i].n_threads, 1);
        s->t->reads_counters |= error_no == 0 && pm_process.counters.items[i].period == 0 &&
                                pm_mode_is_timed(pm_process.mode);
        if (error_no != 0) {
            pm_add_shared(items[i].n_threads_failed, 1);
            if (items[i].error_no == 0)
                items[i].error_no = error_no;
        }
    }
    if (items != NULL)
        pm_library_open(s, items);
}

void pm_counters_join(struct pm_sampler *s)
{
    struct pm_run_counter *items = pm_library_is_used() ? make_chunk() : NULL;
    if (items == NULL)
        return;
    pm_library_open(s, items);
    pm_ambient_saw(s->t, pm_load(s->t->ring_seen));
}

/* --- what was counted --- */

/* While the thread runs, too: a process that is killed must not lose how often events had turns. */
static void tell_times(struct pm_counter *counter, struct pm_run_counter *item, uint64_t enabled_ns,
                       uint64_t running_ns)
{
    if (enabled_ns <= counter->told.enabled_ns) /* of a sample that comes late */
        return;
    pm_add_shared(item->enabled_ns, enabled_ns - counter->told.enabled_ns);
    pm_add_shared(item->running_ns, running_ns - counter->told.running_ns);
    counter->told.enabled_ns = enabled_ns;
    counter->told.running_ns = running_ns;
}

void pm_counters_sampled(struct pm_sampler *s, uint32_t i, uint64_t id, uint64_t enabled_ns,
                         uint64_t running_ns)
{
    struct pm_counter *counter = &s->counters[i];
    struct pm_run_counter *items = pm_load(in_file);
    if (items == NULL || id != counter->id) /* one before it has been read since */
        return;
    tell_times(counter, &items[i], counter->before.enabled_ns + enabled_ns,
               counter->before.running_ns + running_ns);
}

void pm_counters_throttled(uint32_t i)
{
    struct pm_run_counter *items = pm_load(in_file);
    if (items != NULL)
        pm_add_shared(items[i].n_throttled, 1);
}

int pm_counters_find(const struct pm_sampler *s, uint64_t id)
{
    for (uint32_t i = 0; i < pm_process.counters.n; i++)
        if (pm_process.counters.items[i].period != 0 &&
            (s->counters[i].id == id || s->counters[i].id_before == id) && id != 0)
            return (int)i;
    return -1;
}

void pm_counters_charge(struct pm_sampler *s, uint32_t i, const struct pm_node *node, uint64_t n,
                        bool is_located)
{
    struct pm_counter *counter = &s->counters[i];
    uint64_t now = pm_counters_now_ns(s);
    struct pm_when when = {counter->seen_ns != 0 ? counter->seen_ns : now, now};
    counter->charged += n;
    counter->seen_ns = now;
    pm_sample_charge(s, node, when,
                     (struct pm_run_sample){.kind = (uint8_t)(PM_RUN_SAMPLE_COUNTER + i),
                                            .flags = is_located ? 0 : PM_RUN_SAMPLE_NOT_LOCATED,
                                            .generation = pm_places_generation(0),
                                            .time_ns = n});
}

/* At PerfMap's own code. */
static void charge_own(struct pm_sampler *s, uint32_t i, uint64_t n)
{
    uint64_t now = pm_counters_now_ns(s);
    s->counters[i].charged += n;
    pm_sample_charge(s, s->slot->root, (struct pm_when){s->known_ns, now},
                     (struct pm_run_sample){.kind = (uint8_t)(PM_RUN_SAMPLE_COUNTER + i),
                                            .address = (uint64_t)(uintptr_t)&pm_counters_open,
                                            .generation = pm_places_generation(0),
                                            .time_ns = n});
}

void pm_counters_read(struct pm_sampler *s, const struct pm_node *node, bool is_located,
                      bool in_handler)
{
    struct pm_run_counter *items = pm_load(in_file);
    pm_library_read(s, node, is_located, in_handler);
    for (uint32_t i = 0; i < pm_process.counters.n; i++) {
        struct pm_counter *counter = &s->counters[i];
        struct reading now;
        if (pm_process.counters.items[i].period != 0 || !read_all(counter, &now))
            continue;
        if (now.value > counter->seen)
            pm_counters_charge(s, i, node, now.value - counter->seen, is_located);
        counter->seen = now.value;
        counter->seen_ns = pm_counters_now_ns(s);
        if (items != NULL)
            tell_times(counter, &items[i], now.enabled_ns, now.running_ns);
    }
}

void pm_counters_skip(struct pm_sampler *s)
{
    pm_library_skip(s);
    for (uint32_t i = 0; i < pm_process.counters.n; i++) {
        struct pm_counter *counter = &s->counters[i];
        struct reading now;
        if (pm_process.counters.items[i].period != 0 || !read_all(counter, &now))
            continue;
        counter->own += now.value - counter->seen;
        counter->seen = now.value;
        counter->seen_ns = pm_counters_now_ns(s);
    }
}

void pm_counters_settle_one(struct pm_sampler *s, uint32_t i, uint64_t count)
{
    struct pm_counter *counter = &s->counters[i];
    if (counter->own != 0)
        charge_own(s, i, counter->own);
    counter->own = 0;
    counter->seen_ns = counter->begin_ns;
    if (count > counter->charged)
        pm_counters_charge(s, i, s->slot->root, count - counter->charged, false);
}

void pm_counters_settle(struct pm_sampler *s)
{
    struct pm_run_counter *items = pm_load(in_file);
    if (items != NULL)
        pm_library_settle(s, items);
    for (uint32_t i = 0; i < pm_process.counters.n && items != NULL; i++) {
        struct pm_counter *counter = &s->counters[i];
        struct reading now;
        if (counter->fd_plus_1 == 0)
            continue;
        if (!read_all(counter, &now)) {
            counter->fd_plus_1 = 0;
            pm_add_shared(items[i].n_closed, 1);
            pm_counters_settle_one(s, i, counter->before.value);
            continue;
        }
        pm_counters_settle_one(s, i, now.value);
        pm_add_shared(items[i].count, now.value - counter->told.value);
        tell_times(counter, &items[i], now.enabled_ns, now.running_ns);
        counter->told.value = now.value;
    }
}

void pm_counters_close(struct pm_sampler *s, bool is_there)
{
    if (s->t == &pm_tls) /* those of others may be gone, in a fork child */
        s->t->reads_counters = false;
    pm_library_close(s, is_there);
    for (uint32_t i = 0; i < pm_process.counters.n; i++) {
        close_event(&s->counters[i]);
        s->counters[i] = (struct pm_counter){0};
    }
}

/* The descriptors are copies, of events that the parent's threads go on with. */
static void leave(struct pm_slot *slot)
{
    if (slot->sampler != NULL)
        pm_counters_close(slot->sampler, false);
}

void pm_counters_fork_child(void)
{
    in_file = NULL;
    if (pm_process.counters.n == 0)
        return;
    pm_threads_each(leave);
}
