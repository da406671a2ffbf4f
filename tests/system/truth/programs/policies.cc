// Algorithms with execution policies: what they write to is one argument further.
// Without threads: TBB may be missing.
#define _GLIBCXX_USE_TBB_PAR_BACKEND 0
#include "truth.h"

#include <algorithm>
#include <execution>
#include <numeric>
#include <vector>

#ifdef __OPTIMIZE__
enum { N = 20000, ROUNDS = 1000 };
#else
enum { N = 20000, ROUNDS = 200 };
#endif
static volatile double sink;

NOINLINE static void copy(const std::vector<double> &source, std::vector<double> &copied, int times)
{
    for (; times > 0; times--)
        std::copy(std::execution::par, source.begin(), source.end(), copied.begin()); // @copy
}

NOINLINE static void join(const std::vector<double> &one, const std::vector<double> &other, std::vector<double> &joined, int times)
{
    for (; times > 0; times--)
        std::transform(std::execution::par_unseq, one.begin(), one.end(), other.begin(), joined.begin(), [](double a, double b) { return a * 0.5 + b; });
}

NOINLINE static void scale(std::vector<double> &scaled, int times)
{
    for (; times > 0; times--)
        std::for_each(std::execution::seq, scaled.begin(), scaled.end(), [](double &x) { x = x * 0.5 + 1; });
}

NOINLINE static void add_up(const std::vector<double> &summed, int times)
{
    double sum = 0;
    for (; times > 0; times--)
        sum += std::reduce(std::execution::unseq, summed.begin(), summed.end());
    sink = sum;
}

int main()
{
    std::vector<double> source(N, 1.5), copied(N), one(N, 1), other(N, 2), joined(N), scaled(N, 3), summed(N, 4);
    double t0 = PROCESS_MS();
    copy(source, copied, 20 * ROUNDS);
    double t1 = PROCESS_MS();
    join(one, other, joined, 6 * ROUNDS);
    double t2 = PROCESS_MS();
    scale(scaled, 4 * ROUNDS);
    double t3 = PROCESS_MS();
    add_up(summed, 4 * ROUNDS);
    double percent = 100 / (PROCESS_MS() - t0);
    truth("copied", (t1 - t0) * percent);
    truth("joined", (t2 - t1) * percent);
    truth("scaled", (t3 - t2) * percent);
    truth("summed", 100 - (t3 - t0) * percent);
    return 0;
}
