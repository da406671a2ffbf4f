/* A program that becomes itself by exec, with other work, while another thread is busy; then one that starts what has no plugin. */
#include "truth.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

NOINLINE static void before(int n)
{
    BURN(n);
}

NOINLINE static void after(int n)
{
    BURN(n - 1);
    BURN(1);
}

NOINLINE static void *beside(void *unused)
{
    for (;;)
        BURN(10);
    return unused;
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        after(40000);
        truth("after_ms", THREAD_MS() - atof(argv[1]));
        truth("cpu_ms", PROCESS_MS());
        return 0;
    }
    before(20000);
    truth("before_ms", THREAD_MS());
    pthread_t thread;
    pthread_create(&thread, NULL, beside, NULL);
    struct timespec time = {0, 50000000};
    nanosleep(&time, NULL);
    char so_far[32];
    snprintf(so_far, sizeof so_far, "%.6f", THREAD_MS());
    execl("/proc/self/exe", argv[0], so_far, NULL);
    return 1;
}
