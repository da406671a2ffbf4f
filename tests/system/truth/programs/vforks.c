/* A child by vfork that computes and ends: no sample stands for its time, which is below what called
 * vfork, and no row is without it and without a mark. */
#define _GNU_SOURCE
#include "truth.h"
#include <sys/wait.h>
#include <unistd.h>

NOINLINE static void in_child(void)
{
    BURN(2000);
    AGAIN();
}

NOINLINE static void in_parent(void)
{
    AGAIN();
    BURN(2000);
}

NOINLINE static void start_one(void)
{
    pid_t child = vfork();
    if (child == 0) {
        in_child();
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

NOINLINE static void before(void)
{
    for (int i = 0; i < 30; i++)
        in_parent();
}

int main(void)
{
    before();
    for (int i = 0; i < 30; i++)
        start_one();
    truth("in_child", 50);
    truth("in_parent", 50);
    return 0;
}
