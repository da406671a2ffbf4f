/* A library that loads_cost.c loads and unloads. */
#include "truth.h"

NOINLINE static void third_inner(int n)
{
    BURN(n);
}

int serve(void (*back)(int), int n)
{
    for (int i = 0; i < n; i++) {
        third_inner(4);
        back(4);
    }
    return n;
}
