/* What callers pass: by reference, as a pointer, in a record, captured, as a span of iterators. Who asks for the caller's variable means
 * what is done with it there. Each function has the whole time of one. */
#include "truth.h"

#include <vector>

enum { N = 4096 };

static volatile double sink;
static double table[N];

struct job {
    double *data;
    int n;
};

static double sum_of(const std::vector<double> &w)
{
    double sum = 0;
    for (size_t i = 0; i < w.size(); i++)
        sum += w[i];
    return sum;
}

NOINLINE static double by_reference(const std::vector<double> &w)
{
    return sum_of(w);
}

NOINLINE static double by_pointer(const double *p, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += p[i] * 0.5;
    return sum;
}

NOINLINE static void fill(double *q, int n, double value)
{
    for (int i = 0; i < n; i++)
        q[i] = q[i] * value + 1;
}

NOINLINE static double by_record(const job *work)
{
    double sum = 0;
    for (int i = 0; i < work->n; i++)
        sum += work->data[i];
    return sum;
}

NOINLINE static double by_iterators(std::vector<double>::const_iterator at,
                                    std::vector<double>::const_iterator end)
{
    double sum = 0;
    for (; at != end; ++at)
        sum += *at;
    return sum;
}

template <class function> static double measured(int times, function called)
{
    double begin = THREAD_MS();
    while (times-- > 0)
        called();
    return THREAD_MS() - begin;
}

int main()
{
    std::vector<double> weights(N, 1.5), others(N, 2.5), walked(N, 3.5);
    static double local[N];
    job work = {others.data(), N};
    double a = measured(25000, [&] { sink = by_reference(weights); });
    double b = measured(25000, [&] { sink = by_pointer(local, N); });
    double c = measured(25000, [&] { fill(table, N, 0.5); });
    double d = measured(25000, [&] { sink = by_record(&work); });
    double e = measured(25000, [&] { sink = by_iterators(walked.begin(), walked.end()); });
    double percent = 100 / (a + b + c + d + e);
    truth("weights", a * percent);
    truth("local", b * percent);
    truth("table", c * percent);
    truth("others", d * percent);
    truth("walked", e * percent);
    return 0;
}
