/* A daemon: its parents are gone when it does its work. The run's end waits for it only with --wait. */
#include "truth.h"

#include <unistd.h>

NOINLINE static void serve(int n)
{
    BURN(n);
}

NOINLINE static void prepare(int n)
{
    BURN(n - 1);
    BURN(1);
}

int main(void)
{
    prepare(10000);
    truth("cpu_ms", PROCESS_MS());
    if (daemon(1, 1) != 0)
        return 1;
    serve(90000);
    truth("serve", 90);
    truth("cpu_ms", PROCESS_MS());
    return 0;
}
