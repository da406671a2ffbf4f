/* From the beginning of a target to its end (start.h). */
#include "start.h"
#include "clock.h"
#include "pack.h"
#include "program.h"
#include "signals.h"

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

/* One descriptor that can be read when a signal came, or the target has something to say. */
static enum pm_status open_wake(const struct session_signals *signals,
                                const struct session_target *target, struct pm_error *err,
                                int *ret_fd)
{
    struct epoll_event event = {.events = EPOLLIN};
    int fd = epoll_create1(EPOLL_CLOEXEC);
    if (fd >= 0 && epoll_ctl(fd, EPOLL_CTL_ADD, signals->fd, &event) == 0 &&
        epoll_ctl(fd, EPOLL_CTL_ADD, target->fd, &event) == 0) {
        *ret_fd = fd;
        return PM_OK;
    }
    pm_error_system(err, errno, "cannot wait for the program");
    if (fd >= 0)
        close(fd);
    return PM_ERR_SYSTEM;
}

/* Writes the manifest before anything is measured, then lets the target go. The manifest's start
 * is a little early until the end of the run, when it is written again. */
static enum pm_status begin(const struct session_launch *launch, struct pm_error *err,
                            int *ret_exit)
{
    struct pm_manifest *manifest = launch->manifest;
    struct session_instant start = session_instant_now();
    manifest->start_tsc = start.tsc;
    manifest->start_monotonic_ns = start.monotonic_ns;
    manifest->start_realtime_ns = session_realtime_ns();
    if (pm_manifest_write(launch->run_dir, manifest, err) != PM_OK)
        return pm_error_add(err, "cannot start the run");
    start = session_instant_now();
    manifest->start_tsc = start.tsc;
    manifest->start_monotonic_ns = start.monotonic_ns;
    manifest->start_realtime_ns = session_realtime_ns();
    return launch->target->calls->begin(launch->target, err, ret_exit);
}

static void wait_for_end(const struct session_launch *launch, const struct session_signals *signals,
                         int wake_fd, struct session_ended *ended)
{
    struct session_target *target = launch->target;
    bool wait_for_all = launch->settings->wait_for_all;
    for (;;) {
        target->calls->look(target, ended);
        if (ended->program && (ended->all || !wait_for_all))
            return;
        session_control_wait(launch->control, wake_fd);
        int signal = session_signals_next(signals);
        if (signal != 0 && ended->program) /* it is us who are to end: what still runs goes on */
            wait_for_all = false;
        else if (signal != 0)
            target->calls->signal(target, signal);
    }
}

static void note_end(struct pm_manifest *manifest, struct session_instant calibrated_from,
                     const struct session_ended *ended)
{
    struct session_instant end = session_instant_now();
    manifest->end_tsc = end.tsc;
    manifest->end_monotonic_ns = end.monotonic_ns;
    uint64_t hz =
        session_ticks_hz(calibrated_from, end); /* over the whole run: the longer, the better */
    if (hz && manifest->tsc_hz)
        manifest->tsc_hz = hz;
    manifest->has_usage = ended->has_usage;
    manifest->user_cpu_ns = ended->user_cpu_ns;
    manifest->system_cpu_ns = ended->system_cpu_ns;
    manifest->max_rss_bytes = ended->max_rss_bytes;
    manifest->exit_status = ended->exit_status;
    manifest->exit_signal = ended->exit_signal;
}

static int exit_of(const struct session_ended *ended)
{
    if (ended->exit_signal >= 0)
        return 128 + ended->exit_signal;
    return ended->exit_status >= 0 ? ended->exit_status : 0;
}

/* The target is open. */
static enum pm_status measure(const struct session_launch *launch,
                              const struct session_signals *signals, struct pm_error *err,
                              struct session_end *ret_end)
{
    struct session_target *target = launch->target;
    struct session_ended ended = {.exit_status = -1, .exit_signal = -1};
    int wake_fd;
    enum pm_status status = open_wake(signals, target, err, &wake_fd);
    if (status != PM_OK)
        return status;
    launch->manifest->pid = target->pid;
    launch->manifest->tsc_hz = session_calibrate(launch->prepared);
    status = begin(launch, err, &ret_end->exit);
    if (status != PM_OK)
        goto out;
    struct session_pack *pack = session_pack_begin(launch->run_dir, launch->prepares);
    session_control_watch(launch->control, launch->kernel);
    wait_for_end(launch, signals, wake_fd, &ended);
    session_control_watch(launch->control, NULL);
    session_pack_end(pack);
    note_end(launch->manifest, launch->prepared, &ended);
    ret_end->exit = exit_of(&ended);
    ret_end->is_alive = !ended.all;
    ret_end->living_pid = ended.all ? 0 : target->calls->any_alive(target);
    if (launch->kernel) {
        struct pm_run_clock clock = pm_run_clock_of(launch->manifest);
        session_kernel_end(launch->kernel, launch->run_dir, &clock, launch->notes);
    }
out:
    close(wake_fd);
    return status;
}

enum pm_status session_start(const struct session_launch *launch, struct pm_error *err,
                             struct session_end *ret_end)
{
    struct session_target *target = launch->target;
    struct session_signals signals;
    *ret_end = (struct session_end){.exit = SESSION_FAILED};
    fflush(NULL);
    session_signals_take(target->calls->has_terminal, &signals);
    enum pm_status status = target->calls->open(target, launch, &signals, err);
    if (status == PM_OK)
        status = measure(launch, &signals, err, ret_end);
    target->calls->close(target);
    session_signals_give_back(&signals);
    return status;
}
