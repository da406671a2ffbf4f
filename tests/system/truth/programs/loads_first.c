/* A library that loads.c loads and unloads: it works as it comes, when it is asked, in a callback of the program's, and as it goes. */
#include "truth.h"

NOINLINE static void first_inner(int n)
{
    BURN(n);
}

__attribute__((constructor)) static void first_comes(void)
{
    BURN(400);
}

__attribute__((destructor)) static void first_goes(void)
{
    BURN(300);
}

/* Of the same name as the second's. */
__attribute__((noinline)) int serve(void (*back)(int), int n)
{
    for (int i = 0; i < n; i++) {
        BURN(3);
        first_inner(4);
        back(2);
    }
    return n;
}
