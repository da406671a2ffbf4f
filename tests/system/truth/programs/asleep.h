/* OpenMP: threads that wait for each other sleep. How long they would spin is not the waiting
 * code's, and depends on what else the machine does. */
#ifndef ASLEEP_H
#define ASLEEP_H
#include <stdlib.h>
#include <unistd.h>
/* The variable is read before main, so the program begins again. */
static void wait_asleep(char **argv)
{
    if (getenv("OMP_WAIT_POLICY"))
        return;
    setenv("OMP_WAIT_POLICY", "passive", 1);
    execv("/proc/self/exe", argv);
}
#endif
