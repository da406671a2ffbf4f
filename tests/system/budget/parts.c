/* parts N: writes 3 bytes N times in part(), 5 in other() once, and says so itself. */
#include "perfmap.h"

#include <stdlib.h>

static struct pm_metric written;
volatile unsigned long work;

__attribute__((noipa)) static void part(void)
{
    for (int i = 0; i < 10; i++)
        work += (unsigned long)i;
    pm_cost(written, 3);
}

__attribute__((noipa)) static void other(void)
{
    pm_cost(written, 5);
}

int main(int argc, char **argv)
{
    written = pm_define_metric("written", "bytes", "bytes");
    for (long n = argc > 1 ? atol(argv[1]) : 0; n > 0; n--)
        part();
    other();
}
