/* A chain of calls, each the last thing that its caller does: at -O2 they are jumps. */
#include "truth.h"

static long n_outer, n_word, n_space;

NOINLINE static unsigned word(unsigned x)
{
    n_word++;
    for (int i = 0; i < 8; i++)
        x = (x ^ x >> 3) * 22695477u;
    return x + 1;
}

NOINLINE static unsigned space(unsigned x)
{
    n_space++;
    return (x >> 1) * 69069u + 5;
}

static unsigned (*const kinds[])(unsigned) = {word, space, word, word};

NOINLINE static unsigned by_kind(unsigned x)
{
    return kinds[x >> 20 & 3](x);
}

NOINLINE static unsigned wrapper_inner(unsigned x)
{
    AGAIN();
    return by_kind(x ^ 0x5a5a);
}

NOINLINE static unsigned wrapper_outer(unsigned x)
{
    n_outer++;
    return wrapper_inner(x + 7);
}

NOINLINE static void steady(int n)
{
    BURN(n);
}

int main(void)
{
    unsigned x = 1;
    double wrapped = 0, steadily = 0;
    for (int turn = 0; turn < 50; turn++) {
        double start = THREAD_MS();
        for (int i = 0; i < 60000; i++)
            x = wrapper_outer(x);
        double middle = THREAD_MS();
        steady(400);
        wrapped += middle - start;
        steadily += THREAD_MS() - middle;
    }
    truth("wrapped", 100 * wrapped / (wrapped + steadily));
    truth("steady", 100 * steadily / (wrapped + steadily));
    truth("n_outer", (double)n_outer);
    truth("n_word", (double)n_word);
    truth("n_space", (double)n_space);
    return x == 0;
}
