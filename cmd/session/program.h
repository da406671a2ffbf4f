/* The program that is to be measured: where it is, and whether it can be.
 *
 *     int exit;
 *     if (session_check_program("./heat", false, &notes, err, &exit) != PM_OK)
 *         return exit;
 */
#ifndef PM_SESSION_PROGRAM_H
#define PM_SESSION_PROGRAM_H

#include "notes.h"

/* As env(1), timeout(1), nice(1): our own failures must not look like the program's. */
enum { SESSION_FAILED = 125, SESSION_CANNOT_EXECUTE = 126, SESSION_NOT_FOUND = 127 };

/* Can this program be started, and can the runtime be preloaded into it? Looks it up as execvp(3)
 * does. ret_exit is set on failure. Refusals that `force` turns into a warning: static, setuid,
 * other machine. */
PM_MUST_CHECK enum pm_status session_check_program(const char *program, bool force,
                                                   struct session_notes *notes,
                                                   struct pm_error *err, int *ret_exit);

/* Where execvp(3) finds it. NULL: nowhere, or memory. The caller frees. */
char *session_find_program(const char *program);

/* Does the program's own file hold sleds? */
bool session_has_sleds(const char *program);

#endif
