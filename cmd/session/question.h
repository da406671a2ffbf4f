/* A question that a run is started with: only what it needs is followed.
 *
 *     struct session_question asked = {.text = "{u Reads}"};
 *     if (session_question_parse(&asked, err) == PM_OK &&
 *         session_question_look(&asked, &sources, &settings, &notes, err, &needs) == PM_OK)
 *         use(needs, asked.samples);
 *     session_question_release(&asked);
 */
#ifndef PM_SESSION_QUESTION_H
#define PM_SESSION_QUESTION_H

#include "notes.h"
#include "plan.h"
#include "settings.h"

#include "mapping/question/question.h"

/* What was asked, and what it comes to for this program. */
struct session_question {
    const char *text, *metrics; /* lent; text NULL: nothing was asked */
    struct pm_question *question;
    uint64_t n_sleds, n_all_sleds;
    bool samples; /* it cannot be answered without */
};

/* The files in which names are looked up. */
struct session_sources {
    const char *program;        /* as execvp(3) takes it */
    const char *const *look_in; /* other programs and libraries */
    size_t n_look_in;
};

/* Wrong usage (with the character that is wrong) is PM_ERR_USAGE. */
PM_MUST_CHECK enum pm_status session_question_parse(struct session_question *asked,
                                                    struct pm_error *err);
/* What of the program, its libraries and the files of look_in has to be followed. Notes what is
 * armed. PM_ERR_USAGE: names that nothing has. The caller releases ret_modes. */
PM_MUST_CHECK enum pm_status session_question_look(struct session_question *asked,
                                                   const struct session_sources *sources,
                                                   const struct session_settings *settings,
                                                   struct session_notes *notes,
                                                   struct pm_error *err,
                                                   struct mode_needs *ret_modes);
void session_question_release(struct session_question *asked);

#endif
