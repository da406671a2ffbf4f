// Methods of small values that are inlined: for elements of an array in one function, for locals that live in registers in another.
#include "truth.h"

#include <cmath>
#include <vector>

enum { N = 8192 };

static volatile double sink;

struct vec3 {
    double x, y, z;
    vec3 operator-(const vec3 &o) const { return {x - o.x, y - o.y, z - o.z}; }
    double length() const
    {
        double r = x * x + y * y + z * z;
        return std::sqrt(std::sqrt(std::sqrt(r + 1) + 1) + z);
    }
};

NOINLINE static double lengths(const std::vector<vec3> &given)
{
    double sum = 0;
    for (const vec3 &v : given)
        sum += v.length();
    return sum;
}

NOINLINE static double distances(double from)
{
    double sum = 0;
    for (int i = 0; i < 2 * N; i++) {
        vec3 a = {from, from + i, 1.0}, b = {1.0, from, double(i)};
        vec3 d = a - b;
        sum += d.length();
        from += sum * 1e-9;
    }
    return sum;
}

template <class function> static double spent(function called)
{
    double begin = THREAD_MS();
    for (int i = 0; i < 600; i++) {
        AGAIN();
        called();
    }
    return THREAD_MS() - begin;
}

int main()
{
    std::vector<vec3> v(N, vec3{1, 2, 3});
    double a = spent([&] { sink = lengths(v); });
    double b = spent([&] { sink = distances(2); });
    truth("elements", 100 * a / (a + b));
    truth("locals", 100 * b / (a + b));
    return 0;
}
