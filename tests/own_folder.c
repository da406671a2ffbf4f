/* A unit test works in a folder of its own in the build folder, also when a person or a debugger
 * calls it elsewhere: one that was called at the source tree's top and killed left its run
 * folder there, and it was committed. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((constructor)) static void go_to_own_folder(void)
{
    if (chdir(PM_TEST_FOLDER) == 0)
        return;
    fputs("there is no " PM_TEST_FOLDER ": configure the build again\n", stderr);
    exit(2);
}
