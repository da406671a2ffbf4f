/* Rank r burns (r + 1) * 100 ms of CPU time; then all wait for the last. */
#include "burn.h"

#include <mpi.h>

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    burn_at(rank, 100 * (rank + 1));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
