/* Something that may crash, hang or print, done in a child: what a foreign library does when it is
 * loaded and tried.
 *
 *     static void ask(void *context, FILE *out) { fprintf(out, "%d\n", foreign_call(context)); }
 *
 *     char *text;
 *     if (session_trial_run(ask, context, "the library 'x.so'", err, &text) == PM_OK)
 *         ... // what was printed; free(text)
 */
#ifndef PM_SESSION_TRIAL_H
#define PM_SESSION_TRIAL_H

#include "mapping/base/status.h"

#include <stdio.h>

/* out: to be told; standard output and error lead nowhere. It returns, or the trial has failed. */
typedef void session_trial_work(void *context, FILE *out);

/* PM_ERR_SYSTEM: the child crashed, or took longer than 20 s, which err says of `what`. ret_text is
 * what it was told, to be freed. */
PM_MUST_CHECK enum pm_status session_trial_run(session_trial_work *work, void *context,
                                               const char *what, struct pm_error *err,
                                               char **ret_text);

#endif
