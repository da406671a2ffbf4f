// References to containers: what is done through iterators, range-for and algorithms is asked of the reference.
#include "truth.h"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

enum { N = 16384 };

static std::vector<unsigned> of_sums(N, 3);
__attribute__((used)) static std::array<int, N> of_ranges;
static std::vector<long> of_lambdas(N);
static std::span<long> through(of_lambdas);
static volatile double sink;

NOINLINE static void by_iterator(int times)
{
    while (times-- > 0) {
        std::vector<unsigned> &sums = of_sums;
        unsigned sum = 0;
        for (auto it = std::begin(sums); it != std::end(sums); ++it)
            sum += *it;
        sink = sum;
        AGAIN();
    }
}

// The address is a constant: the reference is gone before the compiler has statements.
NOINLINE static void by_range(int times)
{
    while (times-- > 0) {
        std::array<int, N> &cells = of_ranges;
        for (auto &cell : cells)
            cell += times;
        AGAIN();
    }
}

// Inlined: the code has the address of what `passed` refers to.
static void add(int times, std::span<long> &passed)
{
    std::for_each(std::begin(passed), std::end(passed), [&](auto &e) { e += times; });
}

NOINLINE static void by_lambda(int times)
{
    while (times-- > 0) {
        add(times, through);
        AGAIN();
    }
}

template <class F> static double measured(F function, int times)
{
    double begin = THREAD_MS();
    function(times);
    return THREAD_MS() - begin;
}

int main()
{
    double sums = measured(by_iterator, 30000), cells = measured(by_range, 40000), lambdas = measured(by_lambda, 20000);
    double percent = 100 / (sums + cells + lambdas);
    truth("sums", sums * percent);
    truth("cells", cells * percent);
    truth("lambdas", lambdas * percent);
    return 0;
}
