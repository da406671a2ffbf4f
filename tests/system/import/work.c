/* Two threads: leaf is called 4000 times by mid_a and 2000 times by mid_b, for as
 * many turns as the first argument says. With an array, so that
 * profiles of a build with the plugin have one to show. */
#include <pthread.h>
#include <stdlib.h>

#define HIDDEN __attribute__((noinline, noclone))

double sums[64];
static int n_turns = 4000;

HIDDEN void leaf(int n)
{
    for (int i = 0; i < n; i++)
        sums[i % 64] += i;
}

HIDDEN void mid_a(void)
{
    for (int i = 0; i < 4000; i++)
        leaf(n_turns);
    sums[1] += 1;
}

HIDDEN void mid_b(void)
{
    for (int i = 0; i < 2000; i++)
        leaf(n_turns);
    sums[2] += 1;
}

static void *worker(void *unused)
{
    (void)unused;
    mid_b();
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    if (argc > 1)
        n_turns = atoi(argv[1]);
    if (pthread_create(&thread, NULL, worker, NULL) != 0)
        return 1;
    mid_a();
    return pthread_join(thread, NULL);
}
