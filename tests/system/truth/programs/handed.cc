/* Elements that C++'s library hands to function objects, and objects of template classes. Each function has the whole time of one. */
#include "truth.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

enum { N = 4096 };

static volatile double sink;

template <class value> struct bank {
    value cells[N];

    NOINLINE void earn(value rate)
    {
        for (int i = 0; i < N; i++)
            cells[i] = cells[i] * rate + 1;
    }
};

template <class value> struct heap_bank {
    std::unique_ptr<value[]> owned{new value[N]()};

    NOINLINE void earn(value rate)
    {
        for (int i = 0; i < N; i++)
            owned[i] = owned[i] * rate + 1;
    }
};

/* Its operator[] calls the library, which calls back. */
template <class key, class value> struct flat_map {
    std::vector<std::pair<key, value>> rows;

    value &operator[](const key &wanted)
    {
        return std::lower_bound(rows.begin(), rows.end(), wanted, [](const auto &row, const key &k) { return row.first < k; })->second;
    }
};

static bank<double> at_large;

NOINLINE static void raise_each(std::vector<double> &each, double by)
{
    std::for_each(each.begin(), each.end(), [by](double &x) { x = x * by + 1; });
}

NOINLINE static double add_each(std::vector<double> &added)
{
    double sum = 0;
    std::for_each(added.begin(), added.end(), [&sum](const double &x) { sum += x; });
    return sum;
}

NOINLINE static void convert(const std::vector<double> &from, std::vector<double> &to, double by)
{
    std::transform(from.begin(), from.end(), to.begin(), [by](auto x) { return x * by + 1; });
}

NOINLINE static void feed(const std::function<void(double &)> &change, double *fed)
{
    for (int i = 0; i < N; i++)
        change(fed[i]);
}

NOINLINE static void count(flat_map<int, int> &counted)
{
    for (int i = 0; i < N; i++)
        counted[i & 63]++;
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

/* As often as takes 70 ms. */
template <class function> static double spent(function called)
{
    double once = measured(20, called);
    int times = int(70 / (once / 20)) + 1;
    return once + measured(times, called);
}

int main()
{
    static bank<float> at_home;
    static double fed[N];
    heap_bank<double> away;
    std::vector<double> each(N, 1.0), added(N, 1.0), from(N, 1.0), to(N);
    flat_map<int, int> counted;
    for (int i = 0; i < 64; i++)
        counted.rows.push_back({i, 0});
    double by = 0.5;
    std::function<void(double &)> change = [&by](double &x) { x = x * by + 1; };
    double ms[] = {
        spent([&] { at_large.earn(0.5); }),
        spent([&] { at_home.earn(0.5f); }),
        spent([&] { away.earn(0.5); }),
        spent([&] { raise_each(each, 0.5); }),
        spent([&] { sink = add_each(added); }),
        spent([&] { convert(from, to, 0.5); }),
        spent([&] { feed(change, fed); }),
        spent([&] { count(counted); }),
    };
    static const char *const names[] = {"at_large", "at_home", "away", "each", "added", "converted", "fed", "counted"};
    double all = 0;
    for (double part : ms)
        all += part;
    for (int i = 0; i < 8; i++)
        truth(names[i], 100 * ms[i] / all);
    return 0;
}
