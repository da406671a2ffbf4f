/* The answer to a question, between the files that make it: question_answer.c, question_threads.c,
 * question_notes.c, question_marks.c, question_lacking.c, question_levels.c, question_seen.c,
 * question_untimed.c, question_missing.c,
 * question_folded.c, question_own.c, question_ways.c. */
#ifndef PM_VIEW_QUESTION_PARTS_H
#define PM_VIEW_QUESTION_PARTS_H

#include "question.h"

/* Of the archive with what was never active, by sentence of the question: found when it is needed,
 * for all that need it. */
struct pm_ask_whole {
    bool is_found;
    struct pm_question_matches *matches;
    uint32_t n_matches;
    bool *followed; /* sleds or words tell each time that it becomes active */
};

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
                                                 struct pm_ask_whole *whole,
                                                 struct pm_answer *answer, struct pm_error *err);
/* What was not followed, or not all the time: notes, and marks of rows. is_live: the run goes
 * on. */
PM_MUST_CHECK enum pm_status pm_ask_note_gaps(struct pm_view *view,
                                              const struct pm_question *question, bool is_live,
                                              struct pm_ask_whole *whole, struct pm_answer *answer,
                                              struct pm_error *err);

/* {u Reads}, in form. */
bool pm_ask_is_of_data(const struct pm_graph *graph, const struct pm_question_sentence *sentence);
/* What of a question is not known all the time: what it asks for, what it denies (`not`), or
 * both. The answer is at least, at most, or neither. */
enum { PM_ASK_ASKED = 1, PM_ASK_DENIED = 2 };
bool pm_ask_has_class(const uint32_t *classes, uint32_t n, uint32_t class);
bool pm_ask_matches_class(const struct pm_answer_match *match, uint32_t class);
unsigned pm_ask_side_of(const struct pm_answer *answer, uint32_t sentence);
/* Is there something denied? */
bool pm_ask_denies(const struct pm_answer *answer);
/* The answer is open to what is missing; "at least", "at most" or "~". */
void pm_ask_mark_answer(struct pm_answer *answer, unsigned sides);
const char *pm_ask_word_of(unsigned sides);
/* What that means for what was called there: "is missing", "is not left out". */
const char *pm_ask_fate_of(unsigned sides);
/* Takes what the text has over. */
PM_MUST_CHECK enum pm_status pm_ask_add_note(struct pm_answer *answer, const struct pm_buf *text,
                                             struct pm_error *err);
/* A class of a sentence of the question, or PM_NONE, is not known all the time: the costs of rows
 * that it has a part in are at least, or if it is denied all are at most. Returns the side. */
unsigned pm_ask_mark_costs(struct pm_answer *answer, uint32_t sentence, uint32_t class);
unsigned pm_ask_mark_wall(struct pm_answer *answer, uint32_t sentence, uint32_t class);
unsigned pm_ask_mark_times(struct pm_answer *answer, uint32_t sentence, uint32_t class);
/* Of all rows. */
unsigned pm_ask_mark_all_costs(struct pm_answer *answer, unsigned sides);
/* What was never active, too: view->archive has it then. */
PM_MUST_CHECK enum pm_status pm_ask_load_all(struct pm_view *view, struct pm_error *err);

/* question_lacking.c: what is at least, for it was inlined, or its address is not followed. */
PM_MUST_CHECK enum pm_status pm_ask_note_lacking(struct pm_view *view,
                                                 const struct pm_question *question,
                                                 struct pm_answer *answer, struct pm_error *err);
/* Of what nothing met: does what it called perhaps count for others? It was off; or it is denied,
 * and was inlined, say (pm_ask_note_unseen tells what is asked for). whole: was found. */
bool pm_ask_lacks_called(const struct pm_view *view, const struct pm_ask_whole *whole,
                         const struct pm_answer *answer, uint32_t sentence);
/* Nothing was found: what may have been there all the same. Loads all. */
PM_MUST_CHECK enum pm_status pm_ask_note_unseen(struct pm_view *view,
                                                const struct pm_question *question,
                                                struct pm_ask_whole *whole,
                                                struct pm_answer *answer, struct pm_error *err);

/* Of a run that goes on: whether samples meet it by chance only. */
PM_MUST_CHECK enum pm_status pm_ask_find_chance(struct pm_view *view,
                                                const struct pm_question *question,
                                                struct pm_ask_whole *whole,
                                                struct pm_answer *answer, struct pm_error *err);
void pm_ask_add_needs_samples(struct pm_buf *out, const char *sentence);

/* question_seen.c: loads all, unless that is done. whole: zeroes at first, to be released whatever
 * comes back. */
PM_MUST_CHECK enum pm_status pm_ask_find_followed(struct pm_view *view,
                                                  const struct pm_question *question, bool is_live,
                                                  struct pm_error *err, struct pm_ask_whole *whole);
void pm_ask_whole_release(struct pm_ask_whole *whole);
/* Is it known all the time whether the question is true, if nothing is missing? */
bool pm_ask_is_known(const struct pm_view *view, const struct pm_question *question,
                     const struct pm_answer *answer, const bool *followed);
bool pm_ask_fits_any(const struct pm_graph *graph, const struct pm_question_matches *matches);
int64_t pm_ask_n_samples(const struct pm_view *view);

/* question_untimed.c: does wall time miss some of what is asked for, or denied, which samples met?
 * answer: stays as it is. */
bool pm_ask_lacks_wall(const struct pm_view *view, struct pm_answer *answer);
/* What has no time of its own: its wall time, and what calls without a path cost, is marked. */
PM_MUST_CHECK enum pm_status pm_ask_note_untimed(struct pm_view *view, struct pm_answer *answer,
                                                 struct pm_error *err);

/* question_ways.c: of what calls say, all is known but what comes by calls that are not.
 * sides_of_data: of sentences that ask for data, by their form. *ret_is_told: all of the view's
 * metrics are such. */
PM_MUST_CHECK enum pm_status pm_ask_note_ways(const struct pm_view *view, unsigned sides_of_data,
                                              struct pm_answer *answer, struct pm_error *err,
                                              bool *ret_is_told);

/* question_missing.c: nothing was found, and not all programs and objects were measured. */
PM_MUST_CHECK enum pm_status pm_ask_note_missing(const struct pm_view *view,
                                                 struct pm_answer *answer, struct pm_error *err);

/* question_folded.c: functions that are one piece of code. */
PM_MUST_CHECK enum pm_status pm_ask_note_folded(struct pm_view *view, struct pm_answer *answer,
                                                struct pm_error *err);

/* question_own.c: how much of the answer is PerfMap's own time. */
PM_MUST_CHECK enum pm_status pm_ask_note_own(const struct pm_view *view, struct pm_answer *answer,
                                             struct pm_error *err);

/* question_levels.c: what sentences leave out, for a level above has something that fits. */
PM_MUST_CHECK enum pm_status pm_ask_note_levels(struct pm_view *view,
                                                const struct pm_question *question,
                                                struct pm_answer *answer, struct pm_error *err);

#endif
