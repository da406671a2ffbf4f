/* Work in known shares, on ranks; what is planted: SOLVE_MORE on rank 1 only, SWEEP_MORE on one array only, PAIR_MORE in one loop, and as
 * much less in the next one. Passes over an array cost the same everywhere. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef SOLVE_MORE
#define SOLVE_MORE 0
#endif
#ifndef SWEEP_MORE
#define SWEEP_MORE 0
#endif
#ifndef PAIR_MORE
#define PAIR_MORE 0
#endif

enum { N = 4096 };

static uint32_t still[N], grid[N], left_part[N], right_part[N], first[N], second[N];

__attribute__((noinline)) static uint32_t steady(uint32_t x)
{
    for (int pass = 0; pass < 12; pass++)
        for (int i = 0; i < N; i++)
            x = x * 31 + still[i];
    return x;
}

__attribute__((noinline)) static uint32_t solve(int rank, uint32_t x)
{
    for (int pass = 0; pass < 8 + (rank == 1 ? SOLVE_MORE : 0); pass++)
        for (int i = 0; i < N; i++)
            x = x * 33 + grid[i];
    return x;
}

__attribute__((noinline)) static uint32_t sweep(uint32_t x)
{
    for (int pass = 0; pass < 8; pass++)
        for (int i = 0; i < N; i++)
            x = x * 35 + left_part[i];
    for (int pass = 0; pass < 8 + SWEEP_MORE; pass++)
        for (int i = 0; i < N; i++)
            x = x * 37 + right_part[i];
    return x;
}

__attribute__((noinline)) static uint32_t pair(uint32_t x)
{
    for (int pass = 0; pass < 12 + PAIR_MORE; pass++)
        for (int i = 0; i < N; i++)
            x = x * 39 + first[i];
    for (int pass = 0; pass < 12 - PAIR_MORE; pass++)
        for (int i = 0; i < N; i++)
            x = x * 41 + second[i];
    return x;
}

int main(int argc, char **argv)
{
    int rank = argc > 1 ? atoi(argv[1]) : 0, n = argc > 2 ? atoi(argv[2]) : 500;
    uint32_t x = 0;
    for (int i = 0; i < n; i++)
        x = pair(sweep(solve(rank, steady(x))));
    printf("%u\n", x);
    return 0;
}
