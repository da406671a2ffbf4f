/* Algorithms of the library: what works through iterators of a container counts for the container. Each function has the whole time of one. */
#include "truth.h"

#include <algorithm>
#include <numeric>
#include <vector>

enum { N = 4096 };

static volatile double sink;

NOINLINE static void order(std::vector<int> &keys)
{
    for (size_t i = 0; i < keys.size(); i++)
        keys[i] = int(i * 7919 % 4093);
    std::sort(keys.begin(), keys.end());
}

NOINLINE static void add_up(const std::vector<double> &values)
{
    sink = std::accumulate(values.begin(), values.end(), 0.0);
}

NOINLINE static void paint(std::vector<float> &canvas, float colour)
{
    std::fill(canvas.begin(), canvas.end(), colour);
}

NOINLINE static void scale(const std::vector<double> &input, std::vector<double> &output)
{
    std::transform(input.begin(), input.end(), output.begin(),
                   [](double x) { return x * 1.5 + 2; });
}

NOINLINE static void search(const std::vector<long> &haystack)
{
    sink = double(std::count(haystack.begin(), haystack.end(), 17L));
}

NOINLINE static void scatter(std::vector<int> &target, const std::vector<int> &index)
{
    for (size_t i = 0; i < index.size(); i++)
        target[index[i]] += i;
}

template <class function> static double measured(int times, function called)
{
    double begin = THREAD_MS();
    while (times-- > 0) {
        AGAIN();
        called();
    }
    return THREAD_MS() - begin;
}

/* As often as takes 120 ms. */
template <class function> static double spent(function called)
{
    double once = measured(20, called);
    int times = int(120 / (once / 20));
    return once + measured(times, called);
}

int main()
{
    std::vector<int> keys(N), target(N), index(N);
    std::vector<double> values(N, 1.0), input(N, 2.0), output(N);
    std::vector<float> canvas(N);
    std::vector<long> haystack(N, 3);
    std::iota(index.begin(), index.end(), 0);
    double a = spent([&] { order(keys); });
    double b = spent([&] { add_up(values); });
    double c = spent([&] { paint(canvas, 2.5f); });
    double d = spent([&] { scale(input, output); });
    double e = spent([&] { search(haystack); });
    double f = spent([&] { scatter(target, index); });
    double percent = 100 / (a + b + c + d + e + f);
    truth("keys", a * percent);
    truth("values", b * percent);
    truth("canvas", c * percent);
    truth("output", d * percent);
    truth("haystack", e * percent);
    truth("target", f * percent);
    return 0;
}
