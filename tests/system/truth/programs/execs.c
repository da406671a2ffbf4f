/* A program that becomes itself by exec, with other work, while another thread is busy; then one that starts what has no plugin. */
#include "truth.h"

#include <pthread.h>
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
    double start = THREAD_MS(); /* exec and the loader are not before's, nor after's */
    if (argc > 1) {
        after(40000);
        truth("after_ms", THREAD_MS() - start);
        truth("cpu_ms", PROCESS_MS());
        return 0;
    }
    before(20000);
    truth("before_ms", THREAD_MS() - start);
    pthread_t thread;
    pthread_create(&thread, NULL, beside, NULL);
    struct timespec time = {0, 50000000};
    nanosleep(&time, NULL);
    execl("/proc/self/exe", argv[0], "again", NULL);
    return 1;
}
