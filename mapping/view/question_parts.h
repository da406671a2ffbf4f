/* The answer to a question, between the files that make it: question_answer.c, question_threads.c,
 * question_notes.c. */
#ifndef PM_VIEW_QUESTION_PARTS_H
#define PM_VIEW_QUESTION_PARTS_H

#include "question.h"

/* question_answer.c: is the sentence, which fits, of a statement or of data? Not where a function
 * was named that they are in. */
bool pm_ask_is_fine(const struct pm_graph *graph, const struct pm_question_matches *matches,
                    pm_index sentence);

/* question_threads.c: the threads, processes or ranks that the question is about. ret_in:
 * [data->n_threads], to be freed; NULL: all. PM_ERR_NOT_FOUND: nothing of that name runs there. */
PM_MUST_CHECK enum pm_status pm_ask_find_threads(const struct pm_question *question,
                                                 const struct pm_archive_data *data,
                                                 struct pm_error *err, bool **ret_in);

/* question_notes.c: why sentences of the question fit nothing. PM_ERR_NOT_FOUND: one of them is
 * not known at all, and the answer depends on it. */
PM_MUST_CHECK enum pm_status pm_ask_note_nothing(struct pm_view *view,
                                                 const struct pm_question *question,
                                                 struct pm_answer *answer, struct pm_error *err);
/* What was not followed, or not all the time: notes, and marks of rows. is_live: the run goes
 * on. */
PM_MUST_CHECK enum pm_status pm_ask_note_gaps(struct pm_view *view,
                                              const struct pm_question *question, bool is_live,
                                              struct pm_answer *answer, struct pm_error *err);

#endif
