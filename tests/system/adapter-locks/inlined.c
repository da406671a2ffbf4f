/* Two inlined functions take one lock: who waits is told by the call. The long one holds it for 3 ms, 40 times. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile long n_short, n_long;

static inline __attribute__((always_inline)) void take_shortly(void)
{
    pthread_mutex_lock(&lock);
    n_short++;
    pthread_mutex_unlock(&lock);
}

static inline __attribute__((always_inline)) void take_for_long(void)
{
    pthread_mutex_lock(&lock);
    usleep(3000);
    n_long++;
    pthread_mutex_unlock(&lock);
    usleep(100);
}

static void *work(void *is_long)
{
    if (is_long)
        for (int i = 0; i < 40; i++)
            take_for_long();
    else
        while (n_long < 40)
            take_shortly();
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, i ? &lock : NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%ld %ld\n", n_short, n_long);
    return 0;
}
