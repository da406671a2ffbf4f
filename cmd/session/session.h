/* A measured run, from its preparation to its archive. Nothing here prints: what people should
 * know comes back as notes, what is wrong as errors. Verbs show both.
 *
 *     struct session session;
 *     struct session_end end = {.exit = SESSION_FAILED};
 *     if (session_prepare(&request, &notes, err, &session, &end.exit) == PM_OK &&
 *         session_open(&session, &notes, err) == PM_OK &&
 *         session_run(&session, &notes, err, &end) == PM_OK) {
 *         session_finish(&session, &end, &notes, err, &findings);
 *         session_collect(&session, &findings, &notes, err, &kept_as);
 *     }
 *     session_release(&session);
 *
 * One thread, and one session of a process at a time: signals and the environment are shared.
 *
 *   session     the steps above                 request: what is measured, how, and where it goes
 *   job         ranks that are measured one by one
 *   program     can it be started?              output: names, run folders
 *   plan        modes of single nouns           need, question: what a question needs of a program
 *   adapters    which are preloaded             libraries: what the loader loads
 *   start       a target and its end            target: what can be measured; child: a program
 *                                               that is started; environment, signals, clock
 *   control     the run's socket                control_line: its requests; control_page: the
 *                                               processes' control chunks; client: the other end
 *   kernel      what the kernel writes          kernel_files: whose bytes these are
 *   pack        packs run files meanwhile       findings: what the run files say; notes
 *   machine     what it ran on
 */
#ifndef PM_SESSION_H
#define PM_SESSION_H

#include "child.h"
#include "control.h"
#include "findings.h"
#include "job.h"
#include "kernel.h"
#include "machine.h"
#include "output.h"
#include "program.h"
#include "question.h"
#include "start.h"

/* What is asked of a session. Texts and arrays are lent, and live as long as the session. */
struct session_request {
    struct session_target *target; /* lent; NULL: a child, which is started */
    char *const *argv;             /* the program and its arguments; NULL ends */
    size_t n_args;
    const char *output;            /* name of the archive, or of the run folder */
    bool collect;                  /* an archive is made */
    const struct session_job *job; /* lent: of which this is one rank; NULL: none */
    bool force;                    /* start also a program that the runtime cannot be loaded into */
    struct session_settings settings;
    bool rate_given; /* samples are taken also where the question needs none */
    bool fix;        /* the budget leaves alone what patterns name */
    struct mode_rules rules;
    struct pm_selection *selection; /* others are off; NULL: everything is measured */
    struct session_question asked;
    /* Archives: what was not followed there all the time is not followed from the start. */
    const char *const *same_as;
    size_t n_same_as;
    const char *const *look_in; /* other files that patterns are looked up in */
    size_t n_look_in;
};

struct session {
    /* --- to be read --- */
    /* as given, but samples are off when the question needs none; rules are taken */
    struct session_request *request; /* lent */
    struct session_output output;    /* from session_open on */
    struct pm_manifest manifest;     /* complete when it has run */
    /* --- private --- */
    struct session_target *target;
    struct session_child child; /* the target, unless the request has another */
    struct mode_names *names;   /* kept for those who change modes */
    struct mode_needs needs;    /* of the question */
    struct session_instant prepared;
    struct session_machine machine;
    struct session_control *control;
    struct session_kernel *kernel;
};

/* Checks what was asked for, and finds what it means in the program. Nothing is written yet.
 * ret_exit, set on failure: 125 to 127 as env(1), or SESSION_USAGE for patterns and questions that
 * mean nothing. ret_session has to be released in any case. */
enum { SESSION_USAGE = 2 };
PM_MUST_CHECK enum pm_status session_prepare(struct session_request *request,
                                             struct session_notes *notes, struct pm_error *err,
                                             struct session *ret_session, int *ret_exit);
/* Makes the run folder, the plan and the control socket. Without a socket, or without the kernel's
 * events, the run goes on, with a warning. */
PM_MUST_CHECK enum pm_status session_open(struct session *session, struct session_notes *notes,
                                          struct pm_error *err);
/* Measures the target, until it has ended. On failure the run folder is removed. */
PM_MUST_CHECK enum pm_status session_run(struct session *session, struct session_notes *notes,
                                         struct pm_error *err, struct session_end *ret_end);
/* Of a job's rank, before session_finish. *ret_is_last: all others have ended, too, and theirs is
 * in this run folder now. Others have nothing more to do. */
PM_MUST_CHECK enum pm_status session_leave_job(struct session *session, struct session_notes *notes,
                                               struct pm_error *err, bool *ret_is_last);
/* Writes the manifest, packs what stays, and looks at what the run left: ret_findings is filled on
 * failure, too. */
PM_MUST_CHECK enum pm_status session_finish(struct session *session, const struct session_end *end,
                                            struct session_notes *notes, struct pm_error *err,
                                            struct session_findings *ret_findings);
/* Makes the archive. The run folder goes away only when all of it is in the archive; on failure it
 * stays. ret_kept_as: the name that the archive before has now, to be freed; NULL: none. */
PM_MUST_CHECK enum pm_status session_collect(struct session *session,
                                             const struct session_findings *findings,
                                             struct session_notes *notes, struct pm_error *err,
                                             char **ret_kept_as);
/* The control socket goes away with it. */
void session_release(struct session *session);

#endif
