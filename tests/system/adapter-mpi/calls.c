/* Every kind of call, and what it sends and receives, known by construction. Each rank prints
 * "verb calls messages sent received" of its own. */
#include "truth.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 100, MAX_RANKS = 16, ROUNDS = 3 };

static int rank, size, next, before;
static double out[MAX_RANKS * N], in[MAX_RANKS * N];
static const MPI_Comm world = MPI_COMM_WORLD;
enum { D = sizeof(double) };

static void blocking(void)
{
    MPI_Status status;
    if (rank % 2 == 0) {
        MPI_Send(out, N, MPI_DOUBLE, next, 7, world);
        MPI_Recv(in, 2 * N, MPI_DOUBLE, before, 7, world, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(in, 2 * N, MPI_DOUBLE, before, 7, world, &status);
        MPI_Ssend(out, N, MPI_DOUBLE, next, 7, world);
    }
    is_true("Send", 1, N * D, 0);
    is_true("Receive", 0, 0, N * D);
    MPI_Send(out, 1, MPI_INT, MPI_PROC_NULL, 7, world);
    MPI_Recv(in, 1, MPI_INT, MPI_PROC_NULL, 7, world, &status);
    is_true("Send", 0, 0, 0);
    is_true("Receive", 0, 0, 0);
    MPI_Sendrecv(out, 3, MPI_INT, next, 8, in, 10, MPI_INT, before, 8, world, MPI_STATUS_IGNORE);
    is_true("Send", 1, 12, 12); /* the receive is a part of it */
    is_true("Receive", 0, 0, 12);
    MPI_Sendrecv_replace(out, 5, MPI_CHAR, next, 9, before, 9, world, &status);
    is_true("Send", 1, 5, 5);
    is_true("Receive", 0, 0, 5);
}

/* Whom it comes from, and how much, is known only when it is there. */
static void wildcards(void)
{
    MPI_Request request;
    MPI_Message message;
    MPI_Status status;
    int flag = 0;
    MPI_Isend(out, 6, MPI_CHAR, next, 20, world, &request);
    is_true("Send", 1, 6, 0);
    MPI_Recv(in, N, MPI_CHAR, MPI_ANY_SOURCE, 20, world, MPI_STATUS_IGNORE);
    is_true("Receive", 0, 0, 6);
    is_true("Arrive", 0, 0, 6);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    is_true("Wait", 0, 0, 0);
    MPI_Isend(out, 11, MPI_CHAR, next, 21, world, &request);
    is_true("Send", 1, 11, 0);
    MPI_Probe(before, 21, world, &status);
    is_true("Probe", 0, 0, 0);
    MPI_Mprobe(before, MPI_ANY_TAG, world, &message, &status);
    is_true("Probe", 0, 0, 0);
    MPI_Mrecv(in, N, MPI_CHAR, &message, &status);
    is_true("Receive", 0, 0, 11);
    is_true("Arrive", 0, 0, 11);
    while (!flag) {
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        is_true("Test", 0, 0, 0);
    }
}

static void not_blocking(void)
{
    enum { MANY = 40 };
    MPI_Request requests[2 * MANY];
    int done[2 * MANY], n, i;
    for (i = 0; i < MANY; i++) {
        MPI_Irecv(in + i, 1, MPI_DOUBLE, before, i, world, &requests[i]);
        is_true("Receive", 0, 0, D);
        MPI_Isend(out + i, 1, MPI_DOUBLE, next, i, world, &requests[MANY + i]);
        is_true("Send", 1, D, 0);
    }
    MPI_Waitall(2 * MANY, requests, MPI_STATUSES_IGNORE);
    is_true("Wait", 0, 0, MANY * D);
    for (i = 0; i < 3; i++) {
        MPI_Irecv(in + i, 9, MPI_INT, before, i, world, &requests[i]);
        is_true("Receive", 0, 0, 8);
        MPI_Send(out, 2, MPI_INT, next, i, world);
        is_true("Send", 1, 8, 0);
    }
    MPI_Waitany(3, requests, &i, MPI_STATUS_IGNORE);
    is_true("Wait", 0, 0, 8);
    for (int left = 2; left > 0; left -= n) {
        MPI_Waitsome(3, requests, &n, done, MPI_STATUSES_IGNORE);
        is_true("Wait", 0, 0, 8 * n);
    }
}

static void persistent(void)
{
    MPI_Request requests[2];
    MPI_Send_init(out, 4, MPI_DOUBLE, next, 30, world, &requests[0]);
    MPI_Recv_init(in, 4, MPI_DOUBLE, before, 30, world, &requests[1]);
    is_true("Prepare", 0, 0, 0);
    is_true("Prepare", 0, 0, 0);
    for (int i = 0; i < ROUNDS; i++) {
        if (i == 0) {
            MPI_Start(&requests[0]);
            MPI_Start(&requests[1]);
            is_true("Start", 1, 4 * D, 0);
            is_true("Start", 0, 0, 4 * D);
        } else {
            MPI_Startall(2, requests);
            is_true("Start", 1, 4 * D, 4 * D);
        }
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        is_true("Wait", 0, 0, 4 * D);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    is_true("Free", 0, 0, 0);
    is_true("Free", 0, 0, 0);
}

static void collective(void)
{
    int counts[MAX_RANKS], places[MAX_RANKS], all = 0;
    int is_root = rank == 1;
    for (int i = 0; i < size; i++) {
        counts[i] = i + 1;
        places[i] = all;
        all += i + 1;
    }
    MPI_Barrier(world);
    is_true("Barrier", 0, 0, 0);
    MPI_Bcast(out, N, MPI_DOUBLE, 1, world);
    is_true("Broadcast", 0, is_root ? N * D : 0, is_root ? 0 : N * D);
    MPI_Reduce(out, in, 3, MPI_DOUBLE, MPI_SUM, 1, world);
    is_true("Reduce", 0, 3 * D, is_root ? 3 * D : 0);
    MPI_Allreduce(out, in, 2, MPI_DOUBLE, MPI_MAX, world);
    is_true("AllReduce", 0, 2 * D, 2 * D);
    MPI_Allreduce(MPI_IN_PLACE, in, 2, MPI_DOUBLE, MPI_MAX, world);
    is_true("AllReduce", 0, 2 * D, 2 * D);
    MPI_Gather(out, 2, MPI_DOUBLE, in, 2, MPI_DOUBLE, 1, world);
    is_true("Gather", 0, 2 * D, is_root ? 2 * D * size : 0);
    MPI_Gatherv(out, rank + 1, MPI_DOUBLE, in, counts, places, MPI_DOUBLE, 1, world);
    is_true("Gather", 0, (rank + 1) * D, is_root ? all * D : 0);
    MPI_Scatter(out, 2, MPI_DOUBLE, in, 2, MPI_DOUBLE, 1, world);
    is_true("Scatter", 0, is_root ? 2 * D * size : 0, 2 * D);
    MPI_Scatterv(out, counts, places, MPI_DOUBLE, in, rank + 1, MPI_DOUBLE, 1, world);
    is_true("Scatter", 0, is_root ? all * D : 0, (rank + 1) * D);
    MPI_Allgather(out, 2, MPI_INT, in, 2, MPI_INT, world);
    is_true("AllGather", 0, 8, 8 * size);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 2, MPI_INT, world);
    is_true("AllGather", 0, 8, 8 * size);
    MPI_Allgatherv(out, rank + 1, MPI_INT, in, counts, places, MPI_INT, world);
    is_true("AllGather", 0, 4 * (rank + 1), 4 * all);
    MPI_Alltoall(out, 3, MPI_CHAR, in, 3, MPI_CHAR, world);
    is_true("AllToAll", 0, 3 * size, 3 * size);
    for (int i = 0; i < size; i++)
        counts[i] = 2;
    MPI_Alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, world);
    is_true("AllToAll", 0, 8 * size, 8 * size);
    MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, world);
    is_true("ReduceScatter", 0, 8 * size, 8);
    MPI_Reduce_scatter_block(out, in, 2, MPI_INT, MPI_SUM, world);
    is_true("ReduceScatter", 0, 8 * size, 8);
    MPI_Scan(out, in, 2, MPI_INT, MPI_SUM, world);
    is_true("Scan", 0, 8, 8);
    MPI_Exscan(out, in, 1, MPI_INT, MPI_SUM, world);
    is_true("Scan", 0, 4, 4);
    MPI_Request request;
    MPI_Iallreduce(out, in, 2, MPI_DOUBLE, MPI_SUM, world, &request);
    is_true("AllReduce", 0, 2 * D, 2 * D);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    is_true("Wait", 0, 0, 0);
    MPI_Ibarrier(world, &request);
    is_true("Barrier", 0, 0, 0);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    is_true("Wait", 0, 0, 0);
}

/* Halves of the world, a ring as a grid, a datatype of our own. */
static void communicators(void)
{
    MPI_Comm half, copy, ring;
    MPI_Datatype pair;
    int length = size, is_periodic = 1, n;
    MPI_Comm_split(world, rank % 2, rank, &half);
    MPI_Comm_dup(half, &copy);
    MPI_Cart_create(world, 1, &length, &is_periodic, 0, &ring);
    for (int i = 0; i < 3; i++)
        is_true("Create", 0, 0, 0);
    MPI_Comm_size(copy, &n);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Allgather(out, 3, pair, in, 3, pair, copy);
    is_true("AllGather", 0, 24, 24 * n);
    MPI_Neighbor_allgather(out, 1, pair, in, 1, pair, ring);
    is_true("AllGather", 0, 16, 16);
    MPI_Comm_set_name(copy, "my own");
    is_true("Name", 0, 0, 0);
    MPI_Barrier(copy);
    is_true("Barrier", 0, 0, 0);
    MPI_Type_free(&pair);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&half);
    MPI_Comm_free(&ring);
    for (int i = 0; i < 3; i++)
        is_true("Free", 0, 0, 0);
}

static void one_sided(void)
{
    MPI_Win window;
    MPI_Win_create(in, sizeof in, D, MPI_INFO_NULL, world, &window);
    is_true("Create", 0, 0, 0);
    MPI_Win_fence(0, window);
    MPI_Put(out, 5, MPI_DOUBLE, next, 0, 5, MPI_DOUBLE, window);
    is_true("Put", 1, 5 * D, 0);
    MPI_Win_fence(0, window);
    MPI_Get(out, 3, MPI_DOUBLE, next, 0, 3, MPI_DOUBLE, window);
    is_true("Get", 0, 0, 3 * D);
    MPI_Win_fence(0, window);
    MPI_Accumulate(out, 2, MPI_DOUBLE, next, 0, 2, MPI_DOUBLE, MPI_SUM, window);
    is_true("Accumulate", 1, 2 * D, 0);
    MPI_Win_fence(0, window);
    for (int i = 0; i < 4; i++)
        is_true("Synchronise", 0, 0, 0);
    MPI_Win_free(&window);
    is_true("Free", 0, 0, 0);
}

static void files(const char *name)
{
    MPI_File file;
    MPI_Status status;
    MPI_File_open(world, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    is_true("Open", 0, 0, 0);
    MPI_File_write_at(file, rank * N * D, out, N, MPI_DOUBLE, &status);
    is_true("WriteFile", 0, N * D, 0);
    MPI_File_write_at_all(file, rank * N * D, out, N, MPI_DOUBLE, MPI_STATUS_IGNORE);
    is_true("WriteFile", 0, N * D, 0);
    MPI_File_read_at(file, rank * N * D, in, N, MPI_DOUBLE, MPI_STATUS_IGNORE);
    is_true("ReadFile", 0, 0, N * D);
    MPI_File_close(&file);
    is_true("Close", 0, 0, 0);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    is_true("Initialise", 0, 0, 0);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    next = (rank + 1) % size;
    before = (rank + size - 1) % size;
    for (int i = 0; i < ROUNDS; i++) {
        blocking();
        wildcards();
        not_blocking();
        persistent();
        collective();
        communicators();
        one_sided();
        files(argv[1]);
    }
    is_true("Finalise", 0, 0, 0);
    tell_truth();
    MPI_Finalize();
    return 0;
}
