// Elements that a loop gets as copies: what it computes of them is for what they lie in, and is no write of it.
#include "truth.h"

#include <ranges>
#include <vector>

enum { N = 20000 };

static volatile double sink;

NOINLINE static double by_copy(const std::vector<double> &copied)
{
    double sum = 0;
    for (double x : copied)
        sum += x * x * x + sum * 0.001;
    return sum;
}

NOINLINE static double by_view(const std::vector<double> &viewed)
{
    double sum = 0;
    for (double x : viewed | std::views::filter([](double y) { return y > 0.5; }))
        sum += x * x * x + sum * 0.001;
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
    } while (ms < 160);
    return ms;
}

int main()
{
    std::vector<double> u(N, 1.0), v(N), w(N, 1.0);
    for (int i = 0; i < N; i++)
        v[i] = (i * 7919 % 1000) / 1000.0;
    double a = spent([&] { sink = by_copy(u); });
    double b = spent([&] { sink = by_view(v); });
    double c = spent([&] { step(w); });
    double all = a + b + c;
    truth("copied", 100 * a / all);
    truth("viewed", 100 * b / all);
    truth("stepped", 100 * c / all);
    return 0;
}
