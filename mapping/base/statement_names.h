/* Names of statements that have no place of their own, and are named by their function. */
#ifndef PM_STATEMENT_NAMES_H
#define PM_STATEMENT_NAMES_H

/* How names of statements begin that stand for a function's head and closing brace: what
 * entering and leaving it costs (saving and restoring registers, taking parameters, returning).
 * All other statements are named by their place. */
#define PM_FRAME_STATEMENT "entry and exit of "
/* The one statement of a function or loop that has no line: for libraries and the kernel, where
 * it is not known what called them. */
#define PM_UNKNOWN_LINE_STATEMENT "called code, line not known, in "

#endif
