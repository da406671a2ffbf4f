// Containers: what is read and written through them belongs to the variable that holds them.
#include "truth.h"

#include <array>
#include <memory>
#include <vector>

namespace {
constexpr size_t N = 3000;

NOINLINE long total(const std::vector<int> &source)
{
    long sum = 0;
    for (size_t i = 0; i < source.size(); i++) // @walk
        sum += source[i];
    return sum;
}

NOINLINE void fill(std::vector<int> &target, int value)
{
    for (size_t i = 0; i < target.size(); i++)
        target[i] = value;
}

NOINLINE long table_sum(const std::array<long, N> &table)
{
    long sum = 0;
    for (size_t i = 0; i < N; i++)
        sum += table[i];
    return sum;
}

NOINLINE void mark(const std::unique_ptr<double[]> &weights, double value)
{
    for (size_t i = 0; i < N; i++)
        weights[i] = value;
}
} // namespace

int main()
{
    std::vector<int> source(N, 2), target(N);
    static std::array<long, N> table;
    auto weights = std::make_unique<double[]>(N);
    double ms[4] = {0}, all = THREAD_MS();
    long sum = 0;
    while (THREAD_MS() - all < 400) {
        double start = THREAD_MS(), end;
        for (int k = 0; k < 120; k++) {
            AGAIN();
            sum += total(source);
        }
        ms[0] += (end = THREAD_MS()) - start;
        start = end;
        for (int k = 0; k < 120; k++) {
            AGAIN();
            fill(target, k);
        }
        ms[1] += (end = THREAD_MS()) - start;
        start = end;
        for (int k = 0; k < 120; k++) {
            AGAIN();
            sum += table_sum(table);
        }
        ms[2] += (end = THREAD_MS()) - start;
        start = end;
        for (int k = 0; k < 120; k++) {
            AGAIN();
            mark(weights, k);
        }
        ms[3] += (end = THREAD_MS()) - start;
    }
    all = THREAD_MS() - all;
    const char *names[] = {"source", "target", "table", "weights"};
    for (int i = 0; i < 4; i++)
        truth(names[i], 100 * ms[i] / all);
    return sum == 0;
}
