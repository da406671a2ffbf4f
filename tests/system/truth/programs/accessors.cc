// Arrays within objects of the user's own classes, which operator[], at(), operator() and front() return references into: of an inlined accessor nothing but an address is left.
#include "truth.h"
#include <cstddef>

enum { N = 1024 };
static volatile double sink;

struct grid {
    double cells[N];
    double &operator[](size_t i) { return cells[i]; }
};

template <class T, size_t M> class fixed {
    T items[M];
  public:
    T &at(size_t i) { return items[i]; }
    T &front() { return at(0); }
};

class table {
    double entries[N / 32][32];
  public:
    double &operator()(size_t i, size_t j) { return entries[i][j]; }
};

NOINLINE static void fill(grid &first)
{
    for (size_t i = 0; i < N; i++)
        first[i] = first[i] * 0.5 + 1;
}

NOINLINE static void raise(fixed<double, N> &second)
{
    for (size_t i = 1; i < N; i++)
        second.at(i) = second.front() + second.at(i) * 0.5;
}

NOINLINE static void relax(table &third)
{
    for (size_t i = 0; i < N / 32; i++)
        for (size_t j = 0; j < 32; j++)
            third(i, j) = third(i, j) * 0.5 + 1;
}

static grid one;
static fixed<double, N> two;
static table three;

template <class function> static double measured(int times, function called)
{
    double begin = THREAD_MS();
    while (times-- > 0) {
        AGAIN();
        called();
    }
    return THREAD_MS() - begin;
}

template <class function> static double spent(function called)
{
    double once = measured(2000, called);
    return once + measured(int(120 / (once / 2000)), called);
}

int main()
{
    static const char *const names[] = {"filled", "raised", "relaxed", "burnt"};
    double ms[] = {spent([] { fill(one); }), spent([] { raise(two); }),
                   spent([] { relax(three); }), spent([] { BURN(1); })};
    double all = ms[0] + ms[1] + ms[2] + ms[3];
    sink = one[1] + two.at(1) + three(1, 1);
    for (int i = 0; i < 4; i++)
        truth(names[i], 100 * ms[i] / all);
}
