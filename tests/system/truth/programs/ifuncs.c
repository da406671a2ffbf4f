/* The loader calls resolvers of ifuncs while it relocates, before any constructor: nothing of PerfMap
 * is there yet. What they take is outside instrumented code, and a note says so. */
#include "truth.h"

NOINLINE static void in_resolver(void)
{
    BURN(20000);
    AGAIN();
}

NOINLINE static void in_main(void)
{
    AGAIN();
    BURN(2000);
}

static int seven(void)
{
    return 7;
}

static int (*resolve(void))(void)
{
    in_resolver();
    return seven;
}

int chosen(void) __attribute__((ifunc("resolve")));

int main(void)
{
    for (int i = 0; i < 30; i++)
        in_main();
    truth("in_resolver", 25);
    truth("outside", 25);
    truth("in_main", 75);
    return chosen() != 7;
}
