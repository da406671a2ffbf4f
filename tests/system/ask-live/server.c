/* Does what the lines of its input say and counts it: "work N" N rounds, "sleep" waits for the next line, "end" ends. Between lines it runs. */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile unsigned sink;
static unsigned long n_inner, n_outer, n_inside;

__attribute__((noinline)) static void inner(int inside)
{
    n_inner++;
    n_inside += inside != 0;
    for (unsigned i = 0; i < 40; i++)
        sink += i;
}

__attribute__((noinline)) static void outer(unsigned n)
{
    n_outer++;
    for (unsigned i = 0; i < n; i++)
        inner(1);
}

__attribute__((noinline)) static void *rounds(void *argument)
{
    unsigned long n = (unsigned long)argument;
    for (unsigned long i = 0; i < n; i++) {
        outer((unsigned)(i % 4));
        inner(0);
    }
    return NULL;
}

static void work(unsigned long n)
{
    pthread_t thread;
    (void)rounds((void *)n);
    pthread_create(&thread, NULL, rounds, (void *)n);
    pthread_join(thread, NULL);
}

static int has_input(int wait_ms)
{
    struct pollfd fd = {.fd = 0, .events = POLLIN};
    return poll(&fd, 1, wait_ms) > 0; /* not when a signal ends it: the bell of a change of modes */
}

int main(void)
{
    char line[64];
    size_t len = 0;
    int sleeps = 0;
    printf("pid %d\n", (int)getpid());
    fflush(stdout);
    for (;;) {
        for (unsigned i = 0; !sleeps && i < 100000; i++)
            sink += i;
        if (!has_input(sleeps ? -1 : 0))
            continue;
        if (read(0, line + len, 1) != 1)
            break;
        if (line[len] != '\n') {
            len += len < sizeof line - 2;
            continue;
        }
        line[len] = 0;
        len = 0;
        sleeps = !strcmp(line, "sleep");
        if (!strcmp(line, "end"))
            break;
        if (!strncmp(line, "work ", 5))
            work(strtoul(line + 5, NULL, 10));
        printf("inner %lu outer %lu inside %lu\n", n_inner, n_outer, n_inside);
        fflush(stdout);
    }
    printf("inner %lu outer %lu inside %lu\n", n_inner, n_outer, n_inside);
    return 0;
}
