#include <stdio.h>
#define N 4096
double X[N], Y[N];

int main(void)
{
    double s = 0;
#pragma omp parallel for
    for (int i = 0; i < N; i++)
        X[i] = i * 0.5; /* first body */
#pragma omp parallel for reduction(+ : s)
    for (int i = 0; i < N; i++)
        s += X[i] * Y[i]; /* second body */
    printf("%g\n", s);
    return 0;
}
