/* What this machine and its kernel let us do: each thing is tried, not looked up. */
#include "doctor.h"
#include "cmd/core/paths.h"
#include "cmd/session/clock.h"
#include "cmd/session/kernel.h"

#include "mapping/run/run_file.h"

#include <dirent.h>
#include <errno.h>
#include <linux/membarrier.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* --- runtime: the test program under `perfmap run` --- */

/* The most calls of one context in a run folder: the trial calls its function 1000 times. Negative:
 * no run file that can be read. */
static long long most_calls(const char *run_dir)
{
    long long most = -1;
    DIR *dir = opendir(run_dir);
    for (struct dirent *entry; dir && (entry = readdir(dir)) != NULL;) {
        size_t len = strlen(entry->d_name);
        struct pm_run_file *file = NULL;
        char *path = NULL;
        if (len < 4 || strcmp(entry->d_name + len - 4, ".pmr") != 0 ||
            !(path = doctor_text("%s/%s", run_dir, entry->d_name)))
            continue;
        if (pm_run_file_open(path, NULL, NULL, &file) == PM_OK) {
            most = most < 0 ? 0 : most;
            for (size_t i = 0; i < pm_run_file_n_threads(file); i++) {
                const struct pm_run_file_thread *thread = pm_run_file_thread(file, i);
                for (size_t k = 0; k < thread->n_nodes; k++)
                    if ((long long)thread->nodes[k].n_calls > most)
                        most = (long long)thread->nodes[k].n_calls;
            }
            pm_run_file_free(file);
        }
        free(path);
    }
    if (dir)
        closedir(dir);
    return most;
}

static void try_runtime(struct doctor *doctor)
{
    char *run_dir = doctor_text("%s/trial.run", doctor->folder);
    struct pm_buf output = PM_BUF_INIT(1 << 16);
    char *argv[] = {"/proc/self/exe", "run", "--no-collect",  "-o",
                    run_dir,          "--",  doctor->program, NULL};
    int end = run_dir ? doctor_command(doctor->folder, argv, &output) : -1;
    long long n_calls = end == 0 ? most_calls(run_dir) : -1;
    if (end != 0)
        doctor_add(doctor, "runtime", "preload", DOCTOR_FAILS, doctor_first_error(&output), NULL);
    else if (n_calls == 1000)
        doctor_add(doctor, "runtime", "preload", DOCTOR_WORKS,
                   doctor_text("1000 of 1000 calls measured in a test program"), NULL);
    else
        doctor_add(
            doctor, "runtime", "preload", DOCTOR_FAILS,
            n_calls < 0 ? doctor_text("the runtime left no run file")
                        : doctor_text("%lld of 1000 calls measured", n_calls),
            doctor_text("may processes here change their own code? (SELinux execmod, seccomp)"));
    pm_buf_release(&output);
    free(run_dir);
}

void doctor_runtime(struct doctor *doctor)
{
    struct pm_error err = PM_ERROR_INIT;
    char *runtime = NULL;
    if (cmd_find_runtime(&err, &runtime) != PM_OK)
        doctor_add(doctor, "runtime", "preload", DOCTOR_MISSING,
                   doctor_text("%s", pm_error_text(&err)),
                   doctor_text("build or install PerfMap completely"));
    else if (!doctor->program)
        doctor_add(doctor, "runtime", "preload", DOCTOR_UNTRIED,
                   doctor_text("no C compiler works, so there is nothing to run"), NULL);
    else
        try_runtime(doctor);
    pm_error_release(&err);
    free(runtime);
}

/* --- kernel --- */

static void check_membarrier(struct doctor *doctor)
{
    bool ok =
        syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0) == 0 &&
        syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0) == 0;
    doctor_add(
        doctor, "machine", "membarrier", ok ? DOCTOR_WORKS : DOCTOR_FAILS,
        ok ? doctor_text("sleds can be armed while threads run")
           : doctor_text("sync-core: %s", strerror(errno)),
        ok ? NULL
           : doctor_text("needs Linux 4.16 or later, and a container that allows membarrier(2)"));
}

/* "flags" of the first processor in /proc/cpuinfo, with a blank at both ends. */
static char *processor_flags(void)
{
    FILE *in = fopen("/proc/cpuinfo", "re");
    char *line = NULL, *flags = NULL;
    size_t cap = 0;
    while (in && !flags && getline(&line, &cap, in) > 0)
        if (strncmp(line, "flags", 5) == 0 && strchr(line, ':')) {
            line[strcspn(line, "\n")] = 0;
            flags = doctor_text(" %s ", strchr(line, ':') + 1);
        }
    free(line);
    if (in)
        fclose(in);
    return flags;
}

static void check_clock(struct doctor *doctor)
{
#if defined __x86_64__
    char *flags = processor_flags();
    uint64_t hz = session_calibrate(session_instant_now());
    bool constant = flags && strstr(flags, " constant_tsc "),
         nonstop = flags && strstr(flags, " nonstop_tsc ");
    if (!flags)
        doctor_add(doctor, "machine", "time stamp counter", DOCTOR_FAILS,
                   doctor_text("cannot read /proc/cpuinfo"), NULL);
    else
        doctor_add(doctor, "machine", "time stamp counter",
                   constant && nonstop ? DOCTOR_WORKS : DOCTOR_FAILS,
                   doctor_text("%.3f GHz, %s, %s", (double)hz / 1e9,
                               constant ? "constant" : "not constant",
                               nonstop ? "does not stop" : "may stop in idle states"),
                   constant && nonstop ? NULL
                                       : doctor_text("times may be wrong where the processor "
                                                     "changes its speed: fix its frequency"));
    free(flags);
#else
    doctor_add(doctor, "machine", "clock", DOCTOR_WORKS, doctor_text("clock_gettime"), NULL);
#endif
}

/* --- perf events --- */

static long long paranoid_level(void)
{
    FILE *in = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
    char line[32] = "";
    if (in) {
        if (!fgets(line, sizeof line, in))
            line[0] = 0;
        fclose(in);
    }
    return *line ? strtoll(line, NULL, 10) : 99;
}

/* --- samples: as the runtime takes them --- */

/* A clock event with a small ring. 0 or an errno. */
static int try_ring(bool with_kernel)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
                                   .size = sizeof attr,
                                   .config = PERF_COUNT_SW_TASK_CLOCK,
                                   .sample_period = 2000000,
                                   .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME,
                                   .exclude_kernel = !with_kernel,
                                   .exclude_hv = 1,
                                   .context_switch = 1,
                                   .sample_id_all = 1,
                                   .use_clockid = 1,
                                   .clockid = CLOCK_MONOTONIC_RAW};
    int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return errno;
    size_t bytes = 3 * (size_t)sysconf(_SC_PAGESIZE);
    void *ring = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    int errnum = ring == MAP_FAILED ? errno : 0;
    if (!errnum)
        munmap(ring, bytes);
    close(fd);
    return errnum;
}

static bool try_timer(void)
{
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_NONE};
    bool ok = timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) == 0;
    if (ok)
        timer_delete(timer);
    return ok;
}

static char *samples_advice(int errnum, long long level)
{
    if ((errnum == EACCES || errnum == EPERM) && level > 2 && level != 99)
        return doctor_text(
            "sysctl kernel.perf_event_paranoid=2 (it is %lld) lets users measure their own "
            "programs with perf events: samples at any rate, and the places where threads wait",
            level);
    if (errnum == EACCES || errnum == EPERM)
        return doctor_text("allow perf_event_open(2) in this container");
    return NULL;
}

static void check_samples(struct doctor *doctor, long long level)
{
    int kernel = try_ring(true), user = kernel ? try_ring(false) : 0;
    if (!kernel)
        doctor_add(
            doctor, "machine", "samples", DOCTOR_WORKS,
            doctor_text("taken by perf events, in the kernel too; waiting is located, by line"),
            NULL);
    else if (!user)
        doctor_add(
            doctor, "machine", "samples", DOCTOR_WORKS,
            doctor_text("taken by perf events, but not in the kernel: the context of its time is "
                        "known, the line is not; waiting is located by function and loop"),
            level > 1 && level != 99
                ? doctor_text("sysctl kernel.perf_event_paranoid=1 (it is %lld) adds samples in "
                              "the kernel, and the lines of waits",
                              level)
                : NULL);
    else if (try_timer())
        doctor_add(doctor, "machine", "samples", DOCTOR_WORKS,
                   doctor_text("taken by timers, at most as often as the kernel ticks (often 250 a "
                               "second), because perf events are refused: %s",
                               strerror(user)),
                   samples_advice(user, level));
    else
        doctor_add(doctor, "machine", "samples", DOCTOR_FAILS,
                   doctor_text("no perf events (%s) and no timers: `perfmap run --mode exact` "
                               "measures without samples",
                               strerror(user)),
                   samples_advice(user, level));
}

static void check_counters(struct doctor *doctor)
{
    long long level = paranoid_level();
    check_samples(doctor, level);
    if (level == 99)
        doctor_add(doctor, "machine", "perf_event_paranoid", DOCTOR_MISSING,
                   doctor_text("this kernel has no perf events"), NULL);
    else
        doctor_add(doctor, "machine", "perf_event_paranoid", DOCTOR_WORKS,
                   doctor_text("%lld: %s", level,
                               level <= 2 ? "users may measure their own programs" : "root only"),
                   NULL);
}

/* --- writes of the kernel's own --- */

/* What a process has written reaches the disk later, by threads of the kernel: perfmap run
 * --kernel-writes. */
static void check_block_writes(struct doctor *doctor)
{
    struct pm_buf why = PM_BUF_INIT(4096);
    struct session_kernel *kernel = session_kernel_open(&why);
    if (kernel)
        doctor_add(doctor, "machine", "kernel's block writes", DOCTOR_WORKS,
                   doctor_text("perfmap run --kernel-writes, on ext4"), NULL);
    else
        doctor_add(doctor, "machine", "kernel's block writes", DOCTOR_MISSING,
                   doctor_text("not available here: %s", why.data ? why.data : "out of memory"),
                   NULL);
    session_kernel_free(kernel);
    pm_buf_release(&why);
}

void doctor_machine(struct doctor *doctor)
{
    check_clock(doctor);
    check_membarrier(doctor);
    check_counters(doctor);
    check_block_writes(doctor);
}
