// Calls of every kind that C++ has: constructors and destructors, virtual, templates, lambdas, operators, exceptions through frames
// with destructors, rethrown and from constructors, static initialisers, std algorithms calling back.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

static volatile int sink;

struct Counter {
    explicit Counter(int x) : x_(x) { sink = sink + x; }
    Counter(const Counter &other) : x_(other.x_) { sink = sink + 1; }
    ~Counter() { sink = sink - x_; }
    int x_;
};

struct Shape {
    virtual ~Shape() { sink = sink + 1; }
    virtual int area(int scale) const = 0;
};
struct Square : Shape {
    explicit Square(int side) : side_(side) {}
    int area(int scale) const override { return side_ * side_ * scale; }
    int side_;
};
struct Odd : Square {
    explicit Odd(int side) : Square(side)
    {
        if (side % 2 == 0)
            throw side;
    }
    int area(int scale) const override { return Square::area(scale) + 1; }
};

template <typename T> __attribute__((noinline)) T twice(T x) { return x + x; }

__attribute__((noinline)) static int thrower(int depth)
{
    Counter guard(depth);
    if (depth == 0)
        throw std::string("at the bottom");
    return thrower(depth - 1) + guard.x_;
}

__attribute__((noinline)) static int catcher(int depth)
{
    try {
        return thrower(depth);
    } catch (const std::string &) {
        if (depth % 2)
            throw;
        return depth;
    }
}

static Counter global(3);

int main(int argc, char **argv)
{
    int n = argc > 1 ? std::atoi(argv[1]) : 10, total = 0;
    for (int i = 0; i < n; i++) {
        try {
            total += catcher(i % 7);
        } catch (...) {
            total += 100;
        }
        try {
            std::unique_ptr<Shape> shape = std::make_unique<Odd>(i);
            total += shape->area(2);
        } catch (int side) {
            total += Square(side).area(1);
        }
    }
    std::vector<Counter> counters;
    for (int i = 0; i < n; i++)
        counters.emplace_back(i);
    std::sort(counters.begin(), counters.end(), [](const Counter &a, const Counter &b) { return a.x_ > b.x_; });
    std::map<std::string, int> words;
    for (int i = 0; i < 10 * n; i++)
        words[std::to_string(i % 13)] += twice(i);
    std::function<int(int)> down = [&](int k) { return k == 0 ? 0 : 1 + down(k - 1); };
    std::printf("%d %d %zu %d %s %d\n", total, counters[0].x_, words.size(), words["7"], twice(std::string("ab")).c_str(), down(n));
    return 0;
}
