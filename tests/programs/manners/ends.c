/* Ways to end. */
#define _GNU_SOURCE
#define NAMES(x) x(leaf) x(work) x(rest)
#include "counts.h"

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>

/* Counted by who calls, so that at any moment at most this one call is not measured yet. */
SEPARATE static long leaf(long n)
{
    return n + 1;
}

static long call_leaf(long n)
{
    COUNT(leaf);
    return leaf(n);
}

SEPARATE static long work(long n)
{
    long sum = 0;
    for (long i = 0; i < n; i++)
        sum += call_leaf(i);
    return sum;
}

static long call_work(long n)
{
    COUNT(work);
    return work(n);
}

SEPARATE static void rest(int how)
{
    COUNT(rest);
    call_work(20);
    switch (how) {
    case 0:
        exit(3);
    case 1:
        _exit(4);
    case 2:
        quick_exit(5);
    case 3:
        abort();
    case 4:
        raise(SIGKILL);
        break;
    case 5:
        raise(SIGTERM);
        break;
    case 6:
        *(volatile int *)8 = 1;
        break;
    case 7:
        syscall(SYS_exit_group, 6);
        break;
    case 8:
        __builtin_trap();
    }
}

static void at_exit(void)
{
    call_work(2);
}

static int way(int how)
{
    atexit(at_exit);
    at_quick_exit(at_exit);
    call_work(100);
    rest(how);
    return 1;
}

static int n_calling; /* threads that have called something */

static void *many_calls(void *unused)
{
    call_work(1);
    __atomic_add_fetch(&n_calling, 1, __ATOMIC_RELAXED);
    for (long i = 0;; i++)
        call_work(i % 30);
    return unused;
}

/* Until it is killed. Each thread counts for itself all the same: one event each may be missing. */
static int forever(void)
{
    pthread_t thread;
    const char *threads = getenv("MANNERS_THREADS");
    for (int i = 1; threads != NULL && i < atoi(threads); i++)
        CHECK(pthread_create(&thread, NULL, many_calls, NULL) == 0);
    many_calls(NULL);
    return 0;
}

/* Two threads run on while the first execs, which takes a while: the program is looked for in many
 * folders. */
static int exec_among_threads(void)
{
    static char folders[64 * 1024];
    pthread_t thread;
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&thread, NULL, many_calls, NULL) == 0);
    while (__atomic_load_n(&n_calling, __ATOMIC_RELAXED) < 2)
        usleep(5000);
    size_t n = 0;
    for (int i = 0; i < 4000; i++)
        n += (size_t)snprintf(folders + n, sizeof folders - n, "/none/%d:", i);
    snprintf(folders + n, sizeof folders - n, "/bin:/usr/bin");
    setenv("PATH", folders, 1);
    execlp("false", "false", (char *)NULL);
    return 9;
}

int main(int argc, char **argv)
{
    static const struct a_case cases[] = {{"forever", forever}, {"exec", exec_among_threads}};
    if (argc > 2 && strcmp(argv[1], "way") == 0)
        return way(atoi(argv[2]));
    return RUN_CASE(cases, argc, argv);
}
