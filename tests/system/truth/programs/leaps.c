/* setjmp and longjmp over functions and loops that never end: out of nested loops, out of recursion, from a signal's handler, over a
 * function whose last call is a jump, and back into a loop that goes on. */
#include "truth.h"

#include <setjmp.h>
#include <signal.h>

static jmp_buf back, again;
static sigjmp_buf from_handler;
static long n_deep, n_inner, n_retry, n_last, n_after;
static double units[6]; /* deep, search, retry, last, handled, after */

NOINLINE static void deep(int depth)
{
    n_deep++;
    units[0] += 1;
    BURN(1);
    if (depth == 0)
        longjmp(back, 1);
    deep(depth - 1);
    AGAIN();
}

NOINLINE static void search(int found)
{
    for (int i = 0; i < 8; i++) /* @outer */
        for (int k = 0; k < 8; k++) { /* @inner */
            n_inner++;
            units[1] += 1;
            BURN(1);
            if (i * 8 + k == found)
                longjmp(back, 2);
        }
}

NOINLINE static void retry(void)
{
    n_retry++;
    units[2] += 2;
    BURN(2);
    longjmp(again, 1);
}

NOINLINE static void last(void)
{
    n_last++;
    units[3] += 3;
    BURN(3);
    longjmp(back, 3);
}

NOINLINE static void jumps_to_last(void)
{
    AGAIN();
    last();
}

static void on_signal(int number)
{
    (void)number;
    units[4] += 3;
    BURN(3);
    siglongjmp(from_handler, 1);
}

NOINLINE static void raises(void)
{
    for (int i = 0; i < 3; i++) /* @raising */
        if (i == 1)
            raise(SIGUSR1);
}

NOINLINE static void after(void)
{
    n_after++;
    units[5] += 4;
    BURN(4);
}

NOINLINE static void turn(int number)
{
    volatile int tries = 0;
    if (setjmp(back) == 0)
        deep(7);
    if (setjmp(back) == 0)
        search(number % 40);
    setjmp(again);
    if (tries++ < 3)
        retry();
    if (setjmp(back) == 0)
        jumps_to_last();
    if (sigsetjmp(from_handler, 1) == 0)
        raises();
    after();
}

int main(void)
{
    static const char *const names[] = {"deep", "search", "retry", "last", "handled", "after"};
    double all = 0;
    signal(SIGUSR1, on_signal);
    for (int i = 0; i < 2000; i++)
        turn(i);
    for (int i = 0; i < 6; i++)
        all += units[i];
    for (int i = 0; i < 6; i++)
        truth(names[i], 100 * units[i] / all);
    truth("n_deep", (double)n_deep);
    truth("n_retry", (double)n_retry);
    truth("n_last", (double)n_last);
    truth("n_after", (double)n_after);
    return 0;
}
