/* A function that inlined code calls itself, and that is entered in other ways, too: by a library through a pointer, and through a function without
 * sleds. What it costs there is not the inlined code's. */
#include "truth.h"

#include <stdlib.h>

static int values[400];

NOINLINE static int compare(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    BURN(2);
    return (x > y) - (x < y);
}

static inline int is_in_order(int i)
{
    return compare(&values[i], &values[i + 1]) <= 0;
}

NOINLINE static void leaf(int n)
{
    BURN(n);
    AGAIN();
}

static inline void once(int n)
{
    leaf(n);
    leaf(1);
}

NOINLINE __attribute__((no_instrument_function)) static void bridge(int n)
{
    for (int i = 0; i < n; i++)
        leaf(20);
    AGAIN();
}

/* Run `left` does not follow it, but its loop. */
NOINLINE static void gather(int n)
{
    for (int i = 0; i < n; i++) {
        BURN(10);
        AGAIN();
    }
}

int main(int argc, char **argv)
{
    (void)argv;
    double looking = 0, sorting = 0, by_once = 0, by_bridge = 0, gathering = 0, all = THREAD_MS(),
           start;
    for (int turn = 0; turn < 12; turn++) {
        for (int i = 0; i < 400; i++)
            values[i] = (i * 7919 + turn) % 2003;
        start = THREAD_MS();
        int n = 0;
        for (int i = 0; i < 399; i += 2)
            n += is_in_order(i);
        looking += THREAD_MS() - start;
        start = THREAD_MS();
        qsort(values, (size_t)400 - (n > 400), sizeof *values, compare);
        sorting += THREAD_MS() - start;
        start = THREAD_MS();
        once(400);
        by_once += THREAD_MS() - start;
        start = THREAD_MS();
        bridge(250);
        by_bridge += THREAD_MS() - start;
        start = THREAD_MS();
        for (int i = 0; i < 2 * argc; i++) /* @inner */
            gather(100);
        gathering += THREAD_MS() - start;
    }
    all = THREAD_MS() - all;
    truth("looking", 100 * looking / all);
    truth("sorting", 100 * sorting / all);
    truth("once", 100 * by_once / all);
    truth("bridge", 100 * by_bridge / all);
    truth("gather", 100 * gathering / all);
    return 0;
}
