/* Constructs of functions that are inlined: their iterations count for these, and for their statements. */
#include <stdio.h>
static int a[1000], b[1000];
static inline __attribute__((always_inline)) void fill(int n)
{
#pragma omp for
    for (int i = 0; i < n; i++)
        a[i] = i;
}
static inline __attribute__((always_inline)) void copy(int n)
{
#pragma omp for schedule(dynamic, 10)
    for (int i = 0; i < n; i++)
        b[i] = a[i];
}
static inline __attribute__((always_inline)) void more(int n)
{
#pragma omp for schedule(guided)
    for (int i = 0; i < n; i++)
        b[i] += a[i];
}
int main(void)
{
#pragma omp parallel num_threads(2)
    {
        fill(300);
        fill(300);
        copy(50);
        more(700);
    }
    printf("%d\n", b[40]);
}
