// Loops that are vectorised, some of which have a function with a loop of its own inlined.
#include <algorithm>
#include <vector>

static const double factors[4] = {0.5, 0.25, 0.125, 1.0};

inline double polynomial(double v)
{
    double s = 0;
    for (int k = 0; k < 4; k++)
        s = s * v + factors[k];
    return s;
}

void each(double *to, const double *from, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = polynomial(from[i]);
}

void twice(double *to, const double *from, int n, int times)
{
    for (int k = 0; k < times; k++)
        for (int i = 0; i < n; i++)
            to[i] += polynomial(from[i] + k);
}

void transformed(std::vector<double> &to, const std::vector<double> &from)
{
    std::transform(from.begin(), from.end(), to.begin(), [](double v) {
        double s = 1;
        for (double factor : factors)
            s = s * v + factor;
        return s;
    });
}

double sum(const int *v, int n)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        s += v[i] * v[i];
    return s;
}
