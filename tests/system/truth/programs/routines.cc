// Coroutines: the body's time is the coroutine's, whoever resumes it.
#include "truth.h"

#include <coroutine>
#include <utility>

namespace {
struct sequence {
    struct promise_type {
        long value = 0;
        sequence get_return_object() { return sequence{std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_always initial_suspend() { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        std::suspend_always yield_value(long next)
        {
            value = next;
            return {};
        }
        void return_void() {}
        void unhandled_exception() {}
    };
    std::coroutine_handle<promise_type> handle;
};

sequence climb(long n)
{
    for (long i = 0; i < n; i++) {
        BURN(6); // @climb
        co_yield i;
    }
}

NOINLINE long drive(long n)
{
    sequence steps = climb(n);
    long sum = 0;
    for (long i = 0; i < n; i++) {
        steps.handle.resume();
        sum += steps.handle.promise().value;
        BURN(3);
    }
    steps.handle.destroy();
    return sum;
}
} // namespace

int main()
{
    long sum = 0;
    for (int turn = 0; turn < 120; turn++)
        sum += drive(120);
    truth("climb", 100 * 6 / 9.0);
    truth("drive", 100 * 3 / 9.0);
    return sum == 0;
}
