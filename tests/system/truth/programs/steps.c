/* Turns that take just so long as the distance of two samples, by the thread's own clock: whatever asks at equal distances of that clock
 * finds each turn at the same place. */
#include "truth.h"

#define TURN_MS (1e3 / 1999) /* the table's rate */

NOINLINE static void until(double ms)
{
    while (THREAD_MS() < ms)
        BURN(1);
}

NOINLINE static void first(double ms)
{
    until(ms);
    AGAIN();
}

static volatile double last_ms; /* else the two are one function */

NOINLINE static void second(double ms)
{
    until(ms);
    last_ms = ms;
}

int main(void)
{
    enum { TURNS = 800 };
    double start_ms = THREAD_MS();
    for (int i = 0; i < TURNS; i++) {
        first(start_ms + (i + 0.6) * TURN_MS);
        second(start_ms + (i + 1) * TURN_MS);
    }
    truth("first", 60);
    truth("second", 40);
    truth("n_turns", TURNS);
    return 0;
}
