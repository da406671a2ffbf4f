/* Places of code that are no statements: handlers, ends of blocks that destroy variables. */
#include <cstdio>
#include <stdexcept>
#include <string>

struct guard {
    std::string text;
    guard(int n) : text((size_t)n, 'x') {}
    ~guard() { text.clear(); }
};
static volatile int sink;

__attribute__((noinline)) static void thrower(int i)
{
    if (i % 3 == 1)
        throw std::runtime_error("one");
    if (i % 3 == 2)
        throw i;
    sink = i;
}

__attribute__((noinline)) static int handle(int i)
{
    int result = 0;
    {
        guard g(20 + i);
        try {
            thrower(i);
            result = 1;
        } catch (const std::exception &e) {
            result = 2 + e.what()[0];
        } catch (...) {
            result = 3;
        }
        sink = result +
               i *
                   3;
    }
    return result;
}

int main()
{
    int sum = 0;
    for (int i = 0; i < 300; i++)
        sum += handle(i);
    std::printf("%d\n", sum);
}
