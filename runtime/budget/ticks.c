/* Ticks of each thread's CPU time where there are no samples, so that the budget is looked at in
 * code without events, too.
 *
 * A POSIX timer costs little (5 us a tick), but the kernel looks at it only when its own tick
 * happens to meet the thread. On a busy machine the first one came after 10 to 98 ms of CPU time,
 * and mode exact had spent four times its budget. So the first ticks of a process, when looks
 * follow each other closely, are a perf event's, which the kernel keeps to 0.1 ms (25 us a tick).
 * It excludes the kernel, and its descriptor is closed at once, both as the bell's (perf.c).
 */
#include "runtime/budget/ticks.h"
#include "runtime/base/atomic.h"
#include "runtime/base/signals.h"
#include "runtime/base/sys.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <string.h>
#include <time.h>

enum {
    TICK_NS = 10000000,
    EARLY_TICKS = 8,
    EARLY_THREADS = 16, /* 7 us each: not of programs that begin thousands */
};

static bool is_error(long result)
{
    return result < 0 && result > -4096;
}

/* A page that is mapped keeps the event; the kernel does not give it to children of fork. NULL:
 * the kernel refuses such events, or the page. */
static void *open_early(uint32_t tid)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof attr,
        .config = PERF_COUNT_SW_TASK_CLOCK,
        .sample_period = TICK_NS,
        .disabled = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };
    struct {
        int type, pid;
    } owner = {F_OWNER_TID, (int)tid};
    long fd = pm_sys(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (is_error(fd))
        return NULL;
    void *page =
        pm_mapped(pm_sys(SYS_mmap, 0, PM_RUN_PAGE, PROT_READ, MAP_SHARED, fd, 0), PM_RUN_PAGE);
    if (page != NULL) {
        pm_sys(SYS_fcntl, fd, F_SETOWN_EX, &owner);
        pm_sys(SYS_fcntl, fd, F_SETSIG, PM_BELL_SIGNAL);
        pm_sys(SYS_fcntl, fd, F_SETFL, O_RDWR | O_ASYNC);
        pm_sys(SYS_ioctl, fd, PERF_EVENT_IOC_REFRESH, EARLY_TICKS); /* then it ends by itself */
    }
    pm_sys(SYS_close, fd);
    return page;
}

static uint32_t n_early;

void pm_ticks_begin(struct pm_slot *slot, bool is_early)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = PM_BELL_SIGNAL};
    struct timespec period = {0, TICK_NS};
    struct itimerspec time = {.it_interval = period, .it_value = period};
    int timer;
    if (is_early && pm_load(n_early) < EARLY_THREADS) {
        pm_add_shared(n_early, 1);
        slot->tick_page = open_early(slot->tid);
    }
    event.sigev_value.sival_ptr = (void *)(uintptr_t)&pm_signal_mark;
    event._sigev_un._tid = (int)slot->tid;
    if (pm_sys(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &timer) != 0)
        return;
    slot->tick_timer = 1 + timer;
    pm_sys(SYS_timer_settime, timer, 0, &time, NULL);
}

void pm_ticks_end(struct pm_slot *slot)
{
    if (slot->tick_page != NULL)
        pm_sys(SYS_munmap, slot->tick_page, PM_RUN_PAGE);
    if (slot->tick_timer != 0)
        pm_sys(SYS_timer_delete, slot->tick_timer - 1);
    pm_ticks_forget(slot);
}

void pm_ticks_forget(struct pm_slot *slot)
{
    slot->tick_page = NULL;
    slot->tick_timer = 0;
}

void pm_ticks_fork_child(void)
{
    pm_store(n_early, 0);
}
