/* What of libc is wrapped. Threads, so that each is sampled from its start. And the ways out of
 * a process image that run no exit handlers: _exit, exec, daemon. Each marks the run file as
 * ended and goes on to libc's own. A vfork child that comes by here is not this process
 * (pm_process_end looks), and nothing is marked. When exec fails, the process lives and the mark
 * is taken back. */
#include "runtime/base/clock.h"
#include "runtime/base/sys.h"
#include "runtime/base/upward.h"
#include "runtime/tree/thread.h"
#include "runtime/words/causes.h"
#include "runtime/guest/guest.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <threads.h>
#include <unistd.h>

typedef int execve_fn(const char *path, char *const argv[], char *const environment[]);
typedef int execv_fn(const char *path, char *const argv[]);
typedef int fexecve_fn(int fd, char *const argv[], char *const environment[]);
typedef int execveat_fn(int fd, const char *path, char *const argv[], char *const environment[],
                        int flags);
typedef int fork_fn(void);
typedef void exit_fn(int status);
typedef int daemon_fn(int stay, int keep_open);
typedef int thread_fn(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                      void *argument);
typedef int thrd_fn(thrd_t *thread, thrd_start_t start, void *argument);

static struct {
    execve_fn *execve, *execvpe;
    execv_fn *execv, *execvp;
    fexecve_fn *fexecve;
    execveat_fn *execveat;
    fork_fn *fork;
    exit_fn *quick_exit;
    daemon_fn *daemon;
    thread_fn *pthread_create;
    thrd_fn *thrd_create;
} libc;

/* At start, for dlsym takes the loader's lock, which in a fork child may be held for ever. */
void pm_wrap_resolve(void)
{
#define RESOLVE(field, name) *(void **)&libc.field = dlsym(RTLD_NEXT, name)
    RESOLVE(execve, "execve");
    RESOLVE(execv, "execv");
    RESOLVE(execvp, "execvp");
    RESOLVE(execvpe, "execvpe");
    RESOLVE(fexecve, "fexecve");
    RESOLVE(execveat, "execveat");
    RESOLVE(fork, "_Fork");
    RESOLVE(quick_exit, "quick_exit");
    RESOLVE(daemon, "daemon");
    RESOLVE(pthread_create, "pthread_create");
    RESOLVE(thrd_create, "thrd_create");
    pm_wrap_signals_resolve();
    pm_wrap_calls_resolve();
    pm_wrap_contexts_resolve();
    pm_unmeasured_resolve();
}

#define LEAVE(call)                       \
    do {                                  \
        pm_process_end(PM_RUN_FLAG_EXEC); \
        int result = (call);              \
        int error_no = errno;             \
        pm_process_unend();               \
        errno = error_no;                 \
        return result;                    \
    } while (0)

PM_EXPORT int execve(const char *path, char *const argv[], char *const environment[])
{
    pm_unmeasured_note(path, environment);
    LEAVE(libc.execve(path, argv, environment));
}

PM_EXPORT int execvpe(const char *file, char *const argv[], char *const environment[])
{
    pm_unmeasured_note(file, environment);
    LEAVE(libc.execvpe(file, argv, environment));
}

PM_EXPORT int execv(const char *path, char *const argv[])
{
    pm_unmeasured_note(path, environ);
    LEAVE(libc.execv(path, argv));
}

PM_EXPORT int execvp(const char *file, char *const argv[])
{
    pm_unmeasured_note(file, environ);
    LEAVE(libc.execvp(file, argv));
}

PM_EXPORT int fexecve(int fd, char *const argv[], char *const environment[])
{
    pm_unmeasured_note("a program", environment);
    LEAVE(libc.fexecve(fd, argv, environment));
}

#ifndef PM_NO_EXECVEAT
PM_EXPORT int execveat(int fd, const char *path, char *const argv[], char *const environment[],
                       int flags);
PM_EXPORT int execveat(int fd, const char *path, char *const argv[], char *const environment[],
                       int flags)
{
    if (libc.execveat == NULL) {
        errno = ENOSYS;
        return -1;
    }
    pm_unmeasured_note("a program", environment);
    LEAVE(libc.execveat(fd, path, argv, environment, flags));
}
#endif

/* Arguments up to the ending NULL, on the stack: exec must not allocate (vfork children, signal
 * handlers). */
#define ARGUMENTS(first, list, argv)                                              \
    va_list list, counting;                                                       \
    va_start(list, first);                                                        \
    va_copy(counting, list);                                                      \
    size_t n_arguments = 1;                                                       \
    char *volatile start = (char *)(uintptr_t)(first); /* callers do pass NULL */ \
    if (start != NULL)                                                            \
        while (va_arg(counting, char *) != NULL)                                  \
            n_arguments++;                                                        \
    va_end(counting);                                                             \
    char **argv = __builtin_alloca((n_arguments + 1) * sizeof *argv);             \
    argv[0] = start;                                                              \
    for (size_t i = 1; argv[i - 1] != NULL; i++)                                  \
    argv[i] = va_arg(list, char *)

PM_EXPORT int execl(const char *path, const char *first, ...)
{
    ARGUMENTS(first, list, argv);
    va_end(list);
    return execv(path, argv);
}

PM_EXPORT int execlp(const char *file, const char *first, ...)
{
    ARGUMENTS(first, list, argv);
    va_end(list);
    return execvp(file, argv);
}

PM_EXPORT int execle(const char *path, const char *first, ...)
{
    ARGUMENTS(first, list, argv);
    char **environment = va_arg(list, char **);
    va_end(list);
    return execve(path, argv, environment);
}

PM_EXPORT void _exit(int status)
{
    pm_process_end(0);
    for (;;)
        pm_sys(SYS_exit_group, status);
}

PM_EXPORT void _Exit(int status)
{
    _exit(status);
}

PM_EXPORT void quick_exit(int status)
{
    pm_process_end(0);
    if (libc.quick_exit != NULL)
        libc.quick_exit(status);
    _exit(status);
}

/* The parent ends within libc. The child, which returns, has a run file of its own. */
PM_EXPORT int daemon(int stay, int keep_open)
{
    if (libc.daemon == NULL) {
        errno = ENOSYS;
        return -1;
    }
    pm_process_end(0);
    int result = libc.daemon(stay, keep_open);
    int error_no = errno;
    pm_process_unend();
    errno = error_no;
    return result;
}

/* `perfmap run` takes over the orphans of a run, to know when all has ended. For them it stands
 * for the system's first process, which they would have as their parent without it: daemons wait
 * for that. */
PM_EXPORT pid_t getppid(void)
{
    pid_t parent = (pid_t)pm_sys(SYS_getppid);
    bool is_orphan = pm_process.run_pid != 0 && (uint32_t)parent == pm_process.run_pid &&
                     (uint32_t)pm_sys(SYS_getpid) != pm_process.first_pid;
    return is_orphan ? 1 : parent;
}

/* fork without handlers. */
PM_EXPORT pid_t _Fork(void);
PM_EXPORT pid_t _Fork(void)
{
    if (libc.fork == NULL) {
        errno = ENOSYS;
        return -1;
    }
    pid_t pid = libc.fork();
    if (pid == 0 && pm_process.on)
        pm_fork_child();
    return pid;
}

/* --- threads --- */

/* What a thread shall do, on its way from the one that makes it to the one that is made, which
 * takes it before anything can cancel it. No memory of malloc's: it may not be ready yet, and is
 * the program's. */
static struct starting {
    uint32_t taken;
    bool blocks_traps;
    uint64_t stack_bytes;
    void *(*start)(void *);
    thrd_start_t start_c11;
    void *argument;
    uint64_t cause; /* causes.h */
} starting[512];

/* What surely is the stack of a thread with these attributes (NULL: the usual ones), from the
 * thread pointer down: glibc's control block lies above that, and guard pages may count as
 * stack. */
static uint64_t stack_bytes_of(const pthread_attr_t *attributes)
{
    enum { NOT_STACK_BYTES = 16384 };
    pthread_attr_t usual;
    size_t bytes = 0;
    if (attributes != NULL)
        pthread_attr_getstacksize(attributes, &bytes);
    else if (pthread_attr_init(&usual) == 0) {
        pthread_attr_getstacksize(&usual, &bytes);
        pthread_attr_destroy(&usual);
    }
    return bytes > NOT_STACK_BYTES ? bytes - NOT_STACK_BYTES : 0;
}

/* NULL: nothing is to be arranged, or cannot be. */
static struct starting *take_starting(const pthread_attr_t *attributes)
{
    if (!pm_process.on || pm_process.file.header == NULL)
        return NULL;
    uint64_t cause = pm_cause_of_thread();
    for (size_t i = 0; i < sizeof starting / sizeof *starting && (cause || pm_sample_is_on()); i++)
        if (pm_load(starting[i].taken) == 0 &&
            __atomic_exchange_n(&starting[i].taken, 1, __ATOMIC_ACQUIRE) == 0) {
            starting[i].cause = cause;
            starting[i].blocks_traps = pm_wrap_blocks_traps();
            starting[i].stack_bytes = stack_bytes_of(attributes);
            return &starting[i];
        }
    return NULL;
}

/* In the new thread. */
static struct starting arrive(struct starting *s)
{
    struct starting what = *s;
    pm_wrap_inherit_traps(s->blocks_traps);
    __atomic_store_n(&s->taken, 0, __ATOMIC_RELEASE);
    pm_tls.stack_bytes = what.stack_bytes;
    pm_cause_thread_begins(what.cause);
    if (pm_tls.state == PM_THREAD_NEW && pm_sample_is_on())
        pm_thread_begin(&pm_tls, pm_tsc());
    return what;
}

static void *thread_start(void *data)
{
    struct starting s = arrive(data);
    return s.start(s.argument);
}

static int thrd_start(void *data)
{
    struct starting s = arrive(data);
    return s.start_c11(s.argument);
}

/* Where nothing can be arranged, the thread is found at its first event. */
PM_EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                             void *(*start)(void *), void *argument)
{
    if (libc.pthread_create == NULL) /* before glibc 2.34 it is in a library that may come later */
        RESOLVE(pthread_create, "pthread_create");
    if (libc.pthread_create == NULL)
        return EAGAIN;
    struct starting *s = take_starting(attributes);
    if (s == NULL)
        return libc.pthread_create(thread, attributes, start, argument);
    s->start = start;
    s->argument = argument;
    int result = libc.pthread_create(thread, attributes, thread_start, s);
    if (result != 0)
        __atomic_store_n(&s->taken, 0, __ATOMIC_RELEASE);
    return result;
}

/* C11's; glibc's own does not come by pthread_create. */
PM_EXPORT int thrd_create(thrd_t *thread, thrd_start_t start, void *argument)
{
    if (libc.thrd_create == NULL)
        RESOLVE(thrd_create, "thrd_create");
    if (libc.thrd_create == NULL)
        return thrd_error;
    struct starting *s = take_starting(NULL);
    if (s == NULL)
        return libc.thrd_create(thread, start, argument);
    s->start_c11 = start;
    s->argument = argument;
    int result = libc.thrd_create(thread, thrd_start, s);
    if (result != thrd_success)
        __atomic_store_n(&s->taken, 0, __ATOMIC_RELEASE);
    return result;
}
