/* What programs seldom do: ranks that get nothing of a split, many neighbours, many tags, files
 * between windows, an error handler that jumps away. */
#include "truth.h"

#include <mpi.h>
#include <setjmp.h>
#include <stdlib.h>
#include <unistd.h>

enum { N_NEIGHBOURS = 100, N_TAGS = 6000 };

static int rank, size;
static int out[N_NEIGHBOURS], in[N_NEIGHBOURS];
static const MPI_Comm world = MPI_COMM_WORLD;

/* Rank 0 has no part in the first one, and is late in the second. */
static __attribute__((noinline)) void parts(void)
{
    MPI_Comm some, all;
    MPI_Comm_split(world, rank == 0 ? MPI_UNDEFINED : 1, rank, &some);
    MPI_Comm_split(world, 1, rank, &all);
    is_true("Create", 0, 0, 0);
    is_true("Create", 0, 0, 0);
    if (rank == 0)
        usleep(100000);
    else {
        MPI_Barrier(some);
        is_true("Barrier", 0, 0, 0);
    }
    MPI_Barrier(all);
    is_true("Barrier", 0, 0, 0);
    MPI_Comm_free(&all);
    is_true("Free", 0, 0, 0);
    if (rank == 0)
        return;
    MPI_Comm_free(&some);
    is_true("Free", 0, 0, 0);
}

/* Each rank is its own neighbour, a hundred times. */
static void neighbours(void)
{
    MPI_Comm graph;
    int self[N_NEIGHBOURS], counts[N_NEIGHBOURS], places[N_NEIGHBOURS];
    for (int i = 0; i < N_NEIGHBOURS; i++) {
        self[i] = rank;
        counts[i] = 1;
        places[i] = i;
    }
    MPI_Dist_graph_create_adjacent(world, N_NEIGHBOURS, self, MPI_UNWEIGHTED, N_NEIGHBOURS, self,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    is_true("Create", 0, 0, 0);
    MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, graph);
    is_true("AllToAll", 0, 4 * N_NEIGHBOURS, 4 * N_NEIGHBOURS);
    MPI_Neighbor_alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, graph);
    is_true("AllToAll", 0, 4 * N_NEIGHBOURS, 4 * N_NEIGHBOURS);
    MPI_Comm_free(&graph);
    is_true("Free", 0, 0, 0);
}

/* A grid that ends at its edges. */
static void grid(void)
{
    MPI_Comm line;
    int ends = 0, n_near = (rank > 0) + (rank < size - 1);
    MPI_Cart_create(world, 1, &size, &ends, 0, &line);
    is_true("Create", 0, 0, 0);
    MPI_Neighbor_allgather(out, 2, MPI_INT, in, 2, MPI_INT, line);
    is_true("AllGather", 0, 8 * n_near, 8 * n_near);
    MPI_Comm_free(&line);
    is_true("Free", 0, 0, 0);
}

static void tags(void)
{
    for (int tag = 0; tag < N_TAGS; tag++) {
        MPI_Sendrecv(out, 1, MPI_INT, rank, tag, in, 1, MPI_INT, rank, tag, world,
                     MPI_STATUS_IGNORE);
        is_true("Send", 1, 4, 4);
        is_true("Receive", 0, 0, 4);
    }
}

static void windows(const char *name)
{
    MPI_File file;
    MPI_Win window;
    for (int i = 0; i < 2; i++) {
        MPI_File_open(world, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
        is_true("Open", 0, 0, 0);
        MPI_File_close(&file);
        is_true("Close", 0, 0, 0);
        MPI_Win_create(in, sizeof in, 4, MPI_INFO_NULL, world, &window);
        is_true("Create", 0, 0, 0);
        MPI_Win_free(&window);
        is_true("Free", 0, 0, 0);
    }
}

static jmp_buf before;

static void jump(MPI_Comm *comm, int *error, ...)
{
    (void)comm;
    longjmp(before, *error);
}

/* Deeper on the stack than the call that was left. */
static __attribute__((noinline)) int send_deeply(int depth)
{
    volatile char room[512] = {0};
    if (depth > 0)
        return send_deeply(depth - 1) + room[depth];
    MPI_Send(out, 1, MPI_INT, MPI_PROC_NULL, 1, world);
    is_true("Send", 0, 0, 0);
    return room[0];
}

static void errors(void)
{
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(jump, &handler);
    MPI_Comm_set_errhandler(world, handler);
    is_true("Send", 0, 0, 0);
    if (setjmp(before) == 0)
        MPI_Send(out, 1, MPI_INT, size + 7, 1, world);
    for (int i = 0; i < 10; i++)
        (void)send_deeply(20);
    MPI_Comm_set_errhandler(world, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    is_true("Initialise", 0, 0, 0);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    parts();
    neighbours();
    grid();
    tags();
    windows(argv[1]);
    errors();
    is_true("Finalise", 0, 0, 0);
    tell_truth();
    MPI_Finalize();
    return 0;
}
