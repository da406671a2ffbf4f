// Pointers that std::swap and std::exchange change.
#include "parts.h"
#include <utility>

enum { N = 2000 };
static double x[N], y[N], z[N];

NOINLINE static void step(double *to, const double *from)
{
    for (int i = 0; i < N; i++)
        to[i] = from[i] * 0.5 + 1;
}

int main()
{
    double *a = x, *b = y, *c = nullptr;
    PART("swapped", 150, step(a, b); std::swap(a, b));
    PART("given", 100, double *d = z; step(std::exchange(d, c), y));
    print_parts();
    return x[1] + y[1] + z[1] < 0;
}
