/* Crowds of brief threads, and now and then one among them that is not brief: it computes, sorts within libc,
 * is in the kernel, or sleeps. What the thread did before that showed must not be lost, nor be found elsewhere. */
#define _GNU_SOURCE
#include "truth.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N_TURNS = 8, N_BRIEF = 40, N_STRINGS = 150000, READ_BYTES = 1 << 20, N_READS = 1500 };

struct life {
    double cpu_ms, wall_ms;
};

NOINLINE static void brief(void)
{
    BURN(15);
}

NOINLINE static void burner(void)
{
    for (int i = 0; i < 100; i++) {
        BURN(75);
        AGAIN();
    }
}

NOINLINE static void sorter(void)
{
    char(*strings)[8] = malloc(N_STRINGS * sizeof *strings);
    unsigned x = 1;
    for (int i = 0; i < N_STRINGS; i++) {
        x = x * 1664525u + 1013904223u;
        snprintf(strings[i], sizeof *strings, "%07u", x >> 12);
    }
    qsort(strings, N_STRINGS, sizeof *strings, (int (*)(const void *, const void *))strcmp);
    free(strings);
}

NOINLINE static void reader(void)
{
    static char bytes[READ_BYTES];
    int fd = open("/dev/zero", O_RDONLY);
    for (int i = 0; i < N_READS; i++)
        if (read(fd, bytes, sizeof bytes) <= 0)
            abort();
    close(fd);
}

NOINLINE static void sleeper(void)
{
    struct timespec time = {0, 250 * 1000000L};
    nanosleep(&time, NULL);
}

static void (*const kinds[])(void) = {brief, burner, sorter, reader, sleeper};

static struct life sums[5];

static void *live(void *kind)
{
    long k = (long)kind;
    double wall = WALL_MS(), cpu = THREAD_MS();
    kinds[k]();
    sums[k].cpu_ms += THREAD_MS() - cpu;
    sums[k].wall_ms += WALL_MS() - wall;
    return NULL;
}

static void run(long kind)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, live, (void *)kind) != 0)
        abort();
    pthread_join(thread, NULL);
}

int main(void)
{
    double start = WALL_MS();
    for (int turn = 0; turn < N_TURNS; turn++) {
        for (int i = 0; i < N_BRIEF; i++)
            run(0);
        run(1 + turn % 4);
    }
    double all = PROCESS_MS(), lives = WALL_MS() - start;
    for (int k = 0; k < 5; k++)
        lives += sums[k].wall_ms;
    truth("burner", 100 * sums[1].cpu_ms / all);
    truth("sorter", 100 * sums[2].cpu_ms / all);
    truth("reader", 100 * sums[3].cpu_ms / all);
    truth("sleeper", 100 * sums[4].wall_ms / lives);
    truth("cpu_ms", PROCESS_MS());
    truth("n_brief", N_TURNS * N_BRIEF);
    return 0;
}
