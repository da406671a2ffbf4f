/* Touches known numbers of fresh pages, by loop, array and thread, and sleeps a known number of times. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096 };

static char few[300 * PAGE] __attribute__((aligned(2 << 20)));
static char many[700 * PAGE] __attribute__((aligned(2 << 20)));

static char *fresh(long n)
{
    char *p = mmap(NULL, (size_t)(n * PAGE), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(p, (size_t)(n * PAGE), MADV_NOHUGEPAGE);
    return p;
}

__attribute__((noinline)) static void both(void)
{
    for (long i = 0; i < 300; i++)
        few[i * PAGE] = 1;
    for (long i = 0; i < 700; i++)
        many[i * PAGE] = 1;
}

__attribute__((noinline)) static void touch(char *p, long n)
{
    for (long i = 0; i < n; i++)
        p[i * PAGE] = 1;
}

__attribute__((noinline)) static void *worker(void *n)
{
    touch(fresh((long)n), (long)n);
    return NULL;
}

__attribute__((noinline)) static void nap(void)
{
    struct timespec time = {0, 1000000};
    for (int i = 0; i < 40; i++)
        nanosleep(&time, NULL);
}

/* 100 + 200 + 300 in threads, 1000 in a child, 50 behind that. */
__attribute__((noinline)) static void others(void)
{
    pthread_t threads[3];
    for (long i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, worker, (void *)(100 * (i + 1)));
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    if (fork() == 0) {
        touch(fresh(1000), 1000);
        _exit(0);
    }
    wait(NULL);
    touch(fresh(50), 50);
}

int main(int argc, char **argv)
{
    madvise(few, sizeof few, MADV_NOHUGEPAGE);
    madvise(many, sizeof many, MADV_NOHUGEPAGE);
    both();
    nap();
    if (argc > 1 && strcmp(argv[1], "close") == 0)
        close_range(3, ~0u, 0);
    others();
    return 0;
}
