/* Other programs that a verb runs: compilers, the loader, trials.
 *
 *     const char *const argv[] = {"cc", "-x", "c", "-", "-o", "made.so", NULL};
 *     struct cmd_command command = {.argv = argv, .input = PM_STR("int x;")};
 *     struct pm_error err = PM_ERROR_INIT;
 *     int end = cmd_command_run(&command, &err);     // 0: done; else its exit status, 128 + signal
 *
 * Nothing is printed here. One thread.
 */
#ifndef PM_CMD_COMMAND_H
#define PM_CMD_COMMAND_H

#include "mapping/base/str.h"

struct cmd_command {
    const char *const *argv; /* argv[0] is looked for in PATH when it has no slash */
    const char *folder;      /* where it runs; NULL: here */
    struct pm_str input;     /* on its standard input; of no bytes: nothing is there */
    /* Not NULL: what it writes on both outputs comes here, in English and without being measured;
     * it is ended with its children after timeout_ms (0: never). NULL: it writes where we do. */
    struct pm_buf *output;
    unsigned timeout_ms;
    bool is_quiet; /* as with an output, which is thrown away */
};

/* -1: it cannot be started, err (may be NULL) says why. */
int cmd_command_run(const struct cmd_command *command, struct pm_error *err);

#endif
