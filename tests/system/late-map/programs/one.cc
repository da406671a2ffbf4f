#include "shared.h"
int other(int);
int main(int argc, char **)
{
    int v[] = {1, 2, argc};
    counter c;
    try {
        c.add(total(v, 3));
        c.add(-argc);
    } catch (int by) {
        c.add(1);
    }
    return other(c.n) == 5;
}
