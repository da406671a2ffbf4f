/* Functions with attributes, and how a program is linked: all of them stay themselves. The table builds it in several ways. */
#include "truth.h"

static long n_small, n_cold, n_pure, n_clone, n_alias, n_first, n_second;
static volatile int sink;

static int small(int x)
{
    n_small++;
    BURN(1);
    return x + 1;
}

__attribute__((flatten)) NOINLINE static int flat(int x)
{
    for (int i = 0; i < 3; i++) /* @flat */
        x = small(x);
    return x;
}

__attribute__((cold, noinline)) static int cold(int x)
{
    n_cold++;
    BURN(4);
    return x * 2;
}

__attribute__((hot, noinline)) static int branches(int x)
{
    BURN(2);
    if (__builtin_expect(x % 4 == 0, 0))
        return cold(x);
    return x;
}

__attribute__((always_inline)) static inline int inlined(int x)
{
    n_pure++;
    BURN(3); /* @inlined */
    return x - 1;
}

NOINLINE static int around(int x)
{
    return inlined(x) + inlined(x + 1);
}

__attribute__((optimize("O1"), noinline)) static int optimized(int x)
{
    n_clone++;
    BURN(2);
    return x ^ 1;
}

/* The same code twice: a linker may fold them. */
NOINLINE static int first(int x)
{
    BURN(2);
    return x + 5;
}

NOINLINE static int second(int x)
{
    BURN(2);
    return x + 5;
}

__attribute__((unused, noinline)) static int never(int x)
{
    BURN(9);
    return x;
}

static int (*const twins[])(int) = {first, second};

static double at_start;

__attribute__((constructor, noinline)) static void begins(void)
{
    at_start = 1;
    BURN(2000);
}

int main(void)
{
    enum { TURNS = 5000 };
    const double units = TURNS * (3 + 2 + 1 + 6 + 2 + 4) + 2000;
    int x = 1;
    for (int i = 0; i < TURNS; i++) {
        x = flat(x);
        x += branches(i);
        x += around(x);
        x = optimized(x);
        x = twins[0](x);
        x = twins[1](x);
        n_first++;
        n_second++;
        sink = x;
    }
    truth("flattened", 100 * TURNS * 3 / units);
    truth("branching", 100 * TURNS * 3 / units);
    truth("freezing", 100 * TURNS * 1 / units);
    truth("inlining", 100 * TURNS * 6 / units);
    truth("optimizing", 100 * TURNS * 2 / units);
    truth("twin", 100 * TURNS * 2 / units);
    truth("beginning", 100 * 2000 * at_start / units);
    truth("n_turns", TURNS);
    truth("n_cold", (double)n_cold);
    truth("n_small", (double)n_small);
    return 0;
}
