/* Tail calls into a library, then other calls from the same place on the stack; functions that jump to each other; a table
 * of handlers called by one call, some of which jump on; one that is left by longjmp. */
#include "truth.h"
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

static long n_even, n_odd, n_first, n_second, n_shared, n_thrower;
static volatile long sink;
static long numbers[400], copy[400];
static jmp_buf back;

NOINLINE static int odd(long n);

NOINLINE static int even(long n)
{
    n_even++;
    return n == 0 ? 1 : odd(n - 1);
}

NOINLINE static int odd(long n)
{
    n_odd++;
    return n == 0 ? 0 : even(n - 1);
}

static int compare(const void *a, const void *b)
{
    long x = *(const long *)a, y = *(const long *)b;
    return (x > y) - (x < y);
}

NOINLINE static void shared(int n)
{
    n_shared++;
    BURN(n);
}

NOINLINE static void first(int n)
{
    n_first++;
    BURN(4);
    shared(n);
}

NOINLINE static void second(int n)
{
    n_second++;
    BURN(n);
}

static void (*const table[])(int) = {first, second};

NOINLINE static void fill(int value)
{
    memset((void *)copy, value, sizeof copy);
}

NOINLINE static void throw_away(int n)
{
    n_thrower++;
    BURN(n);
    longjmp(back, 1);
}

NOINLINE static void thrower(int n)
{
    sink++;
    throw_away(n);
}

int main(void)
{
    for (int i = 0; i < 1000; i++) {
        for (int k = 0; k < 4; k++) /* the same call: first, second, second, second */
            table[k > 0](6);
        fill(i);
        second(4); /* not what fill jumped to */
        if (setjmp(back) == 0)
            thrower(5);
        second(1);
        sink += even(20);
    }
    for (size_t i = 0; i < 400; i++)
        numbers[i] = (long)(i * 7919 % 401);
    qsort(numbers, 400, sizeof *numbers, compare);
    sink += numbers[7];
    /* first 4 + shared 6, second 18 + 4 + 1, thrower 5: 38, and 20 jumps */
    truth("first", 100 * 10 / 38.0);
    truth("shared", 100 * 6 / 38.0);
    truth("second", 100 * 23 / 38.0);
    truth("thrower", 100 * 5 / 38.0);
    truth("n_even", (double)n_even);
    truth("n_odd", (double)n_odd);
    truth("n_first", (double)n_first);
    truth("n_second", (double)n_second);
    truth("n_shared", (double)n_shared);
    truth("n_thrower", (double)n_thrower);
    return 0;
}
