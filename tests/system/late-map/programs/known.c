#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 1000
double A[N], B[N], C[N];
int table[N];

static inline void axpy(double *restrict y, const double *restrict x, double a)
{
    for (int i = 0; i < N; i++) /* vectorised, inlined */
        y[i] += a * x[i];       /* statement axpy */
}

__attribute__((noinline)) void clear(double *p, long n)
{
    for (long i = 0; i < n; i++)
        p[i] = 0; /* a call of memset */
}

__attribute__((noinline)) long sum(const int *p, long n)
{
    long s = 0;
    for (long i = 0; i < n; i++)
        s += p[i]; /* statement sum */
    return s;
}

__attribute__((noinline, cold)) void complain(int x)
{
    printf("%d is bad\n", x);
    exit(2);
}

__attribute__((noinline)) int check(int x)
{
    if (x < 0)
        complain(x); /* the cold part */
    for (int i = 0; i < x % 5; i++)
        table[i] = x;
    return x + 1;
}

int main(int argc, char **argv)
{
    (void)argv;
    clear(A, N);
    for (int i = 0; i < 10; i++)
        axpy(A, B, argc);
    for (int i = 0; i < 10; i++)
        axpy(C, A, 2);
    return check(argc) + (int)sum(table, N) + (int)(A[5] + C[6]) == 12345;
}
