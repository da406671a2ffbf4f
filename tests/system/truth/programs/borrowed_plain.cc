// Without the plugin: a thread that calls what it is given, as a library of tasks does.
#include "truth.h"
#include <pthread.h>

struct task {
    void (*work)(double *, double *);
    double *first, *last;
    double ms;
};

static void *run(void *argument)
{
    task *given = static_cast<task *>(argument);
    double begin = THREAD_MS();
    while ((given->ms = THREAD_MS() - begin) < 250)
        for (int i = 0; i < 16; i++)
            given->work(given->first, given->last);
    return nullptr;
}

double run_in_thread(void (*work)(double *, double *), double *first, double *last)
{
    task given = {work, first, last, 0};
    pthread_t thread;
    pthread_create(&thread, nullptr, run, &given);
    pthread_join(thread, nullptr);
    return given.ms;
}
