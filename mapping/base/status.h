/* Status codes and the error chain.
 *
 *     struct pm_error err = PM_ERROR_INIT;
 *     if (pm_pif_read_file(pif, path, &err) != PM_OK) {
 *         pm_error_print(&err, stderr);      // perfmap: PIF file 'a.pif' line 3: 'NUON' is not ...
 *         pm_error_release(&err);
 *     }
 *
 * A function that can fail returns enum pm_status and takes a struct pm_error * last but for its
 * ret_ parameters (NULL: the caller does not want the text). Libraries never print, exit or abort
 * on input. One thread at a time per object.
 */
#ifndef PM_STATUS_H
#define PM_STATUS_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#define PM_MUST_CHECK __attribute__((__warn_unused_result__))
#define PM_PRINTF(f, a) __attribute__((__format__(__printf__, f, a)))

enum pm_status {
    PM_OK = 0,
    PM_ERR_MEMORY,      /* allocation failed */
    PM_ERR_SYSTEM,      /* a system call failed */
    PM_ERR_FORMAT,      /* damaged or malformed input */
    PM_ERR_VERSION,     /* format of another version */
    PM_ERR_LIMIT,       /* a stated limit was reached */
    PM_ERR_NOT_FOUND,   /* the named thing does not exist */
    PM_ERR_USAGE,       /* wrong argument */
    PM_ERR_UNSUPPORTED, /* cannot be had on this machine or in this build */
};

/* A chain of causes, innermost first. Zero-initialised is empty. */
struct pm_error {
    char **causes; /* owned */
    int n_causes;
    enum pm_status status; /* of the innermost cause */
};

#define PM_ERROR_INIT \
    {                 \
        0             \
    }

/* Adds a cause (innermost first, so call it again on the way out to say what could not be done) and
 * returns status, for `return pm_error_set(err, PM_ERR_FORMAT, "...")`. err may be NULL. Style:
 * lower case, subject in quotes, numbers given. */
enum pm_status pm_error_set(struct pm_error *err, enum pm_status status, const char *format, ...)
    PM_PRINTF(3, 4);

/* The same with ": strerror(errnum)" added; status PM_ERR_SYSTEM. */
enum pm_status pm_error_system(struct pm_error *err, int errnum, const char *format, ...)
    PM_PRINTF(3, 4);

/* Adds a cause to an error already set, keeping its status, and returns that status. */
enum pm_status pm_error_add(struct pm_error *err, const char *format, ...) PM_PRINTF(2, 3);

/* All causes, innermost first, joined by " / ". Lent until the error changes; "" when empty.
 * Control bytes are shown as \xNN. */
const char *pm_error_text(const struct pm_error *err);

/* Prints "perfmap: <text>\n". */
void pm_error_print(const struct pm_error *err, FILE *out);

/* Empties it; may be used again. */
void pm_error_release(struct pm_error *err);

/* For our own mistakes only, never for input. */
#define PM_ASSERT(condition) \
    ((condition) ? (void)0 : pm_assert_failed(#condition, __FILE__, __LINE__))
_Noreturn void pm_assert_failed(const char *condition, const char *file, int line_no);

#endif
