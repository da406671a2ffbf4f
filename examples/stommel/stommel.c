/* Stommel's model of an ocean basin driven by wind: the stream function psi solves
 *
 *     friction (psi_xx + psi_yy) + beta psi_x = wind(y)
 *
 * by Jacobi's five-point iteration. Rows are spread over the ranks of MPI, and over the threads of
 * OpenMP in each rank. Neighbours exchange their border rows in each round; the change of all ranks
 * is summed every tenth.
 *
 *     mpirun -np 4 ./stommel [POINTS [ROUNDS]]
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, n_ranks, n_points = 600, n_rows;
static double *psi, *next, *wind;
static double west, east, north, south, force;

static size_t at(int row, int column)
{
    return (size_t)row * (size_t)(n_points + 2) + (size_t)column;
}

/* Rows 1 to n_rows are this rank's; 0 and n_rows + 1 are its neighbours', or the coast. */
static void set_up(void)
{
    const double length = 2e6, friction = 3e-6, beta = 2.25e-11, pi = 3.14159265358979;
    double step = length / (n_points + 1);
    int first = rank * n_points / n_ranks;
    n_rows = (rank + 1) * n_points / n_ranks - first;
    size_t n = at(n_rows + 2, 0);
    psi = calloc(n, sizeof *psi);
    next = calloc(n, sizeof *next);
    wind = calloc((size_t)n_rows + 2, sizeof *wind);
    double middle = friction * 4 / (step * step);
    north = south = friction / (step * step) / middle;
    west = (friction / (step * step) - beta / (2 * step)) / middle;
    east = (friction / (step * step) + beta / (2 * step)) / middle;
    force = 1 / middle;
    for (int i = 1; i <= n_rows; i++)
        wind[i] = -1e-9 * sin(pi * (first + i) / (n_points + 1));
}

static double iterate(void)
{
    double change = 0;
#pragma omp parallel for reduction(+ : change)
    for (int i = 1; i <= n_rows; i++)
        for (int j = 1; j <= n_points; j++) {
            double value = west * psi[at(i, j - 1)] + east * psi[at(i, j + 1)] +
                           north * psi[at(i - 1, j)] + south * psi[at(i + 1, j)] -
                           force * wind[i];
            change += fabs(value - psi[at(i, j)]);
            next[at(i, j)] = value;
        }
    return change;
}

static void exchange(void)
{
    int above = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    int below = rank < n_ranks - 1 ? rank + 1 : MPI_PROC_NULL;
    MPI_Sendrecv(&next[at(1, 0)], n_points + 2, MPI_DOUBLE, above, 1, &next[at(n_rows + 1, 0)],
                 n_points + 2, MPI_DOUBLE, below, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&next[at(n_rows, 0)], n_points + 2, MPI_DOUBLE, below, 2, &next[at(0, 0)],
                 n_points + 2, MPI_DOUBLE, above, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static double sum_over_ranks(double change)
{
    double sum;
    MPI_Allreduce(&change, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

int main(int argc, char **argv)
{
    int n_rounds = argc > 2 ? atoi(argv[2]) : 400;
    double change = 0;
    if (argc > 1)
        n_points = atoi(argv[1]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    set_up();
    for (int round = 1; round <= n_rounds; round++) {
        double own = iterate();
        exchange();
        double *before = psi;
        psi = next;
        next = before;
        if (round % 10 == 0)
            change = sum_over_ranks(own);
    }
    if (rank == 0)
        printf("change in the last round: %.6g\n", change);
    MPI_Finalize();
    return 0;
}
