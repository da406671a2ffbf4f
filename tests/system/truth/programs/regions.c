/* OpenMP: loops that are shared in several ways, a critical section, sections, tasks. CPU times of the threads' own clocks. */
#include "truth.h"

#include <omp.h>

static double ms[5]; /* static, dynamic, critical, sections, tasks */

#define COUNTED(place, ...)                                                                        \
    do {                                                                                           \
        double start = THREAD_MS();                                                                \
        __VA_ARGS__;                                                                               \
        double spent = THREAD_MS() - start;                                                        \
        _Pragma("omp atomic") ms[place] += spent;                                                  \
    } while (0)

NOINLINE static void shared_evenly(void)
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < 32; i++) /* @even */
        COUNTED(0, BURN(40));
}

NOINLINE static void shared_by_need(void)
{
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < 16; i++) /* @need */
        COUNTED(1, BURN(10 * i));
}

NOINLINE static void one_by_one(void)
{
#pragma omp parallel
    for (int i = 0; i < 4; i++) {
#pragma omp critical
        COUNTED(2, BURN(50));
    }
}

NOINLINE static void section(int n)
{
    COUNTED(3, BURN(n));
}

NOINLINE static void in_sections(void)
{
#pragma omp parallel sections
    {
#pragma omp section
        section(300);
#pragma omp section
        section(500);
    }
}

NOINLINE static void task(int n)
{
    COUNTED(4, BURN(n));
}

NOINLINE static void in_tasks(void)
{
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 20; i++) {
#pragma omp task
        task(60);
    }
}

int main(void)
{
    double all = 0;
    omp_set_num_threads(3);
    for (int i = 0; i < 20; i++) {
        shared_evenly();
        shared_by_need();
        one_by_one();
        in_sections();
        in_tasks();
    }
    for (int i = 0; i < 5; i++)
        all += ms[i];
    truth("even_ms", ms[0]);
    truth("need_ms", ms[1]);
    truth("critical_ms", ms[2]);
    truth("sections_ms", ms[3]);
    truth("tasks_ms", ms[4]);
    truth("all_ms", all);
    return 0;
}
