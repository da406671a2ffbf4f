/* Two threads named after their start, one of which ends with the process, and a child; each prints its CPU time: "NAME NANOSECONDS". */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile double sink;
static pthread_barrier_t named;

static int64_t burn(int ms)
{
    struct timespec t;
    do {
        for (int i = 0; i < 1000; i++)
            sink += i * 0.5;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    } while (t.tv_sec * 1000 + t.tv_nsec / 1000000 < ms);
    return t.tv_sec * 1000000000 + t.tv_nsec;
}

static void *ends(void *unused)
{
    pthread_barrier_wait(&named);
    printf("ends %lld\n", (long long)burn(100));
    return unused;
}

static void *stays(void *unused)
{
    printf("stays %lld\n", (long long)burn(200));
    fflush(stdout);
    pthread_barrier_wait(&named);
    for (;;)
        pause();
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_barrier_init(&named, NULL, 3);
    pthread_create(&a, NULL, ends, NULL);
    pthread_create(&b, NULL, stays, NULL);
    pthread_setname_np(a, "ends");
    pthread_setname_np(b, "stays");
    pthread_barrier_wait(&named);
    pthread_join(a, NULL);
    fflush(stdout);
    if (fork() == 0) {
        printf("child %lld\n", (long long)burn(150));
        exit(0);
    }
    wait(NULL);
    return 0;
}
