/* step() is called so often that counting its calls is most of the run. */
#include "../truth/programs/truth.h"

static volatile int sum;

NOINLINE static void step(int i)
{
    sum += i;
}

NOINLINE static void rest(void)
{
    BURN(1000);
}

int main(void)
{
    for (int i = 0; i < 20000000; i++)
        step(i);
    rest();
    return 0;
}
