/* Four threads take two locks, pass a barrier, and one waits at a condition, each as often as is known. */
#include <pthread.h>
#include <stdio.h>

enum { N_THREADS = 4, N_ROUNDS = 50, N_TAKES = 20 };
pthread_mutex_t till = PTHREAD_MUTEX_INITIALIZER, door = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
pthread_barrier_t line;
static double sums[N_THREADS];
static int is_open;

static void sell(int thread)
{
    for (int i = 0; i < N_TAKES; i++) {
        pthread_mutex_lock(&till);
        for (int k = 0; k < 200; k++)
            sums[thread] += k * 0.5;
        pthread_mutex_unlock(&till);
    }
}

static void *work(void *number)
{
    for (int round = 0; round < N_ROUNDS; round++) {
        sell((int)(long)number);
        pthread_barrier_wait(&line);
    }
    pthread_mutex_lock(&door);
    is_open = 1;
    pthread_cond_signal(&opened);
    pthread_mutex_unlock(&door);
    return NULL;
}

int main(void)
{
    pthread_t threads[N_THREADS];
    pthread_barrier_init(&line, NULL, N_THREADS);
    pthread_mutex_lock(&door);
    for (long i = 0; i < N_THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    while (!is_open)
        pthread_cond_wait(&opened, &door);
    pthread_mutex_unlock(&door);
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%f\n", sums[0]);
    return 0;
}
