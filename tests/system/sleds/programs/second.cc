#include "both.h"

unsigned second(unsigned long x)
{
    return shared_inline((unsigned)x) + (unsigned)twice(x);
}
