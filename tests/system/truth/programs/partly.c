/* Functions that the compiler inlines in part, or at some of their calls only. They count themselves. */
#include "truth.h"

static long n_fib, n_check, n_slow, n_small;

static long fib(int n)
{
    n_fib++;
    if (n < 2)
        return n;
    return fib(n - 1) + fib(n - 2);
}

NOINLINE static void slow(int n)
{
    n_slow++;
    BURN(n);
}

/* A short test before a long rest: the test is inlined, the rest becomes check.part.0. */
static void check(int i, int n)
{
    n_check++;
    if (i & 7)
        return;
    for (int k = 0; k < n; k++)
        slow(1 + k % 2);
    BURN(n);
}

/* Its rest becomes whole.part.0, and is inlined into it again. */
int whole(const char *text);
int whole(const char *text)
{
    if (!text || !*text)
        return 0;
    for (; *text; text++)
        BURN(1);
    fputs("", stdout);
    return 1;
}

static int small(int x)
{
    n_small++;
    return x * 3 + 1;
}

static int (*volatile through)(int) = small;
static int (*volatile all_of)(const char *) = whole;

int main(void)
{
    enum { RUNS = 8000 };
    long sum = fib(27);
    double before = THREAD_MS();
    for (int i = 0; i < 3000; i++)
        all_of(i % 3 ? "hello there" : "");
    double start = THREAD_MS();
    for (int i = 0; i < RUNS; i++) {
        check(i, 20);
        check(i * 3, 20);
        sum += small(i) + through(i);
    }
    double end = THREAD_MS(), part = (end - start) / end;
    truth("n_fib", (double)n_fib);
    truth("n_check", (double)n_check);
    truth("n_slow", (double)n_slow);
    truth("n_small", (double)n_small);
    truth("slow", 60 * part);
    truth("check", 100 * part);
    truth("whole", 100 * (start - before) / end);
    return sum == 0;
}
