// Data by way of the user's own views, rows that are made for a[i][j], classes with a bare pointer, queues of the library and std::variant; what
// callers passed is asked for as well. Each function has the whole time of one.
#include "truth.h"

#include <algorithm>
#include <queue>
#include <variant>
#include <vector>

enum { N = 4096, SIDE = 64 };

static volatile double sink;

template <class type> struct window {
    type *p;
    size_t n;

    type &operator[](size_t i) const { return p[i]; }
};

struct plane {
    double *p;
    size_t columns;

    double &operator()(size_t i, size_t j) { return p[i * columns + j]; }
};

struct board {
    std::vector<double> cells = std::vector<double>(N);
    struct row {
        double *p;
        double &operator[](size_t j) { return p[j]; }
    };
    row operator[](size_t i) { return {cells.data() + i * SIDE}; }
};

struct bare {
    double *p = new double[N]();
    double &operator[](int i) { return p[i]; }
};

NOINLINE static void slide(window<double> seen)
{
    for (size_t i = 0; i < seen.n; i++)
        seen[i] = seen[i] * 0.5 + 1;
}

NOINLINE static void fly(plane wide)
{
    for (size_t i = 0; i < SIDE; i++)
        for (size_t j = 0; j < wide.columns; j++)
            wide(i, j) = wide(i, j) * 0.5 + 1;
}

NOINLINE static void play(board &chess)
{
    for (size_t i = 0; i < SIDE; i++)
        for (size_t j = 0; j < SIDE; j++)
            chess[i][j] = chess[i][j] * 0.5 + 1;
}

NOINLINE static void strip(bare &plain)
{
    for (int i = 0; i < N; i++)
        plain[i] = plain[i] * 0.5 + 1;
}

NOINLINE static void rank(std::priority_queue<int> &heap)
{
    for (int i = 0; i < 500; i++)
        heap.push(i * 7 % 501);
    while (!heap.empty())
        heap.pop();
}

NOINLINE static void choose(std::variant<int, std::vector<double>> &choice)
{
    for (double &x : std::get<std::vector<double>>(choice))
        x = x * 0.5 + 1;
}

/* Ends with a jump to the library. */
NOINLINE static void hand_over(std::vector<double> &taken, const std::vector<double> &given)
{
    std::copy(given.begin(), given.end(), taken.begin());
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

/* As often as takes 80 ms. */
template <class function> static double spent(function called)
{
    double once = measured(20, called);
    int times = int(80 / (once / 20));
    return once + measured(times, called);
}

int main()
{
    std::vector<double> narrow(N), broad(N), taken(8 * N), given(8 * N);
    board squares;
    bare naked;
    std::priority_queue<int> ranks;
    std::variant<int, std::vector<double>> either(std::vector<double>(N, 1.0));
    double ms[] = {
        spent([&] {
            slide({narrow.data(), N});
        }),
        spent([&] {
            fly({broad.data(), SIDE});
        }),
        spent([&] { play(squares); }),
        spent([&] { strip(naked); }),
        spent([&] { rank(ranks); }),
        spent([&] { choose(either); }),
        spent([&] { hand_over(taken, given); }),
    };
    static const char *const names[] = {"slid",   "flown",  "played", "stripped",
                                        "ranked", "chosen", "handed"};
    double all = 0;
    for (double part : ms)
        all += part;
    for (int i = 0; i < 7; i++)
        truth(names[i], 100 * ms[i] / all);
    sink = all;
    return 0;
}
