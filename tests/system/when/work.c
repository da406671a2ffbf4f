/* Turns of equal work; from the turn FROM on, spin() does MORE in each of them. Phases are begun with PHASES. */
#include <perfmap.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef MORE
#define MORE 0
#endif

enum { N = 4096 };

static uint32_t numbers[N], other[N];

__attribute__((noinline)) static uint32_t steady(uint32_t x)
{
    for (int pass = 0; pass < 40; pass++)
        for (int i = 0; i < N; i++)
            x = x * 31 + other[i];
    return x;
}

__attribute__((noinline)) static uint32_t spin(uint32_t x, int n_passes)
{
    for (int pass = 0; pass < n_passes; pass++)
        for (int i = 0; i < N; i++)
            x = x * 33 + numbers[i];
    return x;
}

static uint32_t turns(uint32_t x, int from, int until, int later)
{
    for (int turn = from; turn < until; turn++)
        x = spin(steady(x), 40 + (turn >= later ? MORE : 0));
    return x;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1000, later = n * 6 / 10;
    struct pm_sentence first = pm_define_phase("first"), second = pm_define_phase("second");
    pm_begin_process(first);
    uint32_t x = turns(1, 0, n / 2, later);
    pm_end_process(first);
    pm_begin_process(second);
    x = turns(x, n / 2, n, later);
    pm_end_process(second);
    printf("%u\n", x);
    return 0;
}
