/* A folder of its own for each test, with an empty run folder x.run in it.
 *
 *     const struct CMUnitTest tests[] = {IN_FOLDER(a_run_becomes_an_archive)};
 */
#ifndef PM_TEST_IN_FOLDER_H
#define PM_TEST_IN_FOLDER_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char home[4096];

static int enter_folder(void **state)
{
    (void)state;
    static char dir[64];
    snprintf(dir, sizeof dir, "test-XXXXXX");
    return getcwd(home, sizeof home) && mkdtemp(dir) && chdir(dir) == 0 ? mkdir("x.run", 0777) : -1;
}

static int leave_folder(void **state)
{
    (void)state;
    char here[4096], command[9000];
    if (!getcwd(here, sizeof here) || chdir(home) != 0)
        return -1;
    snprintf(command, sizeof command, "chmod -R u+w '%s'; rm -rf '%s'", here, here);
    return system(command);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter_folder, leave_folder)

#endif
