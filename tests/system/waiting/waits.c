/* Waits in six ways and computes in one; prints where, and how long: "LINE NANOSECONDS" of each wait, then of all threads the
 * wall time and the CPU time. */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static int64_t waited_ns[200];

static int64_t clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * 1000000000 + t.tv_nsec;
}

#define WAIT(call)                                                                                 \
    do {                                                                                           \
        int64_t start_ns = clock_ns(CLOCK_MONOTONIC);                                              \
        call;                                                                                      \
        waited_ns[__LINE__] += clock_ns(CLOCK_MONOTONIC) - start_ns;                               \
    } while (0)

static volatile double sink;

static void burn(int ms)
{
    int64_t until_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ms * 1000000ll;
    while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < until_ns)
        for (int i = 0; i < 1000; i++)
            sink += i * 0.5;
}

static void nap(int ms)
{
    struct timespec t = {0, ms * 1000000l};
    WAIT(nanosleep(&t, NULL));
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t has_lock, is_done;
static int ends[2], ready;

static void *partner(void *unused)
{
    pthread_mutex_lock(&mutex);
    sem_post(&has_lock);
    WAIT(usleep(150000));
    pthread_mutex_unlock(&mutex);
    WAIT(usleep(80000));
    if (write(ends[1], "x", 1) != 1)
        return NULL;
    WAIT(usleep(90000));
    pthread_mutex_lock(&mutex);
    ready = 1;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
    WAIT(usleep(100000));
    sem_post(&is_done);
    return unused;
}

static void wait_for_partner(void)
{
    char byte;
    sem_wait(&has_lock);
    WAIT(pthread_mutex_lock(&mutex));
    WAIT(if (read(ends[0], &byte, 1) != 1) return );
    while (!ready)
        WAIT(pthread_cond_wait(&condition, &mutex));
    pthread_mutex_unlock(&mutex);
    WAIT(sem_wait(&is_done));
}

int main(void)
{
    pthread_t thread;
    int64_t start_ns = clock_ns(CLOCK_MONOTONIC);
    sem_init(&has_lock, 0, 0);
    sem_init(&is_done, 0, 0);
    if (pipe(ends) != 0)
        return 1;
    for (int i = 0; i < 10; i++) {
        burn(20);
        nap(30);
    }
    WAIT(poll(NULL, 0, 100));
    int64_t thread_ns = clock_ns(CLOCK_MONOTONIC);
    pthread_create(&thread, NULL, partner, NULL);
    wait_for_partner();
    pthread_join(thread, NULL);
    int64_t now_ns = clock_ns(CLOCK_MONOTONIC);
    for (int i = 0; i < 200; i++)
        if (waited_ns[i])
            printf("%d %lld\n", i, (long long)waited_ns[i]);
    printf("wall %lld\n", (long long)(now_ns - start_ns + now_ns - thread_ns));
    printf("cpu %lld\n", (long long)clock_ns(CLOCK_PROCESS_CPUTIME_ID));
    return 0;
}
