/* The library of stubs.c: calls of its own functions go through the procedure linkage table. */
#include "truth.h"

long n_inner;

__attribute__((noinline)) void inner(int n)
{
    n_inner++;
    BURN(n);
}

__attribute__((noinline)) void outer(int n)
{
    BURN(1);
    inner(n);
}

__attribute__((noinline)) void call_back(void (*function)(int), int n)
{
    BURN(1);
    function(n);
}
