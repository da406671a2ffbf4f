/* What a call costs that a question is about: main calls request, request calls part, part calls
 * step many times; many short repetitions, of which the shortest counts. Prints pair_ns of step,
 * with all that a call costs without PerfMap. */
#include <stdint.h>
#include <stdio.h>
#include <time.h>

enum { CALLS = 1000, REPETITIONS = 4000 };

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

__attribute__((noinline)) static long step(long x)
{
    __asm__ volatile("" : "+r"(x));
    return x + 1;
}

/* Not a loop that has sleds of its own: its calls are what is measured. */
__attribute__((noinline)) static uint64_t part(long *x)
{
    uint64_t start = now_ns();
    for (int i = 0; i < CALLS; i++)
        *x = step(*x);
    return now_ns() - start;
}

__attribute__((noinline)) static uint64_t request(long *x)
{
    uint64_t ns = part(x);
    __asm__ volatile("" : "+r"(ns));
    return ns;
}

int main(void)
{
    uint64_t best = UINT64_MAX;
    long x = 0;
    for (int i = 0; i < REPETITIONS; i++) {
        uint64_t ns = request(&x);
        best = ns < best ? ns : best;
    }
    printf("pair_ns=%.3f\n", (double)best / CALLS);
    return x == 0;
}
