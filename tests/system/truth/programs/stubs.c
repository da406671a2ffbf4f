/* Tail calls through the procedure linkage table: to a shared library with sleds, within it, and to one without (free). */
#include "truth.h"

#include <stdlib.h>

extern long n_inner;
void inner(int n);
void outer(int n);
void call_back(void (*function)(int), int n);

NOINLINE static void from_program(int n)
{
    BURN(1);
    inner(n);
}

NOINLINE static void back_in_program(int n)
{
    BURN(n);
}

NOINLINE static void through_library(int n)
{
    BURN(1);
    call_back(back_in_program, n);
}

NOINLINE static void releases(void *memory)
{
    BURN(2);
    free(memory);
}

int main(void)
{
    for (int i = 0; i < 3000; i++) {
        from_program(8);
        outer(6);
        through_library(10);
        releases(malloc(32));
        inner(9);
    }
    truth("n_inner", (double)n_inner);
    truth("from_program", 100 * 9 / 39.0);
    truth("outer", 100 * 7 / 39.0);
    truth("inner", 100 * (8 + 6 + 9) / 39.0);
    truth("through_library", 100 * 12 / 39.0);
    truth("releases", 100 * 2 / 39.0);
    return 0;
}
