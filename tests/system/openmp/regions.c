/* OpenMP regions whose entries are known: check.py has the numbers. */
#include <omp.h>
#include <stdio.h>

#define N 30000
static double a[N];
static long n_tasks;

__attribute__((noinline)) static void work(int n)
{
#pragma omp parallel num_threads(3)
    {
        double scale = 1 + 1e-9 * omp_get_thread_num();
#pragma omp for
        for (int i = 0; i < N; i++)
            for (int k = 0; k < n; k++)
                a[i] = a[i] * scale + k;
    }
}

__attribute__((noinline)) static double sum(void)
{
    double t = 0;
#pragma omp parallel for reduction(+ : t) num_threads(3)
    for (int i = 0; i < N; i++)
        t += a[i];
    return t;
}

__attribute__((noinline)) static void tasks(int n)
{
    for (int round = 0; round < 2; round++) {
#pragma omp parallel num_threads(3)
#pragma omp single
        for (int k = 0; k < n; k++) {
#pragma omp task
            __atomic_fetch_add(&n_tasks, 1, __ATOMIC_RELAXED);
        }
    }
}

__attribute__((noinline)) static void nested(void)
{
#pragma omp parallel num_threads(2)
    {
#pragma omp parallel num_threads(2)
        __atomic_fetch_add(&n_tasks, 1, __ATOMIC_RELAXED);
    }
    __atomic_fetch_add(&n_tasks, 0, __ATOMIC_RELAXED); /* so that starting the region is no tail call */
}

int main(void)
{
    omp_set_dynamic(0);
    omp_set_max_active_levels(2);
    for (int round = 0; round < 4; round++)
        work(1000);
    tasks(20);
    nested();
    printf("%d %ld\n", sum() > 0, n_tasks);
    return 0;
}
