/* Several sources in one, with functions of the same names: each has its own. */
#include "truth.h"

#define PART left
#define UNITS 3
#include "unity.inc"
#undef PART
#undef UNITS
#define PART right
#define UNITS 7
#include "unity.inc"

int main(void)
{
    enum { TURNS = 6000 };
    for (int i = 0; i < TURNS; i++) {
        left_work();
        right_work();
    }
    truth("left", 30);
    truth("right", 70);
    truth("n_turns", TURNS);
    return 0;
}
