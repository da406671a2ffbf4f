/* Whether this machine can count what was asked for (counters.h): each is tried. */
#include "counter_libraries.h"
#include "counters.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static long paranoid_level(void)
{
    long level = 99;
    FILE *in = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
    if (in && fscanf(in, "%ld", &level) != 1)
        level = 99;
    if (in)
        fclose(in);
    return level;
}

static void explain(const struct pm_counter_setting *setting, int error_no,
                    struct session_trial *trial)
{
    long level = paranoid_level();
    bool is_kernels = setting->flags & PM_COUNTER_IN_KERNEL;
    const char *reason = NULL, *advice = "";
    char text[sizeof trial->advice];
    switch (error_no) {
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
        reason = "this processor, or virtual machine, has no such counter";
        advice = "on a virtual machine, its host decides whether it has counters";
        if (setting->period) {
            reason = "no samples can be taken by it here";
            advice = "count it: --metric";
        }
        break;
    case EACCES:
    case EPERM:
        reason = is_kernels ? "it counts what the kernel does, which you may not measure"
                            : "the kernel allows no such event";
        snprintf(text, sizeof text, "as root, or sysctl kernel.perf_event_paranoid=%d (it is %ld)",
                 2 - is_kernels, level);
        advice = level == 99 ? "allow perf_event_open(2) in this container" : text;
        break;
    case EINVAL:
        reason = "the kernel takes no such event for a thread";
        advice = "units of a whole processor (uncore) count for no program: perf stat -a does";
        break;
    case ENOSYS:
        reason = "this kernel has no perf events";
        break;
    case EBUSY:
        reason = "another program has the counter";
        advice = "end it, or the kernel's watchdog: sysctl kernel.nmi_watchdog=0";
        break;
    case EMFILE:
    case ENFILE:
        reason = "too many files are open";
        advice = "ulimit -n";
        break;
    default:
        break;
    }
    snprintf(trial->reason, sizeof trial->reason, "%s", reason ? reason : strerror(error_no));
    snprintf(trial->advice, sizeof trial->advice, "%s", advice);
}

static struct perf_event_attr attr_of(const struct pm_counter_setting *setting, bool with_kernel)
{
    bool excludes = !(setting->flags & PM_COUNTER_NO_EXCLUDE);
    return (struct perf_event_attr){
        .type = (uint32_t)setting->type,
        .size = sizeof(struct perf_event_attr),
        .config = setting->config,
        .config1 = setting->config1,
        .config2 = setting->config2,
        .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
        .exclude_kernel = excludes && !with_kernel,
        .exclude_hv = excludes,
    };
}

static int open_event(struct perf_event_attr *attr, int group)
{
    return (int)syscall(SYS_perf_event_open, attr, 0, -1, group, PERF_FLAG_FD_CLOEXEC);
}

/* Can its samples come into the ring of a clock, as the runtime wants them (sample/counters.c,
 * join_ring)? 0, or why not. */
static int try_ring(const struct pm_counter_setting *setting, int fd, bool with_kernel)
{
    struct pm_counter_setting clock = {.type = PERF_TYPE_SOFTWARE,
                                       .config = PERF_COUNT_SW_TASK_CLOCK};
    struct perf_event_attr attr = attr_of(&clock, with_kernel),
                           plain = attr_of(setting, with_kernel);
    size_t bytes = 2 * (size_t)sysconf(_SC_PAGESIZE);
    attr.sample_period = 1000003;
    int clock_fd = open_event(&attr, -1);
    void *ring = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, clock_fd, 0);
    int error_no = 0; /* without memory for a ring nobody can tell */
    if (ring != MAP_FAILED && ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, clock_fd) != 0) {
        int mover = errno == EINVAL ? open_event(&plain, clock_fd) : -1;
        error_no = errno;
        if (mover >= 0) {
            close(mover);
            error_no = ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, clock_fd) != 0 ? errno : 0;
        }
    }
    if (ring != MAP_FAILED)
        munmap(ring, bytes);
    if (clock_fd >= 0)
        close(clock_fd);
    return error_no;
}

/* Some work to be counted: 2 ms of it. */
static void work(void)
{
    volatile uint64_t sum = 0;
    for (unsigned i = 0; i < 2000000; i++)
        sum += i;
}

/* 0, or why not. */
static int try_event(const struct pm_counter_setting *setting, bool with_kernel)
{
    struct {
        uint64_t value, enabled_ns, running_ns;
    } reading = {0};
    struct perf_event_attr attr = attr_of(setting, with_kernel);
    attr.sample_period = setting->period;
    attr.sample_type = setting->period ? PERF_SAMPLE_IP | PERF_SAMPLE_TIME : 0;
    int fd = open_event(&attr, -1);
    if (fd < 0)
        return errno;
    if (setting->type != PERF_TYPE_SOFTWARE)
        work();
    ssize_t n = read(fd, &reading, sizeof reading);
    int error_no = n < 0 ? errno : 0;
    if (!error_no && setting->type != PERF_TYPE_SOFTWARE && reading.running_ns == 0)
        error_no = EBUSY;
    if (!error_no && setting->period)
        error_no = try_ring(setting, fd, with_kernel);
    close(fd);
    return error_no;
}

static int try_both(const struct pm_counter_setting *setting, bool *ret_user_only)
{
    int error_no = try_event(setting, true);
    *ret_user_only = (error_no == EACCES || error_no == EPERM) &&
                     !(setting->flags & (PM_COUNTER_IN_KERNEL | PM_COUNTER_NO_EXCLUDE));
    if (*ret_user_only) {
        int other = try_event(setting, false);
        *ret_user_only = other == 0;
        if (other == 0)
            error_no = 0;
    }
    return error_no;
}

/* Of a file, or of rusage, which is always there. */
static struct session_trial try_source(const struct pm_counter_setting *setting)
{
    struct session_trial trial = {.counts = true};
    char text[PM_COUNTER_READ_BYTES];
    uint64_t number;
    if (setting->type == PM_COUNTER_OF_RUSAGE)
        return trial;
    FILE *in = fopen(setting->file, "re");
    if (!in) {
        trial.counts = false;
        snprintf(trial.reason, sizeof trial.reason, "cannot read '%.120s': %s", setting->file,
                 strerror(errno));
        return trial;
    }
    size_t n = fread(text, 1, sizeof text, in);
    fclose(in);
    trial.counts = pm_counters_look_up(text, n, setting->field, &number);
    if (!trial.counts)
        snprintf(trial.reason, sizeof trial.reason,
                 "'%.80s' has no number '%.48s' (a whole one, in the first %d KiB)", setting->file,
                 setting->field, PM_COUNTER_READ_BYTES / 1024);
    return trial;
}

static struct session_trial trial_of(const struct session_papi_event *event, const char *reason,
                                     uint64_t period)
{
    struct session_trial trial = {.counts = event && event->counts,
                                  .samples = event && event->samples,
                                  .is_late = event && event->is_late};
    const char *advice = "";
    if (!event)
        advice = "install it (Debian: libpapi7.0), or set LD_LIBRARY_PATH; 'perfmap metrics' lists "
                 "what can be counted without";
    else if (!trial.counts)
        advice = "'perfmap metrics' lists what PAPI can count here, and what the kernel can";
    else if (!trial.samples && period)
        advice = "count it: --metric";
    if (event && *event->reason)
        snprintf(trial.reason, sizeof trial.reason, "PAPI: %s", event->reason);
    else if (!event)
        snprintf(trial.reason, sizeof trial.reason, "%s", reason);
    snprintf(trial.advice, sizeof trial.advice, "%s", advice);
    return trial;
}

static struct session_trial try_papi(const struct pm_counter_setting *setting)
{
    const char *name = setting->field;
    struct session_papi papi;
    struct pm_error err = PM_ERROR_INIT;
    struct session_trial trial;
    if (session_papi_try(&name, 1, false, NULL, &err, &papi) != PM_OK) {
        trial = trial_of(NULL, pm_error_text(&err), setting->period);
        pm_error_release(&err);
        return trial;
    }
    trial = trial_of(papi.n ? papi.events : NULL, papi.reason, setting->period);
    session_papi_release(&papi);
    return trial;
}

struct session_trial session_counter_try(const struct pm_counter_setting *setting)
{
    struct session_trial trial = {0};
    if (setting->type == PM_COUNTER_OF_PAPI)
        return try_papi(setting);
    if (setting->type == PM_COUNTER_OF_PLUGIN) /* which has been tried with its library */
        return (struct session_trial){.counts = true};
    if (pm_counter_is_source(setting))
        return try_source(setting);
    struct pm_counter_setting counted = *setting, sampled = *setting;
    bool user_only;
    counted.period = 0;
    sampled.period = setting->period ? setting->period : 1000003;
    int error_no = try_both(&counted, &trial.is_user_only);
    trial.counts = error_no == 0;
    if (error_no) {
        explain(&counted, error_no, &trial);
        return trial;
    }
    error_no = try_both(&sampled, &user_only);
    trial.samples = error_no == 0;
    if (error_no)
        explain(&sampled, error_no == EINVAL ? EOPNOTSUPP : error_no, &trial);
    else if (trial.is_user_only) {
        snprintf(trial.reason, sizeof trial.reason, "without what the kernel does for the program");
        snprintf(trial.advice, sizeof trial.advice,
                 "as root, or sysctl kernel.perf_event_paranoid=1 (it is %ld)", paranoid_level());
    }
    return trial;
}

static enum pm_status check_one(const struct session_counters *counters, uint32_t i,
                                const struct session_trial *trial, struct pm_error *err)
{
    const struct pm_counter_setting *setting = &counters->settings.items[i];
    if (trial->counts && (trial->samples || !setting->period))
        return PM_OK;
    const char *done = setting->period ? "sampled" : "counted";
    const char *dot = *trial->advice ? "; " : "";
    return pm_error_set(err, PM_ERR_SYSTEM, "'%s' cannot be %s here: %s%s%s", counters->names[i],
                        done, trial->reason, dot, trial->advice);
}

/* What the trial of PAPI's events tells of one: whose numbers they are, and whether it has to take
 * turns. event NULL: there is no PAPI. */
static enum pm_status take_papi(struct session_counters *counters, uint32_t i,
                                const struct session_papi *papi,
                                const struct session_papi_event *event, struct pm_error *err)
{
    struct pm_counter_setting *setting = &counters->settings.items[i];
    struct session_trial trial = trial_of(event, papi->reason, setting->period);
    enum pm_status status = check_one(counters, i, &trial, err);
    if (status != PM_OK)
        return status;
    setting->flags |= event->is_shared ? PM_COUNTER_SHARED : 0;
    if (*papi->turns_problem)
        return pm_error_set(err, PM_ERR_SYSTEM,
                            "'%s': PAPI cannot let its events take turns here: %s; ask for fewer "
                            "in one run, without --multiplex",
                            counters->names[i], papi->turns_problem);
    if (!papi->takes_turns || event->is_shared)
        return PM_OK;
    if (setting->period)
        return pm_error_set(err, PM_ERR_SYSTEM,
                            "'%s' cannot be sampled together with the other events of PAPI, which "
                            "have to take turns: ask for fewer in one run",
                            counters->names[i]);
    setting->flags |= PM_COUNTER_MULTIPLEXED;
    return PM_OK;
}

static enum pm_status check_papi(struct session_counters *counters, struct pm_error *err)
{
    const char *names[PM_COUNTERS_MAX];
    uint32_t items[PM_COUNTERS_MAX];
    size_t n = 0;
    struct session_papi papi;
    for (uint32_t i = 0; i < counters->settings.n; i++)
        if (counters->settings.items[i].type == PM_COUNTER_OF_PAPI) {
            items[n] = i;
            names[n++] = counters->settings.items[i].field;
        }
    if (!n)
        return PM_OK;
    enum pm_status status = session_papi_try(names, n, counters->takes_turns, NULL, err, &papi);
    if (status != PM_OK)
        return status;
    for (size_t k = 0; k < n; k++) {
        status = take_papi(counters, items[k], &papi, k < papi.n ? &papi.events[k] : NULL, err);
        if (status != PM_OK)
            break;
    }
    session_papi_release(&papi);
    return status;
}

enum pm_status session_counters_check(struct session_counters *counters, struct pm_error *err)
{
    enum pm_status status = check_papi(counters, err);
    if (status != PM_OK)
        return status;
    for (uint32_t i = 0; i < counters->settings.n; i++) {
        const struct pm_counter_setting *setting = &counters->settings.items[i];
        if (setting->type == PM_COUNTER_OF_PAPI)
            continue;
        struct session_trial trial = session_counter_try(setting);
        status = check_one(counters, i, &trial, err);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}
