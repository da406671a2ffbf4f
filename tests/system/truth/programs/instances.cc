// A template with three instances, lambdas, std::function, std::sort with a comparison of its own.
#include "truth.h"

#include <algorithm>
#include <functional>
#include <vector>

namespace {
long n_lambda, n_compare;

template <int n> NOINLINE void spend(int times)
{
    for (int i = 0; i < times; i++)
        BURN(n);
}

NOINLINE int apply(const std::function<int(int)> &what, int to)
{
    int sum = 0;
    for (int i = 0; i < to; i++)
        sum += what(i);
    return sum;
}
} // namespace

int main()
{
    int seen = 0;
    std::vector<int> numbers(200);
    double sorting = 0, all = THREAD_MS();
    for (int turn = 0; turn < 400; turn++) {
        spend<1>(20);
        spend<2>(20);
        spend<5>(20);
        seen += apply(
            [&](int i) {
                n_lambda++;
                BURN(4); // @lambda
                return i + seen % 3;
            },
            10);
        double start = THREAD_MS();
        for (int i = 0; i < 200; i++)
            numbers[static_cast<size_t>(i)] = i * 7919 % 200;
        std::sort(numbers.begin(), numbers.end(), [](int a, int b) {
            n_compare++;
            return a < b;
        });
        sorting += THREAD_MS() - start;
    }
    all = THREAD_MS() - all;
    double units = (all - sorting) / 200; // a turn: 20 + 40 + 100 + 40
    truth("one", 100 * 20 * units / all);
    truth("two", 100 * 40 * units / all);
    truth("five", 100 * 100 * units / all);
    truth("closure", 100 * 40 * units / all);
    truth("n_lambda", n_lambda);
    return seen == 0;
}
