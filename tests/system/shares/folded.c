/* Two functions with equal code, which -fipa-icf makes one: their cost is that of both and cannot honestly be divided. The third
 * function takes a quarter of the time. */
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static unsigned long red(unsigned long x, long n)
{
    for (long i = 0; i < n; i++)
        x = x * 0x9e3779b97f4a7c15u + 1;
    return x;
}

__attribute__((noinline)) static unsigned long blue(unsigned long x, long n)
{
    for (long i = 0; i < n; i++)
        x = x * 0x9e3779b97f4a7c15u + 1;
    return x;
}

__attribute__((noinline)) static unsigned long green(unsigned long x, long n)
{
    for (long i = 0; i < n; i++)
        x = x * 0xd6e8feb86659fd93u + 3;
    return x;
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 1000;
    unsigned long x = (unsigned long)n;
    for (int i = 0; i < 1000; i++)
        x = red(x, n) + blue(x, 2 * n) + green(x, n);
    printf("%lu\n", x);
    return 0;
}
