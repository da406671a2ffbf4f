/* Without the plugin: functions and loops include what was inlined into them. */
#include "truth.h"

#define INLINED static inline __attribute__((always_inline))

enum { N_ROUNDS = 500 };

INLINED void part(int n)
{
    BURN(n);
}

INLINED void once(int n)
{
    BURN(n);
    part(5);
}

/* 22 units, 20 of them inlined */
NOINLINE static void outer(void)
{
    BURN(2);
    part(8);
    once(7);
    AGAIN();
}

NOINLINE static void other(void)
{
    BURN(8);
    AGAIN();
}

/* 12 units: the outer loop has them all, the inner one 9 */
NOINLINE static void nest(volatile int *n_rounds)
{
    for (int i = 0; i < *n_rounds; i++) { /* @nest */
        part(1);
        for (int j = 0; j < *n_rounds; j++) { /* @within */
            part(1);
            AGAIN();
        }
        AGAIN();
    }
}

int main(void)
{
    volatile int n_rounds = 3;
    for (int i = 0; i < N_ROUNDS * 5; i++) {
        outer();
        other();
        nest(&n_rounds);
    }
    truth("outer", 22 / .42);
    truth("other", 8 / .42);
    truth("part", 25 / .42);
    truth("both", 13 / .42);
    truth("nest", 12 / .42);
    truth("within", 9 / .42);
    return 0;
}
