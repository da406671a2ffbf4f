/* Phases of known functions, each of which prints when it began and ended by the real time, and what CPU time
 * each function took there: two threads, then a fork child, then what that executes, then a child that is killed.
 *
 *     phase NAME FROM_NS UNTIL_NS
 *     cpu NAME FUNCTION NS
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PART_MS = 150 };

static volatile double x = 1;

static long long now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/* The loop is the function's own: no time is anywhere else. The number keeps equal functions apart. */
#define BURNER(name, number)                                                \
    static __attribute__((noinline)) long long name(int ms)                 \
    {                                                                       \
        long long begin = now(CLOCK_THREAD_CPUTIME_ID), spent = 0;          \
        while (spent < ms * 1000000ll) {                                    \
            for (int i = 0; i < 100000; i++)                                \
                x = x * 1.0000001 + number * 1e-9;                          \
            spent = now(CLOCK_THREAD_CPUTIME_ID) - begin;                   \
        }                                                                   \
        return spent;                                                       \
    }
BURNER(first_main, 1)
BURNER(second_main, 2)
BURNER(first_other, 3)
BURNER(second_other, 4)
BURNER(forked, 5)
BURNER(executed, 6)
BURNER(killed, 7)

static pthread_barrier_t barrier;

static void told(const char *phase, long long from)
{
    printf("phase %s %lld %lld\n", phase, from, now(CLOCK_REALTIME));
    fflush(stdout);
}

static void cpu(const char *phase, const char *function, long long ns)
{
    printf("cpu %s %s %lld\n", phase, function, ns);
}

static void *other(void *unused)
{
    pthread_barrier_wait(&barrier);
    cpu("first", "first_other", first_other(PART_MS / 3));
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    cpu("second", "second_other", second_other(PART_MS * 2 / 3));
    pthread_barrier_wait(&barrier);
    return unused;
}

/* Until it is killed; so far is where the parent sees what it has done. */
static void burn_until_killed(volatile long long *so_far)
{
    for (;;)
        *so_far += killed(5);
}

static void kill_one(void)
{
    volatile long long *so_far = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    long long from = now(CLOCK_REALTIME);
    pid_t child = fork();
    if (child == 0)
        burn_until_killed(so_far);
    while (*so_far < PART_MS * 1000000ll)
        usleep(1000);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    told("killed", from);
    cpu("killed", "killed", *so_far);
}

int main(int n_args, char **args)
{
    pthread_t thread;
    long long from = now(CLOCK_REALTIME);
    if (n_args > 1) {
        cpu("executed", "executed", executed(PART_MS));
        told("executed", from);
        return 0;
    }
    usleep(100000); /* the run begins with nothing */
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&thread, NULL, other, NULL);
    from = now(CLOCK_REALTIME);
    pthread_barrier_wait(&barrier);
    cpu("first", "first_main", first_main(PART_MS));
    pthread_barrier_wait(&barrier);
    told("first", from);
    usleep(50000);
    from = now(CLOCK_REALTIME);
    pthread_barrier_wait(&barrier);
    cpu("second", "second_main", second_main(PART_MS / 3));
    pthread_barrier_wait(&barrier);
    told("second", from);
    pthread_join(thread, NULL);
    fflush(stdout);
    from = now(CLOCK_REALTIME);
    pid_t child = fork();
    if (child == 0) {
        cpu("forked", "forked", forked(PART_MS));
        told("forked", from);
        execl("/proc/self/exe", args[0], "again", (char *)NULL);
        _exit(1);
    }
    waitpid(child, NULL, 0);
    kill_one();
    return 0;
}
