/* Loops in loops: each has a share of its own. How often they go round is not known to the compiler. */
#include "truth.h"

NOINLINE static void nest(int n, int n_middle, int n_inner)
{
    for (int i = 0; i < n; i++) { /* @outer */
        BURN(20);
        for (int j = 0; j < n_middle; j++) { /* @middle */
            BURN(10);
            for (int k = 0; k < n_inner; k++) /* @inner */
                BURN(2);
        }
    }
    for (int i = 0; i < n; i++) /* @second */
        BURN(20);
}

int main(void)
{
    volatile int n_middle = 3, n_inner = 5;
    nest(1200, n_middle, n_inner);
    /* a turn: 20 + 30 + 30 + 20 */
    truth("outer", 20);
    truth("middle", 30);
    truth("inner", 30);
    truth("second", 20);
    truth("n_middle", 1200);
    truth("n_inner", 3600);
    return 0;
}
