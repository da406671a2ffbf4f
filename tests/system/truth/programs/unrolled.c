/* Loops that go round a few times, which the compiler may unroll wholly, and a function inlined into three loops. */
#include "truth.h"

static int mix(int x)
{
    BURN(3); /* @mix */
    return x * 5 + 1;
}

NOINLINE static int work(int n)
{
    int x = n;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < 2; j++)
            BURN(4); /* @twice */
        for (int j = 0; j < 4; j++)
            BURN(5); /* @four */
        x = mix(x);
        BURN(9); /* @once */
    }
    return x;
}

int main(void)
{
    int x = work(2500); /* 8 + 20 + 3 + 9 */
    for (int i = 0; i < 2500; i++)
        x = mix(x);
    truth("twice", 100 * 8 / 43.0);
    truth("four", 100 * 20 / 43.0);
    truth("mix", 100 * 6 / 43.0);
    truth("once", 100 * 9 / 43.0);
    truth("work", 100 * 40 / 43.0);
    return x == 0;
}
