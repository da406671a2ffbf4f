/* Comparisons that end with a jump into a library, called by a library from any depth of the stack; a function that jumps to a library which calls
 * back, and one that jumps to free() and has long returned when its caller's callbacks run, deeper than it was. In two threads. */
#include "truth.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { N = 300, N_ROUNDS = 12 };
struct record {
    char name[12];
    int number;
};
static __thread struct record records[N];
static __thread long n_by_name, n_by_number;
static void *volatile junk;

NOINLINE static int by_name(const void *a, const void *b)
{
    n_by_name++;
    BURN(2);
    return strcmp(((const struct record *)a)->name, ((const struct record *)b)->name);
}

NOINLINE static int by_number(const void *a, const void *b)
{
    n_by_number++;
    BURN(3);
    return ((const struct record *)a)->number - ((const struct record *)b)->number;
}

NOINLINE static void order(struct record *r)
{
    qsort(r, N, sizeof *r, by_name);
}

NOINLINE static void drop(void *p)
{
    BURN(1);
    free(p);
}

NOINLINE static void *work(void *first)
{
    unsigned x = *(unsigned *)first;
    for (int round = 0; round < N_ROUNDS; round++) {
        for (int i = 0; i < N; i++) {
            x = x * 1664525u + 1013904223u;
            snprintf(records[i].name, sizeof records[i].name, "n%u", x % 99999);
            records[i].number = (int)(x >> 8);
        }
        order(records);
        junk = malloc(64);
        drop(junk);
        qsort(records, N, sizeof *records, by_number);
        junk = malloc(64);
        drop(junk);
    }
    truth("n_by_name", (double)n_by_name);
    truth("n_by_number", (double)n_by_number);
    return NULL;
}

int main(void)
{
    unsigned one = 1, two = 2;
    pthread_t thread;
    pthread_create(&thread, NULL, work, &two);
    work(&one);
    pthread_join(thread, NULL);
    truth("n_drop", 4 * N_ROUNDS);
    return 0;
}
