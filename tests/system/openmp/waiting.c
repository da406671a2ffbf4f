/* Two threads, one of which has a tenth of the other's work and waits at a barrier, spinning. */
#include <omp.h>
#include <stdio.h>

static double a[2][64];

__attribute__((noinline)) static void burn(double *x, long n)
{
    for (long i = 0; i < n; i++)
        x[i & 63] = x[i & 63] * 1.0001 + 1;
}

__attribute__((noinline)) static void unequal(void)
{
#pragma omp parallel num_threads(2)
    {
        int me = omp_get_thread_num();
        burn(a[me], me ? 200000000 : 20000000);
#pragma omp barrier
        a[me][0] += 1;
    }
}

int main(void)
{
    unequal();
    printf("%d\n", a[0][0] + a[1][0] > 0);
    return 0;
}
