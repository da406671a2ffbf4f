// Sorts in three ways, and prints what CPU time each took, in ms: once with a comparison of its own, once without, once through pointers.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <functional>
#include <map>
#include <vector>

static double now()
{
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

__attribute__((noinline)) static void by_default(std::vector<double> &v)
{
    std::sort(v.begin(), v.end()); // line 18
}

__attribute__((noinline)) static double fill_map(std::map<int, double> &m, const std::vector<double> &v)
{
    for (size_t i = 0; i < v.size(); i++)
        m[static_cast<int>(v[i])] += v[i]; // line 24
    return m.begin()->second;
}

template <class T> __attribute__((noinline)) static T sum(const std::vector<T> &v, int times)
{
    T s = 0;
    for (int k = 0; k < times; k++)
        for (auto x : v)
            s += x * k;
    return s;
}

static unsigned x = 1;

int main()
{
    std::vector<double> v(200000);
    std::vector<long> w(200000, 3);
    double sorted = 0, mapped = 0, summed = 0, out = 0;
    for (int k = 0; k < 12; k++) {
        std::map<int, double> m;
        for (auto &e : v)
            e = (x = x * 1103515245 + 12345) >> 12;
        double a = now();
        by_default(v);
        double b = now();
        for (auto &e : v)
            e = (x = x * 1103515245 + 12345) >> 18;
        double c = now();
        out += fill_map(m, v);
        double d = now();
        out += sum(v, 40) + sum(w, 160);
        summed += now() - d;
        sorted += b - a;
        mapped += d - c;
    }
    std::printf("%.3f %.3f %.3f %g\n", sorted, mapped, summed, out);
}
