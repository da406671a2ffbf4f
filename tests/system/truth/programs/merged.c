/* Loops that a compiler may vectorise, merge or turn into library calls: time by loop from the thread's clock. */
#include "truth.h"

#include <string.h>

enum { N = 20000 };
static float a[N], b[N], c[N];
static int hist[256];
static unsigned char bytes[N];

NOINLINE static void add(void)
{
    for (int i = 0; i < N; i++) /* @add */
        a[i] = a[i] * 0.5f + b[i];
}

NOINLINE static void both(void)
{
    for (int i = 0; i < N; i++) { /* @both */
        b[i] = b[i] * 0.25f + 1;
        c[i] = c[i] * 0.75f + 2;
    }
}

NOINLINE static float chain(void)
{
    float x = 0;
    for (int i = 0; i < N; i++) /* @chain */
        x = x * 0.5f + c[i];
    return x;
}

NOINLINE static void count(void)
{
    for (int i = 0; i < N; i++) /* @count */
        hist[bytes[i]]++;
}

int main(void)
{
    double add_ms = 0, both_ms = 0, chain_ms = 0, count_ms = 0, all = THREAD_MS();
    float sum = 0;
    for (int i = 0; i < N; i++)
        bytes[i] = (unsigned char)(i * i >> 3);
    for (double start; THREAD_MS() - all < 400;) {
        start = THREAD_MS();
        for (int k = 0; k < 40; k++) {
            AGAIN();
            add();
        }
        add_ms += THREAD_MS() - start;
        start = THREAD_MS();
        for (int k = 0; k < 40; k++) {
            AGAIN();
            both();
        }
        both_ms += THREAD_MS() - start;
        start = THREAD_MS();
        for (int k = 0; k < 20; k++) {
            AGAIN();
            sum += chain();
        }
        chain_ms += THREAD_MS() - start;
        start = THREAD_MS();
        for (int k = 0; k < 30; k++) {
            AGAIN();
            count();
        }
        count_ms += THREAD_MS() - start;
    }
    all = THREAD_MS() - all;
    truth("add", 100 * add_ms / all);
    truth("both", 100 * both_ms / all);
    truth("chain", 100 * chain_ms / all);
    truth("count", 100 * count_ms / all);
    return sum + (float)hist[3] == 0;
}
