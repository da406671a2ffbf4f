/* Messages from several places: statements of one line, inlined functions, a macro, a function that ends by a jump to MPI, loops; of arrays, fields
 * and what parameters lead to. Each rank prints what it did: "array NAME messages bytes", "function NAME ...", "line NUMBER ...". */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { N = 4096, MOST = 64 };
struct field {
    double inner[N], edge[64];
};
static double left[N], right[N], got[N], totals[16];
static struct field field;
static int rank, n_ranks;

static struct {
    char what[48];
    long messages, bytes;
} truth[MOST];

static void note(const char *what, long messages, long bytes)
{
    int i = 0;
    while (i < MOST && truth[i].what[0] && strcmp(truth[i].what, what) != 0)
        i++;
    if (i == MOST)
        return;
    snprintf(truth[i].what, sizeof truth[i].what, "%s", what);
    truth[i].messages += messages;
    truth[i].bytes += bytes;
}
static void note_line(int line_no, long messages, long bytes)
{
    char what[32];
    snprintf(what, sizeof what, "line %d", line_no);
    note(what, messages, bytes);
}
/* The call that is on the same line: of which array, in which function. */
#define SENDS(array, function, n)               \
    note("array " array, 1, 8 * (n));           \
    note("function " function, 1, 8 * (n));     \
    note_line(__LINE__, 1, 8 * (n));
#define EXCHANGE(array, count, tag)                                                            \
    MPI_Sendrecv(array, count, MPI_DOUBLE, (rank + 1) % n_ranks, tag, got, N, MPI_DOUBLE,      \
                 (rank + n_ranks - 1) % n_ranks, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE)

static inline __attribute__((always_inline)) void swap_edges(double *of, int n)
{
    MPI_Request requests[2];
    int next = (rank + 1) % n_ranks, before = (rank + n_ranks - 1) % n_ranks;
    MPI_Irecv(got, n, MPI_DOUBLE, before, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(of, n, MPI_DOUBLE, next, 1, MPI_COMM_WORLD, &requests[1]); note_line(__LINE__, 1, 8 * n); note("function swap_edges", 1, 8 * n);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void hand_down(const double *from, int n) /* may be inlined, and called from inlined code */
{
    if (rank == 0) { MPI_Send(from, n, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD); note_line(__LINE__, 1, 8 * n); note("function hand_down", 1, 8 * n); }
    if (rank == 1)
        MPI_Recv(got, n, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

__attribute__((noinline)) static int meet(void)
{
    return MPI_Barrier(MPI_COMM_WORLD); /* by a jump */
}

__attribute__((noinline)) static void step(int i)
{
    swap_edges(left, 64); note("array left", 1, 512);
    for (int k = 0; k < N; k++)
        left[k] = left[k] * 0.5 + got[k & 63];
    swap_edges(right, 16); note("array right", 1, 128);
    if (i % 4 == 0)
        meet();
    EXCHANGE(left, 3, 3); SENDS("left", "step", 3)
    for (int k = 0; k < 2; k++)
        EXCHANGE(field.edge, 5, 4);
    note("function step", 2, 80); note_line(__LINE__ - 1, 2, 80);
    hand_down(right, 8); if (rank == 0) note("array right", 1, 64);
    MPI_Allreduce(left, totals, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); note_line(__LINE__, 0, 32); note("function step", 0, 32); note("array left", 0, 32);
}

int main(int argc, char **argv)
{
    static char text[1 << 12];
    size_t n = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    for (int i = 0; i < 100; i++)
        step(i);
    for (int i = 0; i < MOST && truth[i].what[0]; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s %ld %ld\n", truth[i].what, truth[i].messages, truth[i].bytes);
    fwrite(text, 1, n, stdout);
    fflush(stdout);
    MPI_Finalize();
    return totals[0] < 0;
}
