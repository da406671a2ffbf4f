/* What the shells are told when somebody presses the Tab key. */
#ifndef PM_CMD_COMPLETE_H
#define PM_CMD_COMPLETE_H

#include "cmd.h"

/* complete.c: prints how the question that begins so may go on, one way a line. */
PM_MUST_CHECK enum pm_status complete_question(const char *text, const char *archive, FILE *out,
                                               struct pm_error *err);

/* complete_words.c: prints what the last of the words of a command line may be, the whole word,
 * one way a line, with a tab and what it means behind it where that is known. ":files": any
 * file. words[0] is perfmap. */
PM_MUST_CHECK enum pm_status complete_words(const struct cmd *perfmap, char *const *words, int n,
                                            struct pm_error *err);

/* complete_shells.c */
enum complete_shell { COMPLETE_BASH, COMPLETE_ZSH, COMPLETE_FISH };
void complete_print_script(const struct cmd *perfmap, enum complete_shell shell, FILE *out);

#endif
