/* Two phases, a second thread in the later one, and work outside both. */
#include <perfmap.h>
#include <pthread.h>
#include <time.h>

static volatile double x;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void warm(double seconds)
{
    for (double end = now() + seconds; now() < end;)
        for (int i = 0; i < 1000; i++)
            x += i;
}

static void solve(double seconds)
{
    for (double end = now() + seconds; now() < end;)
        for (int i = 0; i < 1000; i++)
            x *= 1.0001;
}

static void *help(void *unused)
{
    solve(0.5);
    return unused;
}

int main(void)
{
    struct pm_sentence warmup = pm_define_phase("warmup"), solving = pm_define_phase("solving");
    pthread_t thread;
    pm_begin_process(warmup);
    warm(0.4);
    pm_end_process(warmup);
    warm(0.2);
    pm_begin_process(solving);
    pthread_create(&thread, NULL, help, NULL);
    solve(0.6);
    pthread_join(thread, NULL);
    pm_end_process(solving);
    return 0;
}
