/* Constructs that take less time than to follow them. Says how often, as rare.c. */
#include <stdio.h>

enum { N = 1500000 };
static long n_done;

__attribute__((noinline)) static void exclusive(void)
{
    for (long i = 0; i < N; i++) {
#pragma omp critical(total)
        n_done++;
    }
}

__attribute__((noinline)) static void tasks(void)
{
    for (long i = 0; i < N; i++) {
#pragma omp task
        n_done++;
    }
}

__attribute__((noinline)) static void chunks(void)
{
#pragma omp for schedule(dynamic, 1)
    for (long i = 0; i < N; i++)
        n_done++;
}

int main(void)
{
#pragma omp parallel num_threads(1)
    {
        exclusive();
        tasks();
        chunks();
    }
    printf("is total|Acquire|%d|-|-\nis total|Critical|%d|-|-\n", N, N);
    printf("is task in tasks|Create|%d|-|-\nis task in tasks|Task|%d|-|-\n", N, N);
    printf("is loop in chunks|Loop|1|%d|%d\n", N, N);
    printf("done %ld\n", n_done);
}
