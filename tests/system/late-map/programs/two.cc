#include "shared.h"
int other(int x)
{
    int v[] = {x, 2, 3};
    counter c;
    c.add(total(v, 3));
    return c.n;
}
