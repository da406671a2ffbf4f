/* Allocates and frees, by a random but known course, in threads and a child, and counts: what it prints is what work() did. */
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BLOCKS = 200, ROUNDS = 5000 };

struct counts {
    long n_allocations, n_frees, allocated_bytes, freed_bytes;
};

struct work {
    uint32_t seed;
    void *blocks[BLOCKS];
    size_t sizes[BLOCKS];
    struct counts counts;
};

static uint32_t next(struct work *w)
{
    w->seed = w->seed * 1664525u + 1013904223u;
    return w->seed >> 8;
}

static void *get(struct work *w, size_t bytes)
{
    void *p = NULL;
    switch (next(w) % 7) {
    case 0:
        return calloc(bytes, 1);
    case 1:
        return posix_memalign(&p, 64, bytes) == 0 ? p : NULL;
    case 2:
        return aligned_alloc(32, bytes);
    case 3:
        return memalign(128, bytes);
    case 4:
        return reallocarray(NULL, bytes, 1);
    default:
        return malloc(bytes);
    }
}

__attribute__((noinline)) void *work(void *data)
{
    struct work *w = data;
    for (int i = 0; i < ROUNDS; i++) {
        unsigned at = next(w) % BLOCKS;
        size_t bytes = (next(w) % 64 + 1) * 32;
        if (w->blocks[at] == NULL) {
            w->blocks[at] = get(w, bytes);
            w->sizes[at] = bytes;
        } else if (next(w) % 3 == 0) {
            w->counts.freed_bytes += (long)w->sizes[at];
            w->blocks[at] = realloc(w->blocks[at], bytes);
            w->sizes[at] = bytes;
        } else {
            free(w->blocks[at]);
            w->blocks[at] = NULL;
            w->counts.n_frees++;
            w->counts.freed_bytes += (long)w->sizes[at];
            continue;
        }
        if (w->blocks[at] == NULL)
            abort();
        memset(w->blocks[at], 1, bytes);
        w->counts.n_allocations++;
        w->counts.allocated_bytes += (long)bytes;
    }
    return NULL;
}

int main(void)
{
    static struct work works[4];
    pthread_t ids[3];
    struct counts sum = {0};
    for (unsigned i = 0; i < 4; i++)
        works[i].seed = i;
    for (int i = 0; i < 3; i++)
        pthread_create(&ids[i], NULL, work, &works[i]);
    work(&works[3]);
    for (int i = 0; i < 3; i++)
        pthread_join(ids[i], NULL);
    for (int i = 0; i < 4; i++) {
        sum.n_allocations += works[i].counts.n_allocations;
        sum.n_frees += works[i].counts.n_frees;
        sum.allocated_bytes += works[i].counts.allocated_bytes;
        sum.freed_bytes += works[i].counts.freed_bytes;
    }
    printf("%ld %ld %ld %ld\n", sum.n_allocations, sum.n_frees, sum.allocated_bytes, sum.freed_bytes);
    fflush(stdout);
    if (fork() == 0) { /* frees what its parent allocated */
        for (int i = 0; i < BLOCKS; i++)
            free(works[0].blocks[i]);
        exit(0);
    }
    wait(NULL);
    return 0;
}
