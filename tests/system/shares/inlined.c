/* One function inlined into two callers, which spend 1:3 of the time in it. */
#include <stdio.h>
#include <stdlib.h>

__attribute__((always_inline)) static inline unsigned long mix(unsigned long x, long n)
{
    for (long i = 0; i < n; i++)
        x = x * 0x9e3779b97f4a7c15u + 1;
    return x;
}

__attribute__((noinline)) static unsigned long seldom(unsigned long x, long n)
{
    return mix(x, n);
}

__attribute__((noinline)) static unsigned long often(unsigned long x, long n)
{
    return mix(x + 1, 3 * n);
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 1000;
    unsigned long x = (unsigned long)n;
    for (int i = 0; i < 1000; i++)
        x = seldom(x, n) + often(x, n);
    printf("%lu\n", x);
    return 0;
}
