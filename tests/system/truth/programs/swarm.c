/* Thousands of threads, each of them gone before its first sample, beside one that stays. */
#include "truth.h"

#include <pthread.h>

enum { N_THREADS = 3000 };
static double left_ms, right_ms;

NOINLINE static void left(void)
{
    BURN(20);
}

NOINLINE static void right(void)
{
    BURN(10);
}

static void *brief(void *unused)
{
    double start = THREAD_MS(), between;
    left();
    between = THREAD_MS();
    right();
    left_ms += between - start; /* one such thread at a time */
    right_ms += THREAD_MS() - between;
    return unused;
}

NOINLINE static void steady(int n)
{
    BURN(n);
}

int main(void)
{
    double steady_ms = 0, start;
    for (int i = 0; i < N_THREADS; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, brief, NULL) != 0)
            return 1;
        pthread_join(thread, NULL);
        start = THREAD_MS();
        steady(20);
        steady_ms += THREAD_MS() - start;
    }
    double all = PROCESS_MS(); /* of which much is threads' beginning and end */
    truth("left", 100 * left_ms / all);
    truth("right", 100 * right_ms / all);
    truth("steady", 100 * steady_ms / all);
    truth("n_threads", N_THREADS);
    return 0;
}
