/* More threads than processors, which run unequally long: the loops are preempted at any place, and
 * each thread's own clock says what they took. Nothing of it may be found between the function's
 * beginning and its loop, or in another thread. */
#define _GNU_SOURCE
#include "truth.h"

#include <pthread.h>

enum { N_THREADS = 5, N_CALLS = 100, N_ROUNDS = 30 };

NOINLINE static void slice(void)
{
    for (int i = 0; i < N_ROUNDS; i++) { /* @slice */
        BURN(2);
        AGAIN();
    }
}

struct slicer {
    int n_calls;
    double used_ms;
};

static void *work(void *argument)
{
    struct slicer *slicer = argument;
    double start = clock_ms(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < slicer->n_calls; i++)
        slice();
    slicer->used_ms = clock_ms(CLOCK_THREAD_CPUTIME_ID) - start;
    return NULL;
}

int main(void)
{
    pthread_t threads[N_THREADS];
    struct slicer slicers[N_THREADS];
    char name[16];
    for (int i = 0; i < N_THREADS; i++) {
        slicers[i].n_calls = (i + 1) * N_CALLS;
        pthread_create(&threads[i], NULL, work, &slicers[i]);
        snprintf(name, sizeof name, "slicer_%d", i);
        pthread_setname_np(threads[i], name);
    }
    for (int i = 0; i < N_THREADS; i++) {
        pthread_join(threads[i], NULL);
        snprintf(name, sizeof name, "slicer_%d", i);
        truth(name, slicers[i].used_ms);
        truth("slices", slicers[i].used_ms);
    }
    truth("n_slices", N_THREADS * (N_THREADS + 1) / 2 * N_CALLS);
}
