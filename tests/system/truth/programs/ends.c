/* How programs end: exit in a thread, _exit, abort, SIGKILL, each by its word. What was counted until then holds. */
#include "truth.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile long n_calls;
static const char *how;

NOINLINE static void counted(int n)
{
    n_calls++;
    BURN(n);
}

NOINLINE static void work(int n)
{
    for (int i = 0; i < n; i++)
        counted(20);
}

NOINLINE static void *last(void *unused)
{
    truth("n_calls", (double)n_calls);
    truth("cpu_ms", PROCESS_MS());
    if (strcmp(how, "thread") == 0)
        exit(3);
    if (strcmp(how, "_exit") == 0)
        _exit(4);
    if (strcmp(how, "abort") == 0)
        abort();
    kill(getpid(), SIGKILL);
    return unused;
}

int main(int argc, char **argv)
{
    how = argc > 1 ? argv[1] : "thread";
    work(2500);
    pthread_t thread;
    pthread_create(&thread, NULL, last, NULL);
    for (;;)
        pause();
}
