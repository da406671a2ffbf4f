/* Frames of unusual form: arrays of variable length, alloca, functions within functions, called through a pointer, and a frame that is
 * aligned more than the stack is. */
#include "truth.h"

#include <alloca.h>
#include <string.h>

static long n_vla, n_alloca, n_visit, n_aligned, n_cleanup;
static volatile char sink;

NOINLINE static void with_vla(int n)
{
    char text[n];
    n_vla++;
    memset(text, n, (size_t)n);
    BURN(4);
    sink = text[n / 2];
}

NOINLINE static void with_alloca(int n)
{
    n_alloca++;
    for (int i = 0; i < 3; i++) { /* @alloca */
        char *text = alloca((size_t)n);
        text[i] = 1;
        BURN(2);
        sink = text[i];
    }
}

NOINLINE static void each(void (*visit)(int), int n)
{
    for (int i = 0; i < n; i++) /* @each */
        visit(i);
}

NOINLINE static long nests(int n)
{
    long sum = 0;
    void add(int i)
    {
        n_visit++;
        BURN(2);
        sum += i;
    }
    each(add, n);
    return sum;
}

NOINLINE static void aligned(int n)
{
    _Alignas(128) char text[256];
    n_aligned++;
    memset(text, n, sizeof text);
    BURN(3);
    sink = text[n & 255];
}

static void clean(int *n)
{
    n_cleanup++;
    AGAIN();
    BURN(*n);
}

NOINLINE static void cleans_up(int n)
{
    int two __attribute__((cleanup(clean))) = 2;
    if (n % 2)
        return;
    BURN(1);
}

int main(void)
{
    enum { TURNS = 3000 };
    const double units = 4 + 6 + 8 + 3 + 2.5;
    for (int i = 0; i < TURNS; i++) {
        with_vla(100 + i % 1000);
        with_alloca(50 + i % 500);
        sink = (char)nests(4);
        aligned(i);
        cleans_up(i);
    }
    truth("vla", 100 * 4 / units);
    truth("allocated", 100 * 6 / units);
    truth("nested", 100 * 8 / units);
    truth("aligned_part", 100 * 3 / units);
    truth("cleaning", 100 * 2.5 / units);
    truth("n_turns", TURNS);
    truth("n_visit", (double)n_visit);
    truth("n_cleanup", (double)n_cleanup);
    return 0;
}
