/* Allocations whose number and sizes are known by construction. Each line that allocates is marked: the test looks marks up. */
#define _GNU_SOURCE
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct list {
    struct list *next;
    double *values;
};

double *table; /* written once */
struct list *head;
void *volatile sink; /* what goes there is not optimised away */

/* 100 lists of 24 values: allocated, never freed but for the first 40. */
__attribute__((noinline)) void make_lists(void)
{
    for (int i = 0; i < 100; i++) {
        struct list *new = malloc(sizeof *new); /* mark: list */
        new->values = calloc(24, sizeof *new->values); /* mark: values */
        new->next = head;
        head = new;
    }
    for (int i = 0; i < 40; i++) {
        struct list *old = head;
        head = old->next;
        free(old->values);
        free(old);
    }
}

/* 1, 2, 4, ... 4096 numbers: 13 blocks, each of which ends when the next begins. */
__attribute__((noinline)) size_t grow(void)
{
    int *numbers = NULL;
    for (size_t n = 1; n <= 4096; n *= 2) {
        numbers = realloc(numbers, n * sizeof *numbers); /* mark: grow */
        numbers[n - 1] = (int)n;
    }
    size_t last = (size_t)numbers[4095];
    free(numbers);
    return last;
}

__attribute__((noinline)) int aligned(void)
{
    void *a = aligned_alloc(64, 640); /* mark: aligned_alloc */
    void *b = memalign(256, 1000);    /* mark: memalign */
    void *c = NULL;
    int bad = posix_memalign(&c, 4096, 5000); /* mark: posix_memalign */
    void *d = valloc(700);                    /* mark: valloc */
    void *e = reallocarray(NULL, 30, 10);     /* mark: reallocarray */
    sink = a, sink = b, sink = c, sink = d, sink = e;
    bad |= (int)((size_t)a % 64 | (size_t)b % 256 | (size_t)c % 4096 | (size_t)d % 4096);
    bad |= malloc_usable_size(e) < 300;
    free(a), free(b), free(c), free(d), free(e);
    return bad;
}

/* What cannot be had changes nothing, and is no allocation. */
__attribute__((noinline)) int refused(size_t huge)
{
    char *kept = malloc(10); /* mark: kept */
    char *none = realloc(kept, huge); /* mark: refused */
    int bad = none != NULL || calloc(huge, 16) != NULL || malloc(huge) != NULL;
    sink = kept;
    kept[9] = 1;
    free(kept);
    return bad;
}

int main(int argc, char **argv)
{
    (void)argv;
    table = malloc(100000 * sizeof *table); /* mark: table */
    for (int i = 0; i < 100000; i++)
        table[i] = i;
    make_lists();
    size_t last = grow();
    int bad = aligned() | refused((size_t)-1 / 2 - (size_t)argc);
    printf("%zu %d %g\n", last, bad, table[99999]);
    free(table);
    return bad || last != 4096;
}
