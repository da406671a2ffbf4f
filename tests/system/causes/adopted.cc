// Causes in C++: threads of std::thread, tasks that adopt by an object's life and end by exceptions. Prints what the archive must answer, as causes.c.
#include <perfmap.h>
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <thread>
#include <vector>

static pm_metric bytes;

__attribute__((noinline)) static void work(int n)
{
    pm_cost(bytes, static_cast<uint64_t>(n));
    __asm__ volatile("");
}

struct task {
    pm_cause cause;
    std::function<void()> what;
};

static std::vector<task> tasks;

__attribute__((noinline)) static void hands_over(int i)
{
    tasks.push_back({pm_capture(), [i] {
                         work(i);
                         if (i % 2)
                             throw std::runtime_error("half done");
                     }});
}

static void run_all()
{
    for (auto &task : tasks)
        try {
            perfmap::adopted adopted(task.cause);
            task.what();
        } catch (const std::exception &) {
            work(1000); // not on its behalf any more
        }
}

__attribute__((noinline)) static void makes_thread()
{
    std::thread(run_all).join();
}

int main()
{
    bytes = pm_define_metric("done_bytes", "bytes", "bytes");
    for (int i = 0; i < 100; i++)
        hands_over(i);
    makes_thread();
    std::printf("{hands_over Executes}, {work Executes}|done_bytes|4950|4950\n");
    std::printf("{makes_thread Executes}, {work Executes}|done_bytes|54950|54950\n");
    std::printf("{makes_thread Executes}, {work Executes}, not {hands_over Executes}|done_bytes|50000|50000\n");
    return 0;
}
