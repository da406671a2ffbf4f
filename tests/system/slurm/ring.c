/* Each rank sends ten messages of four bytes to the next one. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, n_ranks, from = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    for (int i = 0; i < 10; i++)
        MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % n_ranks, 7, &from, 1, MPI_INT, (rank + n_ranks - 1) % n_ranks, 7, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    if (rank == 0)
        printf("%d ranks, the last is %d\n", n_ranks, from);
    MPI_Finalize();
    return 0;
}
