#include "truth.h"

void deed(int units);
void own(int units);
void calls_deed(int units);
void calls_own(int units);

NOINLINE void deed(int units)
{
    BURN(units);
    AGAIN();
}

NOINLINE void own(int units)
{
    BURN(units);
    AGAIN();
}

NOINLINE void calls_deed(int units)
{
    BURN(1);
    deed(units);
}

NOINLINE void calls_own(int units)
{
    BURN(1);
    own(units);
}
