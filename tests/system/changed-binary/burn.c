#include <stdio.h>
static double u[4096], v[4096];
__attribute__((noinline)) void sweep(void)
{
    for (int i = 1; i < 4095; i++)
        v[i] = v[i] + 0.5 * u[i - 1] / (u[i + 1] + 3);
}
__attribute__((noinline)) double total(void)
{
    double sum = 0;
    for (int i = 0; i < 4096; i++)
        sum += v[i];
    return sum;
}
int main(void)
{
    double sum = 0;
    for (int i = 0; i < 60000; i++) {
        u[i & 4095] = i;
        sweep();
        if (i % 16 == 0)
            sum += total();
    }
    printf("%g\n", sum);
    return 0;
}
