#include "heat.h"
#include "mpi.h"
#include <string.h>

static double total[N];
int counts[N];

static double twice(double x)
{
    return 2 * x;
}
static double same(double x)
{
    return x;
}
static int odd(int x)
{
    return x & 1;
}

static void sweep(double *out, const double *in, int n)
{
#pragma omp parallel for schedule(static) reduction(+ : n)
    for (int i = 1; i < n; i++) {
        for (int j = 0; j < n; j++)
            out[i * n + j] = in[i] + in[j - 1];
        out[i] += 1;
        *out = *(in + i);
        counts[i % N]++;
    }
}

double solve(struct grid *g, kernel k)
{
    double sum = 0;
    int (*test)(int) = odd;
    while (g) {
        g->cell[0][1] = k(sum);
        sum += g->cell[g->n][0];
        if (test(g->n))
            STORE(total, g->n, half(sum));
        else
            sum = SQUARE(sum);
        g = g->next;
    }
    memset(total, 0, sizeof(counts));
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

int main(int argc, char **argv)
{
    struct grid g = {0};
    double a[N], b[N];
    int i = 0;
    (void)argv;
    switch (argc) {
    case 1:
        sweep(a, b, N);
        break;
    default:
        sweep(b, a, N);
    }
    do
        i++;
    while (i < N);
again:
    if (solve(&g, argc > 1 ? twice : same) > 3)
        goto again;
    return a[i - 1] > b[0];
}
