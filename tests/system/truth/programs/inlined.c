/* Functions that are inlined at all of their calls, and inner loops without sleds: what they call counts for them. */
#include "truth.h"

#define INLINE __attribute__((always_inline)) static inline

static long n_leaf, n_shared;

NOINLINE static void leaf(int n)
{
    n_leaf++;
    BURN(n);
    AGAIN();
}

NOINLINE static void shared(int n)
{
    n_shared++;
    BURN(n);
    AGAIN();
}

NOINLINE static void through_pointer(int n)
{
    BURN(n);
    AGAIN();
}

static void (*volatile pointer)(int) = through_pointer;

/* One caller. */
INLINE void only(int n)
{
    leaf(n);
    BURN(1);
}

/* Two levels. */
INLINE void around_only(int n)
{
    only(n);
    BURN(1);
}

/* Both are inlined into run: which of them called is not known. */
INLINE void left(int n)
{
    shared(n);
    BURN(1);
}

INLINE void right(int n)
{
    shared(2 * n);
    BURN(1);
}

INLINE void indirect(int n)
{
    pointer(n);
    BURN(1);
}

INLINE void plain(int n)
{
    BURN(n);
}

NOINLINE static void run(int n)
{
    for (int i = 0; i < n; i++) {
        around_only(4);
        left(2);
        right(2);
        indirect(5);
        plain(3);
    }
}

/* @inner calls, and is followed neither at run time nor by samples of its own. */
NOINLINE static void nest(int n, int n_inner, int n_second)
{
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < n_inner; k++) { // @inner
            leaf(3);
            AGAIN();
        }
        for (int k = 0; k < n_second; k++) { // @second
            BURN(2);
            AGAIN();
        }
        BURN(1);
    }
}

/* Its loop has sleds, itself it has none. */
INLINE void looping(int n)
{
    for (int i = 0; i < n; i++) {
        BURN(1);
        AGAIN();
    }
}

int main(void)
{
    enum { RUNS = 2500, NESTS = 1000 };
    run(RUNS);
    volatile int inner = 3, second = 2;
    nest(NESTS, inner, second);
    looping(inner);
    double all = RUNS * (6 + 3 + 5 + 6 + 3) + NESTS * 14;
    truth("only", 100 * RUNS * 5 / all);
    truth("around_only", 100 * RUNS * 6 / all);
    truth("left", 100 * RUNS * 3 / all);
    truth("right", 100 * RUNS * 5 / all);
    truth("indirect", 100 * RUNS * 6 / all);
    truth("plain", 100 * RUNS * 3 / all);
    truth("leaf", 100 * (RUNS * 4 + NESTS * 9) / all);
    truth("inner", 100 * NESTS * 9 / all);
    truth("second", 100 * NESTS * 4 / all);
    truth("n_only", RUNS);
    truth("all", all);
    truth("n_shared", (double)n_shared);
    truth("n_leaf", (double)n_leaf);
    return 0;
}
