/* Four threads with work 1 : 2 : 3 : 4, each in a function of its own and in one that they share. */
#include "truth.h"

#include <pthread.h>

NOINLINE static void shared_part(int n)
{
    BURN(n);
}

NOINLINE static void one(int n)
{
    BURN(n - 1);
    BURN(1);
}

NOINLINE static void four(int n)
{
    BURN(n / 2);
    BURN(n - n / 2);
}

static void *body(void *argument)
{
    int n = *(int *)argument;
    double start = THREAD_MS(), own = 0, at;
    for (int i = 0; i < 50; i++) {
        shared_part(100 * n);
        at = THREAD_MS();
        if (n == 1)
            one(200);
        if (n == 4)
            four(600);
        own += THREAD_MS() - at;
    }
    double all = THREAD_MS() - start;
    if (n == 1)
        truth("one_ms", own);
    if (n == 4)
        truth("four_ms", own);
    truth("shared_ms", all - own);
    truth("all_ms", all);
    return NULL;
}

int main(void)
{
    pthread_t threads[4];
    int numbers[4] = {1, 2, 3, 4};
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, body, &numbers[i]);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    truth("cpu_ms", PROCESS_MS());
    return 0;
}
