// Generators of C++20 over arrays, nested; a symmetric transfer between tasks.
#include "parts.h"
#include <coroutine>
#include <exception>
#include <utility>
#include <vector>
enum { N = 4096 };
static long n_sum, n_scan, n_ramp;
template <class T> struct generator {
    struct promise_type {
        T value;
        generator get_return_object() { return generator{std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        std::suspend_always yield_value(T v) { value = v; return {}; }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
    };
    std::coroutine_handle<promise_type> h;
    explicit generator(std::coroutine_handle<promise_type> x) : h(x) {}
    generator(generator &&o) noexcept : h(std::exchange(o.h, nullptr)) {}
    ~generator() { if (h) h.destroy(); }
    bool next() { h.resume(); return !h.done(); }
    T get() const { return h.promise().value; }
};
static double scanned[N], filled[N];
// each turn goes through an array of its own, then yields
NOINLINE generator<double> scan(const std::vector<double> &sc)
{
    n_ramp++;
    for (int turn = 0; turn < 10; turn++) { // @turns
        double s = 0;
        for (size_t i = 0; i < sc.size(); i++) // @scan_loop
            s += sc[i] / 3;
        co_yield s;
    }
}
NOINLINE generator<int> fill(double k)
{
    for (int turn = 0; turn < 10; turn++) {
        for (int i = 0; i < N; i++) // @fill_loop
            filled[i] = filled[i] * k + 1;
        co_yield turn;
    }
}
NOINLINE generator<double> elements(double *el)
{
    for (int i = 0; i < N; i++)
        co_yield el[i] * 0.5;
}
NOINLINE generator<double> burner(int units)
{
    for (;;) {
        BURN(units);
        co_yield 1.0;
    }
}
NOINLINE double drive_scan(const std::vector<double> &v) { n_sum++; double s = 0; auto g = scan(v); while (g.next()) s += g.get(); return s; }
NOINLINE int drive_fill() { int s = 0; auto g = fill(0.5); while (g.next()) s += g.get(); return s; }
NOINLINE double drive_elements() { double s = 0; auto g = elements(scanned); while (g.next()) s += g.get(); return s; }
NOINLINE void drive_burner(int times) { auto g = burner(25); for (int i = 0; i < times; i++) g.next(); }
// lambda coroutine
static double lam_data[N];
int main()
{
    std::vector<double> v(N, 1.0);
    auto lam = [](int n) -> generator<double> {
        for (int k = 0; k < n; k++) {
            for (int i = 0; i < N; i++) // @lam_loop
                lam_data[i] = lam_data[i] * 0.5 + 1;
            co_yield lam_data[k];
        }
    };
    PART("scan", 80, sink = drive_scan(v));
    PART("fill", 60, sink = drive_fill());
    PART("elements", 70, sink = drive_elements());
    PART("burner", 60, drive_burner(20));
    PART("lam", 50, auto g = lam(20); while (g.next()) sink = g.get(););
    print_parts();
    truth("n_sum", n_sum);
    truth("n_ramp", n_ramp);
}
