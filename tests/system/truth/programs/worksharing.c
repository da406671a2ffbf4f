/* OpenMP as it is written by hand: arrays in parallel loops, sections of rows, tasks. One thread at a time has the work of one
 * kind, so that no thread waits for long, and each measures its own time. */
#include "asleep.h"
#include "truth.h"

#include <omp.h>
#include <stdlib.h>

enum { N = 32768, REPEAT = 200, THREADS = 2, ROWS = 8, TASKS = 6 };
struct grid {
    double *mass;
    double heat[N];
};

static double fixed[N], ms[6];
static long n_rows, n_tasked;

static void add_time(int place, double spent)
{
#pragma omp atomic
    ms[place] += spent;
}

NOINLINE static void passed(double *u, const double *v)
{
#pragma omp parallel num_threads(THREADS)
    {
        double begin = THREAD_MS();
        for (int k = 0; k < REPEAT; k++) {
            AGAIN();
#pragma omp for nowait
            for (int i = 0; i < N; i++)
                u[i] = v[i] * 0.5;
        }
        add_time(0, THREAD_MS() - begin);
    }
}

NOINLINE static void global(double by)
{
#pragma omp parallel num_threads(THREADS)
    {
        double begin = THREAD_MS();
        for (int k = 0; k < REPEAT; k++) {
            AGAIN();
#pragma omp for schedule(static, 64) nowait
            for (int i = 0; i < N; i++)
                fixed[i] = by * i;
        }
        add_time(1, THREAD_MS() - begin);
    }
}

NOINLINE static double local(double by)
{
    double near[N] = {0};
#pragma omp parallel num_threads(THREADS)
    {
        double begin = THREAD_MS();
        for (int k = 0; k < REPEAT; k++) {
            AGAIN();
#pragma omp for nowait
            for (int i = 0; i < N; i++)
                near[i] = near[i] * 0.5 + by;
        }
        add_time(2, THREAD_MS() - begin);
    }
    return near[N - 1];
}

NOINLINE static void fields(struct grid *g, double by)
{
#pragma omp parallel for num_threads(THREADS)
    for (int row = 0; row < ROWS; row++) { /* @rows */
        double begin = THREAD_MS();
        for (int k = 0; k < REPEAT; k++) {
            AGAIN();
            for (int i = row * (N / ROWS); i < (row + 1) * (N / ROWS); i++)
                g->heat[i] = g->heat[i] * 0.5 + by;
        }
        add_time(3, THREAD_MS() - begin);
    }
    n_rows += THREADS;
}

NOINLINE static void tasks(struct grid *g, double by)
{
#pragma omp parallel num_threads(THREADS)
#pragma omp single
    for (int t = 0; t < TASKS; t++) {
#pragma omp task firstprivate(t)
        {
            double begin = THREAD_MS();
            for (int k = 0; k < REPEAT; k++) { /* @tasked */
                AGAIN();
                for (int i = 0; i < N / 4; i++)
                    g->mass[t * (N / TASKS) / 2 + i / 2] += by;
            }
            add_time(4, THREAD_MS() - begin);
        }
    }
    n_tasked += TASKS;
}

NOINLINE static double reduce(const double *w)
{
    double sum = 0;
#pragma omp parallel num_threads(THREADS) reduction(+ : sum)
    {
        double begin = THREAD_MS();
        for (int k = 0; k < REPEAT / 3; k++) {
            AGAIN();
#pragma omp for nowait
            for (int i = 0; i < N; i++)
                sum += w[i] * 0.5;
        }
        add_time(5, THREAD_MS() - begin);
    }
    return sum;
}

int main(int argc, char **argv)
{
    (void)argc;
    wait_asleep(argv);
    static const char *const names[] = {"passed", "placed", "local", "field", "tasked", "reduced"};
    double *u = calloc(N, sizeof *u), *v = calloc(N, sizeof *v), *w = calloc(N, sizeof *w), kept = 0, all;
    struct grid g = {calloc(N, sizeof(double)), {0}};
    omp_set_dynamic(0);
    double begin = clock_ms(CLOCK_PROCESS_CPUTIME_ID);
    for (int turn = 0; turn < 12; turn++) {
        passed(u, v);
        global(turn);
        kept += local(turn);
        fields(&g, turn);
        tasks(&g, turn);
        kept += reduce(w) + fixed[turn];
    }
    all = clock_ms(CLOCK_PROCESS_CPUTIME_ID) - begin;
    for (int i = 0; i < 6; i++)
        truth(names[i], 100 * ms[i] / all);
    truth("n_passed", 12);
    truth("n_tasks", 12);
    truth("n_rows", n_rows);
    truth("n_tasked", n_tasked);
    return kept == 7.5;
}
