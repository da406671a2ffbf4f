// Elements by way of views: no code of the loop names the vector.
#include "truth.h"

#include <ranges>
#include <vector>

enum { N = 65536 };

static volatile double sink;

NOINLINE static double filter(const std::vector<double> &filtered)
{
    double sum = 0;
    for (double x : filtered | std::views::filter([](double y) { return y > 0.5; }) |
                        std::views::transform([](double y) { return y * 2; }))
        sum += x;
    return sum;
}

NOINLINE static void step(std::vector<double> &stepped)
{
    for (double &x : stepped)
        x = x * 0.5 + 1;
}

template <class function> static double spent(function called)
{
    double begin = THREAD_MS(), ms;
    do {
        for (int i = 0; i < 20; i++) {
            AGAIN();
            called();
        }
        ms = THREAD_MS() - begin;
    } while (ms < 200);
    return ms;
}

int main()
{
    std::vector<double> v(N, 1.0), w(N, 1.0);
    double a = spent([&] { sink = filter(v); });
    double b = spent([&] { step(w); });
    truth("filtered", 100 * a / (a + b));
    truth("stepped", 100 * b / (a + b));
    return 0;
}
