/* Counts "instructions", "cycles" and "misses" itself, by thread, and prints how many of them each function and loop had. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static __thread long long counts[3];
struct pool_counts {
    unsigned long hits, bytes;
};
static __thread struct pool_counts pool;

/* For the fake PAPI, and for the library of docs/counters.md. */
long long *fake_counts(void);
long long *fake_counts(void)
{
    return counts;
}
struct pool_counts *pool_counts_of_thread(void);
struct pool_counts *pool_counts_of_thread(void)
{
    return &pool;
}

static long long in_step[3], in_odd[3], in_turn[3];

__attribute__((always_inline)) static inline void count(long long *where, long long ins, long long cyc, long long misses)
{
    counts[0] += ins;
    counts[1] += cyc;
    counts[2] += misses;
    __atomic_fetch_add(&where[0], ins, __ATOMIC_RELAXED);
    __atomic_fetch_add(&where[1], cyc, __ATOMIC_RELAXED);
    __atomic_fetch_add(&where[2], misses, __ATOMIC_RELAXED);
    pool.hits += (unsigned long)ins;
    pool.bytes += (unsigned long)cyc;
}

__attribute__((noinline)) static double step(int n, double x, float y)
{
    count(in_step, 10 * n, 5 * n, 1);
    return x * y;
}

__attribute__((noinline)) static double turn(int n)
{
    double sum = 0;
    count(in_turn, 100, 200, 3);
    for (int i = 0; i < n; i++)
        sum += step(i, i, 0.5f);
    for (int i = 0; i < n; i++)
        count(in_odd, 1, 3, 0);
    return sum;
}

static void *run(void *data)
{
    double *sum = data;
    for (int i = 0; i < 10; i++)
        *sum += turn(20);
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    double sums[4] = {0};
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, run, &sums[i]);
    run(&sums[3]);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 4; i++)
        if (sums[i] != 10 * 19 * 20 / 2 * 0.5)
            return 1;
    printf("step %lld %lld %lld\n", in_step[0], in_step[1], in_step[2]);
    printf("turn %lld %lld %lld\n", in_turn[0], in_turn[1], in_turn[2]);
    printf("odd %lld %lld %lld\n", in_odd[0], in_odd[1], in_odd[2]);
    return 0;
}
