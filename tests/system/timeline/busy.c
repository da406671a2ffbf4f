/* Two threads with some 800 000 calls each: short ones in bursts, and pauses between. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

enum { N_ROUNDS = 40, N_CALLS = 5000 };

static volatile uint32_t sink;

__attribute__((noinline)) static void small(uint32_t n)
{
    sink = sink * 3 + n;
}

__attribute__((noinline)) static void large(uint32_t n)
{
    for (uint32_t i = 0; i < 20; i++)
        sink = sink + i * n;
    small(n);
}

__attribute__((noinline)) static void burst(uint32_t n)
{
    for (uint32_t i = 0; i < N_CALLS; i++)
        if (i % 3)
            small(n);
        else
            large(n);
}

__attribute__((noinline)) static void rest(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL);
}

static void *work(void *number)
{
    for (uint32_t i = 0; i < N_ROUNDS; i++) {
        burst(i);
        if (i % 4 == (uintptr_t)number)
            rest();
        burst(i);
    }
    return NULL;
}

int main(void)
{
    pthread_t other;
    pthread_create(&other, NULL, work, (void *)1);
    work(NULL);
    pthread_join(other, NULL);
    return printf("%u\n", sink) < 0;
}
