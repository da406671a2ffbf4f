/* A signal handler that allocates (as none should), while the program does, and an exception-like way out. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

static void *volatile sink, *volatile sink2;
static volatile sig_atomic_t n_signals, in_heap;

/* Only where the allocator itself was not interrupted. */
static void on_signal(int number)
{
    (void)number;
    n_signals++;
    if (!in_heap)
        free(sink2 = malloc(33));
}

int main(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    struct itimerval timer = {{0, 200}, {0, 200}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
    for (int i = 0; i < 2000000 || n_signals < 100; i++) {
        in_heap = 1;
        void *p = malloc(64); /* mark: loop */
        in_heap = 0;
        sink = p;
        in_heap = 1;
        free(p);
        in_heap = 0;
    }
    timer = (struct itimerval){{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &timer, NULL);
    puts("done");
    return 0;
}
