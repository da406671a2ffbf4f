/* Constructs that are met a known number of times by two threads, as constructs.c, and those that are met seldom. Says itself what level OpenMP has to
 * say: "is NAME|VERB|CALLS|CHUNKS|ITERATIONS", -: not looked at; "wait NAME|VERB|LEAST|MOST" in nanoseconds. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum { ROUNDS = 3, MS = 20 };
#define OWN __attribute__((noinline))
static long n_done;
static int data[1000];

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

static void add(long *sum, long n)
{
    __atomic_fetch_add(sum, n, __ATOMIC_RELAXED);
}

/* --- loops that are divided at once --- */

OWN static void bounds(int n, long step, unsigned long long last)
{
    long count = 0;
    for (int round = 0; round < ROUNDS; round++) {
#pragma omp parallel num_threads(2)
        {
#pragma omp for
            for (int i = 5; i <= n; i++) /* n - 4 */
                add(&count, 1);
#pragma omp for schedule(static) nowait
            for (long i = n; i > -n; i -= step) /* 2 n / step, upwards */
                add(&count, 1);
#pragma omp for schedule(static, 3)
            for (unsigned long long i = 7; i < last; i += 2)
                add(&count, 1);
#pragma omp for schedule(auto)
            for (int *p = data; p < data + n; p++)
                add(&count, 1);
#pragma omp for
            for (int i = n; i < 5; i++) /* none */
                add(&count, 1);
        }
    }
#ifdef __clang__ /* it does not begin a loop without iterations */
    printf("is loop in bounds|Loop|%d|-|%ld\n", 2 * ROUNDS * 4, count);
#else
    printf("is loop in bounds|Loop|%d|-|%ld\n", 2 * ROUNDS * 5, count);
#endif
}

OWN static void nests(int n, int m)
{
    long count = 0, last = 0;
#pragma omp parallel num_threads(2)
    {
#pragma omp for collapse(2) schedule(static) lastprivate(last)
        for (int i = 0; i < n; i++)
            for (int j = m; j > 0; j -= 3) {
                last = i;
                add(&count, 1);
            }
#pragma omp for collapse(2) schedule(static, 2)
        for (int i = 0; i < 4; i++)
            for (unsigned j = 0; j < 5; j++)
                add(&count, 1);
    }
#pragma omp parallel for simd num_threads(2)
    for (int i = 0; i < n; i++)
        data[i]++;
    printf("is loop in nests|Loop|6|%d|%ld\n", 2 + 10 + 2, count + n);
    n_done += last;
}

/* Called by a team, and by nobody's. */
OWN static long orphan(int n)
{
    long sum = 0;
#pragma omp for schedule(static)
    for (int i = 0; i < n; i++)
        sum += i;
    return sum;
}

OWN static void orphans(void)
{
#pragma omp parallel num_threads(2)
    add(&n_done, orphan(11));
    add(&n_done, orphan(5));
    printf("is loop in orphan|Loop|3|3|16\n");
    printf("is barrier of loop in orphan|Barrier|3|-|-\n");
}

/* Who has more to do is waited for at the loop's end. */
OWN static void uneven(void)
{
    long ends[2] = {0, 0}, waited = 0;
    for (int round = 0; round < ROUNDS; round++) {
#pragma omp parallel num_threads(2)
        {
            int me = omp_get_thread_num();
#pragma omp for
            for (int i = 0; i < 10; i++) {
                if (i == 0)
                    rest(MS);
                ends[me] = now();
            }
#pragma omp single nowait
            n_done++;
        }
        waited += labs(ends[1] - ends[0]);
    }
    printf("is loop in uneven|Loop|6|6|30\n");
    printf("is single in uneven|Single|3|-|-\n");
    printf("wait barrier of loop in uneven|Barrier|%ld|%ld\n", waited, waited);
}

/* --- one of the team --- */

OWN static void one(void)
{
    long waited = 0;
    for (int round = 0; round < ROUNDS; round++) {
#pragma omp parallel num_threads(2)
        {
#pragma omp master
            rest(MS);
            long start = now();
#pragma omp barrier
            add(&waited, now() - start);
#pragma omp single
            rest(1);
        }
    }
    printf("is master in one|Masked|3|-|-\n");
    printf("is single in one|Single|3|-|-\n");
    printf("is barrier in one|Barrier|6|-|-\n");
    printf("wait barrier in one|Barrier|%ld|%ld\n", waited, waited);
}

#ifdef HAS_MASKED
OWN static void chosen(void)
{
#pragma omp parallel num_threads(2)
    {
#pragma omp masked filter(1)
        add(&n_done, omp_get_thread_num());
    }
    printf("is masked in chosen|Masked|1|-|-\n");
}
#else
static void chosen(void)
{
}
#endif

/* --- one after the other --- */

OWN static void across(void)
{
    long waited = 0;
#pragma omp parallel num_threads(2)
    {
#pragma omp for ordered(1) schedule(static, 1)
        for (int i = 0; i < 10; i++) {
            long start = now();
#pragma omp ordered depend(sink : i - 1)
            add(&waited, now() - start);
            rest(2);
#pragma omp ordered depend(source)
        }
    }
    printf("is loop in across|Loop|2|-|-\n");
#ifdef __clang__
    printf("is ordered in across|Acquire|10|-|-\n");
#else /* the first one waits for nobody, and is not asked for */
    printf("is ordered in across|Acquire|9|-|-\n");
#endif
    printf("wait ordered in across|Acquire|%ld|%ld\n", waited, waited);
}

/* --- tasks --- */

OWN static void groups(void)
{
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp taskgroup
        {
#pragma omp taskgroup
            {
#pragma omp task
                add(&n_done, 1);
            }
#pragma omp task
            add(&n_done, 1);
        }
    }
    printf("is taskgroup in groups|TaskWait|2|-|-\n");
    printf("is task in groups|Create|2|-|-\n");
    printf("is task in groups|Task|2|-|-\n");
}

OWN static void loops_of_tasks(void)
{
    long count = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp taskloop grainsize(10)
        for (int i = 0; i < 100; i++)
            add(&count, 1);
#pragma omp taskloop num_tasks(4) nogroup
        for (int i = 0; i < 10; i++)
            add(&count, 1);
    }
    printf("is taskloop in loops_of_tasks|Create|2|-|-\n");
    printf("is taskloop in loops_of_tasks|Task|14|-|-\n");
    n_done += count;
}

/* One after the other, by what they depend on; done at once; of higher priority. */
OWN static void chains(void)
{
    int a = 0, b = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        for (int i = 0; i < 10; i++) {
#pragma omp task depend(inout : a)
            a++;
#pragma omp task depend(in : a) depend(inout : b) priority(3)
            b += a;
        }
#pragma omp taskwait
#pragma omp task final(1)
        {
#pragma omp task
            add(&n_done, 1);
        }
    }
    printf("is task in chains|Create|22|-|-\n");
    printf("is task in chains|Task|22|-|-\n");
    printf("is taskwait in chains|TaskWait|1|-|-\n");
    n_done += a + b;
}

OWN static void sums(void)
{
    long sum = 0, other = 0;
#pragma omp parallel num_threads(2) reduction(task, + : sum)
    {
#pragma omp single
        for (int i = 0; i < 8; i++)
#pragma omp task in_reduction(+ : sum)
            sum += i;
    }
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskgroup task_reduction(+ : other)
    for (int i = 0; i < 5; i++)
#pragma omp task in_reduction(+ : other)
        other += i;
    printf("is task in sums|Task|13|-|-\n");
    printf("is taskgroup in sums|TaskWait|1|-|-\n");
    if (sum != 28 || other != 10)
        printf("wrong sums %ld %ld\n", sum, other);
    n_done += sum + other;
}

/* A loop that tasks take part in, and is divided at once. */
OWN static void joined(void)
{
    long sum = 0;
#pragma omp parallel num_threads(2)
#pragma omp for reduction(task, + : sum)
    for (int i = 0; i < 21; i++) {
#pragma omp task in_reduction(+ : sum)
        sum += i;
    }
    printf("is loop in joined|Loop|2|2|21\n");
    printf("is task in joined|Task|21|-|-\n");
    n_done += sum;
}

/* --- regions within regions, teams, devices --- */

OWN static void nested(void)
{
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
    {
#pragma omp parallel for num_threads(2)
        for (int i = 0; i < 10; i++)
            add(&n_done, 1);
    }
    printf("is parallel in nested|Parallel|6|-|-\n");
    printf("is loop in nested|Loop|4|4|20\n");
}

OWN static void leagues(void)
{
    long count = 0;
#pragma omp teams num_teams(2) thread_limit(2)
    {
#pragma omp distribute parallel for schedule(static)
        for (int i = 0; i < 40; i++)
            add(&count, 1);
    }
    printf("is teams in leagues|Teams|2|-|-\n");
    printf("is loop in leagues|Loop|-|-|%ld\n", count);
}

OWN static void device(void)
{
    int sum = 0;
#pragma omp target map(tofrom : sum)
    for (int i = 0; i < 10; i++)
        sum += i;
    printf("done %d on a device\n", sum);
#ifndef __clang__
    printf("is target in device|Target|1|-|-\n");
#endif
}

int main(void)
{
    bounds(30, 4, 100);
    nests(10, 17);
    orphans();
    uneven();
    one();
    chosen();
    across();
    groups();
    loops_of_tasks();
    chains();
    sums();
    joined();
    nested();
    leagues();
    device();
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("switches %ld\ndone %ld\n", usage.ru_nivcsw, n_done);
}
