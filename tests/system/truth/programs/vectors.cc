/* Containers of C++ are arrays by the variable that holds them. Each function has the whole time of one. */
#include "truth.h"

#include <array>
#include <memory>
#include <numeric>
#include <vector>

enum { N = 2048 };

static volatile double sink;

struct grid {
    std::vector<double> cells;

    NOINLINE void smooth(int times)
    {
        while (times-- > 0)
            for (int i = 1; i < N; i++)
                cells[i] = cells[i - 1] * 0.5 + 1;
    }
};

NOINLINE static void scatter(std::vector<int> &dst, const std::vector<int> &src, int times)
{
    while (times-- > 0)
        for (size_t i = 0; i < src.size(); i++)
            dst[src[i]] += i;
}

NOINLINE static void add_up(const std::vector<double> &values, int times)
{
    double sum = 0;
    while (times-- > 0)
        for (double value : values)
            sum += value;
    sink = sum;
}

NOINLINE static void fill(std::array<float, N> &level, int times)
{
    while (times-- > 0) {
        for (int i = 0; i < N; i++)
            level[i] = i * 2.0f + times;
        __asm__ volatile("" : : : "memory");
    }
}

NOINLINE static void count(std::unique_ptr<int[]> &counts, int times)
{
    while (times-- > 0) {
        for (int i = 0; i < N; i++)
            counts[i] += 3;
        __asm__ volatile("" : : : "memory");
    }
}

template <class function> static double measured(function called)
{
    double begin = clock_ms(CLOCK_THREAD_CPUTIME_ID);
    called();
    return clock_ms(CLOCK_THREAD_CPUTIME_ID) - begin;
}

int main()
{
    std::vector<int> to(N), from(N);
    std::vector<double> numbers(N, 1.0);
    static std::array<float, N> heights;
    auto owned = std::make_unique<int[]>(N);
    grid g;
    g.cells.resize(N, 2);
    std::iota(from.begin(), from.end(), 0);
    double dst = measured([&] { scatter(to, from, 50000); });
    double values = measured([&] { add_up(numbers, 30000); });
    double level = measured([&] { fill(heights, 60000); });
    double counts = measured([&] { count(owned, 60000); });
    double cells = measured([&] { g.smooth(20000); });
    double percent = 100 / (dst + values + level + counts + cells);
    truth("dst", dst * percent);
    truth("values", values * percent);
    truth("level", level * percent);
    truth("counts", counts * percent);
    truth("cells", cells * percent);
    return 0;
}
