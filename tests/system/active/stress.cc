// Programs whose sleds are disarmed while they run, with hand-made sleds. Each counts for itself what the run file may say at most, in
// `truth`, and prints a result that does not depend on PerfMap, then one line `NOUN CALLS` for each noun.
#include "../../runtime/sleds.h"

#include <atomic>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { A, B, C, D, RECURSE, LOOP, HANDLED, N_NOUNS };
static const unsigned ids[N_NOUNS] = {0xa, 0xb, 0xc, 0xd, 0x20, 0x40, 0x60};
static thread_local long counted[N_NOUNS];
static std::atomic<long> truth[N_NOUNS];

static void add_up()
{
    for (int i = 0; i < N_NOUNS; i++)
        truth[i] += counted[i];
    memset(counted, 0, sizeof counted);
}

extern "C" {
typedef long callee(long);
#define CALLS(name, id, number)                                                                                        \
    PM_TEST_FUNCTION(name, id);                                                                                        \
    long name(callee *f, long x);                                                                                      \
    long name##_body(callee *f, long x)                                                                                \
    {                                                                                                                  \
        counted[number]++;                                                                                             \
        return f != nullptr ? f(x) : x;                                                                                \
    }
CALLS(fa, 0xa, A)
CALLS(fb, 0xb, B)
CALLS(fc, 0xc, C)
CALLS(fd, 0xd, D)
CALLS(fh, 0x60, HANDLED)

PM_TEST_FUNCTION(recurse, 0x20);
long recurse(long depth, callee *last);
long recurse_body(long depth, callee *last)
{
    counted[RECURSE]++;
    if (depth > 0)
        return recurse(depth - 1, last) + 1;
    return last != nullptr ? last(0) : 0;
}
}

static long loops(long x)
{
    long sum = 0;
    counted[LOOP]++;
    PM_TEST_LOOP_ENTER(1, 0x40);
    for (long i = 0; i < 3; i++)
        sum += fc(nullptr, x + i) ^ fd(nullptr, i);
    PM_TEST_LOOP_LEAVE(1, 0x40);
    return sum;
}

static long calls_b(long x)
{
    return fb(loops, x) + recurse(x % 7, nullptr);
}

static long work(long n)
{
    long sum = 0;
    for (long i = 0; i < n; i++)
        sum = sum * 31 + fa(calls_b, i);
    return sum;
}

static pthread_barrier_t all_there;

// A thread that is just beginning blocks all signals, which puts changes off: first all begin.
static void *thread_of_many(void *n)
{
    long sum = work(1);
    pthread_barrier_wait(&all_there);
    sum += work((long)n);
    add_up();
    return (void *)sum;
}

static void *thread_work(void *n)
{
    long sum = work((long)n);
    add_up();
    return (void *)sum;
}

// Each of 64 threads does the same.
static long in_threads(int n_threads, long n_calls)
{
    pthread_t threads[64];
    long sum = 0;
    pthread_barrier_init(&all_there, nullptr, (unsigned)n_threads);
    for (int i = 0; i < n_threads; i++)
        if (pthread_create(&threads[i], nullptr, thread_of_many, (void *)n_calls) != 0)
            exit(3);
    for (int i = 0; i < n_threads; i++) {
        void *result;
        pthread_join(threads[i], &result);
        sum += (long)result;
    }
    return sum;
}

static thread_local jmp_buf target;

static long jump(long x)
{
    longjmp(target, (int)(x & 7) + 1);
}

static long calls_jump(long x)
{
    return recurse(x % 9, jump);
}

// Volatile: changed between setjmp and longjmp.
static long jumps(long n)
{
    volatile long sum = 0;
    for (volatile long i = 0; i < n; i = i + 1) {
        int result = setjmp(target);
        if (result == 0)
            fa(calls_jump, i);
        else
            sum = sum * 31 + result;
        sum = sum + fb(loops, i);
    }
    return sum;
}

static void *thread_jumps(void *n)
{
    long sum = jumps((long)n);
    add_up();
    return (void *)sum;
}

static long throws(long x)
{
    if (x % 3 == 0)
        throw x;
    return fc(nullptr, x);
}

static long exceptions(long n)
{
    long sum = 0;
    for (long i = 0; i < n; i++) {
        try {
            sum += fa([](long x) { return fb(throws, x); }, i);
        } catch (long x) {
            sum = sum * 31 + x;
        }
        sum += fd(nullptr, i);
    }
    return sum;
}

// The handler's calls are counted apart: when they come is chance.
static volatile sig_atomic_t n_handled;

static void on_alarm(int)
{
    n_handled = n_handled + 1;
    fh(nullptr, 1);
}

static long with_signals(long n)
{
    struct sigaction action = {};
    action.sa_handler = on_alarm;
    sigaction(SIGALRM, &action, nullptr);
    struct itimerval often = {{0, 300}, {0, 300}}, never = {};
    setitimer(ITIMER_REAL, &often, nullptr);
    long sum = work(n);
    setitimer(ITIMER_REAL, &never, nullptr);
    return sum;
}

// Children while two threads work and sleds change; a child must find whole code.
static long forks(long n)
{
    pthread_t threads[2];
    for (pthread_t &thread : threads)
        pthread_create(&thread, nullptr, thread_work, (void *)(n * 20));
    long sum = 0;
    for (int i = 0; i < 40; i++) {
        pid_t pid = fork();
        if (pid == 0)
            _exit((int)((unsigned long)work(n / 50 + 1) & 63));
        int status = 0;
        waitpid(pid, &status, 0);
        sum = sum * 31 + status;
        sum += work(n / 50);
    }
    for (pthread_t thread : threads)
        pthread_join(thread, nullptr);
    return sum;
}

static std::atomic<bool> blocks;

static void *block_signals(void *)
{
    sigset_t set;
    sigfillset(&set);
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &set, nullptr, 8); // libc's is wrapped
    blocks = true;
    for (;;)
        usleep(1000);
}

// A thread that blocks SIGTRAP would be killed by a change: there must be none.
static long blocked(long n)
{
    pthread_t thread;
    pthread_create(&thread, nullptr, block_signals, nullptr);
    while (!blocks)
        usleep(1000);
    return work(n); // it goes on to the end: after it, a look may come that disarms
}

// First what costs next to nothing, for so long that looks become rare, then n calls at once.
static long phases(long n)
{
    volatile long sum = 0;
    timespec now = {0, 0};
    do {
        for (long i = 0; i < 100000; i++)
            sum = sum + i;
        sum = sum + fa(nullptr, 1) - 1;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    } while (now.tv_sec == 0 && now.tv_nsec < 800000000);
    for (long i = 0; i < n; i++)
        sum = fb(nullptr, sum ^ i);
    return n;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    long n = argc > 2 ? atol(argv[2]) : 1000, sum = 0;
    if (strcmp(name, "one") == 0)
        sum = work(n);
    else if (strcmp(name, "threads") == 0)
        sum = in_threads(64, n);
    else if (strcmp(name, "jumps") == 0) {
        pthread_t thread;
        void *result;
        pthread_create(&thread, nullptr, thread_jumps, (void *)n);
        sum = jumps(n);
        pthread_join(thread, &result);
        sum += (long)result;
    } else if (strcmp(name, "exceptions") == 0)
        sum = exceptions(n);
    else if (strcmp(name, "signals") == 0)
        sum = with_signals(n);
    else if (strcmp(name, "forks") == 0)
        sum = forks(n);
    else if (strcmp(name, "phases") == 0)
        sum = phases(n);
    else if (strcmp(name, "blocked") == 0)
        sum = blocked(n);
    else
        return 2;
    add_up();
    printf("result %ld\n", sum);
    for (int i = 0; i < N_NOUNS; i++)
        printf("%x %ld\n", ids[i], truth[i].load());
    return 0;
}
