// Exceptions through several frames and loops, with destructors that work on the way, caught and thrown again, out of constructors, lambdas and
// function objects, out of loops of the function that catches; what comes after stands where it belongs.
#include "truth.h"

#include <functional>
#include <stdexcept>

namespace {
double units[7]; // bottom, guard, rethrown, made, called, after, mended
long n_bottom, n_guard, n_middle, n_made, n_after;

struct guard {
    NOINLINE ~guard()
    {
        n_guard++;
        units[1] += 1;
        BURN(10);
    }
};

NOINLINE void bottom(int i)
{
    n_bottom++;
    units[0] += 3;
    BURN(30);
    if (i % 2)
        throw std::runtime_error("odd");
}

NOINLINE void middle(int i)
{
    n_middle++;
    guard held;
    for (int k = 0; k < 3; k++) { // @middle
        guard each;
        bottom(i + k);
    }
    AGAIN();
}

NOINLINE void again(int i)
{
    try {
        middle(i);
    } catch (const std::runtime_error &) {
        units[2] += 2;
        BURN(20); // @rethrown
        throw;
    }
}

struct made {
    guard held;
    NOINLINE explicit made(int i)
    {
        n_made++;
        units[3] += 2;
        BURN(20);
        if (i % 3 == 0)
            throw i;
    }
};

NOINLINE void called(const std::function<void(int)> &work, int i)
{
    work(i);
    AGAIN();
}

NOINLINE void after()
{
    n_after++;
    units[5] += 5;
    BURN(50);
}

NOINLINE void mend()
{
    units[6] += 1;
    BURN(10);
}

// The loop is over where its exception is caught; the other one goes on.
NOINLINE void mends(int i)
{
    try {
        for (int k = 0; k < 3; k++) // @left
            if (k == i % 3)
                throw k;
            else
                AGAIN();
    } catch (int) {
        units[6] += 2;
        BURN(20); // @caught
        mend();
    }
    for (int k = 0; k < 2; k++) { // @goes_on
        try {
            if (k == i % 2)
                throw k;
        } catch (int) {
            units[6] += 1;
            BURN(10);
        }
    }
}

NOINLINE void turn(int i)
{
    mends(i);
    try {
        again(i);
    } catch (const std::exception &) {
    }
    try {
        made one(i);
        AGAIN();
    } catch (int) {
    }
    try {
        called(
            [](int k) {
                units[4] += 3;
                BURN(30); // @lambda
                if (k % 2)
                    throw k;
            },
            i);
    } catch (...) {
    }
    after();
}
} // namespace

int main()
{
    static const char *const names[] = {"bottom", "guard", "rethrown", "made", "called", "after", "mended"};
    double all = 0;
    for (int i = 0; i < 600; i++)
        turn(i);
    for (double value : units)
        all += value;
    for (int i = 0; i < 7; i++)
        truth(names[i], 100 * units[i] / all);
    truth("n_bottom", double(n_bottom));
    truth("n_guard", double(n_guard));
    truth("n_middle", double(n_middle));
    truth("n_made", double(n_made));
    truth("n_after", double(n_after));
}
