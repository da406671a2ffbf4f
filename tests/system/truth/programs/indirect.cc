/* What is passed through calls that name no function: tables of operations, callbacks, functions that are returned, virtual methods, std::function,
 * comparators of the library. Each has the whole time of one array. What no one can know is not denied. */
#include "truth.h"

#include <dlfcn.h>
#include <functional>
#include <stdlib.h>
#include <vector>

enum { N = 4096, ROWS = 64 };

typedef double operation(const double *, int);

static volatile double sink;
static double weights[N], loads[N], stock[N], widths[N], lonely[N];
static double keys[ROWS][N];

NOINLINE static double total(const double *p, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += p[i];
    return sum;
}

NOINLINE static void scale(void *data, int n)
{
    double *q = (double *)data;
    for (int i = 0; i < n; i++)
        q[i] = q[i] * 0.5 + 1;
}

NOINLINE static double squares(const double *r, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += r[i] * r[i];
    return sum;
}

struct operations {
    const char *name;
    operation *run;
};
static const operations all_operations[] = {{"total", total}};

NOINLINE static void apply(void (*function)(void *, int), void *data)
{
    function(data, N);
}

/* A pointer to a function through a second pair of hands. */
NOINLINE static void hand_on(void (*function)(void *, int), void *data)
{
    apply(function, data);
}

NOINLINE static operation *chosen(int which)
{
    return which != 0 ? squares : NULL;
}

NOINLINE static int by_sum(const void *a, const void *b)
{
    const double *x = (const double *)a, *y = (const double *)b;
    double difference = 0;
    for (int i = 0; i < N; i++)
        difference += x[i] - y[i];
    return difference < 0 ? -1 : 1;
}

struct shape {
    virtual ~shape() = default;
    virtual double area(const double *sides, int n) const = 0;
};
struct circle : shape {
    double area(const double *sides, int n) const override
    {
        double sum = 0;
        for (int i = 0; i < n; i++)
            sum += sides[i] * 3.25;
        return sum;
    }
};

NOINLINE static void each(std::vector<double> &v, const std::function<void(double &)> &function)
{
    for (double &x : v)
        function(x);
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

int main(int argc, char **)
{
    std::vector<double> visited(N, 2.0);
    shape *one = new circle;
    void *of_nobody = dlsym(RTLD_DEFAULT, "nobody_has_this");
    double a = measured(12000, [&] { sink = all_operations[argc - 1].run(weights, N); });
    double b = measured(12000, [&] { hand_on(scale, loads); });
    double c = measured(12000, [&] { sink = chosen(argc)(stock, N); });
    double d = measured(12000, [&] { sink = one->area(widths, N); });
    double e = measured(1500, [&] { each(visited, [](double &y) { y = y * 0.5 + 1; }); });
    double f = measured(25, [&] { qsort(keys, ROWS, sizeof keys[0], by_sum); });
    if (of_nobody != NULL)
        sink = ((operation *)of_nobody)(lonely, N);
    double percent = 100 / (a + b + c + d + e + f);
    truth("weights", a * percent);
    truth("loads", b * percent);
    truth("stock", c * percent);
    truth("widths", d * percent);
    truth("visited", e * percent);
    truth("keys", f * percent);
    delete one;
    return 0;
}
