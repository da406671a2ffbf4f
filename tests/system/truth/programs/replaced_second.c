#include "truth.h"

void deed(int units);

NOINLINE void deed(int units)
{
    BURN(3 * units);
    AGAIN();
}
