/* Four functions that call each other at random. Counts itself how often certain questions became true, from a stack of what is open. */
#include <stdio.h>

enum { SUM, SEND, INIT, WORK, N_KINDS };
enum { BOTH, SENDS_IN_SUMS, SUMS_IN_SENDS, NOT_IN_INIT, N_QUESTIONS };

static int open_kinds[64], depth;
static long counts[N_QUESTIONS];
static unsigned long long seed = 7;

static unsigned below(unsigned n)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(seed >> 33) % n;
}

static int is_true(int question)
{
    int sum = 0, send = 0, init = 0, send_in_sum = 0, sum_in_send = 0;
    for (int i = 0; i < depth; i++) {
        send_in_sum |= open_kinds[i] == SEND && sum;
        sum_in_send |= open_kinds[i] == SUM && send;
        sum |= open_kinds[i] == SUM;
        send |= open_kinds[i] == SEND;
        init |= open_kinds[i] == INIT;
    }
    switch (question) {
    case BOTH:
        return sum && send;
    case SENDS_IN_SUMS:
        return send_in_sum;
    case SUMS_IN_SENDS:
        return sum_in_send;
    default:
        return sum && !init;
    }
}

static void enter(int kind)
{
    int before[N_QUESTIONS];
    for (int q = 0; q < N_QUESTIONS; q++)
        before[q] = is_true(q);
    open_kinds[depth++] = kind;
    for (int q = 0; q < N_QUESTIONS; q++)
        counts[q] += !before[q] && is_true(q);
}

static void any(int levels);

static void sum(int levels)
{
    enter(SUM);
    any(levels - 1);
    depth--;
}

static void send_it(int levels)
{
    enter(SEND);
    any(levels - 1);
    depth--;
}

static void init(int levels)
{
    enter(INIT);
    any(levels - 1);
    depth--;
}

static void work(int levels)
{
    enter(WORK);
    any(levels - 1);
    depth--;
}

static void any(int levels)
{
    static void (*const functions[])(int) = {sum, send_it, init, work};
    for (unsigned n = levels > 0 ? below(3) + (levels > 5) : 0; n > 0; n--)
        functions[below(N_KINDS)](levels);
}

int main(void)
{
    for (int i = 0; i < 200; i++)
        any(8);
    for (int q = 0; q < N_QUESTIONS; q++)
        printf("%ld\n", counts[q]);
    return 0;
}
