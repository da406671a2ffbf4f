/* Threads that call until they are told to end, and count what they call. With "sleep": sleeps in between. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define KEEP __attribute__((noinline, noclone))
static volatile sig_atomic_t ended;
static int sleeps;
struct counts {
    unsigned long n_outer, n_middle, n_leaf;
    int sum;
} __attribute__((aligned(128)));
static struct counts all[64];

KEEP int leaf(struct counts *c, int x)
{
    c->n_leaf++;
    return x * 3;
}

KEEP int middle(struct counts *c, int n)
{
    c->n_middle++;
    for (int i = 0; i < n; i++)
        c->sum += leaf(c, i);
    return c->sum;
}

KEEP int outer(struct counts *c, int n)
{
    c->n_outer++;
    return middle(c, n) + middle(c, n + 1) + leaf(c, n);
}

static void *thread(void *number)
{
    struct counts *c = &all[(long)number];
    do {
        for (int i = 0; i < 100; i++)
            c->sum += outer(c, 5);
        if (sleeps)
            nanosleep(&(struct timespec){0, 20000000}, NULL);
    } while (!ended);
    return NULL;
}

static void on_term(int number)
{
    ended = number;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 8;
    pthread_t threads[64];
    signal(SIGTERM, on_term);
    sleeps = argc > 2 && !strcmp(argv[2], "sleep");
    alarm(60);
    printf("pid %d\n", getpid());
    fflush(stdout);
    for (long i = 1; i < n; i++)
        pthread_create(&threads[i], NULL, thread, (void *)i);
    thread((void *)0);
    struct counts total = {0};
    for (int i = 0; i < n; i++) {
        if (i)
            pthread_join(threads[i], NULL);
        total.n_outer += all[i].n_outer;
        total.n_middle += all[i].n_middle;
        total.n_leaf += all[i].n_leaf;
    }
    printf("outer %lu\nmiddle %lu\nleaf %lu\n", total.n_outer, total.n_middle, total.n_leaf);
    if (argc > 3 && !strcmp(argv[3], "again")) {
        execl("./busy", "./busy", "1", (char *)NULL);
    }
    return 0;
}
