/* Start and end of a process. */
#include "format/pm_settings.h"
#include "format/pm_ranks.h"
#include "runtime/base/clock.h"
#include "runtime/base/confine.h"
#include "runtime/base/file.h"
#include "runtime/base/sys.h"
#include "runtime/code/places.h"
#include "runtime/budget/adapt.h"
#include "runtime/budget/control.h"
#include "runtime/sample/sample.h"
#include "runtime/guest/guest.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

static const char *setting(char **environment, const char *name)
{
    for (char **e = environment; e != NULL && *e != NULL; e++) {
        size_t n = 0;
        while (name[n] != 0 && (*e)[n] == name[n])
            n++;
        if (name[n] == 0 && (*e)[n] == '=')
            return *e + n + 1;
    }
    return NULL;
}

/* What other programs say: no number, or one beyond, is `maximum`. */
static uint64_t plain_number(const char *text, uint64_t maximum)
{
    uint64_t value = 0;
    if (text == NULL || *text == 0)
        return maximum;
    for (; *text >= '0' && *text <= '9' && value < maximum; text++)
        value = value * 10 + (uint64_t)(*text - '0');
    return *text == 0 && value < maximum ? value : maximum;
}

/* As starters of parallel programs say it. */
static void read_rank(char **environment)
{
    static const struct {
        const char *rank, *size;
        uint64_t least;
    } names[] = {
#define VARIABLES(rank, size, least) {rank, size, least},
        PM_RANK_VARIABLES(VARIABLES)
#undef VARIABLES
    };
    enum { MAX_RANKS = 1 << 30 };
    for (size_t i = 0; i < sizeof names / sizeof *names && pm_process.rank_plus_1 == 0; i++) {
        uint64_t rank = plain_number(setting(environment, names[i].rank), MAX_RANKS),
                 n_ranks = names[i].size != NULL
                               ? plain_number(setting(environment, names[i].size), MAX_RANKS)
                               : MAX_RANKS;
        if (rank >= n_ranks || n_ranks < names[i].least)
            continue;
        pm_process.rank_plus_1 = (uint32_t)rank + 1;
        pm_process.n_ranks = n_ranks < MAX_RANKS ? (uint32_t)n_ranks : 0;
    }
}

static void copy_text(char *to, size_t capacity, const char *text)
{
    size_t n = strlen(text);
    memcpy(to, text, n < capacity ? n : capacity - 1); /* the rest is 0 */
}

/* Where it runs: the machine, and what the batch system calls the job. */
static void read_place(char **environment)
{
    static const char *const names[] = {
#define VARIABLE(name) name,
        PM_BATCH_VARIABLES(VARIABLE)
#undef VARIABLE
    };
    struct utsname machine;
    if (pm_sys(SYS_uname, &machine) == 0)
        copy_text(pm_process.node, sizeof pm_process.node, machine.nodename);
    for (size_t i = 0; i < sizeof names / sizeof *names && pm_process.job[0] == 0; i++) {
        const char *job = setting(environment, names[i]);
        if (job != NULL)
            copy_text(pm_process.job, sizeof pm_process.job, job);
    }
}

/* Valgrind preloads a library of its own into what it runs. Samples would find valgrind's code,
 * its registers and stack. */
static bool is_in_valgrind(char **environment)
{
    const char *preloaded = setting(environment, "LD_PRELOAD");
    return preloaded != NULL && strstr(preloaded, "/vgpreload_core") != NULL;
}

static void say_valgrind(void)
{
    if (pm_process.file.header != NULL)
        pm_file_message(PM_RUN_MSG_NOTE,
                        "valgrind runs the program: no samples are taken, for they would find "
                        "valgrind's code; calls are followed",
                        NULL);
}

/* Executable, working folder, arguments, cut to what fits. */
static void read_text(int argc, char **argv)
{
    char *text = pm_process.text;
    size_t capacity = sizeof pm_process.text;
    long n = pm_sys(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", text, capacity / 3);
    pm_process.text_bytes[0] = n > 0 ? (uint32_t)n : 0;
    size_t used = pm_process.text_bytes[0];
    n = pm_sys(SYS_getcwd, text + used, capacity / 3);
    pm_process.text_bytes[1] = n > 1 ? (uint32_t)n - 1 : 0;
    used += pm_process.text_bytes[1];
    size_t start = used;
    for (int i = 0; i < argc && used < capacity; i++) {
        size_t len = strlen(argv[i]) + 1;
        if (len > capacity - used)
            len = capacity - used;
        memcpy(text + used, argv[i], len);
        used += len;
    }
    pm_process.text_bytes[2] = (uint32_t)(used - start);
}

/* One word that is 1 and becomes 0 in every forked child, also in those of clone() that no handler
 * sees. Where the kernel cannot do it (before 4.14), the fork handler alone must do. */
static void make_alive_mark(void)
{
    static uint32_t always = 1;
    pm_process.alive_mark = &always;
    long page = pm_sys(SYS_mmap, 0, PM_RUN_PAGE, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page < 0 && page > -4096)
        return;
    if (pm_sys(SYS_madvise, page, PM_RUN_PAGE, MADV_WIPEONFORK) != 0) {
        pm_sys(SYS_munmap, page, PM_RUN_PAGE);
        return;
    }
    *(uint32_t *)page = 1;
    pm_process.alive_mark = (uint32_t *)page;
}

static uint64_t timeval_ns(struct timeval time)
{
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_usec * 1000u;
}

/* A vfork child shares our memory and is not this process. */
static bool is_this_process(void)
{
    long pid = pm_sys(SYS_getpid); /* negative: a filter of the program's refuses even this */
    return pm_process.file.header != NULL && (pid < 0 || (uint32_t)pid == pm_process.pid) &&
           *pm_process.alive_mark;
}

/* What a vfork child's CPU clock counted, if it ends here. If it goes on with another program, that
 * one has it. */
static void note_vforked(uint32_t flags)
{
    struct pmr_process *p = &pm_process;
    struct timespec cpu = {0, 0};
    if (p->file.header == NULL || !*p->alive_mark || (flags & PM_RUN_FLAG_EXEC) ||
        pm_sys(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, &cpu) != 0)
        return;
    uint64_t cpu_ns = (uint64_t)cpu.tv_sec * 1000000000u + (uint64_t)cpu.tv_nsec;
    if (pm_sample_vforked(&pm_tls, cpu_ns))
        pm_add_shared(p->vforked_cpu_ns, cpu_ns);
}

void pm_process_end(uint32_t flags)
{
    if (!is_this_process()) {
        note_vforked(flags);
        return;
    }
    struct pm_run_header *h = pm_process.file.header;
    struct rusage usage = {0};
    if (pm_sys(SYS_getrusage, RUSAGE_SELF, &usage) == 0) {
        h->end_user_cpu_ns = timeval_ns(usage.ru_utime) + pm_load(pm_process.vforked_cpu_ns);
        h->end_system_cpu_ns = timeval_ns(usage.ru_stime);
        h->end_max_rss_bytes = (uint64_t)usage.ru_maxrss * 1024u;
    }
    uint64_t tsc = 0, now = 0;
    pm_clock_pair(&tsc, &now);
    pm_sources_end();
    pm_threads_process_end(tsc);
    pm_adapt_process_end();
    h->end_tsc = tsc;
    h->end_monotonic_ns = now;
    pm_store(h->flags, h->flags | flags | PM_RUN_FLAG_ENDED);
}

void pm_process_unend(void)
{
    if (!is_this_process())
        return;
    struct pm_run_header *h = pm_process.file.header;
    pm_store(h->flags, h->flags & ~(uint32_t)(PM_RUN_FLAG_ENDED | PM_RUN_FLAG_EXEC));
    pm_sources_unend();
    h->end_tsc = h->end_monotonic_ns = 0;
    h->end_user_cpu_ns = h->end_system_cpu_ns = h->end_max_rss_bytes = 0;
}

static void at_exit(void *unused)
{
    (void)unused;
    pm_process_end(0);
}

extern int __cxa_atexit(void (*function)(void *), void *argument, void *object);

/* Keys below 32 live in the thread block: setting one never allocates. Without one, ends of threads
 * are not seen. */
static void make_thread_key(void)
{
    pthread_key_t key;
    if (pthread_key_create(&key, pm_thread_ended) != 0)
        return;
    if (key < 32)
        pm_process.thread_key = (int)key;
    else
        pthread_key_delete(key);
}

/* By libc, not by a sanitizer that is linked into the program: that one has not begun yet. */
static void watch_exit(void)
{
    int (*of_libc)(void (*)(void *), void *, void *);
    *(void **)&of_libc = dlsym(RTLD_NEXT, "__cxa_atexit");
    (of_libc != NULL ? of_libc : __cxa_atexit)(at_exit, NULL, NULL);
}

void pm_process_begin(int argc, char **argv, char **environment)
{
    pm_memory_is_tight = pm_memory_is_limited();
    bool confined = pm_confine_inherited();
    read_rank(environment);
    read_place(environment);
    pm_process.pid = (uint32_t)pm_sys(SYS_getpid);
    pm_process.parent_pid = (uint32_t)pm_sys(SYS_getppid);
    pm_process.start_cpu_ns = pm_thread_cpu_ns(pm_process.pid);
    struct timespec spent = {0, 0};
    pm_sys(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, &spent);
    pm_process.before_cpu_ns = (uint64_t)spent.tv_sec * 1000000000u + (uint64_t)spent.tv_nsec;
    pm_clock_pair(&pm_process.start_tsc, &pm_process.start_monotonic_ns);
    struct timespec now = {0, 0};
    pm_sys(SYS_clock_gettime, CLOCK_REALTIME, &now);
    pm_process.start_realtime_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    read_text(argc, argv);
    make_alive_mark();
    make_thread_key();
    watch_exit();
    pm_fork_watch();
    pm_process.generation = 1;
    pm_process.on = true;
    pm_sources_begin();
    pm_objects_update();
    if (pm_process.sample_period_ns != 0 && pm_process.file.header == NULL && pm_file_create())
        pm_places_update(); /* no sleds: samples tell all the same where the time goes */
    if (pm_process.in_valgrind && (pm_process.file.header != NULL || pm_file_create()))
        say_valgrind();
    pm_sources_place();
    pm_dl_watch();
    pm_control_begin();
    pm_sample_process_begin();
    pm_adapt_process_begin(pm_process.before_cpu_ns);
    if (confined)
        pm_confine_say();
}

/* Linked with -z initfirst: runs before all other constructors, libc's included, with one thread.
 * So the environment comes as an argument (libc does not know it yet), and what __cxa_atexit
 * registers now runs after every other exit handler and destructor. */
__attribute__((constructor)) static void pm_start(int argc, char **argv, char **environment)
{
    struct stat error_file = {0};
    struct pm_settings settings;
    if (pm_sys(SYS_newfstatat, 2, "", &error_file, AT_EMPTY_PATH) == 0) {
        pm_process.stderr_device = error_file.st_dev;
        pm_process.stderr_inode = error_file.st_ino;
    }
    pm_wrap_resolve();
    if (!pm_settings_read(environment, &settings))
        return;
    pm_process.in_valgrind = pm_settings_takes_samples(&settings) && is_in_valgrind(environment);
    if (!pm_settings_apply(&settings))
        return;
    pm_process.main_thread_pointer = pm_thread_pointer();
    pm_process_begin(argc, argv, environment);
}
