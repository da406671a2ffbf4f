/* Thread i burns (i + 1) * FACTOR * 100 ms of CPU time. */
#define _GNU_SOURCE
#include "burn.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { N_THREADS = 3 };
static double factor = 1;

static void *work(void *number)
{
    burn_at(gettid(), 100 * factor * (double)(1 + (long)number));
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[N_THREADS];
    factor = argc > 1 ? atof(argv[1]) : 1;
    for (long i = 0; i < N_THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
