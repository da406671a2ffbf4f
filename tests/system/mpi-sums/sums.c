/* The same functions work on different arrays, and send messages meanwhile. Each rank prints how many it sent while what was read: "array NAME
 * messages", "line NUMBER messages" (of calls in main). */
#include "sums.h"
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1000, MOST = 64 };
double left[N], right[N], third[N];
static double edges[N], inner[N], first[N], second[N];
static int rank, n_ranks;

static struct {
    char what[48];
    long messages;
} truth[MOST];

static void note(const char *kind, const char *name, long messages)
{
    char what[48];
    int i = 0;
    snprintf(what, sizeof what, "%s %s", kind, name);
    while (i < MOST && truth[i].what[0] && strcmp(truth[i].what, what) != 0)
        i++;
    if (i == MOST)
        abort();
    strcpy(truth[i].what, what);
    truth[i].messages += messages;
}
static void note_line(int line_no, long messages)
{
    char text[16];
    snprintf(text, sizeof text, "%d", line_no);
    note("line", text, messages);
}
#define OF(array, messages) note("array", #array, messages), note_line(__LINE__, messages)

void send_one(double value)
{
    double other = 0;
    MPI_Sendrecv(&value, 1, MPI_DOUBLE, (rank + 1) % n_ranks, 1, &other, 1, MPI_DOUBLE,
                 (rank + n_ranks - 1) % n_ranks, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* One call each, of one array. */
static KEPT double sum(const double *values, int n)
{
    double all = 0;
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < N; k++)
            all += values[k];
        send_one(all);
    }
    return all;
}

/* Two arrays. */
static KEPT double dot(const double *a, const double *b)
{
    double all = 0;
    for (int k = 0; k < N; k++)
        all += a[k] * b[k];
    send_one(all);
    return all;
}

/* Passes on what it got. */
static KEPT double norm(const double *values)
{
    return dot(values, values) + sum(values, 2);
}

/* Calls itself: the outermost call tells. */
static KEPT double halves(const double *values, int n)
{
    if (n < 250) {
        send_one(values[0]);
        return values[0];
    }
    return halves(values, n / 2) + halves(values + n / 2, n / 2);
}

/* What is inlined, or not, as the compiler likes. */
static double scaled(const double *values, double by)
{
    return by * sum(values, 1);
}

static void scale(double *values, double by)
{
    for (int k = 0; k < N; k++)
        values[k] *= by;
    send_one(by);
}

/* Gets its arrays both ways round: which of them it writes is known within bounds. */
static KEPT void blend(const double *in, double *out)
{
    for (int k = 0; k < N; k++)
        out[k] = 0.5 * (out[k] + in[k]);
    send_one(out[0]);
}

int main(int argc, char **argv)
{
    double t = 0;
    double (*which)(const double *, int) = argc > 5 ? sum_elsewhere : sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    for (int k = 0; k < N; k++)
        left[k] = k, right[k] = 2 * k, third[k] = edges[k] = inner[k] = 1;
    for (int i = 0; i < 7; i++) {
        t += sum(left, 3); OF(left, 3);
        if (i % 2)
            t -= sum(right, 5), OF(right, 5);
        t += dot(left, third), note("array", "left", 1), note("array", "third", 1), note_line(__LINE__, 1);
        t += norm(edges); OF(edges, 3);
        t += norm(inner) + 1; OF(inner, 3);
        t += halves(third, N); OF(third, 8);
        t += scaled(right, 0.5); OF(right, 1);
        t += which(inner, 2); OF(inner, 2);
        t += sum_elsewhere(third, 4); OF(third, 4);
        t += sum_elsewhere(edges, 1); OF(edges, 1);
        scale(edges, 0.5); note_line(__LINE__, 1); note("writes", "edges", 1); note("array", "edges", 1);
        blend(first, second); note_line(__LINE__, 1); note("array", "first", 1); note("array", "second", 1); note("writes", "second", 1);
        if (i % 3 == 0)
            blend(second, first), note_line(__LINE__, 1), note("array", "first", 1), note("array", "second", 1), note("writes", "first", 1);
        send_one(t); note_line(__LINE__, 1); note("array", "nothing", 1);
    }
    for (int i = 0; i < MOST && truth[i].what[0]; i++)
        printf("%s %ld\n", truth[i].what, truth[i].messages);
    if (t == 42)
        puts("!");
    MPI_Finalize();
    return 0;
}
