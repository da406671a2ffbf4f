/* The other library of loads.c: it lies where the first one lay. */
#include "truth.h"

NOINLINE static void second_inner(int n)
{
    BURN(n);
}

NOINLINE static void second_outer(int n)
{
    BURN(2);
    second_inner(n);
}

__attribute__((noinline)) int serve(void (*back)(int), int n)
{
    for (int i = 0; i < n; i++) {
        second_outer(7);
        back(5);
    }
    return n;
}
