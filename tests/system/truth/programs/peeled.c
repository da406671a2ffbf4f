/* Loops that the compiler unrolls, with rounds that it peels off: these lie outside of the loop's code, and are its work all the same. What leaves a
 * loop for good is not. */
#include "truth.h"

NOINLINE static void unrolled(int n, int n_inner)
{
    for (int i = 0; i < n; i++) { /* @middle */
        BURN(10);
#pragma GCC unroll 2
        for (int k = 0; k < n_inner; k++) /* @inner */
            BURN(2);
    }
}

NOINLINE static void leaf(int k)
{
    BURN(2);
    __asm__ volatile("" : : "r"(k));
}

NOINLINE static void calling(int n, int n_inner)
{
    for (int i = 0; i < n; i++) {
        AGAIN();
#pragma GCC unroll 2
        for (int k = 0; k < n_inner; k++) /* @calling */
            leaf(k);
    }
}

NOINLINE static int search(const int *in, int n)
{
    for (int i = 0; i < n; i++) /* @search */
        if (in[i] > n) {
            BURN(20); /* @found */
            return i;
        }
    return -1;
}

int main(void)
{
    static int values[64];
    volatile int n_inner = 5;
    values[63] = 100;
    for (int i = 0; i < 30; i++) {
        unrolled(100, n_inner);
        calling(100, n_inner);
    }
    for (int i = 0; i < 1500; i++)
        search(values, 64);
    truth("middle", 25);
    truth("inner", 25);
    truth("called", 25);
    truth("search", 0);
    truth("found", 25);
    return 0;
}
