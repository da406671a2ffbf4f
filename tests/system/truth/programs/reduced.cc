// What a lambda does with elements that the library hands it: its statement names no array, and the compiler leaves the time there.
#include "truth.h"

#include <numeric>
#include <vector>

enum { N = 65536 };

static volatile double sink;
static long n_called;

NOINLINE static double reduce(const std::vector<double> &reduced)
{
    return std::accumulate(reduced.begin(), reduced.end(), 0.0, [](double a, double b) {
        n_called++;
        return a + b * 0.5;
    });
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
    double a = spent([&] { sink = reduce(v); });
    double b = spent([&] { step(w); });
    truth("reduced", 100 * a / (a + b));
    truth("stepped", 100 * b / (a + b));
    return 0;
}
