/* What a call of MPI costs: the shortest of many repetitions. Rank 0 prints "KEY VALUE" lines, in
 * nanoseconds. */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

static char bytes[8];
static int rank;

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void to_nobody(void)
{
    MPI_Send(bytes, 8, MPI_CHAR, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
}

static void to_oneself(void)
{
    MPI_Request request;
    MPI_Irecv(bytes, 8, MPI_CHAR, rank, 1, MPI_COMM_WORLD, &request);
    MPI_Send(bytes, 8, MPI_CHAR, rank, 1, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void round_trip(void)
{
    if (rank == 0) {
        MPI_Send(bytes, 8, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(bytes, 8, MPI_CHAR, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Recv(bytes, 8, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(bytes, 8, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
    }
}

static void measure(const char *key, void (*work)(void))
{
    enum { TIMES = 1000, REPETITIONS = 100 };
    double shortest = 1e18;
    for (int repetition = 0; repetition < REPETITIONS; repetition++) {
        double start = now_ns();
        for (int i = 0; i < TIMES; i++)
            work();
        double took = (now_ns() - start) / TIMES;
        shortest = took < shortest ? took : shortest;
    }
    if (rank == 0)
        printf("%s %.3f\n", key, shortest);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    measure("nobody_ns", to_nobody);
    measure("oneself_ns", to_oneself);
    measure("round_trip_ns", round_trip);
    MPI_Finalize();
    return 0;
}
