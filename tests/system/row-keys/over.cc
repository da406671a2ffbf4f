// Overloads, instances of a template, and a lambda.
#include <cstdio>
#include <numeric>
#include <vector>

static double add(const std::vector<double> &v)
{
    double s = 0;
    for (double x : v)
        s += x;
    return s;
}

static double add(const std::vector<double> &v, double with)
{
    double s = 0;
    for (double x : v)
        s += x * with;
    return s;
}

template <typename T> __attribute__((noinline)) T all(const std::vector<T> &v)
{
    T s = 0;
    for (T x : v)
        s = s / 2 + x;
    return s;
}

int main()
{
    std::vector<double> v(3000, 1.5);
    std::vector<int> w(3000, 3);
    double s = 0;
    auto more = [&](int k) { for (size_t i = 0; i < v.size(); i++) s += v[i] * k; };
    for (int k = 0; k < 12000; k++) {
        s += add(v) + add(v, k) + all(v) + all(w);
        more(k);
    }
    std::printf("%d\n", s > 0);
}
