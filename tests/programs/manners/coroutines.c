/* Coroutines of makecontext: on stacks below and above the thread's own, many at a time, that end, are made again on the same stack, go
 * from thread to thread, or are switched to by a handler. What is on each stack: lap, loop of lap, step, deep (which yields), work, leaf. */
#define _GNU_SOURCE
#define NAMES(x) x(leaf) x(work) x(deep) x(step) x(lap) x(handler)
#include "counts.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>

enum { STACK_BYTES = 65536, N_LAPS = 20 };

struct coroutine {
    ucontext_t context, *back; /* back: who resumed it */
    char *stack;
    long n;
    int ended;
};

static void yield(struct coroutine *c)
{
    swapcontext(&c->context, c->back);
}

SEPARATE static long leaf(long n)
{
    COUNT(leaf);
    return n + 1;
}

SEPARATE static long work(long n)
{
    COUNT(work);
    long sum = 0;
    for (long i = 0; i < n; i++)
        sum += leaf(i);
    return sum;
}

/* Yields with n frames of its own open. */
SEPARATE static long deep(struct coroutine *c, long n)
{
    COUNT(deep);
    if (n == 0) {
        yield(c);
        return work(3);
    }
    return deep(c, n - 1) + work(1);
}

SEPARATE static long step(struct coroutine *c, long i)
{
    COUNT(step);
    long sum = work(2);
    yield(c);
    return sum + deep(c, i % 5);
}

SEPARATE static long lap(struct coroutine *c)
{
    COUNT(lap);
    long sum = 0;
    for (long i = 0; i < N_LAPS; i++) {
        sum += step(c, i);
        if (i % 3 == 0)
            yield(c);
    }
    return sum;
}

static void body(unsigned low, unsigned high)
{
    struct coroutine *c = (struct coroutine *)((unsigned long)high << 32 | low);
    c->n = lap(c);
    c->ended = 1;
}

static void make(struct coroutine *c, char *stack, ucontext_t *link)
{
    c->stack = stack;
    c->ended = 0;
    CHECK(getcontext(&c->context) == 0);
    c->context.uc_stack.ss_sp = stack;
    c->context.uc_stack.ss_size = STACK_BYTES;
    c->context.uc_link = link;
    makecontext(&c->context, (void (*)(void))body, 2, (unsigned)(unsigned long)c, (unsigned)((unsigned long)c >> 32));
}

static struct coroutine some[3000];

/* uc_link is read when the function returns, so it is told at the start. */
static ucontext_t ends_here;

SEPARATE static void run_some(struct coroutine *all, char *stacks, int n, int n_times)
{
    for (int k = 0; k < n_times; k++) {
        for (int i = 0; i < n; i++)
            make(&all[i], stacks + (size_t)i * STACK_BYTES, &ends_here);
        int n_ended = 0;
        while (n_ended < n) {
            n_ended = 0;
            for (int i = 0; i < n; i++) {
                all[i].back = &ends_here;
                if (!all[i].ended)
                    swapcontext(&ends_here, &all[i].context);
                n_ended += all[i].ended;
                work(1);
            }
        }
    }
}

static int heap_stacks(void)
{
    char *stacks = malloc((size_t)12 * STACK_BYTES);
    run_some(some, stacks, 12, 5);
    for (int i = 0; i < 12; i++)
        printf("%ld\n", some[i].n);
    free(stacks);
    return 0;
}

static int static_stacks(void)
{
    static char stacks[4 * STACK_BYTES];
    run_some(some, stacks, 4, 10);
    return 0;
}

/* Above the stack of the thread that uses them. */
static void *in_thread(void *stacks)
{
    run_some(some, stacks, 4, 10);
    return NULL;
}

static int stacks_above(void)
{
    char *stacks = mmap(NULL, 4 * STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, in_thread, stacks) == 0);
    pthread_join(thread, NULL);
    return 0;
}

/* Each leaves its frames behind: nobody ever comes back to them. */
static int abandoned(void)
{
    static char stacks[4 * STACK_BYTES];
    for (int k = 0; k < 200; k++)
        for (int i = 0; i < 4; i++) {
            make(&some[i], stacks + (size_t)i * STACK_BYTES, NULL);
            some[i].back = &ends_here;
            for (int j = 0; j <= k % 7; j++)
                swapcontext(&ends_here, &some[i].context);
            work(1);
        }
    return 0;
}

static int thousands(void)
{
    static char *stacks;
    stacks = mmap(NULL, (size_t)3000 * STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(stacks != MAP_FAILED);
    run_some(some, stacks, 3000, 1);
    return 0;
}

/* One after the other, in turn: a coroutine goes on where another thread left it. */
static pthread_mutex_t turn_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn_changed = PTHREAD_COND_INITIALIZER;
static int turn, n_left;

static void *takes_turns(void *number)
{
    int me = (int)(long)number;
    ucontext_t here;
    for (;;) {
        pthread_mutex_lock(&turn_lock);
        while (turn != me && n_left > 0)
            pthread_cond_wait(&turn_changed, &turn_lock);
        if (n_left == 0) {
            pthread_mutex_unlock(&turn_lock);
            return NULL;
        }
        for (int i = 0; i < 8; i++)
            if (!some[i].ended) {
                some[i].back = &here;
                swapcontext(&here, &some[i].context);
                n_left -= some[i].ended;
            }
        work(1);
        turn = (turn + 1) % 3;
        pthread_cond_broadcast(&turn_changed);
        pthread_mutex_unlock(&turn_lock);
    }
}

/* Its end goes back to whoever resumed it last. */
static void wandering_body(unsigned low, unsigned high)
{
    struct coroutine *c = (struct coroutine *)((unsigned long)high << 32 | low);
    c->n = lap(c);
    c->ended = 1;
    setcontext(c->back);
}

static int wandering(void)
{
    static char stacks[8 * STACK_BYTES];
    pthread_t threads[3];
    for (int i = 0; i < 8; i++) {
        make(&some[i], stacks + (size_t)i * STACK_BYTES, NULL);
        makecontext(&some[i].context, (void (*)(void))wandering_body, 2, (unsigned)(unsigned long)&some[i],
                    (unsigned)((unsigned long)&some[i] >> 32));
    }
    n_left = 8;
    for (long i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, takes_turns, (void *)i) == 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

/* A scheduler that takes the processor away: coroutines know nothing of each other. */
static ucontext_t scheduler;
static struct coroutine *running;
static volatile int may_switch;

static void handler(int number)
{
    COUNT(handler);
    (void)number;
    if (!may_switch)
        return;
    may_switch = 0;
    swapcontext(&running->context, &scheduler);
    may_switch = 1;
}

static void busy_body(void)
{
    may_switch = 1;
    for (int i = 0; i < 400; i++)
        work(100);
    may_switch = 0;
    running->ended = 1;
    setcontext(&scheduler);
}

static int preempted(void)
{
    static char stacks[4 * STACK_BYTES];
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART | SA_NODEFER};
    struct itimerval timer = {{0, 200}, {0, 200}};
    sigaction(SIGALRM, &action, NULL);
    for (int i = 0; i < 4; i++) {
        make(&some[i], stacks + (size_t)i * STACK_BYTES, NULL);
        makecontext(&some[i].context, busy_body, 0);
    }
    setitimer(ITIMER_REAL, &timer, NULL);
    for (int n_ended = 0; n_ended < 4;) {
        n_ended = 0;
        for (int i = 0; i < 4; i++) {
            if (!some[i].ended) {
                running = &some[i];
                swapcontext(&scheduler, &some[i].context);
            }
            n_ended += some[i].ended;
        }
    }
    timer = (struct itimerval){0};
    setitimer(ITIMER_REAL, &timer, NULL);
    return 0;
}

/* fork in a coroutine: both go on, and back to the thread's own stack. */
static void forking_body(unsigned low, unsigned high)
{
    struct coroutine *c = (struct coroutine *)((unsigned long)high << 32 | low);
    work(3);
    c->n = fork();
    CHECK(c->n >= 0);
    work(4);
    yield(c);
    work(5);
    c->ended = 1;
    setcontext(c->back);
}

SEPARATE static long step_of_fork(struct coroutine *c, ucontext_t *here)
{
    c->back = here;
    swapcontext(here, &c->context);
    return work(2);
}

static int forks(void)
{
    static char stack[STACK_BYTES];
    ucontext_t here;
    int status = 0;
    make(&some[0], stack, NULL);
    makecontext(&some[0].context, (void (*)(void))forking_body, 2, (unsigned)(unsigned long)&some[0],
                (unsigned)((unsigned long)&some[0] >> 32));
    step_of_fork(&some[0], &here);
    step_of_fork(&some[0], &here);
    CHECK(some[0].ended);
    if (some[0].n == 0)
        _exit(5);
    CHECK(waitpid((pid_t)some[0].n, &status, 0) == some[0].n && WIFEXITED(status) && WEXITSTATUS(status) == 5);
    return 0;
}

/* For times: each stack works for some 50 ms in a function of its own name, in small pieces. */
static volatile double spent;

static void spend(double seconds)
{
    struct timespec start, now;
    clock_gettime(CLOCK_MONOTONIC, &start);
    do {
        for (int i = 0; i < 1000; i++)
            spent += i;
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((double)(now.tv_sec - start.tv_sec) + (double)(now.tv_nsec - start.tv_nsec) * 1e-9 < seconds);
}

SEPARATE static void first_spends(void)
{
    for (int i = 0; i < 25; i++) {
        spend(0.002);
        yield(&some[0]);
    }
}

SEPARATE static void second_spends(void)
{
    for (int i = 0; i < 25; i++) {
        spend(0.004);
        yield(&some[1]);
    }
}

SEPARATE static void main_spends(void)
{
    for (int i = 0; i < 25; i++) {
        spend(0.001);
        swapcontext(&ends_here, &some[0].context);
        swapcontext(&ends_here, &some[1].context);
    }
}

static int times(void)
{
    static char stacks[2 * STACK_BYTES];
    for (int i = 0; i < 2; i++) {
        make(&some[i], stacks + (size_t)i * STACK_BYTES, &ends_here);
        makecontext(&some[i].context, i == 0 ? first_spends : second_spends, 0);
        some[i].back = &ends_here;
    }
    main_spends();
    return 0;
}

/* A library that is resumed by swapcontext the first time, and by jumps later. */
static sigjmp_buf jumps[2];

static void jumping_body(void)
{
    for (int i = 0; i < 100; i++) {
        work(3);
        if (sigsetjmp(jumps[1], 0) == 0)
            siglongjmp(jumps[0], 1);
    }
    setcontext(&ends_here);
}

static int jumped(void)
{
    static char stack[STACK_BYTES];
    static volatile int n;
    make(&some[0], stack, NULL);
    makecontext(&some[0].context, jumping_body, 0);
    getcontext(&ends_here);
    for (; n < 101; n = n + 1) {
        work(2);
        if (sigsetjmp(jumps[0], 0) == 0) {
            if (n == 0)
                swapcontext(&ends_here, &some[0].context);
            else if (n < 100)
                siglongjmp(jumps[1], 1);
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    static const struct a_case cases[] = {
        {"heap_stacks", heap_stacks}, {"static_stacks", static_stacks}, {"stacks_above", stacks_above},
        {"abandoned", abandoned},     {"thousands", thousands},         {"wandering", wandering},
        {"preempted", preempted},     {"forks", forks},                 {"times", times},
        {"jumped", jumped},
    };
    return RUN_CASE(cases, argc, argv);
}
