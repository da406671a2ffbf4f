/* See mixture.c. */
#include "truth.h"

extern double shared[1024];

static inline __attribute__((always_inline)) double mix(int k)
{
    BURN(10);
    return shared[k & 1023] * k;
}

void plain_global(int n)
{
    for (int k = 0; k < n; k++) {
        shared[k & 1023] += k;
        BURN(10);
    }
}

double plain_inlined(int n)
{
    double sum = 0;
    for (int k = 0; k < n; k++)
        sum += mix(k);
    return sum;
}

void plain_passed(double *values, int n)
{
    for (int k = 0; k < n; k++) {
        values[k & 1023] += k;
        BURN(10);
    }
}
