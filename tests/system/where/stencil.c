/* Rows of a grid on 4 ranks: neighbours exchange a row down (tag 1) and up (tag 2) of a communicator of all, and even and odd ranks add up
 * in one of their own. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { N_COLUMNS = 500, N_ROWS = 200, N_ROUNDS = 40 };
double grid[N_ROWS + 2][N_COLUMNS], next[N_ROWS + 2][N_COLUMNS];

static void relax(void)
{
    for (int i = 1; i <= N_ROWS; i++)
        for (int k = 1; k < N_COLUMNS - 1; k++)
            next[i][k] =
                0.25 * (grid[i - 1][k] + grid[i + 1][k] + grid[i][k - 1] + grid[i][k + 1]);
    memcpy(grid[1], next[1], sizeof grid[1] * N_ROWS);
}

static void exchange(MPI_Comm all, int rank, int n)
{
    int up = rank > 0 ? rank - 1 : MPI_PROC_NULL, down = rank < n - 1 ? rank + 1 : MPI_PROC_NULL;
    MPI_Sendrecv(grid[N_ROWS], N_COLUMNS, MPI_DOUBLE, down, 1, grid[0], N_COLUMNS, MPI_DOUBLE, up,
                 1, all, MPI_STATUS_IGNORE);
    MPI_Sendrecv(grid[1], N_COLUMNS, MPI_DOUBLE, up, 2, grid[N_ROWS + 1], N_COLUMNS, MPI_DOUBLE,
                 down, 2, all, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int rank, n;
    double own = 0, sum = 0;
    MPI_Comm all, half;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Comm_dup(MPI_COMM_WORLD, &all);
    MPI_Comm_set_name(all, "grid");
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Comm_set_name(half, "half");
    for (int round = 0; round < N_ROUNDS; round++) {
        exchange(all, rank, n);
        relax();
        own = grid[N_ROWS / 2][N_COLUMNS / 2] + rank;
        MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, half);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("%f\n", sum);
    MPI_Finalize();
    return 0;
}
