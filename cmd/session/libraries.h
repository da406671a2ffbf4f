/* Which libraries a program is started with. */
#ifndef PM_SESSION_LIBRARIES_H
#define PM_SESSION_LIBRARIES_H

#include "mapping/base/status.h"
#include "mapping/base/str.h"

#include <stdbool.h>

/* True: the program needs only libraries of the compiler and its C library, so the loader need
 * not be asked, which takes a process, and half as long as all else before the program starts. */
bool session_needs_only_basics(const char *path);
/* What the loader says of a program's libraries, as text; nothing when it is none of the
 * loader's. */
PM_MUST_CHECK enum pm_status session_list_libraries(const char *path, struct pm_error *err,
                                                    struct pm_buf *text);
/* The path of the next library in that text, which is taken apart; NULL: that was all. rest: the
 * text at first. */
char *session_next_library(char **rest);

/* Is it one of those words, between blanks? list NULL: there are none. */
bool session_is_among(const char *list, const char *word, size_t len);

#endif
