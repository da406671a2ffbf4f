// What coroutines do through their parameters.
#include "parts.h"
#include <coroutine>
#include <vector>

enum { N = 8192 };
struct task {
    struct promise_type {
        task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_always initial_suspend() { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() {}
    };
    std::coroutine_handle<promise_type> handle;
};
static double cells[N];

task fill(double *p)
{
    for (int k = 0;; k++) {
        for (int i = 0; i < N; i++)
            p[i] = p[i] * 0.5 + k;
        co_await std::suspend_always{};
    }
}

task fill_vector(std::vector<double> &v)
{
    for (int k = 0;; k++) {
        for (auto &x : v)
            x = x * 0.5 + k;
        co_await std::suspend_always{};
    }
}

int main()
{
    std::vector<double> vec(N);
    task one = fill(cells), two = fill_vector(vec);
    PART("pointer", 100, one.handle.resume());
    PART("reference", 100, two.handle.resume());
    print_parts();
    one.handle.destroy();
    two.handle.destroy();
    return (int)(cells[3] + vec[3]) == 7;
}
