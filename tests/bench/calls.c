/* What one call of a small function costs that a compiler instrumented for whatever tool: the
 * same call of a function in assembler, which no tool touches, is taken off. The shortest of many
 * repetitions of 1000 calls counts.
 *
 *     calls [REPETITIONS]      prints pair_ns=... two_clocks_ns=... n_calls=...
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { CALLS = 1000 };

#define QUIET __attribute__((no_instrument_function))

__asm__(".text\n.p2align 6\n.globl plain\n.type plain, @function\nplain:\n"
        "lea 1(%rdi), %rax\nret\n.size plain, .-plain\n");
long plain(long x);

__attribute__((noinline, aligned(64))) long marked(long x)
{
    __asm__ volatile("");
    return x + 1;
}

QUIET static inline uint64_t clock_tsc(void)
{
    uint32_t low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return (uint64_t)high << 32 | low;
}

static volatile uint64_t sink;

QUIET static uint64_t two_clocks(void)
{
    uint64_t sum = 0, start = clock_tsc();
    for (int i = 0; i < CALLS; i++) {
        sum += clock_tsc();
        sum -= clock_tsc();
    }
    sink = sum;
    return clock_tsc() - start;
}

QUIET static uint64_t calls(long (*f)(long))
{
    long x = 0;
    uint64_t start = clock_tsc();
    for (int i = 0; i < CALLS; i++)
        x = f(x);
    sink = (uint64_t)x;
    return clock_tsc() - start;
}

QUIET static double ticks_per_ns(void)
{
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC_RAW, &a);
    uint64_t start = clock_tsc();
    int64_t ns;
    do {
        clock_gettime(CLOCK_MONOTONIC_RAW, &b);
        ns = (b.tv_sec - a.tv_sec) * 1000000000 + (b.tv_nsec - a.tv_nsec);
    } while (ns < 20000000);
    return (double)(clock_tsc() - start) / (double)ns;
}

QUIET int main(int argc, char **argv)
{
    long n_repetitions = argc > 1 ? atol(argv[1]) : 2000;
    uint64_t shortest[3] = {UINT64_MAX, UINT64_MAX, UINT64_MAX};
    for (long i = 0; i < n_repetitions; i++) {
        uint64_t took[3] = {two_clocks(), calls(plain), calls(marked)};
        for (int k = 0; k < 3; k++)
            shortest[k] = took[k] < shortest[k] ? took[k] : shortest[k];
    }
    double unit = ticks_per_ns() * CALLS;
    printf("pair_ns=%.2f two_clocks_ns=%.2f n_calls=%ld\n",
           ((double)shortest[2] - (double)shortest[1]) / unit, (double)shortest[0] / unit,
           n_repetitions * CALLS);
    return 0;
}
