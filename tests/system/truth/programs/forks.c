/* A parent and three children of fork, one of which has a child of its own. All wait for theirs. */
#include "truth.h"

#include <sys/wait.h>
#include <unistd.h>

static long n_unit;

NOINLINE static void unit(int n)
{
    n_unit++;
    BURN(n);
}

NOINLINE static void grandchild(void)
{
    for (int i = 0; i < 50; i++)
        unit(400);
}

NOINLINE static void child(int i)
{
    for (int k = 0; k <= i; k++)
        unit(10000);
    if (i == 2) {
        if (fork() == 0) {
            n_unit = 0;
            grandchild();
            truth("n_unit", (double)n_unit);
            truth("cpu_ms", PROCESS_MS());
            _exit(0);
        }
        wait(NULL);
    }
}

int main(void)
{
    for (int i = 0; i < 3; i++) {
        if (fork() == 0) {
            n_unit = 0;
            child(i);
            truth("n_unit", (double)n_unit);
            truth("cpu_ms", PROCESS_MS());
            _exit(0);
        }
    }
    unit(30000);
    while (wait(NULL) > 0)
        continue;
    /* 30 + 10 + 20 + 30 + 20, thousands of units */
    truth("child", 100 * 80 / 110.0);
    truth("grandchild", 100 * 20 / 110.0);
    truth("n_unit", (double)n_unit);
    truth("cpu_ms", PROCESS_MS());
    return 0;
}
