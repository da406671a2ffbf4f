/* Functions of about 10 ns called millions of times, beside long ones: mode exact has to take its own cost out. */
#include "truth.h"

static long n_brief;

NOINLINE static unsigned brief(unsigned x)
{
    for (int i = 0; i < 4; i++)
        x = (x ^ x >> 7) * 1664525u + 1013904223u;
    n_brief++;
    return x;
}

NOINLINE static void steady(int n)
{
    BURN(n);
}

NOINLINE static unsigned caller(unsigned x, int n)
{
    for (int i = 0; i < n; i++)
        x ^= brief(x);
    return x;
}

int main(void)
{
    unsigned x = 1;
    double calling = 0, steadily = 0, start, end = THREAD_MS();
    for (int turn = 0; turn < 50; turn++) {
        start = THREAD_MS();
        x = caller(x, 120000);
        end = THREAD_MS();
        calling += end - start;
        steady(900);
        steadily += THREAD_MS() - end;
    }
    truth("calling", 100 * calling / (calling + steadily));
    truth("steady", 100 * steadily / (calling + steadily));
    truth("n_brief", (double)n_brief);
    return x == 0;
}
