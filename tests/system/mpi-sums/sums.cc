/* As sums.c, in C++: references, methods, containers, spans of raw memory, lambdas. */
#include <cstdio>
#include <memory>
#include <mpi.h>
#include <numeric>
#include <vector>

#define KEPT __attribute__((noinline))
static int rank, n_ranks;

KEPT void send_one(double value)
{
    double other = 0;
    MPI_Sendrecv(&value, 1, MPI_DOUBLE, (rank + 1) % n_ranks, 1, &other, 1, MPI_DOUBLE, (rank + n_ranks - 1) % n_ranks, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

KEPT double total(const std::vector<double> &values, int n)
{
    double all = 0;
    for (int i = 0; i < n; i++) {
        all += std::accumulate(values.begin(), values.end(), 0.0);
        send_one(all);
    }
    return all;
}

KEPT double norm(const std::vector<double> &values)
{
    return total(values, 1) + total(values, 2);
}

template <class T> KEPT double by_template(const T &values)
{
    double all = 0;
    for (double x : values)
        all += x;
    send_one(all);
    return all;
}

KEPT void scale(std::vector<double> &values, double by)
{
    for (auto &x : values)
        x *= by;
    send_one(by);
}

std::vector<double> left(1000, 1), right(1000, 2), edges(1000, 3);

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    std::vector<double> local(1000, 4);
    double t = 0;
    auto twice = [&](const std::vector<double> &values) { return 2 * total(values, 2); };
    for (int i = 0; i < 7; i++) {
        t += total(left, 3);
        if (i % 2)
            t -= total(right, 5);
        t += norm(edges);
        t += norm(local);
        t += by_template(right);
        t += twice(left);
        scale(edges, 0.5);
        send_one(t);
    }
    std::printf("array left %d\narray right %d\narray edges %d\narray local %d\nwrites edges %d\n", 7 * 5, 3 * 5 + 7, 7 * 4, 7 * 3, 7);
    if (t == 42)
        std::puts("!");
    MPI_Finalize();
}
