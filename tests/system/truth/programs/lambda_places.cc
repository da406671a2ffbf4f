// Lambdas that have one place: two from one macro; lambdas in templates of internal linkage; generic lambdas called with several types; lambdas as static members; lambdas with default arguments; std algorithms instanced with lambdas of main.
#include "parts.h"
#include <algorithm>
#include <functional>
#include <vector>
static long n_m1, n_m2, n_t3, n_t9, n_gi, n_gd;
#define BOTH(x, y) auto x = [](int u) __attribute__((noinline)) { n_m1++; BURN(u); }; auto y = [](int u) __attribute__((noinline)) { n_m2++; BURN(4 * u); }
#define EACH(n, body) do { auto each_ = [&](int i) __attribute__((noinline)) { body; }; for (int i = 0; i < n; i++) each_(i); } while (0)
NOINLINE static void macros() { BOTH(a, b); a(5); b(5); }
NOINLINE static void loops_of_macros() { EACH(5, BURN(2)); EACH(5, BURN(6)); }
NOINLINE static void one_line() { EACH(5, BURN(3)); EACH(5, BURN(9)); }
namespace {
template <int K> NOINLINE void anon() { auto l = [](int u) __attribute__((noinline)) { if (K > 5) n_t9++; else n_t3++; for (int i = 0; i < 5; i++) BURN(u); }; l(K); }
template <class T> struct anon_class { NOINLINE void run(int k) { auto l = [this, k]() __attribute__((noinline)) { for (int i = 0; i < 5; i++) BURN(k * int(sizeof(T))); }; l(); } };
}
template <int K> NOINLINE static void stat() { auto l = [](int u) __attribute__((noinline)) { BURN(u); }; l(K); }
static auto generic = [](auto x) __attribute__((noinline)) { if (sizeof x == 8) n_gd++; else n_gi++; for (int i = 0; i < 3; i++) BURN(4 * int(sizeof x)); };
int main()
{
    anon_class<char> ac; anon_class<double> ad;
    for (int t = 0; t < 150; t++) {
        macros();          // 5 + 20
        loops_of_macros(); // 10 + 30
        one_line();        // 15 + 45
        anon<3>(); anon<9>(); // 15 + 45
        ac.run(1); ad.run(1); // 5 + 40
        stat<4>(); stat<20>(); // 4 + 20
        generic(1); generic(1.0); // 48 + 96
    }
    double all = 25 + 40 + 60 + 60 + 45 + 24 + 144;
    truth("m1", 500 / all); truth("m2", 2000 / all); truth("lm", 4000 / all); truth("ol", 6000 / all); truth("t3", 1500 / all); truth("t9", 4500 / all); truth("ac", 500 / all); truth("ad", 4000 / all); truth("s4", 400 / all); truth("s20", 2000 / all); truth("gi", 4800 / all); truth("gd", 9600 / all);
    truth("n_m1", n_m1); truth("n_m2", n_m2); truth("n_t3", n_t3); truth("n_t9", n_t9); truth("n_gi", n_gi); truth("n_gd", n_gd);
}
