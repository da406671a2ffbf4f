/* Rank 1 is killed between two barriers. */
#include <mpi.h>
#include <signal.h>

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 100; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 1 && i == 50)
            raise(SIGKILL);
    }
    MPI_Finalize();
    return 0;
}
