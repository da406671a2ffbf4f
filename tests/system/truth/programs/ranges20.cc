// C++20: spans, views and ranges over arrays.
#include "parts.h"
#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <ranges>
#include <span>
#include <string>
#include <vector>

enum { N = 4096 };
struct body { double mass, speed; std::array<double, 3> at; };
static std::vector<double> spanned(N), sub(N), taken(N), reversed(N), transformed(N), filtered(N, 1), sorted_(N), counted(N), accumulated(N), minimal(N), kept(N), iotaed(N), generated(N), ordered(N);
static std::vector<body> bodies(N / 4), swapped(N / 4);
static std::map<int, std::vector<double>> mapped;
static double raw[N];
static std::array<double, N> fixed;

NOINLINE static void in_span(std::span<double> s, int k) { for (auto &x : s) x = x * 0.5 + k; }
NOINLINE static void in_sub(int k) { auto s = std::span(sub).subspan(8, N - 16); for (size_t i = 0; i < s.size(); i++) s[i] = s[i] * 0.5 + k; }
NOINLINE static void in_raw(std::span<double, N> s, int k) { for (size_t i = 0; i < s.size(); i++) s[i] = s[i] * 0.5 + k; }
NOINLINE static void in_taken(int k) { for (double &x : taken | std::views::take(N - 8)) x = x * 0.5 + k; }
NOINLINE static double in_reversed() { double s = 0; for (double x : reversed | std::views::reverse) s = s * 0.5 + x; return s; }
NOINLINE static double in_transformed() { double s = 0; for (double x : transformed | std::views::transform([](double y) { return y * 2; })) s += x; return s; }
NOINLINE static double in_filtered() { double s = 0; for (double x : filtered | std::views::filter([](double y) { return y > 0; })) s += x; return s; }
NOINLINE static void in_sorted(int k) { std::ranges::sort(sorted_); sorted_[k % N] = k; }
NOINLINE static long in_counted() { return std::ranges::count_if(counted, [](double x) { return x > 1; }); }
NOINLINE static double in_accumulated() { return std::accumulate(accumulated.begin(), accumulated.end(), 0.0); }
NOINLINE static double in_minimal() { return *std::ranges::min_element(minimal); }
NOINLINE static void in_kept(int k) { std::ranges::for_each(kept, [k](double &x) { x = x * 0.5 + k; }); }
NOINLINE static void in_generated(std::span<double> all, double k) { std::ranges::generate(all, [k] { return k * 0.5; }); }
NOINLINE static void in_ordered(std::span<double> all, int k) { std::ranges::sort(all); all[k % N] = k; }
NOINLINE static void in_bodies(int k) { for (auto &[mass, speed, at] : bodies) at[1] = at[1] * 0.5 + mass + k; }
NOINLINE static void in_mapped(int k) { for (auto &[key, values] : mapped) for (auto &x : values) x = x * 0.5 + key + k; }
NOINLINE static void in_fixed(int k) { std::ranges::transform(fixed, fixed.begin(), [k](double x) { return x * 0.5 + k; }); }
NOINLINE static void in_iota(int k) { for (int i : std::views::iota(0, int(N))) iotaed[i] = iotaed[i] * 0.5 + k; }

int main()
{
    for (int i = 0; i < 16; i++) mapped[i].resize(N / 16);
    int k = 0;
    PART("span", 40, in_span(spanned, k++));
    PART("subspan", 40, in_sub(k++));
    PART("raw_", 40, in_raw(raw, k++));
    PART("take", 40, in_taken(k++));
    PART("reverse", 40, sink = in_reversed());
    PART("transform", 40, sink = in_transformed());
    PART("filter", 40, sink = in_filtered());
    PART("sort", 40, in_sorted(k++));
    PART("count", 40, sink = in_counted());
    PART("accumulate", 40, sink = in_accumulated());
    PART("minimum", 40, sink = in_minimal());
    PART("each", 40, in_kept(k++));
    PART("generate", 40, in_generated(generated, k++));
    PART("order", 40, in_ordered(ordered, k++));
    PART("body_", 40, in_bodies(k++));
    PART("map_", 40, in_mapped(k++));
    PART("fixed_", 40, in_fixed(k++));
    PART("iota", 40, in_iota(k++));
    print_parts();
    return 0;
}
