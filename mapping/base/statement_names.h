/* Names of statements that have no place of their own, and are named by their function. */
#ifndef PM_STATEMENT_NAMES_H
#define PM_STATEMENT_NAMES_H

#include <stdbool.h>
#include <string.h>

/* How names of statements begin that stand for a function's head and closing brace: what
 * entering and leaving it costs (saving and restoring registers, taking parameters, returning).
 * All other statements are named by their place. */
#define PM_FRAME_STATEMENT "entry and exit of "
/* The one statement of a function or loop that has no line: for libraries and the kernel, where
 * it is not known what called them. */
#define PM_UNKNOWN_LINE_STATEMENT "called code, line not known, in "

/* Either of them: such a statement is made when code is found that is for it. */
static inline bool pm_is_named_by_function(const char *name)
{
    return !strncmp(name, PM_FRAME_STATEMENT, strlen(PM_FRAME_STATEMENT)) ||
           !strncmp(name, PM_UNKNOWN_LINE_STATEMENT, strlen(PM_UNKNOWN_LINE_STATEMENT));
}

#endif
