/* Asked about as it is without the plugin (./plain): samples tell whose code it is, not who called it. */
#include "truth.h"

NOINLINE static void leaf(int n)
{
    for (int k = 0; k < n; k++) {
        BURN(10);
        AGAIN();
    }
}

NOINLINE static void calls(int n)
{
    BURN(10 * n);
    leaf(2 * n);
    AGAIN();
}

NOINLINE static void calls_in_loop(int n)
{
    for (int k = 0; k < n; k++) { /* @calling */
        BURN(10);
        leaf(1);
    }
    for (int k = 0; k < n; k++) { /* @alone */
        AGAIN();
        BURN(10); /* which is a loop of machine code, too */
    }
}

static inline __attribute__((always_inline)) void passes_on(int n)
{
    BURN(10 * n);
    leaf(n);
}

NOINLINE static void outer(int n)
{
    passes_on(n);
    BURN(n);
}

int main(void)
{
    for (int k = 0; k < 10; k++) {
        calls(200);
        calls_in_loop(200);
        outer(200);
    }
    double all = 8.1;
    truth("leaf", 100 * 4. / all);
    truth("calls", 100 * 3. / all);
    truth("calls_in_loop", 100 * 3. / all);
    truth("calling", 100 * 2. / all);
    truth("alone", 100 * 1. / all);
    truth("passes_on", 100 * 2. / all);
    truth("outer", 100 * 2.1 / all);
    truth("burn", 100 * 1. / all);
    return 0;
}
