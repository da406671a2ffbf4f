/* A loop that tries again after setjmp(), other loops after it in the same function; loops that are short enough to be unrolled completely. */
#include "truth.h"

#include <setjmp.h>

static jmp_buf back;

NOINLINE static void fails(int n)
{
    BURN(n);
    longjmp(back, 1);
}

NOINLINE static void work(int n)
{
    BURN(n);
}

NOINLINE static int tries(int n)
{
    volatile int sum = 0;
    for (int i = 0; i < n; i++) { /* @trying */
        if (setjmp(back) == 0)
            fails(2);
        sum++;
    }
    for (int i = 0; i < n; i++) /* @working */
        work(4);
    while (sum > 0) { /* @last */
        sum--;
        BURN(1);
    }
    return sum;
}

NOINLINE static long short_ones(int n)
{
    long sum = 0;
    for (int i = 0; i < n; i++)     /* @outer */
        for (int k = 0; k < 2; k++) { /* @pair */
            BURN(1);
            sum += i * k;
        }
    for (int i = 0; i < 3; i++) { /* @three */
        BURN(2);
        sum += i;
    }
    return sum;
}

/* Two copies, one of which is unrolled completely before loops get sleds. */
static inline __attribute__((always_inline)) long copied(int n)
{
    long sum = 0;
    for (int i = 0; i < n; i++) { /* @copied */
        BURN(1);
        sum += i;
    }
    return sum;
}

NOINLINE static long few(void)
{
    return copied(2);
}

NOINLINE static long many(int n)
{
    return copied(n);
}

int main(void)
{
    enum { TURNS = 1200 };
    long sum = 0;
    for (int i = 0; i < TURNS; i++)
        sum += tries(8) + short_ones(10) + few() + many(10);
    /* a turn: 8 * (2 + 4 + 1), 20 + 6, and 2 + 10 */
    truth("trying", 100 * 16 / 94.);
    truth("working", 100 * 32 / 94.);
    truth("last", 100 * 8 / 94.);
    truth("pair", 100 * 20 / 94.);
    truth("three", 100 * 6 / 94.);
    truth("copied", 100 * 12 / 94.);
    truth("n_turns", TURNS);
    return sum == 1;
}
