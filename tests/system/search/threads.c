/* Three threads with the same work, and one of them does it five times. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

enum { N = 4096, PASSES = 20000 };

static uint32_t numbers[N];

__attribute__((noinline)) static uint32_t work(uint32_t x, int n_passes)
{
    for (int pass = 0; pass < n_passes; pass++)
        for (int i = 0; i < N; i++)
            x = x * 31 + numbers[i];
    return x;
}

static void *run(void *times)
{
    int n = *(int *)times;
    pthread_setname_np(pthread_self(), n > 1 ? "slow" : "quick");
    return (void *)(uintptr_t)work(1, PASSES * n);
}

int main(void)
{
    static int times[] = {1, 5, 1};
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, run, &times[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    printf("%u\n", numbers[0]);
    return 0;
}
