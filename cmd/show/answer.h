/* The answer to a question, as a table, as JSON, as CSV.
 *
 *     struct pm_view view = {.options = view_options};
 *     struct show_answer_options options = {.text = "{u Reads}", .limit = 20};
 *     status = show_question(&view, &options, &err); // parses, asks, prints
 *     pm_view_release(&view);
 */
#ifndef PM_SHOW_ANSWER_H
#define PM_SHOW_ANSWER_H

#include "show.h"

#include "mapping/view/question.h"

/* A part of a run that goes on. */
struct show_interval {
    uint64_t pid;
    double from_s, to_s; /* since the question was asked */
};

enum { SHOW_ANSWER_ROWS = 20 }; /* of a table, unless told otherwise */

struct show_answer_options {
    const char *text; /* of the question */
    uint64_t limit;   /* rows; 0: all */
    bool json, csv;
    struct show_look look;
    FILE *out;                            /* NULL: standard output */
    const struct pm_ask_cost *cost;       /* NULL: not told */
    const struct show_interval *interval; /* NULL: the whole run, which is over */
};

/* Asks the archive of the view's options, and prints the answer. PM_ERR_USAGE: it is no
 * question; sentences that may be meant are in the error. */
PM_MUST_CHECK enum pm_status show_question(struct pm_view *report,
                                           const struct show_answer_options *options,
                                           struct pm_error *err);
/* An answer that is there already. The report has the archive's data, its metrics and its time. */
PM_MUST_CHECK enum pm_status show_answer(struct pm_view *report, const struct pm_question *question,
                                         const struct pm_answer *answer,
                                         const struct show_answer_options *options,
                                         struct pm_error *err);

#endif
