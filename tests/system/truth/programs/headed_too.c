/* The other unit of headed.c. */
#include "truth.h"

#include "headed.h"

int headed_too(int n)
{
    BURN(30);
    return symbol(n);
}
