// C++: exceptions, COMDAT, templates, lambdas, virtual calls over thunks. Links with second.cc. Prints one checksum.
#include "both.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

unsigned total;

struct guard {
    unsigned value;
    explicit guard(unsigned v) : value(v) { total += v; }
    ~guard() { total = total * 3 + value; }
};

struct left {
    virtual ~left() {}
    virtual unsigned one(unsigned x) { return x + 1; }
};
struct right {
    virtual ~right() {}
    virtual unsigned two(unsigned x) { return x + 2; }
};
struct both : left, right {
    unsigned two(unsigned x) override { return x * 2; } // reached through a thunk
};

[[gnu::noipa]] static unsigned thrower(unsigned depth)
{
    guard g(depth);
    for (unsigned i = 0; i < 3; i++)
        if (depth == 0 && i == 1)
            throw std::runtime_error("bottom");
        else if (depth > 0)
            total += thrower(depth - 1);
    return total;
}

[[gnu::noinline]] static unsigned catcher(unsigned depth)
{
    try {
        return thrower(depth);
    } catch (const std::runtime_error &e) {
        return total + (unsigned)std::string(e.what()).size();
    }
}

[[gnu::noinline]] static unsigned fold(const std::function<unsigned(unsigned)> &f, unsigned n)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < n; i++)
        sum = sum * 7 + f(i);
    return sum;
}

static const unsigned at_start = twice(21) + catcher(1);

int main()
{
    unsigned sum = at_start;
    for (unsigned i = 0; i < 5; i++)
        sum = sum * 31 + catcher(i);
    both object;
    right *base = &object;
    sum = sum * 31 + base->two(5) + object.one(3);
    unsigned captured = sum;
    sum = sum * 31 + fold([&](unsigned x) { return captured += x; }, 10);
    std::vector<std::string> names;
    for (int i = 0; i < 20; i++)
        names.push_back(std::to_string(i * 7919 % 101));
    std::sort(names.begin(), names.end(), [](const auto &a, const auto &b) { return a > b; });
    std::map<std::string, unsigned> index;
    for (auto &name : names)
        index[name] = twice((unsigned)name.size()) + second(name.size());
    for (auto &[name, value] : index)
        sum = sum * 31 + value + (unsigned char)name[0];
    std::printf("%08x\n", sum);
}
