/* Messages around a ring: N rounds of a blocking send and receive, then two that are started together. With an argument others: "any" receives
 * from whoever sends, "mixed" from a named rank as well, "persistent" by requests that are kept. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { N = 20, LEN = 100 };
static double u[LEN], v[LEN];

__attribute__((noinline)) static void exchange(int rank, int size)
{
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    if (rank % 2) {
        MPI_Recv(v, LEN, MPI_DOUBLE, from, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(u, LEN, MPI_DOUBLE, to, 7, MPI_COMM_WORLD);
    } else {
        MPI_Send(u, LEN, MPI_DOUBLE, to, 7, MPI_COMM_WORLD);
        MPI_Recv(v, LEN, MPI_DOUBLE, from, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

__attribute__((noinline)) static void start(int rank, int size, MPI_Comm comm)
{
    MPI_Request requests[2];
    MPI_Irecv(v, LEN, MPI_DOUBLE, (rank + size - 1) % size, 8, comm, &requests[0]);
    MPI_Isend(u, LEN, MPI_DOUBLE, (rank + 1) % size, 8, comm, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void receive_any(int rank, int size, int is_mixed)
{
    int from = (rank + size - 1) % size;
    MPI_Request request;
    MPI_Isend(u, LEN, MPI_DOUBLE, (rank + 1) % size, 9, MPI_COMM_WORLD, &request);
    MPI_Recv(v, LEN, MPI_DOUBLE, is_mixed ? from : MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void persistent(int rank, int size)
{
    MPI_Request requests[2];
    MPI_Send_init(u, LEN, MPI_DOUBLE, (rank + 1) % size, 10, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(v, LEN, MPI_DOUBLE, (rank + size - 1) % size, 10, MPI_COMM_WORLD, &requests[1]);
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

static void others(const char *which, int rank, int size)
{
    int is_mixed = !strcmp(which, "mixed");
    if (!strcmp(which, "persistent"))
        persistent(rank, size);
    for (int i = 0; i < N; i++)
        receive_any(rank, size, is_mixed && i % 2);
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm reversed;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    for (int i = 0; i < N; i++)
        exchange(rank, size);
    for (int i = 0; i < N; i++)
        start(size - 1 - rank, size, reversed);
    if (argc > 1)
        others(argv[1], rank, size);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
