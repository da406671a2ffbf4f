// Functions that are inlined and leave no instruction, beside calls of them as written.
#include "parts.h"
#include <vector>
struct config { bool verbose = false; int level = 3; };
static long n_traced, n_debug, n_level;
void trace(const char *) { }
bool is_debug() { return false; }
int level_of(const config &) { return 3; }
void (*tracer)(const char *) = trace;
bool (*debugging)() = is_debug;
int (*leveller)(const config &) = level_of;
NOINLINE long work(long n)
{
    long s = 0;
    config c;
    for (long i = 0; i < n; i++) {
        trace("work"); n_traced++;
        if (is_debug()) s += 100;
        n_debug++;
        s += level_of(c) * i; n_level++;
        BURN(1);
    }
    return s;
}
NOINLINE void direct(long n)
{
    config c;
    for (long i = 0; i < n; i++) {
        tracer("direct"); n_traced++;
        sink = debugging() + leveller(c); n_debug++; n_level++;
    }
}
int main()
{
    sink = work(5000);
    direct(300);
    truth("n_traced", n_traced); truth("n_debug", n_debug); truth("n_level", n_level);
}
