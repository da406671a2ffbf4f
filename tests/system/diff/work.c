/* Work in known shares. Tags name statements: they are the same in each version (make.py). */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 4096 };

static uint32_t numbers[N], sums[N];
static char text[N];

__attribute__((noinline)) static void fill(unsigned seed)
{
    for (int i = 0; i < N; i++) {
        seed = seed * 1664525u + 1013904223u; /* @seed */
        numbers[i] = seed >> 8;               /* @number */
    }
}

__attribute__((noinline)) static uint32_t mix(int n_rounds)
{
    uint32_t all = 0;
    for (int round = 0; round < n_rounds; round++) {
        for (int i = 0; i < N; i++)
            all = (all ^ numbers[i]) * 2654435761u; /* @mix */
        if (all == 1)
            all++; /* @never */
    }
    return all;
}

__attribute__((noinline)) static uint32_t divide(int n_rounds)
{
    uint32_t all = 7;
    for (int round = 0; round < n_rounds; round++) {
        for (int i = 1; i < N; i++)
            all += numbers[i] / (all | 1); /* @divide */
    }
    return all;
}

__attribute__((noinline)) static uint32_t count(void)
{
    uint32_t n = 0;
    for (int i = 0; i < N; i++)
        text[i] = (char)('a' + numbers[i] % 26); /* @letter */
    for (int i = 0; i < N; i++)
        n += text[i] == 'e'; /* @count */
    return n;
}

__attribute__((noinline)) static uint32_t scan(int n_rounds)
{
    uint32_t last = 0;
    for (int round = 0; round < n_rounds; round++) {
        for (int i = 0; i < N; i++) {
            last = last * 31 + numbers[i]; /* @scan */
            sums[i] = last;                /* @sum */
        }
    }
    return last;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 100;
    uint32_t all = 0;
    for (int i = 0; i < n; i++) {
        fill((unsigned)i);        /* @call_fill */
        all += mix(20);           /* @call_mix */
        all += divide(DIVISIONS); /* @call_divide */
        all += count();           /* @call_count */
        all += scan(20);          /* @call_scan */
    }
    printf("%u\n", all);
    return 0;
}
