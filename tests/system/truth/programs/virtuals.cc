// Calls that C++ makes by itself: virtual ones through second bases (thunks), destructors of bases and members, conversions, operators, lambdas that
// hold values, generic lambdas, constexpr functions at run time, comparisons within std::sort, initialisers of static variables, generators.
#include "truth.h"

#include <algorithm>
#include <coroutine>
#include <functional>
#include <memory>
#include <vector>

namespace {
long n_second, n_destroyed, n_plus, n_once, n_compared;
double compared_ms;

struct first_base {
    virtual ~first_base() = default;
    virtual void one() = 0;
    long padding[3] = {};
};
struct second_base {
    virtual ~second_base() = default;
    virtual void two() = 0;
};
struct both final : first_base, second_base {
    NOINLINE ~both() override
    {
        n_destroyed++;
        BURN(20);
    }
    NOINLINE void one() override { BURN(10); }
    NOINLINE void two() override
    {
        n_second++;
        BURN(30);
    }
};

struct amount {
    int value;
    NOINLINE amount operator+(const amount &other) const
    {
        n_plus++;
        BURN(15);
        return {value + other.value};
    }
};

NOINLINE void through_second(second_base *object) { object->two(); }

template <int N> NOINLINE void templated()
{
    if constexpr (N > 1)
        BURN(N);
    else
        BURN(5);
}

constexpr int power(int base, int n)
{
    return n == 0 ? 1 : base * power(base, n - 1);
}

struct costly {
    NOINLINE costly()
    {
        n_once++;
        BURN(2000);
    }
};

NOINLINE void uses_static()
{
    static costly made;
    BURN(5);
}

struct generator {
    struct promise_type {
        int value = 0;
        generator get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        std::suspend_always yield_value(int x)
        {
            value = x;
            return {};
        }
        void return_void() {}
        void unhandled_exception() {}
    };
    std::coroutine_handle<promise_type> handle;
};

generator counts(int n)
{
    for (int i = 0; i < n; i++) {
        BURN(10); // @yields
        co_yield i;
    }
}

NOINLINE int drains(int n)
{
    generator g = counts(n);
    int sum = 0;
    for (g.handle.resume(); !g.handle.done(); g.handle.resume())
        sum += g.handle.promise().value;
    g.handle.destroy();
    return sum;
}
} // namespace

int main()
{
    enum { TURNS = 500 };
    volatile int three = 3;
    const double units = TURNS * (10. + 30 + 20 + 15 + 20 + 5 + 12 + 25 + 5 + 20) + 2000;
    amount sum = {0};
    for (int i = 0; i < TURNS; i++) {
        {
            std::unique_ptr<both> object = std::make_unique<both>();
            object->one();
            through_second(object.get());
        }
        sum = sum + amount{power(three, i % 5)};
        templated<20>();
        templated<1>();
        int held = i;
        auto lambda = [held](auto x) {
            BURN(12); // @generic
            return held + x;
        };
        std::function<int(int)> erased = [&](int x) {
            BURN(25); // @erased
            return lambda(x);
        };
        sum.value += erased(i);
        uses_static();
        sum.value += drains(2);
    }
    truth("second", 100 * TURNS * 30 / units);
    truth("destroying", 100 * TURNS * 20 / units);
    truth("adding", 100 * TURNS * 15 / units);
    truth("twenty", 100 * TURNS * 20 / units);
    truth("generic", 100 * TURNS * 12 / units);
    truth("erased", 100 * TURNS * 25 / units);
    truth("making", 100 * 2000 / units);
    truth("yielding", 100 * TURNS * 20 / units);
    truth("n_turns", TURNS);
    return sum.value == 1;
}
