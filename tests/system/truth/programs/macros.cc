// Functions that a macro writes, and lambdas that a macro is given: all of their code is at the place where the macro is used.
#include "framework.h"
#include "truth.h"

#include <vector>

enum { N = 2048 };
double from[N], scaled[N], plain[N], tried[N];
static volatile double sink;

#define DEFINE_SCALE(name, to, by)                                                                 \
    template <typename T> NOINLINE static void name(int times, T factor)                           \
    {                                                                                              \
        for (; times > 0; times--) {                                                               \
            AGAIN();                                                                               \
            for (int i = 0; i < N; i++)                                                            \
                to[i] = from[i] * factor * by;                                                     \
        }                                                                                          \
    }
#define APPLY(lambda) apply(lambda)

static long n_failed;

DEFINE_SCALE(scale, scaled, 1.5) // @scale

TEST(plain)
{
    for (; times > 0; times--) {
        AGAIN();
        for (int i = 0; i < N; i++) plain[i] += 0.5; // @body
    }
}

template <typename F> NOINLINE static double apply(F function)
{
    return function();
}

NOINLINE static void attempt(std::vector<double> &values, int times)
{
    for (; times > 0; times--)
        TRY(apply([&] { AGAIN(); for (int i = 0; i < N; i++) values[i] += 0.25; return values[3]; }) > 0); // @attempt
}

NOINLINE static void add_up(int times)
{
    for (; times > 0; times--)
        sink = APPLY([] { AGAIN(); double sum = 0; for (double t : tried) sum += t; return sum; }); // @add_up
}

int main()
{
    std::vector<double> values(N, 1.0);
    for (int i = 0; i < N; i++)
        from[i] = tried[i] = i;
    double begin = THREAD_MS();
    scale(150000, 1.0);
    double scaling = THREAD_MS() - begin;
    begin = THREAD_MS();
    test_plain(150000);
    double testing = THREAD_MS() - begin;
    begin = THREAD_MS();
    attempt(values, 120000);
    double attempting = THREAD_MS() - begin;
    begin = THREAD_MS();
    add_up(50000);
    double summing = THREAD_MS() - begin;
    double percent = 100 / (scaling + testing + attempting + summing);
    truth("scaling", scaling * percent);
    truth("testing", testing * percent);
    truth("attempting", attempting * percent);
    truth("summing", summing * percent);
    return n_failed != 0;
}
