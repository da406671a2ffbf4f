/* OpenMP: what the bodies of regions do with arrays: parameters, globals, locals, fields, private and reduced ones. Each
 * thread measures its own time. */
#include "truth.h"

#include <stdlib.h>
#include <unistd.h>

enum { N = 2048, REPEAT = 2000, THREADS = 2 };
struct grid {
    double *mass;
    double heat[N];
};

static double fixed[N];
static double ms[9];

/* In a region. */
#define COUNTED(place, ...)                                                                        \
    do {                                                                                           \
        double start = THREAD_MS();                                                                \
        __VA_ARGS__                                                                                \
        double spent = THREAD_MS() - start;                                                        \
        _Pragma("omp atomic") ms[place] += spent;                                                  \
    } while (0)

NOINLINE static void passed(double *u, const double *v)
{
#pragma omp parallel num_threads(THREADS)
    COUNTED(0, for (int k = 0; k < REPEAT; k++) {
        AGAIN();
        _Pragma("omp for nowait") for (int i = 0; i < N; i++) u[i] = v[i] * 0.5;
    });
}

NOINLINE static void global(double by)
{
#pragma omp parallel num_threads(THREADS)
    COUNTED(1, for (int k = 0; k < REPEAT; k++) {
        AGAIN();
        _Pragma("omp for nowait") for (int i = 0; i < N; i++) fixed[i] = by * i;
    });
}

NOINLINE static double local(double by)
{
    double near[N] = {0};
#pragma omp parallel num_threads(THREADS)
    COUNTED(2, for (int k = 0; k < REPEAT; k++) {
        AGAIN();
        _Pragma("omp for nowait") for (int i = 0; i < N; i++) near[i] = near[i] * 0.5 + by;
    });
    return near[N - 1];
}

NOINLINE static void fields(struct grid *g, double by)
{
#pragma omp parallel num_threads(THREADS)
    COUNTED(3, for (int k = 0; k < REPEAT; k++) {
        AGAIN();
        _Pragma("omp for nowait") for (int i = 0; i < N; i++) g->heat[i] = g->heat[i] * 0.5 + by;
    });
}

NOINLINE static void pointed(struct grid *g, double by)
{
#pragma omp parallel num_threads(THREADS)
    COUNTED(4, for (int k = 0; k < REPEAT; k++) {
        AGAIN();
        _Pragma("omp for nowait") for (int i = 0; i < N; i++) g->mass[i] = g->heat[i] * 0.5;
    });
}

NOINLINE static double reads(const double *w)
{
    double sum = 0;
#pragma omp parallel num_threads(THREADS) reduction(+ : sum)
    COUNTED(5, for (int k = 0; k < REPEAT / 4; k++) {
        AGAIN();
        _Pragma("omp for nowait") for (int i = 0; i < N; i++) sum += w[i];
    });
    return sum;
}

NOINLINE static void given(double *tasked, double by)
{
#pragma omp parallel num_threads(THREADS)
#pragma omp single
    for (int part = 0; part < 4; part++) {
#pragma omp task firstprivate(part)
        COUNTED(6, for (int k = 0; k < REPEAT; k++) {
            AGAIN();
            for (int i = part * N / 4; i < (part + 1) * N / 4; i++)
                tasked[i] = tasked[i] * 0.5 + by;
        });
    }
}

NOINLINE static double owned(double by)
{
    double own[N] = {1}, sum = 0;
#pragma omp parallel num_threads(THREADS) firstprivate(own) reduction(+ : sum)
    {
        COUNTED(7, for (int k = 0; k < REPEAT / 2; k++) {
            AGAIN();
            for (int i = 0; i < N; i++)
                own[i] = own[i] * 0.5 + by;
        });
        sum += own[5];
    }
    return sum;
}

NOINLINE static void in_planes(double plane[][32], double by)
{
#pragma omp parallel num_threads(THREADS)
    COUNTED(8, for (int k = 0; k < REPEAT; k++) {
        AGAIN();
        _Pragma("omp for collapse(2) nowait") for (int j = 0; j < N / 32; j++) for (int i = 0; i < 32; i++)
            plane[j][i] = plane[j][i] * 0.5 + by;
    });
}

/* Threads that wait sleep, so that all time is that of arrays. The library asks once, at its beginning. */
static void wait_asleep(char **argv)
{
    if (!getenv("OMP_WAIT_POLICY") && setenv("OMP_WAIT_POLICY", "passive", 1) == 0)
        execv("/proc/self/exe", argv);
}

int main(int argc, char **argv)
{
    (void)argc;
    wait_asleep(argv);
    static const char *const names[] = {"u_writes", "fixed",  "near", "heat", "mass",
                                        "w_reads",  "tasked", "own",  "plane"};
    struct grid *g = calloc(1, sizeof *g);
    double *a = calloc(N, sizeof *a), *b = calloc(N, sizeof *b), *c = calloc(N, sizeof *c);
    double(*rows)[32] = calloc(N, sizeof(double));
    double kept = 0;
    g->mass = calloc(N, sizeof(double));
    for (int turn = 0; turn < 60; turn++) {
        passed(a, b);
        global(turn);
        kept += local(turn);
        fields(g, turn);
        pointed(g, turn);
        kept += reads(c);
        given(c, turn);
        kept += owned(turn);
        in_planes(rows, turn);
    }
    double all = PROCESS_MS();
    for (int i = 0; i < 9; i++)
        truth(names[i], 100 * ms[i] / all);
    return kept + a[3] + rows[1][1] + g->heat[2] + g->mass[4] == 0.125;
}
