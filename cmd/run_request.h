/* One call of `perfmap run`: what was asked for, and who reads, does and ends it.
 *
 *     struct run_request request;
 *     run_request_init(&request);
 *     run_take_options(parse, &request);                 // parse->failed: said already
 *     ...the program runs...
 *     int status = run_finish(parse, &request, &output, &manifest, control, &end);
 *     run_request_release(&request);
 */
#ifndef PM_CMD_RUN_REQUEST_H
#define PM_CMD_RUN_REQUEST_H

#include "run.h"
#include "run_modes.h"

struct run_request {
    const char *output; /* NULL: from the program's name */
    bool collect, force;
    struct run_settings settings;
    struct mode_rules rules;
    struct run_question asked;
    struct mode_needs needs; /* of the question */
    const char *adapters;    /* auto, none, or their names */
    const char **look_in;    /* other files that patterns are looked up in; lent */
    size_t n_look_in;
    bool fix; /* the budget leaves alone what patterns name */
    bool rate_given;
    char **argv;
    int n_args;
};

/* --- run_options.c --- */

extern const struct cmd_option run_options[];

void run_request_init(struct run_request *ret_request);
void run_request_release(struct run_request *request);
/* Reads the options up to the program, and refuses what cannot be together: parse->failed. */
void run_take_options(struct cmd_parse *parse, struct run_request *request);
/* The modes count and off have none. */
bool run_has_contexts(const struct run_settings *settings);

/* --- run_finish.c --- */

/* That it stays is no failure. */
void run_drop_folder(const char *run_dir);
/* The program has ended: writes the manifest, makes the archive, answers the question and says
 * what was written. What was measured is kept whatever happens now. Returns the exit status of
 * `perfmap run`. */
int run_finish(struct cmd_parse *parse, const struct run_request *request,
               const struct run_output *output, struct pm_manifest *manifest,
               struct run_control *control, const struct run_end *program);

#endif
