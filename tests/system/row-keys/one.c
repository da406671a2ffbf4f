/* A static function of the same name is in two.c; two loops are on one line. */
#include <stdio.h>
#include <stdlib.h>

double other(double *a, int n);

static double sum(const double *a, int n)
{
    double s = 0;
    for (int i = 0; i < n; i++)
        s += a[i];
    return s;
}

static inline double scaled(double x, int k)
{
    for (int i = 0; i < k; i++)
        x = x * 1.0000001 + 1e-9;
    return x;
}

__attribute__((noinline)) static double twice(double *a, int n)
{
    double s = 0;
    for (int i = 0; i < n; i++) s += a[i]; for (int i = 0; i < n; i++) a[i] = scaled(s, 3);
    return s;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 2000;
    double *a = malloc((size_t)n * sizeof *a), s = 0;
    for (int i = 0; i < n; i++)
        a[i] = scaled(i, 2);
    for (int k = 0; k < 16000; k++)
        s += sum(a, n) + other(a, n) + twice(a, n / 4) + scaled(k, 5);
    printf("%d\n", s > 0);
    free(a);
    return 0;
}
