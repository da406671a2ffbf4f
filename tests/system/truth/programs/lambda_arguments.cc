// Function templates whose arguments are lambdas: one instance for each lambda, of known and different costs, arrays of their own.
#include "parts.h"
#include <algorithm>
#include <vector>
enum { N = 4096 };
static double left_data[N], right_data[N];
static long n_left, n_right, n_heavy, n_light;
template <class F> NOINLINE void apply(F f)
{
    for (int i = 0; i < N; i++) // @apply_loop
        f(i);
}
template <class F> NOINLINE static void repeat(int times, F f)
{
    for (int i = 0; i < times; i++) // @repeat_loop
        f(i);
}
namespace { template <class F> struct runner { F f; NOINLINE void run(int n) { for (int i = 0; i < n; i++) f(i); } }; }
template <class F> NOINLINE void with(F f) { runner<F> r{f}; r.run(10); }
template <class T, class F> NOINLINE void transform_all(T &t, F f) { for (auto &x : t) x = f(x); }
template <class Cmp> NOINLINE void order(std::vector<int> &v, Cmp c) { std::sort(v.begin(), v.end(), c); }
NOINLINE void use_left() { n_left++; apply([](int i) { left_data[i] = left_data[i] / 3 + 1; }); }
NOINLINE void use_right() { n_right++; apply([](int i) { right_data[i] = right_data[i] * 0.5 + 1; }); }
NOINLINE void heavy() { n_heavy++; repeat(10, [](int) { BURN(6); }); }
NOINLINE void light() { n_light++; repeat(10, [](int) { BURN(2); }); }
NOINLINE void with_heavy() { with([](int) { BURN(7); }); }
NOINLINE void with_light() { with([](int) { BURN(2); }); }
int main()
{
    std::vector<double> ta(N, 1), tb(N, 1);
    std::vector<int> oa(512), ob(512);
    PART("left", 80, use_left());
    PART("right", 40, use_right());
    PART("heavied", 90, heavy());
    PART("lighted", 30, light());
    PART("wheavy", 70, with_heavy());
    PART("wlight", 20, with_light());
    PART("trans_a", 60, transform_all(ta, [](double x) { return x / 3 + 1; }));
    PART("trans_b", 30, transform_all(tb, [k = 0.5](double x) { return x * k + 1; }));
    PART("order_a", 60, for (int i = 0; i < 512; i++) oa[i] = i * 37 % 511; order(oa, [](int l, int r) { return l < r; }));
    PART("order_b", 30, for (int i = 0; i < 512; i++) ob[i] = i * 37 % 511; order(ob, [](int l, int r) { return l > r; }));
    print_parts();
    truth("n_left", n_left); truth("n_right", n_right); truth("n_heavy", n_heavy); truth("n_light", n_light);
}
