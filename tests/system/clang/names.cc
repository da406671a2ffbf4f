#include <cstdio>
#include <vector>
#include <algorithm>
#include <stdexcept>
namespace ns {
template <class T> struct box { std::vector<T> v; box(int n) : v(n) {} ~box() {} T total() const { T s = 0; for (auto x : v) s += x; return s; } };
template <class T> __attribute__((noinline)) T scale(box<T> &b, T k) { for (auto &x : b.v) x = x * k + 1; return b.total(); }
}
__attribute__((noinline)) static int thrower(int n) { if (n % 3 == 0) throw std::runtime_error("x"); return n; }
int catcher(int n) { int s = 0; for (int i = 0; i < n; i++) { try { s += thrower(i); } catch (const std::exception &) { s += 100; } } return s; }
int main() {
    ns::box<double> b(1000);
    auto f = [&](int n) { double s = 0; for (int i = 0; i < n; i++) s += ns::scale(b, 0.5); return s; };
    double r = f(100);
    std::sort(b.v.begin(), b.v.end(), [](double a, double c) { return a > c; });
    std::printf("%g %d\n", r, catcher(9));
}
