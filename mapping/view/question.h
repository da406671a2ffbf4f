/* Of questions to an archive: the answer, what asking cost the program, and names as a question
 * has them. */
#ifndef PM_VIEW_QUESTION_H
#define PM_VIEW_QUESTION_H

#include "view.h"

#include "mapping/question/question.h"

/* What the question itself cost the program, estimated. */
struct pm_ask_cost {
    int64_t n_calls,
        events_ns;      /* of the code that the question needs, and what following it cost */
    int64_t samples_ns; /* all samples */
    double share_pct;   /* of the CPU time that the program took; NAN: not known */
};

/* question_answer.c: the answer of an archive, in the view's options. is_live: what the archive
 * has not may come. The archive is loaded once; what was never active is added when a sentence of
 * the question fits nothing in it. One that is lent has been loaded with PM_ARCHIVE_LOAD_ALL, too.
 * PM_ERR_USAGE: a metric that is not there; PM_ERR_NOT_FOUND: a thread, or words, that the archive
 * does not have. */
PM_MUST_CHECK enum pm_status pm_ask_answer(struct pm_view *view, const struct pm_question *question,
                                           bool is_live, struct pm_error *err,
                                           struct pm_answer **ret_answer);

/* Has the row neither costs, of the view's metrics, nor a number of times? */
bool pm_ask_row_is_empty(const struct pm_view *view, const struct pm_answer_row *row);

/* question_cost.c: what the question itself cost the program, estimated: the calls of the code
 * that it needs, and samples. */
PM_MUST_CHECK enum pm_status pm_ask_find_cost(const struct pm_archive_data *data,
                                              const struct pm_question *question,
                                              struct pm_error *err, struct pm_ask_cost *ret_cost);

/* question_names.c: names as a question has them, quoted where they must be. */
/* A word of a question, quoted where it must be. */
void pm_ask_add_word(struct pm_buf *out, const struct pm_graph *graph, const char *name);
void pm_ask_add_noun(struct pm_buf *out, const struct pm_graph *graph, pm_index noun);
/* With names of C++ as tables have them: std::string, f(...). */
void pm_ask_add_brief_sentence(struct pm_buf *out, struct pm_view *view, pm_index verb,
                               const pm_index *nouns, uint32_t n_nouns);
void pm_ask_add_sentence(struct pm_buf *out, const struct pm_graph *graph, pm_index verb,
                         const pm_index *nouns, uint32_t n_nouns);
/* A question that fits this sentence and only those of the same words. */
void pm_ask_add_exact_sentence(struct pm_buf *out, const struct pm_graph *graph, pm_index sentence);
/* "heat.c:22"; "" for nouns that have no place or bear it in their name. */
void pm_ask_add_place(struct pm_buf *out, const struct pm_view *view, pm_index noun);

/* Of an archive that is to be loaded: adds sentences of what is named by a text that is no
 * question, as a hint. */
void pm_ask_offer_sentences(struct pm_view *view, const char *text, struct pm_error *err);

#endif
