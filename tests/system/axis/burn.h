/* Burns CPU time of the calling thread, and says how much it was by the thread's own clock. */
#include <stdio.h>
#include <time.h>

static double cpu_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

__attribute__((noinline)) void burn(double ms)
{
    static __thread volatile double sink;
    double until = cpu_ms() + ms;
    while (cpu_ms() < until)
        for (int i = 0; i < 100000; i++)
            sink += i;
}

/* location: a rank, a pid or a tid. */
static void burn_at(long location, double ms)
{
    double begin = cpu_ms();
    burn(ms);
    printf("%ld %.3f\n", location, cpu_ms() - begin);
    fflush(stdout);
}
