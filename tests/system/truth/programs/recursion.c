/* Functions that call themselves and each other: inclusive times count once, calls are counted by the functions themselves. */
#include "truth.h"

static long n_down, n_even, n_odd, burnt_down, burnt_even, burnt_odd;

NOINLINE static int down(int n)
{
    n_down++;
    BURN(8);
    burnt_down += 8;
    int below = n > 0 ? down(n - 1) : 0;
    return below + (n & 1);
}

static int odd(int n);

NOINLINE static int even(int n)
{
    n_even++;
    BURN(2);
    burnt_even += 2;
    return n == 0 ? 1 : 1 - odd(n - 1);
}

NOINLINE static int odd(int n)
{
    n_odd++;
    BURN(6);
    burnt_odd += 6;
    return n == 0 ? 1 : 1 - even(n - 1);
}

int main(void)
{
    int sum = 0;
    for (int i = 0; i < 300; i++) {
        sum += down(20);
        sum += even(30);
    }
    double all = (double)(burnt_down + burnt_even + burnt_odd) / 100;
    truth("down", (double)burnt_down / all);
    truth("even", (double)burnt_even / all);
    truth("odd", (double)burnt_odd / all);
    truth("first_even", 300 * 2 / all); /* of each descent the outermost is in no other */
    truth("n_down", (double)n_down);
    truth("n_even", (double)n_even);
    truth("n_odd", (double)n_odd);
    printf("%d\n", sum);
    return 0;
}
