#include "threads.h"

#include "str.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>

struct pm_thread {
    struct pm_threads *all;
    pthread_t thread;
    unsigned number;
};

struct pm_threads {
    void (*work)(void *context, unsigned number);
    void *context;
    unsigned n;
    struct pm_thread threads[];
};

unsigned pm_n_processors(void)
{
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
    return n > 0 ? (unsigned)n : 1; /* more than 1024 do not fit: then 1 */
}

static void *thread_main(void *argument)
{
    const struct pm_thread *thread = argument;
    thread->all->work(thread->all->context, thread->number);
    return NULL;
}

struct pm_threads *pm_threads_start(unsigned n, void (*work)(void *context, unsigned number),
                                    void *context)
{
    enum { MOST = 1024 };
    sigset_t all, before;
    if (n == 0)
        return NULL;
    n = n < MOST ? n : MOST;
    struct pm_threads *threads = pm_alloc(sizeof *threads + n * sizeof *threads->threads);
    if (!threads)
        return NULL;
    threads->work = work;
    threads->context = context;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (; threads->n < n; threads->n++) {
        struct pm_thread *thread = &threads->threads[threads->n];
        thread->all = threads;
        thread->number = threads->n + 1;
        if (pthread_create(&thread->thread, NULL, thread_main, thread) != 0)
            break;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return threads;
}

void pm_threads_join(struct pm_threads *threads)
{
    for (unsigned i = 0; threads && i < threads->n; i++)
        pthread_join(threads->threads[i].thread, NULL);
    free(threads);
}
