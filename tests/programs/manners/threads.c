/* Threads: many, short, cancelled, on small stacks, and ends of processes that have some. */
#define _GNU_SOURCE
#define NAMES(x) x(leaf) x(work) x(cleanup) x(forever)
#include "counts.h"
#include "work.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <threads.h>
#include <time.h>

static void *short_life(void *n)
{
    return (void *)work((long)n);
}

static int many(void)
{
    enum { AT_ONCE = 100 };
    pthread_t threads[AT_ONCE];
    for (int round = 0; round < 20; round++) {
        for (long i = 0; i < AT_ONCE; i++)
            CHECK(pthread_create(&threads[i], NULL, short_life, (void *)i) == 0);
        for (long i = 0; i < AT_ONCE; i++) {
            void *result;
            CHECK(pthread_join(threads[i], &result) == 0 && (long)result == i * (i + 1) / 2);
        }
    }
    return 0;
}

/* All there at the same time. */
static int crowd(void)
{
    enum { N = 500 };
    static pthread_t threads[N];
    static pthread_barrier_t barrier;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 65536);
    pthread_barrier_init(&barrier, NULL, N);
    for (long i = 0; i < N; i++)
        CHECK(pthread_create(&threads[i], &attributes, (void *(*)(void *))(void *)pthread_barrier_wait, &barrier) == 0);
    for (long i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    for (long i = 0; i < N; i++)
        CHECK(pthread_create(&threads[i], &attributes, short_life, (void *)20) == 0);
    for (long i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

/* 64 threads over many short calls, while what measures them changes its mind. */
static void *long_life(void *n)
{
    for (long i = 0; i < (long)n; i++)
        work(100);
    return NULL;
}

static int busy(void)
{
    enum { N = 64 };
    pthread_t threads[N];
    const char *rounds = getenv("MANNERS_ROUNDS");
    for (long i = 0; i < N; i++)
        CHECK(pthread_create(&threads[i], NULL, long_life, (void *)(rounds != NULL ? atol(rounds) : 2000)) == 0);
    for (long i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

/* Every other one blocks all signals, traps included. */
static void *lives_until_told(void *unused)
{
    static int n;
    sigset_t all;
    sigfillset(&all);
    if (__atomic_fetch_add(&n, 1, __ATOMIC_RELAXED) % 2)
        pthread_sigmask(SIG_BLOCK, &all, NULL);
    while (!STOP)
        work(100);
    return unused;
}

static void on_trap(int number)
{
    (void)number;
    abort(); /* this program has no traps */
}

static int busy_until_told(void)
{
    pthread_t threads[64];
    signal(SIGTRAP, on_trap);
    for (int i = 0; i < 64; i++)
        CHECK(pthread_create(&threads[i], NULL, lives_until_told, NULL) == 0);
    while (!STOP) {
        struct sigaction action;
        CHECK(sigaction(SIGTRAP, NULL, &action) == 0 && action.sa_handler == on_trap);
        signal(SIGTRAP, on_trap);
        usleep(100);
    }
    for (int i = 0; i < 64; i++)
        pthread_join(threads[i], NULL);
    puts("done");
    return 5;
}

/* The smallest stacks that there are. The program itself uses little of them. */
static int small_stacks(void)
{
    pthread_attr_t attributes;
    pthread_t threads[20];
    pthread_attr_init(&attributes);
    CHECK(pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN) == 0);
    for (int i = 0; i < 20; i++)
        CHECK(pthread_create(&threads[i], &attributes, long_life, (void *)3000) == 0);
    for (int i = 0; i < 20; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

static int c11_life(void *n)
{
    return (int)work((long)n);
}

static int c11_threads(void)
{
    for (long i = 0; i < 100; i++) {
        thrd_t thread;
        int result;
        CHECK(thrd_create(&thread, c11_life, (void *)i) == thrd_success);
        CHECK(thrd_join(thread, &result) == thrd_success && result == i * (i + 1) / 2);
    }
    return 0;
}

static void clean_up(void *unused)
{
    (void)unused;
    COUNT(cleanup);
}

SEPARATE static void cleanup(void *data)
{
    clean_up(data);
}

SEPARATE static void forever(void)
{
    COUNT(forever);
    for (;;) {
        work(3);
        struct timespec time = {0, 1000};
        nanosleep(&time, NULL);
    }
}

static void *is_cancelled(void *unused)
{
    pthread_cleanup_push(cleanup, NULL);
    forever();
    pthread_cleanup_pop(0);
    return unused;
}

static void *is_cancelled_anywhere(void *flag)
{
    pthread_cleanup_push(cleanup, NULL);
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    __atomic_store_n((int *)flag, 1, __ATOMIC_RELEASE);
    for (volatile long i = 0;; i = i + 1)
        ;
    pthread_cleanup_pop(0);
    return NULL;
}

static int cancels(void)
{
    for (int i = 0; i < 40; i++) {
        pthread_t thread;
        void *result;
        CHECK(pthread_create(&thread, NULL, is_cancelled, NULL) == 0);
        usleep(1000 + i * 20);
        CHECK(pthread_cancel(thread) == 0 && pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
        int flag = 0;
        CHECK(pthread_create(&thread, NULL, is_cancelled_anywhere, &flag) == 0);
        while (!__atomic_load_n(&flag, __ATOMIC_ACQUIRE))
            sched_yield();
        CHECK(pthread_cancel(thread) == 0 && pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
    }
    return 0;
}

/* Also at once, before the thread has done anything. */
static int cancels_at_once(void)
{
    for (int i = 0; i < 300; i++) {
        pthread_t thread;
        void *result;
        CHECK(pthread_create(&thread, NULL, is_cancelled, NULL) == 0);
        CHECK(pthread_cancel(thread) == 0 && pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
    }
    return 0;
}

static void *exits_deep_down(void *depth)
{
    work(2);
    if (depth == NULL)
        pthread_exit((void *)7);
    pthread_cleanup_push(cleanup, NULL);
    exits_deep_down((char *)depth - 1);
    pthread_cleanup_pop(0);
    return NULL;
}

static int exits(void)
{
    for (long i = 0; i < 50; i++) {
        pthread_t thread;
        void *result;
        CHECK(pthread_create(&thread, NULL, exits_deep_down, (void *)i) == 0);
        CHECK(pthread_join(thread, &result) == 0 && (long)result == 7);
    }
    return 0;
}

static pthread_t main_thread;

static void *outlives_main(void *unused)
{
    CHECK(pthread_join(main_thread, NULL) == 0);
    work(1000);
    puts("the last thread");
    return unused;
}

/* The process ends with its last thread, not with its first one. */
static int main_leaves(void)
{
    pthread_t thread;
    main_thread = pthread_self();
    CHECK(pthread_create(&thread, NULL, outlives_main, NULL) == 0);
    work(10);
    pthread_exit(NULL);
}

static void *ends_all(void *unused)
{
    work(50);
    (void)unused;
    exit(9);
}

static void at_exit(void)
{
    work(5);
}

static _Atomic int n_asleep;

static void *sleeps(void *unused)
{
    work(1);
    n_asleep++;
    pause();
    return unused;
}

static int exit_in_thread(void)
{
    pthread_t thread;
    atexit(at_exit);
    for (int i = 0; i < 5; i++)
        CHECK(pthread_create(&thread, NULL, sleeps, NULL) == 0);
    while (n_asleep < 5)
        usleep(1000);
    CHECK(pthread_create(&thread, NULL, ends_all, NULL) == 0);
    pause();
    return 1;
}

/* Nobody waits for these: some are in the middle of things when the process ends. */
static int detached(void)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    for (int i = 0; i < 8; i++) {
        pthread_t thread;
        CHECK(pthread_create(&thread, &attributes, long_life, (void *)1000000000) == 0);
    }
    usleep(50000);
    return 0;
}

/* Values whose destructors call. */
static pthread_key_t key;

static void destroy(void *value)
{
    work((long)value);
    if ((long)value > 1)
        pthread_setspecific(key, (void *)((long)value - 1));
}

static void *has_values(void *n)
{
    pthread_setspecific(key, n);
    return NULL;
}

static int destructors(void)
{
    CHECK(pthread_key_create(&key, destroy) == 0);
    for (int i = 0; i < 50; i++) {
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, has_values, (void *)3) == 0);
        pthread_join(thread, NULL);
    }
    return 0;
}

int main(int argc, char **argv)
{
    static const struct a_case cases[] = {
        {"many", many},
        {"crowd", crowd},
        {"busy", busy},
        {"busy_until_told", busy_until_told},
        {"small_stacks", small_stacks},
        {"c11_threads", c11_threads},
        {"cancels", cancels},
        {"cancels_at_once", cancels_at_once},
        {"exits", exits},
        {"main_leaves", main_leaves},
        {"exit_in_thread", exit_in_thread},
        {"detached", detached},
        {"destructors", destructors},
    };
    return RUN_CASE(cases, argc, argv);
}
