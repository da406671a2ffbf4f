/* Containers in containers: what is done with an element, by whoever gets it, is done with the container around it. */
#include "truth.h"

#include <algorithm>
#include <variant>
#include <vector>

enum { N = 64, WIDTH = 64 };

struct circle {
    double r;
};

struct box {
    double a, b;
};

typedef std::vector<double> row;
typedef std::variant<circle, box> shape;

NOINLINE static void raise(row &raised, double by)
{
    for (int i = 0; i < WIDTH; i++)
        raised[i] = raised[i] * by + 1;
}

NOINLINE static void by_call(std::vector<row> &grid)
{
    for (auto &each : grid)
        raise(each, 0.5);
}

NOINLINE static void by_lambda(std::vector<row> &table, double by)
{
    for (auto &line : table)
        std::for_each(line.begin(), line.end(), [by](double &x) { x = x * by + 1; });
}

NOINLINE static void by_visit(std::vector<shape> &shapes, double by)
{
    for (auto &one : shapes)
        std::visit(
            [by](auto &of) {
                if constexpr (sizeof of == sizeof(double))
                    of.r = of.r * by + 1;
                else
                    of.a = of.a * by + of.b;
            },
            one);
}

NOINLINE static double by_look(const std::vector<shape> &seen)
{
    double sum = 0;
    for (auto &one : seen)
        sum += std::visit(
            [](auto &of) {
                if constexpr (sizeof of == sizeof(double))
                    return of.r * of.r;
                else
                    return of.a * of.b;
            },
            one);
    return sum;
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
    int times = int(120 / (once / 20)) + 1;
    return once + measured(times, called);
}

int main()
{
    static volatile double sink;
    std::vector<row> grid(N, row(WIDTH)), table(N, row(WIDTH));
    std::vector<shape> shapes, seen;
    for (int i = 0; i < N * WIDTH / 2; i++)
        if (i & 1)
            shapes.push_back(circle{1}), seen.push_back(box{1, 2});
        else
            shapes.push_back(box{1, 2}), seen.push_back(circle{1});
    double ms[] = {
        spent([&] { by_call(grid); }),
        spent([&] { by_lambda(table, 0.5); }),
        spent([&] { by_visit(shapes, 0.5); }),
        spent([&] { sink = by_look(seen); }),
    };
    static const char *const names[] = {"grid", "table", "shapes", "seen"};
    double all = 0;
    for (double part : ms)
        all += part;
    for (int i = 0; i < 4; i++)
        truth(names[i], 100 * ms[i] / all);
    return 0;
}
