#include <stdio.h>

enum { N = 1000 };
static double u[N], v[N];

__attribute__((noinline)) static void sweep(void)
{
    for (int i = 1; i < N - 1; i++)
        v[i] = 0.5 * (u[i - 1] + u[i + 1]);
}

__attribute__((noinline)) static double total(void)
{
    double sum = 0;
    for (int i = 0; i < N; i++)
        sum += v[i];
    return sum;
}

int main(void)
{
    u[0] = 1;
    sweep();
    printf("%g\n", total());
    return 0;
}
