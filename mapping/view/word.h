/* Words that the program itself, or an adapter for a library of it, said while it ran: what was
 * spent while they were active.
 *
 *     struct pm_word_spent spent;
 *     if (pm_word_ask(&view, sentence, &err, &spent) == PM_OK && spent.amounts)
 *         use(spent.amounts[metric].value);
 *     pm_word_spent_release(&spent);
 */
#ifndef PM_VIEW_WORD_H
#define PM_VIEW_WORD_H

#include "question.h"

/* Is the noun of a level that the run itself brought, or of another kind than code at the level of
 * machine code? */
bool pm_word_is(const struct pm_view *view, pm_index noun);
bool pm_word_has(const struct pm_graph *graph, pm_index sentence, pm_index noun);

struct pm_word_spent {
    struct pm_amount *amounts; /* [graph->n_metrics]; NULL: it was never active */
    struct pm_amount *totals;  /* lent by the answer */
    int64_t n_times;
    bool times_known;
    struct pm_answer *answer;
};

/* What `perfmap ask` answers when it is asked for the sentence. Released whatever comes back. */
PM_MUST_CHECK enum pm_status pm_word_ask(const struct pm_view *view, pm_index sentence,
                                         struct pm_error *err, struct pm_word_spent *ret_spent);
void pm_word_spent_release(struct pm_word_spent *spent);
/* Metrics that add up and were spent; how often is shown apart. */
bool pm_word_shows(const struct pm_view *view, const struct pm_word_spent *spent, pm_index metric);

#endif
