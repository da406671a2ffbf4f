/* setjmp() in a loop, and longjmp() back into it from a later loop of the same function: from then on the earlier loop is what runs. */
#include "truth.h"

#include <setjmp.h>

static jmp_buf again;
static long n_first, n_second;
static volatile int round_no;

NOINLINE static void work(int units)
{
    BURN(units);
    AGAIN();
}

NOINLINE static void other(int units)
{
    BURN(units + 1);
    AGAIN();
}

/* Each time: four rounds of the first loop and one of the second, which jumps back into the first; then four and three of them. */
NOINLINE static void attempt(void)
{
    volatile int tries = 0;
    n_first++;
    for (round_no = 0; round_no < 4; round_no++) { /* @first */
        if (setjmp(again) != 0)
            round_no = 0;
        work(3);
    }
    n_second++;
    for (volatile int i = 0; i < 3; i++) { /* @second */
        other(1);
        if (tries++ == 0)
            longjmp(again, 1);
    }
}

int main(void)
{
    for (int i = 0; i < 3000; i++)
        attempt();
    truth("first", 100.0 * 24 / 32);
    truth("second", 100.0 * 8 / 32);
    truth("n_first", (double)n_first);
    truth("n_second", (double)n_second);
    return 0;
}
