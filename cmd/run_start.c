/* Starts the measured program and waits for it. */
#include "run.h"
#include "run_control.h"
#include "run_kernel.h"
#include "run_pack.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- environment of the program --- */

/* What is preloaded. */
enum { MAX_LIBRARIES = 2 + RUN_MAX_ADAPTERS };
struct preload {
    char *libraries[MAX_LIBRARIES]; /* the runtime, what follows the heap, adapters; NULL */
    char *list;                     /* for LD_PRELOAD */
    char *link_dir; /* holds links to them, and goes away with them; NULL: there was no need */
};

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void preload_release(struct preload *preload)
{
    for (int i = 0; i < MAX_LIBRARIES; i++) {
        struct pm_buf path = PM_BUF_INIT(4096);
        if (preload->link_dir && preload->libraries[i]) {
            pm_buf_printf(&path, "%s/%s", preload->link_dir, file_name(preload->libraries[i]));
            if (!path.failed)
                unlink(path.data);
        }
        pm_buf_release(&path);
        free(preload->libraries[i]);
    }
    if (preload->link_dir)
        rmdir(preload->link_dir);
    free(preload->link_dir);
    free(preload->list);
}

static enum pm_status make_link_dir(struct preload *preload, struct pm_error *err)
{
    char folder[] = "/tmp/perfmap-XXXXXX";
    if (!mkdtemp(folder))
        return pm_error_system(
            err, errno,
            "cannot make a folder in '/tmp' for a link to '%s' (LD_PRELOAD takes no path "
            "with blanks or colons)",
            preload->libraries[0]);
    preload->link_dir = pm_strndup(folder, strlen(folder));
    if (!preload->link_dir) {
        rmdir(folder);
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    }
    return PM_OK;
}

/* LD_PRELOAD separates by blanks and colons and knows no quoting: paths that hold some get links
 * in a folder without. */
static enum pm_status preload_make(const struct run_settings *settings, struct pm_error *err,
                                   struct preload *ret_preload)
{
    struct preload preload = {{NULL}, NULL, NULL};
    struct pm_buf list = PM_BUF_INIT(MAX_LIBRARIES * PATH_MAX);
    int n = 1;
    enum pm_status status = cmd_find_runtime(err, &preload.libraries[0]);
    if (status == PM_OK && settings->heap)
        status = cmd_find_library("libperfmap-heap.so", err, &preload.libraries[n++]);
    for (size_t i = 0; i < settings->adapters.n && status == PM_OK; i++) {
        const char *path = settings->adapters.paths[i];
        preload.libraries[n] = pm_strndup(path, strlen(path));
        if (!preload.libraries[n++])
            status = pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    }
    if (status == PM_OK && strpbrk(preload.libraries[0], " \t\n:;"))
        status = make_link_dir(&preload, err);
    for (int i = 0; i < MAX_LIBRARIES && status == PM_OK && preload.libraries[i]; i++) {
        size_t start = list.len + (i > 0);
        if (i)
            pm_buf_add_byte(&list, ':');
        if (!preload.link_dir) {
            pm_buf_add_str(&list, preload.libraries[i]);
            continue;
        }
        pm_buf_printf(&list, "%s/%s", preload.link_dir, file_name(preload.libraries[i]));
        if (!list.failed && symlink(preload.libraries[i], list.data + start) != 0)
            status =
                pm_error_system(err, errno, "cannot make a link to '%s'", preload.libraries[i]);
    }
    if (status == PM_OK && list.failed)
        status = pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    if (status == PM_OK)
        preload.list = pm_buf_take(&list);
    pm_buf_release(&list);
    if (status == PM_OK)
        *ret_preload = preload;
    else
        preload_release(&preload);
    return status;
}

/* Programs built with -fsanitize=address refuse any library loaded before theirs, unless told. */
static bool allow_sanitizer(void)
{
    const char *others = getenv("ASAN_OPTIONS");
    if (others && strstr(others, "verify_asan_link_order"))
        return true;
    struct pm_buf list = PM_BUF_INIT(1 << 20);
    pm_buf_printf(&list, "%s%sverify_asan_link_order=0", others ? others : "",
                  others && *others ? ":" : "");
    bool ok = !list.failed && setenv("ASAN_OPTIONS", list.data, 1) == 0;
    pm_buf_release(&list);
    return ok;
}

static bool set_number(const char *name, uint64_t value)
{
    char number[24];
    snprintf(number, sizeof number, "%llu", (unsigned long long)value);
    return setenv(name, number, 1) == 0;
}

/* With perfmap run as the one that takes over orphans (below), a process whose parent has ended
 * would see another than it expects: the runtime answers 1 (runtime/guest/wrap.c). */
static bool set_orphans(void)
{
    return set_number("PERFMAP_RUN_PID", (uint64_t)getppid()) &&
           set_number("PERFMAP_FIRST_PID", (uint64_t)getpid());
}

static bool set_environment(const char *preload, const char *run_dir,
                            const struct run_settings *settings)
{
    const char *others = getenv("LD_PRELOAD");
    struct pm_buf list = PM_BUF_INIT(1 << 20);
    pm_buf_printf(&list, "%s%s%s", preload, others && *others ? ":" : "", others ? others : "");
    bool ok = !list.failed && allow_sanitizer() && setenv("LD_PRELOAD", list.data, 1) == 0 &&
              setenv("PERFMAP_RUN_DIR", run_dir, 1) == 0 &&
              setenv("PERFMAP_MODE", settings->mode, 1) == 0 &&
              setenv("PERFMAP_CLOCK", settings->clock, 1) == 0 &&
              set_number("PERFMAP_RATE_HZ", settings->rate_hz) && set_orphans() &&
              set_number("PERFMAP_BUDGET", settings->budget_ppm);
    pm_buf_release(&list);
    if (settings->max_contexts)
        ok = ok && set_number("PERFMAP_MAX_CONTEXTS", settings->max_contexts);
    if (settings->max_depth)
        ok = ok && set_number("PERFMAP_MAX_DEPTH", settings->max_depth);
    if (settings->max_nouns)
        ok = ok && set_number("PERFMAP_MAX_NOUNS", settings->max_nouns);
    if (settings->mapping_points)
        ok = ok && setenv("PERFMAP_MAPPING_POINTS", settings->mapping_points, 1) == 0;
    if (settings->heap)
        ok = ok && set_number("PERFMAP_HEAP", 1);
    if (settings->trace_limit_bytes)
        ok = ok && set_number("PERFMAP_TRACE_LIMIT", settings->trace_limit_bytes);
    if (settings->trace_keep)
        ok = ok && setenv("PERFMAP_TRACE_KEEP", settings->trace_keep, 1) == 0;
    if (settings->kernel_writes)
        ok = ok && set_number("PERFMAP_KERNEL_WRITES", 1);
    if (settings->heap_min_bytes)
        ok = ok && set_number("PERFMAP_HEAP_MIN", settings->heap_min_bytes);
    return ok;
}

/* --- the child --- */

/* Signals as they were before run_program changed them. */
struct saved_signals {
    sigset_t mask;
    struct sigaction on_int, on_quit, on_child, on_pipe;
};

struct pipes {
    int go[2];     /* a byte tells the child to start; end of file: the parent is gone */
    int failed[2]; /* the child's errno when the program could not be started; closed by a good
                      start */
};

_Noreturn static void child_main(char *const *argv, const char *preload, const char *run_dir,
                                 const struct run_settings *settings,
                                 const struct saved_signals *saved, const struct pipes *pipes)
{
    char byte;
    close(pipes->go[1]);
    ssize_t got;
    do
        got = read(pipes->go[0], &byte, 1);
    while (got < 0 && errno == EINTR);
    if (got != 1)
        _exit(RUN_FAILED);
    int errnum = ENOMEM;
    if (set_environment(preload, run_dir, settings)) {
        sigaction(SIGINT, &saved->on_int, NULL);
        sigaction(SIGQUIT, &saved->on_quit, NULL);
        sigaction(SIGCHLD, &saved->on_child, NULL);
        sigaction(SIGPIPE, &saved->on_pipe, NULL);
        sigprocmask(SIG_SETMASK, &saved->mask, NULL);
        execvp(argv[0], argv);
        errnum = errno;
    }
    ssize_t written = write(pipes->failed[1], &errnum, sizeof errnum);
    _exit(written < 0 ? RUN_FAILED : errnum == ENOENT ? RUN_NOT_FOUND : RUN_CANNOT_EXECUTE);
}

/* --- the parent --- */

/* A terminal sends SIGINT and SIGQUIT to the program too, so we let them pass and see how it ends.
 * SIGTERM and SIGHUP are for us alone: they are handed on. SIGPIPE (our standard error is a pipe
 * nobody reads) must not keep us from writing what was measured. */
static void take_signals(struct saved_signals *ret_saved, sigset_t *ret_waited)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct sigaction usual = {.sa_handler = SIG_DFL, .sa_flags = SA_NOCLDSTOP}; /* ends only */
    sigemptyset(ret_waited);
    sigaddset(ret_waited, SIGCHLD);
    sigaddset(ret_waited, SIGTERM);
    sigaddset(ret_waited, SIGHUP);
    sigprocmask(SIG_BLOCK, ret_waited, &ret_saved->mask);
    sigaction(SIGINT, &ignore, &ret_saved->on_int);
    sigaction(SIGQUIT, &ignore, &ret_saved->on_quit);
    sigaction(SIGCHLD, &usual,
              &ret_saved->on_child); /* inherited "ignored" would lose the exit status */
    sigaction(SIGPIPE, &ignore, &ret_saved->on_pipe);
}

static void give_signals_back(const struct saved_signals *saved)
{
    sigaction(SIGINT, &saved->on_int, NULL);
    sigaction(SIGQUIT, &saved->on_quit, NULL);
    sigprocmask(SIG_SETMASK, &saved->mask, NULL);
}

static uint64_t ns_of(struct timeval time)
{
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_usec * 1000u;
}

/* One of our children; 0: there is none, or the kernel does not tell. */
static uint32_t any_child(void)
{
    char path[64], text[32] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    return n > 0 ? (uint32_t)strtoul(text, NULL, 10) : 0;
}

/* What has ended: the program itself, and what its processes left behind. */
struct ended {
    bool program, all; /* all: nothing of the run lives any more */
    /* we have no children but those of the run: else only the program itself can be waited for */
    bool is_alone;
    int status; /* of the program */
    uint64_t user_cpu_ns, system_cpu_ns, max_rss_bytes;
};

static void add_usage(struct ended *ended, const struct rusage *usage)
{
    uint64_t rss_bytes = (uint64_t)usage->ru_maxrss * 1024u;
    ended->user_cpu_ns += ns_of(usage->ru_utime);
    ended->system_cpu_ns += ns_of(usage->ru_stime);
    ended->max_rss_bytes = rss_bytes > ended->max_rss_bytes ? rss_bytes : ended->max_rss_bytes;
}

/* All that has ended by now. A process that its parent did not wait for becomes our child when
 * that ends (PR_SET_CHILD_SUBREAPER): so the CPU time of each process of the run is told by one
 * wait4, and that there is none left by the lack of children. */
static void reap(pid_t child, struct ended *ended)
{
    for (;;) {
        struct rusage usage = {0};
        int status;
        pid_t pid = wait4(ended->is_alone ? -1 : child, &status, WNOHANG, &usage);
        ended->all = pid < 0 && errno == ECHILD;
        if (pid <= 0)
            return;
        if (!WIFEXITED(status) && !WIFSIGNALED(status))
            continue;
        add_usage(ended, &usage);
        if (pid == child) {
            ended->program = true;
            ended->status = status;
        }
    }
}

/* Meanwhile the control socket is served. wait_for_all: for whatever the program left behind,
 * too. */
static void wait_for(pid_t child, bool wait_for_all, const sigset_t *waited,
                     struct run_control *control, struct ended *ended)
{
    int fd = signalfd(-1, waited, SFD_CLOEXEC | SFD_NONBLOCK);
    for (;;) {
        reap(child, ended);
        if (ended->program && (ended->all || !wait_for_all)) {
            if (fd >= 0)
                close(fd);
            return;
        }
        struct signalfd_siginfo info = {0};
        int signal;
        if (fd >= 0 && control) {
            run_control_wait(control, fd);
            signal = read(fd, &info, sizeof info) == (ssize_t)sizeof info ? (int)info.ssi_signo : 0;
        } else {
            signal = sigwaitinfo(waited, NULL);
        }
        if (signal == SIGTERM || signal == SIGHUP) {
            if (ended->program) /* it is us who are to end: what still runs goes on */
                wait_for_all = false;
            else
                kill(child, signal);
        }
    }
}

static void note_end(struct pm_manifest *manifest, struct run_instant calibrated_from,
                     const struct ended *ended)
{
    int status = ended->status;
    struct run_instant end = run_instant_now();
    manifest->end_tsc = end.tsc;
    manifest->end_monotonic_ns = end.monotonic_ns;
    uint64_t hz =
        run_ticks_hz(calibrated_from, end); /* over the whole run: the longer, the better */
    if (hz && manifest->tsc_hz)
        manifest->tsc_hz = hz;
    manifest->has_usage = true;
    manifest->user_cpu_ns = ended->user_cpu_ns;
    manifest->system_cpu_ns = ended->system_cpu_ns;
    manifest->max_rss_bytes = ended->max_rss_bytes;
    manifest->exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    manifest->exit_signal = WIFSIGNALED(status) ? WTERMSIG(status) : -1;
}

/* Writes the manifest before anything is measured, then lets the child go. The manifest's start is
 * a little early until the end of the run, when it is written again. */
static enum pm_status release_child(const char *run_dir, struct pm_manifest *manifest, int go_fd,
                                    struct pm_error *err)
{
    struct run_instant start = run_instant_now();
    manifest->start_tsc = start.tsc;
    manifest->start_monotonic_ns = start.monotonic_ns;
    manifest->start_realtime_ns = run_realtime_ns();
    if (pm_manifest_write(run_dir, manifest, err) != PM_OK)
        return pm_error_add(err, "cannot start the run");
    start = run_instant_now();
    manifest->start_tsc = start.tsc;
    manifest->start_monotonic_ns = start.monotonic_ns;
    manifest->start_realtime_ns = run_realtime_ns();
    return write(go_fd, "g", 1) == 1 ? PM_OK
                                     : pm_error_system(err, errno, "cannot start the program");
}

static enum pm_status parent_main(char *const *argv, const char *run_dir,
                                  const struct run_settings *settings, struct pm_manifest *manifest,
                                  pid_t child, bool is_alone, struct pipes *pipes,
                                  const sigset_t *waited, struct run_control *control,
                                  struct pm_error *err, struct run_end *ret_end)
{
    struct run_instant from;
    struct ended ended = {.is_alone = is_alone};
    int errnum = 0;
    manifest->pid = (uint32_t)child;
    manifest->tsc_hz = run_calibrate(&from);
    close(pipes->go[0]);
    close(pipes->failed[1]);
    enum pm_status status = release_child(run_dir, manifest, pipes->go[1], err);
    close(pipes->go[1]); /* not released: the child sees the end and leaves */
    ssize_t got;
    do
        got = read(pipes->failed[0], &errnum, sizeof errnum);
    while (got < 0 && errno == EINTR);
    close(pipes->failed[0]);
    struct run_pack *pack = run_pack_begin(run_dir);
    wait_for(child, settings->wait_for_all, waited, control, &ended);
    run_pack_end(pack);
    if (status != PM_OK)
        return status;
    if (got == (ssize_t)sizeof errnum) {
        ret_end->exit = errnum == ENOENT ? RUN_NOT_FOUND : RUN_CANNOT_EXECUTE;
        return pm_error_system(err, errnum, "cannot start '%s'", argv[0]);
    }
    note_end(manifest, from, &ended);
    ret_end->exit =
        WIFEXITED(ended.status) ? WEXITSTATUS(ended.status) : 128 + WTERMSIG(ended.status);
    ret_end->is_alive = !ended.all;
    ret_end->living_pid = ended.all ? 0 : any_child();
    return PM_OK;
}

/* NULL, and a warning: the run goes on without. */
static struct run_kernel *open_kernel(void)
{
    struct pm_buf why = PM_BUF_INIT(4096);
    struct run_kernel *kernel = run_kernel_open(&why);
    if (!kernel)
        cmd_talk("warning: option '--kernel-writes': the kernel's own block writes are not "
                 "available here: %s",
                 why.data ? why.data : "out of memory");
    pm_buf_release(&why);
    return kernel;
}

enum pm_status run_program(char *const *argv, const char *run_dir,
                           const struct run_settings *settings, struct run_control *control,
                           struct pm_manifest *manifest, struct pm_error *err,
                           struct run_end *ret_end)
{
    struct preload preload;
    struct pipes pipes;
    struct saved_signals saved;
    sigset_t waited;
    *ret_end = (struct run_end){.exit = RUN_FAILED};
    enum pm_status status = preload_make(settings, err, &preload);
    if (status != PM_OK)
        return status;
    if (pipe2(pipes.go, O_CLOEXEC) != 0 || pipe2(pipes.failed, O_CLOEXEC) != 0) {
        status = pm_error_system(err, errno, "cannot make a pipe");
        goto out;
    }
    struct run_kernel *kernel = settings->kernel_writes ? open_kernel() : NULL;
    run_control_watch(control, kernel);
    fflush(NULL);
    take_signals(&saved, &waited);
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    bool is_alone = any_child() == 0;
    pid_t child = fork();
    if (child == 0)
        child_main(argv, preload.list, run_dir, settings, &saved, &pipes);
    if (child < 0)
        status = pm_error_system(err, errno, "cannot start a process");
    else
        status = parent_main(argv, run_dir, settings, manifest, child, is_alone, &pipes, &waited,
                             control, err, ret_end);
    run_control_watch(control, NULL);
    if (kernel && status == PM_OK) {
        struct pm_run_clock clock = pm_run_clock_of(manifest);
        run_kernel_end(kernel, run_dir, &clock);
    }
    run_kernel_free(kernel);
    give_signals_back(&saved);
out:
    preload_release(&preload);
    return status;
}
