/* Functions that do nothing but call a function with a loop, all of them inlined: what the loop
 * costs is below them. One loop has one way down, another is reached by two functions in one place. */
#include "truth.h"

enum { N = 4096 };
static double held[N], shared[N];
static volatile double sink;

static inline void work(int times)
{
    for (int i = 0; i < N; i++) /* @work */
        held[i] = held[i] * 0.5 + times;
}

static inline void around(int times)
{
    work(times);
    sink = sink + 1;
}

static inline void outermost(int times)
{
    around(times);
    sink = sink + 2;
}

static inline void work_for_two(int times)
{
    for (int i = 0; i < N; i++) /* @work_for_two */
        shared[i] = shared[i] * 0.5 + times;
}

static inline void first(int times)
{
    work_for_two(times);
    sink = sink + 3;
}

static inline void second(int times)
{
    work_for_two(times + 1);
    sink = sink + 4;
}

static double ms[3];

NOINLINE static void run(int n)
{
    double begin = THREAD_MS();
    for (int times = 0; times < n; times++) {
        outermost(times);
        AGAIN();
    }
    ms[0] += THREAD_MS() - begin;
}

NOINLINE static void run_two(int n)
{
    double begin = THREAD_MS();
    for (int times = 0; times < n; times++) {
        first(times);
        AGAIN();
    }
    double middle = THREAD_MS();
    for (int times = 0; times < 2 * n; times++) {
        second(times);
        AGAIN();
    }
    ms[1] += middle - begin;
    ms[2] += THREAD_MS() - middle;
}

int main(void)
{
    while (ms[0] < 150)
        run(1000);
    while (ms[1] < 100)
        run_two(500);
    double all = ms[0] + ms[1] + ms[2];
    truth("worked", 100 * ms[0] / all);
    truth("one", 100 * ms[1] / all);
    truth("two", 100 * ms[2] / all);
    return held[5] + shared[6] < 0;
}
