/* Functions of about 3, 10 and 30 ns, each called many times by a caller of its own, beside a long one. In mode exact a call costs
 * more than most of these. */
#include "truth.h"

static long n_three, n_ten, n_thirty;

NOINLINE static unsigned three(unsigned x)
{
    AGAIN();
    return x * 3 + 1;
}

NOINLINE static unsigned ten(unsigned x)
{
    for (int i = 0; i < 6; i++)
        x = (x ^ x >> 5) * 1664525u;
    AGAIN();
    return x;
}

NOINLINE static unsigned thirty(unsigned x)
{
    for (int i = 0; i < 20; i++)
        x = (x ^ x >> 5) * 1664525u;
    AGAIN();
    return x;
}

NOINLINE static unsigned call_three(unsigned x, int n)
{
    for (int i = 0; i < n; i++, n_three++)
        x = three(x);
    return x;
}

NOINLINE static unsigned call_ten(unsigned x, int n)
{
    for (int i = 0; i < n; i++, n_ten++)
        x = ten(x);
    return x;
}

NOINLINE static unsigned call_thirty(unsigned x, int n)
{
    for (int i = 0; i < n; i++, n_thirty++)
        x = thirty(x);
    return x;
}

NOINLINE static void steady(int n)
{
    BURN(n);
}

int main(void)
{
    enum { TURNS = 40 };
    unsigned x = 1;
    double spent[4] = {0}, all = 0;
    for (int turn = 0; turn < TURNS; turn++) {
        double at[5] = {THREAD_MS()};
        x = call_three(x, 300000);
        at[1] = THREAD_MS();
        x = call_ten(x, 200000);
        at[2] = THREAD_MS();
        x = call_thirty(x, 60000);
        at[3] = THREAD_MS();
        steady(1500);
        at[4] = THREAD_MS();
        for (int i = 0; i < 4; i++)
            spent[i] += at[i + 1] - at[i];
        all += at[4] - at[0];
    }
    truth("threes", 100 * spent[0] / all);
    truth("tens", 100 * spent[1] / all);
    truth("thirties", 100 * spent[2] / all);
    truth("steady", 100 * spent[3] / all);
    truth("n_three", (double)n_three);
    truth("n_ten", (double)n_ten);
    truth("n_thirty", (double)n_thirty);
    return x == 0;
}
