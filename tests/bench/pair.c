/* What one entry/exit pair costs, as a ratio to two reads of the clock in the same process: many
 * short repetitions, the shortest counts. Run it with the runtime preloaded and PERFMAP_MODE off
 * (dormant), count or exact:
 *
 *     PERFMAP_RUN_DIR=/tmp/x PERFMAP_MODE=exact LD_PRELOAD=.../libperfmap-rt.so ./pair [THREADS]
 *
 * Sleds are those that the plugin leaves at a small function (four free registers at entry, rax
 * live at the exit), and the same function without sleds is taken off. Prints nanoseconds and the
 * ratio as key=value. With more than one thread all do the same at once, and the slowest thread's
 * shortest times are printed.
 */
#include "../runtime/sleds.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { CALLS = 1000, REPETITIONS = 2000 };

__asm__(".text\n.p2align 6\n.globl plain\nplain:\nlea 1(%rdi), %rax\nret\n"
        ".p2align 6\n.globl marked\nmarked:\n" PM_TEST_SLED(".Lpair_entry", 1, 0x80, 0xf1fa,
                                                            0x1) "lea 1(%rdi), %rax\n" //
        PM_TEST_SLED(".Lpair_exit", 2, 0x80, 0xf1f9,
                     0x1) "ret\n"
                          ".p2align 6\n.globl tight\ntight:\n" PM_TEST_SLED(
                              ".Ltight_entry", 1, 0x80, 0xffff, 0x2) "lea 1(%rdi), %rax\n" //
        PM_TEST_SLED(".Ltight_exit", 2, 0x80, 0xffff, 0x2) "ret\n");
/* Four functions in turn: the last child is never the next one, the hash table must find it. */
#define TURN(n)                                                                              \
    ".p2align 5\nturn" #n                                                                    \
    ":\n" PM_TEST_SLED(".Lturn_entry" #n, 1, 0x80, 0xf1fa,                                   \
                       0x1##n) "lea 1(%rdi), %rax\n" PM_TEST_SLED(".Lturn_exit" #n, 2, 0x80, \
                                                                  0xf1f9, 0x1##n) "ret\n"
__asm__(".text\n" TURN(0) TURN(1) TURN(2) TURN(3) //
        ".p2align 6\n.globl turns\nturns:\n"
        "call turn0\nmov %rax, %rdi\ncall turn1\nmov %rax, %rdi\ncall turn2\nmov %rax, %rdi\njmp "
        "turn3\n"
        ".p2align 6\n.globl plain_turns\nplain_turns:\n"
        "call plain\nmov %rax, %rdi\ncall plain\nmov %rax, %rdi\ncall plain\nmov %rax, %rdi\njmp "
        "plain\n");
long turns(long x);
long plain_turns(long x);
long plain(long x);
long marked(long x);
long tight(long x);

static inline uint64_t clock_tsc(void)
{
    uint32_t low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return (uint64_t)high << 32 | low;
}

static _Thread_local volatile uint64_t sink;

static uint64_t two_clocks(void)
{
    uint64_t sum = 0, start = clock_tsc();
    for (int i = 0; i < CALLS; i++) {
        sum += clock_tsc();
        sum -= clock_tsc();
    }
    sink = sum;
    return clock_tsc() - start;
}

static uint64_t calls(long (*f)(long))
{
    long x = 0;
    uint64_t start = clock_tsc();
    for (int i = 0; i < CALLS; i++)
        x = f(x);
    sink = (uint64_t)x;
    return clock_tsc() - start;
}

static double ticks_per_ns(void)
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

enum { KINDS = 6, MAX_THREADS = 64 };

static pthread_barrier_t together;

/* argument: uint64_t[KINDS], the shortest of each kind in this thread */
static void *measure(void *argument)
{
    uint64_t *shortest = argument;
    for (int k = 0; k < KINDS; k++)
        shortest[k] = UINT64_MAX;
    pthread_barrier_wait(&together);
    for (int i = 0; i < REPETITIONS; i++) {
        uint64_t took[KINDS] = {two_clocks(), calls(plain),       calls(marked),
                                calls(tight), calls(plain_turns), calls(turns)};
        for (int k = 0; k < KINDS; k++)
            shortest[k] = took[k] < shortest[k] ? took[k] : shortest[k];
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int n_threads = argc > 1 ? atoi(argv[1]) : 1;
    if (n_threads < 1 || n_threads > MAX_THREADS)
        return 2;
    static uint64_t times[MAX_THREADS][KINDS + 10]; /* not in one cache line */
    pthread_t threads[MAX_THREADS];
    pthread_barrier_init(&together, NULL, (unsigned)n_threads);
    for (int t = 1; t < n_threads; t++)
        if (pthread_create(&threads[t], NULL, measure, times[t]) != 0)
            return 1;
    measure(times[0]);
    uint64_t *shortest = times[0];
    for (int t = 1; t < n_threads; t++) {
        pthread_join(threads[t], NULL);
        for (int k = 0; k < KINDS; k++)
            shortest[k] = times[t][k] > shortest[k] ? times[t][k] : shortest[k];
    }
    double unit = ticks_per_ns() * CALLS, clocks = (double)shortest[0] / unit;
    double pair = ((double)shortest[2] - (double)shortest[1]) / unit;
    double none_free = ((double)shortest[3] - (double)shortest[1]) / unit;
    double turn = ((double)shortest[5] - (double)shortest[4]) / unit / 4;
    printf("two_clocks_ns=%.2f pair_ns=%.2f pair_ratio=%.3f\n", clocks, pair, pair / clocks);
    printf("no_free_register_ns=%.2f no_free_register_ratio=%.3f\n", none_free, none_free / clocks);
    printf("in_turn_ns=%.2f in_turn_ratio=%.3f\n", turn, turn / clocks);
    return 0;
}
