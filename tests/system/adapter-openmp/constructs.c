/* Constructs of OpenMP that are met a known number of times by two threads; check.py has the numbers. Prints how long threads have waited, by
 * clocks of its own: "wait NAME LEAST
 * MOST", in nanoseconds; "switches N": how often others took the processor. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum { ROUNDS = 3, MS = 20 };
#define OWN __attribute__((noinline))

static double data[1000];
static long n_done;
static omp_lock_t door;
static omp_nest_lock_t gate;

static long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void rest(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

static void add(long *sum, long ns)
{
    __atomic_fetch_add(sum, ns, __ATOMIC_RELAXED);
}

/* Its end and its barrier are waited for by the thread that comes first. */
OWN static void regions(void)
{
    long ends[2] = {0, 0}, waited = 0, least = 0, most = 0;
    for (int round = 0; round < ROUNDS; round++) {
#pragma omp parallel num_threads(2)
        {
            int me = omp_get_thread_num();
            rest(me ? 1 : MS);
            long start = now();
#pragma omp barrier
            add(&waited, now() - start);
            rest(me ? MS : 1);
            ends[me] = now();
        }
        least += labs(ends[1] - ends[0]);
        most += 2 * now() - ends[0] - ends[1];
    }
    printf("wait barrier %ld %ld\nwait end %ld %ld\n", waited, waited, least, most);
}

OWN static void loops(void)
{
    for (int round = 0; round < ROUNDS; round++) {
#pragma omp parallel num_threads(2)
        {
#pragma omp for schedule(dynamic, 7)
            for (int i = 0; i < 100; i++) /* 15 chunks */
                data[i] += i;
#pragma omp for schedule(dynamic) nowait
            for (long i = 90; i > 0; i -= 3) /* 30 chunks */
                data[i] += 1;
#pragma omp for schedule(dynamic, 9)
            for (unsigned long long i = 10; i < 100; i++) /* 10 chunks */
                data[i] += 1;
        }
#pragma omp parallel for num_threads(2) schedule(dynamic, 4)
        for (int i = 0; i < 41; i += 2) /* 21 iterations, 6 chunks */
            data[i] += 1;
    }
}

/* Divided at once: GCC does that without a call. */
OWN static void even(void)
{
    for (int round = 0; round < ROUNDS; round++) {
#pragma omp parallel num_threads(2)
        {
#pragma omp for schedule(static)
            for (int i = 0; i < 100; i++)
                data[i] += i;
#pragma omp for schedule(static, 8)
            for (int i = 99; i >= 0; i--) /* 13 chunks */
                data[i] += i;
        }
    }
}

OWN static void turns(void)
{
#pragma omp parallel num_threads(2)
    {
#pragma omp for ordered schedule(dynamic, 1)
        for (int i = 0; i < 12; i++) {
#pragma omp ordered
            data[i] += i;
        }
    }
}

OWN static void exclusive(void)
{
    long waited = 0;
#pragma omp parallel num_threads(2)
    {
#pragma omp barrier
        for (int round = 0; round < ROUNDS; round++) {
            long start = now();
#pragma omp critical(totals)
            {
                add(&waited, now() - start);
                rest(5);
            }
#pragma omp critical
            n_done++;
        }
    }
    printf("wait critical %ld %ld\n", waited, waited);
}

OWN static omp_lock_t *make_lock(void)
{
    omp_lock_t *lock = (omp_lock_t *)malloc(sizeof *lock);
    omp_init_lock(lock);
    return lock;
}

OWN static void locks(void)
{
    long waited = 0;
    omp_lock_t *own = make_lock();
    omp_init_lock(&door);
    omp_init_nest_lock(&gate);
#pragma omp parallel num_threads(2)
    {
#pragma omp barrier
        for (int round = 0; round < ROUNDS; round++) {
            long start = now();
            omp_set_lock(&door);
            add(&waited, now() - start);
            rest(5);
            omp_unset_lock(&door);
        }
        for (int i = 0; i < 10; i++) {
            omp_set_lock(own);
            n_done++;
            omp_unset_lock(own);
        }
#pragma omp barrier
#pragma omp master
        {
            omp_set_nest_lock(&gate);
            omp_set_nest_lock(&gate);
            n_done += omp_test_nest_lock(&gate);
            omp_unset_nest_lock(&gate);
            omp_unset_nest_lock(&gate);
            omp_unset_nest_lock(&gate);
        }
    }
    omp_destroy_lock(own);
    free(own);
    printf("wait lock %ld %ld\n", waited, waited);
}

OWN static void parts(void)
{
#pragma omp parallel num_threads(2)
    {
#pragma omp sections
        {
#pragma omp section
            data[1]++;
#pragma omp section
            data[2]++;
#pragma omp section
            data[3]++;
        }
        for (int round = 0; round < ROUNDS; round++) {
#pragma omp single
            n_done++;
        }
        long value = 0;
#pragma omp single copyprivate(value)
        value = 7;
        add(&n_done, value);
    }
}

OWN static void leaf(long n)
{
    add(&n_done, n);
}

/* Forty tasks: what they do is done for this function, whoever does it. */
OWN static void creator(void)
{
    long large[30] = {0};
    large[29] = 1;
    for (int i = 0; i < 40; i++) {
#pragma omp task firstprivate(large)
        leaf(large[29]);
    }
#pragma omp taskwait
#pragma omp task if (0)
    leaf(1);
}

OWN static void tasks(void)
{
#pragma omp parallel num_threads(2)
#pragma omp single
    creator();
}

static long fib(int n)
{
    long a, b;
    if (n < 2)
        return n;
#pragma omp task shared(a)
    a = fib(n - 1);
#pragma omp task shared(b)
    b = fib(n - 2);
#pragma omp taskwait
    return a + b;
}

OWN static void recursion(void)
{
    long f = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    f = fib(10); /* 88 calls with two tasks each */
    n_done += f;
}

OWN static void groups(void)
{
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp taskgroup
        {
#pragma omp task
            leaf(1);
#pragma omp task
            leaf(1);
        }
#pragma omp taskloop num_tasks(5)
        for (int i = 0; i < 40; i++)
            add(&n_done, i);
    }
}

/* Of one thread by an if clause; within each other; with a sum; with many variables. */
OWN static void others(int n)
{
    double sum = 0;
    long a = n, b = n, c = n, d = n, e = n, f = n, g = n, h = n, i = n, j = n, k = n;
#pragma omp parallel num_threads(2) if (n > 5)
    add(&n_done, 1);
#pragma omp parallel num_threads(2)
    {
#pragma omp parallel num_threads(1)
        add(&n_done, 1);
    }
#pragma omp parallel for num_threads(2) reduction(+ : sum)
    for (int m = 0; m < 10; m++)
        sum += m;
    add(&n_done, (long)sum);
#pragma omp parallel num_threads(2)
    {
        add(&a, b + c + d + e + f + g);
        add(&h, i + j + k);
    }
    add(&n_done, a + h);
}

/* Goes on behind constructs that are left early, where OMP_CANCELLATION says so. */
OWN static void cancelled(void)
{
    int found = -1;
    for (int round = 0; round < ROUNDS; round++) {
#pragma omp parallel num_threads(2)
        {
#pragma omp for schedule(dynamic, 1)
            for (int i = 0; i < 1000; i++) {
                if (i == 10) {
                    found = i;
#pragma omp cancel for
                }
            }
#pragma omp barrier
            if (omp_get_thread_num() == 0) {
#pragma omp cancel parallel
            }
#pragma omp cancellation point parallel
#pragma omp barrier
        }
    }
    n_done += found;
}

int main(void)
{
    regions();
    loops();
    even();
    turns();
    exclusive();
    locks();
    parts();
    tasks();
    recursion();
    groups();
    others(3);
    cancelled();
    struct rusage usage;
    double sum = 0;
    for (int i = 0; i < 1000; i++)
        sum += data[i];
    getrusage(RUSAGE_SELF, &usage);
    printf("switches %ld\n", usage.ru_nivcsw);
    printf("done %ld %g\n", n_done, sum);
}
