/* Functions that are called very often, often, and seldom; by phases of CPU time. Says how often each was called. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define KEEP __attribute__((noinline, noclone))
static unsigned long n_hot, n_warm, n_cool;
static volatile unsigned sink;

KEEP unsigned hot(unsigned x)
{
    n_hot++;
    return x * 2654435761u >> 3;
}

/* Some 0.1 us. */
KEEP unsigned warm(unsigned x)
{
    n_warm++;
    for (int i = 0; i < 100; i++)
        __asm__ volatile("imul %0, %0" : "+r"(x));
    return x;
}

/* Some 10 ms. */
KEEP unsigned cool(unsigned x)
{
    n_cool++;
    for (int i = 0; i < 10000000; i++)
        __asm__ volatile("imul %0, %0" : "+r"(x));
    return x;
}

static void *thread(void *unused)
{
    return unused;
}

/* 200 threads, one after the other. */
static void threads(void)
{
    pthread_t made;
    for (int i = 0; i < 200; i++)
        if (pthread_create(&made, NULL, thread, NULL) == 0)
            pthread_join(made, NULL);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* A letter for each phase, a digit for its length in seconds (0: a tenth): h1c4 (t: threads) */
int main(int argc, char **argv)
{
    for (const char *p = argc > 1 ? argv[1] : "h1"; p[0] && p[1]; p += 2) {
        double end = now() + (p[1] == '0' ? 0.1 : p[1] - '0');
        do
            if (p[0] == 'h')
                for (unsigned i = 0; i < 1000; i++)
                    sink += hot(i);
            else if (p[0] == 'w')
                for (unsigned i = 0; i < 100; i++)
                    sink += warm(i);
            else if (p[0] == 't')
                threads();
            else
                sink += cool(7) + hot(1) + warm(2);
        while (now() < end);
    }
    printf("hot %lu\nwarm %lu\ncool %lu\nmain 1\n", n_hot, n_warm, n_cool);
    return 0;
}
