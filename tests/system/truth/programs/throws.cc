// Exceptions through several frames: what was left counts no longer.
#include "truth.h"

#include <stdexcept>

namespace {
long n_thrower, n_caught;

NOINLINE void thrower(int i)
{
    n_thrower++;
    BURN(10);
    if (i % 4 == 0)
        throw std::runtime_error("now and then");
    BURN(4);
}

NOINLINE void between(int i)
{
    struct at_end {
        ~at_end() { BURN(2); }
    } guard;
    thrower(i);
    BURN(4);
}

NOINLINE void cleanup()
{
    n_caught++;
    BURN(16);
}
} // namespace

int main()
{
    for (int i = 0; i < 5000; i++) {
        try {
            between(i);
        } catch (const std::exception &) {
            cleanup();
        }
    }
    // four turns: thrower 4 * 10 + 3 * 4, between 4 * 2 + 3 * 4, cleanup 16: 52 + 20 + 16
    truth("thrower", 100 * 52 / 88.0);
    truth("between", 100 * 72 / 88.0);
    truth("cleanup", 100 * 16 / 88.0);
    truth("n_thrower", n_thrower);
    truth("n_caught", n_caught);
    return 0;
}
