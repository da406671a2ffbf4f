/* One call of `perfmap run`: what was asked for, and what is said when it has ended.
 *
 *     struct run_request request;
 *     run_request_init(&request);
 *     run_take_options(parse, &request);                 // parse->failed: said already
 *     ...                                                // the program runs
 *     int status = run_finish(parse, &request, &session, &end);
 *     run_request_release(&request);
 */
#ifndef PM_CMD_RUN_REQUEST_H
#define PM_CMD_RUN_REQUEST_H

#include "cmd/core/cmd.h"
#include "cmd/session/counters.h"
#include "cmd/session/session.h"

struct run_request {
    struct session_request session; /* output NULL: from the program's name */
    const char *adapters;           /* auto, none, or their names */
    const char *metrics;            /* --metric; NULL */
    struct session_counters counters;
    char *counters_text;             /* the session's; owned */
    const char **look_in, **same_as; /* of the session's; owned arrays of lent strings */
};

/* --- run_options.c --- */

extern const struct cmd_option run_options[];

void run_request_init(struct run_request *ret_request);
void run_request_release(struct run_request *request);
/* Reads the options up to the program, and refuses what cannot be together: parse->failed. */
void run_take_options(struct cmd_parse *parse, struct run_request *request);

/* --- run_finish.c --- */

/* Prints and empties them. */
void run_print_notes(struct session_notes *notes);
/* The program has ended: writes the manifest, makes the archive, answers the question and says
 * what was written. What was measured is kept whatever happens now. Returns the exit status of
 * `perfmap run`. */
int run_finish(struct cmd_parse *parse, const struct run_request *request, struct session *session,
               const struct session_end *end);

#endif
