/* A state machine: switch, computed goto, signals taken meanwhile, longjmp out of a depth of calls. */
#include "truth.h"

#include <setjmp.h>
#include <signal.h>

static jmp_buf back;
static volatile sig_atomic_t n_signals;
static long n_deep, n_jumps;

NOINLINE static void deep(int n)
{
    n_deep++;
    if (n == 0) {
        n_jumps++;
        BURN(20);
        longjmp(back, 1);
    }
    BURN(1);
    deep(n - 1);
    n_jumps += 1000000; /* never */
}

NOINLINE static void on_signal(int number)
{
    n_signals += number == SIGUSR1;
    BURN(10);
}

NOINLINE static void machine(int n)
{
    static const void *const states[] = {&&start, &&left, &&right, &&end};
    volatile int state = 0;
    while (n-- > 0) {
        goto *states[state];
    start:
        BURN(1);
        state = 1;
        continue;
    left:
        BURN(3);
        state = 2;
        continue;
    right:
        BURN(5);
        state = 3;
        continue;
    end:
        BURN(1);
        state = 0;
    }
}

int main(void)
{
    volatile int turns = 0;
    signal(SIGUSR1, on_signal);
    while (turns < 1000) {
        turns = turns + 1;
        if (setjmp(back) == 0)
            deep(10);
        machine(24); /* 60 */
        raise(SIGUSR1);
    }
    /* a turn: 30 + 60 + 10 */
    truth("deep", 30);
    truth("machine", 60);
    truth("on_signal", 10);
    truth("n_deep", (double)n_deep);
    truth("n_signals", (double)n_signals);
    return n_jumps != 1000;
}
