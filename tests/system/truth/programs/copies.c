/* Functions that are inlined at some of their calls, call themselves last, or are cut in two: no count is more than
 * what they counted themselves. `random` was declared in a system header before it is defined here. */
#include "truth.h"
#include <stdlib.h>

static long n_fib, n_square, n_sum, n_look, n_work, n_random;
static volatile long sink;
static long table[128];

static long fib(int n)
{
    n_fib++;
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static inline long square(long x)
{
    n_square++;
    return x * x;
}

NOINLINE static long sum(long n, long so_far)
{
    n_sum++;
    return n == 0 ? so_far : sum(n - 1, so_far + n);
}

NOINLINE static long work(long x)
{
    n_work++;
    sink += x;
    return x * 7 + 1;
}

static long look(long x)
{
    n_look++;
    if (x < 100)
        return table[x & 127];
    long s = 0;
    for (long i = 0; i < 5; i++)
        s += work(i + x) + (sink ^ s) * 3 + work(s) - work(s / 3);
    for (long i = 0; i < 5; i++)
        s ^= work(i + s) + (sink ^ s) * 5 + work(s) - work(s / 5);
    table[x & 127] = s;
    return s;
}

NOINLINE long random(void)
{
    n_random++;
    BURN(2);
    return 4;
}

long (*volatile square_by_name)(long) = square, (*volatile look_by_name)(long) = look;

int main(void)
{
    long s = fib(24);
    for (long i = 0; i < 1000; i++) {
        s += square(i) + square_by_name(i) + sum(10, i) + look(i % 200) + look_by_name(100 + i);
        s += random();
    }
    truth("n_fib", (double)n_fib);
    truth("n_square", (double)n_square);
    truth("n_sum", (double)n_sum);
    truth("n_look", (double)n_look);
    truth("n_work", (double)n_work);
    truth("n_random", (double)n_random);
    printf("%ld\n", s);
    return 0;
}
