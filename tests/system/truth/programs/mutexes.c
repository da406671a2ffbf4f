/* Two threads take turns on a lock: who waits, and for how long. */
#include "truth.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static double within_ms; /* under the lock */

NOINLINE static void within(int n)
{
    BURN(n);
}

static void measured(int n)
{
    double start = THREAD_MS();
    within(n);
    within_ms += THREAD_MS() - start;
}

NOINLINE static void *greedy(void *unused)
{
    for (int i = 0; i < 20; i++) {
        pthread_mutex_lock(&lock);
        measured(2500);
        struct timespec time = {0, 10000000};
        nanosleep(&time, NULL);
        pthread_mutex_unlock(&lock);
        time.tv_nsec = 3000000;
        nanosleep(&time, NULL);
    }
    return unused;
}

NOINLINE static double patient(void)
{
    double waited = 0;
    for (int i = 0; i < 20; i++) {
        double start = WALL_MS();
        pthread_mutex_lock(&lock); /* @wait */
        waited += WALL_MS() - start;
        measured(20);
        pthread_mutex_unlock(&lock);
        struct timespec time = {0, 1000000};
        nanosleep(&time, NULL);
    }
    return waited;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, greedy, NULL);
    struct timespec time = {0, 2000000};
    nanosleep(&time, NULL);
    double start = WALL_MS();
    double waited = patient();
    truth("patient_ms", WALL_MS() - start);
    pthread_join(thread, NULL);
    truth("waited_ms", waited);
    /* The rest is start-up, and what locks and sleeps take. */
    truth("within", 100 * within_ms / PROCESS_MS());
    truth("n_within", 40);
    return 0;
}
