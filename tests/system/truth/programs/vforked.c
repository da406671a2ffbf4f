/* Children by vfork run in their parent's memory: samples of the parent that they come by stay the
 * parent's, and so does its ring. Libraries are called deep, so the first ring is soon too short. */
#define _GNU_SOURCE
#include "truth.h"
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char words[4000][8];

typedef int comparison(const void *, const void *);

NOINLINE static void in_child(void)
{
    AGAIN();
}

static inline __attribute__((always_inline)) void sort(void)
{
    for (int i = 0; i < 4000; i++)
        snprintf(words[i], sizeof words[i], "%d", (i * 7919) % 4001);
    qsort(words, 4000, sizeof words[0], (comparison *)strcmp);
}

NOINLINE static void after(void)
{
    BURN(500);
}

int main(void)
{
    double sorting = 0, burning = 0;
    for (int i = 0; i < 60; i++) {
        double begin = THREAD_MS();
        sort();
        sorting += THREAD_MS() - begin;
        pid_t child = vfork();
        if (child == 0) {
            in_child();
            _exit(0);
        }
        waitpid(child, NULL, 0);
    }
    for (int i = 0; i < 150; i++) {
        double begin = THREAD_MS();
        after();
        burning += THREAD_MS() - begin;
    }
    truth("sort", 100.0 * sorting / (sorting + burning));
    truth("after", 100.0 * burning / (sorting + burning));
    return 0;
}
