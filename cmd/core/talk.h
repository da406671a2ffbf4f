/* What is said beside results, and names as a shell takes them. */
#ifndef PM_CMD_TALK_H
#define PM_CMD_TALK_H

#include "mapping/base/status.h"
#include "mapping/base/str.h"

/* Talk: one line on stderr with "perfmap: " in front; control bytes in it are shown as \xNN. */
void cmd_talk(const char *format, ...) PM_PRINTF(1, 2);

/* text as one word of a shell's command line: as it is, in '...', or in $'...' when it holds
 * control bytes. free() it; NULL: memory. */
char *cmd_shell_quote(const char *text);
/* The same for a file's name: one that begins with '-' gets './' in front of it. */
char *cmd_shell_quote_file(const char *name);

#endif
