/* Arrays, loops, recursion and threads. With an argument so many calls, of which each does little. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 2000 };
static int scale = 10;
static double u[N], v[N];

__attribute__((noinline)) static void sweep(int n)
{
    for (int k = 0; k < n; k++)
        for (int i = 1; i < N - 1; i++)
            v[i] = (u[i - 1] + u[i] + u[i + 1]) / 3;
}

__attribute__((noinline)) static double norm(int n)
{
    double sum = 0;
    for (int k = 0; k < n; k++)
        for (int i = 0; i < N; i++)
            sum += v[i] * v[i];
    return sum;
}

__attribute__((noinline)) static int ping(int n);
__attribute__((noinline)) static int pong(int n)
{
    sweep(2 * scale);
    return n ? ping(n - 1) + 1 : 0;
}
__attribute__((noinline)) static int ping(int n)
{
    sweep(scale);
    return n ? pong(n - 1) + 1 : 0;
}

static void *work(void *n)
{
    sweep(*(int *)n);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int n = 30000, deep = 0, rounds = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 40;
    scale = argc > 1 ? 0 : scale;
    for (int i = 0; i < N; i++)
        u[i] = i;
    pthread_create(&thread, NULL, work, &n);
    for (int i = 0; i < rounds; i++)
        deep += ping(20);
    double sum = norm(20000);
    pthread_join(thread, NULL);
    printf("%d %g\n", deep, sum);
    return 0;
}
