/* A child by vfork, or by a clone() that is one, that computes and ends: no sample stands for its
 * time, which is below what called vfork, and no row is without it and without a mark. */
#define _GNU_SOURCE
#include "truth.h"
#include <sched.h>
#include <signal.h>
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

static int child_of_clone(void *nothing)
{
    (void)nothing;
    in_child();
    return 0;
}

NOINLINE static void clone_one(void)
{
    static char stack[65536] __attribute__((aligned(64)));
    int flags = CLONE_VM | CLONE_VFORK | SIGCHLD;
    waitpid(clone(child_of_clone, stack + sizeof stack, flags, NULL), NULL, 0);
}

int main(void)
{
    before();
    for (int i = 0; i < 15; i++) {
        start_one();
        clone_one();
    }
    truth("in_child", 50);
    truth("in_parent", 50);
    return 0;
}
