// Pointers that a lambda has of its own ("[p = u]").
#include "parts.h"

enum { N = 2000 };
static double u[N], w[N];

template <class F> NOINLINE static void apply(F f)
{
    for (int i = 0; i < N; i++)
        f(i);
}

int main()
{
    double *q = w;
    PART("own", 150, apply([p = u](int i) { p[i] = p[i] * 0.5 + i; }));
    PART("captured", 100, apply([q](int i) { q[i] = q[i] * 0.5 + i; }));
    print_parts();
    return u[1] + w[1] < 0;
}
