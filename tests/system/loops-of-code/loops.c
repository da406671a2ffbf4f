/* Loops of all sorts, as C and as C++, compiled without the plugin; each function prints where its loops begin, the last one of its lines, and the CPU
 * time that they took: "LINE,LINE LAST NANOSECONDS". */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <time.h>

enum { N = 300 };
static double a[N][N], b[N][N];
static volatile double c[N][N];

static int64_t cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1000000000 + t.tv_nsec;
}

__attribute__((noinline)) static void multiply(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int k = 0; k < N; k++)
                sum += a[i][k] * b[k][j];
            c[i][j] = sum;
        }
}

__attribute__((noinline)) static unsigned walk(unsigned x, unsigned n)
{
    while (n > 0) {
        if (x & 64)
            x = x * 1664525u + 1013904223u;
        else
            x = x * 22695477u + 1;
        n--;
    }
    return x;
}

static inline unsigned step(unsigned x)
{
    for (int i = 0; i < 40; i++)
        x ^= x << 13 ^ x >> 17 ^ x << 5;
    return x;
}

__attribute__((noinline)) static unsigned repeat(unsigned x, unsigned n)
{
    do {
        x = step(x);
    } while (--n > 0);
    return x;
}

int main(void)
{
    int64_t start_ns = cpu_ns();
    for (int i = 0; i < 4; i++)
        multiply();
    printf("21,22,24 28 %lld\n", (long long)(cpu_ns() - start_ns));
    start_ns = cpu_ns();
    unsigned x = walk(1, 60000000);
    printf("32 39 %lld\n", (long long)(cpu_ns() - start_ns));
    start_ns = cpu_ns();
    x += repeat(x, 3000000);
    printf("44,51,53 53 %lld\n", (long long)(cpu_ns() - start_ns));
    return x == 42 && c[1][2] == 42;
}
