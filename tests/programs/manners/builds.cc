// A program that allocates, throws, starts threads and forks: compiled with sanitizers, and run with another allocator preloaded.
#define NAMES(x) x(leaf) x(work) x(thrower) x(catcher)
#include "counts.h"

#include <csignal>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <vector>

SEPARATE static long leaf(long n)
{
    COUNT(leaf);
    return n + 1;
}

SEPARATE static long work(long n)
{
    COUNT(work);
    std::map<std::string, std::unique_ptr<long>> map;
    long sum = 0;
    for (long i = 0; i < n; i++)
        map[std::to_string(i * 7919 % 1000)] = std::make_unique<long>(leaf(i));
    for (const auto &entry : map)
        sum += *entry.second;
    return sum;
}

SEPARATE static void thrower(long depth)
{
    COUNT(thrower);
    std::string text(static_cast<size_t>(depth * 10), 'x');
    for (long i = 0; i < 3; i++)
        for (long k = 0; k < 3; k++)
            if (depth == 0 && i + k == 3)
                throw std::runtime_error(text);
    if (depth > 0)
        thrower(depth - 1);
}

SEPARATE static long catcher(long n)
{
    COUNT(catcher);
    long caught = 0;
    for (long i = 0; i < n; i++)
        try {
            work(3);
            thrower(i % 7);
        } catch (const std::exception &) {
            caught++;
        }
    return caught;
}

static void on_signal(int number)
{
    leaf(number);
}

static int everything()
{
    std::vector<std::thread> threads;
    signal(SIGUSR1, on_signal);
    for (long i = 0; i < 8; i++)
        threads.emplace_back([i] {
            for (long k = 0; k < 20; k++) {
                work(100 + i);
                catcher(10);
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    pid_t child = fork();
    if (child == 0) {
        catcher(50);
        _exit(3);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 3);
    for (int i = 0; i < 20; i++)
        raise(SIGUSR1);
    printf("%ld %ld\n", work(2000), catcher(500));
    return 7;
}

// What sanitizers are for: they must find it all the same.
static int overflow()
{
    std::vector<long> numbers(10);
    volatile size_t beyond = 10;
    work(10);
    return static_cast<int>(numbers.data()[beyond]);
}

static long shared;

static int race()
{
    std::thread other([] { shared += work(50); });
    shared += work(50);
    other.join();
    return 7;
}

int main(int argc, char **argv)
{
    static const struct a_case cases[] = {{"everything", everything}, {"overflow", overflow}, {"race", race}};
    return RUN_CASE(cases, argc, argv);
}
